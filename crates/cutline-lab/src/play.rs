//! Plays the runs of every entrant, in batches where an algorithm supports it.
//!
//! The result of a run is the same in a batch and individually, to the last bit.

use crate::monte_carlo::RunError;
use crate::{Experiment, Instance};
use cutline::{AskTell, BatchLearner, Purpose, StopReason, stream};
use rand::Rng as _;
use std::borrow::Cow;

/// One run: its instance, its noise, and its results.
pub(crate) struct Run<'a> {
    instance: Cow<'a, Instance>,
    /// The seed of its learners.
    seed: u64,
    /// The random number behind the reward of each pull, whichever arm is pulled: the same for all entrants.
    variates: Vec<f64>,
    /// The results, by entrant and then budget.
    results: Vec<Outcome>,
}

/// The result of one entrant at one budget.
#[derive(Clone, Copy, Default)]
pub(crate) struct Outcome {
    /// The number of arms on the wrong side.
    pub(crate) errors: u32,
    /// The pulls after which the confidence stop ended the run, if it did not use up the budget; those of a pilot do not count.
    pub(crate) stopped_after: Option<u64>,
}

impl<'a> Run<'a> {
    /// Draws the run of that number.
    pub(crate) fn new(experiment: &'a Experiment, run: u64) -> Result<Self, RunError> {
        let instance = experiment.source().instance(run).map_err(|error| RunError::Instance { run, error })?;
        experiment.check_probabilities(&instance, run)?;
        let most = experiment.budgets().last().copied().unwrap_or(0);
        let mut variates = vec![0.0; most as usize];
        experiment.noise().draw(&mut stream(experiment.seed(), Purpose::Noise, run), &mut variates);
        let seed = stream(experiment.seed(), Purpose::Learner, run).next_u64();
        let results = vec![Outcome::default(); experiment.entrants().len() * experiment.budgets().len()];
        Ok(Self { instance, seed, variates, results })
    }

    /// The results, by entrant and then budget.
    pub(crate) fn results(&self) -> &[Outcome] {
        &self.results
    }
}

/// Plays every entrant in every run.
pub(crate) fn play(experiment: &Experiment, runs: &mut [Run<'_>]) -> Result<(), RunError> {
    let n_budgets = experiment.budgets().len();
    for (position, entrant) in experiment.entrants().iter().enumerate() {
        // An entrant that is not anytime is played separately for each budget.
        let at_once = if entrant.is_anytime() { n_budgets } else { 1 };
        for (chunk, budgets) in experiment.budgets().chunks(at_once).enumerate() {
            let first = position * n_budgets + chunk * at_once;
            // A batch starts without rewards, so only individual learners can be given a pilot.
            let batch = if experiment.pilot().is_empty() {
                let instances: Vec<&Instance> = runs.iter().map(|run| &*run.instance).collect();
                entrant.batch(&instances, budgets)
            } else {
                None
            };
            if let Some(mut learners) = batch {
                play_batch(&mut learners, experiment, runs, budgets, first);
                continue;
            }
            for run in &mut *runs {
                let most = budgets.last().copied().unwrap_or(0);
                let mut learner = experiment.learner(entrant, &run.instance, most, run.seed)?;
                play_individually(learner.as_mut(), experiment, run, budgets, first);
            }
        }
    }
    Ok(())
}

/// Plays one learner; its results at each budget go to the cells from `first` on. A learner that has stopped stays as it was.
fn play_individually(
    learner: &mut dyn AskTell,
    experiment: &Experiment,
    run: &mut Run<'_>,
    budgets: &[u32],
    first: usize,
) {
    let (noise, pilot) = (experiment.noise(), experiment.pilot().len() as u64);
    let mut pulled = 0;
    for (cell, &budget) in (first..).zip(budgets) {
        for &variate in &run.variates[pulled..budget as usize] {
            let Some(arm) = learner.ask() else { break };
            learner.tell(arm, noise.reward(run.instance.means()[arm], variate));
        }
        pulled = budget as usize;
        let is_confident = learner.stop_reason() == Some(StopReason::Confidence);
        let mut beliefs = learner.beliefs();
        run.results[cell] = Outcome {
            errors: run.instance.n_errors(beliefs.means().iter().copied()),
            stopped_after: is_confident.then_some(beliefs.total_pulls - pilot),
        };
    }
}

/// Plays a batch of runs, otherwise as [`play_individually`].
fn play_batch(
    learners: &mut BatchLearner,
    experiment: &Experiment,
    runs: &mut [Run<'_>],
    budgets: &[u32],
    first: usize,
) {
    let noise = experiment.noise();
    let mut pulled = 0;
    for (cell, &budget) in (first..).zip(budgets) {
        for pull in pulled..budget as usize {
            learners.pull(|run, arm| {
                let run = &runs[run];
                noise.reward(run.instance.means()[arm], run.variates[pull])
            });
        }
        pulled = budget as usize;
        for (number, run) in runs.iter_mut().enumerate() {
            run.results[cell] = Outcome { errors: run.instance.n_errors(learners.means(number)), stopped_after: None };
        }
    }
}
