//! Two panels under each other over the ranks: means with intervals, the verdicts in lanes, and the pulls.

use crate::layout::{Area, MARGIN, TEXT_SIZE};
use crate::panel::{Panel, gutter};
use crate::sheet::{FOOT_HEIGHT, HEADING_HEIGHT, ROOM, Sheet};
use crate::svg::Svg;
use crate::verdict::lanes;
use crate::verdict::ranked::Ranked;

const MEANS_HEIGHT: f64 = 230.0;
const PULLS_HEIGHT: f64 = 90.0;
/// At the right of the panels, for the sign of the threshold.
const EDGE: f64 = 12.0;

/// The colour of what is of no side: pulls, and intervals of many arms.
pub(crate) const TONE: &str = "#5a5a8c";

/// The axes and places of the two panels.
pub(crate) struct Stack<'a> {
    pub(crate) means: Panel<'a>,
    pub(crate) pulls: Panel<'a>,
}

impl<'a> Stack<'a> {
    /// Places the panels on the sheet and draws all that lies under the data.
    pub(crate) fn draw(sheet: &mut Sheet<'_>, ranked: &'a Ranked<'_>) -> Self {
        let left = MARGIN + gutter(&[&ranked.means, &ranked.pulls]) - TEXT_SIZE - 8.0;
        let panel = |top, height, across, upright, shows| {
            let area = Area { left, top, width: MARGIN + ROOM - EDGE - left, height };
            Panel { area, across, upright, shows, against: "Rank by mean, highest first" }
        };
        let top = sheet.top + HEADING_HEIGHT;
        let means = panel(top, MEANS_HEIGHT, &ranked.bare_ranks, &ranked.means, "Mean and interval");
        let top = means.area.bottom() + lanes::HEIGHT + HEADING_HEIGHT;
        let pulls = panel(top, PULLS_HEIGHT, &ranked.ranks, &ranked.pulls, "Pulls");
        let stack = Self { means, pulls };
        stack.draw_ground(&mut sheet.svg, ranked);
        stack
    }

    fn draw_ground(&self, svg: &mut Svg, ranked: &Ranked<'_>) {
        for panel in [&self.means, &self.pulls] {
            panel.draw_heading(svg, panel.shows);
            panel.draw_axes(svg);
        }
        self.pulls.draw_against(svg);
        if let Some(threshold) = ranked.threshold {
            threshold.draw_level(svg, self.means.area, |value| self.means.y(value));
        }
    }

    /// Where it ends, the axis included.
    pub(crate) fn bottom(&self) -> f64 {
        self.pulls.area.bottom() + FOOT_HEIGHT
    }
}
