//! Plays runs: every entrant (an algorithm of the experiment, with its parameters) on the same instance and noise.
//!
//! Runs are played in batches if the algorithm supports it, else individually; the results are the same to the last bit.

use crate::experiment::noise::ArmNoise;
use crate::run::monte_carlo::RunError;
use crate::run::per_run::ArmResults;
use crate::{Experiment, Instance};
use cutline::{AskTell, BatchLearner, Decision, Purpose, StopReason, stream};
use rand::Rng as _;
use std::borrow::Cow;

/// How many pulls of a batch are played between two checks for an interruption.
const BATCH_INTERVAL: usize = 1024;

/// How many pulls of an individual learner are played between two checks; one pull among many arms may take a tenth of a second.
const INTERVAL: usize = 16;

/// One run: its instance, its noise, and its results.
pub(crate) struct Run<'a> {
    number: u64,
    instance: Cow<'a, Instance>,
    /// The noise of its arms.
    noise: ArmNoise<'a>,
    /// The seed of its learners.
    seed: u64,
    /// One random number per pull, from which its reward is computed, whichever arm is pulled. All entrants get the same numbers.
    variates: Vec<f64>,
    /// The results, by entrant and then budget.
    results: Vec<EntrantResult>,
    /// The results of the arms in the same order, if they are recorded.
    arms: Vec<ArmResults>,
}

/// The result of one entrant at one budget.
#[derive(Clone)]
pub(crate) struct EntrantResult {
    /// The number of arms on the wrong side.
    pub(crate) errors: u32,
    /// The number of pulls.
    pub(crate) pulls: u64,
    /// Why the run ended, by its stop or at this budget.
    pub(crate) stop: StopReason,
    /// The number of rewards at which each arm was called above for good, in their order.
    pub(crate) outputs: Vec<u64>,
}

/// How runs are played.
#[derive(Clone, Copy)]
pub(crate) struct Manner<'a> {
    /// Whether the results of the arms are recorded.
    pub(crate) records_arms: bool,
    /// Whether to give up; asked regularly within a run.
    pub(crate) is_interrupted: &'a (dyn Fn() -> bool + Sync),
}

impl<'a> Run<'a> {
    /// Draws the instance and the noise of run number `run`.
    pub(crate) fn new(experiment: &'a Experiment, run: u64) -> Result<Self, RunError> {
        let instance = experiment.source().instance(run).map_err(|error| RunError::Instance { run, error })?;
        experiment.check_noise(&instance, run)?;
        let draw = if experiment.source().fixed().is_some() { 0 } else { run };
        let noise = experiment.noise().of_arms(experiment.seed(), draw, instance.means().len());
        let max_budget = experiment.budgets().last().copied().unwrap_or(0);
        let mut variates = vec![0.0; max_budget as usize];
        experiment.noise().draw(experiment.seed(), run, &mut variates);
        let seed = stream(experiment.seed(), Purpose::Learner, run).next_u64();
        Ok(Self { number: run, instance, noise, seed, variates, results: Vec::new(), arms: Vec::new() })
    }

    /// Its number.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Its instance.
    pub(crate) fn instance(&self) -> &Instance {
        &self.instance
    }

    /// The results, by entrant and then budget.
    pub(crate) fn results(&self) -> &[EntrantResult] {
        &self.results
    }

    /// The results of the arms in the same order; none if they were not recorded.
    pub(crate) fn arms(&self) -> &[ArmResults] {
        &self.arms
    }
}

