//! What the lines and signs mean, in a block of its own under the panels: it can never cover data.

use crate::curves::{BAND_OPACITY, OPEN_RADIUS, RADIUS, arrow_down, stroke};
use crate::layout::{Area, MARGIN, TICK_SIZE, WIDTH, count};
use crate::marker::Marker;
use crate::plan::{draw_planned, draw_target};
use crate::series::Series;
use crate::style::Style;
use crate::svg::{Anchor, Svg, path};
use crate::text;

const ROW: f64 = 18.0;
/// The sample of a line: long enough to show its dash on both sides of the marker.
const SAMPLE: f64 = 38.0;
/// The sample of a sign.
const SIGN: f64 = 22.0;
const SPACE: f64 = 6.0;
const BETWEEN: f64 = 22.0;
const INK: &str = "#555555";

/// A sign that all curves share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Sign {
    Band,
    Published,
    Zero,
    Target,
    BudgetRange,
}

impl Sign {
    fn meaning(self) -> &'static str {
        match self {
            Self::Band => "band: 95 % interval",
            Self::Published => "open markers: published",
            Self::Zero => "arrow: rate 0, below the log axis",
            Self::Target => "target",
            Self::BudgetRange => "planned budget, 95 % interval",
        }
    }

    fn width(self) -> f64 {
        SIGN + SPACE + text::width(self.meaning(), TICK_SIZE)
    }

    fn draw(self, svg: &mut Svg, x: f64, y: f64) {
        let middle = x + SIGN / 2.0;
        match self {
            Self::Band => {
                let d = path([(x, y - 5.0), (x + SIGN, y - 5.0), (x + SIGN, y + 5.0), (x, y + 5.0)]) + "Z";
                svg.element("path", &[("d", &d), ("fill", INK), ("fill-opacity", BAND_OPACITY)]);
                svg.line((x, y), (x + SIGN, y), INK, 1.2);
            }
            Self::Published => Marker::Circle.draw_open(svg, (middle, y), OPEN_RADIUS, INK),
            Self::Zero => arrow_down(svg, (middle, y - 7.0), y + 7.0, INK),
            Self::Target => draw_target(svg, (x, y), (x + SIGN, y)),
            Self::BudgetRange => draw_planned(svg, (x, y), x + SIGN, middle, INK),
        }
        svg.text((x + SIGN + SPACE, y), TICK_SIZE, Anchor::Start, self.meaning());
    }
}

/// The entries in columns, and one row of signs under them.
#[derive(Debug)]
pub(crate) struct Legend<'a> {
    entries: Vec<(&'a str, Style)>,
    signs: Vec<Sign>,
    columns: usize,
    column_width: f64,
}

impl<'a> Legend<'a> {
    /// One entry a label, and the signs that the curves use and the `others` of the figure.
    pub(crate) fn new(all: &[Series<'a>], others: &[Sign]) -> Self {
        let mut entries: Vec<(&str, Style)> = Vec::new();
        for series in all {
            if entries.iter().all(|(label, _)| *label != series.label) {
                entries.push((series.label, series.style));
            }
        }
        let uses = [
            (Sign::Band, all.iter().any(Series::has_band)),
            (Sign::Published, all.iter().any(|s| !s.published.is_empty())),
            (Sign::Zero, all.iter().any(Series::has_zero)),
        ];
        let shared = uses.into_iter().filter_map(|(sign, is_used)| is_used.then_some(sign));
        let signs = shared.chain(others.iter().copied()).collect();
        let room = WIDTH - 2.0 * MARGIN;
        let widest = entries.iter().map(|(label, _)| text::width(label, TICK_SIZE).ceil()).fold(0.0, f64::max);
        let column_width = (SAMPLE + SPACE + widest + BETWEEN).min(room / 3.0);
        let fitting = (1..=entries.len()).take_while(|n| width_of(*n, column_width) <= room).last().unwrap_or(1);
        // As many rows as the widest block needs, then no more columns than fill them evenly.
        let rows = entries.len().div_ceil(fitting).max(1);
        let columns = entries.len().div_ceil(rows).max(1);
        Self { entries, signs, columns, column_width }
    }

    /// The height that all rows need.
    pub(crate) fn height(&self) -> f64 {
        let rows = self.entries.len().div_ceil(self.columns) + usize::from(!self.signs.is_empty());
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
        let gaps = count(self.signs.len().saturating_sub(1)) * BETWEEN;
        let width = self.signs.iter().map(|s| s.width()).sum::<f64>() + gaps;
        let mut x = area.middle() - width / 2.0;
        for sign in &self.signs {
            sign.draw(svg, x, area.top + (count(rows) + 0.5) * ROW + 3.0);
            x += sign.width() + BETWEEN;
        }
        svg.close();
    }

    fn draw_entry(&self, svg: &mut Svg, (x, y): (f64, f64), label: &str, style: &Style) {
        svg.open("entry");
        let shown = text::fit(label, TICK_SIZE, self.column_width - SAMPLE - SPACE - BETWEEN);
        if shown != label {
            svg.tooltip(label);
        }
        stroke(svg, &path([(x, y), (x + SAMPLE, y)]), style.colour, style.dash);
        style.marker.draw_filled(svg, (x + SAMPLE / 2.0, y), RADIUS + 0.5, style.colour);
        svg.text((x + SAMPLE + SPACE, y), TICK_SIZE, Anchor::Start, &shown);
        svg.close();
    }
}

/// The width of some columns; the last one needs no space after it.
fn width_of(columns: usize, column_width: f64) -> f64 {
    count(columns) * column_width - BETWEEN
}
