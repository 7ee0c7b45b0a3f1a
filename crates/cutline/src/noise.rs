//! The noise scale σ, estimated from rewards as they come.

use crate::diagnostics::{LeastSquares, Moments};
use crate::resolution::Resolution;
use crate::{Arm, Arms};

/// The noise scale of a campaign, and its source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseEstimate {
    /// σ, the standard deviation of a measurement.
    pub sigma: f64,
    /// Where σ comes from.
    pub source: NoiseSource,
    /// The degrees of freedom of an estimate: for Gaussian noise, their number times σ̂²/σ² is χ². `None` where σ is given or unknown.
    pub degrees_of_freedom: Option<f64>,
}

impl NoiseEstimate {
    /// Before the first reward.
    pub const NOTHING: Self = Self { sigma: 1.0, source: NoiseSource::Nothing, degrees_of_freedom: None };

    /// After rewards that all equal the threshold: they say nothing about σ, not even in which units it is.
    const UNKNOWN: Self = Self { sigma: MAX_ESTIMATE, source: NoiseSource::Nothing, degrees_of_freedom: None };

    /// Whether σ was estimated and is larger than estimates can be, so that it is not known. That takes rewards beyond
    /// [`MAX_REWARD`](crate::diagnostics::MAX_REWARD), which only campaigns of earlier versions have.
    #[must_use]
    pub fn is_out_of_range(self) -> bool {
        let is_estimate = matches!(
            self.source,
            NoiseSource::Replicates | NoiseSource::Residuals | NoiseSource::Rewards | NoiseSource::Steps
        );
        is_estimate && self.sigma >= MAX_ESTIMATE
    }
}

/// Where the noise scale of a campaign comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoiseSource {
    /// The terms of the campaign, in which σ was given.
    Given,
    /// The rewards are 0 or 1, so that σ = ½ always holds.
    Bernoulli,
    /// The rewards of arms that were measured more than once.
    Replicates,
    /// The residuals of least squares.
    Residuals,
    /// The distance of the rewards from the threshold, which is usually larger than the noise.
    Rewards,
    /// Half the smallest difference between two rewards: they vary less within arms than such steps could show.
    Steps,
    /// The model itself, which learns σ together with its other parameters: [`Mixed`](crate::estimators::Mixed).
    Model,
    /// There is no reward yet, or all rewards equal the threshold: every arm is undecided. Rules use σ = 1 before the first reward.
    Nothing,
}

impl NoiseSource {
    /// Its name in files, in JSON and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::Bernoulli => "bernoulli",
            Self::Replicates => "replicates",
            Self::Residuals => "residuals",
            Self::Rewards => "rewards",
            Self::Steps => "steps",
            Self::Model => "model",
            Self::Nothing => "nothing",
        }
    }
}

/// The largest estimate of σ.
const MAX_ESTIMATE: f64 = 1e90;

/// The least degrees of freedom with which an estimate of σ from replicates or residuals is used. With twenty and Gaussian noise, the
/// estimate is below σ/2 in about 1 of 3,600 cases; with ten, in 1 of 110.
const MIN_DEGREES_OF_FREEDOM: u64 = 20;

/// Estimates σ from the rewards in journal order: from replicates as soon as they have twenty degrees of freedom, before that from the
/// residuals of least squares once these have as many, and before that as the root mean square of r − τ. It is at least what the steps of
/// the rewards leave unseen.
///
/// The estimate after a given event is a function of the journal up to that event, to the last bit. It depends neither on how the
/// journal is split nor on how often an estimate is asked for.
///
/// A reward costs O(1). Until replicates suffice, an estimate also costs O(d²) for each reward since the last estimate.
#[derive(Clone, Debug)]
pub struct NoiseEstimator {
    threshold: f64,
    /// The moments of all rewards together.
    rewards: Moments,
    /// Σ (r − ȳᵢ)² over all rewards of all arms i.
    within_arms: f64,
    /// The degrees of freedom of `within_arms`.
    degrees_of_freedom: u64,
    /// `None` without features, with a prior covariance, which has as many columns as arms, and once replicates have enough degrees of freedom.
    residuals: Option<Residuals>,
    /// `None` for a campaign that was begun before there was a least σ.
    resolution: Option<Resolution>,
}

