//! Axes: from a value to its position, with ticks at round values, few enough to read and never fewer than three.

use crate::failure::{SMALLEST_RATE, Series, is_zero};
use crate::page::count;
use crate::text::{Label, floor_log10};

/// A scale and its ticks.
#[derive(Debug)]
pub(crate) struct Axis {
    pub(crate) scale: Scale,
    pub(crate) ticks: Vec<Tick>,
}

/// Budgets further apart than this factor would crowd on the left of a linear axis.
pub(crate) const WIDE: f64 = 100.0;

/// Up to this many budgets have one tick each.
const MAX_BUDGETS: usize = 10;

/// An axis shorter than this is a single value: its steps would underflow.
const SMALLEST_LENGTH: f64 = 1e-150;

impl Axis {
    /// Rates on a logarithmic scale. Zeros are drawn below the smallest positive rate.
    pub(crate) fn log_rates(series: &[Series<'_>]) -> Self {
        Self::log_rates_with(series, None)
    }

    /// As [`Axis::log_rates`], with room for one more rate.
    pub(crate) fn log_rates_with(series: &[Series<'_>], more: Option<f64>) -> Self {
        let is_positive = |rate: &f64| !is_zero(*rate);
        let rates = series.iter().flat_map(|s| s.rates().chain(s.highs())).chain(more).filter(is_positive);
        let (low, high) = span(rates).unwrap_or((1e-3, 1.0));
        let lows = span(series.iter().flat_map(Series::lows).filter(is_positive));
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

    /// Rates on a linear scale, which starts at zero unless all rates are far from it.
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

    /// Measured values of any size; a single value is in the middle.
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

    /// The ranks from 1 to `n`.
    pub(crate) fn ranks(n: usize) -> Self {
        let scale = Scale { logarithmic: false, low: 0.5, high: count(n.max(1)) + 0.5 };
        Self { scale, ticks: whole_ticks(&scale) }
    }

    /// Budgets: one tick each if they are few; logarithmic if they are further apart than the factor `wide`.
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
            // A single budget is in the middle.
            let around = 0.1 * high.max(1.0);
            Scale::linear(low - around, high + around, 0.0)
        };
        let ticks = match budgets.len() {
            1..=MAX_BUDGETS => budgets.iter().map(|b| budget_tick(*b)).collect(),
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

/// The smallest and the largest value, or `None` without values.
pub(crate) fn span(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |span, v| {
        let (low, high) = span.unwrap_or((v, v));
        Some((low.min(v), high.max(v)))
    })
}

/// A linear or logarithmic axis; `low` and `high` are its ends, as exponents of ten when it is logarithmic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    pub(crate) logarithmic: bool,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Scale {
    /// A linear axis over the values, at least `least` wide, with a margin.
    pub(crate) fn linear(low: f64, high: f64, least: f64) -> Self {
        Self { logarithmic: false, low, high }.widened(least)
    }

    /// A logarithmic axis over the positive values, at least `least` decades wide, with a margin.
    pub(crate) fn logarithmic(low: f64, high: f64, least: f64) -> Self {
        Self { logarithmic: true, low: low.log10(), high: high.log10() }.widened(least)
    }

    /// The same axis with more room at its low end, as a share of its length.
    pub(crate) fn with_room_below(self, share: f64) -> Self {
        Self { low: self.low - share * (self.high - self.low), ..self }
    }

    /// The position of a value: 0 at the low end, 1 at the high end, never outside.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let position = if self.logarithmic { value.log10() } else { value };
        let share = (position - self.low) / (self.high - self.low);
        // The logarithm of zero is minus infinity and belongs at the low end.
        share.clamp(0.0, 1.0)
    }

    /// Widens towards low values first: most axes here end at 1, and no probability is above that.
    fn widened(self, least: f64) -> Self {
        let low = self.low.min(self.high - least);
        let margin = 0.05 * (self.high - low);
        Self { low: low - margin, high: self.high + margin, ..self }
    }
}

/// A tick on an axis; minor ticks have no label.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub(crate) value: f64,
    pub(crate) label: Option<Label>,
}

/// Labels closer than this share of the axis would touch.
const CLOSEST: f64 = 0.06;

