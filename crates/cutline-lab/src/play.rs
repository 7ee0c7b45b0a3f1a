//! Plays runs: every entrant (an algorithm of the experiment, with its parameters) on the same instance and noise.
//!
//! Runs are played in batches if the algorithm supports it, else individually; the results are the same to the last bit.

use crate::monte_carlo::RunError;
use crate::{Experiment, Instance};
use cutline::{Arm, AskTell, BatchLearner, Purpose, StopReason, stream};
use rand::Rng as _;
use std::borrow::Cow;

/// One run: its instance, its noise, and its results.
pub(crate) struct Run<'a> {
    instance: Cow<'a, Instance>,
    /// The seed of its learners.
    seed: u64,
    /// One random number per pull, from which its reward is computed, whichever arm is pulled. All entrants get the same numbers.
    variates: Vec<f64>,
    /// The results, by entrant and then budget.
    results: Vec<Outcome>,
}

/// The result of one entrant at one budget.
#[derive(Clone, Copy, Default)]
pub(crate) struct Outcome {
    /// The number of arms on the wrong side.
    pub(crate) errors: u32,
    /// The number of pulls after which the run ended early; `None` if the budget ended it.
    pub(crate) stopped_after: Option<u64>,
}

impl<'a> Run<'a> {
    /// Draws the instance and the noise of run number `run`.
    pub(crate) fn new(experiment: &'a Experiment, run: u64) -> Result<Self, RunError> {
        let instance = experiment.source().instance(run).map_err(|error| RunError::Instance { run, error })?;
        experiment.check_probabilities(&instance, run)?;
        let max_budget = experiment.budgets().last().copied().unwrap_or(0);
        let mut variates = vec![0.0; max_budget as usize];
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
            let first_cell = position * n_budgets + chunk * at_once;
            let instances: Vec<&Instance> = runs.iter().map(|run| &*run.instance).collect();
            let batch = entrant.batch(&instances, budgets);
            if let Some(mut learners) = batch {
                play_batch(&mut learners, experiment, runs, budgets, first_cell);
                continue;
            }
            for run in &mut *runs {
                let max_budget = budgets.last().copied().unwrap_or(0);
                let mut learner = entrant.run_learner(&run.instance, max_budget, run.seed)?;
                play_individually(learner.as_mut(), experiment, run, budgets, first_cell);
            }
        }
    }
    Ok(())
}

/// Plays one learner and stores its results at the budgets in `run.results`, beginning with `first_cell`. After an early stop the
/// results stay the same.
fn play_individually(
    learner: &mut dyn AskTell,
    experiment: &Experiment,
    run: &mut Run<'_>,
    budgets: &[u32],
    first_cell: usize,
) {
    let noise = experiment.noise();
    let mut pulled = 0;
    for (cell, &budget) in (first_cell..).zip(budgets) {
        for &variate in &run.variates[pulled..budget as usize] {
            let Some(arm) = learner.ask() else { break };
            learner.tell(arm, noise.reward(run.instance.means()[arm], variate));
        }
        pulled = budget as usize;
        let has_ended_early = learner.stop_reason().is_some_and(|reason| reason != StopReason::Budget);
        let mut beliefs = learner.beliefs();
        let (settled, total_pulls) = (beliefs.settled, beliefs.total_pulls);
        // A settled side counts whatever the mean says.
        let estimate = |(arm, &mean): (Arm, &f64)| match settled.side(arm) {
            None => mean,
            Some(true) => f64::INFINITY,
            Some(false) => f64::NEG_INFINITY,
        };
        run.results[cell] = Outcome {
            errors: run.instance.n_errors(beliefs.means().iter().enumerate().map(estimate)),
            stopped_after: has_ended_early.then_some(total_pulls),
        };
    }
}

/// As [`play_individually`], for a batch of runs.
fn play_batch(
    learners: &mut BatchLearner,
    experiment: &Experiment,
    runs: &mut [Run<'_>],
    budgets: &[u32],
    first_cell: usize,
) {
    let noise = experiment.noise();
    let mut pulled = 0;
    for (cell, &budget) in (first_cell..).zip(budgets) {
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
