//! Library errors as Python exceptions: the classes of `cutline._errors`, and a hint in terms of Python's calls and keywords.

use crate::interruptible::take_raised;
use cutline::{LearnerError, SpecError, is_hidden, with_short_names};
use cutline_campaign::{CampaignError, CandidatesError, ModelError, PlanError, PriorError, TermsError};
use cutline_lab::RunError;
use cutline_store::StoreError;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::fmt::Display;

/// A class of `cutline._errors`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ErrorKind {
    /// An argument is invalid.
    Input,
    /// A ticket, arm, campaign or store does not exist.
    NotFound,
    /// The campaign's state does not allow it.
    Refused,
    /// The store failed.
    Storage,
}

impl ErrorKind {
    fn class(self) -> &'static str {
        match self {
            Self::Input => "InputError",
            Self::NotFound => "NotFoundError",
            Self::Refused => "RefusedError",
            Self::Storage => "StorageError",
        }
    }

    /// An exception of this kind. Control and hidden characters in quoted values are escaped, so the message is one line, and long names
    /// are cut.
    pub(crate) fn error(self, message: impl Display) -> PyErr {
        let escaped = |c: char| {
            if c.is_control() || is_hidden(c) { c.escape_default().collect() } else { String::from(c) }
        };
        let message: String = with_short_names(&message.to_string()).chars().map(escaped).collect();
        Python::attach(|py| {
            let class = py.import("cutline._errors").and_then(|module| module.getattr(self.class()));
            match class.and_then(|class| Ok(class.cast_into::<PyType>()?)) {
                Ok(class) => PyErr::from_type(class, (message,)),
                Err(error) => error,
            }
        })
    }

    fn with_hint(self, error: impl Display, hint: Option<&str>) -> PyErr {
        match hint {
            Some(hint) => self.error(format!("{error}; {hint}")),
            None => self.error(error),
        }
    }
}

/// An `InputError`.
pub(crate) fn input(message: impl Display) -> PyErr {
    ErrorKind::Input.error(message)
}

/// The exception for an error of a campaign or a store; the one that has interrupted a wait, if it was that.
pub(crate) fn store(error: &StoreError) -> PyErr {
    if let Some(raised) = take_raised() {
        return raised;
    }
    let kind = match error {
        StoreError::CampaignError(error) => campaign_error_kind(error),
        StoreError::NoCampaign { .. }
        | StoreError::Remote { status: 404, .. }
        | StoreError::NoCampaigns(_)
        | StoreError::Missing(_) => ErrorKind::NotFound,
        StoreError::Candidates(_)
        | StoreError::Model(_)
        | StoreError::Setting(_)
        | StoreError::Terms(_)
        | StoreError::Location(_)
        | StoreError::BadName(_)
        | StoreError::Covariance(_)
        | StoreError::NameTaken(_)
        | StoreError::OtherFeatures(_)
        | StoreError::WhichCampaign(_)
        | StoreError::CustomRuleMissing(_)
        | StoreError::Remote { status: 422, .. }
        | StoreError::NotOverHttp
        | StoreError::CustomRuleOverHttp
        | StoreError::OtherName { .. }
        | StoreError::CustomRuleMismatch { .. } => ErrorKind::Input,
        StoreError::Remote { status: 409, .. } | StoreError::Contended => ErrorKind::Refused,
        _ => ErrorKind::Storage,
    };
    let hint = match error {
        StoreError::Missing(_) | StoreError::NoCampaigns(_) => {
            Some("begin a campaign with `cutline.Campaign(…, storage=…)`")
        }
        StoreError::Unconfirmed { .. } => {
            Some("open the campaign again and repeat the call; a reward told twice counts once")
        }
        StoreError::Unauthorized { .. } => {
            Some("pass a token of `cutline token create` as `token=…`, or set the environment variable `CUTLINE_TOKEN`")
        }
        StoreError::NotOverHttp => Some("use the store of the server"),
        StoreError::OtherName { .. } => {
            Some("leave out `name=`, or pass the address of the server, as in `http://HOST:PORT`")
        }
        StoreError::NameTaken(_) => Some("choose another with `name=`"),
        StoreError::WhichCampaign(_) => Some("choose one with `name=`"),
        StoreError::CustomRuleMissing(_) => Some("pass it as `cutline.open(…, algorithm=rule)`"),
        StoreError::Candidates(CandidatesError::OtherColumns { .. }) => {
            Some("pass a data frame with the columns of the campaign")
        }
        StoreError::CampaignError(CampaignError::OtherReward { .. }) => Some("correct it with `amend`"),
        StoreError::CampaignError(CampaignError::NotTold { .. }) => Some("tell it with `tell`"),
        StoreError::Model(ModelError::MixedPreparation | ModelError::SampleMeanPreparation) => {
            Some("leave out `prepare=`, or pass `model=\"linear\"`")
        }
        StoreError::Model(ModelError::MixedParameter(_)) => Some("pass `model=\"linear\"`"),
        StoreError::Model(ModelError::CovarianceEstimator(_)) => Some("leave out `model=` and `estimator=`"),
        StoreError::Model(ModelError::OtherEstimator { .. }) => Some("leave out `estimator=`"),
        StoreError::Terms(TermsError::NeedsNoise(_)) => Some("pass it as `noise=`"),
        StoreError::Terms(TermsError::BernoulliNoise | TermsError::CountNoise) => Some("leave out `noise=`"),
        StoreError::Terms(TermsError::RangeOfKind(_)) => Some("leave out `min=` and `max=`"),
        StoreError::Terms(TermsError::ExpectedErrorsNeedMixed(_)) => {
            Some("pass `model=\"mixed\"`, or `until_sure=\"proved\"`")
        }
        StoreError::Terms(TermsError::Spec(error)) => spec_hint(error),
        _ => None,
    };
    kind.with_hint(error, hint)
}

