//! The part of a curve that can be drawn, in order of budget and with its style.

use std::ops::RangeInclusive;

use crate::figure::{Curve, Point};
use crate::style::{self, Style};

/// Beyond these, budgets are no amounts that anybody spends, and their sums and quotients may overflow.
const BUDGETS: RangeInclusive<f64> = 1e-9..=1e15;

/// Rates below this are drawn as zeros: no simulation resolves them.
pub(crate) const SMALLEST_RATE: f64 = 1e-12;

/// A curve with everything in it finite and in range.
#[derive(Debug)]
pub(crate) struct Series<'a> {
    pub(crate) label: &'a str,
    pub(crate) style: Style,
    pub(crate) points: Vec<Point>,
    pub(crate) published: Vec<(f64, f64)>,
}

impl<'a> Series<'a> {
    /// One for each curve; its rates are probabilities.
    pub(crate) fn all(curves: &'a [Curve]) -> Vec<Self> {
        Self::up_to(1.0, curves)
    }

    /// One for each curve, without what is above `most`.
    pub(crate) fn up_to(most: f64, curves: &'a [Curve]) -> Vec<Self> {
        let styles = style::assign(curves.iter().map(|curve| curve.label.as_str()));
        curves.iter().zip(styles).map(|(curve, style)| Self::new(curve, style, most)).collect()
    }

    fn new(curve: &'a Curve, style: Style, most: f64) -> Self {
        let is_drawable = |p: &&Point| {
            is_budget(p.budget) && (0.0..=most).contains(&p.rate) && p.low.is_finite() && p.high.is_finite()
        };
        // An interval may reach over the ends by rounding or approximation; the picture does not.
        let in_range = |p: &Point| Point { low: p.low.clamp(0.0, most), high: p.high.clamp(0.0, most), ..*p };
        let mut points: Vec<Point> = curve.points.iter().filter(is_drawable).map(in_range).collect();
        points.sort_by(|a, b| a.budget.total_cmp(&b.budget));
        let mut published = curve.published.clone();
        published.retain(|(budget, rate)| is_budget(*budget) && (0.0..=most).contains(rate));
        published.sort_by(|a, b| a.0.total_cmp(&b.0));
        Self { label: &curve.label, style, points, published }
    }

    /// All budgets, ours and the published.
    pub(crate) fn budgets(&self) -> impl Iterator<Item = f64> {
        self.points.iter().map(|p| p.budget).chain(self.published.iter().map(|p| p.0))
    }

    /// All rates, ours and the published.
    pub(crate) fn rates(&self) -> impl Iterator<Item = f64> {
        self.points.iter().map(|p| p.rate).chain(self.published.iter().map(|p| p.1))
    }

    /// The low ends of the intervals.
    pub(crate) fn lows(&self) -> impl Iterator<Item = f64> {
        self.points.iter().map(|p| p.low)
    }

    /// The high ends of the intervals.
    pub(crate) fn highs(&self) -> impl Iterator<Item = f64> {
        self.points.iter().map(|p| p.high)
    }

    /// Whether a rate is too small for a logarithmic axis.
    pub(crate) fn has_zero(&self) -> bool {
        self.rates().any(is_zero)
    }

    /// Whether there is an interval to shade.
    pub(crate) fn has_band(&self) -> bool {
        self.points.iter().any(|p| p.high > p.low)
    }
}

/// Whether a logarithmic axis cannot show the rate.
pub(crate) fn is_zero(rate: f64) -> bool {
    rate < SMALLEST_RATE
}

pub(crate) fn is_budget(budget: f64) -> bool {
    budget == 0.0 || BUDGETS.contains(&budget)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_drawn_is_left_out_and_the_rest_is_sorted() {
        let point = |budget, rate, low, high| Point { budget, rate, low, high };
        let curve = Curve {
            label: "apt".into(),
            points: vec![
                point(300.0, 0.5, 0.4, 0.6),
                point(f64::NAN, 0.5, 0.4, 0.6),
                point(100.0, f64::INFINITY, 0.4, 0.6),
                point(100.0, 0.5, f64::NAN, 0.6),
                point(100.0, 1.5, 0.4, 0.6),
                point(200.0, 0.99, 0.9, 1.1),
            ],
            published: vec![(9.0, 0.5), (f64::NAN, 0.5), (5.0, f64::NAN), (7.0, 0.0)],
        };
        let series = Series::all(std::slice::from_ref(&curve));
        let budgets: Vec<f64> = series[0].points.iter().map(|p| p.budget).collect();
        assert_eq!(budgets, [200.0, 300.0]);
        assert!((series[0].points[0].high - 1.0).abs() < f64::EPSILON);
        assert_eq!(series[0].published, [(7.0, 0.0), (9.0, 0.5)]);
        assert!(series[0].has_zero() && series[0].has_band());
    }
}
