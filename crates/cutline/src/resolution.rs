//! The smallest difference between rewards, below which they say nothing about the noise.

/// Different rewards seen so far, and the smallest difference between two of them.
///
/// Rewards in steps of h, such as counts, ratings, rounded numbers, and pass and fail, can be equal again and again although there is noise.
/// Their spread within arms then estimates σ as 0. Half a step is a bound on what that leaves unseen: the noise that rounding hides is at
/// most h/2, and numbers with two values h apart are h/2-sub-Gaussian.
///
/// A function of the rewards in their order. It takes at most [`MOST_VALUES`] different rewards into account, and stops when they are as good
/// as continuous.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Resolution {
    /// Different rewards, in ascending order.
    values: Vec<f64>,
    /// The smallest difference between two of them; ∞ if there are fewer than two.
    step: f64,
    is_final: bool,
}

/// The number of different rewards from which on the smallest difference is final.
const MOST_VALUES: usize = 64;

/// Rewards with a smallest difference below this share of their range are as good as continuous.
const CONTINUOUS: f64 = 1e-3;

impl Resolution {
    pub(crate) fn new() -> Self {
        Self { values: Vec::with_capacity(MOST_VALUES), step: f64::INFINITY, is_final: false }
    }

    pub(crate) fn add(&mut self, reward: f64) {
        if self.is_final {
            return;
        }
        let position = self.values.partition_point(|&value| value < reward);
        if self.values.get(position) == Some(&reward) {
            return;
        }
        self.values.insert(position, reward);
        let from = position.saturating_sub(1);
        let to = (position + 2).min(self.values.len());
        for pair in self.values[from..to].windows(2) {
            self.step = self.step.min(pair[1] - pair[0]);
        }
        let range = self.values[self.values.len() - 1] - self.values[0];
        self.is_final = self.values.len() == MOST_VALUES || self.step < CONTINUOUS * range;
    }

    /// The least σ that these rewards allow to be believed, half the smallest difference; ∞ while all rewards are equal, because they say
    /// nothing about the noise.
    pub(crate) fn least_noise(&self) -> f64 {
        0.5 * self.step
    }

    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.values.clone_from(&other.values);
        (self.step, self.is_final) = (other.step, other.is_final);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn least_noise(rewards: &[f64]) -> f64 {
        let mut resolution = Resolution::new();
        for &reward in rewards {
            resolution.add(reward);
        }
        resolution.least_noise()
    }

    #[test]
    fn half_the_smallest_difference() {
        assert_eq!(least_noise(&[]), f64::INFINITY);
        assert_eq!(least_noise(&[3.0, 3.0, 3.0]), f64::INFINITY, "all are equal");
        assert_eq!(least_noise(&[0.0, 1.0, 1.0, 0.0]), 0.5, "pass and fail");
        assert_eq!(least_noise(&[4.0, 1.0, 2.5, 1.0, 4.0]), 0.75);
        assert_eq!(least_noise(&[2.5, 4.0, 1.0]), 0.75, "in any order");
    }

    #[test]
    fn continuous_rewards_have_no_steps() {
        let mut resolution = Resolution::new();
        for i in 0..1_000 {
            resolution.add((f64::from(i) * 0.618_033_988_749_894_9).fract());
        }
        assert!(resolution.is_final && resolution.least_noise() < 0.01, "{resolution:?}");
        let capacity = resolution.values.capacity();
        assert_eq!(capacity, MOST_VALUES, "no memory is allocated");
    }
}
