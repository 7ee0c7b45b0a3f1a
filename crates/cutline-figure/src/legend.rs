//! What lines, markers and symbols mean, in a block below the panels: it can never cover data.
//!
//! A wide page has a [`Legend`] with one entry per algorithm; a narrow page has [`Key`]s, as many per row as fit.

use crate::failure::{BAND_OPACITY, OPEN_RADIUS, RADIUS, Series, arrow_down};
use crate::page::{Area, MARGIN, NARROW_ROOM, NARROW_WIDTH, TICK_SIZE, WIDE_WIDTH, count};
use crate::plan::{draw_planned, draw_target};
use crate::style::{Marker, Style, stroke};
use crate::svg::{Anchor, Svg, path};
use crate::text;

const ROW: f64 = 18.0;
/// The width of a line's sample: long enough to show its dash on both sides of the marker.
const SAMPLE: f64 = 38.0;
/// The width of a symbol's sample.
const SYMBOL: f64 = 22.0;
const SPACE: f64 = 6.0;
const BETWEEN: f64 = 22.0;
const INK: &str = "#555555";

/// The width of a key's sample.
pub(crate) const KEY_SAMPLE: f64 = 28.0;
const KEY_SPACE: f64 = 5.0;
const BETWEEN_KEYS: f64 = 16.0;

/// A symbol with the same meaning for all curves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Symbol {
    Band,
    Published,
    Zero,
    Target,
    PlannedBudget,
}

impl Symbol {
    fn meaning(self) -> &'static str {
        match self {
            Self::Band => "band: 95 % interval",
            Self::Published => "open markers: published",
            Self::Zero => "arrow: rate 0, below the log axis",
            Self::Target => "target",
            Self::PlannedBudget => "planned budget, 95 % interval",
        }
    }

    fn width(self) -> f64 {
        SYMBOL + SPACE + text::width(self.meaning(), TICK_SIZE)
    }

    fn draw(self, svg: &mut Svg, x: f64, y: f64) {
        let middle = x + SYMBOL / 2.0;
        match self {
            Self::Band => {
                let d = path([(x, y - 5.0), (x + SYMBOL, y - 5.0), (x + SYMBOL, y + 5.0), (x, y + 5.0)]) + "Z";
                svg.element("path", &[("d", &d), ("fill", INK), ("fill-opacity", BAND_OPACITY)]);
                svg.line((x, y), (x + SYMBOL, y), INK, 1.2);
            }
            Self::Published => Marker::Circle.draw_open(svg, (middle, y), OPEN_RADIUS, INK),
            Self::Zero => arrow_down(svg, (middle, y - 7.0), y + 7.0, INK),
            Self::Target => draw_target(svg, (x, y), (x + SYMBOL, y)),
            Self::PlannedBudget => draw_planned(svg, (x, y), x + SYMBOL, middle, INK),
        }
        svg.text((x + SYMBOL + SPACE, y), TICK_SIZE, Anchor::Start, self.meaning());
    }
}

/// The algorithms in columns, and one row of symbols below them.
#[derive(Debug)]
pub(crate) struct Legend<'a> {
    entries: Vec<(&'a str, Style)>,
    symbols: Vec<Symbol>,
    columns: usize,
    column_width: f64,
}

