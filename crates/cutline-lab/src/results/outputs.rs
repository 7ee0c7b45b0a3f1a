//! When runs gave their answers: the number of pulls at each arm called above for good, and at the end. Sums of whole numbers, so that
//! parts add up exactly.

use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// The sum of whole numbers and of their squares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WholeSum {
    /// How many numbers.
    pub count: u64,
    /// Their sum.
    pub sum: u128,
    /// The sum of their squares.
    pub squares: u128,
}

impl WholeSum {
    /// Adds a number.
    pub(crate) fn count(&mut self, number: u64) {
        self.count += 1;
        self.sum += u128::from(number);
        self.squares += u128::from(number).pow(2);
    }

    /// Their mean; 0 if there is none.
    #[must_use]
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 }
    }

    /// Their standard deviation, with n − 1; 0 if there are fewer than two.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        let n = u128::from(self.count);
        // n Σx² − (Σx)² is exact, so that nothing cancels.
        let spread = (n * self.squares).saturating_sub(self.sum.pow(2));
        (spread as f64 / (n as f64 * (n - 1) as f64)).sqrt()
    }
}

impl AddAssign<&Self> for WholeSum {
    fn add_assign(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.squares += other.squares;
    }
}

/// When the runs of one entrant at one budget gave their answers, in pulls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputTimes {
    /// The first, second, … arm that a run called above for good; each over the runs that had so many.
    outputs: Vec<WholeSum>,
    /// The end of a run.
    end: WholeSum,
}

impl OutputTimes {
    /// Counts a run with these outputs, in their order, and this end.
    pub(crate) fn count(&mut self, outputs: &[u64], end: u64) {
        if self.outputs.len() < outputs.len() {
            self.outputs.resize(outputs.len(), WholeSum::default());
        }
        self.outputs.iter_mut().zip(outputs).for_each(|(sum, &time)| sum.count(time));
        self.end.count(end);
    }

    /// The times of the first, second, … arm that a run called above for good; each over the runs that had so many.
    #[must_use]
    pub fn outputs(&self) -> &[WholeSum] {
        &self.outputs
    }

    /// The numbers of pulls of the runs.
    #[must_use]
    pub fn end(&self) -> WholeSum {
        self.end
    }
}

impl AddAssign<&Self> for OutputTimes {
    fn add_assign(&mut self, other: &Self) {
        if self.outputs.len() < other.outputs.len() {
            self.outputs.resize(other.outputs.len(), WholeSum::default());
        }
        self.outputs.iter_mut().zip(&other.outputs).for_each(|(sum, other)| *sum += other);
        self.end += &other.end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_deviation_by_hand() {
        let mut times = OutputTimes::default();
        times.count(&[2, 10], 12);
        times.count(&[4], 20);
        let [first, second] = times.outputs() else { panic!("two outputs") };
        assert_eq!((first.mean(), first.deviation(), first.count), (3.0, 2.0_f64.sqrt(), 2));
        assert_eq!((second.mean(), second.deviation(), second.count), (10.0, 0.0, 1));
        assert_eq!((times.end().mean(), times.end().deviation()), (16.0, 32.0_f64.sqrt()));
    }

    #[test]
    fn parts_add_up() {
        let of = |runs: &[(&[u64], u64)]| {
            let mut times = OutputTimes::default();
            for (outputs, end) in runs {
                times.count(outputs, *end);
            }
            times
        };
        let mut sum = of(&[(&[], 9)]);
        sum += &of(&[(&[3, 4], 5), (&[7], 8)]);
        assert_eq!(sum, of(&[(&[7], 8), (&[], 9), (&[3, 4], 5)]));
    }

    /// 10¹² pulls that differ by 1: squares of that size in floating point would leave nothing of the difference.
    #[test]
    fn nothing_cancels() {
        let mut sum = WholeSum::default();
        sum.count(1_000_000_000_000);
        sum.count(1_000_000_000_001);
        assert!((sum.deviation() - 0.5_f64.sqrt()).abs() < 1e-15);
    }
}
