//! Rules that are an index: every arm once, then the arm with the least index of its mean and its pulls.

use super::{Beliefs, Rule};
use crate::estimators::Estimator;
use crate::{Arm, Question, Rng, arg_min};

/// An index of an arm's mean and pulls, least is best. [`Indexed`] makes a rule of it.
///
/// The index is split in two: [`weight`](Index::weight) is all that depends on the pulls, computed when an arm is pulled;
/// [`index`](Index::index) is computed for every arm at every choice, so it should be cheap.
pub trait Index {
    /// What the pulls of an arm count for; `pulls` is at least 1.
    fn weight(&self, pulls: u32) -> f64;

    /// The index of an arm with this mean and weight.
    fn index(&self, question: &Question, mean: f64, weight: f64) -> f64;
}

/// The rule of an [`Index`]: arms not pulled yet come first, in their order; ties go to the first arm.
#[derive(Clone, Debug)]
pub struct Indexed<I> {
    index: I,
    weights: Vec<f64>,
    /// The pulls that the weights were computed for.
    known: Vec<u32>,
}

impl<I: Index> Indexed<I> {
    /// The rule of `index` for `n_arms` arms.
    #[must_use]
    pub fn new(index: I, n_arms: usize) -> Self {
        Self { index, weights: vec![0.0; n_arms], known: vec![0; n_arms] }
    }
}

impl<I: Index, E: Estimator + ?Sized> Rule<E> for Indexed<I> {
    const OPENS_WITH_EVERY_ARM: bool = true;

    fn choose(&mut self, beliefs: &mut Beliefs<'_, E>, _: &mut Rng) -> Arm {
        if let Some(arm) = beliefs.first_unpulled {
            return arm;
        }
        let Self { index, weights, known } = self;
        // Eight at a time, because few pulls change between two choices and eight are compared at once.
        let blocks = known.as_chunks_mut::<8>();
        let pulls = beliefs.pulls.as_chunks::<8>();
        let (whole, rest) = weights.as_chunks_mut::<8>();
        for ((known, weights), pulls) in blocks.0.iter_mut().zip(whole).zip(pulls.0) {
            if known != pulls {
                *known = *pulls;
                weigh(index, weights, pulls);
            }
        }
        if blocks.1 != pulls.1 {
            blocks.1.copy_from_slice(pulls.1);
            weigh(index, rest, pulls.1);
        }
        let question = beliefs.question;
        arg_min(
            beliefs.estimator.means(),
            weights,
            #[inline(always)]
            |mean, weight| index.index(&question, mean, weight),
        )
    }
}

fn weigh(index: &impl Index, weights: &mut [f64], pulls: &[u32]) {
    for (weight, &pulls) in weights.iter_mut().zip(pulls) {
        *weight = index.weight(pulls);
    }
}
