//! Index rules: every arm once, then the arm whose index, a function of its mean and its pulls, is least.

use super::lazy::{LazyScan, MIN_ARMS};
use super::{Choice, Rule};
use crate::estimators::Estimator;
use crate::{Arm, Beliefs, Question, Rng};
use std::fmt::Debug;

/// A function of an arm's mean and pulls; the least value is chosen. [`Indexed`] turns it into a rule.
///
/// It has two parts: [`weight`](Index::weight) depends only on the arm and its pulls and is computed when the arm is pulled;
/// [`index`](Index::index) is computed for every arm at every choice, so it should be cheap.
pub trait Index {
    /// What an index needs to know about an arm besides its mean: most often one number.
    type Weight: Copy + Debug + Default + Send;

    /// The part that depends on the arm and its pulls, and not on σ; `pulls` is at least 1.
    fn weight(&self, arm: Arm, pulls: u32) -> Self::Weight;

    /// The index of an arm with this mean and weight.
    fn index(&self, question: &Question, mean: f64, weight: Self::Weight) -> f64;

    /// Changes σ, as [`Rule::set_noise`]. An index without σ ignores the call.
    fn set_noise(&mut self, noise: f64) {
        let _ = noise;
    }

    /// The gap Δ̂ at which an arm of this weight has the index `value`, for an index that grows with the gap and does not decrease
    /// with more pulls. If an index provides it, a lazy scan evaluates only a few of very many arms per choice; otherwise all
    /// arms are evaluated.
    fn gap_for(&self, value: f64, weight: Self::Weight) -> Option<f64> {
        let _ = (value, weight);
        None
    }
}

/// The rule of an [`Index`]: arms not pulled yet come first, in their order; ties go to the first arm.
#[derive(Clone, Debug)]
pub struct Indexed<I: Index> {
    index: I,
    weights: Vec<I::Weight>,
    /// The pulls that the weights were computed for.
    known_pulls: Vec<u32>,
    /// [`Beliefs::changes`] at the last choice, and the arm chosen.
    changes: u64,
    chosen: Arm,
    lazy_scan: Option<LazyScan>,
}

impl<I: Index> Indexed<I> {
    /// The rule of `index` for `n_arms` arms.
    #[must_use]
    pub fn new(index: I, n_arms: usize) -> Self {
        let lazy_scan = if n_arms < MIN_ARMS { None } else { LazyScan::new(&index, n_arms) };
        let weights = vec![I::Weight::default(); n_arms];
        Self { index, weights, known_pulls: vec![0; n_arms], changes: 0, chosen: 0, lazy_scan }
    }

    /// The same with a lazy scan, which evaluates only a few arms per choice where the estimator allows it, or with a full scan. The
    /// choices are the same, only their cost differs. By default the scan is lazy where there are very many arms.
    #[must_use]
    pub fn with_lazy_scan(mut self, is_lazy: bool) -> Self {
        self.lazy_scan = if is_lazy { LazyScan::new(&self.index, self.weights.len()) } else { None };
        self
    }

    fn update_weight(&mut self, arm: Arm, pulls: u32) {
        self.known_pulls[arm] = pulls;
        self.weights[arm] = self.index.weight(arm, pulls);
    }

    /// Brings the weights up to date. Most often the only change is one pull of the arm chosen last.
    fn update_weights(&mut self, pulls: &[u32], changes: u64) {
        let chosen = self.chosen;
        if changes == self.changes + 1 && pulls[chosen] == self.known_pulls[chosen] + 1 {
            self.update_weight(chosen, pulls[chosen]);
        } else if changes != self.changes {
            if let Some(scan) = &mut self.lazy_scan {
                scan.reset();
            }
            for (arm, &pulls) in pulls.iter().enumerate() {
                if self.known_pulls[arm] != pulls {
                    self.update_weight(arm, pulls);
                }
            }
        }
        self.changes = changes;
    }
}

impl<I: Index, E: Estimator + ?Sized> Rule<E> for Indexed<I> {
    const OPENS_WITH_EVERY_ARM: bool = true;

    fn choose(&mut self, beliefs: &mut Beliefs<'_, E>, _: &mut Rng) -> Choice {
        if let Some(arm) = beliefs.first_unpulled {
            return arm.into();
        }
        self.update_weights(beliefs.pulls, beliefs.changes);
        let (question, index) = (beliefs.question, &self.index);
        if let Some(scan) = &mut self.lazy_scan
            && beliefs.settled.is_empty()
            && let Some(means) = beliefs.estimator.lazy_means()
        {
            self.chosen = scan.arg_min(index, &question, means, &self.weights);
            return self.chosen.into();
        }
        self.chosen = beliefs.settled.arg_min_open(
            beliefs.estimator.means(),
            &self.weights,
            #[inline(always)]
            |mean, weight| index.index(&question, mean, weight),
        );
        self.chosen.into()
    }

    fn set_noise(&mut self, noise: f64) {
        self.index.set_noise(noise);
        if let Some(scan) = &mut self.lazy_scan {
            scan.reset();
        }
    }
}
