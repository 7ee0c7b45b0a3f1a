//! How the rules for good arms settle arms.

use super::Plain;

impl Plain {
    /// Good arms: the arm just told is settled if its interval lies on one side of τ.
    pub(super) fn test_arm(&self, rule: &str, arm: usize, settled: &mut Vec<usize>) {
        let distance = self.sample_means()[arm] - self.problem.question.threshold();
        let width = self.width(rule, f64::from(self.pulls[arm]));
        if !settled.contains(&arm) && (distance + width < 0.0 || distance - width >= 0.0) {
            settled.push(arm);
        }
    }

    /// Half the width of an interval of the good-arm rules after n rewards, for σ = 0.1, δ = 0.05 and lil'HDoC's ε = 0.01.
    pub(super) fn width(&self, rule: &str, n: f64) -> f64 {
        let (k, delta, e) = (self.pulls.len() as f64, 0.05, 0.01_f64);
        if rule == "lil-hdoc" {
            let c = (2.0 + e) / e * (1.0 / (1.0 + e).ln()).powf(1.0 + e);
            let log = (((1.0 + e) * n).ln() / (delta / (c * k))).ln();
            0.1 * (1.0 + e.sqrt()) * (2.0 * (1.0 + e) * log / n).sqrt()
        } else {
            0.1 * (2.0 * (4.0 * k * n * n / delta).ln() / n).sqrt()
        }
    }
}
