//! Ridge regression on all rewards, beside one on the rewards of the current phase.

use super::designed::DesignedRidge;
use super::ridge::{Ridge, RidgeError};
use super::{Centred, Estimator, History, Posterior, PriorFree};
use crate::{Arm, Arms};

/// An estimator that can start a new phase, for algorithms whose tests need data that did not influence what was measured.
pub trait PhasedEstimator: Estimator {
    /// Ridge on the pulls handed out and the rewards received since the phase began; its means are measured from
    /// [`phase_centre`](PhasedEstimator::phase_centre).
    fn phase(&mut self) -> &mut DesignedRidge;

    /// What has to be added to the means of the phase.
    fn phase_centre(&self) -> f64;

    /// The number of pulls handed out since the phase began, and how many of them have a reward.
    fn phase_pulls(&self) -> (u64, u64);

    /// The number of the phase, from 1, and the number that was given when it began; `None` in the first.
    fn phase_number(&self) -> (u32, Option<f64>);

    /// Begins a new phase. No pull may be pending. `end` is kept for the rule and the stop, which share no other state.
    fn begin_phase(&mut self, end: f64);
}

/// [`Ridge`] on all rewards, from which the means and the posterior are, with a [`DesignedRidge`] on those of the current phase.
#[derive(Clone, Debug)]
pub struct PhasedRidge {
    all: Ridge,
    phase: DesignedRidge,
    /// Zeros, one per arm: the history of a phase before its first pull.
    no_counts: Vec<u32>,
    no_means: Vec<f64>,
    planned: u64,
    observed: u64,
    number: u32,
    end: Option<f64>,
}

impl PhasedRidge {
    /// The estimator before the first reward.
    ///
    /// # Errors
    /// As [`Ridge::new`].
    pub fn new(arms: &Arms, lambda: f64) -> Result<Self, RidgeError> {
        Ok(Self {
            all: Ridge::new(arms, lambda)?,
            phase: DesignedRidge::new(arms, lambda)?,
            no_counts: vec![0; arms.n_arms()],
            no_means: vec![0.0; arms.n_arms()],
            planned: 0,
            observed: 0,
            number: 1,
            end: None,
        })
    }
}

impl Estimator for PhasedRidge {
    fn n_arms(&self) -> usize {
        self.all.n_arms()
    }

    fn expect(&mut self, arm: Arm) {
        self.planned += 1;
        self.phase.expect(arm);
    }

    fn observe(&mut self, arm: Arm, reward: f64) {
        self.observed += 1;
        self.phase.observe(arm, reward);
        self.all.observe(arm, reward);
    }

    fn forget(&mut self, pending: &[u32]) {
        self.planned = self.observed + pending.iter().map(|&n| u64::from(n)).sum::<u64>();
        self.phase.forget(pending);
    }

    fn can_restore(&self) -> bool {
        true
    }

    /// The whole history becomes one phase.
    fn restore(&mut self, history: &History<'_>) {
        self.observed = history.n_rewards.iter().map(|&n| u64::from(n)).sum();
        self.planned = self.observed + history.pending.iter().map(|&n| u64::from(n)).sum::<u64>();
        self.phase.restore(history);
        self.all.restore(history);
    }

    fn means(&mut self) -> &[f64] {
        self.all.means()
    }

    fn posterior(&mut self) -> Posterior<'_> {
        self.all.posterior()
    }

    fn posterior_and_prior_free(&mut self) -> (Posterior<'_>, Option<PriorFree<'_>>) {
        self.all.posterior_and_prior_free()
    }

    fn deviations(&mut self, noise: f64, n: usize, normal: &mut dyn FnMut() -> f64) -> Vec<Vec<f64>> {
        self.all.deviations(noise, n, normal)
    }

    fn moments_of(&mut self, arm: Arm) -> (f64, f64) {
        self.all.moments_of(arm)
    }

    fn prior_free_moments_of(&mut self, arm: Arm) -> (f64, f64) {
        self.all.prior_free_moments_of(arm)
    }
}

impl PhasedEstimator for PhasedRidge {
    fn phase(&mut self) -> &mut DesignedRidge {
        &mut self.phase
    }

    fn phase_centre(&self) -> f64 {
        0.0
    }

    fn phase_pulls(&self) -> (u64, u64) {
        (self.planned, self.observed)
    }

    fn phase_number(&self) -> (u32, Option<f64>) {
        (self.number, self.end)
    }

    fn begin_phase(&mut self, end: f64) {
        let Self { no_counts, no_means, .. } = self;
        let nothing = History { n_rewards: no_counts, means: no_means, pending: no_counts, fit_history: None };
        self.phase.restore(&nothing);
        (self.planned, self.observed) = (0, 0);
        (self.number, self.end) = (self.number + 1, Some(end));
    }
}

impl PhasedEstimator for Centred<PhasedRidge> {
    fn phase(&mut self) -> &mut DesignedRidge {
        self.estimator.phase()
    }

    fn phase_centre(&self) -> f64 {
        self.centre
    }

    fn phase_pulls(&self) -> (u64, u64) {
        self.estimator.phase_pulls()
    }

    fn phase_number(&self) -> (u32, Option<f64>) {
        self.estimator.phase_number()
    }

    fn begin_phase(&mut self, end: f64) {
        self.estimator.begin_phase(end);
    }
}
