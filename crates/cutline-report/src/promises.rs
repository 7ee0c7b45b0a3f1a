//! What is promised to somebody who stops a campaign by hand.

use crate::words;
use cutline::{EstimatorKind, Guarantee, IntervalKind, RewardKind, StopCriterion, grouped};
use cutline_campaign::{EarlyStop, Terms};

/// What holds for a campaign with these terms, in sentences.
#[must_use]
pub fn promises(terms: &Terms, n_arms: usize) -> Vec<String> {
    let (level, error) = (percent(1.0 - terms.delta), percent(terms.delta));
    let arms = grouped(n_arms as u64);
    let estimator = terms.spec.estimator();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a number of arms")]
    let misses = grouped((terms.delta * n_arms as f64).round() as u64);
    let mut sentences = vec![
        "You may stop whenever you like: nothing is lost, and measuring can go on later. The verdicts are those shown at that time.".into(),
    ];
    sentences.push(match (terms.interval, estimator) {
        (IntervalKind::Anytime, _) => {
            let is_given = terms.noise.is_some() || terms.rewards == Some(RewardKind::Bernoulli);
            let noise = if is_given { "" } else { " That needs a given noise; here the noise is estimated, so it holds approximately." };
            let linear = if estimator == EstimatorKind::Ridge { ", if the means are linear in the features" } else { "" };
            format!("The intervals hold for all arms and at all times together with probability {level}{linear}. So you may look after every reward, and stop because you like the answer: a decided side is wrong with probability at most {error}.{noise}")
        }
        (_, EstimatorKind::Mixed) => format!(
            "The intervals are what the model believes: each contains its mean with probability {level}. This was checked by simulation, and it is not a guarantee. About {misses} of {arms} intervals are expected to miss."
        ),
        _ => format!(
            "Each interval holds for one arm at one time with probability {level}; about {misses} of {arms} are expected to miss. If you look after every reward and stop as soon as you like the answer, the intervals hold less often than that."
        ),
    });
    let kind = terms.guarantee.unwrap_or(Guarantee::Each);
    sentences.push(format!(
        "A proved verdict rests on the measurements of the candidate alone, whatever the model, and may be read at any time: {}; {}.",
        words::guarantee(kind, terms.delta),
        words::assumption(terms)
    ));
    sentences.push("An undecided arm has no verdict. To call it by its mean is a guess, and its doubt is the probability that the guess is wrong.".into());
    sentences.push(match terms.until_sure {
        None => "The campaign does not end by itself before the budget is used up.".into(),
        Some(EarlyStop::Proved) => {
            let all = words::guarantee(terms.guarantee.unwrap_or(Guarantee::All), terms.delta);
            format!("The campaign ends by itself as soon as every side is proved; then {all}.")
        }
        Some(EarlyStop::Sure(StopCriterion::Intervals)) => {
            format!("The campaign ends by itself as soon as every side is certain; then any side is wrong with probability at most {error}.")
        }
        Some(EarlyStop::Sure(_)) => {
            "The campaign ends by itself when the evidence for every side is strong. That is a heuristic without a guarantee.".into()
        }
        Some(_) => "The campaign ends by itself when few enough wrong calls are expected. That is an expectation under the model, not a guarantee.".into(),
    });
    sentences
}

/// A probability in percent, without rounding errors in the last digits.
fn percent(probability: f64) -> String {
    format!("{} %", (probability * 1e10).round() / 1e8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cutline::{Question, Spec};

    #[test]
    fn the_promise_depends_on_the_intervals() {
        let mut terms =
            Terms { rewards: None, ..Terms::new(Question::new(0.5, 0.0).unwrap(), Spec::named("apt").unwrap(), 10) };
        let fixed = promises(&terms, 1000).join(" ");
        assert!(
            fixed.contains("95 %") && fixed.contains("about 50 of 1,000") && fixed.contains("less often"),
            "{fixed}"
        );
        terms.interval = IntervalKind::Anytime;
        let estimated = promises(&terms, 1000).join(" ");
        assert!(estimated.contains("at most 5 %") && estimated.contains("the noise is estimated"), "{estimated}");
        terms.noise = Some(1.0);
        assert!(!promises(&terms, 1000).join(" ").contains("estimated"));
    }
}
