//! Rewards measured from a centre: the estimator receives r − c, and c is added to its means.

use super::{DesignEstimator, Estimator, History, LinearEstimate, Posterior, PriorFree, VarianceEstimator};
use crate::Arm;
use crate::question::short_number;
use thiserror::Error;

/// An estimator of r − c, so that the mean of an arm about which nothing is known is c instead of 0.
///
/// Ridge shrinks means towards 0. Where the means lie around a level c far from 0, plain [`Ridge`] has to learn that level first, and
/// classifies all arms as *below* or all as *above* until it has. A constant feature
/// ([`Arms::with_intercept`](crate::Arms::with_intercept)) lets the level differ from c.
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `centre` | none | c | −1e150 ≤ c ≤ 1e150, else [`CentreError`] |
///
/// ```
/// use cutline::{Arms, estimators::{Centred, Estimator, Ridge}};
///
/// let arms = Arms::from_rows(&[[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]])?;
/// let mut ridge = Centred::new(Ridge::new(&arms, 1.0)?, 50.0)?;
/// ridge.observe(0, 53.0); // V = 1 + 1, b = 53 − 50
/// assert_eq!(ridge.means(), [51.5, 53.0, 50.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// [`Ridge`]: super::Ridge
#[derive(Clone, Debug)]
pub struct Centred<E> {
    pub(super) estimator: E,
    pub(super) centre: f64,
    means: Vec<f64>,
    prior_free_means: Vec<f64>,
}

/// The centre is NaN, infinite or so large that a squared gap overflows.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[error("the centre must be a number between -1e150 and 1e150, not {}", short_number(*.0))]
pub struct CentreError(pub f64);

impl<E: Estimator> Centred<E> {
    /// Measures rewards from `centre`.
    ///
    /// # Errors
    /// If the centre is out of range.
    pub fn new(estimator: E, centre: f64) -> Result<Self, CentreError> {
        if !(centre.abs() <= 1e150) {
            return Err(CentreError(centre));
        }
        let means = vec![centre; estimator.n_arms()];
        Ok(Self { prior_free_means: means.clone(), means, estimator, centre })
    }
}

/// `shifted` = `means` + c.
fn shift<'a>(means: &[f64], centre: f64, shifted: &'a mut [f64]) -> &'a [f64] {
    shifted.iter_mut().zip(means).for_each(|(shifted, mean)| *shifted = mean + centre);
    shifted
}

impl<E: Estimator> Estimator for Centred<E> {
    fn n_arms(&self) -> usize {
        self.estimator.n_arms()
    }

    fn expect(&mut self, arm: Arm) {
        self.estimator.expect(arm);
    }

    fn observe(&mut self, arm: Arm, reward: f64) {
        self.estimator.observe(arm, reward - self.centre);
    }

    fn forget(&mut self, pending: &[u32]) {
        self.estimator.forget(pending);
    }

    fn can_restore(&self) -> bool {
        self.estimator.can_restore()
    }

    fn restore(&mut self, history: &History<'_>) {
        let means: Vec<f64> = history.means.iter().map(|mean| mean - self.centre).collect();
        self.estimator.restore(&History { means: &means, ..*history });
    }

    fn means(&mut self) -> &[f64] {
        shift(self.estimator.means(), self.centre, &mut self.means)
    }

    /// θ̂ of the rewards measured from the centre.
    fn linear_estimate(&mut self) -> Option<LinearEstimate> {
        self.estimator.linear_estimate()
    }

    fn posterior(&mut self) -> Posterior<'_> {
        let posterior = self.estimator.posterior();
        Posterior { means: shift(posterior.means, self.centre, &mut self.means), ..posterior }
    }

    fn posterior_and_prior_free(&mut self) -> (Posterior<'_>, Option<PriorFree<'_>>) {
        let (posterior, prior_free) = self.estimator.posterior_and_prior_free();
        let shifted = &mut self.prior_free_means;
        let prior_free = prior_free.map(|estimates| match estimates {
            PriorFree::SampleMeans { means, n_rewards } => {
                PriorFree::SampleMeans { means: shift(means, self.centre, shifted), n_rewards }
            }
            PriorFree::LeastSquares { means, variances, log_det } => {
                PriorFree::LeastSquares { means: shift(means, self.centre, shifted), variances, log_det }
            }
        });
        (Posterior { means: shift(posterior.means, self.centre, &mut self.means), ..posterior }, prior_free)
    }

    fn deviations(&mut self, noise: f64, n: usize, normal: &mut dyn FnMut() -> f64) -> Vec<Vec<f64>> {
        self.estimator.deviations(noise, n, normal)
    }

    fn moments_of(&mut self, arm: Arm) -> (f64, f64) {
        let (mean, variance) = self.estimator.moments_of(arm);
        (mean + self.centre, variance)
    }

    fn prior_free_moments_of(&mut self, arm: Arm) -> (f64, f64) {
        let (mean, variance) = self.estimator.prior_free_moments_of(arm);
        (mean + self.centre, variance)
    }
}

impl<E: VarianceEstimator> VarianceEstimator for Centred<E> {
    fn moments(&mut self) -> (&[f64], &[f64]) {
        let (means, variances) = self.estimator.moments();
        (shift(means, self.centre, &mut self.means), variances)
    }

    fn covariances_with(&mut self, arm: Arm) -> (&[f64], &[f64]) {
        self.estimator.covariances_with(arm)
    }

    fn observed_moments(&mut self) -> (&[f64], &[f64]) {
        let (means, variances) = self.estimator.observed_moments();
        (shift(means, self.centre, &mut self.means), variances)
    }

    fn observed_covariances_with(&mut self, arm: Arm) -> &[f64] {
        self.estimator.observed_covariances_with(arm)
    }
}

impl<E: DesignEstimator> DesignEstimator for Centred<E> {
    fn design_variances(&mut self, weights: &[f64]) -> &[f64] {
        self.estimator.design_variances(weights)
    }

    fn design_covariances_with(&mut self, arm: Arm) -> &[f64] {
        self.estimator.design_covariances_with(arm)
    }
}
