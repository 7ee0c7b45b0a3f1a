//! A pilot: rewards from before the campaign, from which the mixed model learns what to expect.

use super::rewards::{normal, uniform};
use cutline::diagnostics::MAX_REWARD;
use cutline::estimators::{Estimator, Explained, Mixed, MixedError, MixedSettings};
use cutline::{Arm, Arms, Question, Rng};
use thiserror::Error;

/// A pilot and the posterior of the mixed model given it. A draw takes one of the settings that the model's verdicts average over, so that
/// shares and spread are as uncertain as the rewards leave them; σ is that of the model as it chooses arms.
#[derive(Clone, Debug)]
pub struct Pilot {
    rewards: Vec<(Arm, f64)>,
    /// The arms that are being measured already: their rewards come first.
    open: Vec<Arm>,
    /// The arms that cannot be measured.
    withdrawn: Vec<Arm>,
    /// The model at each setting, with the weights of all settings up to it.
    settings: Vec<(f64, Mixed)>,
    explained: Explained,
    noise: f64,
}

/// Why a pilot was refused.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum PilotError {
    /// A measurement is of an arm that does not exist.
    #[error("there is no arm {arm}: arms are numbered from 0, and there are {n_arms}")]
    Arm {
        /// The arm.
        arm: Arm,
        /// The number of arms.
        n_arms: usize,
    },
    /// A reward is NaN, infinite or so large that its square overflows.
    #[error("a reward must be a number between -1e140 and 1e140, not {0:e}")]
    Reward(f64),
    /// There are no rewards, or all of them equal the threshold.
    #[error("a pilot needs rewards, and some that differ from the threshold")]
    Nothing,
    /// σ is out of range.
    #[error(transparent)]
    Model(#[from] MixedError),
}

impl Pilot {
    /// The posterior given `rewards`, pairs of an arm and its reward; σ is `noise`, or learnt from them.
    ///
    /// # Errors
    /// If there is no such arm, a reward is not between −1e140 and 1e140, the rewards say nothing, or σ is out of range.
    pub fn new(
        arms: &Arms,
        question: Question,
        rewards: Vec<(Arm, f64)>,
        noise: Option<f64>,
        seed: u64,
    ) -> Result<Self, PilotError> {
        let settings = MixedSettings { known_noise: noise, ..MixedSettings::default() };
        let mut model = Mixed::new(arms, question, &settings, seed)?;
        for &(arm, reward) in &rewards {
            if !(reward.abs() <= MAX_REWARD) {
                return Err(PilotError::Reward(reward));
            }
            if arm >= arms.n_arms() {
                return Err(PilotError::Arm { arm, n_arms: arms.n_arms() });
            }
            model.observe(arm, reward);
        }
        let (Some(explained), Some(noise)) = (model.explained(), model.noise_scale()) else {
            return Err(PilotError::Nothing);
        };
        let mut settings = model.settings();
        let mut sum = 0.0;
        for (weight, _) in &mut settings {
            sum += *weight;
            *weight = sum;
        }
        if settings.is_empty() {
            Err(PilotError::Nothing)
        } else {
            Ok(Self { rewards, open: Vec::new(), withdrawn: Vec::new(), settings, explained, noise })
        }
    }

    /// The same pilot for a campaign in progress: the rewards of the arms that are being measured already are the first of every budget,
    /// and withdrawn arms are not measured.
    #[must_use]
    pub fn in_progress(self, open: Vec<Arm>, withdrawn: Vec<Arm>) -> Self {
        Self { open, withdrawn, ..self }
    }

    /// The arms that cannot be measured.
    #[must_use]
    pub fn withdrawn(&self) -> &[Arm] {
        &self.withdrawn
    }

    /// The arms that are being measured already.
    #[must_use]
    pub fn open(&self) -> &[Arm] {
        &self.open
    }

    /// The rewards.
    #[must_use]
    pub fn rewards(&self) -> &[(Arm, f64)] {
        &self.rewards
    }

    /// What the model has learnt of the shares of its parts.
    #[must_use]
    pub fn explained(&self) -> Explained {
        self.explained
    }

    /// σ as the model has learnt it.
    #[must_use]
    pub fn noise(&self) -> f64 {
        self.noise
    }

    /// The means of all arms, drawn from the posterior.
    #[must_use]
    pub fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        let at = 0.5 * (uniform(rng) + 1.0);
        let position = self.settings.partition_point(|(sum, _)| *sum < at).min(self.settings.len() - 1);
        self.settings[position].1.clone().draw(|| normal(rng))
    }
}

impl std::fmt::Display for Pilot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Explained { linear, smooth, .. } = self.explained;
        write!(
            f,
            "the posterior given a pilot of {}: features explain {:.2} of the differences (linear {linear:.2}, smooth {smooth:.2})",
            self.rewards.len(),
            linear + smooth
        )
    }
}
