//! Whether the verdicts of a campaign mean what they say, measured by simulation: how often intervals contain the means, and how often
//! calls of a given doubt are wrong.
//!
//! Campaigns are played as a user's would be, measurement by measurement through [`CampaignState`], on truths for which the model does and
//! does not hold.

use cutline::{Arm, Arms, ArmsError, Purpose, Rng, Spec, stream};
use cutline_campaign::{CampaignState, Event, Terms, TermsError};
use cutline_lab::{Instance, InstanceError, Threshold};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal, StudentT};
use rayon::prelude::*;
use std::ops::Range;
use thiserror::Error;

/// How the means depend on the features, which are standard normal. The means have mean 0 and variance 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MeanFunction {
    /// Linear in the features, except for this share of the variance, which is each arm's own: 0 for linear, 1 for unrelated means.
    Linear {
        /// The share of the variance that the features do not explain.
        own: f64,
    },
    /// Σ aⱼ sin(1.5 xⱼ + φⱼ): smooth, but not linear.
    Smooth,
}

/// The noise of a measurement, with standard deviation σ on average.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MeasurementNoise {
    /// Gaussian.
    Gaussian(f64),
    /// Student's t with three degrees of freedom.
    HeavyTails(f64),
    /// Gaussian, with a standard deviation of its own for each arm: log-normal with a standard deviation of 0.5 in the logarithm.
    Unequal(f64),
    /// Rewards are 0 or 1, with means 0.5 + 0.2 times the standardised ones, within [0.02, 0.98]; the threshold is 0.5.
    Bernoulli,
}

/// A problem whose truth is known.
#[derive(Clone, Debug)]
pub struct KnownTruth {
    /// Arms, means and question.
    pub instance: Instance,
    /// The noise of a measurement.
    pub noise: MeasurementNoise,
    /// The standard deviation of each arm's noise, in units of σ.
    factors: Vec<f64>,
}

/// Why a calibration could not be measured.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CalibrationError {
    /// The campaign was refused.
    #[error(transparent)]
    Terms(#[from] TermsError),
    /// The instance was refused.
    #[error(transparent)]
    Instance(#[from] InstanceError),
    /// The arms were refused.
    #[error(transparent)]
    Arms(#[from] ArmsError),
}

impl KnownTruth {
    /// The means of an instance behind this noise. With [`MeasurementNoise::Unequal`] the seed determines the arms' factors.
    #[must_use]
    pub fn new(instance: Instance, noise: MeasurementNoise, seed: u64) -> Self {
        let mut rng = stream(seed, Purpose::Instance, 1);
        let mut factors = vec![1.0; instance.means().len()];
        if let MeasurementNoise::Unequal(_) = noise {
            factors.fill_with(|| (0.5 * normal(&mut rng)).exp());
            let mean_square = factors.iter().map(|factor| factor * factor).sum::<f64>() / factors.len() as f64;
            for factor in &mut factors {
                *factor /= mean_square.sqrt();
            }
        }
        Self { instance, noise, factors }
    }

    /// Synthetic means. The threshold is the mean of the means, the precision 0.
    ///
    /// # Errors
    /// If there are no arms or no features.
    pub fn synthetic(
        function: MeanFunction,
        noise: MeasurementNoise,
        n_arms: usize,
        dimension: usize,
        seed: u64,
    ) -> Result<Self, CalibrationError> {
        let mut rng = stream(seed, Purpose::Instance, 0);
        let mut draw = |n: usize| -> Vec<f64> { (0..n).map(|_| normal(&mut rng)).collect() };
        let (x, weights, own) = (draw(n_arms * dimension), draw(dimension), standardised(draw(n_arms)));
        let phases: Vec<f64> = (0..dimension).map(|_| std::f64::consts::TAU * rng.random::<f64>()).collect();
        let sum = |arm: Arm, of: &dyn Fn(usize, f64) -> f64| -> f64 {
            (0..dimension).map(|j| weights[j] * of(j, x[arm * dimension + j])).sum()
        };
        let means = match function {
            MeanFunction::Linear { own: share } => {
                let linear = standardised((0..n_arms).map(|arm| sum(arm, &|_, x| x)).collect());
                linear.iter().zip(own).map(|(linear, own)| (1.0 - share).sqrt() * linear + share.sqrt() * own).collect()
            }
            MeanFunction::Smooth => (0..n_arms).map(|arm| sum(arm, &|j, x| (1.5 * x + phases[j]).sin())).collect(),
        };
        let mut means = standardised(means);
        let mut threshold = 0.0;
        if noise == MeasurementNoise::Bernoulli {
            for mean in &mut means {
                *mean = (0.5 + 0.2 * *mean).clamp(0.02, 0.98);
            }
            threshold = 0.5;
        }
        let arms = Arms::from_slice(&x, dimension)?;
        let instance = Instance::with_means(arms, means, Threshold::Value(threshold), 0.0)?;
        Ok(Self::new(instance, noise, seed))
    }

    fn reward(&self, arm: Arm, rng: &mut Rng) -> f64 {
        let mean = self.instance.means()[arm];
        match self.noise {
            MeasurementNoise::Gaussian(sigma) | MeasurementNoise::Unequal(sigma) => {
                mean + sigma * self.factors[arm] * normal(rng)
            }
            MeasurementNoise::HeavyTails(sigma) => {
                let t: f64 = StudentT::new(3.0).expect("three degrees of freedom").sample(rng);
                mean + sigma * t / 3.0_f64.sqrt()
            }
            MeasurementNoise::Bernoulli => f64::from(u8::from(rng.random::<f64>() < mean)),
        }
    }
}

pub(crate) fn normal(rng: &mut Rng) -> f64 {
    StandardNormal.sample(rng)
}

/// The same numbers with mean 0 and variance 1.
pub(crate) fn standardised(mut values: Vec<f64>) -> Vec<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    for value in &mut values {
        *value -= mean;
    }
    let deviation = (values.iter().map(|value| value * value).sum::<f64>() / n).sqrt();
    for value in &mut values {
        *value /= deviation;
    }
    values
}

/// The terms of a campaign with the defaults: Pivot on the mixed model, σ learnt, 95 % intervals, no budget.
///
/// # Panics
/// Never: `pivot` works with `mixed`.
#[must_use]
pub fn default_terms(truth: &KnownTruth, seed: u64) -> Terms {
    Terms {
        seed,
        ..Terms::new(
            truth.instance.question(),
            Spec::named("pivot").and_then(|spec| spec.with_estimator("mixed")).expect("an algorithm and its model"),
            u32::MAX,
        )
    }
}

/// The upper ends of the bins of doubt.
pub const DOUBT_BINS: [f64; 6] = [0.001, 0.01, 0.05, 0.15, 0.3, 1.0];

/// Verdicts compared with the truth.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Calibration {
    /// The number of campaigns.
    pub runs: u64,
    /// The number of verdicts.
    pub verdicts: u64,
    /// How many intervals contained the mean.
    pub covered: u64,
    /// How many calls were wrong.
    pub wrong: u64,
    /// The sum of the doubts, which is the number of wrong calls to expect by the verdicts.
    pub doubts: f64,
    /// The number of measurements.
    pub measurements: u64,
    /// By doubt: how many verdicts, the sum of their doubts, and how many were wrong.
    pub bins: [(u64, f64, u64); DOUBT_BINS.len()],
}

