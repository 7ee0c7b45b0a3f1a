//! Few arms: one row per arm with its name, mean and interval on the left, pulls on the right.

use cutline::Side;

use crate::page::{
    Area, FOOT_HEIGHT, GRID, HEADING_HEIGHT, INK, MARGIN, NARROW_ROOM, NarrowPage, Panel, TEXT_SIZE, TICK_SIZE, count,
};
use crate::style::SideStyle;
use crate::svg::{Anchor, Svg, rectangle};
use crate::text;
use crate::text::{grouped, short};
use crate::verdict::ranking::{RankedArm, RankedArms, arrow_head};
use crate::verdict::ranks::NEUTRAL;

const ROW: f64 = 18.0;
/// Names longer than this are cut.
const WIDEST_NAME: f64 = 135.0;
/// The room for the bars of pulls and their numbers.
const PULLS: f64 = 84.0;
const GAP: f64 = 14.0;
/// The most characters of a name in a tooltip: longer ones would make the file large.
const LONGEST_NAME: usize = 200;
const TINT: &str = "#fbe3d4";

/// Draws the rows; returns where they and the axis below them end.
pub(crate) fn draw(page: &mut NarrowPage<'_>, ranked: &RankedArms<'_>) -> f64 {
    let names: Vec<String> = ranked.arms.iter().map(|arm| text::fit_ends(arm.name, TICK_SIZE, WIDEST_NAME)).collect();
    let widest = names.iter().map(|name| text::width(name, TICK_SIZE)).fold(0.0, f64::max);
    let left = MARGIN + widest + 9.0;
    // An empty figure needs room for the words "no data".
    let height = ROW * if ranked.arms.is_empty() { 3.0 } else { count(ranked.arms.len()) };
    let width = MARGIN + NARROW_ROOM - PULLS - GAP - left;
    let area = Area { left, top: page.top + HEADING_HEIGHT, width, height };
    let pulls = Area { left: area.right() + GAP, width: PULLS, ..area };
    let rows = ranked.means.bare();
    let panel = Panel { area, x_axis: &ranked.means, y_axis: &rows, x_label: "Mean and interval", y_label: "" };
    let svg = &mut page.svg;

    draw_tints(svg, ranked, area, pulls.right());
    for tick in ranked.means.ticks.iter().filter(|tick| tick.label.is_some()) {
        let x = panel.x(tick.value);
        svg.line((x, area.top), (x, area.bottom()), GRID, 0.8);
    }
    panel.draw_axes(svg);
    panel.draw_x_label(svg);
    if let Some(threshold) = ranked.threshold {
        threshold.draw_vertical(svg, area, |value| panel.x(value));
    }
    if ranked.arms.is_empty() {
        panel.draw_no_data(svg);
    }
    svg.open("arms");
    for (index, (arm, name)) in ranked.arms.iter().zip(&names).enumerate() {
        let y = row_middle(area, index);
        svg.open(arm.side.name());
        svg.tooltip(&tooltip(arm));
        svg.text((left - 9.0, y), TICK_SIZE, Anchor::End, name);
        draw_interval(svg, ranked, &panel, arm, y);
        arm.side.draw(svg, (panel.x(arm.mean), y), 3.8);
        svg.close();
    }
    svg.close();
    draw_pulls(svg, ranked, pulls);
    area.bottom() + FOOT_HEIGHT
}

fn row_middle(area: Area, index: usize) -> f64 {
    area.top + ROW * (count(index) + 0.5)
}

/// A background behind the rows of undecided arms, so that the eye finds them.
fn draw_tints(svg: &mut Svg, ranked: &RankedArms<'_>, area: Area, right: f64) {
    svg.open("tints");
    for (index, _) in ranked.arms.iter().enumerate().filter(|(_, arm)| arm.side == Side::Undecided) {
        let y = row_middle(area, index);
        svg.shape(&rectangle((MARGIN, y - ROW / 2.0), (right, y + ROW / 2.0)), TINT, 0.6);
    }
    svg.close();
}

fn draw_interval(svg: &mut Svg, ranked: &RankedArms<'_>, panel: &Panel<'_>, arm: &RankedArm<'_>, y: f64) {
    let colour = arm.side.colour();
    svg.line((panel.x(arm.lower), y), (panel.x(arm.upper), y), colour, 1.6);
    for (end, direction) in [(arm.lower, -1.0), (arm.upper, 1.0)] {
        let x = panel.x(end);
        if ranked.is_open(end) {
            svg.open("open");
            svg.shape(&arrow_head((x, y), (direction, 0.0), 3.0), colour, 1.0);
            svg.close();
        } else {
            svg.line((x, y - 3.0), (x, y + 3.0), colour, 1.2);
        }
    }
}

/// One bar per arm with its number of pulls.
fn draw_pulls(svg: &mut Svg, ranked: &RankedArms<'_>, area: Area) {
    let numbers: Vec<String> = ranked.arms.iter().map(|arm| grouped(arm.pulls)).collect();
    let widest = numbers.iter().map(|number| text::width(number, TICK_SIZE)).fold(0.0, f64::max);
    let longest = (area.width - widest - 4.0).max(10.0);
    let most = ranked.arms.iter().map(|arm| arm.pulls).fold(1.0, f64::max);
    svg.open("pulls");
    for (index, (arm, number)) in ranked.arms.iter().zip(&numbers).enumerate() {
        let (y, end) = (row_middle(area, index), area.left + longest * arm.pulls / most);
        svg.shape(&rectangle((area.left, y - 4.5), (end, y + 4.5)), NEUTRAL, 0.7);
        svg.text((end + 4.0, y), TICK_SIZE, Anchor::Start, number);
    }
    svg.close();
    svg.line((area.left, area.top), (area.left, area.bottom()), INK, 1.0);
    svg.text((area.left, area.top - 12.0), TEXT_SIZE, Anchor::Start, "Pulls");
}

/// The text of an arm's tooltip.
fn tooltip(arm: &RankedArm<'_>) -> String {
    let name: String = arm.name.chars().take(LONGEST_NAME).collect();
    let end = |end: f64| {
        if end.is_finite() {
            short(end)
        } else if end > 0.0 {
            "∞".into()
        } else {
            "−∞".into()
        }
    };
    let (mean, lower, upper) = (short(arm.mean), end(arm.lower), end(arm.upper));
    format!("{name}: {}, mean {mean}, from {lower} to {upper}, pulls {}", arm.side.name(), grouped(arm.pulls))
}
