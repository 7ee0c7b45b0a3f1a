//! What verdicts rest on: how many are proved, what that promises and assumes, and where they rest on little.

use cutline::{Guarantee, NoiseSource, RewardKind, Verdict, VerdictLimit, grouped};
use cutline_campaign::{Settings, Standing, Terms};

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
        _ => format!(
            "a candidate on the other side is proved wrongly with a probability of at most {percent} %, each by itself; with many candidates, \
             the guarantee `fdr` limits the share of proved verdicts that are wrong"
        ),
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
