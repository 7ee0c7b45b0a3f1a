//! Rules that are an index: every arm once, then the arm with the least index of its mean and its pulls.

use super::Rule;
use super::lazy::{LEAST_ARMS, Lazy};
use crate::estimators::Estimator;
use crate::{Arm, Beliefs, Question, Rng, arg_min};

/// An index of an arm's mean and pulls, least is best. [`Indexed`] makes a rule of it.
///
/// The index is split in two: [`weight`](Index::weight) is all that depends on the pulls, computed when an arm is pulled;
/// [`index`](Index::index) is computed for every arm at every choice, so it should be cheap.
pub trait Index {
    /// What the pulls of an arm count for; `pulls` is at least 1.
    fn weight(&self, pulls: u32) -> f64;

    /// The index of an arm with this mean and weight.
    fn index(&self, question: &Question, mean: f64, weight: f64) -> f64;

    /// The gap Δ̂ at which an arm of this weight has the index `value`, for an index that grows with the gap and does not fall
    /// with more pulls. Where arms are many, most of them need not be looked at then; without it all are.
    fn gap_for(&self, value: f64, weight: f64) -> Option<f64> {
        let _ = (value, weight);
        None
    }
}

/// The rule of an [`Index`]: arms not pulled yet come first, in their order; ties go to the first arm.
#[derive(Clone, Debug)]
pub struct Indexed<I> {
    index: I,
    weights: Vec<f64>,
    /// The pulls that the weights were computed for, how often they had changed by then, and the arm chosen then.
    known: Vec<u32>,
    changes: u64,
    chosen: Arm,
    lazy: Option<Lazy>,
}

impl<I: Index> Indexed<I> {
    /// The rule of `index` for `n_arms` arms.
    #[must_use]
    pub fn new(index: I, n_arms: usize) -> Self {
        let lazy = if n_arms < LEAST_ARMS { None } else { Lazy::new(&index, n_arms) };
        Self { index, weights: vec![0.0; n_arms], known: vec![0; n_arms], changes: 0, chosen: 0, lazy }
    }

    /// The same, looking at every arm for every choice, or leaving most arms alone where the estimator allows it. The choices are the
    /// same, only their cost differs; without a word, many arms are left alone and few are not.
    #[must_use]
    pub fn with_lazy_scan(mut self, leaves: bool) -> Self {
        self.lazy = if leaves { Lazy::new(&self.index, self.weights.len()) } else { None };
        self
    }

    fn weigh(&mut self, arm: Arm, pulls: u32) {
        self.known[arm] = pulls;
        self.weights[arm] = self.index.weight(pulls);
    }

    /// Brings the weights up to date. Most often the arm chosen last was pulled, once, and nothing else.
    fn weigh_all(&mut self, pulls: &[u32], changes: u64) {
        let chosen = self.chosen;
        if changes == self.changes + 1 && pulls[chosen] == self.known[chosen] + 1 {
            self.weigh(chosen, pulls[chosen]);
        } else if changes != self.changes {
            if let Some(lazy) = &mut self.lazy {
                lazy.forget();
            }
            for (arm, &pulls) in pulls.iter().enumerate() {
                if self.known[arm] != pulls {
                    self.weigh(arm, pulls);
                }
            }
        }
        self.changes = changes;
    }
}

impl<I: Index, E: Estimator + ?Sized> Rule<E> for Indexed<I> {
    const OPENS_WITH_EVERY_ARM: bool = true;

    fn choose(&mut self, beliefs: &mut Beliefs<'_, E>, _: &mut Rng) -> Arm {
        if let Some(arm) = beliefs.first_unpulled {
            return arm;
        }
        self.weigh_all(beliefs.pulls, beliefs.changes);
        let (question, index) = (beliefs.question, &self.index);
        if let Some(lazy) = &mut self.lazy
            && let Some(moving) = beliefs.estimator.lazy_means()
        {
            self.chosen = lazy.arg_min(index, &question, moving, &self.weights);
            return self.chosen;
        }
        self.chosen = arg_min(
            beliefs.estimator.means(),
            &self.weights,
            #[inline(always)]
            |mean, weight| index.index(&question, mean, weight),
        );
        self.chosen
    }
}
