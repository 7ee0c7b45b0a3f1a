//! How often intervals contain the true means, measured by simulation.
//!
//! With ridge, θ ~ N(0, σ²/λ I) and the features are uniform on [−1, 1]: the model is exact, and with Gaussian noise so is the
//! posterior, whichever arms the rule pulls. Without ridge, the means are N(0, σ²), and the interval of a sample mean is exact
//! if the rule ignores the rewards.

use cutline::{Arms, AskTell, Confidence, EstimatorKind, Purpose, Rng, Spec, stream};
use cutline_lab::{Instance, InstanceError, Noise, RunError, Threshold};
use rand::{Rng as _, RngExt};
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;
use std::ops::Range;

/// Where coverage is measured: an algorithm, the size of its problems, and their noise.
#[derive(Clone, Debug)]
pub struct CoverageSetting {
    /// The algorithm.
    pub spec: Spec,
    /// K.
    pub n_arms: usize,
    /// d; ignored without ridge.
    pub dimension: usize,
    /// The number of pulls per run.
    pub budget: u32,
    /// The noise of a measurement.
    pub noise: Noise,
    /// The seed of everything random.
    pub seed: u64,
}

/// How often intervals contained the true means.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Coverage {
    runs: u64,
    n_arms: u64,
    /// The number of arms whose interval contained their mean at the end, and its square, summed over runs.
    at_end: u64,
    at_end_squared: u64,
    always: u64,
    width: f64,
}

impl Coverage {
    /// The share of arms whose interval contained their mean at the end of a run, and its standard error over runs.
    #[must_use]
    pub fn share_at_end(&self) -> (f64, f64) {
        let (runs, k) = (self.runs as f64, self.n_arms as f64);
        let share = self.at_end as f64 / (runs * k);
        let square = self.at_end_squared as f64 / (runs * k * k);
        (share, ((square - share * share).max(0.0) / runs).sqrt())
    }

    /// The number of runs in which the intervals of all arms contained their means before every pull and at the end.
    #[must_use]
    pub fn runs_always_covered(&self) -> u64 {
        self.always
    }

    /// The mean width of an interval at the end.
    #[must_use]
    pub fn mean_width(&self) -> f64 {
        self.width / self.runs as f64
    }

    fn count(&mut self, run: &RunCoverage) {
        self.runs += 1;
        self.n_arms = run.n_arms;
        self.at_end += run.at_end;
        self.at_end_squared += run.at_end * run.at_end;
        self.always += u64::from(run.always);
        self.width += run.width;
    }
}

/// The coverage of each of `confidences` over the same runs.
///
/// # Errors
/// If the algorithm cannot work with the instances or the budget.
pub fn coverage(
    setting: &CoverageSetting,
    confidences: &[Confidence],
    runs: Range<u64>,
) -> Result<Vec<Coverage>, RunError> {
    let played: Vec<Vec<RunCoverage>> =
        runs.into_par_iter().map(|run| play(setting, confidences, run)).collect::<Result<_, _>>()?;
    let mut coverages = vec![Coverage::default(); confidences.len()];
    // Summed in the order of the runs, so that the widths do not depend on the number of threads.
    for run in &played {
        coverages.iter_mut().zip(run).for_each(|(coverage, run)| coverage.count(run));
    }
    Ok(coverages)
}

/// The coverage of one kind of intervals in a run.
struct RunCoverage {
    n_arms: u64,
    /// The arms whose interval contains their mean now.
    at_end: u64,
    /// Whether all intervals contained their means so far.
    always: bool,
    width: f64,
}

/// Plays one run; checks all intervals before each pull and at the end.
fn play(setting: &CoverageSetting, confidences: &[Confidence], run: u64) -> Result<Vec<RunCoverage>, RunError> {
    let CoverageSetting { spec, budget, noise, seed, .. } = setting;
    let instance = instance(setting, run).map_err(|error| RunError::Instance { run, error })?;
    let refused = |error| RunError::Algorithm { label: spec.algorithm().name.into(), error };
    let learner_seed = stream(*seed, Purpose::Learner, run).next_u64();
    let mut learner = spec.learner(instance.arms(), instance.question(), *budget, learner_seed).map_err(refused)?;
    let mut variates = vec![0.0; *budget as usize];
    noise.draw(&mut stream(*seed, Purpose::Noise, run), &mut variates);

    let mut all: Vec<RunCoverage> =
        confidences.iter().map(|confidence| covered(learner.as_mut(), confidence, &instance)).collect();
    for variate in variates {
        let Some(arm) = learner.ask() else { break };
        learner.tell(arm, noise.reward(instance.means()[arm], variate)).expect("a finite reward");
        for (coverage, confidence) in all.iter_mut().zip(confidences) {
            let now = covered(learner.as_mut(), confidence, &instance);
            *coverage = RunCoverage { always: coverage.always && now.always, ..now };
        }
    }
    Ok(all)
}

/// The coverage of the intervals now.
fn covered(learner: &mut dyn AskTell, confidence: &Confidence, instance: &Instance) -> RunCoverage {
    let mut beliefs = learner.beliefs();
    let n_arms = instance.means().len();
    let (mut at_end, mut width) = (0, 0.0);
    for (verdict, mean) in beliefs.verdicts(confidence).zip(instance.means()) {
        at_end += u64::from((verdict.lower..=verdict.upper).contains(mean));
        width += (verdict.upper - verdict.lower) / n_arms as f64;
    }
    RunCoverage { n_arms: n_arms as u64, at_end, always: at_end == n_arms as u64, width }
}

/// An instance for which the model is exact.
fn instance(setting: &CoverageSetting, run: u64) -> Result<Instance, InstanceError> {
    let CoverageSetting { spec, n_arms, dimension, noise, seed, .. } = setting;
    let mut rng = stream(*seed, Purpose::Instance, run);
    let normals = |n: usize, scale: f64, rng: &mut Rng| -> Vec<f64> {
        (0..n).map(|_| scale * <StandardNormal as Distribution<f64>>::sample(&StandardNormal, rng)).collect()
    };
    if spec.estimator() != EstimatorKind::Ridge {
        return Instance::unstructured(normals(*n_arms, noise.scale(), &mut rng), Threshold::Value(0.0), 0.0);
    }
    let lambda = spec.values().find(|(name, _)| *name == "lambda").map_or(1.0, |(_, lambda)| lambda);
    let theta = normals(*dimension, noise.scale() / lambda.sqrt(), &mut rng);
    let features: Vec<f64> = (0..n_arms * dimension).map(|_| 2.0 * rng.random::<f64>() - 1.0).collect();
    Instance::linear(Arms::from_slice(&features, *dimension)?, theta, Threshold::Value(0.0), 0.0)
}
