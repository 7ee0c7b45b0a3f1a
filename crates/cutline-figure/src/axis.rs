//! The axes of figures: rates on a logarithmic and on a linear scale, budgets, measured values, counts and ranks.

use crate::label::Label;
use crate::layout::count;
use crate::scale::Scale;
use crate::series::{SMALLEST_RATE, Series, is_zero};
use crate::ticks::{Tick, ticks};

/// A scale and its ticks.
#[derive(Debug)]
pub(crate) struct Axis {
    pub(crate) scale: Scale,
    pub(crate) ticks: Vec<Tick>,
}

/// Budgets further apart than this factor would crowd at the left of a linear axis.
pub(crate) const WIDE: f64 = 100.0;

/// Up to this many budgets are each a tick.
const MOST_BUDGETS: usize = 10;

/// The length below which an axis is a single value: its steps have to be numbers yet.
const SMALLEST_LENGTH: f64 = 1e-150;

impl Axis {
    /// Rates by their order of magnitude. Zeros have a place of their own below the smallest positive rate.
    pub(crate) fn log_rates(series: &[Series<'_>]) -> Self {
        Self::log_rates_with(series, None)
    }

    /// As [`Axis::log_rates`], with room for one rate more.
    pub(crate) fn log_rates_with(series: &[Series<'_>], more: Option<f64>) -> Self {
        let shown = |rate: &f64| !is_zero(*rate);
        let rates = series.iter().flat_map(|s| s.rates().chain(s.highs())).chain(more).filter(shown);
        let (low, high) = span(rates).unwrap_or((1e-3, 1.0));
        let lows = span(series.iter().flat_map(Series::lows).filter(shown));
        // One interval that reaches down for many decades must not flatten the curves.
        let low = lows.map_or(low, |lows| lows.0.clamp(low / 10.0, low));
        let scale = Scale::logarithmic(low, high, 0.1);
        let has_zero = series.iter().any(Series::has_zero);
        let scale = if has_zero { scale.with_room_below(0.12) } else { scale };
        let mut ticks = ticks(&scale);
        if has_zero {
            // Below the smallest rate the scale has no meaning, so it has no ticks there.
            ticks.retain(|tick| tick.value >= low * 0.999 || tick.label.is_some() && tick.value >= 0.8 * low);
        }
        Self { scale, ticks }
    }

    /// Rates as they are; the axis starts at zero unless all rates are far from it.
    pub(crate) fn linear_rates(series: &[Series<'_>]) -> Self {
        let values = series.iter().flat_map(|s| s.rates().chain(s.lows()).chain(s.highs()));
        let (low, high) = span(values).unwrap_or((0.0, 1.0));
        let low = if low < 0.4 * high || high < 0.05 { 0.0 } else { low };
        let high = high.max(SMALLEST_RATE);
        let scale = Scale::linear(low, high, 0.1 * high);
        Self { scale, ticks: ticks(&scale) }
    }

    /// The same scale without ticks.
    pub(crate) fn bare(&self) -> Self {
        Self { scale: self.scale, ticks: Vec::new() }
    }

    /// Measured values, which may lie anywhere; what is all at one value stands in the middle.
    pub(crate) fn values(low: f64, high: f64) -> Self {
        let size = low.abs().max(high.abs());
        let is_one_value = !(high - low > (1e-9 * size).max(SMALLEST_LENGTH));
        let around = if size < SMALLEST_LENGTH { 1.0 } else { 0.1 * size };
        let (low, high) = if is_one_value { (low - around, high + around) } else { (low, high) };
        let scale = Scale::linear(low, high, 0.0);
        Self { scale, ticks: ticks(&scale) }
    }

    /// Counts from zero, with ticks at whole numbers only.
    pub(crate) fn counts(most: f64) -> Self {
        let scale = Scale { logarithmic: false, low: 0.0, high: 1.05 * most.max(1.0) };
        Self { scale, ticks: whole_ticks(&scale) }
    }

    /// The places from 1 to `n`, evenly.
    pub(crate) fn ranks(n: usize) -> Self {
        let scale = Scale { logarithmic: false, low: 0.5, high: count(n.max(1)) + 0.5 };
        Self { scale, ticks: whole_ticks(&scale) }
    }

    /// Budgets: the ones in use as ticks when they are few; logarithmic when they are further apart than `wide`.
    pub(crate) fn budgets(series: &[Series<'_>], wide: f64) -> Self {
        let mut budgets: Vec<f64> = series.iter().flat_map(Series::budgets).collect();
        budgets.sort_by(f64::total_cmp);
        budgets.dedup();
        let (low, high) = span(budgets.iter().copied()).unwrap_or((0.0, 1.0));
        let scale = if low > 0.0 && high >= wide * low {
            Scale::logarithmic(low, high, 0.0)
        } else if low < high {
            Scale::linear(low, high, 0.0)
        } else {
            // A single budget stands in the middle.
            let around = 0.1 * high.max(1.0);
            Scale::linear(low - around, high + around, 0.0)
        };
        let ticks = match budgets.len() {
            1..=MOST_BUDGETS => budgets.iter().map(|b| budget_tick(*b)).collect(),
            _ => ticks(&scale).into_iter().map(|t| if t.label.is_some() { budget_tick(t.value) } else { t }).collect(),
        };
        Self { scale, ticks }
    }
}

fn budget_tick(value: f64) -> Tick {
    Tick { value, label: Some(Label::budget(value)) }
}

fn whole_ticks(scale: &Scale) -> Vec<Tick> {
    let whole = ticks(scale).into_iter().filter(|tick| tick.value.fract() == 0.0);
    whole.map(|tick| Tick { label: tick.label.map(|_| Label::whole(tick.value)), ..tick }).collect()
}

/// The least and the greatest, if there is any.
pub(crate) fn span(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |span, v| {
        let (low, high) = span.unwrap_or((v, v));
        Some((low.min(v), high.max(v)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{Curve, Point};

    fn curve(points: &[(f64, f64, f64, f64)]) -> Curve {
        let point = |&(budget, rate, low, high): &(f64, f64, f64, f64)| Point { budget, rate, low, high };
        Curve { label: "apt".into(), points: points.iter().map(point).collect(), published: Vec::new() }
    }

    #[test]
    fn few_budgets_are_the_ticks_and_many_are_not() {
        let few = [curve(&[(40.0, 0.1, 0.1, 0.1), (70.0, 0.1, 0.1, 0.1)])];
        let axis = Axis::budgets(&Series::all(&few), WIDE);
        assert_eq!(axis.ticks.iter().map(|t| t.value).collect::<Vec<_>>(), [40.0, 70.0]);
        let points: Vec<_> = (1..30).map(|b| (f64::from(b) * 7.0, 0.1, 0.1, 0.1)).collect();
        let many = [curve(&points)];
        let axis = Axis::budgets(&Series::all(&many), WIDE);
        assert!(axis.ticks.len() < 12 && axis.ticks.iter().all(|t| t.value % 10.0 == 0.0));
    }

    #[test]
    fn wide_budgets_are_logarithmic() {
        let wide = [curve(&[(1.0, 0.1, 0.1, 0.1), (1e3, 0.1, 0.1, 0.1), (1e6, 0.1, 0.1, 0.1)])];
        let axis = Axis::budgets(&Series::all(&wide), WIDE);
        assert!((axis.scale.share(1e3) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn zeros_lie_below_the_smallest_positive_rate() {
        let zero = [curve(&[(1.0, 0.01, 0.005, 0.02), (2.0, 0.0, 0.0, 0.0004)])];
        let axis = Axis::log_rates(&Series::all(&zero));
        assert!(axis.scale.share(0.0004) > 0.1);
        assert!(axis.scale.share(0.0).abs() < 1e-12);
    }

    #[test]
    fn one_very_wide_interval_does_not_flatten_the_curves() {
        let wide = [curve(&[(1.0, 0.5, 0.4, 0.6), (2.0, 0.05, 1e-9, 0.4)])];
        let axis = Axis::log_rates(&Series::all(&wide));
        assert!(axis.scale.share(0.05) > 0.3);
    }

    #[test]
    fn empty_axes_have_ticks_too() {
        for axis in [Axis::log_rates(&[]), Axis::linear_rates(&[]), Axis::budgets(&[], WIDE)] {
            assert!(axis.ticks.iter().filter(|t| t.label.is_some()).count() >= 3);
        }
    }
}
