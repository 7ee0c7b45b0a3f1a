//! Frank-Wolfe thresholding: arg minᵢ yᵢ − p ln yᵢ + p ln Tᵢ − ln aᵢ, yᵢ = max(p, xᵢ), xᵢ = Tᵢ(μ̂ᵢ − τ)²/(2σ²); p = 1, or p = 3/2 where an
//! error costs its gap, without aᵢ (Ouhamma, Degenne, Gaillard & Perchet 2021).

use crate::rules::{Index, RuleError};
use crate::scan::ln;
use crate::{Arm, Arms, Question, Range};

/// Pulls the arm for which a pull lowers a bound on the expected cost of all errors most. Until x exceeds p it pulls the arms in turn, so
/// it is for budgets of many times K; [`Lsa`](super::Lsa) is better with fewer pulls. The precision ε does not enter.
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `noise` | 1 | σ, the standard deviation of a reward | 1e-100 ≤ σ ≤ 1e100, else [`RuleError`] |
#[derive(Clone, Debug)]
pub struct Fwt {
    power: f64,
    /// 1/(√2 σ).
    scale: f64,
    /// ln aᵢ of every arm; empty if all of them are 0.
    log_costs: Vec<f64>,
}

impl Fwt {
    /// For few errors, each counted with the [cost](Arms::with_costs) of its arm; p = 1.
    ///
    /// # Errors
    /// If `noise` is out of range.
    pub fn new(arms: &Arms, noise: f64) -> Result<Self, RuleError> {
        let log_costs = arms.costs().unwrap_or_default().iter().map(|&cost| ln(cost)).collect();
        Self { power: 1.0, scale: 0.0, log_costs }.with_noise(noise)
    }

    /// For few errors, each counted with its gap |μ − τ|; p = 3/2.
    ///
    /// # Errors
    /// If `noise` is out of range.
    pub fn gaps(noise: f64) -> Result<Self, RuleError> {
        Self { power: 1.5, scale: 0.0, log_costs: Vec::new() }.with_noise(noise)
    }

    fn with_noise(mut self, noise: f64) -> Result<Self, RuleError> {
        self.set_noise(Range::NOISE_SCALE.check("noise", noise)?);
        Ok(self)
    }
}

impl Index for Fwt {
    /// T and p ln T − ln a.
    type Weight = (f64, f64);

    #[inline(always)]
    fn weight(&self, arm: Arm, pulls: u32) -> (f64, f64) {
        let pulls = f64::from(pulls);
        (pulls, self.power * ln(pulls) - self.log_costs.get(arm).copied().unwrap_or(0.0))
    }

    #[inline(always)]
    fn index(&self, question: &Question, mean: f64, (pulls, log): (f64, f64)) -> f64 {
        let distance = self.scale * (mean - question.threshold());
        let y = self.power.max(pulls * distance * distance);
        y - self.power * ln(y) + log
    }

    fn set_noise(&mut self, noise: f64) {
        self.scale = std::f64::consts::FRAC_1_SQRT_2 / noise;
    }
}
