//! How often campaigns that stop early are wrong, measured by simulation.
//!
//! Every run is a campaign with the defaults of its model, on its own instance: K arms with d features uniform on [−1, 1]. With `ridge` the
//! means are linear in the features, with `mixed` partly so, with sample means not at all. Means have standard deviation 1, and no arm is
//! closer to the threshold than a given gap. The exception is [`RewardLaw::RarePass`], one arm that is unlike all others.

use cutline::{Arms, EstimatorKind, Purpose, Question, RewardKind, Rng, Spec, StopCriterion, StopReason, stream};
use cutline_campaign::{CampaignState, Event, Terms, TermsError};
use rand::{Rng as _, RngExt};
use rand_distr::{Distribution, Exp1, StandardNormal};
use rayon::prelude::*;
use std::ops::Range;

/// The threshold, away from 0, which ridge would shrink to.
const THRESHOLD: f64 = 3.0;

/// The rewards of a campaign.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum RewardLaw {
    /// Gaussian noise of this σ.
    Gaussian(f64),
    /// Gaussian noise of this σ, and the reward rounded to a multiple of [`RewardLaw::STEP`].
    Rounded(f64),
    /// Exponential noise of this σ: many rewards a little below the mean, a few far above it.
    Skewed(f64),
    /// 0 or 1, with probabilities that have this standard deviation over the arms.
    Bernoulli(f64),
    /// 0 or 1: one arm passes with probability 0.6, all others with 0.05, and the threshold is 0.3. Only with ridge do the features say which
    /// arm it is.
    RarePass,
}

/// Which campaigns are simulated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SureSetting {
    /// The model.
    pub estimator: EstimatorKind,
    /// The criterion for stopping early.
    pub criterion: StopCriterion,
    /// δ.
    pub delta: f64,
    /// The kind of the rewards, as the campaign is told.
    pub kind: RewardKind,
    /// σ as it is given, or `None` to estimate it from the rewards. [`RewardLaw::sigma`] is right.
    pub noise: Option<f64>,
    /// The rewards.
    pub rewards: RewardLaw,
    /// The number of arms K.
    pub n_arms: usize,
    /// The number of features d.
    pub dimension: usize,
    /// The least distance of a mean from the threshold.
    pub gap: f64,
    /// The largest number of measurements of a run.
    pub budget: u32,
    /// The seed of everything random.
    pub seed: u64,
}

/// How the runs of a setting ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SureCount {
    /// The number of runs.
    pub runs: u64,
    /// The number of runs that stopped early.
    pub sure: u64,
    /// The number of runs that stopped early and called some arm wrongly.
    pub sure_and_wrong: u64,
    /// The measurements of all runs together.
    pub pulls: u64,
}

impl RewardLaw {
    /// The step to which rewards are rounded.
    pub const STEP: f64 = 0.1;

    /// A σ for which rewards are σ-sub-Gaussian: that of Gaussian noise, and half the range of what is bounded. Skewed noise has none; this is its
    /// standard deviation.
    #[must_use]
    pub fn sigma(self) -> f64 {
        match self {
            Self::Gaussian(sigma) | Self::Skewed(sigma) => sigma,
            Self::Rounded(sigma) => sigma + Self::STEP / 2.0,
            Self::Bernoulli(_) | Self::RarePass => 0.5,
        }
    }

    /// The threshold in units of the rewards: where the means of [`instance`] have [`THRESHOLD`].
    fn threshold(self) -> f64 {
        match self {
            Self::Bernoulli(_) => 0.5,
            Self::RarePass => 0.3,
            _ => THRESHOLD,
        }
    }

    /// The reward of a measurement, where the means have standard deviation 1.
    fn reward(self, mean: f64, rng: &mut Rng) -> f64 {
        let normal = |rng: &mut Rng| -> f64 { StandardNormal.sample(rng) };
        match self {
            Self::Gaussian(sigma) => mean + sigma * normal(rng),
            Self::Rounded(sigma) => ((mean + sigma * normal(rng)) / Self::STEP).round() * Self::STEP,
            Self::Skewed(sigma) => {
                let exponential: f64 = Exp1.sample(rng);
                mean + sigma * (exponential - 1.0)
            }
            Self::Bernoulli(spread) => f64::from(u8::from(rng.random::<f64>() < probability(mean, spread))),
            Self::RarePass => {
                let p = if mean >= THRESHOLD { 0.6 } else { 0.05 };
                f64::from(u8::from(rng.random::<f64>() < p))
            }
        }
    }
}

/// The probability of a 1: ½ at the threshold.
fn probability(mean: f64, spread: f64) -> f64 {
    (0.5 + spread * (mean - THRESHOLD)).clamp(0.01, 0.99)
}