impl Calibration {
    /// The share of intervals that contained the mean.
    #[must_use]
    pub fn coverage(&self) -> f64 {
        self.covered as f64 / self.verdicts as f64
    }

    /// Adds the results of other campaigns.
    pub fn add(&mut self, other: &Self) {
        self.runs += other.runs;
        self.verdicts += other.verdicts;
        self.covered += other.covered;
        self.wrong += other.wrong;
        self.doubts += other.doubts;
        self.measurements += other.measurements;
        for (bin, other) in self.bins.iter_mut().zip(other.bins) {
            *bin = (bin.0 + other.0, bin.1 + other.1, bin.2 + other.2);
        }
    }

    fn of(campaign: &mut CampaignState, instance: &Instance) -> Self {
        let question = instance.question();
        let mut counts = Self { runs: 1, measurements: campaign.progress().counted.into(), ..Self::default() };
        for (verdict, &mean) in campaign.verdicts().iter().zip(instance.means()) {
            let is_wrong = u64::from(question.is_error(mean, verdict.mean));
            counts.verdicts += 1;
            counts.covered += u64::from((verdict.lower..=verdict.upper).contains(&mean));
            counts.wrong += is_wrong;
            counts.doubts += verdict.doubt;
            let bin = DOUBT_BINS.iter().position(|end| verdict.doubt < *end).unwrap_or(DOUBT_BINS.len() - 1);
            let bin = &mut counts.bins[bin];
            *bin = (bin.0 + 1, bin.1 + verdict.doubt, bin.2 + is_wrong);
        }
        counts
    }
}

/// Plays one campaign per run on the truth that `truth` draws for it, and compares its verdicts with the truth after each of `budgets`
/// measurements, in rising order. `terms` makes the terms for a truth; a campaign that stops early is judged where it stopped.
///
/// # Errors
/// If a truth or a campaign is refused.
///
/// # Panics
/// Never: a ticket that was just handed out takes a reward.
pub fn calibrate(
    truth: impl Fn(u64) -> Result<KnownTruth, CalibrationError> + Sync,
    terms: impl Fn(&KnownTruth, u64) -> Terms + Sync,
    budgets: &[u32],
    runs: Range<u64>,
) -> Result<Vec<Calibration>, CalibrationError> {
    let play = |run: u64| -> Result<Vec<Calibration>, CalibrationError> {
        let truth = truth(run)?;
        let mut campaign = CampaignState::new(truth.instance.arms().clone(), terms(&truth, run))?;
        let mut rng = stream(run, Purpose::Noise, 0);
        let mut results = Vec::with_capacity(budgets.len());
        for &budget in budgets {
            while campaign.progress().counted < budget
                && let [Event::Asked { ticket, arm, .. }] = campaign.ask(1, "", 0, 1)[..]
            {
                campaign.tell(ticket, truth.reward(arm, &mut rng), 0).expect("a ticket that is open");
            }
            results.push(Calibration::of(&mut campaign, &truth.instance));
        }
        Ok(results)
    };
    let runs: Vec<Vec<Calibration>> = runs.into_par_iter().map(play).collect::<Result<_, _>>()?;
    let mut sums = vec![Calibration::default(); budgets.len()];
    for run in &runs {
        sums.iter_mut().zip(run).for_each(|(sum, run)| sum.add(run));
    }
    Ok(sums)
}
