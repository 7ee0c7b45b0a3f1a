//! Estimators behind a pointer, so that a rule is compiled once and not once per estimator.
//!
//! A call through the pointer is for all arms at once, or for one of them, and costs little beside what it does.

use super::{
    DesignEstimator, Estimator, Explained, History, LazyMeans, LinearEstimate, Marginals, Posterior, PriorFree,
    VarianceEstimator,
};
use crate::{Arm, Question};

/// Every method is that of the estimator inside.
impl<E: Estimator + ?Sized> Estimator for Box<E> {
    fn n_arms(&self) -> usize {
        (**self).n_arms()
    }

    fn expect(&mut self, arm: Arm) {
        (**self).expect(arm);
    }

    fn observe(&mut self, arm: Arm, reward: f64) {
        (**self).observe(arm, reward);
    }

    fn forget(&mut self, pending: &[u32]) {
        (**self).forget(pending);
    }

    fn can_restore(&self) -> bool {
        (**self).can_restore()
    }

    fn restore(&mut self, history: &History<'_>) {
        (**self).restore(history);
    }

    fn means(&mut self) -> &[f64] {
        (**self).means()
    }

    fn lazy_means(&mut self) -> Option<LazyMeans<'_>> {
        (**self).lazy_means()
    }

    fn linear_estimate(&mut self) -> Option<LinearEstimate> {
        (**self).linear_estimate()
    }

    fn posterior(&mut self) -> Posterior<'_> {
        (**self).posterior()
    }

    fn posterior_and_prior_free(&mut self) -> (Posterior<'_>, Option<PriorFree<'_>>) {
        (**self).posterior_and_prior_free()
    }

    fn noise_scale(&self) -> Option<f64> {
        (**self).noise_scale()
    }

    fn least_noise(&self) -> f64 {
        (**self).least_noise()
    }

    fn explained(&self) -> Option<Explained> {
        (**self).explained()
    }

    fn spread(&self) -> Option<f64> {
        (**self).spread()
    }

    fn marginals(&mut self, question: Question) -> Option<Marginals> {
        (**self).marginals(question)
    }

    fn deviations(&mut self, noise: f64, n: usize, normal: &mut dyn FnMut() -> f64) -> Vec<Vec<f64>> {
        (**self).deviations(noise, n, normal)
    }

    fn moments_of(&mut self, arm: Arm) -> (f64, f64) {
        (**self).moments_of(arm)
    }

    fn prior_free_moments_of(&mut self, arm: Arm) -> (f64, f64) {
        (**self).prior_free_moments_of(arm)
    }
}

impl<E: VarianceEstimator + ?Sized> VarianceEstimator for Box<E> {
    fn moments(&mut self) -> (&[f64], &[f64]) {
        (**self).moments()
    }

    fn covariances_with(&mut self, arm: Arm) -> (&[f64], &[f64]) {
        (**self).covariances_with(arm)
    }

    fn observed_moments(&mut self) -> (&[f64], &[f64]) {
        (**self).observed_moments()
    }

    fn observed_covariances_with(&mut self, arm: Arm) -> &[f64] {
        (**self).observed_covariances_with(arm)
    }
}

impl<E: DesignEstimator + ?Sized> DesignEstimator for Box<E> {
    fn design_variances(&mut self, weights: &[f64]) -> &[f64] {
        (**self).design_variances(weights)
    }

    fn design_covariances_with(&mut self, arm: Arm) -> &[f64] {
        (**self).design_covariances_with(arm)
    }
}
