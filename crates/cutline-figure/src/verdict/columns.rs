//! Thousands of arms, in columns of neighbouring ranks: the median interval and the range of most intervals.
//!
//! The intervals do not have the colour of a side, as a column may hold arms of all three; the lanes show the sides. Of the
//! pulls a column shows the median and the largest number, so that a few arms with all the pulls stay visible among thousands
//! without any.

use crate::page::{INK, NarrowPage, Panel, count};
use crate::style::SIDES;
use crate::svg::{Svg, path, rectangle};
use crate::text::grouped;
use crate::verdict::ranking::{RankedArm, RankedArms, arrow_head};
use crate::verdict::ranks::{LaneMark, NEUTRAL, StackedPanels, draw_lanes};

/// Columns are about two units wide, and the file does not grow with the number of arms.
const COLUMNS: usize = 180;

/// The share of a column's arms that may lie outside the pale range at each end.
const OUTSIDE: f64 = 0.1;

/// The least distance between two arrows.
const APART: f64 = 9.0;

const PALE: f64 = 0.2;
const DARK: f64 = 0.4;

/// The heading of the lower panel.
const PULLS_LABEL: &str = "Pulls per arm: median (dark) and maximum (pale)";

/// The opacity of the maximum, higher than [`PALE`]: often a single column is all there is to see.
const MAXIMUM: f64 = 0.5;

/// The least height of the maximum of a column with any pulls: it has to be visible beside a far larger one.
const LEAST_HEIGHT: f64 = 3.0;

/// Arms of neighbouring ranks.
struct Column {
    from: f64,
    to: f64,
    mean: f64,
    lower: Quantiles,
    upper: Quantiles,
    pulls: Quantiles,
    shares: [f64; 3],
}

/// Quantiles and extremes of the numbers in a column.
#[derive(Clone, Copy)]
struct Quantiles {
    least: f64,
    low: f64,
    median: f64,
    high: f64,
    most: f64,
}

/// A note that explains the columns.
pub(crate) fn meaning(n_arms: usize) -> String {
    let (least, most) = (grouped(count(n_arms / COLUMNS)), grouped(count(n_arms.div_ceil(COLUMNS))));
    let arms = if least == most { least } else { format!("{least} or {most}") };
    format!(
        "Each column is {arms} arms of neighbouring rank. Dark: median interval; pale: all but a tenth at each end; line: \
         mean. The lanes show the share of arms above, undecided and below."
    )
}

/// Draws the panels and the lanes; returns where they end.
pub(crate) fn draw(page: &mut NarrowPage<'_>, ranked: &RankedArms<'_>) -> f64 {
    let panels = StackedPanels::draw(page, ranked, PULLS_LABEL);
    let area = panels.means.area;
    let step = area.width / count(COLUMNS);
    let n_arms = ranked.arms.len();
    let column = |index: usize| {
        let arms = &ranked.arms[index * n_arms / COLUMNS..(index + 1) * n_arms / COLUMNS];
        let from = area.left + step * count(index);
        Column::new(arms, from, from + step)
    };
    let columns: Vec<Column> = (0..COLUMNS).map(column).collect();
    let svg = &mut page.svg;
    svg.open("intervals");
    draw_bars(svg, &panels.means, &columns, |c| (c.lower.low, c.upper.high), PALE);
    draw_bars(svg, &panels.means, &columns, |c| (c.lower.median, c.upper.median), DARK);
    svg.close();
    draw_open_ends(svg, ranked, &panels.means, &columns);
    svg.open("means");
    let mean = |column: &Column| (f64::midpoint(column.from, column.to), panels.means.y(column.mean));
    svg.strokes(&path(columns.iter().map(mean)), INK, 1.4);
    svg.close();
    let marks: Vec<LaneMark> = columns.iter().map(|c| LaneMark { from: c.from, to: c.to, shares: c.shares }).collect();
    draw_lanes(svg, area, &marks);
    svg.open("pulls");
    draw_most_pulls(svg, &panels.pulls, &columns);
    draw_bars(svg, &panels.pulls, &columns, |c| (0.0, c.pulls.median), MAXIMUM);
    svg.close();
    panels.bottom()
}

impl Column {
    fn new(arms: &[RankedArm<'_>], from: f64, to: f64) -> Self {
        let share = |side| count(arms.iter().filter(|arm| arm.side == side).count()) / count(arms.len());
        Self {
            from,
            to,
            mean: arms[arms.len() / 2].mean,
            lower: Quantiles::new(arms.iter().map(|arm| arm.lower)),
            upper: Quantiles::new(arms.iter().map(|arm| arm.upper)),
            pulls: Quantiles::new(arms.iter().map(|arm| arm.pulls)),
            shares: SIDES.map(share),
        }
    }
}

impl Quantiles {
    /// The quantiles of at least one number.
    fn new(numbers: impl Iterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = numbers.collect();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len() - 1;
        // Rounding down leaves the same number of arms outside at both ends.
        let outside = (0..=last).take_while(|k| count(*k) <= OUTSIDE * count(last + 1)).last().unwrap_or(0);
        let (low, high) = (sorted[outside], sorted[last - outside]);
        Self { least: sorted[0], low, median: sorted[last / 2], high, most: sorted[last] }
    }
}

/// One bar per column, all as one path, so that no seam shows between them.
fn draw_bars(svg: &mut Svg, panel: &Panel<'_>, columns: &[Column], ends: fn(&Column) -> (f64, f64), opacity: f64) {
    let bar = |column: &Column| {
        let (low, high) = ends(column);
        rectangle((column.from, panel.y(high)), (column.to, panel.y(low)))
    };
    svg.shape(&columns.iter().map(bar).collect::<String>(), NEUTRAL, opacity);
}

/// One bar per column with any pulls, up to those of its most pulled arm.
fn draw_most_pulls(svg: &mut Svg, panel: &Panel<'_>, columns: &[Column]) {
    let zero = panel.y(0.0);
    let bar = |column: &Column| {
        let top = panel.y(column.pulls.most).min(zero - LEAST_HEIGHT);
        rectangle((column.from, top), (column.to, zero))
    };
    let d: String = columns.iter().filter(|column| column.pulls.most > 0.0).map(bar).collect();
    if !d.is_empty() {
        svg.shape(&d, NEUTRAL, MAXIMUM);
    }
}

type End = fn(&Column) -> f64;

/// Arrows where an interval extends beyond the frame, one for several that are close.
fn draw_open_ends(svg: &mut Svg, ranked: &RankedArms<'_>, panel: &Panel<'_>, columns: &[Column]) {
    svg.open("open");
    let ends: [(End, f64); 2] = [(|c| c.upper.most, -1.0), (|c| c.lower.least, 1.0)];
    for (end, down) in ends {
        let mut free_from = f64::NEG_INFINITY;
        for column in columns.iter().filter(|column| ranked.is_open(end(column))) {
            let x = f64::midpoint(column.from, column.to);
            if x >= free_from {
                svg.shape(&arrow_head((x, panel.y(end(column))), (0.0, down), 2.6), INK, 1.0);
                free_from = x + APART;
            }
        }
    }
    svg.close();
}
