//! The estimator of the mixed model.

use super::columns::Columns;
use super::evidence::Variances;
use super::grid::{Fit, Grid};
use super::judgement::judge;
use super::own::{OwnParts, Shrinkage};
use super::rewards::FitHistory;
use super::settings::{MixedError, MixedSettings};
use crate::estimators::inverse::Inverse;
use crate::estimators::linear_belief::LinearBelief;
use crate::estimators::{Estimator, Explained, History, Marginals, Model, Posterior, PriorFree, VarianceEstimator};
use crate::vector::{Vectors, numbers, numbers_mut, zeros};
use crate::{Arm, Arms, Question, Range};
use std::sync::Arc;

/// The mixed model: a linear part, a smooth part and a part of each arm's own, with variances and σ learnt from the rewards.
///
/// Use it where the means may not be linear in the features; [`Ridge`](crate::estimators::Ridge) where they are, and
/// [`SampleMean`](crate::estimators::SampleMean) where bounds have to hold whatever the features are. Without features it estimates
/// shrunken sample means.
///
/// [`MixedSettings`] chooses the parts and lists all parameters. The landmarks are arms, drawn by the seed. A pull costs two K×p products, p = d + 1 + D. The variances are learnt again after every
/// reward up to the 20th, then whenever the number of rewards has grown by 15 %; that costs about a hundred p×p factorisations and is the
/// only time at which memory is allocated.
///
/// ```
/// use cutline::estimators::{Estimator, Mixed, MixedSettings};
/// use cutline::{Arms, Question};
///
/// let rows: Vec<[f64; 1]> = (0..20).map(|i| [f64::from(i)]).collect();
/// let settings = MixedSettings { landmarks: 10, ..MixedSettings::default() };
/// let mut mixed = Mixed::new(&Arms::from_rows(&rows)?, Question::new(1.0, 0.0)?, &settings, 0)?;
/// assert_eq!((mixed.means()[7], mixed.noise_scale()), (1.0, None)); // τ, before the first reward
/// for arm in (0..20).step_by(2).cycle().take(40) {
///     mixed.observe(arm, (0.5 * arm as f64).sin());
/// }
/// assert!(mixed.means()[9] < -0.5); // never measured; the truth is −0.98
/// assert!(mixed.noise_scale().unwrap() < 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Mixed {
    pub(super) columns: Arc<Columns>,
    pub(super) grid: Arc<Grid>,
    threshold: f64,
    pub(super) known_noise: Option<f64>,
    pub(super) fit: Fit,
    pub(super) linear: LinearBelief,
    /// By the rewards received, for the means.
    pub(super) observed: Shrinkage,
    /// By the pulls handed out, for the variances.
    planned: Shrinkage,
    pub(super) own: OwnParts,
    /// qᵢ by the pulls handed out.
    variances: Vectors,
    pub(super) rewards: FitHistory,
    /// Pending pulls of each arm, while they are planned again.
    pending: Vec<u32>,
    /// The variances by the rewards received, and covariances; computed on demand.
    scratch: Vectors,
    /// Computed on demand.
    sample_means: Vec<f64>,
}

impl Mixed {
    /// The values that `length` may have.
    pub const LENGTH: Range = Range::new(1e-3, 1e3);

    /// The estimator before the first reward: all means are τ.
    ///
    /// # Errors
    /// If a setting is out of range, or no part is left.
    pub fn new(arms: &Arms, question: Question, settings: &MixedSettings, seed: u64) -> Result<Self, MixedError> {
        settings.check()?;
        let parts = settings.parts(arms)?;
        let columns = Columns::shared(arms, parts, settings, seed);
        let grid = Grid::new(columns.dimension, parts, settings);
        let fit = grid.prior();
        let mixed = Self::with_fit(columns, grid, question.threshold(), fit);
        Ok(Self { known_noise: settings.known_noise, ..mixed })
    }

    pub(super) fn with_fit(columns: impl Into<Arc<Columns>>, grid: Grid, threshold: f64, fit: Fit) -> Self {
        let columns = columns.into();
        let n_arms = columns.missed.len();
        let inverse = Inverse::with_precisions(columns.precisions(&fit.variances));
        let mut mixed = Self {
            linear: LinearBelief::new(Arc::clone(&columns.features), inverse),
            observed: Shrinkage::new(n_arms),
            planned: Shrinkage::new(n_arms),
            own: OwnParts::new(n_arms),
            variances: zeros(n_arms),
            columns,
            grid: Arc::new(grid),
            threshold,
            known_noise: None,
            fit,
            rewards: FitHistory::new(n_arms, threshold),
            pending: vec![0; n_arms],
            scratch: zeros(n_arms),
            sample_means: Vec::new(),
        };
        mixed.rebuild();
        mixed
    }

