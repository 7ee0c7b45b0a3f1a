//! The arms in order of their means, the axes that hold them, and the threshold they are compared with.

use cutline::Side;

use crate::axis::{Axis, span};
use crate::legend::{KEY_SAMPLE, Key};
use crate::page::{Area, INK, TEXT_SIZE, count};
use crate::svg::{Anchor, Svg, path, rectangle};
use crate::text::{grouped, short};
use crate::verdict::{ArmVerdict, VerdictFigure};

/// Larger values are not measurements, and their sums may overflow.
const LARGEST: f64 = 1e150;

/// How many half-widths of the median interval the axis may reach beyond the means, however wide other intervals are.
const REACH: f64 = 4.0;

/// The share of the axis that arrows need at each end, to be clear of the markers.
const ARROW: f64 = 0.05;

const BAND: &str = "#f0c419";
const BAND_OPACITY: f64 = 0.22;

/// The length of an arrow head.
const HEAD: f64 = 5.0;

/// An arm that can be drawn; an unknown end of its interval is infinite.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RankedArm<'a> {
    pub(crate) name: &'a str,
    pub(crate) mean: f64,
    pub(crate) lower: f64,
    pub(crate) upper: f64,
    pub(crate) side: Side,
    pub(crate) pulls: f64,
}

/// The arms that can be drawn, highest mean first; equal means stay in the order of the figure.
#[derive(Debug)]
pub(crate) struct RankedArms<'a> {
    pub(crate) arms: Vec<RankedArm<'a>>,
    pub(crate) threshold: Option<ThresholdLine>,
    /// Holds all means and the threshold, and the ends of intervals unless they are far out.
    pub(crate) means: Axis,
    pub(crate) pulls: Axis,
    pub(crate) ranks: Axis,
    /// Without ticks, for a panel that has another one directly below it.
    pub(crate) bare_ranks: Axis,
    n_left_out: usize,
}

impl<'a> RankedArms<'a> {
    pub(crate) fn new(figure: &'a VerdictFigure) -> Self {
        let mut arms: Vec<RankedArm<'a>> = figure.arms.iter().filter_map(RankedArm::new).collect();
        arms.sort_by(|a, b| b.mean.total_cmp(&a.mean));
        let threshold = ThresholdLine::new(figure.threshold, figure.precision).filter(|_| !arms.is_empty());
        let (low, high) = mean_range(&arms, threshold);
        let most = arms.iter().map(|arm| arm.pulls).fold(0.0, f64::max);
        let ranks = Axis::ranks(arms.len());
        Self {
            threshold,
            means: Axis::values(low, high),
            pulls: Axis::counts(most),
            bare_ranks: ranks.bare(),
            ranks,
            n_left_out: figure.arms.len() - arms.len(),
            arms,
        }
    }

    /// Whether any interval extends beyond the axis.
    pub(crate) fn has_open_end(&self) -> bool {
        self.arms.iter().any(|arm| self.is_open(arm.lower) || self.is_open(arm.upper))
    }

    /// Whether the end of an interval lies beyond the axis.
    pub(crate) fn is_open(&self, end: f64) -> bool {
        !(self.means.scale.low..=self.means.scale.high).contains(&end)
    }

    /// A note on the arms that are not drawn, if there are any.
    pub(crate) fn left_out_note(&self) -> Option<String> {
        match self.n_left_out {
            0 => None,
            1 => Some("1 arm has no finite mean and is not drawn.".to_owned()),
            n => Some(format!("{} arms have no finite mean and are not drawn.", grouped(count(n)))),
        }
    }
}

impl<'a> RankedArm<'a> {
    fn new(arm: &'a ArmVerdict) -> Option<Self> {
        let end = |end: f64, unknown| if is_value(end) { end } else { unknown };
        is_value(arm.mean).then(|| Self {
            name: &arm.name,
            // Adding zero turns -0 into 0, which is the same mean.
            mean: arm.mean + 0.0,
            lower: end(arm.lower, f64::NEG_INFINITY),
            upper: end(arm.upper, f64::INFINITY),
            side: arm.side,
            pulls: arm.pulls as f64,
        })
    }
}

