//! The progress of a campaign: the numbers of arms above, below and undecided against the pulls used.

use std::fmt::Write as _;

use cutline::Side;

use crate::axis::Axis;
use crate::legend::Key;
use crate::page::{Area, FOOT_HEIGHT, HEADING_HEIGHT, INK, MARGIN, NARROW_ROOM, NarrowPage, Panel, TEXT_SIZE, gutter};
use crate::style::{SIDES, SideStyle, stroke};
use crate::svg::{Svg, number};
use crate::text::grouped;

/// How many arms were decided after a number of pulls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DecidedCount {
    /// The pulls used so far.
    pub pulls: u64,
    /// The number of arms above.
    pub above: u64,
    /// The number of arms below.
    pub below: u64,
}

/// The numbers of arms above, below and undecided against the pulls used, as steps.
///
/// ```
/// use cutline_figure::{DecidedCount, DecidedFigure};
///
/// let figure = DecidedFigure {
///     title: "Prompts".into(),
///     n_arms: 10,
///     budget: Some(400),
///     points: vec![DecidedCount::default(), DecidedCount { pulls: 120, above: 3, below: 5 }],
///     note: None,
/// };
/// let svg = figure.to_svg();
/// assert!(svg.contains("undecided: 2") && svg.contains("budget T = 400"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DecidedFigure {
    /// The title above the figure.
    pub title: String,
    /// The number of arms K; those neither above nor below are undecided.
    pub n_arms: u64,
    /// The budget T, drawn as a vertical line.
    pub budget: Option<u64>,
    /// In any order; of two points with the same pulls, the later one counts.
    pub points: Vec<DecidedCount>,
    /// Small print under the figure.
    pub note: Option<String>,
}

const PANEL_HEIGHT: f64 = 230.0;

/// Room to the right of the panel, for half a tick label.
const EDGE: f64 = 14.0;

/// Steps closer than this are drawn as one.
const CLOSEST: f64 = 0.7;

impl DecidedFigure {
    /// The figure as an SVG document, 440 units wide. However many points there are, the file stays small.
    ///
    /// ```
    /// # use cutline_figure::DecidedFigure;
    /// assert!(DecidedFigure::default().to_svg().contains("no data"));
    /// ```
    #[must_use]
    pub fn to_svg(&self) -> String {
        let mut points = self.points.clone();
        points.sort_by_key(|point| point.pulls);
        let last = points.last().map_or(0, |point| point.pulls);
        let x_axis = Axis::counts(last.max(self.budget.unwrap_or(0)) as f64);
        let most = points.iter().map(|point| point.above.max(point.below)).fold(self.n_arms, u64::max);
        let y_axis = Axis::counts(most as f64);
        let mut page = NarrowPage::new(&self.title);
        let left = MARGIN + gutter(&[&y_axis]) - TEXT_SIZE - 8.0;
        let (top, width) = (page.top + HEADING_HEIGHT, MARGIN + NARROW_ROOM - EDGE - left);
        let area = Area { left, top, width, height: PANEL_HEIGHT };
        let panel = Panel { area, x_axis: &x_axis, y_axis: &y_axis, x_label: "Measurements used", y_label: "Arms" };
        let svg = &mut page.svg;
        panel.draw_heading(svg, panel.y_label);
        panel.draw_axes(svg);
        panel.draw_x_label(svg);
        if let Some(budget) = self.budget {
            svg.open("budget");
            draw_budget(svg, (panel.x(budget as f64), top), area.bottom());
            svg.close();
        }
        match points.last() {
            Some(last) => SIDES.into_iter().for_each(|side| self.draw_curve(svg, &panel, &points, *last, side)),
            None => panel.draw_no_data(svg),
        }
        let keys = self.keys(points.last());
        let notes: Vec<String> = self.note.iter().cloned().collect();
        page.finish(area.bottom() + FOOT_HEIGHT, &keys, &notes)
    }

    /// The number of arms on a side.
    fn number(&self, point: &DecidedCount, side: Side) -> u64 {
        match side {
            Side::Above => point.above,
            Side::Below => point.below,
            Side::Undecided => self.n_arms.saturating_sub(point.above).saturating_sub(point.below),
        }
    }

    /// The steps of one side, with its marker at the end.
    fn draw_curve(&self, svg: &mut Svg, panel: &Panel<'_>, points: &[DecidedCount], last: DecidedCount, side: Side) {
        let at = |point: &DecidedCount| (panel.x(point.pulls as f64), panel.y(self.number(point, side) as f64));
        svg.open(side.name());
        stroke(svg, &steps(points.iter().map(at)), side.colour(), side.dash());
        side.draw(svg, at(&last), 3.8);
        svg.close();
    }

    fn keys(&self, last: Option<&DecidedCount>) -> Vec<Key> {
        let key = |last: &DecidedCount| SIDES.map(|side| side.key(self.number(last, side) as f64, Some(side.dash())));
        let budget = self.budget.map(|budget| {
            Key::new(format!("budget T = {}", grouped(budget as f64)), |svg, (x, y)| {
                draw_budget(svg, (x, y - 8.0), y + 8.0);
            })
        });
        last.map(key).into_iter().flatten().chain(budget).collect()
    }
}

fn draw_budget(svg: &mut Svg, (x, top): (f64, f64), bottom: f64) {
    svg.dashed((x, top), (x, bottom), INK, "7 3");
}

/// Path data of steps through points in order of x. Points too close to distinguish become one vertical line over all their
/// heights.
fn steps(points: impl Iterator<Item = (f64, f64)>) -> String {
    let mut d = String::new();
    let mut points = points.peekable();
    let mut height = f64::NAN;
    let mut reached = f64::NAN;
    while let Some((x, first)) = points.next() {
        let (mut top, mut foot, mut end) = (first, first, first);
        reached = x;
        while let Some((next, y)) = points.next_if(|(next, _)| next - x < CLOSEST) {
            (top, foot, end, reached) = (top.min(y), foot.max(y), y, next);
        }
        if d.is_empty() {
            d = format!("M{} {}", number(x), number(first));
            height = first;
        }
        let turns = [top, foot, end];
        if turns.iter().all(|y| *y == height) {
            continue;
        }
        let _ = write!(d, "H{}", number(x));
        for y in turns {
            if y != height {
                let _ = write!(d, "V{}", number(y));
                height = y;
            }
        }
    }
    if !d.is_empty() {
        let _ = write!(d, "H{}", number(reached));
    }
    d
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_where_the_numbers_change() {
        let d = steps([(0.0, 9.0), (10.0, 9.0), (20.0, 5.0), (30.0, 5.0)].into_iter());
        assert_eq!(d, "M0 9H20V5H30");
        assert_eq!(steps([(4.0, 2.0)].into_iter()), "M4 2H4");
        assert_eq!(steps(std::iter::empty()), "");
    }

    #[test]
    fn close_steps_keep_their_heights_and_end_at_the_last() {
        let d = steps([(0.0, 1.0), (50.0, 8.0), (50.1, 3.0), (50.2, 9.0), (50.3, 6.0)].into_iter());
        assert_eq!(d, "M0 1H50V3V9V6H50.3");
        let many = (0..100_000).map(|k| (f64::from(k) / 250.0, f64::from(k % 7)));
        assert!(steps(many).len() < 20_000);
    }
}