/// If there are more decades than this, only every second, third, … one is labelled.
const MAX_DECADES: f64 = 7.0;

/// Round ticks for a scale.
pub(crate) fn ticks(scale: &Scale) -> Vec<Tick> {
    if scale.logarithmic { logarithmic(scale) } else { linear(scale.low, scale.high, 4, 0) }
}

/// Which multiples of a power of ten are labelled, and how many labels there must be at least: the simplest choice first.
const LABEL_CHOICES: [(&[u8], usize); 4] =
    [(&[1], 3), (&[1, 2, 5], 3), (&[1, 2, 3, 4, 5, 6, 7, 8, 9], 4), (&[1, 2, 3, 5], 3)];

/// The first readable choice of labels: decades, then parts of them, then even steps.
fn logarithmic(scale: &Scale) -> Vec<Tick> {
    let choices = LABEL_CHOICES.iter().map(|(labelled, least)| (multiples(scale, labelled), *least));
    let even = |least| linear(10_f64.powf(scale.low), 10_f64.powf(scale.high), least, 1);
    let readable = choices.chain([(even(4), 4)]).find(|(ticks, least)| is_readable(scale, ticks, *least));
    readable.map_or_else(|| even(3), |(ticks, _)| ticks)
}

fn is_readable(scale: &Scale, ticks: &[Tick], least: usize) -> bool {
    let positions: Vec<f64> = ticks.iter().filter(|t| t.label.is_some()).map(|t| scale.share(t.value)).collect();
    positions.len() >= least && positions.windows(2).all(|pair| pair[1] - pair[0] >= CLOSEST)
}

/// All m·10ᵉ on the axis, labelled when m is in the list; over very many decades only every n-th power of ten.
fn multiples(scale: &Scale, labelled: &[u8]) -> Vec<Tick> {
    let every = ((scale.high - scale.low) / MAX_DECADES).ceil().max(1.0);
    let mut ticks = Vec::new();
    let mut exponent = scale.low.floor();
    while exponent <= scale.high {
        let power = floor_log10(10_f64.powf(exponent));
        let is_round = (exponent / every).fract() == 0.0;
        for m in 1..=if every > 1.0 { 1 } else { 9 } {
            let value = f64::from(m) * 10_f64.powi(power);
            let label = (is_round && labelled.contains(&m)).then(|| Label::scientific(m, power));
            ticks.push(Tick { value, label });
        }
        exponent += 1.0;
    }
    let inside = |tick: &Tick| (scale.low..=scale.high).contains(&tick.value.log10());
    ticks.retain(inside);
    ticks
}