    fn n(&self) -> usize {
        self.pending.len()
    }

    /// Learns the variances from all rewards received.
    fn refit(&mut self) {
        self.fit = self.grid.fit(&self.columns, &self.rewards.at_last_fit);
        for (arm, pending) in self.pending.iter_mut().enumerate() {
            *pending = self.planned.pulls[arm] - self.observed.pulls[arm];
        }
        self.rebuild();
    }

    /// The posterior, with the variances that were computed last.
    fn computed_posterior(&self) -> Posterior<'_> {
        Posterior {
            means: &numbers(&self.own.means)[..self.n()],
            variances: &numbers(&self.scratch)[..self.n()],
            n_rewards: &self.observed.pulls,
            model: Model::Mixed,
        }
    }

    /// Recomputes everything that depends on the fit, from the rewards received and the pending pulls.
    pub(super) fn rebuild(&mut self) {
        let Self { columns, fit, linear, observed, planned, own, rewards, .. } = self;
        let variances = fit.variances;
        observed.set_own_variances(columns.missed.iter().map(|&missed| variances.own_of(missed)));
        planned.copy_from(observed);
        for (arm, &average) in rewards.now.averages.iter().enumerate() {
            own.update(arm, average, self.threshold, observed);
        }
        linear.set_precisions(&columns.precisions(&variances));
        linear.restore(|arm| observed.weight(arm), &own.targets);
        self.plan_pending();
        self.own.update_means(&self.observed, &self.linear.means);
    }

    /// Plans the pending pulls again, on top of the rewards received.
    fn plan_pending(&mut self) {
        let Self { linear, observed, planned, pending, variances, .. } = self;
        planned.copy_from(observed);
        linear.clear_plan();
        for (arm, &count) in pending.iter().enumerate() {
            for _ in 0..count {
                let weight = planned.add(arm);
                linear.plan(arm, weight, |arm| planned.weight(arm));
            }
        }
        linear.finish_plan();
        planned.write_variances(&linear.variances, variances);
    }
}

impl Estimator for Mixed {
    fn n_arms(&self) -> usize {
        self.n()
    }

    fn expect(&mut self, arm: Arm) {
        let Self { linear, planned, variances, .. } = self;
        let weight = planned.add(arm);
        linear.expect(arm, weight, |arm| planned.weight(arm));
        planned.write_variances(&linear.variances, variances);
    }

    /// The linear means move by gₐ(r − μ̂ₐ)/(1 + qₐ)·c = gₐ′(r − μ̂ₐ)/s·c, where gₐ′ is gₐ after the reward and s = 1 + gₐgₐ′hₐ.
    fn observe(&mut self, arm: Arm, reward: f64) {
        if self.planned.pulls[arm] == self.observed.pulls[arm] {
            self.expect(arm);
        }
        let Self { linear, observed, own, rewards, .. } = self;
        let residual = reward - numbers(&own.means)[arm];
        let weight = observed.add(arm);
        let factor = observed.factor(arm);
        rewards.add(arm, reward);
        own.update(arm, rewards.now.averages[arm], self.threshold, observed);
        linear.observe(arm, weight, |s| factor * residual / s, |arm| observed.weight(arm), &own.targets);
        if rewards.is_fit_due() {
            self.refit();
        } else {
            own.update_means(observed, &linear.means);
        }
    }

    fn forget(&mut self, pending: &[u32]) {
        self.pending.copy_from_slice(pending);
        self.plan_pending();
    }

    fn can_restore(&self) -> bool {
        true
    }

    /// The variances are those of a model that received every reward by itself: they are learnt from the rewards at the last number of
    /// rewards at which they are learnt.
    fn restore(&mut self, past: &History<'_>) {
        let rewards = past.fit_history.expect("a history for the mixed model");
        if rewards.at_last_fit != self.rewards.at_last_fit {
            self.fit = self.grid.fit(&self.columns, &rewards.at_last_fit);
        }
        self.rewards.copy_from(rewards);
        self.observed.pulls.copy_from_slice(&rewards.now.counts);
        self.pending.copy_from_slice(past.pending);
        self.rebuild();
    }

    fn means(&mut self) -> &[f64] {
        &numbers(&self.own.means)[..self.pending.len()]
    }

    fn noise_scale(&self) -> Option<f64> {
        self.known_noise.or_else(|| self.fit.noise_variance.map(|variance| variance.sqrt().clamp(1e-90, 1e90)))
    }

    fn least_noise(&self) -> f64 {
        if self.known_noise.is_some() { 0.0 } else { self.rewards.least_noise() }
    }