/// The range of the axis of means. A single interval that is far wider than the others must not flatten them.
fn mean_range(arms: &[RankedArm<'_>], threshold: Option<ThresholdLine>) -> (f64, f64) {
    let means = arms.iter().map(|arm| arm.mean);
    let (low, high) = span(means.chain(threshold.map(|t| t.threshold))).unwrap_or((0.0, 1.0));
    let half_width = |arm: &RankedArm<'_>| Some((arm.upper - arm.lower) / 2.0).filter(|half| half.is_finite());
    let mut halves: Vec<f64> = arms.iter().filter_map(half_width).collect();
    halves.sort_by(f64::total_cmp);
    let half = halves.get(halves.len() / 2).copied().unwrap_or(0.0);
    let precision = threshold.map_or(0.0, |t| t.precision);
    let room = Some((high - low).max(REACH * half)).filter(|room| *room > 0.0).unwrap_or(precision);
    let ends = arms.iter().flat_map(|arm| [arm.lower, arm.upper]).filter(|end| end.is_finite());
    let band = threshold.into_iter().flat_map(ThresholdLine::band);
    let (lowest, highest) = span(ends.chain(band)).unwrap_or((low, high));
    let (low, high) = (lowest.clamp(low - room, low), highest.clamp(high, high + room));
    let is_open = arms.iter().any(|arm| arm.lower < low || arm.upper > high);
    let arrow = if is_open { ARROW * (high - low) } else { 0.0 };
    (low - arrow, high + arrow)
}

/// Whether a number can be a measurement.
fn is_value(x: f64) -> bool {
    (-LARGEST..=LARGEST).contains(&x)
}

/// The line at τ and the band τ ± ε; the precision is 0 if there is no band.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ThresholdLine {
    threshold: f64,
    precision: f64,
}

impl ThresholdLine {
    fn new(threshold: f64, precision: f64) -> Option<Self> {
        let precision = if precision > 0.0 && is_value(precision) { precision } else { 0.0 };
        is_value(threshold).then_some(Self { threshold: threshold + 0.0, precision })
    }

    /// The ends τ − ε and τ + ε.
    fn band(self) -> [f64; 2] {
        [self.threshold - self.precision, self.threshold + self.precision]
    }

    /// A vertical line through the area with the band around it; `x` maps a value to a coordinate.
    pub(crate) fn draw_vertical(self, svg: &mut Svg, area: Area, x: impl Fn(f64) -> f64) {
        svg.open("threshold");
        if self.precision > 0.0 {
            let [left, right] = self.band().map(&x);
            draw_band(svg, (left, area.top), (right, area.bottom()));
        }
        let x = x(self.threshold);
        draw_line(svg, (x, area.top), (x, area.bottom()));
        svg.text((x, area.top - 12.0), TEXT_SIZE, Anchor::Middle, "τ");
        svg.close();
    }

    /// A horizontal line through the area with the band around it; `y` maps a value to a coordinate.
    pub(crate) fn draw_horizontal(self, svg: &mut Svg, area: Area, y: impl Fn(f64) -> f64) {
        svg.open("threshold");
        if self.precision > 0.0 {
            let [bottom, top] = self.band().map(&y);
            draw_band(svg, (area.left, top), (area.right(), bottom));
        }
        let y = y(self.threshold);
        draw_line(svg, (area.left, y), (area.right(), y));
        svg.text((area.right() + 3.0, y), TEXT_SIZE, Anchor::Start, "τ");
        svg.close();
    }

    /// The keys of the line and of the band.
    pub(crate) fn keys(self) -> Vec<Key> {
        let half = KEY_SAMPLE / 2.0;
        let line = Key::new(format!("threshold τ = {}", short(self.threshold)), move |svg, (x, y)| {
            draw_line(svg, (x - half, y), (x + half, y));
        });
        let band = (self.precision > 0.0).then(|| {
            Key::new(format!("τ ± ε, ε = {}", short(self.precision)), move |svg, (x, y)| {
                draw_band(svg, (x - half, y - 5.0), (x + half, y + 5.0));
            })
        });
        [line].into_iter().chain(band).collect()
    }
}

