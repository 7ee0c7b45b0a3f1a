//! The published numbers, replayed from the random stream of the paper's authors.
//!
//! One `RandomState(0)` per experiment, read in sequence: θ, the arms, then one normal per curve, budget, run and round;
//! `random` draws its arm before the normal. This is how the authors' released code reads it.

use crate::published::numpy::RandomState;
use crate::{Entrant, Experiment, Instance, RunError};
use cutline::estimators::Ridge;
use cutline::rules::{Choice, Rule};
use cutline::{AskTell, Beliefs, Budget, Learner, Rng, SpecError};
use rayon::prelude::*;
use serde::Serialize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One published cell and its replay.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplayedCell {
    /// The name of the curve in the publication.
    pub curve: String,
    /// The budget.
    pub budget: u32,
    /// The runs.
    pub runs: u64,
    /// The runs that succeeded in the replay.
    pub successes: u64,
    /// The published success rate.
    pub published: f64,
}

impl ReplayedCell {
    /// Whether the replay gives the published number to all printed decimals. Rates over n runs are multiples of 1/n.
    #[must_use]
    pub fn matches(&self) -> bool {
        (self.successes as f64 - self.published * self.runs as f64).abs() < 1e-6
    }
}

/// Replays every published curve of an experiment, in their order; none if its instance is not the published one.
/// `watch` is called with the number of pulls as they are made.
///
/// # Errors
/// If an algorithm cannot work with the instance or a budget.
pub fn replay(experiment: &Experiment, watch: &dyn Fn(u64)) -> Result<Vec<ReplayedCell>, RunError> {
    replay_until(experiment, &|pulls| {
        watch(pulls);
        Ok(())
    })
}

/// Replays several experiments in parallel; the cells of each, in their order. It ends at the first error, including those of
/// `watch`, which is called with the number of pulls as they are made.
///
/// # Errors
/// As [`replay`], and those of `watch`.
pub fn replay_all<E: From<RunError> + Send>(
    experiments: &[Experiment],
    watch: &(dyn Fn(u64) -> Result<(), E> + Sync),
) -> Result<Vec<Vec<ReplayedCell>>, E> {
    // A stream is read in sequence, so an experiment takes one thread. The longest starts first.
    let mut order: Vec<usize> = (0..experiments.len()).collect();
    order
        .sort_by_key(|&position| std::cmp::Reverse(pulls(&experiments[position]) * n_features(&experiments[position])));
    let one = |&position: &usize| Ok((position, replay_until(&experiments[position], watch)?));
    let mut replayed = order.par_iter().with_max_len(1).map(one).collect::<Result<Vec<_>, E>>()?;
    replayed.sort_by_key(|(position, _)| *position);
    Ok(replayed.into_iter().map(|(_, cells)| cells).collect())
}

/// The number of pulls that the replay of an experiment takes.
#[must_use]
pub fn pulls(experiment: &Experiment) -> u64 {
    let pulls_per_run: u64 = experiment.budgets().iter().copied().map(u64::from).sum();
    experiment.published().iter().map(|published| published.runs() * pulls_per_run).sum()
}

fn n_features(experiment: &Experiment) -> u64 {
    let arms = experiment.source().fixed().map(Instance::arms);
    arms.map_or(1, |arms| (arms.n_arms() * arms.dimension().unwrap_or(1)) as u64)
}

fn replay_until<E: From<RunError>>(
    experiment: &Experiment,
    watch: &dyn Fn(u64) -> Result<(), E>,
) -> Result<Vec<ReplayedCell>, E> {
    let instance = experiment.source().instance(0).map_err(|error| RunError::Instance { run: 0, error })?;
    let Some(state) = experiment.source().published_stream() else { return Ok(Vec::new()) };
    let state = Arc::new(Mutex::new(state.clone()));
    let mut replayed = Vec::new();
    for curve in experiment.published() {
        let entrant = &experiment.entrants()[curve.entrant()];
        for (&budget, &published) in experiment.budgets().iter().zip(curve.success()) {
            let mut successes = 0;
            for run in 0..curve.runs() {
                let mut learner = learner(entrant, &instance, budget, &state)
                    .map_err(|error| RunError::Algorithm { label: entrant.label().into(), error })?;
                while let Some(arm) = learner.ask() {
                    let noise = lock(&state).normal();
                    let told = learner.tell(arm, instance.means()[arm] + experiment.noise().scale() * noise);
                    told.map_err(|error| RunError::Reward { run, error })?;
                }
                successes += u64::from(instance.n_errors(learner.beliefs().means().iter().copied()) == 0);
                watch(u64::from(budget))?;
            }
            let (curve, runs) = (curve.curve().to_owned(), curve.runs());
            replayed.push(ReplayedCell { curve, budget, runs, successes, published });
        }
    }
    Ok(replayed)
}

/// A learner that draws its random arms, if it draws any, from the stream.
fn learner(
    entrant: &Entrant,
    instance: &Instance,
    budget: u32,
    state: &Arc<Mutex<RandomState>>,
) -> Result<Box<dyn AskTell>, SpecError> {
    if entrant.spec().algorithm().rule != "uniform" {
        return entrant.learner(instance, budget, 0);
    }
    let rule = ReplayedUniform { state: Arc::clone(state) };
    let lambda = entrant.spec().values().find(|(name, _)| *name == "lambda").map_or(1.0, |(_, lambda)| lambda);
    let ridge = Ridge::new(instance.arms(), lambda)?;
    Ok(Box::new(Learner::new(rule, ridge, Budget::new(budget)?, instance.question(), 0)?))
}

/// [`Uniform`](cutline::rules::Uniform), with its arms drawn from the authors' stream.
struct ReplayedUniform {
    state: Arc<Mutex<RandomState>>,
}

impl<E: ?Sized> Rule<E> for ReplayedUniform {
    const OPENS_WITH_EVERY_ARM: bool = true;

    fn choose(&mut self, beliefs: &mut Beliefs<'_, E>, _: &mut Rng) -> Choice {
        let n_arms = u32::try_from(beliefs.pulls.len()).unwrap_or(u32::MAX);
        beliefs.first_unpulled.unwrap_or_else(|| lock(&self.state).below(n_arms) as usize).into()
    }
}

/// No code that could panic runs while the lock is held, so a poisoned one is intact.
fn lock(state: &Mutex<RandomState>) -> MutexGuard<'_, RandomState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