/// Plays every entrant in every run.
pub(crate) fn play(experiment: &Experiment, runs: &mut [Run<'_>], manner: Manner<'_>) -> Result<(), RunError> {
    for entrant in experiment.entrants() {
        // An entrant that is not anytime is played separately for each budget.
        let at_once = if entrant.is_anytime() { experiment.budgets().len() } else { 1 };
        for budgets in experiment.budgets().chunks(at_once) {
            let instances: Vec<&Instance> = runs.iter().map(|run| &*run.instance).collect();
            let batch = entrant.batch(&instances, budgets);
            if let Some(mut learners) = batch {
                play_batch(&mut learners, runs, budgets, manner)?;
                continue;
            }
            for run in &mut *runs {
                let max_budget = budgets.last().copied().unwrap_or(0);
                let mut learner = entrant.run_learner(&run.instance, max_budget, run.seed)?;
                play_individually(
                    learner.as_mut(),
                    entrant.decision(),
                    experiment.noise().scale(),
                    run,
                    budgets,
                    manner,
                )?;
            }
        }
    }
    Ok(())
}

/// Plays one learner and adds its results at the budgets to the run. After an early stop the results stay the same. A joint decision is for rewards
/// of standard deviation `sigma`.
fn play_individually(
    learner: &mut dyn AskTell,
    decision: &Decision,
    sigma: f64,
    run: &mut Run<'_>,
    budgets: &[u32],
    manner: Manner<'_>,
) -> Result<(), RunError> {
    let mut pulled = 0;
    for &budget in budgets {
        'pulls: for variates in run.variates[pulled..budget as usize].chunks(INTERVAL) {
            if (manner.is_interrupted)() {
                return Err(RunError::Interrupted);
            }
            for &variate in variates {
                let Some(arm) = learner.ask() else { break 'pulls };
                let told = learner.tell(arm, run.noise.reward(arm, run.instance.means()[arm], variate));
                told.map_err(|error| RunError::Reward { run: run.number, error })?;
            }
        }
        pulled = budget as usize;
        let stop = learner.stop_reason().unwrap_or(StopReason::Budget);
        let mut beliefs = learner.beliefs();
        let pulls = beliefs.total_pulls;
        let above = beliefs.sides(decision, sigma, run.seed);
        let estimate = |&is_above: &bool| if is_above { f64::INFINITY } else { f64::NEG_INFINITY };
        let errors = run.instance.n_errors(above.iter().map(estimate));
        let outputs = beliefs.settled.in_order().iter().filter(|arm| arm.is_above).map(|arm| arm.after).collect();
        run.results.push(EntrantResult { errors, pulls, stop, outputs });
        if manner.records_arms {
            let means = beliefs.means().to_vec();
            let settled = beliefs.settled.in_order().to_vec();
            run.arms.push(ArmResults { pulls: beliefs.pulls.to_vec(), means, above, settled });
        }
    }
    Ok(())
}

/// As [`play_individually`], for a batch of runs.
fn play_batch(
    learners: &mut BatchLearner,
    runs: &mut [Run<'_>],
    budgets: &[u32],
    manner: Manner<'_>,
) -> Result<(), RunError> {
    let n_counted = if manner.records_arms { runs.len() } else { 0 };
    let mut arm_pulls: Vec<Vec<u32>> =
        runs[..n_counted].iter().map(|run| vec![0; run.instance.means().len()]).collect();
    let mut pulled = 0;
    for &budget in budgets {
        while pulled < budget as usize {
            if (manner.is_interrupted)() {
                return Err(RunError::Interrupted);
            }
            let end = (budget as usize).min(pulled + BATCH_INTERVAL);
            let reward = |number: usize, arm: usize, pull: usize| {
                let run: &Run<'_> = &runs[number];
                run.noise.reward(arm, run.instance.means()[arm], run.variates[pull])
            };
            // Two loops, because counting takes a tenth of a pull.
            if manner.records_arms {
                for pull in pulled..end {
                    learners.pull(|number, arm| {
                        arm_pulls[number][arm] += 1;
                        reward(number, arm, pull)
                    });
                }
            } else {
                for pull in pulled..end {
                    learners.pull(|number, arm| reward(number, arm, pull));
                }
            }
            pulled = end;
        }
        for (number, run) in runs.iter_mut().enumerate() {
            let errors = run.instance.n_errors(learners.means(number));
            run.results.push(EntrantResult {
                errors,
                pulls: budget.into(),
                stop: StopReason::Budget,
                outputs: Vec::new(),
            });
            if let Some(pulls) = arm_pulls.get(number) {
                let question = run.instance.question();
                let means: Vec<f64> = learners.means(number).collect();
                let above = means.iter().map(|&mean| question.is_above(mean)).collect();
                run.arms.push(ArmResults { pulls: pulls.clone(), means, above, settled: Vec::new() });
            }
        }
    }
    Ok(())
}
