//! What measurements cost. Amounts are whole numbers of billionths of a unit, so that sums are exact: ten measurements at 0.1 cost 1.

use crate::Arm;
use crate::question::short_number;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;
use thiserror::Error;

/// The number of the smallest amounts in a unit.
const UNIT: u64 = 1_000_000_000;

/// An amount of cost, exact to a billionth of a unit.
///
/// ```
/// use cutline::Amount;
///
/// let tenth = Amount::new(0.1).unwrap();
/// assert_eq!((0..10).fold(Amount::ZERO, |sum, _| sum.plus(tenth)), Amount::units(1));
/// assert_eq!((Amount::units(812).plus(tenth).to_string(), tenth.value()), ("812.1".into(), 0.1));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Amount(u64);

impl Amount {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// The costs that a measurement may have, in units. They are large enough to be exact to at least three digits.
    pub const COSTS: RangeInclusive<f64> = 1e-6..=1e9;

    /// The cost of a measurement, rounded to a billionth of a unit; `None` if it is not [one](Amount::COSTS).
    #[must_use]
    pub fn new(cost: f64) -> Option<Self> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was checked")]
        Self::COSTS.contains(&cost).then(|| Self((cost * UNIT as f64).round() as u64))
    }

    /// The amount that is nearest to a number of units; `None` if the number is negative or not finite. The number that [`Amount::value`]
    /// gives for less than nine million units, or for whole units, leads back to the amount.
    #[must_use]
    pub fn nearest(units: f64) -> Option<Self> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "amounts saturate")]
        (units >= 0.0 && units.is_finite()).then(|| Self((units * UNIT as f64).round() as u64))
    }

    /// A whole number of units.
    #[must_use]
    pub fn units(units: u32) -> Self {
        Self(u64::from(units) * UNIT)
    }

    /// The amount in units.
    #[must_use]
    pub fn value(self) -> f64 {
        self.0 as f64 / UNIT as f64
    }

    /// The number of whole units in it.
    #[must_use]
    pub fn whole_units(self) -> u32 {
        u32::try_from(self.0 / UNIT).unwrap_or(u32::MAX)
    }

    /// The sum of two amounts.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// This amount less another one; nothing if the other is larger.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// How often `part` fits into it.
    #[must_use]
    pub fn divided_by(self, part: Self) -> u32 {
        u32::try_from(self.0.checked_div(part.0).unwrap_or(u64::MAX)).unwrap_or(u32::MAX)
    }

    /// As a number to weigh by, in whatever unit.
    #[inline]
    pub(crate) fn weight(self) -> f64 {
        self.0 as f64
    }
}

/// In units, with as many decimals as it has.
impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (units, rest) = (self.0 / UNIT, self.0 % UNIT);
        if rest == 0 {
            return write!(f, "{units}");
        }
        write!(f, "{units}.{}", format!("{rest:09}").trim_end_matches('0'))
    }
}

/// What one measurement of each arm costs. Clones share the costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasurementCosts {
    costs: Arc<[Amount]>,
    most: Amount,
    total: Amount,
}

/// A cost is missing, negative, 0, or too small or too large to be counted.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[error("the cost of arm {arm} is {}; a cost must be a number between 1e-6 and 1e9", short_number(*cost))]
pub struct CostError {
    /// The arm, from 0.
    pub arm: Arm,
    /// Its cost.
    pub cost: f64,
}

impl MeasurementCosts {
    /// One cost per arm.
    ///
    /// # Errors
    /// If a cost is not between 1e-6 and 1e9.
    pub fn new(costs: &[f64]) -> Result<Self, CostError> {
        let amount = |(arm, &cost): (Arm, &f64)| Amount::new(cost).ok_or(CostError { arm, cost });
        let costs: Arc<[Amount]> = costs.iter().enumerate().map(amount).collect::<Result<_, _>>()?;
        let most = costs.iter().copied().max().unwrap_or_default();
        let total = costs.iter().copied().fold(Amount::ZERO, Amount::plus);
        Ok(Self { costs, most, total })
    }

    /// What a measurement of `arm` costs.
    ///
    /// # Panics
    /// If there is no such arm.
    #[must_use]
    #[inline]
    pub fn of(&self, arm: Arm) -> Amount {
        self.costs[arm]
    }

    /// The cost of every arm.
    #[must_use]
    pub fn all(&self) -> &[Amount] {
        &self.costs
    }

    /// The largest cost.
    #[must_use]
    pub fn most(&self) -> Amount {
        self.most
    }

    /// What it costs to measure every arm once.
    #[must_use]
    pub fn total(&self) -> Amount {
        self.total
    }

    /// The mean cost, in units.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.total.value() / self.costs.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_exact_and_printed_as_they_were_given() {
        for text in ["0.35", "7", "812.5", "0.000001", "123456.789012345", "1000000000"] {
            let amount = Amount::new(text.parse().unwrap()).unwrap();
            assert_eq!((amount.to_string(), amount.value()), (text.to_owned(), text.parse().unwrap()));
        }
        let third = Amount::new(1.0 / 3.0).unwrap();
        assert!(third.plus(third).plus(third) <= Amount::units(1));
        assert_eq!(Amount::units(1000).divided_by(Amount::new(0.35).unwrap()), 2857);
        assert_eq!(
            (Amount::units(3).minus(Amount::units(5)), Amount::units(7).minus(third).whole_units()),
            (Amount::ZERO, 6)
        );
    }

    #[test]
    fn bad_costs_are_refused() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-7, 1e10] {
            let error = MeasurementCosts::new(&[1.0, bad]).unwrap_err();
            assert_eq!(error.arm, 1, "{error}");
        }
        let costs = MeasurementCosts::new(&[1.0, 0.25, 4.0]).unwrap();
        assert_eq!((costs.most(), costs.total().value(), costs.mean()), (Amount::units(4), 5.25, 1.75));
    }
}
