//! Up to a few hundred arms by rank: one thin line per interval and one marker per mean.
//!
//! Two panels below each other share the ranks: means with intervals, and pulls. Between them three lanes, one per side,
//! show the verdicts, as a marker can be lost among many.

use cutline::Side;

use crate::page::{
    Area, FOOT_HEIGHT, HEADING_HEIGHT, MARGIN, NARROW_ROOM, NarrowPage, Panel, TEXT_SIZE, count, gutter,
};
use crate::style::{SIDES, SideStyle};
use crate::svg::{Svg, path, rectangle};
use crate::verdict::ranking::{RankedArm, RankedArms, arrow_head};

const MEANS_HEIGHT: f64 = 230.0;
const PULLS_HEIGHT: f64 = 90.0;

/// Room to the right of the panels, for the "τ" at the threshold.
const EDGE: f64 = 12.0;

/// The colour of pulls and of the intervals of many arms, which belong to no side.
pub(crate) const NEUTRAL: &str = "#5a5a8c";

const LANE: f64 = 12.0;
const BETWEEN_LANES: f64 = 4.0;
/// Between the panel and the first lane.
const ABOVE_LANES: f64 = 7.0;

/// The height of the three lanes with the space above them.
const LANES_HEIGHT: f64 = ABOVE_LANES + 3.0 * (LANE + BETWEEN_LANES);

/// The least height and width of a mark: a single arm among thousands has to be visible.
const LEAST_MARK: (f64, f64) = (2.0, 1.2);

