//! Means with a normal-inverse-gamma prior: a conjugate update per reward, for noise of unknown variance.
//!
//! Prior: σ² ~ IG(a, b), the same for all arms, and μᵢ | σ² ~ N(m, σ²/κ). After nᵢ rewards of arm i, with κᵢ = κ + nᵢ:
//! μᵢ is Student-t with 2a degrees of freedom, centre mᵢ and scale √(b/(a κᵢ)). A reward r of arm i changes
//! a += ½, b += ½ κᵢ/(κᵢ + 1) (r − mᵢ)², mᵢ += (r − mᵢ)/(κᵢ + 1), κᵢ += 1 (Murphy 2007, "Conjugate Bayesian analysis of the Gaussian
//! distribution").

use cutline::estimators::{Estimator, Marginals, Model, Posterior, VarianceEstimator};
use cutline::{Arm, Problem, Question};

/// The normal-inverse-gamma estimator.
///
/// | parameter | value | meaning |
/// |---|---|---|
/// | m | τ | where means lie before any reward |
/// | κ | 0.1 | how many rewards that is worth |
/// | a, b | 1, 1 | σ² is about b/a, and that is worth 2a rewards |
#[derive(Clone, Debug)]
pub struct NormalInverseGamma {
    shape: f64,
    rate: f64,
    means: Vec<f64>,
    n_rewards: Vec<u32>,
    /// Rewards received and pulls whose reward is still out.
    pulls: Vec<u32>,
    /// 1/κᵢ from the pulls and from the rewards.
    variances: Vec<f64>,
    observed_variances: Vec<f64>,
    covariances: Vec<f64>,
}

/// κ.
const PRIOR_REWARDS: f64 = 0.1;

impl NormalInverseGamma {
    /// The estimator before the first reward.
    #[must_use]
    pub fn new(problem: &Problem<'_>) -> Self {
        let n_arms = problem.arms.n_arms();
        Self {
            shape: 1.0,
            rate: 1.0,
            means: vec![problem.question.threshold(); n_arms],
            n_rewards: vec![0; n_arms],
            pulls: vec![0; n_arms],
            variances: vec![1.0 / PRIOR_REWARDS; n_arms],
            observed_variances: vec![1.0 / PRIOR_REWARDS; n_arms],
            covariances: vec![0.0; n_arms],
        }
    }

    fn update_variance(&mut self, arm: Arm) {
        self.variances[arm] = 1.0 / (PRIOR_REWARDS + f64::from(self.pulls[arm]));
        self.observed_variances[arm] = 1.0 / (PRIOR_REWARDS + f64::from(self.n_rewards[arm]));
    }

    /// Fills the covariances with `arm`: the means are independent, so all but one are 0.
    fn fill_covariances(&mut self, arm: Arm, variance: f64) {
        self.covariances.fill(0.0);
        self.covariances[arm] = variance;
    }
}

impl Estimator for NormalInverseGamma {
    fn n_arms(&self) -> usize {
        self.means.len()
    }

    fn expect(&mut self, arm: Arm) {
        self.pulls[arm] += 1;
        self.update_variance(arm);
    }

    fn observe(&mut self, arm: Arm, reward: f64) {
        let (weight, residual) = (PRIOR_REWARDS + f64::from(self.n_rewards[arm]), reward - self.means[arm]);
        self.shape += 0.5;
        self.rate += 0.5 * weight / (weight + 1.0) * residual * residual;
        self.means[arm] += residual / (weight + 1.0);
        self.n_rewards[arm] += 1;
        self.pulls[arm] = self.pulls[arm].max(self.n_rewards[arm]);
        self.update_variance(arm);
    }

    fn forget(&mut self, pending: &[u32]) {
        for arm in 0..pending.len() {
            self.pulls[arm] = self.n_rewards[arm] + pending[arm];
            self.update_variance(arm);
        }
    }

    fn means(&mut self) -> &[f64] {
        &self.means
    }

    fn posterior(&mut self) -> Posterior<'_> {
        Posterior::new(&self.means, &self.observed_variances, &self.n_rewards, Model::Unrelated)
    }

    /// √(b/a), so that the scale of a mean is this times √(1/κᵢ).
    fn noise_scale(&self) -> Option<f64> {
        Some((self.rate / self.shape).sqrt())
    }

    fn marginals(&mut self, question: Question) -> Option<Marginals> {
        let noise = (self.rate / self.shape).sqrt();
        let scales = self.observed_variances.iter().map(|variance| noise * variance.sqrt()).collect();
        Some(Marginals::student_t(question, self.means.clone(), scales, 2.0 * self.shape))
    }
}

impl VarianceEstimator for NormalInverseGamma {
    fn moments(&mut self) -> (&[f64], &[f64]) {
        (&self.means, &self.variances)
    }

    fn covariances_with(&mut self, arm: Arm) -> (&[f64], &[f64]) {
        self.fill_covariances(arm, self.variances[arm]);
        (&self.covariances, &self.variances)
    }

    fn observed_moments(&mut self) -> (&[f64], &[f64]) {
        (&self.means, &self.observed_variances)
    }

    fn observed_covariances_with(&mut self, arm: Arm) -> &[f64] {
        self.fill_covariances(arm, self.observed_variances[arm]);
        &self.covariances
    }
}