    fn explained(&self) -> Option<Explained> {
        let Explained { linear, smooth, own } = self.fit.shares;
        if !self.columns.differ {
            return self.fit.is_learnt.then_some(Explained { linear: 0.0, smooth: 0.0, own: 1.0 });
        }
        // A level alone explains no differences.
        let linear = if self.columns.n_linear == 1 { 0.0 } else { linear };
        let sum = linear + smooth + own;
        self.fit.is_learnt.then_some(Explained { linear: linear / sum, smooth: smooth / sum, own: own / sum })
    }

    /// σ√ω, without the level.
    fn spread(&self) -> Option<f64> {
        let Variances { linear, smooth, products, own } = self.fit.variances;
        let linear = if self.columns.n_linear == 1 { 0.0 } else { linear * self.columns.dimension as f64 };
        let sigma = self.noise_scale().filter(|_| self.fit.is_learnt)?;
        Some(sigma * (linear + smooth + products + own).sqrt())
    }

    fn posterior(&mut self) -> Posterior<'_> {
        let Self { linear, observed, scratch, .. } = self;
        let (features, inverse, step) = linear.scratch();
        inverse.refresh(features, |arm| observed.weight(arm), step);
        let variances = numbers_mut(scratch);
        step.variances(features, |arm, h| variances[arm] = observed.variance(arm, h));
        self.computed_posterior()
    }

    /// The sample means: the model's own estimates have a prior that is learnt from the rewards, for which no bound at all times is known.
    fn posterior_and_prior_free(&mut self) -> (Posterior<'_>, Option<PriorFree<'_>>) {
        self.sample_means.clear();
        self.sample_means.extend(self.rewards.now.averages.iter().map(|average| self.threshold + average));
        self.posterior();
        let prior_free = PriorFree::SampleMeans { means: &self.sample_means, n_rewards: &self.observed.pulls };
        (self.computed_posterior(), Some(prior_free))
    }

    fn marginals(&mut self, question: Question) -> Option<Marginals> {
        judge(&self.columns, &self.grid, question, &self.rewards.now)
    }

    fn deviations(&mut self, noise: f64, n: usize, normal: &mut dyn FnMut() -> f64) -> Vec<Vec<f64>> {
        let means = self.means().to_vec();
        let deviation = |drawn: Vec<f64>| drawn.iter().zip(&means).map(|(drawn, mean)| drawn - mean).collect();
        // Before the first reward σ is unknown, and `draw` takes it to be 1.
        let scale = if self.noise_scale().is_some() { 1.0 } else { noise };
        let mut draws: Vec<Vec<f64>> = (0..n).map(|_| deviation(self.draw(&mut *normal))).collect();
        draws.iter_mut().flatten().for_each(|deviation| *deviation *= scale);
        draws
    }

    fn moments_of(&mut self, arm: Arm) -> (f64, f64) {
        let h = self.linear.observed_variance_of(arm);
        (numbers(&self.own.means)[arm], self.observed.variance(arm, h))
    }

    fn prior_free_moments_of(&mut self, arm: Arm) -> (f64, f64) {
        (self.threshold + self.rewards.now.averages[arm], 1.0 / f64::from(self.observed.pulls[arm]))
    }
}

impl VarianceEstimator for Mixed {
    fn moments(&mut self) -> (&[f64], &[f64]) {
        let n_arms = self.n();
        (&numbers(&self.own.means)[..n_arms], &numbers(&self.variances)[..n_arms])
    }

    fn covariances_with(&mut self, arm: Arm) -> (&[f64], &[f64]) {
        let n_arms = self.n();
        let (products, _) = self.linear.covariances_with(arm);
        self.planned.write_covariances(arm, products, &mut self.scratch);
        (&numbers(&self.scratch)[..n_arms], &numbers(&self.variances)[..n_arms])
    }

    fn observed_moments(&mut self) -> (&[f64], &[f64]) {
        if self.linear.is_settled() {
            return self.moments();
        }
        let posterior = self.posterior();
        (posterior.means, posterior.variances)
    }

    fn observed_covariances_with(&mut self, arm: Arm) -> &[f64] {
        let n_arms = self.n();
        let products = self.linear.observed_covariances_with(arm);
        self.observed.write_covariances(arm, products, &mut self.scratch);
        &numbers(&self.scratch)[..n_arms]
    }
}

#[cfg(test)]
impl Mixed {
    pub(super) fn columns(&self) -> &Columns {
        &self.columns
    }

    pub(super) fn fit(&self) -> &Fit {
        &self.fit
    }

    pub(super) fn without_learning(mut self) -> Self {
        self.rewards.next_fit = u64::MAX;
        self
    }
}