fn draw_line(svg: &mut Svg, from: (f64, f64), to: (f64, f64)) {
    svg.dashed(from, to, INK, "7 3");
}

fn draw_band(svg: &mut Svg, corner: (f64, f64), other: (f64, f64)) {
    svg.shape(&rectangle(corner, other), BAND, BAND_OPACITY);
}

/// The path data of an arrow head with its tip at (x, y), its direction, and half its width.
pub(crate) fn arrow_head((x, y): (f64, f64), (dx, dy): (f64, f64), half: f64) -> String {
    let (foot_x, foot_y) = (x - HEAD * dx, y - HEAD * dy);
    path([(x, y), (foot_x + half * dy, foot_y + half * dx), (foot_x - half * dy, foot_y - half * dx)]) + "Z"
}

/// The key of the arrow at an interval that extends beyond the frame.
pub(crate) fn open_end_key() -> Key {
    Key::new("interval extends beyond the frame", |svg, (x, y)| {
        let tip = x + KEY_SAMPLE / 2.0;
        svg.line((x - KEY_SAMPLE / 2.0, y), (tip - HEAD, y), INK, 1.4);
        svg.shape(&arrow_head((tip, y), (1.0, 0.0), 2.8), INK, 1.0);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(arms: &[(f64, f64, f64)]) -> VerdictFigure {
        let arm = |&(mean, lower, upper): &(f64, f64, f64)| ArmVerdict {
            name: String::new(),
            mean,
            lower,
            upper,
            side: Side::Undecided,
            pulls: 0,
        };
        VerdictFigure { arms: arms.iter().map(arm).collect(), precision: 0.1, ..VerdictFigure::default() }
    }

    #[test]
    fn arms_are_in_order_and_those_without_a_mean_are_counted() {
        let mut figure = figure(&[(1.0, 0.0, 2.0), (f64::NAN, 0.0, 1.0), (3.0, f64::NAN, 4.0), (1.0, 0.5, 1.5)]);
        for (arm, name) in figure.arms.iter_mut().zip(["first", "lost", "top", "second"]) {
            arm.name = name.into();
        }
        let ranked = RankedArms::new(&figure);
        assert_eq!(ranked.arms.iter().map(|arm| arm.name).collect::<Vec<_>>(), ["top", "first", "second"]);
        assert_eq!(ranked.arms[0].lower, f64::NEG_INFINITY);
        assert!(ranked.left_out_note().is_some_and(|note| note.starts_with("1 arm has")));
        assert!(ranked.has_open_end());
    }

    #[test]
    fn one_wide_interval_does_not_flatten_the_others() {
        let mut arms: Vec<(f64, f64, f64)> =
            (0..9).map(|k| f64::from(k) / 8.0).map(|m| (m, m - 0.1, m + 0.1)).collect();
        let narrow = RankedArms::new(&figure(&arms)).means.scale;
        arms.push((0.5, -1e6, 1e6));
        let wide = figure(&arms);
        let wide = RankedArms::new(&wide);
        assert!(wide.means.scale.high - wide.means.scale.low < 3.0 * (narrow.high - narrow.low));
        assert!(wide.is_open(1e6) && wide.is_open(-1e6) && !wide.is_open(1.1));
    }

    #[test]
    fn the_axis_holds_the_threshold_its_band_and_all_means() {
        for arms in [vec![(0.0, f64::NEG_INFINITY, f64::INFINITY)], vec![(7.0, 6.0, 8.0), (9.0, 8.5, 9.5)]] {
            let figure = figure(&arms);
            let ranked = RankedArms::new(&figure);
            for value in arms.iter().flat_map(|arm| [arm.0, arm.1, arm.2]).chain([0.0]) {
                assert!(value.is_infinite() || !ranked.is_open(value), "{value} of {arms:?}");
            }
            assert!(arms.len() > 1 || !ranked.is_open(-0.1) && !ranked.is_open(0.1), "the band");
        }
    }
}
