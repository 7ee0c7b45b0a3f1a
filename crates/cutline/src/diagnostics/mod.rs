//! What the rewards received so far say about the arms: how much the features explain, the noise, and whether a line would do.
//!
//! The shares and σ are those that the mixed model learns. The linear model is tested by itself:
//!
//! Arm i was pulled nᵢ times with mean ȳᵢ; m arms were pulled, n = Σ nᵢ times in all; r is the rank of their features. The
//! model is fitted by least squares, without λ: minimise Σ nᵢ (ȳᵢ − xᵢᵀθ)². The squared deviations of the rewards from the
//! fit then fall into two parts (Draper & Smith 1998, chapter 2):
//!
//! ```text
//! pure error    Σ Σ (r − ȳᵢ)²          n − m degrees of freedom   the noise, whatever the means are
//! lack of fit   Σ nᵢ (ȳᵢ − xᵢᵀθ̂)²      m − r degrees of freedom   the noise and the distance of the means from the model
//! ```
//!
//! Under the linear model with Gaussian noise of one scale both are σ²χ², independent, and the ratio of their means is F.

mod conclusion;
mod least_squares;
mod qr;
mod reward_stats;
mod tails;

pub use conclusion::{Conclusion, MissingEvidence};
pub(crate) use least_squares::LeastSquares;
pub(crate) use reward_stats::Moments;
pub use reward_stats::{MAX_REWARD, RewardStats};

use crate::Arm;
use crate::estimators::Explained;
use qr::Qr;
pub use qr::orthonormal_columns;
pub(crate) use tails::t_tails;
use tails::{f_power, f_tail, holm};

/// The probability with which linear data may be called not linear. The F-test and Holm's test of the arms get half of it each.
pub const LEVEL: f64 = 0.05;

/// The least power with which the linear model may be called believable.
pub const POWER: f64 = 0.8;

/// Estimates of the noise, tests of the linear model, and what the mixed model has learnt; computed by [`RewardStats::diagnose`], and with
/// the mixed model by `CampaignState::diagnose` of the crate `cutline-campaign`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Diagnostics {
    /// The number of arms K.
    pub n_arms: usize,
    /// The number of pulls n.
    pub pulls: u64,
    /// The features of all arms, if they have any.
    pub features: Option<DesignShape>,
    /// The features of the pulled arms, each as often as it was pulled: the design of the fit.
    pub design: Option<DesignShape>,
    /// The noise scale from replicates: √(pure error/(n − m)); `None` if no arm was pulled twice.
    pub replicates: Option<NoiseScaleEstimate>,
    /// The noise scale from residuals: √((pure error + lack of fit)/(n − r)), which is right if the linear model is; `None` without
    /// features or without degrees of freedom.
    pub residuals: Option<NoiseScaleEstimate>,
    /// The test of the linear model; `None` without features, replicates, noise or degrees of freedom.
    pub lack_of_fit: Option<LackOfFit>,
    /// The arms that were pulled, in their order.
    pub arms: Vec<ArmFit>,
    /// Whether the linear model is believable.
    pub conclusion: Conclusion,
    /// What the mixed model has learnt; `None` without rewards and without that model.
    pub learnt: Option<LearntModel>,
}

/// What the mixed model has learnt from the rewards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LearntModel {
    /// The shares of its parts in the differences between the arms.
    pub explained: Explained,
    /// σ, learnt or given.
    pub noise: f64,
    /// The standard deviation of the differences between the arms.
    pub spread: f64,
}

impl Diagnostics {
    /// The same tests with what the mixed model has learnt.
    #[must_use]
    pub fn with_learnt(self, learnt: Option<LearntModel>) -> Self {
        Self { learnt, ..self }
    }
}

impl LearntModel {
    /// The spread of what the features do not explain.
    #[must_use]
    pub fn own_spread(&self) -> f64 {
        self.explained.own.sqrt() * self.spread
    }

    /// The measurements of an arm that bring the error of their mean to half of what the features do not explain: (2σ/own spread)².
    #[must_use]
    pub fn pulls_per_arm(&self) -> f64 {
        (2.0 * self.noise / self.own_spread()).powi(2).ceil().max(1.0)
    }
}

/// Rank and condition of a matrix of features with one row per arm and its columns scaled to length 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DesignShape {
    /// The number of columns d.
    pub dimension: usize,
    /// The number of independent columns.
    pub rank: usize,
    /// The greatest singular value over the least; `None` if columns depend on each other.
    pub condition: Option<f64>,
}

/// An estimate of the noise's standard deviation σ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseScaleEstimate {
    /// The estimate.
    pub sigma: f64,
    /// Its degrees of freedom.
    pub freedom: u64,
}

