//! What the signs of a page mean: as many in a row as fit.

use crate::layout::{TICK_SIZE, count};
use crate::sheet::{ROOM, WIDTH};
use crate::svg::{Anchor, Svg};
use crate::text;

const ROW: f64 = 18.0;
/// The width of a sample.
pub(crate) const SAMPLE: f64 = 28.0;
const SPACE: f64 = 5.0;
const BETWEEN: f64 = 16.0;

type Sample = dyn Fn(&mut Svg, (f64, f64));

/// A sample, drawn around a place, and its meaning.
pub(crate) struct Key {
    meaning: String,
    sample: Box<Sample>,
}

impl Key {
    pub(crate) fn new(meaning: impl Into<String>, sample: impl Fn(&mut Svg, (f64, f64)) + 'static) -> Self {
        Self { meaning: meaning.into(), sample: Box::new(sample) }
    }

    fn width(&self) -> f64 {
        SAMPLE + SPACE + text::width(&self.meaning, TICK_SIZE)
    }
}

/// Draws the keys in centred rows from `top` down; returns where they end.
pub(crate) fn draw(svg: &mut Svg, top: f64, keys: &[Key]) -> f64 {
    svg.open("keys");
    let rows = rows(keys);
    for (index, row) in rows.iter().enumerate() {
        let y = top + (count(index) + 0.5) * ROW;
        let mut x = (WIDTH - row_width(row)) / 2.0;
        for key in *row {
            (key.sample)(svg, (x + SAMPLE / 2.0, y));
            svg.text((x + SAMPLE + SPACE, y), TICK_SIZE, Anchor::Start, &key.meaning);
            x += key.width() + BETWEEN;
        }
    }
    svg.close();
    top + count(rows.len()) * ROW
}

/// The keys in their order, cut where a row is full.
fn rows(mut keys: &[Key]) -> Vec<&[Key]> {
    let mut rows = Vec::new();
    while !keys.is_empty() {
        let fitting = (1..=keys.len()).take_while(|n| row_width(&keys[..*n]) <= ROOM).last().unwrap_or(1);
        let (row, rest) = keys.split_at(fitting);
        rows.push(row);
        keys = rest;
    }
    rows
}

fn row_width(row: &[Key]) -> f64 {
    row.iter().map(Key::width).sum::<f64>() + BETWEEN * count(row.len().saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_in_a_row_that_fits() {
        let keys: Vec<Key> = (0..17).map(|n| Key::new("k".repeat(3 * n), |_, _| ())).collect();
        let rows = rows(&keys);
        assert_eq!(rows.iter().map(|row| row.len()).sum::<usize>(), 17);
        assert!(rows.len() > 2 && rows.iter().all(|row| row_width(row) <= ROOM));
        assert_eq!(super::rows(&[Key::new("wide".repeat(99), |_, _| ())]).len(), 1);
    }
}
