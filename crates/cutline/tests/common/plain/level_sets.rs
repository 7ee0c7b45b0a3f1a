//! The intervals of LSE.

use super::Plain;

/// βₜ of LSE for δ = 0.05, times its σ² = 0.25.
pub(super) fn beta(t: usize, n_arms: usize) -> f64 {
    0.25 * 2.0 * (n_arms as f64 * (std::f64::consts::PI * t as f64).powi(2) / (6.0 * 0.05)).ln()
}

impl Plain {
    /// LSE: the intersection of the intervals before the first reward and after each.
    pub(super) fn intervals(&self) -> (Vec<f64>, Vec<f64>) {
        let k = self.pulls.len();
        let (mut lower, mut upper) = (vec![f64::NEG_INFINITY; k], vec![f64::INFINITY; k]);
        let mut past = Self::new(&self.problem, self.lambda);
        for n in 0..=self.rewards.len() {
            if let Some(&(arm, reward)) = n.checked_sub(1).and_then(|last| self.rewards.get(last)) {
                past.rewards.push((arm, reward));
                past.pulls[arm] += 1;
            }
            let (means, c) = (past.ridge_means(), past.covariances());
            for arm in 0..k {
                let half = (beta(n + 1, k) * c[(arm, arm)]).sqrt();
                lower[arm] = lower[arm].max(means[arm] - half);
                upper[arm] = upper[arm].min(means[arm] + half);
            }
        }
        (lower, upper)
    }

    /// LSE: an arm is settled when min C + ε > τ or max C − ε ≤ τ, or C is empty.
    pub(super) fn settle_by_intervals(&self, settled: &mut Vec<usize>) {
        let (lower, upper) = self.intervals();
        let (threshold, precision) = (self.problem.question.threshold(), self.problem.question.precision());
        for arm in 0..self.pulls.len() {
            let is_decided = lower[arm] + precision > threshold || upper[arm] - precision <= threshold;
            if !settled.contains(&arm) && (is_decided || lower[arm] > upper[arm]) {
                settled.push(arm);
            }
        }
    }
}