/// The F-test of the linear model: the lack of fit compared with the pure error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LackOfFit {
    /// (lack of fit/(m − r))/(pure error/(n − m)).
    pub f: f64,
    /// m − r and n − m.
    pub freedom: (u64, u64),
    /// The probability that F is at least this large if the model holds.
    pub p_value: f64,
    /// The distance of the means from the model that the noise does not explain: the root mean square over pulls, from the unbiased
    /// (lack of fit − (m − r)σ̂²)/n; 0 where that is negative.
    pub misfit: f64,
    /// The probability that the F-test finds a misfit of σ.
    pub power: f64,
}

/// An arm's own mean and its fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmFit {
    /// The arm.
    pub arm: Arm,
    /// nᵢ.
    pub pulls: u64,
    /// ȳᵢ.
    pub mean: f64,
    /// Its fit; `None` without features.
    pub fit: Option<Fitted>,
}

/// The fit of an arm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fitted {
    /// xᵢᵀθ̂.
    pub mean: f64,
    /// hᵢ, the weight of the arm's own pulls in its fit: between 0 and 1, with sum r over all arms.
    pub leverage: f64,
    /// The test of the difference; `None` if there is no noise scale from replicates, or the fit of the arm is always its own mean.
    pub test: Option<ArmTest>,
}

/// The test of the difference between an arm's own mean and its fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmTest {
    /// (ȳᵢ − xᵢᵀθ̂)/(σ̂√((1 − hᵢ)/nᵢ)), which is Student's t with n − m degrees of freedom if the model holds. A fit
    /// without the arm gives the same number.
    pub t: f64,
    /// The probability that |t| is at least this large if the model holds, for this arm alone.
    pub p_value: f64,
    /// The p-value adjusted for testing all arms, by Holm's method.
    pub holm: f64,
}

impl ArmTest {
    /// Whether the arm's own mean is significantly different from the fit.
    #[must_use]
    pub fn disagrees(&self) -> bool {
        self.holm <= LEVEL / 2.0
    }
}

impl Diagnostics {
    fn new(rewards: &RewardStats) -> Self {
        let mut arms = pulled(rewards);
        let pulls: u64 = arms.iter().map(|arm| arm.pulls).sum();
        let error = pure_error(rewards);
        let design = rewards.arms.dimension().map(|d| (d, decompose(rewards, &arms)));
        let lack = design.as_ref().map(|(_, qr)| fit(&mut arms, qr));
        let lack_of_fit = lack.and_then(|lack| compare(lack, error, pulls, &arms));
        if let (Some(_), Some(scale)) = (lack_of_fit, error.scale()) {
            test_arms(&mut arms, scale);
        }
        let mut diagnostics = Self {
            n_arms: rewards.arms.n_arms(),
            pulls,
            features: rewards.arms.dimension().map(|d| shape(d, &all_features(rewards))),
            design: design.map(|(d, qr)| shape(d, &qr)),
            replicates: error.scale(),
            residuals: lack.and_then(|lack| lack.and(error).scale()),
            lack_of_fit,
            arms,
            conclusion: Conclusion::NoFeatures,
            learnt: None,
        };
        diagnostics.conclusion = Conclusion::of(&diagnostics);
        diagnostics
    }

    /// The arms whose own mean is significantly different from the fit.
    pub fn disagreeing(&self) -> impl Iterator<Item = &ArmFit> {
        let disagrees = |arm: &&ArmFit| arm.fit.and_then(|fit| fit.test).is_some_and(|test| test.disagrees());
        self.arms.iter().filter(disagrees)
    }
}

/// A sum of squares and its degrees of freedom.
#[derive(Clone, Copy)]
struct Sum {
    squares: f64,
    freedom: u64,
}

impl Sum {
    fn and(self, other: Self) -> Self {
        Self { squares: self.squares + other.squares, freedom: self.freedom + other.freedom }
    }

    fn scale(self) -> Option<NoiseScaleEstimate> {
        let sigma = (self.squares / self.freedom as f64).sqrt();
        (self.freedom > 0).then_some(NoiseScaleEstimate { sigma, freedom: self.freedom })
    }
}

/// The arms that were pulled, not fitted yet.
fn pulled(rewards: &RewardStats) -> Vec<ArmFit> {
    let arm =
        |arm: Arm| ArmFit { arm, pulls: rewards.moments[arm].pulls, mean: rewards.moments[arm].mean(), fit: None };
    (0..rewards.arms.n_arms()).filter(|&arm| rewards.moments[arm].pulls > 0).map(arm).collect()
}

