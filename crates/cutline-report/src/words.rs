//! What is said about how a campaign stands: clauses without a capital letter and a full stop, which every surface shows.

use crate::numbers::short;
use cutline::diagnostics::MissingEvidence;
use cutline::{Amount, Guarantee, NoiseSource, RewardKind, StopCriterion, StopReason, Verdict, VerdictLimit, grouped};
use cutline_campaign::{CampaignModel, EarlyStop, Fit, FitReason, ModelFit, Rest, Settings, Standing, Terms};

/// What to say where all rewards are 0 or 1, in a campaign that takes them as numbers with noise.
pub const LOOKS_LIKE_PASS_OR_FAIL: &str = "all rewards are 0 or 1, but this campaign takes them as numbers with noise: begin such campaigns with `--rewards bernoulli`";

/// With a capital letter and a full stop.
#[must_use]
pub fn sentence(words: &str) -> String {
    let mut characters = words.chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", characters.as_str())
}

/// `52 above (31 proved), 120 below (88 proved), 68 undecided`: the number of arms on each side, and how many of them are proved.
#[must_use]
pub fn sides(standing: &Standing) -> String {
    let [above, below, undecided] = [standing.above, standing.below, standing.undecided].map(count);
    let below_proved = proved(standing.below, standing.below_proved);
    format!("{above} above{}, {below} below{below_proved}, {undecided} undecided", above_proved(standing))
}

/// ` (31 proved, 2 exactly at the threshold)`: how many of the arms above are proved, to follow their number; empty if there are none.
pub(crate) fn above_proved(standing: &Standing) -> String {
    let Standing { above, above_proved, at_threshold, .. } = *standing;
    match at_threshold {
        0 => proved(above, above_proved),
        _ => format!(" ({} proved, {} exactly at the threshold)", count(above_proved), count(at_threshold)),
    }
}

/// ` (88 proved)`: how many of the arms on a side are proved, to follow their number; empty if there are none.
#[must_use]
pub fn proved(decided: usize, proved: usize) -> String {
    if decided == 0 { String::new() } else { format!(" ({} proved)", count(proved)) }
}

fn count(number: usize) -> String {
    grouped(number as u64)
}

/// What to do where verdicts are likely and only proved ones count; `None` if there are none.
#[must_use]
pub fn only_likely(n_likely: usize) -> Option<String> {
    let verdicts = match n_likely {
        0 => return None,
        1 => "1 verdict is likely but not proved".to_owned(),
        number => format!("{} verdicts are likely but not proved", count(number)),
    };
    Some(format!("{verdicts}: measure more, or count them with `--likely`"))
}

/// The kind and the range of the rewards; `None` for numbers with noise without a range.
#[must_use]
pub fn rewards(settings: &Settings) -> Option<String> {
    match (settings.rewards, settings.min, settings.max) {
        (Some(RewardKind::Bernoulli), ..) => Some("pass or fail: 1 or 0".into()),
        (Some(RewardKind::Count), ..) => Some("counts: 0, 1, 2 and so on".into()),
        (_, None, None) => None,
        (_, Some(min), None) => Some(format!("numbers with noise, at least {min}")),
        (_, None, Some(max)) => Some(format!("numbers with noise, at most {max}")),
        (_, Some(min), Some(max)) => Some(format!("numbers with noise, between {min} and {max}")),
    }
}

/// The side of a verdict and what it rests on: `above, proved`.
#[must_use]
pub fn verdict(verdict: &Verdict) -> String {
    let side = verdict.side_in_words();
    verdict.basis.map_or_else(|| side.to_owned(), |basis| format!("{side}, {}", basis.name()))
}

/// What δ is about in proved verdicts.
#[must_use]
pub fn guarantee(guarantee: Guarantee, delta: f64) -> String {
    let percent = (delta * 1e10).round() / 1e8;
    match guarantee {
        Guarantee::All => {
            format!("the probability that any proved verdict of the campaign is wrong is at most {percent} %")
        }
        Guarantee::Fdr => format!(
            "at most {percent} % of the candidates that are proved to be above are expected to be wrong, and likewise of those below"
        ),
        _ => format!("each proved verdict is wrong with a probability of at most {percent} %"),
    }
}

