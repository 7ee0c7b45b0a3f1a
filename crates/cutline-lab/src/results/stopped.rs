//! When runs stopped by their criterion, in whole numbers, so that parts add up exactly.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::AddAssign;

/// The runs that stopped by their criterion: how many took each number of pulls, and how many had a wrong verdict.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoppingTimes {
    /// The number of runs by the number of pulls they took.
    after: BTreeMap<u64, u64>,
    runs: u64,
    failures: u64,
}

impl StoppingTimes {
    /// Counts a run that took this many pulls.
    pub(crate) fn count(&mut self, pulls: u64, is_failure: bool) {
        *self.after.entry(pulls).or_default() += 1;
        self.runs += 1;
        self.failures += u64::from(is_failure);
    }

    /// The number of runs by the number of pulls they took.
    #[must_use]
    pub fn after(&self) -> &BTreeMap<u64, u64> {
        &self.after
    }

    /// The runs.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.runs
    }

    /// The runs among them with at least one wrong verdict.
    #[must_use]
    pub fn failures(&self) -> u64 {
        self.failures
    }

    /// The mean number of pulls over `runs` runs, where those not counted here used up `budget`. 0 if there are no runs.
    #[must_use]
    pub fn mean(&self, runs: u64, budget: u32) -> f64 {
        let sum: u128 = self.after.iter().map(|(&pulls, &runs)| u128::from(pulls) * u128::from(runs)).sum();
        let rest = u128::from(runs - self.runs) * u128::from(budget);
        if runs == 0 { 0.0 } else { (sum + rest) as f64 / runs as f64 }
    }

    /// The smallest number of pulls by which at least `percent` % of `runs` runs had ended; those not counted here end at
    /// `budget`.
    #[must_use]
    pub fn quantile(&self, percent: u64, runs: u64, budget: u32) -> u64 {
        let mut ended = 0_u128;
        for (&pulls, &count) in &self.after {
            ended += u128::from(count);
            if ended * 100 >= u128::from(percent) * u128::from(runs) {
                return pulls;
            }
        }
        u64::from(budget)
    }
}

impl AddAssign<&Self> for StoppingTimes {
    fn add_assign(&mut self, other: &Self) {
        for (&pulls, &runs) in &other.after {
            *self.after.entry(pulls).or_default() += runs;
        }
        self.runs += other.runs;
        self.failures += other.failures;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eight of ten runs stopped after 3, 3, 5, 5, 5, 7, 7 and 9 pulls; two used up their budget of 20.
    #[test]
    fn mean_and_quantiles_by_hand() {
        let mut stopped = StoppingTimes::default();
        for pulls in [5, 3, 7, 5, 9, 3, 5, 7] {
            stopped.count(pulls, pulls == 9);
        }
        assert_eq!((stopped.runs(), stopped.failures()), (8, 1));
        assert_eq!(stopped.mean(10, 20), (44.0 + 40.0) / 10.0);
        let quantile = |percent| stopped.quantile(percent, 10, 20);
        assert_eq!([1, 20, 21, 50, 51, 80, 81, 100].map(quantile), [3, 3, 5, 5, 7, 9, 20, 20]);
        assert_eq!((StoppingTimes::default().mean(0, 20), StoppingTimes::default().quantile(50, 4, 20)), (0.0, 20));
    }

    #[test]
    fn parts_add_up() {
        let of = |runs: &[(u64, bool)]| {
            let mut stopped = StoppingTimes::default();
            for &(pulls, is_failure) in runs {
                stopped.count(pulls, is_failure);
            }
            stopped
        };
        let mut sum = of(&[(4, true), (2, false)]);
        sum += &of(&[(4, false), (9, true)]);
        assert_eq!(sum, of(&[(9, true), (4, false), (2, false), (4, true)]));
    }
}