/// The exception for an error of a plan.
pub(crate) fn plan(error: &PlanError) -> PyErr {
    let hint = match error {
        PlanError::Campaign { error: TermsError::Spec(error), .. } => spec_hint(error),
        PlanError::Campaign { error: TermsError::NeedsNoise(_), .. } => Some("pass it as `noise=`"),
        PlanError::Prior(PriorError::NothingToDecide { .. }) => {
            Some("pass `spread=` or `noise=`, or earlier rewards as `pilot=`")
        }
        _ => None,
    };
    ErrorKind::Input.with_hint(error, hint)
}

/// The exception for an error of a simulation.
pub(crate) fn run(error: &RunError) -> PyErr {
    let hint = match error {
        RunError::Algorithm { error, .. } => spec_hint(error),
        _ => None,
    };
    ErrorKind::Input.with_hint(error, hint)
}

fn spec_hint(error: &SpecError) -> Option<&'static str> {
    match error {
        SpecError::Learner(LearnerError::BudgetBelowArms { .. } | LearnerError::BudgetBelowCosts { .. }) => {
            Some("the algorithm `pivot` works with a smaller budget")
        }
        SpecError::NeedsVariances { .. } => Some("the estimators `mixed` and `ridge` have them"),
        SpecError::NeedsFixedNoise { .. } => Some("the estimator `ridge` does not learn it"),
        SpecError::NeedsFeatures { .. } => Some("the estimators `mixed` and `sample-mean` work without"),
        SpecError::Missing { .. } => Some("pass it in `parameters=`"),
        _ => None,
    }
}

fn campaign_error_kind(error: &CampaignError) -> ErrorKind {
    match error {
        CampaignError::NoTicket { .. } | CampaignError::NoArm { .. } => ErrorKind::NotFound,
        CampaignError::NotAReward { .. }
        | CampaignError::NotPassOrFail { .. }
        | CampaignError::NotACount { .. }
        | CampaignError::BelowMin { .. }
        | CampaignError::AboveMax { .. }
        | CampaignError::TooManyRewards { .. } => ErrorKind::Input,
        _ => ErrorKind::Refused,
    }
}
