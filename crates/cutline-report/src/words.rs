//! What is said about how a campaign stands: clauses without a capital letter and a full stop, which every surface shows.

mod basis;

pub(crate) use basis::above_proved;
pub use basis::{assumption, basis, guarantee, only_likely, proved, remarks, rewards, sides, verdict};

use crate::numbers::short;
use cutline::diagnostics::MissingEvidence;
use cutline::{Amount, NoiseSource, StopCriterion, StopReason};
use cutline_campaign::{CampaignModel, EarlyStop, Fit, FitReason, ModelFit, Rest, Standing};

/// What to say where all rewards are 0 or 1, in a campaign that takes them as numbers with noise.
pub const LOOKS_LIKE_PASS_OR_FAIL: &str = "all rewards are 0 or 1, but this campaign takes them as numbers with noise: begin such campaigns with `--rewards bernoulli`";

/// With a capital letter and a full stop.
#[must_use]
pub fn sentence(words: &str) -> String {
    let mut characters = words.chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", characters.as_str())
}

/// The wrong calls to expect, and what that expectation rests on; `None` while there are too few rewards.
#[must_use]
pub fn wrong_calls(standing: &Standing) -> Option<String> {
    let expected = standing.wrong_calls?;
    let by = match standing.model {
        CampaignModel::Mixed => "by the model, not guaranteed",
        CampaignModel::Linear => "if the linear model holds",
        CampaignModel::Independent => "by the sample means, not guaranteed",
    };
    Some(format!("{expected:.1} wrong calls if every candidate gets the side of its mean: {by}"))
}

/// What the rest of the budget would bring; `plan` is what to do to learn it if it was not computed.
#[must_use]
pub fn rest(standing: &Standing, plan: &str) -> Option<String> {
    let remaining = standing.remaining;
    match &standing.rest {
        Some(rest) => Some(rest_in_words(rest)),
        // A plan is for whole units of cost.
        None if standing.ending.is_some() || remaining.whole_units() == 0 || !standing.may_forecast() => None,
        None if standing.spent.is_some() => {
            Some(format!("{plan} simulates what spending {remaining} more would bring"))
        }
        None => {
            let plural = if remaining == Amount::units(1) { "" } else { "s" };
            Some(format!("{plan} simulates what {remaining} more measurement{plural} would bring"))
        }
    }
}

/// `24 more measurements would leave about 3.2 wrong calls and 14 undecided candidates, by 16 simulated campaigns`.
#[must_use]
pub fn rest_in_words(rest: &Rest) -> String {
    let Rest { runs, wrong_calls, undecided, .. } = rest;
    let more = match (rest.measurements, rest.spend) {
        (Some(1), _) => "1 more measurement".into(),
        (Some(n), _) => format!("{n} more measurements"),
        (None, spend) => format!("spending {} more", spend.unwrap_or(0)),
    };
    let campaigns = if *runs == 1 { "campaign" } else { "campaigns" };
    format!(
        "{more} would leave about {wrong_calls:.1} wrong calls and {undecided:.0} undecided candidates, by {runs} simulated {campaigns}"
    )
}

/// That every arm is decided.
#[must_use]
pub fn may_stop(standing: &Standing) -> Option<&'static str> {
    match (standing.may_stop, standing.undecided) {
        (false, _) => None,
        (true, 0) => Some("every candidate is decided: you may stop"),
        (true, _) => Some("every candidate that is not withdrawn is decided: you may stop"),
    }
}

/// How the campaign stands in lines, each with a label: the wrong calls to expect, the fit of the model, what the rest would bring,
/// whether to stop, and remarks.
#[must_use]
pub fn lines(standing: &Standing, plan: &str) -> Vec<(&'static str, String)> {
    let lines = [
        ("expected", wrong_calls(standing)),
        ("model", standing.has_rewards().then(|| fit(&standing.fit))),
        ("rest", rest(standing, plan)),
        ("stop", may_stop(standing).map(str::to_owned)),
    ];
    let remarks = remarks(standing).into_iter().map(|remark| ("note", remark));
    lines.into_iter().filter_map(|(label, line)| Some((label, line?))).chain(remarks).collect()
}

/// `fits: the means lie no further from a line than the noise explains (test of a line: p = 0.47)`.
#[must_use]
pub fn fit(fit: &ModelFit) -> String {
    let p_value = match fit.p_value {
        None => String::new(),
        Some(p) if p < 1e-4 => format!(" (test of a line: p = {p:.1e})"),
        Some(p) => format!(" (test of a line: p = {p:.4})"),
    };
    format!("{}: {}{p_value}", fit.fit.name(), fit_advice(fit))
}

