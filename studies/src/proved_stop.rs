//! How many measurements campaigns take until every side is proved, measured by simulation.
//!
//! K arms with d normal features; of the variance of their standardised means a share is linear in the features, and none lies closer to the threshold
//! than a gap. The measure of comparison needs no features: every open arm in turn, until the interval
//! ȳ ± σ/n √((n + 1)(2 ln(K/δ) + ln(1 + n))) of each excludes the threshold, for a known σ.

use cutline::{Arms, EstimatorKind, Purpose, Question, RewardKind, Rng, Spec, SpecError, StopReason, stream};
use cutline_campaign::{CampaignState, EarlyStop, Event, Terms, TermsError};
use rand::{Rng as _, RngExt};
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

/// Which campaigns are simulated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StopSetting {
    /// The number of arms K.
    pub n_arms: usize,
    /// The number of features d.
    pub dimension: usize,
    /// The share of the variance of the means that is linear in the features.
    pub linear: f64,
    /// The least distance of a standardised mean from the threshold.
    pub gap: f64,
    /// `None` for normal rewards with σ = 1; otherwise rewards are 0 or 1, and the rates have this standard deviation around ½.
    pub rates: Option<f64>,
    /// δ.
    pub delta: f64,
    /// No campaign gets more measurements.
    pub budget: u32,
}

/// Who chooses and proves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Prover {
    /// Every open arm in turn, by intervals for a known σ, without features.
    Elimination,
    /// A campaign with this estimator, this algorithm, and σ if it is given.
    Campaign(EstimatorKind, &'static str, Option<f64>),
}

/// How the campaigns ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StopCount {
    /// The number of campaigns.
    pub runs: u64,
    /// The number that ended because everything was decided.
    pub stopped: u64,
    /// The number that stopped with a wrong side.
    pub wrong: u64,
    /// The measurements of all.
    pub pulls: u64,
    /// The arms that were proved.
    pub proved: u64,
}

struct Instance {
    arms: Arms,
    /// Standardised means, with the threshold at 0.
    means: Vec<f64>,
}

fn normal(rng: &mut Rng) -> f64 {
    StandardNormal.sample(rng)
}

impl StopSetting {
    fn instance(&self, rng: &mut Rng) -> Instance {
        loop {
            let theta: Vec<f64> = (0..self.dimension).map(|_| normal(rng)).collect();
            let length = theta.iter().map(|t| t * t).sum::<f64>().sqrt();
            let rows: Vec<Vec<f64>> =
                (0..self.n_arms).map(|_| (0..self.dimension).map(|_| normal(rng)).collect()).collect();
            let mean = |row: &Vec<f64>, rng: &mut Rng| {
                let line = row.iter().zip(&theta).map(|(x, t)| x * t).sum::<f64>() / length;
                self.linear.sqrt() * line + (1.0 - self.linear).sqrt() * normal(rng)
            };
            let mut means: Vec<f64> = rows.iter().map(|row| mean(row, rng)).collect();
            let centre = means.iter().sum::<f64>() / self.n_arms as f64;
            let spread = (means.iter().map(|m| (m - centre).powi(2)).sum::<f64>() / self.n_arms as f64).sqrt();
            for mean in &mut means {
                *mean = (*mean - centre) / spread;
            }
            if means.iter().all(|mean| mean.abs() >= self.gap) {
                return Instance { arms: Arms::from_rows(&rows).expect("finite features"), means };
            }
        }
    }

    fn reward(&self, mean: f64, rng: &mut Rng) -> f64 {
        match self.rates {
            None => mean + normal(rng),
            Some(spread) => {
                let rate = (0.5 + spread * mean).clamp(0.01, 0.99);
                f64::from(u8::from(rng.random::<f64>() < rate))
            }
        }
    }

    fn threshold(&self) -> f64 {
        if self.rates.is_some() { 0.5 } else { 0.0 }
    }

