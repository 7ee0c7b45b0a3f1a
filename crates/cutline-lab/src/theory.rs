//! The paper's theory for one instance.

use crate::Instance;

/// H = Σ (|μᵢ − τ| + ε)⁻², the complexity of an instance.
#[must_use]
pub fn complexity(instance: &Instance) -> f64 {
    instance.means().iter().map(|&mean| instance.question().gap(mean).powi(-2)).sum()
}

/// H′ = Σ (|μᵢ − τ|/ε)⁻², which the code behind the published UCBE curves computes instead of H.
///
/// At ε = 0 it is 0, or NaN if a mean lies at τ exactly.
#[must_use]
pub fn complexity_as_published(instance: &Instance) -> f64 {
    let question = instance.question();
    let ratio = |mean: f64| (mean - question.threshold()).abs() / question.precision();
    instance.means().iter().map(|&mean| ratio(mean).powi(-2)).sum()
}

/// Theorem 1 of the paper for one instance with σ-sub-Gaussian noise.
///
/// E[𝓛(T)] ≤ exp{ln(1 + TL²) − (√(T/(16H)) − ‖θ‖)²/d}, if ‖θ‖ < √(T/(16H)). The paper has σ = 1; dividing all rewards by σ
/// turns θ into θ/σ and H into σ²H.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Theorem1 {
    complexity: f64,
    norm: f64,
    largest: f64,
    dimension: f64,
}

impl Theorem1 {
    /// The theorem for LinearAPT on `instance`, whose rewards have noise of scale `sigma`. `None` where the means are not
    /// linear in features.
    #[must_use]
    pub fn new(instance: &Instance, sigma: f64) -> Option<Self> {
        let theta = instance.theta()?;
        let norms = (0..instance.arms().n_arms()).map(|arm| norm(&instance.arms().row(arm).unwrap_or_default()));
        let dimension = theta.len() as f64;
        Some(Self {
            complexity: complexity(instance) * sigma * sigma,
            norm: norm(theta) / sigma,
            largest: norms.fold(0.0, f64::max),
            dimension,
        })
    }

    /// σ²H.
    #[must_use]
    pub fn complexity(&self) -> f64 {
        self.complexity
    }

    /// ‖θ‖/σ.
    #[must_use]
    pub fn norm(&self) -> f64 {
        self.norm
    }

    /// L = max ‖xᵢ‖.
    #[must_use]
    pub fn largest(&self) -> f64 {
        self.largest
    }

    /// The bound on the expected loss after `budget` pulls; `None` where the theorem does not apply, because it needs
    /// ‖θ‖ < √(T/(16H)). A bound of 1 or more is trivial.
    #[must_use]
    pub fn bound(&self, budget: u32) -> Option<f64> {
        let t = f64::from(budget);
        let reach = (t / (16.0 * self.complexity)).sqrt();
        if !(self.norm < reach) {
            return None;
        }
        let exponent = (t * self.largest * self.largest).ln_1p() - (reach - self.norm).powi(2) / self.dimension;
        Some(exponent.exp())
    }
}

fn norm(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Threshold;
    use cutline::Arms;

    fn easy() -> Instance {
        let arms = Arms::from_rows(&[[1.0], [-1.0]]).unwrap();
        Instance::linear(arms, vec![1.0], Threshold::Value(0.0), 0.0).unwrap()
    }

    /// K = 2, d = 1, θ = 1, τ = ε = 0: H = 2, L = 1, and at T = 3200 √(T/16H) = 10, so the bound is 3201·e^−81.
    #[test]
    fn bound_as_worked_out_by_hand() {
        let theorem = Theorem1::new(&easy(), 1.0).unwrap();
        assert_eq!((theorem.complexity(), theorem.norm(), theorem.largest()), (2.0, 1.0, 1.0));
        let expected = 3201.0 * (-81.0_f64).exp();
        assert!((theorem.bound(3200).unwrap() / expected - 1.0).abs() < 1e-12);
    }

    #[test]
    fn does_not_apply_at_or_below_the_condition() {
        let theorem = Theorem1::new(&easy(), 1.0).unwrap();
        assert_eq!(theorem.bound(32), None, "‖θ‖ = √(T/16H) exactly");
        assert!(theorem.bound(33).is_some_and(|bound| bound > 1.0), "applies, but the bound is trivial");
    }

    #[test]
    fn twice_the_noise_is_half_the_parameter() {
        let arms = Arms::from_rows(&[[1.0], [-1.0]]).unwrap();
        let half = Instance::linear(arms, vec![0.5], Threshold::Value(0.0), 0.0).unwrap();
        assert_eq!(Theorem1::new(&easy(), 2.0), Theorem1::new(&half, 1.0));
    }
}