/// What follows from the fit of a model.
#[must_use]
pub fn fit_advice(fit: &ModelFit) -> String {
    let contradiction = |n_arms: Option<usize>| match n_arms {
        None => "the rewards contradict a line".to_owned(),
        Some(1) => "the rewards of 1 candidate contradict a line".to_owned(),
        Some(n) => format!("the rewards of {n} candidates contradict a line"),
    };
    let text = match fit.reason {
        FitReason::NoRewards => "there are no rewards yet",
        FitReason::NoFeatures => "the candidates have no features, so there is no line to test",
        FitReason::TooLarge => "so many candidates and features take too long to test here",
        FitReason::Contradicted(n_arms) if fit.fit == Fit::Misfit => {
            return format!("{}, on which the verdicts rest; use the mixed model", contradiction(n_arms));
        }
        FitReason::Contradicted(n_arms) => {
            return format!("{}, and the mixed model learns what a line does not explain", contradiction(n_arms));
        }
        FitReason::VerdictsContradicted(n_arms) => {
            let (arms, their) =
                if n_arms == 1 { ("1 candidate", "its") } else { (&*format!("{n_arms} candidates"), "their") };
            return format!(
                "the verdicts on {arms} contradict {their} own rewards, because the linear model expects the features to matter less than \
                 they do, as with outliers among them; use the mixed model"
            );
        }
        FitReason::Missing(MissingEvidence::Arms) => {
            "it takes rewards of more candidates to test the line on which the verdicts rest"
        }
        FitReason::Missing(MissingEvidence::Replicates) => {
            "it takes candidates that were measured more than once to test the line on which the verdicts rest"
        }
        FitReason::Missing(MissingEvidence::Noise) => {
            "the rewards of each candidate are all the same, so how noisy they are is not known, and the line on which the verdicts rest cannot be \
             tested"
        }
        FitReason::Missing(_) => "it takes more rewards to test the line on which the verdicts rest",
        FitReason::AnyMeans => "there are as many features as candidates, so any means lie on a line",
        FitReason::OnLine => "the means lie no further from a line than the noise explains",
        FitReason::Learnt => "the mixed model learns what a line does not explain",
        FitReason::Separate => "every candidate is estimated from its own rewards",
    };
    text.into()
}

/// When a campaign ends early, as part of a sentence.
#[must_use]
pub fn early_stop(stop: EarlyStop) -> String {
    match stop {
        EarlyStop::ExpectedErrors(errors) => {
            format!("once at most {errors} wrong calls are expected, which is an expectation and not a guarantee")
        }
        EarlyStop::Proved => "once every verdict is proved, guaranteed".into(),
        EarlyStop::Sure(StopCriterion::Intervals) => {
            "once every verdict is certain by the intervals, guaranteed".into()
        }
        stop => format!("once every verdict is certain by the {stop}, a heuristic"),
    }
}

/// Why a campaign has ended.
#[must_use]
pub fn ending(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Budget => "the budget is used up",
        StopReason::ExpectedErrors => "few enough wrong calls are expected, which is not a guarantee",
        StopReason::Proved => "every verdict is proved",
        StopReason::Settled => "every candidate is settled",
        StopReason::Withdrawn => "every candidate that is not settled is withdrawn",
        StopReason::Done => "the rule asks for no more measurements",
        _ => "every verdict is certain",
    }
}

/// Why a campaign with this budget has ended.
#[must_use]
pub fn ending_of(reason: StopReason, budget: u32) -> String {
    if reason == StopReason::Budget { format!("the budget of {budget} is used up") } else { ending(reason).into() }
}

/// The noise scale σ and where it comes from.
#[must_use]
pub fn noise(sigma: Option<f64>, source: NoiseSource) -> String {
    let Some(sigma) = sigma else { return "not known yet".into() };
    let rounded = short(sigma);
    match source {
        NoiseSource::Given => format!("{sigma}, as given"),
        NoiseSource::Bernoulli => format!("{rounded}, the bound for rewards of 0 or 1"),
        NoiseSource::Steps => {
            format!("{rounded}, half the smallest difference between two rewards, which vary less within candidates")
        }
        NoiseSource::Replicates => format!("{rounded}, estimated from candidates measured more than once"),
        NoiseSource::Model => format!("{rounded}, learnt by the model"),
        NoiseSource::Residuals => format!("{rounded}, estimated from the residuals of the linear fit"),
        NoiseSource::Rewards => {
            format!("{rounded} or less: an upper estimate from the distances of the rewards to the threshold")
        }
        _ => "not known yet".into(),
    }
}