impl<'a> Legend<'a> {
    /// One entry per label, the symbols that the curves use, and the figure's `other` symbols.
    pub(crate) fn new(all: &[Series<'a>], other: &[Symbol]) -> Self {
        let mut entries: Vec<(&str, Style)> = Vec::new();
        for series in all {
            if entries.iter().all(|(label, _)| *label != series.label) {
                entries.push((series.label, series.style));
            }
        }
        let uses = [
            (Symbol::Band, all.iter().any(Series::has_band)),
            (Symbol::Published, all.iter().any(|s| !s.published.is_empty())),
            (Symbol::Zero, all.iter().any(Series::has_zero)),
        ];
        let of_curves = uses.into_iter().filter_map(|(symbol, is_used)| is_used.then_some(symbol));
        let symbols = of_curves.chain(other.iter().copied()).collect();
        let room = WIDE_WIDTH - 2.0 * MARGIN;
        let widest = entries.iter().map(|(label, _)| text::width(label, TICK_SIZE).ceil()).fold(0.0, f64::max);
        let column_width = (SAMPLE + SPACE + widest + BETWEEN).min(room / 3.0);
        let fitting = (1..=entries.len()).take_while(|n| width_of(*n, column_width) <= room).last().unwrap_or(1);
        // As many rows as the widest block needs, then no more columns than fill them evenly.
        let rows = entries.len().div_ceil(fitting).max(1);
        let columns = entries.len().div_ceil(rows).max(1);
        Self { entries, symbols, columns, column_width }
    }

    /// The height that all rows need.
    pub(crate) fn height(&self) -> f64 {
        let rows = self.entries.len().div_ceil(self.columns) + usize::from(!self.symbols.is_empty());
        count(rows) * ROW + 6.0
    }

    /// Draws the rows, centred in the area.
    pub(crate) fn draw(&self, svg: &mut Svg, area: Area) {
        svg.open("legend");
        let left = area.middle() - width_of(self.columns, self.column_width) / 2.0;
        for (index, (label, style)) in self.entries.iter().enumerate() {
            let x = left + count(index % self.columns) * self.column_width;
            let y = area.top + (count(index / self.columns) + 0.5) * ROW;
            self.draw_entry(svg, (x, y), label, style);
        }
        let rows = self.entries.len().div_ceil(self.columns);
        let gaps = count(self.symbols.len().saturating_sub(1)) * BETWEEN;
        let width = self.symbols.iter().map(|s| s.width()).sum::<f64>() + gaps;
        let mut x = area.middle() - width / 2.0;
        for symbol in &self.symbols {
            symbol.draw(svg, x, area.top + (count(rows) + 0.5) * ROW + 3.0);
            x += symbol.width() + BETWEEN;
        }
        svg.close();
    }

    fn draw_entry(&self, svg: &mut Svg, (x, y): (f64, f64), label: &str, style: &Style) {
        svg.open("entry");
        let fitted = text::fit(label, TICK_SIZE, self.column_width - SAMPLE - SPACE - BETWEEN);
        if fitted != label {
            svg.tooltip(label);
        }
        stroke(svg, &path([(x, y), (x + SAMPLE, y)]), style.colour, style.dash);
        style.marker.draw_filled(svg, (x + SAMPLE / 2.0, y), RADIUS + 0.5, style.colour);
        svg.text((x + SAMPLE + SPACE, y), TICK_SIZE, Anchor::Start, &fitted);
        svg.close();
    }
}

/// The width of some columns; the last one needs no space after it.
fn width_of(columns: usize, column_width: f64) -> f64 {
    count(columns) * column_width - BETWEEN
}

type Sample = dyn Fn(&mut Svg, (f64, f64));

/// A sample, drawn around a point, and its meaning.
pub(crate) struct Key {
    meaning: String,
    sample: Box<Sample>,
}

impl Key {
    pub(crate) fn new(meaning: impl Into<String>, sample: impl Fn(&mut Svg, (f64, f64)) + 'static) -> Self {
        Self { meaning: meaning.into(), sample: Box::new(sample) }
    }

    fn width(&self) -> f64 {
        KEY_SAMPLE + KEY_SPACE + text::width(&self.meaning, TICK_SIZE)
    }
}

/// Draws the keys in centred rows from `top` down; returns where they end.
pub(crate) fn draw_keys(svg: &mut Svg, top: f64, keys: &[Key]) -> f64 {
    svg.open("keys");
    let rows = key_rows(keys);
    for (index, row) in rows.iter().enumerate() {
        let y = top + (count(index) + 0.5) * ROW;
        let mut x = (NARROW_WIDTH - row_width(row)) / 2.0;
        for key in *row {
            (key.sample)(svg, (x + KEY_SAMPLE / 2.0, y));
            svg.text((x + KEY_SAMPLE + KEY_SPACE, y), TICK_SIZE, Anchor::Start, &key.meaning);
            x += key.width() + BETWEEN_KEYS;
        }
    }
    svg.close();
    top + count(rows.len()) * ROW
}

/// The keys in their order, a new row wherever one is full.
fn key_rows(mut keys: &[Key]) -> Vec<&[Key]> {
    let mut rows = Vec::new();
    while !keys.is_empty() {
        let fitting = (1..=keys.len()).take_while(|n| row_width(&keys[..*n]) <= NARROW_ROOM).last().unwrap_or(1);
        let (row, rest) = keys.split_at(fitting);
        rows.push(row);
        keys = rest;
    }
    rows
}

fn row_width(row: &[Key]) -> f64 {
    row.iter().map(Key::width).sum::<f64>() + BETWEEN_KEYS * count(row.len().saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_in_a_row_that_fits() {
        let keys: Vec<Key> = (0..17).map(|n| Key::new("k".repeat(3 * n), |_, _| ())).collect();
        let rows = key_rows(&keys);
        assert_eq!(rows.iter().map(|row| row.len()).sum::<usize>(), 17);
        assert!(rows.len() > 2 && rows.iter().all(|row| row_width(row) <= NARROW_ROOM));
        assert_eq!(key_rows(&[Key::new("wide".repeat(99), |_, _| ())]).len(), 1);
    }
}