/// Σ Σ (r − ȳᵢ)².
fn pure_error(rewards: &RewardStats) -> Sum {
    let pulled = || rewards.moments.iter().filter(|moments| moments.pulls > 0);
    Sum { squares: pulled().map(|arm| arm.squares).sum(), freedom: pulled().map(|arm| arm.pulls - 1).sum() }
}

fn len<T>(slice: &[T]) -> u64 {
    slice.len() as u64
}

fn shape(dimension: usize, qr: &Qr) -> DesignShape {
    DesignShape { dimension, rank: qr.rank(), condition: qr.condition() }
}

/// The features of all arms, each once.
fn all_features(rewards: &RewardStats) -> Qr {
    let n_arms = rewards.arms.n_arms();
    Qr::new(columns(rewards, 0..n_arms), &vec![1.0; n_arms])
}

/// The features of the pulled arms; n equal rows count as one, √n times as long.
fn decompose(rewards: &RewardStats, arms: &[ArmFit]) -> Qr {
    let weights: Vec<f64> = arms.iter().map(|arm| (arm.pulls as f64).sqrt()).collect();
    Qr::new(columns(rewards, arms.iter().map(|arm| arm.arm)), &weights)
}

fn columns(rewards: &RewardStats, arms: impl Iterator<Item = Arm>) -> Vec<Vec<f64>> {
    let mut columns = vec![Vec::new(); rewards.arms.dimension().unwrap_or(0)];
    for row in arms.filter_map(|arm| rewards.arms.row(arm)) {
        columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
    }
    columns
}

/// Fits the arms; returns the lack of fit.
fn fit(arms: &mut [ArmFit], qr: &Qr) -> Sum {
    let weight = |arm: &ArmFit| (arm.pulls as f64).sqrt();
    let residual = qr.residual(arms.iter().map(|arm| weight(arm) * arm.mean).collect());
    let leverages = qr.leverages(arms.len());
    for ((arm, residual), leverage) in arms.iter_mut().zip(&residual).zip(leverages) {
        let mean = arm.mean - residual / weight(arm);
        arm.fit = Some(Fitted { mean, leverage: leverage.min(1.0), test: None });
    }
    Sum { squares: residual.iter().map(|e| e * e).sum(), freedom: len(arms) - qr.rank() as u64 }
}

/// The F-test, where there is noise and there are degrees of freedom.
fn compare(lack: Sum, error: Sum, pulls: u64, arms: &[ArmFit]) -> Option<LackOfFit> {
    let sigma = error.scale()?.sigma;
    if lack.freedom == 0 || !is_noise(sigma, arms) {
        return None;
    }
    let (upper, lower) = (lack.freedom as f64, error.freedom as f64);
    let f = lack.squares / upper / (sigma * sigma);
    Some(LackOfFit {
        f,
        freedom: (lack.freedom, error.freedom),
        p_value: f_tail(f, upper, lower),
        misfit: ((lack.squares - upper * sigma * sigma) / pulls as f64).max(0.0).sqrt(),
        power: f_power(LEVEL / 2.0, upper, lower, pulls as f64),
    })
}

/// Whether replicates differ by more than rounding. Otherwise any rounding in the fit would look like a lack of fit.
fn is_noise(sigma: f64, arms: &[ArmFit]) -> bool {
    let most = arms.iter().fold(0.0_f64, |most, arm| most.max(arm.mean.abs()));
    sigma > 1e-12 * most && sigma * sigma > 0.0
}

/// Compares each arm's own mean with the fit.
fn test_arms(arms: &mut [ArmFit], scale: NoiseScaleEstimate) {
    /// Where 1 − h is smaller, a difference has lost half its digits.
    const LEAST: f64 = 1e-8;
    let testable = |arm: &ArmFit| arm.fit.is_some_and(|fit| 1.0 - fit.leverage > LEAST);
    let t = |arm: &ArmFit, fit: &Fitted| {
        (arm.mean - fit.mean) / (scale.sigma * ((1.0 - fit.leverage) / arm.pulls as f64).sqrt())
    };
    let tests: Vec<(f64, f64)> = arms
        .iter()
        .filter(|arm| testable(arm))
        .filter_map(|arm| arm.fit.map(|fit| t(arm, &fit)))
        .map(|t| (t, t_tails(t, scale.freedom as f64)))
        .collect();
    let adjusted = holm(&tests.iter().map(|&(_, p_value)| p_value).collect::<Vec<_>>());
    let tested = arms.iter_mut().filter(|arm| testable(arm)).filter_map(|arm| arm.fit.as_mut());
    for ((fit, (t, p_value)), holm) in tested.zip(tests).zip(adjusted) {
        fit.test = Some(ArmTest { t, p_value, holm });
    }
}