/// Plays these runs.
///
/// # Errors
/// If the terms are refused.
pub fn sure_and_wrong(setting: &SureSetting, runs: Range<u64>) -> Result<SureCount, TermsError> {
    let played: Vec<SureCount> = runs.into_par_iter().map(|run| play(setting, run)).collect::<Result<_, _>>()?;
    Ok(played.iter().fold(SureCount::default(), |sum, run| SureCount {
        runs: sum.runs + run.runs,
        sure: sum.sure + run.sure,
        sure_and_wrong: sum.sure_and_wrong + run.sure_and_wrong,
        pulls: sum.pulls + run.pulls,
    }))
}

fn play(setting: &SureSetting, run: u64) -> Result<SureCount, TermsError> {
    let (arms, means) = instance(setting, &mut stream(setting.seed, Purpose::Instance, run));
    let seed = stream(setting.seed, Purpose::Learner, run).next_u64();
    let (arms, terms) = terms(setting, arms, seed)?;
    let question = terms.question;
    let mut campaign = CampaignState::new(arms, terms)?;
    let mut rng = stream(setting.seed, Purpose::Noise, run);
    while let [Event::Asked { ticket, arm, .. }] = campaign.ask(1, "", 0, 1)[..] {
        campaign.tell(ticket, setting.rewards.reward(means[arm], &mut rng), 0).expect("a ticket that is open");
    }
    let is_sure = campaign.stop_reason() == Some(StopReason::Confidence);
    let verdicts = campaign.verdicts();
    // The mean of 0/1 and of rounded rewards is on the same side: the threshold is a probability of the same meaning or a multiple of the step.
    let is_above = |mean: f64| mean >= THRESHOLD;
    let is_wrong =
        verdicts.iter().zip(&means).any(|(verdict, &mean)| question.is_above(verdict.mean) != is_above(mean));
    Ok(SureCount {
        runs: 1,
        sure: u64::from(is_sure),
        sure_and_wrong: u64::from(is_sure && is_wrong),
        pulls: u64::from(campaign.progress().counted),
    })
}

/// The terms of a campaign with the defaults of its model.
fn terms(setting: &SureSetting, arms: Arms, seed: u64) -> Result<(Arms, Terms), TermsError> {
    let (arms, spec) = match setting.estimator {
        EstimatorKind::SampleMean => (arms, Spec::named("apt")?),
        EstimatorKind::Ridge => {
            let prepared = arms.standardised().with_intercept(1.0).map_err(cutline::SpecError::from)?;
            (prepared, Spec::named("pivot")?.with_centre(1.0)?)
        }
        estimator => (arms, Spec::named("pivot")?.with_estimator(estimator.name())?),
    };
    let terms = Terms {
        rewards: Some(setting.kind),
        noise: setting.noise,
        delta: setting.delta,
        until_sure: Some(setting.criterion.into()),
        seed,
        ..Terms::new(Question::new(setting.rewards.threshold(), 0.0)?, spec, setting.budget)
    };
    Ok((arms, terms))
}

/// One arm above the threshold. Its first feature says so with ridge, and all other features are uniform.
fn rare_pass(setting: &SureSetting, rng: &mut Rng) -> (Arms, Vec<f64>) {
    let SureSetting { n_arms, dimension, .. } = *setting;
    let mut rows: Vec<Vec<f64>> =
        (0..n_arms).map(|_| (0..dimension).map(|_| 2.0 * rng.random::<f64>() - 1.0).collect()).collect();
    if setting.estimator == EstimatorKind::Ridge {
        rows.iter_mut().enumerate().for_each(|(arm, row)| row[0] = f64::from(u8::from(arm == 0)));
    }
    let mean = |arm: usize| if arm == 0 { THRESHOLD + 1.0 } else { THRESHOLD - 1.0 };
    (Arms::from_rows(&rows).expect("finite features"), (0..n_arms).map(mean).collect())
}

/// Arms and the means of their rewards before rounding.
fn instance(setting: &SureSetting, rng: &mut Rng) -> (Arms, Vec<f64>) {
    let SureSetting { n_arms, dimension, .. } = *setting;
    if setting.rewards == RewardLaw::RarePass {
        return rare_pass(setting, rng);
    }
    let normal = |rng: &mut Rng| -> f64 { StandardNormal.sample(rng) };
    let own_share: f64 = match setting.estimator {
        EstimatorKind::Ridge => 0.0,
        EstimatorKind::SampleMean => 1.0,
        _ => 0.3,
    };
    let theta: Vec<f64> = (0..dimension).map(|_| normal(rng)).collect();
    // A feature has variance 1/3.
    let length = (theta.iter().map(|t| t * t).sum::<f64>() / 3.0).sqrt();
    let (mut rows, mut means) = (Vec::new(), Vec::new());
    while rows.len() < n_arms {
        let row: Vec<f64> = (0..dimension).map(|_| 2.0 * rng.random::<f64>() - 1.0).collect();
        let linear: f64 = row.iter().zip(&theta).map(|(x, t)| x * t).sum::<f64>() / length;
        let mean = (1.0 - own_share).sqrt() * linear + own_share.sqrt() * normal(rng);
        if mean.abs() >= setting.gap {
            rows.push(row);
            means.push(THRESHOLD + mean);
        }
    }
    (Arms::from_rows(&rows).expect("finite features"), means)
}
