//! How many rewards it takes to prove the side of an arm, and how often the proof is wrong, measured by simulation.

use cutline::proof::{Prediction, Proofs, RewardFamily};
use cutline::{Guarantee, Purpose, Question, RewardKind, Rng, stream};
use rand::RngExt;
use rand_distr::{Beta, Distribution, Exp1, LogNormal, Poisson, StandardNormal, StudentT};
use rayon::prelude::*;

/// The distribution of rewards.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum RewardLaw {
    /// 1 with this probability, otherwise 0.
    PassFail(f64),
    /// Poisson counts of this mean.
    Count(f64),
    /// Numbers between 0 and 1 with a beta distribution of this mean, and a + b = the second number.
    Beta(f64, f64),
    /// Noise around this mean.
    Noise(f64, Noise),
}

/// Noise with a mean of 0, and a standard deviation of 1 except for outliers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// Normal.
    Normal,
    /// Exponential: many rewards a little below the mean, a few far above.
    Exponential,
    /// The mirror image of that.
    MinusExponential,
    /// Log-normal, with σ = 1 on the scale of logarithms.
    LogNormal,
    /// The mirror image of that.
    MinusLogNormal,
    /// Student's t with 2.5 degrees of freedom.
    HeavyTails,
    /// Normal, but 2 % of the rewards are off by 10 in either direction.
    Outliers,
    /// Normal, but 2 % of the rewards are too low by 10, and the others higher by 0.2.
    LowOutliers,
}

impl Noise {
    /// All of them with their names.
    pub const ALL: &[(&str, Self)] = &[
        ("normal", Self::Normal),
        ("exponential", Self::Exponential),
        ("minus exponential", Self::MinusExponential),
        ("log-normal", Self::LogNormal),
        ("minus log-normal", Self::MinusLogNormal),
        ("t, 2.5 degrees of freedom", Self::HeavyTails),
        ("2 % outliers, both signs", Self::Outliers),
        ("2 % outliers, low", Self::LowOutliers),
    ];

    fn draw(self, rng: &mut Rng) -> f64 {
        let normal = |rng: &mut Rng| -> f64 { StandardNormal.sample(rng) };
        let exponential = |rng: &mut Rng| -> f64 { Exp1.sample(rng) };
        let log_normal = |rng: &mut Rng| {
            let e = std::f64::consts::E;
            (LogNormal::new(0.0, 1.0).expect("σ = 1").sample(rng) - e.sqrt()) / (e * e - e).sqrt()
        };
        match self {
            Self::Normal => normal(rng),
            Self::Exponential => exponential(rng) - 1.0,
            Self::MinusExponential => 1.0 - exponential(rng),
            Self::LogNormal => log_normal(rng),
            Self::MinusLogNormal => -log_normal(rng),
            Self::HeavyTails => StudentT::new(2.5).expect("degrees of freedom").sample(rng) / 5.0_f64.sqrt(),
            Self::Outliers => match rng.random::<f64>() {
                u if u < 0.01 => normal(rng) - 10.0,
                u if u < 0.02 => normal(rng) + 10.0,
                _ => normal(rng),
            },
            Self::LowOutliers => normal(rng) + 0.2 - if rng.random::<f64>() < 0.02 { 10.0 } else { 0.0 },
        }
    }
}

impl RewardLaw {
    /// The mean of the rewards.
    #[must_use]
    pub fn mean(self) -> f64 {
        match self {
            Self::PassFail(mean) | Self::Count(mean) | Self::Beta(mean, _) | Self::Noise(mean, _) => mean,
        }
    }

    /// A reward.
    ///
    /// # Panics
    /// If a rate or a mean is out of range.
    pub fn draw(self, rng: &mut Rng) -> f64 {
        match self {
            Self::PassFail(rate) => f64::from(u8::from(rng.random::<f64>() < rate)),
            Self::Count(rate) => Poisson::new(rate).expect("a rate above 0").sample(rng),
            Self::Beta(mean, sum) => Beta::new(mean * sum, (1.0 - mean) * sum).expect("a mean in (0, 1)").sample(rng),
            Self::Noise(mean, noise) => mean + noise.draw(rng),
        }
    }
}

/// What is simulated: arms that all have the same rewards, each measured in turn until it is proved.
#[derive(Clone, Copy, Debug)]
pub struct ProofSetting {
    /// The rewards of every arm.
    pub law: RewardLaw,
    /// What the proofs know about the rewards.
    pub family: RewardFamily,
    /// The threshold.
    pub threshold: f64,
    /// The prediction of a model, if there is one.
    pub prediction: Option<Prediction>,
    /// The number of arms.
    pub n_arms: usize,
    /// The error probability per arm.
    pub delta: f64,
    /// No arm gets more rewards.
    pub most_rewards: u32,
}

/// What came out for all arms of all repetitions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProofCount {
    /// The number of arms.
    pub arms: u64,
    /// The number of arms that were proved to be above.
    pub above: u64,
    /// The number of arms that were proved to be below.
    pub below: u64,
    /// The rewards of all arms.
    pub rewards: u64,
}

impl ProofCount {
    /// The mean number of rewards per arm.
    #[must_use]
    pub fn mean_rewards(&self) -> f64 {
        self.rewards as f64 / self.arms as f64
    }
}

/// Numbers without a known range, with this σ if it is known.
#[must_use]
pub fn numbers(noise: Option<f64>) -> RewardFamily {
    RewardFamily::new(RewardKind::Gaussian, (f64::NEG_INFINITY, f64::INFINITY), noise)
}

/// Measures the arms of `runs` repetitions.
///
/// # Panics
/// If the threshold is not a number.
#[must_use]
pub fn count_proofs(setting: &ProofSetting, runs: u64, seed: u64) -> ProofCount {
    let counts: Vec<ProofCount> = (0..runs).into_par_iter().map(|run| play(setting, run, seed)).collect();
    counts.iter().fold(ProofCount::default(), |sum, count| ProofCount {
        arms: sum.arms + count.arms,
        above: sum.above + count.above,
        below: sum.below + count.below,
        rewards: sum.rewards + count.rewards,
    })
}

fn play(setting: &ProofSetting, run: u64, seed: u64) -> ProofCount {
    let ProofSetting { law, family, threshold, prediction, n_arms, delta, most_rewards } = *setting;
    let question = Question::new(threshold, 0.0).expect("a threshold that is a number");
    let mut proofs = Proofs::new(n_arms, question, family);
    if let Some(prediction) = prediction {
        (0..n_arms).for_each(|arm| proofs.expect(arm, prediction));
    }
    let mut rng = stream(seed, Purpose::Noise, run);
    let level = cutline::proof::ln_level(Guarantee::Each, delta, n_arms);
    let mut count = ProofCount { arms: n_arms as u64, ..ProofCount::default() };
    let mut open: Vec<usize> = (0..n_arms).collect();
    for _ in 0..most_rewards {
        for &arm in &open {
            proofs.tell(arm, law.draw(&mut rng));
            count.rewards += 1;
        }
        open.retain(|&arm| proofs.side_at(arm, level).is_none());
    }
    for side in (0..n_arms).filter_map(|arm| proofs.side_at(arm, level)) {
        if side { count.above += 1 } else { count.below += 1 }
    }
    count
}
