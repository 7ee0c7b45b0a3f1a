//! The noise scale σ of a campaign, estimated from its rewards as they come.

use crate::diagnostics::{LeastSquares, Moments};
use crate::{Arm, Arms};

/// The noise scale of a campaign, and its source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseEstimate {
    /// σ, the standard deviation of a measurement.
    pub sigma: f64,
    /// Where σ comes from.
    pub source: NoiseSource,
}

/// Where the noise scale of a campaign comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoiseSource {
    /// The campaign's terms.
    Given,
    /// The rewards of arms that were measured more than once.
    Replicates,
    /// The residuals of least squares.
    Residuals,
    /// The distance of the rewards from the threshold, which is usually larger than the noise.
    Rewards,
    /// There is no reward yet: rules take σ = 1, and no arm is decided.
    Nothing,
}

impl NoiseSource {
    /// Its name on every surface.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::Replicates => "replicates",
            Self::Residuals => "residuals",
            Self::Rewards => "rewards",
            Self::Nothing => "nothing",
        }
    }
}

/// The degrees of freedom from which on an estimate of σ is used. With ten, Gaussian noise makes it too large or too small by a
/// factor of more than 2 in about 1 case of 109, nearly always too small.
const FREEDOM: u64 = 10;

/// Estimates σ from the rewards in journal order: from replicates as soon as they have [`FREEDOM`] degrees of freedom, before that from
/// the residuals of least squares if those have, and before that as the root mean square of r − τ.
///
/// The estimate after a given event is a function of the journal up to that event, to the last bit. Neither how the journal is split
/// into pieces nor how often an estimate is asked for changes it.
///
/// A reward costs O(1). Least squares costs O(d²) per reward, only up to the reward at which replicates suffice, and nothing if no
/// estimate was asked for by then.
#[derive(Clone, Debug)]
pub(super) struct NoiseEstimator {
    threshold: f64,
    /// All rewards together.
    rewards: Moments,
    /// Σ Σ (r − ȳᵢ)², and its degrees of freedom.
    within_arms: f64,
    freedom: u64,
    /// `None` without features, and once replicates have enough degrees of freedom.
    residuals: Option<Residuals>,
}

/// Least squares of the rewards, computed as far as somebody asked.
#[derive(Clone, Debug)]
struct Residuals {
    arms: Arms,
    fit: Option<LeastSquares>,
    /// The rewards that are not in `fit` yet, in journal order: the arm, the reward, and whether the arm had a reward before.
    waiting: Vec<(Arm, f64, bool)>,
}

impl NoiseEstimator {
    /// No reward yet.
    pub(super) fn new(arms: &Arms, threshold: f64) -> Self {
        let residuals = || Residuals { arms: arms.clone(), fit: None, waiting: Vec::new() };
        Self {
            threshold,
            rewards: Moments::default(),
            within_arms: 0.0,
            freedom: 0,
            residuals: arms.dimension().map(|_| residuals()),
        }
    }

    /// Takes the next reward of the journal. `increase` is the increase of its arm's Σ (r − ȳ)², and `is_repeat` says whether the arm had
    /// a reward before.
    pub(super) fn add(&mut self, arm: Arm, reward: f64, increase: f64, is_repeat: bool) {
        self.rewards.add(reward);
        self.within_arms += increase;
        self.freedom += u64::from(is_repeat);
        if self.freedom >= FREEDOM {
            self.residuals = None;
        } else if let Some(residuals) = &mut self.residuals {
            residuals.waiting.push((arm, reward, is_repeat));
        }
    }

    /// σ by the rewards so far.
    pub(super) fn estimate(&mut self) -> NoiseEstimate {
        let n = self.rewards.pulls;
        if n == 0 {
            return NoiseEstimate { sigma: 1.0, source: NoiseSource::Nothing };
        }
        let distance = self.rewards.mean() - self.threshold;
        let from_threshold = (distance * distance + self.rewards.squares / n as f64).sqrt();
        let (sigma, source) = if self.freedom >= FREEDOM {
            ((self.within_arms / self.freedom as f64).sqrt(), NoiseSource::Replicates)
        } else if let Some(sigma) = self.residuals.as_mut().and_then(|residuals| residuals.estimate(n)) {
            (sigma, NoiseSource::Residuals)
        } else {
            (from_threshold, NoiseSource::Rewards)
        };
        // Measurements may be free of noise, but σ is divided by.
        NoiseEstimate { sigma: sigma.max(1e-9 * from_threshold).clamp(1e-90, 1e90), source }
    }
}

impl Residuals {
    /// √(residual sum of squares/(n − rank)) of n rewards, if they have enough degrees of freedom.
    fn estimate(&mut self, n: u64) -> Option<f64> {
        if n < FREEDOM {
            return None;
        }
        if self.fit.is_none() {
            self.fit = LeastSquares::new(&self.arms);
        }
        let fit = self.fit.as_mut()?;
        for (arm, reward, is_repeat) in self.waiting.drain(..) {
            fit.add(&self.arms, arm, reward, is_repeat);
        }
        let residual = fit.residual();
        let freedom = n - residual.rank;
        (freedom >= FREEDOM).then(|| (residual.squares / freedom as f64).sqrt())
    }
}
