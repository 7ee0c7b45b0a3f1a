//! When a campaign may end before its budget is used up.

use super::TermsError;
use cutline::StopCriterion;
use cutline::estimators::FitHistory;
use std::fmt;

/// When a campaign may end before its budget is used up.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum EarlyStop {
    /// Once the side of every arm is [proved](cutline::proof) by its own rewards, with all sides right with probability 1 − δ unless
    /// [`Terms::guarantee`](super::Terms::guarantee) says otherwise. It needs no σ and assumes nothing about the model.
    Proved,
    /// Once every side is sure at level 1 − δ. [`StopCriterion::Intervals`] is for campaigns that earlier versions began.
    Sure(StopCriterion),
    /// Once the expected number of wrong calls, the sum of the doubts of all verdicts, is at most this. It is an expectation by the model and
    /// not a guarantee. Only with the [mixed model](cutline::estimators::Mixed), whose doubts allow for the model being wrong.
    ///
    /// The verdicts are computed at certain numbers of rewards alone, from max(50, K/4) on and 5 % apart, and two computations in a row have
    /// to agree.
    ExpectedErrors(f64),
}

/// The name of the stop that waits for proofs.
const PROVED: &str = "proved";

/// The name under which the number of expected errors is given.
const EXPECTED_ERRORS: &str = "expected-errors";

impl EarlyStop {
    /// The stop with this name: `proved`, that of a [`StopCriterion`], or `expected-errors` and a number, as in `expected-errors 3`.
    ///
    /// ```
    /// use cutline::StopCriterion;
    /// use cutline_campaign::EarlyStop;
    ///
    /// assert_eq!(EarlyStop::named("proved")?, EarlyStop::Proved);
    /// assert_eq!(EarlyStop::named("evidence")?, EarlyStop::Sure(StopCriterion::Evidence));
    /// assert_eq!(EarlyStop::named("expected-errors 0.5")?, EarlyStop::ExpectedErrors(0.5));
    /// assert_eq!(EarlyStop::ExpectedErrors(3.0).to_string(), "expected-errors 3");
    /// assert!(EarlyStop::named("expected-errors 0").is_err());
    /// # Ok::<(), cutline_campaign::TermsError>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such stop, or the number is not above 0.
    pub fn named(name: &str) -> Result<Self, TermsError> {
        if name == PROVED {
            return Ok(Self::Proved);
        }
        if let Some(&(_, criterion)) = StopCriterion::ALL.iter().find(|(other, _)| *other == name) {
            return Ok(Self::Sure(criterion));
        }
        let number = name.strip_prefix(EXPECTED_ERRORS).filter(|rest| rest.starts_with([' ', '=']) || rest.is_empty());
        let Some(number) = number else { return Err(TermsError::UnknownCriterion(name.into())) };
        match number.trim_start_matches('=').trim().parse() {
            Ok(errors) if errors > 0.0 && f64::is_finite(errors) => Ok(Self::ExpectedErrors(errors)),
            _ => Err(TermsError::ExpectedErrors(name.into())),
        }
    }
}

impl From<StopCriterion> for EarlyStop {
    fn from(criterion: StopCriterion) -> Self {
        Self::Sure(criterion)
    }
}

impl fmt::Display for EarlyStop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Proved => f.write_str(PROVED),
            Self::Sure(criterion) => f.write_str(criterion.name()),
            Self::ExpectedErrors(errors) => write!(f, "{EXPECTED_ERRORS} {errors}"),
        }
    }
}

/// The rewards at the last two numbers at which verdicts are computed for [`EarlyStop::ExpectedErrors`]: a function of the journal.
#[derive(Clone, Debug)]
pub(super) struct Checkpoints {
    next: u64,
    /// The last one, and the one before it.
    pub(super) last: Option<Box<FitHistory>>,
    pub(super) before: Option<Box<FitHistory>>,
}

/// No verdicts are computed with fewer rewards.
const LEAST_REWARDS: u64 = 50;

impl Checkpoints {
    pub(super) fn new(n_arms: usize) -> Self {
        Self { next: LEAST_REWARDS.max(n_arms.div_ceil(4) as u64), last: None, before: None }
    }

    /// Called after every reward, with all rewards so far.
    pub(super) fn pass(&mut self, rewards: &FitHistory) {
        if rewards.n_rewards() == self.next {
            self.before = self.last.replace(Box::new(rewards.clone()));
            self.next += self.next.div_ceil(20);
        }
    }
}