/// Even steps of 1, 2 or 5 times a power of ten, the widest that give `least` labels; `minor` ticks between two of them.
fn linear(low: f64, high: f64, least: u8, minor: u8) -> Vec<Tick> {
    let largest = floor_log10(high - low);
    // Two powers of ten below the length there are at least a hundred steps.
    let exponents = (largest - 2..=largest).rev();
    let steps = exponents.flat_map(|e| [5.0, 2.0, 1.0].map(|m| (m * 10_f64.powi(e), e)));
    let labels = |step: f64| (high / step).floor() - (low / step).ceil() + 1.0;
    let Some((step, exponent)) = steps.into_iter().find(|(step, _)| labels(*step) >= f64::from(least)) else {
        return Vec::new();
    };
    let parts = f64::from(minor) + 1.0;
    let size = floor_log10(high.abs().max(low.abs()));
    let label = |value: f64| {
        // Written out while it is short, otherwise with a power of ten; all labels of the axis alike.
        if size < 6 && exponent > -6 {
            return Label::fixed(value, usize::try_from(-exponent).unwrap_or(0));
        }
        Label::power(value, usize::try_from(size - exponent).unwrap_or(0))
    };
    let tick = |k: f64| {
        // Adding zero turns -0 into 0, which has another label.
        let value = k * step / parts + 0.0;
        Tick { value, label: (k % parts == 0.0).then(|| label(value)) }
    };
    let first = (low / step * parts).ceil();
    (0..u8::MAX).map(|k| tick(first + f64::from(k))).take_while(|tick| tick.value <= high).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::{Curve, Point};

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
    fn axes_without_data_have_ticks_too() {
        for axis in [Axis::log_rates(&[]), Axis::linear_rates(&[]), Axis::budgets(&[], WIDE)] {
            assert!(axis.ticks.iter().filter(|t| t.label.is_some()).count() >= 3);
        }
    }

    #[test]
    fn both_kinds_of_scale_keep_values_in_order_and_inside() {
        for scale in [Scale::linear(0.1, 0.9, 0.05), Scale::logarithmic(0.1, 0.9, 0.05)] {
            let shares = [0.1, 0.3, 0.9].map(|v| scale.share(v));
            assert!(0.0 < shares[0] && shares[0] < shares[1] && shares[1] < shares[2] && shares[2] < 1.0);
        }
        let log = Scale::logarithmic(0.01, 1.0, 0.1);
        assert!((log.share(0.1) - 0.5).abs() < 1e-12);
        assert!(log.share(0.0).abs() < 1e-12);
    }

    #[test]
    fn a_single_value_has_an_axis_around_it() {
        let scale = Scale::logarithmic(1.0, 1.0, 0.1);
        assert!(scale.share(1.0) > 0.9 && scale.share(1.0) < 1.0);
        assert!(scale.with_room_below(0.2).share(1.0) > scale.share(1.0));
    }

    fn labels(scale: &Scale) -> Vec<String> {
        let labels = ticks(scale).into_iter().filter_map(|t| t.label);
        labels.map(|l| l.base.clone() + &l.exponent_text().unwrap_or_default()).collect()
    }

    #[test]
    fn inside_one_decade_the_labels_are_even_steps() {
        assert_eq!(labels(&Scale::logarithmic(0.79, 1.0, 0.0)), ["0.80", "0.85", "0.90", "0.95", "1.00"]);
        assert_eq!(labels(&Scale::logarithmic(0.7, 1.0, 0.0)), ["0.7", "0.8", "0.9", "1"]);
    }

    #[test]
    fn over_one_or_two_decades_the_labels_are_one_two_five() {
        let scale = Scale::logarithmic(0.0117, 0.52, 0.0);
        assert_eq!(labels(&scale), ["0.01", "0.02", "0.05", "0.1", "0.2", "0.5"]);
        assert!(ticks(&scale).iter().any(|t| t.label.is_none() && (t.value - 0.3).abs() < 1e-12));
    }

    #[test]
    fn over_many_decades_the_labels_are_powers_of_ten() {
        assert_eq!(labels(&Scale::logarithmic(1e-4, 1.0, 0.0)), ["10−4", "0.001", "0.01", "0.1", "1"]);
        let many = labels(&Scale::logarithmic(1e-12, 1.0, 0.0));
        assert!((3..=8).contains(&many.len()) && many.last().is_some_and(|l| l == "1"));
    }

    #[test]
    fn a_linear_axis_has_round_even_labels() {
        assert_eq!(labels(&Scale::linear(0.0, 0.52, 0.0)), ["0.0", "0.1", "0.2", "0.3", "0.4", "0.5"]);
        assert!(ticks(&Scale::linear(0.0, 1.0, 0.0)).iter().all(|t| t.value.is_sign_positive()));
        assert_eq!(labels(&Scale::linear(0.79, 1.0, 0.0)), ["0.80", "0.85", "0.90", "0.95", "1.00"]);
    }

    #[test]
    fn every_range_of_probabilities_has_three_to_ten_readable_labels_up_to_one() {
        for i in 1..200 {
            for j in 1..60 {
                let high = f64::from(i) / 199.0;
                let low = high * 10_f64.powf(-f64::from(j) / 10.0 - 0.0004);
                for scale in [Scale::linear(low, high, 0.0), Scale::logarithmic(low, high, 0.0)] {
                    let ticks = ticks(&scale);
                    let labelled = ticks.iter().filter(|t| t.label.is_some()).count();
                    assert!((3..=10).contains(&labelled), "{labelled} labels from {low} to {high}");
                    let is_readable = is_readable(&scale, &ticks, 3);
                    assert!(is_readable, "labels touch from {low} to {high}: {:?}", labels(&scale));
                    assert!(ticks.iter().all(|t| t.value < 1.0 + 1e-9), "above one from {low} to {high}");
                }
            }
        }
    }
}
