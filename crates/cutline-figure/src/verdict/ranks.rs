//! A mark an arm, by rank: a thin line for its interval and a marker at its mean.

use crate::layout::count;
use crate::sheet::Sheet;
use crate::side::Side;
use crate::svg::{Svg, path};
use crate::verdict::lanes::{self, Marks};
use crate::verdict::ranked::{Ranked, Ranking};
use crate::verdict::stack::{Stack, TONE};
use crate::verdict::threshold::head;

/// Draws the panels, and returns where they end.
pub(crate) fn draw(sheet: &mut Sheet<'_>, ranked: &Ranked<'_>) -> f64 {
    let stack = Stack::draw(sheet, ranked);
    let step = stack.means.area.width / count(ranked.arms.len());
    let place = |index: usize| stack.means.area.left + step * (count(index) + 0.5);
    let svg = &mut sheet.svg;
    // Undecided arms last, so that no other covers them.
    for side in [Side::Above, Side::Below, Side::Undecided] {
        let arms = ranked.arms.iter().enumerate().filter(|(_, arm)| arm.side == side);
        let arms: Vec<(f64, &Ranking<'_>)> = arms.map(|(index, arm)| (place(index), arm)).collect();
        if !arms.is_empty() {
            svg.open(side.name());
            draw_side(svg, ranked, &stack, side, step, &arms);
            svg.close();
        }
    }
    let share = |(index, arm): (usize, &Ranking<'_>)| Marks {
        from: place(index) - 0.4 * step,
        to: place(index) + 0.4 * step,
        shares: Side::ALL.map(|side| f64::from(u8::from(arm.side == side))),
    };
    let marks: Vec<Marks> = ranked.arms.iter().enumerate().map(share).collect();
    lanes::draw(svg, stack.means.area, &marks);

    svg.open("pulls");
    let zero = stack.pulls.y(0.0);
    let bar =
        |(index, arm): (usize, &Ranking<'_>)| path([(place(index), zero), (place(index), stack.pulls.y(arm.pulls))]);
    let bars: String = ranked.arms.iter().enumerate().map(bar).collect();
    svg.pale_strokes(&bars, TONE, 0.75 * step, 0.7);
    svg.close();
    stack.bottom()
}

/// The arms of one side: intervals, open ends, markers, each as one path.
fn draw_side(
    svg: &mut Svg,
    ranked: &Ranked<'_>,
    stack: &Stack<'_>,
    side: Side,
    step: f64,
    arms: &[(f64, &Ranking<'_>)],
) {
    let panel = &stack.means;
    let line = |(x, arm): &(f64, &Ranking<'_>)| path([(*x, panel.y(arm.upper)), (*x, panel.y(arm.lower))]);
    let d: String = arms.iter().map(line).collect();
    svg.pale_strokes(&d, side.colour(), (0.6 * step).clamp(0.6, 1.4), 0.5);
    let half = (0.8 * step).clamp(1.0, 2.8);
    let ends = arms.iter().flat_map(|(x, arm)| [(*x, arm.upper, -1.0), (*x, arm.lower, 1.0)]);
    let open = ends.filter(|(_, end, _)| ranked.is_open(*end));
    let heads: String = open.map(|(x, end, down)| head((x, panel.y(end)), (0.0, down), half)).collect();
    if !heads.is_empty() {
        svg.open("open");
        svg.shape(&heads, side.colour(), 1.0);
        svg.close();
    }
    let radius = (0.7 * step).clamp(1.6, 3.0);
    let marker = |(x, arm): &(f64, &Ranking<'_>)| side.marker().outline((*x, panel.y(arm.mean)), radius);
    side.draw_outlines(svg, &arms.iter().map(marker).collect::<String>(), 0.0);
}
