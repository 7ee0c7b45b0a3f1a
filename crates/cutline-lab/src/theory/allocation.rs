//! The fewest pulls that a test of every arm's side needs, and the best allocation of them to arms.
//!
//! A test that errs with probability at most δ on every instance takes, on an instance with Gaussian rewards, at least
//! T*·kl(δ, 1 − δ) pulls on average (Garivier & Kaufmann 2016, Theorem 1; for linear means Degenne, Ménard, Shang & Valko 2020,
//! Theorem 1), where kl(δ, 1 − δ) = (1 − 2δ) ln((1 − δ)/δ) ≥ ln(1/(2.4δ)) (Kaufmann, Cappé & Garivier 2016) and
//!
//! ```text
//! 1/T* = max_w minₖ Δₖ²/(2σ²‖xₖ‖²_{A(w)⁻¹}),  A(w) = Σ wᵢ xᵢxᵢᵀ,  w ≥ 0,  Σw = 1,  Δₖ = |μₖ − τ| + ε.
//! ```
//!
//! The maximising w is the oracle's allocation. For unrelated arms wₖ ∝ Δₖ⁻² and T* = 2σ²ΣΔₖ⁻². For linear means it is
//! a convex programme in w, solved in `allocation/solver.rs` with a certificate of how far it can be from the optimum.
//!
//! For ε > 0 and an arm within ε of τ both sides are correct; the bound then holds in the limit δ → 0 (Degenne & Koolen 2019).

mod solver;

use crate::Instance;

/// The share of pulls per arm that an oracle would choose on one instance, and its T*.
///
/// ```
/// use cutline_lab::{Allocation, Instance, Threshold};
///
/// // Gaps of 1 and 2: four of five pulls go to the first arm, and T* = 2 (1 + 1/4).
/// let instance = Instance::unstructured(vec![1.0, -2.0], Threshold::Value(0.0), 0.0)?;
/// let allocation = Allocation::new(&instance, 1.0).expect("no arm lies at the threshold");
/// assert_eq!((allocation.weights(), allocation.time()), (&[0.8, 0.2][..], 2.5));
/// assert!((allocation.fewest_pulls(0.05) - 2.5 * 0.9 * 19.0_f64.ln()).abs() < 1e-12);
/// # Ok::<(), cutline_lab::InstanceError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Allocation {
    weights: Vec<f64>,
    time: f64,
    least_time: f64,
}

impl Allocation {
    /// The best allocation for an instance with Gaussian noise of scale `sigma`, with features where the means are linear in
    /// them. `None` if no number of pulls is enough, because an arm lies at τ and ε = 0.
    #[must_use]
    pub fn new(instance: &Instance, sigma: f64) -> Option<Self> {
        if instance.theta().is_none() {
            return Self::without_features(instance, sigma);
        }
        let rows: Vec<Vec<f64>> =
            (0..instance.arms().n_arms()).map(|arm| instance.arms().row(arm).unwrap_or_default()).collect();
        let gaps: Vec<f64> = instance.means().iter().map(|&mean| instance.question().gap(mean) / sigma).collect();
        let solved = solver::solve(&rows, &gaps)?;
        Some(Self { weights: solved.weights, time: 2.0 * solved.value, least_time: 2.0 * solved.least_value })
    }

    /// The best allocation without the features.
    #[must_use]
    pub fn without_features(instance: &Instance, sigma: f64) -> Option<Self> {
        let weight = |&mean: &f64| (instance.question().gap(mean) / sigma).powi(-2);
        let mut weights: Vec<f64> = instance.means().iter().map(weight).collect();
        let total: f64 = weights.iter().sum();
        if !total.is_finite() {
            return None;
        }
        for weight in &mut weights {
            *weight /= total;
        }
        Some(Self { weights, time: 2.0 * total, least_time: 2.0 * total })
    }

    /// The share of pulls per arm.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// T* of these weights: at most a millionth above the smallest possible.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.time
    }

    /// A proven lower bound on T*.
    #[must_use]
    pub fn least_time(&self) -> f64 {
        self.least_time
    }

    /// The lower bound T*·kl(δ, 1 − δ) on the mean number of pulls of a test that errs with probability at most `delta`; 0
    /// for δ ≥ ½, where guessing is enough.
    #[must_use]
    pub fn fewest_pulls(&self, delta: f64) -> f64 {
        let divergence = (1.0 - 2.0 * delta) * ((1.0 - delta) / delta).ln();
        if delta < 0.5 { self.least_time * divergence } else { 0.0 }
    }
}
