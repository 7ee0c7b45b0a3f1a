//! The verdicts by rank, a lane a side: what is seen of an arm when its marker is lost among many.

use crate::layout::{Area, count};
use crate::side::Side;
use crate::svg::{Svg, rectangle};

const LANE: f64 = 12.0;
const BETWEEN: f64 = 4.0;
/// Between the panel and the first lane.
const TOP: f64 = 7.0;

/// The height of the three lanes with the space above them.
pub(crate) const HEIGHT: f64 = TOP + 3.0 * (LANE + BETWEEN);

/// The least height and width of a mark: a single arm among thousands has to be seen.
const LEAST: (f64, f64) = (2.0, 1.2);

/// A column of arms: from where to where it goes, and the share of its arms on each side, in the order of [`Side::ALL`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marks {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) shares: [f64; 3],
}

/// Draws the lanes under a panel; a mark is as high as its column's share of that side.
pub(crate) fn draw(svg: &mut Svg, panel: Area, columns: &[Marks]) {
    for (lane, side) in Side::ALL.into_iter().enumerate() {
        let bottom = panel.bottom() + TOP + count(lane) * (LANE + BETWEEN) + LANE;
        svg.open("lane");
        side.draw(svg, (panel.left - 9.0, bottom - LANE / 2.0), 3.6);
        svg.line((panel.left, bottom), (panel.right(), bottom), "#cccccc", 0.8);
        let marks = columns.iter().filter(|column| column.shares[lane] > 0.0);
        let mark = |column: &Marks| {
            let middle = f64::midpoint(column.from, column.to);
            let half = (column.to - column.from).max(LEAST.1) / 2.0;
            let height = (LANE * column.shares[lane]).max(LEAST.0);
            rectangle((middle - half, bottom - height), (middle + half, bottom))
        };
        let d: String = marks.map(mark).collect();
        if !d.is_empty() {
            svg.shape(&d, side.colour(), 1.0);
        }
        svg.close();
    }
}
