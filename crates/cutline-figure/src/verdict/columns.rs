//! Very many arms, in columns of neighbouring ranks: the median interval on the range of most intervals.
//!
//! The intervals have no colour of a side, as a column may hold arms of all three: the lanes show those.

use crate::label::grouped;
use crate::layout::count;
use crate::panel::{INK, Panel};
use crate::sheet::Sheet;
use crate::side::Side;
use crate::svg::{Svg, path, rectangle};
use crate::verdict::lanes::{self, Marks};
use crate::verdict::ranked::{Ranked, Ranking};
use crate::verdict::stack::{Stack, TONE};
use crate::verdict::threshold::head;

/// Columns are about two units wide, and the file does not grow with the arms.
const COLUMNS: usize = 180;

/// The share of a column's arms that may lie outside the pale range at each end.
const OUTSIDE: f64 = 0.1;

/// Arrows are not closer than this.
const APART: f64 = 9.0;

const PALE: f64 = 0.2;
const DARK: f64 = 0.4;

/// Neighbouring ranks.
struct Column {
    from: f64,
    to: f64,
    mean: f64,
    lower: VarianceEstimator,
    upper: VarianceEstimator,
    pulls: VarianceEstimator,
    shares: [f64; 3],
}

/// Where the numbers of a column lie: quantiles and ends.
#[derive(Clone, Copy)]
struct VarianceEstimator {
    least: f64,
    low: f64,
    median: f64,
    high: f64,
    most: f64,
}

/// What a column is, in words.
pub(crate) fn meaning(n_arms: usize) -> String {
    let (least, most) = (grouped(count(n_arms / COLUMNS)), grouped(count(n_arms.div_ceil(COLUMNS))));
    let arms = if least == most { least } else { format!("{least} or {most}") };
    format!(
        "A column is {arms} arms of neighbouring rank. Dark: their median; pale: all but a tenth at each end; line: mean. \
         The lanes show how many of them are above, undecided and below."
    )
}

/// Draws the panels, and returns where they end.
pub(crate) fn draw(sheet: &mut Sheet<'_>, ranked: &Ranked<'_>) -> f64 {
    let stack = Stack::draw(sheet, ranked);
    let area = stack.means.area;
    let step = area.width / count(COLUMNS);
    let n_arms = ranked.arms.len();
    let column = |index: usize| {
        let arms = &ranked.arms[index * n_arms / COLUMNS..(index + 1) * n_arms / COLUMNS];
        let from = area.left + step * count(index);
        Column::new(arms, from, from + step)
    };
    let columns: Vec<Column> = (0..COLUMNS).map(column).collect();
    let svg = &mut sheet.svg;
    svg.open("intervals");
    draw_bars(svg, &stack.means, &columns, |c| (c.lower.low, c.upper.high), PALE);
    draw_bars(svg, &stack.means, &columns, |c| (c.lower.median, c.upper.median), DARK);
    svg.close();
    draw_open_ends(svg, ranked, &stack.means, &columns);
    svg.open("means");
    let middle = |column: &Column| (f64::midpoint(column.from, column.to), stack.means.y(column.mean));
    svg.strokes(&path(columns.iter().map(middle)), INK, 1.4);
    svg.close();
    let marks: Vec<Marks> = columns.iter().map(|c| Marks { from: c.from, to: c.to, shares: c.shares }).collect();
    lanes::draw(svg, area, &marks);
    svg.open("pulls");
    draw_bars(svg, &stack.pulls, &columns, |c| (0.0, c.pulls.high), PALE);
    draw_bars(svg, &stack.pulls, &columns, |c| (0.0, c.pulls.median), DARK);
    svg.close();
    stack.bottom()
}

impl Column {
    fn new(arms: &[Ranking<'_>], from: f64, to: f64) -> Self {
        let share = |side| count(arms.iter().filter(|arm| arm.side == side).count()) / count(arms.len());
        Self {
            from,
            to,
            mean: arms[arms.len() / 2].mean,
            lower: VarianceEstimator::new(arms.iter().map(|arm| arm.lower)),
            upper: VarianceEstimator::new(arms.iter().map(|arm| arm.upper)),
            pulls: VarianceEstimator::new(arms.iter().map(|arm| arm.pulls)),
            shares: Side::ALL.map(share),
        }
    }
}

impl VarianceEstimator {
    /// Of at least one number.
    fn new(numbers: impl Iterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = numbers.collect();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len() - 1;
        // Rounding down counts the same number of arms outside at both ends.
        let outside = (0..=last).take_while(|k| count(*k) <= OUTSIDE * count(last + 1)).last().unwrap_or(0);
        let (low, high) = (sorted[outside], sorted[last - outside]);
        Self { least: sorted[0], low, median: sorted[last / 2], high, most: sorted[last] }
    }
}

/// A bar a column, all as one path, so that no seam shows between them.
fn draw_bars(svg: &mut Svg, panel: &Panel<'_>, columns: &[Column], ends: fn(&Column) -> (f64, f64), opacity: f64) {
    let bar = |column: &Column| {
        let (low, high) = ends(column);
        rectangle((column.from, panel.y(high)), (column.to, panel.y(low)))
    };
    svg.shape(&columns.iter().map(bar).collect::<String>(), TONE, opacity);
}

type End = fn(&Column) -> f64;

/// Arrows where an interval goes on beyond the frame, one for several that are close.
fn draw_open_ends(svg: &mut Svg, ranked: &Ranked<'_>, panel: &Panel<'_>, columns: &[Column]) {
    svg.open("open");
    let ends: [(End, f64); 2] = [(|c| c.upper.most, -1.0), (|c| c.lower.least, 1.0)];
    for (end, down) in ends {
        let mut free_from = f64::NEG_INFINITY;
        for column in columns.iter().filter(|column| ranked.is_open(end(column))) {
            let x = f64::midpoint(column.from, column.to);
            if x >= free_from {
                svg.shape(&head((x, panel.y(end(column))), (0.0, down), 2.6), INK, 1.0);
                free_from = x + APART;
            }
        }
    }
    svg.close();
}
