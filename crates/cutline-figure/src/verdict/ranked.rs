//! The arms in order of their means, and the axes that hold them.

use crate::axis::{Axis, span};
use crate::label::grouped;
use crate::layout::count;
use crate::side::Side;
use crate::verdict::threshold::Threshold;
use crate::verdict::{ArmVerdict, VerdictFigure};

/// Values beyond this are no measurements, and their sums may overflow.
const LARGEST: f64 = 1e150;

/// How many half-widths of the median interval the axis may reach beyond the means, however wide other intervals are.
const REACH: f64 = 4.0;

/// The share of the axis that arrows need at each end, to be clear of the markers.
const ARROW: f64 = 0.05;

/// An arm that can be drawn; an end that is not known is infinite.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranking<'a> {
    pub(crate) name: &'a str,
    pub(crate) mean: f64,
    pub(crate) lower: f64,
    pub(crate) upper: f64,
    pub(crate) side: Side,
    pub(crate) pulls: f64,
}

/// The arms that can be drawn, highest mean first; equal means stay in the order given.
#[derive(Debug)]
pub(crate) struct Ranked<'a> {
    pub(crate) arms: Vec<Ranking<'a>>,
    pub(crate) threshold: Option<Threshold>,
    /// Holds all means and the threshold, and the ends of intervals unless they are far out.
    pub(crate) means: Axis,
    pub(crate) pulls: Axis,
    pub(crate) ranks: Axis,
    /// Without ticks, for a panel that stands on another.
    pub(crate) bare_ranks: Axis,
    n_left_out: usize,
}

impl<'a> Ranked<'a> {
    pub(crate) fn new(figure: &'a VerdictFigure) -> Self {
        let mut arms: Vec<Ranking<'a>> = figure.arms.iter().filter_map(Ranking::new).collect();
        arms.sort_by(|a, b| b.mean.total_cmp(&a.mean));
        let threshold = Threshold::new(figure.threshold, figure.precision).filter(|_| !arms.is_empty());
        let (low, high) = reach(&arms, threshold);
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

    /// Whether an interval goes on beyond the axis.
    pub(crate) fn has_open_end(&self) -> bool {
        self.arms.iter().any(|arm| self.is_open(arm.lower) || self.is_open(arm.upper))
    }

    /// Whether the end of an interval lies beyond the axis.
    pub(crate) fn is_open(&self, end: f64) -> bool {
        !(self.means.scale.low..=self.means.scale.high).contains(&end)
    }

    /// Says how many arms are not drawn, if there are any.
    pub(crate) fn left_out(&self) -> Option<String> {
        match self.n_left_out {
            0 => None,
            1 => Some("1 arm has no finite mean and is not drawn.".to_owned()),
            n => Some(format!("{} arms have no finite mean and are not drawn.", grouped(count(n)))),
        }
    }
}

impl<'a> Ranking<'a> {
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

/// From where to where the axis goes: one interval that is far wider than the others must not flatten them.
fn reach(arms: &[Ranking<'_>], threshold: Option<Threshold>) -> (f64, f64) {
    let means = arms.iter().map(|arm| arm.mean);
    let (low, high) = span(means.chain(threshold.map(|t| t.threshold))).unwrap_or((0.0, 1.0));
    let finite = |arm: &Ranking<'_>| Some((arm.upper - arm.lower) / 2.0).filter(|half| half.is_finite());
    let mut halves: Vec<f64> = arms.iter().filter_map(finite).collect();
    halves.sort_by(f64::total_cmp);
    let half = halves.get(halves.len() / 2).copied().unwrap_or(0.0);
    let precision = threshold.map_or(0.0, |t| t.precision);
    let room = Some((high - low).max(REACH * half)).filter(|room| *room > 0.0).unwrap_or(precision);
    let ends = arms.iter().flat_map(|arm| [arm.lower, arm.upper]).filter(|end| end.is_finite());
    let band = threshold.into_iter().flat_map(Threshold::band);
    let (lowest, highest) = span(ends.chain(band)).unwrap_or((low, high));
    let (low, high) = (lowest.clamp(low - room, low), highest.clamp(high, high + room));
    let is_open = arms.iter().any(|arm| arm.lower < low || arm.upper > high);
    let arrow = if is_open { ARROW * (high - low) } else { 0.0 };
    (low - arrow, high + arrow)
}

/// Whether a number can be a measurement.
pub(crate) fn is_value(x: f64) -> bool {
    (-LARGEST..=LARGEST).contains(&x)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(arms: &[(f64, f64, f64)]) -> VerdictFigure {
        let arm = |&(mean, lower, upper): &(f64, f64, f64)| ArmVerdict { mean, lower, upper, ..ArmVerdict::default() };
        VerdictFigure { arms: arms.iter().map(arm).collect(), precision: 0.1, ..VerdictFigure::default() }
    }

    #[test]
    fn arms_are_in_order_and_what_has_no_mean_is_counted() {
        let mut figure = figure(&[(1.0, 0.0, 2.0), (f64::NAN, 0.0, 1.0), (3.0, f64::NAN, 4.0), (1.0, 0.5, 1.5)]);
        for (arm, name) in figure.arms.iter_mut().zip(["first", "lost", "top", "second"]) {
            arm.name = name.into();
        }
        let ranked = Ranked::new(&figure);
        assert_eq!(ranked.arms.iter().map(|arm| arm.name).collect::<Vec<_>>(), ["top", "first", "second"]);
        assert_eq!(ranked.arms[0].lower, f64::NEG_INFINITY);
        assert!(ranked.left_out().is_some_and(|note| note.starts_with("1 arm has")));
        assert!(ranked.has_open_end());
    }

    #[test]
    fn one_wide_interval_does_not_flatten_the_others() {
        let mut arms: Vec<(f64, f64, f64)> =
            (0..9).map(|k| f64::from(k) / 8.0).map(|m| (m, m - 0.1, m + 0.1)).collect();
        let ranked = Ranked::new(&figure(&arms)).means.scale;
        arms.push((0.5, -1e6, 1e6));
        let wide = figure(&arms);
        let wide = Ranked::new(&wide);
        assert!(wide.means.scale.high - wide.means.scale.low < 3.0 * (ranked.high - ranked.low));
        assert!(wide.is_open(1e6) && wide.is_open(-1e6) && !wide.is_open(1.1));
    }

    #[test]
    fn the_axis_holds_the_threshold_its_band_and_all_means() {
        for arms in [vec![(0.0, f64::NEG_INFINITY, f64::INFINITY)], vec![(7.0, 6.0, 8.0), (9.0, 8.5, 9.5)]] {
            let figure = figure(&arms);
            let ranked = Ranked::new(&figure);
            for value in arms.iter().flat_map(|arm| [arm.0, arm.1, arm.2]).chain([0.0]) {
                assert!(value.is_infinite() || !ranked.is_open(value), "{value} of {arms:?}");
            }
            assert!(arms.len() > 1 || !ranked.is_open(-0.1) && !ranked.is_open(0.1), "the band");
        }
    }
}
