//! How much budget a campaign needs: its arms and its question are known, θ is not, so every run draws θ from a prior.
//!
//! A [`Plan`] is the question. `simulation.rs` turns it into an [`Experiment`](crate::Experiment) and picks the budgets to
//! try, `answer.rs` reads the [`Forecast`] off the counts of its runs, and `words.rs` puts that into sentences.

mod answer;
mod prior;
mod simulation;
mod words;

pub use answer::{BudgetAnswer, Forecast, ForecastRow, SkippedBudgets, Theorem1Row};
pub use prior::{Prior, PriorError, ThetaPosterior};
pub use words::PlanReport;

use crate::{Noise, RunError};
use cutline::{Arms, Question, Spec};
use thiserror::Error;

/// The campaign to plan for. It is checked when an [`Experiment`](crate::Experiment) is made from it.
///
/// The budgets of a plan are new measurements: with a [`Prior::posterior`] every learner first gets the pilot's rewards.
///
/// ```
/// use cutline::{Arms, Question, Spec};
/// use cutline_lab::{Noise, NoiseKind, Plan, Prior, simulate};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let plan = Plan {
///     name: "one arm".into(),
///     arms: Arms::from_rows(&[[1.0]])?,
///     question: Question::new(0.0, 0.0)?,
///     noise: Noise::new(NoiseKind::Gaussian, 1.0)?,
///     prior: Prior::normal(1.0)?,
///     algorithms: vec![Spec::named("pivot")?],
///     target: 0.1,
///     runs: 1_000,
///     seed: 1,
/// };
/// let experiment = plan.experiment(&[4, 8, 16])?;
/// let forecast = plan.forecast(&experiment, &simulate(&experiment, 0..plan.runs, &|_| ())?)?;
/// assert!(forecast.answers[0].budget.is_some_and(|budget| (7..=13).contains(&budget))); // (1/tan 0.1π)² = 9.5
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Plan {
    /// The name of the results.
    pub name: String,
    /// The arms, with features.
    pub arms: Arms,
    /// Threshold and precision.
    pub question: Question,
    /// The noise of a measurement.
    pub noise: Noise,
    /// The distribution that θ is drawn from in every run.
    pub prior: Prior,
    /// The algorithms that compete. A rule that takes the noise scale gets that of `noise`.
    pub algorithms: Vec<Spec>,
    /// The failure probability to reach.
    pub target: f64,
    /// The number of runs.
    pub runs: u64,
    /// The seed of everything random.
    pub seed: u64,
}

/// Why a plan was refused.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum PlanError {
    /// The target is not a probability that a simulation can tell from 0 or 1.
    #[error("the target must be a number of at least 1e-9 and below 1, not {0}")]
    Target(f64),
    /// There are no budgets, one is 0, or they do not ascend.
    #[error("budgets must be whole numbers of at least 1, each larger than the one before")]
    Budgets,
    /// There are no algorithms.
    #[error("no algorithms; a plan needs at least one")]
    NoAlgorithms,
    /// An algorithm is listed twice.
    #[error("the algorithm `{0}` is listed twice")]
    Twice(&'static str),
    /// The instances or an algorithm do not fit.
    #[error(transparent)]
    Run(#[from] RunError),
}
