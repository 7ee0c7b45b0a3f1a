//! The paper's theory for one instance.

pub(crate) mod allocation;
pub(crate) mod optimal_gamma;
pub(crate) mod tracking;

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

/// Theorem 1 for one instance with σ-sub-Gaussian noise: as the paper prints it, and corrected.
///
/// The paper says E[𝓛(T)] ≤ exp{ln(1 + TL²) − (√(T/(16H)) − ‖θ‖)²/d} if ‖θ‖ < √(T/(16H)). That is false: its proof takes the number of pulls
/// after the last pull of an arm where the rule saw one less, ignores that the first K pulls do not follow the rule, and uses a lemma that
/// holds for d ≥ 2 only. With T − K in place of T under the roots and 2 in place of d = 1 the proof is right (`docs/errata.md`).
///
/// The paper has σ = 1; dividing all rewards by σ turns θ into θ/σ and H into σ²H.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Theorem1 {
    complexity: f64,
    norm: f64,
    largest: f64,
    dimension: f64,
    n_arms: u32,
}

impl Theorem1 {
    /// The theorem for LinearAPT on `instance`, whose rewards have noise of scale `sigma`. `None` where the means are not
    /// linear in features.
    #[must_use]
    pub fn new(instance: &Instance, sigma: f64) -> Option<Self> {
        let theta = instance.theta()?;
        let n_arms = instance.arms().n_arms();
        let norms = (0..n_arms).map(|arm| norm(&instance.arms().row(arm).unwrap_or_default()));
        let dimension = theta.len() as f64;
        Some(Self {
            complexity: complexity(instance) * sigma * sigma,
            norm: norm(theta) / sigma,
            largest: norms.fold(0.0, f64::max),
            dimension,
            n_arms: u32::try_from(n_arms).unwrap_or(u32::MAX),
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

    /// The corrected bound on the expected loss after `budget` pulls; `None` where it does not apply, because it needs
    /// ‖θ‖ < √((T − K)/(16H)). A bound of 1 or more is trivial.
    #[must_use]
    pub fn bound(&self, budget: u32) -> Option<f64> {
        self.bound_of(budget, budget.saturating_sub(self.n_arms), self.dimension.max(2.0))
    }

    /// The bound as the paper prints it, which need not hold; `None` where ‖θ‖ < √(T/(16H)) fails.
    #[must_use]
    pub fn bound_as_printed(&self, budget: u32) -> Option<f64> {
        self.bound_of(budget, budget, self.dimension)
    }

    /// exp{ln(1 + TL²) − (√(`pulls`/(16H)) − ‖θ‖)²/`dimension`}.
    fn bound_of(&self, budget: u32, pulls: u32, dimension: f64) -> Option<f64> {
        let reach = (f64::from(pulls) / (16.0 * self.complexity)).sqrt();
        if !(self.norm < reach) {
            return None;
        }
        let exponent =
            (f64::from(budget) * self.largest * self.largest).ln_1p() - (reach - self.norm).powi(2) / dimension;
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

    /// K = 2, d = 1, θ = 1, τ = ε = 0: H = 2, L = 1. At T = 3202, √((T − K)/16H) = 10, so the bound is 3203·e^(−81/2); as printed, at
    /// T = 3200, it is 3201·e^−81.
    #[test]
    fn bounds_as_worked_out_by_hand() {
        let theorem = Theorem1::new(&easy(), 1.0).unwrap();
        assert_eq!((theorem.complexity(), theorem.norm(), theorem.largest()), (2.0, 1.0, 1.0));
        let is_near = |bound: Option<f64>, expected: f64| (bound.unwrap() / expected - 1.0).abs() < 1e-12;
        assert!(is_near(theorem.bound(3202), 3203.0 * (-40.5_f64).exp()));
        assert!(is_near(theorem.bound_as_printed(3200), 3201.0 * (-81.0_f64).exp()));
        // d = 2: θ = (1, 0) and the same means.
        let arms = Arms::from_rows(&[[1.0, 0.0], [-1.0, 0.0]]).unwrap();
        let plane = Instance::linear(arms, vec![1.0, 0.0], Threshold::Value(0.0), 0.0).unwrap();
        let plane = Theorem1::new(&plane, 1.0).unwrap();
        assert_eq!(plane.bound(3202), theorem.bound(3202), "d = 1 has the exponent of d = 2");
        assert!(is_near(plane.bound_as_printed(3200), 3201.0 * (-40.5_f64).exp()));
    }

    #[test]
    fn does_not_apply_at_or_below_the_condition() {
        let theorem = Theorem1::new(&easy(), 1.0).unwrap();
        assert_eq!(theorem.bound_as_printed(32), None, "‖θ‖ = √(T/16H) exactly");
        assert!(theorem.bound_as_printed(33).is_some_and(|bound| bound > 1.0), "applies, but the bound is trivial");
        assert_eq!((theorem.bound(1), theorem.bound(34)), (None, None), "‖θ‖ = √((T − K)/16H) exactly, and T < K");
        assert!(theorem.bound(35).is_some_and(|bound| bound > 1.0));
    }

    #[test]
    fn twice_the_noise_is_half_the_parameter() {
        let arms = Arms::from_rows(&[[1.0], [-1.0]]).unwrap();
        let half = Instance::linear(arms, vec![0.5], Threshold::Value(0.0), 0.0).unwrap();
        assert_eq!(Theorem1::new(&easy(), 2.0), Theorem1::new(&half, 1.0));
    }
}