/// What the basis, the probability and the evidence of verdicts mean, in sentences.
#[must_use]
pub fn basis(terms: &Terms) -> String {
    let guarantee = guarantee(terms.guarantee.unwrap_or(Guarantee::Each), terms.delta);
    let assumption = assumption(terms);
    format!(
        "Basis: proved by the candidate's own measurements, whatever the model ({guarantee}; {assumption}), or likely by the model. Above: the probability of \
         being above, by the model. Evidence: what the candidate's own measurements say for its side; a value of x is reached with a \
         probability of at most 1/x if the side is wrong."
    )
}

/// What the verdicts rest on, where that is little: one clause each.
#[must_use]
pub fn remarks(standing: &Standing) -> Vec<String> {
    if !standing.may_forecast() {
        return Vec::new();
    }
    let remarks = [nothing_differs(standing), few_repeats(standing), useless_features(standing)];
    remarks.into_iter().flatten().chain(limits(standing)).collect()
}

/// Why verdicts say less than the rewards or the model seem to say: one clause per reason.
fn limits(standing: &Standing) -> impl Iterator<Item = String> {
    standing.limits.iter().map(|(&limit, &number)| {
        let candidates = if number == 1 { "1 candidate".to_owned() } else { format!("{} candidates", count(number)) };
        match VerdictLimit::named(limit) {
            Some(VerdictLimit::Skew) => format!(
                "the noise may be too skewed to prove the verdicts on {candidates}; if rewards have a range, begin the campaign with `--min` \
                 and `--max`"
            ),
            Some(VerdictLimit::FewRewards) => {
                format!("{candidates} cannot be judged by so few measurements; measure them again")
            }
            Some(VerdictLimit::UntestedModel) => format!(
                "the rewards have not tested the linear model yet, so {candidates} stay undecided; measure some candidates again, or use the \
                 mixed model"
            ),
            Some(VerdictLimit::Misfit) => {
                format!("the rewards contradict the linear model, so {candidates} stay undecided; use the mixed model")
            }
            _ => format!("{candidates} stay undecided: {limit}"),
        }
    })
}

/// What proofs assume in a campaign with these terms.
#[must_use]
pub fn assumption(terms: &Terms) -> &'static str {
    let (min, max) = terms.range;
    match terms.rewards {
        Some(RewardKind::Bernoulli) => "this assumes that the measurements of a candidate are independent",
        Some(RewardKind::Count) => "this assumes Poisson counts",
        _ if min.is_finite() && max.is_finite() => "this assumes nothing about the noise but the range of the rewards",
        _ if terms.noise.is_some() => "this assumes noise that is no larger than the given σ",
        _ => "this assumes noise that is about normal; strongly skewed noise is found and proves nothing",
    }
}

fn nothing_differs(standing: &Standing) -> Option<String> {
    let words = "the differences between candidates are no larger than noise would make";
    (standing.differs == Some(false)).then(|| words.into())
}

/// With fewer repeats, σ rests on the model.
const ENOUGH_REPEATS: u64 = 10;

fn few_repeats(standing: &Standing) -> Option<String> {
    let is_estimated =
        !matches!(standing.noise_from, NoiseSource::Given | NoiseSource::Bernoulli | NoiseSource::Nothing);
    let repeats = match standing.repeats {
        _ if !is_estimated => return None,
        0 => "no repeated measurement".to_owned(),
        1 => "only 1 repeated measurement".to_owned(),
        number if number < ENOUGH_REPEATS => format!("only {number} repeated measurements"),
        _ => return None,
    };
    Some(format!("the noise σ rests on {repeats}; measure some candidates again to know it better"))
}

/// Features that explain less than this share of the differences do not help.
const LEAST_EXPLAINED: f64 = 0.1;

fn useless_features(standing: &Standing) -> Option<String> {
    let words =
        "the features explain almost none of the differences, so each candidate is judged by its own measurements";
    let is_useless = standing.explained.is_some_and(|explained| explained.features() < LEAST_EXPLAINED);
    // Where nothing differs, there is nothing to explain.
    (is_useless && standing.differs != Some(false)).then(|| words.into())
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
