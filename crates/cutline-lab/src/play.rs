//! Runs of every entrant, four side by side where an algorithm can play in step.
//!
//! What comes of a run does not depend on its company: in step or alone, it is the same to the last bit.

use crate::monte_carlo::RunError;
use crate::{Experiment, Instance};
use cutline::{AskTell, BatchLearner, Purpose, StopReason, stream};
use rand::Rng as _;
use std::borrow::Cow;

/// How many runs play side by side.
pub(crate) const TOGETHER: usize = 4;

/// One run: its instance, its noise, and what came of it.
pub(crate) struct Run<'a> {
    instance: Cow<'a, Instance>,
    /// The seed of its learners.
    seed: u64,
    /// What each pull's reward is made of, whichever arm it is of: the same for all entrants.
    variates: Vec<f64>,
    /// What came of it, by entrant and then budget.
    results: Vec<Outcome>,
}

/// What came of one entrant at one budget.
#[derive(Clone, Copy, Default)]
pub(crate) struct Outcome {
    /// The arms called wrongly.
    pub(crate) errors: u32,
    /// The pulls after which it was sure and ended, if it did not use up the budget; those of a pilot do not count.
    pub(crate) sure_after: Option<u64>,
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

    /// What came of it, by entrant and then budget.
    pub(crate) fn results(&self) -> &[Outcome] {
        &self.results
    }
}

/// Plays every entrant in every run.
pub(crate) fn play(experiment: &Experiment, runs: &mut [Run<'_>]) -> Result<(), RunError> {
    let n_budgets = experiment.budgets().len();
    for (position, entrant) in experiment.entrants().iter().enumerate() {
        // An entrant that is not anytime plays a run of its own for each budget.
        let at_once = if entrant.is_anytime() { n_budgets } else { 1 };
        for (chunk, budgets) in experiment.budgets().chunks(at_once).enumerate() {
            let first = position * n_budgets + chunk * at_once;
            // Runs in step start from nothing, so a pilot is told to learners alone.
            if experiment.pilot().is_empty()
                && let Ok(four) = <&mut [Run<'_>; TOGETHER]>::try_from(&mut *runs)
                && let Some(mut learners) = entrant.in_step(four.each_ref().map(|run| &*run.instance), budgets)
            {
                play_in_step(learners.as_mut(), experiment, four, budgets, first);
                continue;
            }
            for run in &mut *runs {
                let most = budgets.last().copied().unwrap_or(0);
                let mut learner = experiment.learner(entrant, &run.instance, most, run.seed)?;
                play_alone(learner.as_mut(), experiment, run, budgets, first);
            }
        }
    }
    Ok(())
}

/// Plays one learner; what came of it at each budget goes to the cells from `first` on. A learner that was sure stays as it was.
fn play_alone(learner: &mut dyn AskTell, experiment: &Experiment, run: &mut Run<'_>, budgets: &[u32], first: usize) {
    let (noise, pilot) = (experiment.noise(), experiment.pilot().len() as u64);
    let mut pulled = 0;
    for (cell, &budget) in (first..).zip(budgets) {
        for &variate in &run.variates[pulled..budget as usize] {
            let Some(arm) = learner.ask() else { break };
            learner.tell(arm, noise.reward(run.instance.means()[arm], variate));
        }
        pulled = budget as usize;
        let is_sure = learner.stop_reason() == Some(StopReason::Confidence);
        let mut beliefs = learner.beliefs();
        run.results[cell] = Outcome {
            errors: run.instance.n_errors(beliefs.means().iter().copied()),
            sure_after: is_sure.then_some(beliefs.total_pulls - pilot),
        };
    }
}

/// Plays four learners in step, otherwise as [`play_alone`].
fn play_in_step(
    learners: &mut dyn BatchLearner,
    experiment: &Experiment,
    runs: &mut [Run<'_>; 4],
    budgets: &[u32],
    first: usize,
) {
    let noise = experiment.noise();
    let mut pulled = 0;
    for (cell, &budget) in (first..).zip(budgets) {
        for pull in pulled..budget as usize {
            let arms = learners.ask();
            learners.tell(std::array::from_fn(|lane| {
                let run = &runs[lane];
                noise.reward(run.instance.means()[arms[lane]], run.variates[pull])
            }));
        }
        pulled = budget as usize;
        let means = learners.means();
        for (lane, run) in runs.iter_mut().enumerate() {
            let errors = run.instance.n_errors(means.iter().map(|means| means[lane]));
            run.results[cell] = Outcome { errors, sure_after: None };
        }
    }
}
