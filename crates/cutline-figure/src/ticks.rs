//! Ticks at round values, few enough to read and never fewer than three.

use crate::label::{Label, floor_log10};
use crate::scale::Scale;

/// A place on an axis; minor ticks have no label.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub(crate) value: f64,
    pub(crate) label: Option<Label>,
}

/// Labels closer than this share of the axis would touch.
const CLOSEST: f64 = 0.06;

/// More decades than this are labelled only every second, third, … time.
const MOST_DECADES: f64 = 7.0;

/// Round ticks for a scale.
pub(crate) fn ticks(scale: &Scale) -> Vec<Tick> {
    if scale.logarithmic { logarithmic(scale) } else { linear(scale.low, scale.high, 4, 0) }
}

/// Which multiples of a power of ten are labelled, and how many labels that must give: the simplest first.
const WAYS: [(&[u8], usize); 4] = [(&[1], 3), (&[1, 2, 5], 3), (&[1, 2, 3, 4, 5, 6, 7, 8, 9], 4), (&[1, 2, 3, 5], 3)];

/// The first way of labelling that is readable: decades, then parts of them, then even steps.
fn logarithmic(scale: &Scale) -> Vec<Tick> {
    let ways = WAYS.iter().map(|(labelled, least)| (multiples(scale, labelled), *least));
    let even = |least| linear(10_f64.powf(scale.low), 10_f64.powf(scale.high), least, 1);
    let readable = ways.chain([(even(4), 4)]).find(|(ticks, least)| is_readable(scale, ticks, *least));
    readable.map_or_else(|| even(3), |(ticks, _)| ticks)
}

fn is_readable(scale: &Scale, ticks: &[Tick], least: usize) -> bool {
    let places: Vec<f64> = ticks.iter().filter(|t| t.label.is_some()).map(|t| scale.share(t.value)).collect();
    places.len() >= least && places.windows(2).all(|pair| pair[1] - pair[0] >= CLOSEST)
}

/// All m·10ᵉ on the axis, labelled when m is in the list; over very many decades only every n-th power of ten.
fn multiples(scale: &Scale, labelled: &[u8]) -> Vec<Tick> {
    let every = ((scale.high - scale.low) / MOST_DECADES).ceil().max(1.0);
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
                    let even = is_readable(&scale, &ticks, 3);
                    assert!(even, "labels touch from {low} to {high}: {:?}", labels(&scale));
                    assert!(ticks.iter().all(|t| t.value < 1.0 + 1e-9), "above one from {low} to {high}");
                }
            }
        }
    }
}