/// Draws the panels and the lanes; returns where they end.
pub(crate) fn draw(page: &mut NarrowPage<'_>, ranked: &RankedArms<'_>) -> f64 {
    let panels = StackedPanels::draw(page, ranked, "Pulls");
    let step = panels.means.area.width / count(ranked.arms.len());
    let x = |index: usize| panels.means.area.left + step * (count(index) + 0.5);
    let svg = &mut page.svg;
    // Undecided arms last, so that no other covers them.
    for side in [Side::Above, Side::Below, Side::Undecided] {
        let arms = ranked.arms.iter().enumerate().filter(|(_, arm)| arm.side == side);
        let arms: Vec<(f64, &RankedArm<'_>)> = arms.map(|(index, arm)| (x(index), arm)).collect();
        if !arms.is_empty() {
            svg.open(side.name());
            draw_side(svg, ranked, &panels.means, side, step, &arms);
            svg.close();
        }
    }
    let mark = |(index, arm): (usize, &RankedArm<'_>)| LaneMark {
        from: x(index) - 0.4 * step,
        to: x(index) + 0.4 * step,
        shares: SIDES.map(|side| f64::from(u8::from(arm.side == side))),
    };
    let marks: Vec<LaneMark> = ranked.arms.iter().enumerate().map(mark).collect();
    draw_lanes(svg, panels.means.area, &marks);

    svg.open("pulls");
    let zero = panels.pulls.y(0.0);
    let bar = |(index, arm): (usize, &RankedArm<'_>)| path([(x(index), zero), (x(index), panels.pulls.y(arm.pulls))]);
    let bars: String = ranked.arms.iter().enumerate().map(bar).collect();
    svg.pale_strokes(&bars, NEUTRAL, 0.75 * step, 0.7);
    svg.close();
    panels.bottom()
}

/// The arms of one side: intervals, open ends, markers, each as one path.
fn draw_side(
    svg: &mut Svg,
    ranked: &RankedArms<'_>,
    panel: &Panel<'_>,
    side: Side,
    step: f64,
    arms: &[(f64, &RankedArm<'_>)],
) {
    let line = |(x, arm): &(f64, &RankedArm<'_>)| path([(*x, panel.y(arm.upper)), (*x, panel.y(arm.lower))]);
    let d: String = arms.iter().map(line).collect();
    svg.pale_strokes(&d, side.colour(), (0.6 * step).clamp(0.6, 1.4), 0.5);
    let half = (0.8 * step).clamp(1.0, 2.8);
    let ends = arms.iter().flat_map(|(x, arm)| [(*x, arm.upper, -1.0), (*x, arm.lower, 1.0)]);
    let open = ends.filter(|(_, end, _)| ranked.is_open(*end));
    let heads: String = open.map(|(x, end, down)| arrow_head((x, panel.y(end)), (0.0, down), half)).collect();
    if !heads.is_empty() {
        svg.open("open");
        svg.shape(&heads, side.colour(), 1.0);
        svg.close();
    }
    let radius = (0.7 * step).clamp(1.6, 3.0);
    let marker = |(x, arm): &(f64, &RankedArm<'_>)| side.marker().outline((*x, panel.y(arm.mean)), radius);
    side.draw_outlines(svg, &arms.iter().map(marker).collect::<String>(), 0.0);
}

/// The panel of the means and the panel of the pulls below it.
pub(crate) struct StackedPanels<'a> {
    pub(crate) means: Panel<'a>,
    pub(crate) pulls: Panel<'a>,
}

impl<'a> StackedPanels<'a> {
    /// Places the panels on the page and draws everything that lies under the data.
    pub(crate) fn draw(page: &mut NarrowPage<'_>, ranked: &'a RankedArms<'_>, pulls_label: &'static str) -> Self {
        let left = MARGIN + gutter(&[&ranked.means, &ranked.pulls]) - TEXT_SIZE - 8.0;
        let panel = |top, height, x_axis, y_axis, y_label| {
            let area = Area { left, top, width: MARGIN + NARROW_ROOM - EDGE - left, height };
            Panel { area, x_axis, y_axis, x_label: "Rank by mean, highest first", y_label }
        };
        let top = page.top + HEADING_HEIGHT;
        let means = panel(top, MEANS_HEIGHT, &ranked.bare_ranks, &ranked.means, "Mean and interval");
        let top = means.area.bottom() + LANES_HEIGHT + HEADING_HEIGHT;
        let pulls = panel(top, PULLS_HEIGHT, &ranked.ranks, &ranked.pulls, pulls_label);
        let svg = &mut page.svg;
        for panel in [&means, &pulls] {
            panel.draw_heading(svg, panel.y_label);
            panel.draw_axes(svg);
        }
        pulls.draw_x_label(svg);
        if let Some(threshold) = ranked.threshold {
            threshold.draw_horizontal(svg, means.area, |value| means.y(value));
        }
        Self { means, pulls }
    }

    /// Where the lower panel ends, its axis included.
    pub(crate) fn bottom(&self) -> f64 {
        self.pulls.area.bottom() + FOOT_HEIGHT
    }
}

/// The share of arms on each side, in the order of [`SIDES`], between two x coordinates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaneMark {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) shares: [f64; 3],
}

/// Draws one lane per side below a panel; the height of a mark is the share of that side.
pub(crate) fn draw_lanes(svg: &mut Svg, panel: Area, marks: &[LaneMark]) {
    for (lane, side) in SIDES.into_iter().enumerate() {
        let bottom = panel.bottom() + ABOVE_LANES + count(lane) * (LANE + BETWEEN_LANES) + LANE;
        svg.open("lane");
        side.draw(svg, (panel.left - 9.0, bottom - LANE / 2.0), 3.6);
        svg.line((panel.left, bottom), (panel.right(), bottom), "#cccccc", 0.8);
        let outline = |mark: &LaneMark| {
            let middle = f64::midpoint(mark.from, mark.to);
            let half = (mark.to - mark.from).max(LEAST_MARK.1) / 2.0;
            let height = (LANE * mark.shares[lane]).max(LEAST_MARK.0);
            rectangle((middle - half, bottom - height), (middle + half, bottom))
        };
        let d: String = marks.iter().filter(|mark| mark.shares[lane] > 0.0).map(outline).collect();
        if !d.is_empty() {
            svg.shape(&d, side.colour(), 1.0);
        }
        svg.close();
    }
}