/// Least squares of the rewards, brought up to date only when an estimate is needed.
#[derive(Clone, Debug)]
struct Residuals {
    arms: Arms,
    fit: Option<LeastSquares>,
    /// The rewards that are not in `fit` yet, in journal order: the arm, the reward, and whether the arm had a reward before.
    waiting: Vec<(Arm, f64, bool)>,
}

impl NoiseEstimator {
    /// An estimator without rewards, for this threshold τ; `has_least` says whether σ is at least what the steps of the rewards leave unseen.
    #[must_use]
    pub fn new(arms: &Arms, threshold: f64, has_least: bool) -> Self {
        let residuals = || Residuals { arms: arms.clone(), fit: None, waiting: Vec::new() };
        Self {
            threshold,
            rewards: Moments::default(),
            within_arms: 0.0,
            degrees_of_freedom: 0,
            residuals: arms.dimension().filter(|_| !arms.has_covariance()).map(|_| residuals()),
            resolution: has_least.then(Resolution::new),
        }
    }

    /// Takes the next reward of the journal. `increase` is the increase of its arm's Σ (r − ȳ)², and `is_repeat` says whether the arm had
    /// a reward before.
    pub fn add(&mut self, arm: Arm, reward: f64, increase: f64, is_repeat: bool) {
        self.rewards.add(reward);
        if let Some(resolution) = &mut self.resolution {
            resolution.add(reward);
        }
        self.within_arms += increase;
        self.degrees_of_freedom += u64::from(is_repeat);
        if self.degrees_of_freedom >= MIN_DEGREES_OF_FREEDOM {
            self.residuals = None;
        } else if let Some(residuals) = &mut self.residuals {
            residuals.waiting.push((arm, reward, is_repeat));
        }
    }

    /// The estimate of σ from the rewards so far.
    pub fn estimate(&mut self) -> NoiseEstimate {
        let n = self.rewards.pulls;
        if n == 0 {
            return NoiseEstimate::NOTHING;
        }
        let distance = self.rewards.mean() - self.threshold;
        let from_threshold = (distance * distance + self.rewards.squares / n as f64).sqrt();
        // Apart from rounding: 0.1 + 0.2 is not 0.3.
        if from_threshold <= 4.0 * f64::EPSILON * self.threshold.abs() {
            return NoiseEstimate::UNKNOWN;
        }
        let replicates = self.degrees_of_freedom;
        let (sigma, source, degrees_of_freedom) = if replicates >= MIN_DEGREES_OF_FREEDOM {
            ((self.within_arms / replicates as f64).sqrt(), NoiseSource::Replicates, replicates)
        } else if let Some((sigma, freedom)) = self.residuals.as_mut().and_then(|residuals| residuals.estimate(n)) {
            (sigma, NoiseSource::Residuals, freedom)
        } else {
            (from_threshold, NoiseSource::Rewards, n)
        };
        let (sigma, source) = match self.resolution.as_ref().map_or(0.0, Resolution::least_noise) {
            // All rewards are equal.
            f64::INFINITY => (from_threshold, NoiseSource::Rewards),
            least if sigma < least => (least, NoiseSource::Steps),
            _ => (sigma, source),
        };
        // Measurements without noise would give σ = 0, but callers divide by σ.
        let sigma = sigma.max(1e-9 * from_threshold).clamp(1e-90, MAX_ESTIMATE);
        NoiseEstimate { sigma, source, degrees_of_freedom: Some(degrees_of_freedom as f64) }
    }
}

impl Residuals {
    /// √(residual sum of squares/(n − rank)) of n rewards and n − rank, if that is enough.
    fn estimate(&mut self, n: u64) -> Option<(f64, u64)> {
        if n < MIN_DEGREES_OF_FREEDOM {
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
        let degrees_of_freedom = n - residual.rank;
        (degrees_of_freedom >= MIN_DEGREES_OF_FREEDOM)
            .then(|| ((residual.squares / degrees_of_freedom as f64).sqrt(), degrees_of_freedom))
    }
}