    fn state(
        &self,
        arms: Arms,
        estimator: EstimatorKind,
        algorithm: &str,
        noise: Option<f64>,
        seed: u64,
    ) -> Result<CampaignState, TermsError> {
        let (arms, spec) = match estimator {
            EstimatorKind::Ridge => {
                let prepared = arms.standardised().with_intercept(1.0).map_err(SpecError::from)?;
                (prepared, Spec::named(algorithm)?.with_estimator("ridge")?.with_centre(1.0)?)
            }
            estimator => (arms, Spec::named(algorithm)?.with_estimator(estimator.name())?),
        };
        let rewards = if self.rates.is_some() { RewardKind::Bernoulli } else { RewardKind::Gaussian };
        let terms = Terms {
            rewards: Some(rewards),
            noise,
            delta: self.delta,
            until_sure: Some(EarlyStop::Proved),
            seed,
            ..Terms::new(Question::new(self.threshold(), 0.0)?, spec, self.budget)
        };
        CampaignState::new(arms, terms)
    }
}

/// Plays this many campaigns.
///
/// # Errors
/// If the terms are refused.
pub fn measure(setting: &StopSetting, prover: Prover, runs: u64, seed: u64) -> Result<StopCount, TermsError> {
    let played: Vec<StopCount> =
        (0..runs).into_par_iter().map(|run| play(setting, prover, run, seed)).collect::<Result<_, _>>()?;
    Ok(played.iter().fold(StopCount::default(), |sum, run| StopCount {
        runs: sum.runs + run.runs,
        stopped: sum.stopped + run.stopped,
        wrong: sum.wrong + run.wrong,
        pulls: sum.pulls + run.pulls,
        proved: sum.proved + run.proved,
    }))
}

fn play(setting: &StopSetting, prover: Prover, run: u64, seed: u64) -> Result<StopCount, TermsError> {
    let Instance { arms, means } = setting.instance(&mut stream(seed, Purpose::Instance, run));
    let rng = &mut stream(seed, Purpose::Noise, run);
    let learner_seed = stream(seed, Purpose::Learner, run).next_u64();
    let begin = |estimator, algorithm, noise| setting.state(arms.clone(), estimator, algorithm, noise, learner_seed);
    match prover {
        Prover::Elimination => Ok(eliminate(setting, &means, rng)),
        Prover::Campaign(estimator, algorithm, noise) => {
            let mut state = begin(estimator, algorithm, noise)?;
            while let [Event::Asked { ticket, arm, .. }] = state.ask(1, "", 0, 1)[..] {
                state.tell(ticket, setting.reward(means[arm], rng), 0).expect("an open ticket");
            }
            Ok(result(&mut state, &means))
        }
    }
}

fn result(state: &mut CampaignState, means: &[f64]) -> StopCount {
    let is_stopped = state.stop_reason() == Some(StopReason::Proved);
    let settled = state.settled().clone();
    let is_wrong =
        means.iter().enumerate().any(|(arm, mean)| settled.side(arm).is_some_and(|side| side != (*mean >= 0.0)));
    StopCount {
        runs: 1,
        stopped: u64::from(is_stopped),
        wrong: u64::from(is_wrong),
        proved: settled.in_order().len() as u64,
        pulls: u64::from(state.progress().counted),
    }
}

fn eliminate(setting: &StopSetting, means: &[f64], rng: &mut Rng) -> StopCount {
    let (sigma, k) = (if setting.rates.is_some() { 0.5 } else { 1.0 }, means.len() as f64);
    let mut count = StopCount { runs: 1, stopped: 1, ..StopCount::default() };
    for &mean in means {
        let (mut n, mut sum) = (0.0_f64, 0.0_f64);
        loop {
            n += 1.0;
            count.pulls += 1;
            sum += setting.reward(mean, rng) - setting.threshold();
            let width = sigma / n * ((n + 1.0) * (2.0 * (k / setting.delta).ln() + n.ln_1p())).sqrt();
            if (sum / n).abs() > width {
                count.wrong = count.wrong.max(u64::from((sum > 0.0) != (mean > 0.0)));
                break;
            }
        }
    }
    count
}
