//! How much budget a campaign needs: its arms and its question are known, the true means are not, so every run draws them from a prior
//! and plays the campaign itself.
//!
//! A [`Plan`] is the question. `prior.rs` is the distribution of the true means, `truths.rs` draws them, `simulation.rs` plays the campaigns,
//! `budgets.rs` picks the budgets to try, `rest.rs` plans the rest of a campaign in progress, `answer.rs` reads the [`Forecast`] off the
//! counts, and `words.rs` puts that into sentences.

mod answer;
mod budgets;
mod counts;
mod pilot;
mod prior;
mod rest;
mod rewards;
mod simulation;
mod spending;
mod truths;

pub use answer::{BudgetAnswer, Forecast, ForecastRow, SkippedBudgets};
pub use counts::{PlanCell, PlanTally};
pub use pilot::{Pilot, PilotError};
pub use prior::{Expectation, Prior, PriorError, noise_and_spread};
pub use rest::Rest;
pub use rewards::check_noise;

use crate::{CampaignError, Terms, TermsError};
use cutline::{Arms, Question};
use std::num::NonZeroU32;
use thiserror::Error;

/// The campaigns to plan for. It is checked when it is [scouted](Plan::scout) or [played](Plan::play).
///
/// The budgets of a plan are new measurements, or what they cost if the arms have [costs](Arms::with_measurement_costs): with a
/// [pilot](Prior::pilot), every campaign first gets the pilot's rewards.
///
/// ```
/// use cutline_campaign::{Goal, Plan, PlannedCampaign, Prior, Terms};
/// use cutline::{Arms, Question, Spec};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (arms, question) = (Arms::from_rows(&[[1.0]])?, Question::new(0.0, 0.0)?);
/// let terms = Terms { noise: Some(1.0), ..Terms::new(question, Spec::named("pivot")?, 1) };
/// let plan = Plan {
///     name: "one arm".into(),
///     arms: arms.clone(),
///     question,
///     noise: 1.0,
///     prior: Prior::normal(1.0)?,
///     campaigns: vec![PlannedCampaign { label: "pivot".into(), arms, terms }],
///     goal: Goal::FailureProbability(0.1),
///     batch: std::num::NonZeroU32::MIN,
///     runs: 1_000,
///     seed: 1,
/// };
/// let budgets = [4, 8, 16];
/// let forecast = plan.forecast(&budgets, &plan.play(&budgets, 0..plan.runs, &|_| ())?);
/// assert!(forecast.answers[0].budget.is_some_and(|budget| (7..=13).contains(&budget))); // (1/tan 0.1π)² = 9.5
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Plan {
    /// The name of the results.
    pub name: String,
    /// The arms as the user has them; the true means are drawn on their features.
    pub arms: Arms,
    /// Threshold and precision.
    pub question: Question,
    /// The noise scale σ of a measurement. Rewards are Gaussian, or pass or fail if the terms of the campaigns say so. Campaigns know σ only if
    /// their terms have it.
    pub noise: f64,
    /// The distribution that the true means are drawn from in every run.
    pub prior: Prior,
    /// The campaigns that are compared.
    pub campaigns: Vec<PlannedCampaign>,
    /// What a budget has to reach.
    pub goal: Goal,
    /// How many measurements are asked for at once, for example 96 for plates; 1 for one after the other. Budgets are multiples of it.
    pub batch: NonZeroU32,
    /// The number of runs.
    pub runs: u64,
    /// The seed of everything random.
    pub seed: u64,
}

/// A campaign to simulate: what a store would keep for it.
#[derive(Clone, Debug)]
pub struct PlannedCampaign {
    /// Its name in the results.
    pub label: String,
    /// The arms as the campaign learns from them: as many as those of the plan, with their features prepared.
    pub arms: Arms,
    /// Its terms. Question, budget and seed are replaced by those of the plan and of the run.
    pub terms: Terms,
}

/// What a budget has to reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// The mean share of arms that are called wrongly is at most this.
    WrongShare(f64),
    /// The probability that any arm is called wrongly is at most this.
    FailureProbability(f64),
}

impl Goal {
    /// Its name in JSON and CSV.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::WrongShare(_) => "wrong-share",
            Self::FailureProbability(_) => "failure-probability",
        }
    }

    /// Its number.
    #[must_use]
    pub fn value(self) -> f64 {
        let (Self::WrongShare(value) | Self::FailureProbability(value)) = self;
        value
    }
}

/// In words, to follow "needs … measurements for".
impl std::fmt::Display for Goal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::WrongShare(share) => write!(f, "{} % wrong calls", percent(*share)),
            Self::FailureProbability(probability) => write!(f, "a failure probability of {probability}"),
        }
    }
}

/// A share as a percentage, without rounding errors in the last digits.
fn percent(share: f64) -> f64 {
    (share * 1e12).round() / 1e10
}

/// Why a plan was refused.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum PlanError {
    /// The goal is not a share that a simulation can tell from 0 or 1.
    #[error("the target must be a number of at least 1e-9 and below 1, not {0}")]
    Target(f64),
    /// There are no budgets, one is 0, or they do not ascend.
    #[error("budgets must be whole numbers of at least 1, each larger than the one before")]
    Budgets,
    /// A budget ends within a batch.
    #[error("a budget of {budget} is no multiple of the batch of {batch}")]
    Batch {
        /// The budget.
        budget: u32,
        /// The batch.
        batch: u32,
    },
    /// The noise scale is not a positive number.
    #[error("the noise scale must be a number between 1e-100 and 1e100, not {0:?}")]
    Noise(f64),
    /// There are no campaigns.
    #[error("no algorithms; a plan needs at least one")]
    NoCampaigns,
    /// Two campaigns have one name.
    #[error("the algorithm `{0}` is listed twice")]
    Twice(String),
    /// A campaign cannot be started.
    #[error("algorithm `{label}`: {error}")]
    Campaign {
        /// The campaign.
        label: String,
        /// Why.
        error: TermsError,
    },
    /// A reward of the pilot is not one that the campaigns take.
    #[error("the pilot: {0}")]
    Pilot(CampaignError),
    /// The prior does not fit the arms.
    #[error(transparent)]
    Prior(#[from] PriorError),
    /// The caller of [`Plan::play_unless`] ended it.
    #[error("the plan was interrupted")]
    Interrupted,
}
