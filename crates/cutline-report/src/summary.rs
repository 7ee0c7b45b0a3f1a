//! How a campaign stands, in numbers and sentences.

use crate::finding::learnt_in_words;
use crate::numbers::grouped_amount;
use crate::words;
use crate::words::sentence;
use cutline::grouped;
use cutline_campaign::{Rest, Standing};
use serde::Serialize;

/// How a campaign stands, in numbers and sentences: what `cutline status` and `cutline report` print as JSON, the API answers, and Python
/// returns.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Summary {
    /// The result so far, without a full stop.
    pub sentence: String,
    /// The numbers.
    #[serde(flatten)]
    pub standing: Standing,
    /// What the mixed model found about features and noise, without a full stop.
    pub finding: Option<String>,
    /// What follows from the fit of the model, without a full stop.
    pub fit_advice: String,
    /// What the verdicts rest on, where that is little: clauses without a full stop.
    pub remarks: Vec<String>,
}

impl From<Standing> for Summary {
    fn from(standing: Standing) -> Self {
        let found = standing.explained.zip(standing.noise);
        Self {
            sentence: result(&standing),
            finding: found.map(|(explained, sigma)| learnt_in_words(explained, sigma, standing.noise_from)),
            fit_advice: words::fit_advice(&standing.fit),
            remarks: words::remarks(&standing),
            standing,
        }
    }
}

impl Summary {
    /// Whether and why the campaign has ended, as a sentence.
    #[must_use]
    pub fn state(&self) -> String {
        match self.standing.ending {
            Some(reason) => format!("The campaign has ended: {}.", words::ending(reason)),
            None if self.standing.told == 0 => "The campaign has no rewards yet.".into(),
            None => "The campaign is in progress.".into(),
        }
    }

    /// What the model found and how the campaign stands, one sentence each; `plan` is what to do to learn what the rest would bring.
    #[must_use]
    pub fn sentences(&self, plan: &str) -> Vec<String> {
        let found = self.finding.as_deref().map(sentence);
        let lines = words::lines(&self.standing, plan).into_iter().map(|(label, line)| match label {
            "stop" | "note" => sentence(&line),
            label => sentence(&format!("{label}: {line}")),
        });
        found.into_iter().chain(lines).collect()
    }

    /// The fields of CSV, by name: the keys of JSON, with those of `explained` and the main ones of `rest`.
    #[must_use]
    pub fn fields(&self) -> Vec<(&'static str, String)> {
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:?}"));
        let text = |value: Option<String>| value.unwrap_or_default();
        let standing = &self.standing;
        let explained = standing.explained;
        let rest = |of: fn(&Rest) -> f64| number(standing.rest.as_ref().map(of));
        let limits: Vec<String> = standing.limits.iter().map(|(limit, number)| format!("{limit} {number}")).collect();
        let fields = [
            ("campaign", standing.campaign.clone()),
            ("sentence", self.sentence.clone()),
            ("threshold", format!("{:?}", standing.threshold)),
            ("precision", format!("{:?}", standing.precision)),
            ("model", standing.model.name().into()),
            ("algorithm", standing.algorithm.clone()),
            ("n_arms", standing.n_arms.to_string()),
            ("above", standing.above.to_string()),
            ("above_proved", standing.above_proved.to_string()),
            ("at_threshold", standing.at_threshold.to_string()),
            ("below", standing.below.to_string()),
            ("below_proved", standing.below_proved.to_string()),
            ("undecided", standing.undecided.to_string()),
            ("limits", limits.join("; ")),
            ("withdrawn", standing.withdrawn.to_string()),
            ("budget", standing.budget.to_string()),
            ("told", standing.told.to_string()),
            ("remaining", standing.remaining.to_string()),
            ("uncounted", standing.uncounted.to_string()),
            ("open", standing.open.to_string()),
            ("failed", standing.failed.to_string()),
            ("expired", standing.expired.to_string()),
            ("voided", standing.voided.to_string()),
            ("noise", number(standing.noise)),
            ("noise_from", standing.noise_from.name().into()),
            ("repeats", standing.repeats.to_string()),
            ("differs", text(standing.differs.map(|differs| differs.to_string()))),
            ("finding", text(self.finding.clone())),
            ("explained_linear", number(explained.map(|explained| explained.linear))),
            ("explained_smooth", number(explained.map(|explained| explained.smooth))),
            ("explained_own", number(explained.map(|explained| explained.own))),
            ("wrong_calls", number(standing.wrong_calls)),
            ("fit", standing.fit.fit.name().into()),
            ("fit_p_value", number(standing.fit.p_value)),
            ("fit_advice", self.fit_advice.clone()),
            ("remarks", self.remarks.join("; ")),
            ("may_stop", standing.may_stop.to_string()),
            ("until_sure", text(standing.until_sure.map(|stop| stop.to_string()))),
            ("ending", standing.ending.map_or("", cutline::StopReason::name).into()),
            ("rewards_per_hour", number(standing.rewards_per_hour)),
            ("budget_used_at", text(standing.budget_used_at.map(cutline_campaign::rfc3339))),
            ("rest_wrong_calls", rest(|rest| rest.wrong_calls)),
            ("rest_undecided", rest(|rest| rest.undecided)),
            ("events", standing.events.to_string()),
        ];
        let spent = standing.spent.map(|spent| ("spent", format!("{:?}", spent.value())));
        fields.into_iter().chain(spent).collect()
    }
}

/// The result so far in one sentence.
fn result(standing: &Standing) -> String {
    let Standing { threshold, above, below, undecided, .. } = standing;
    let [told, budget] = [standing.told, standing.budget].map(|number| grouped(number.into()));
    let candidates = if standing.n_arms == 1 { "candidate" } else { "candidates" };
    let (of_above, of_below) = (words::above_proved(standing), words::proved(*below, standing.below_proved));
    let [above, below, undecided, n_arms] =
        [*above, *below, *undecided, standing.n_arms].map(|number| grouped(number as u64));
    let lie = if standing.above == 1 || standing.n_arms == 1 { "lies" } else { "lie" };
    let noun = |number: u32| if number == 1 { "measurement" } else { "measurements" };
    let used = match standing.spent {
        Some(spent) => format!("{} of {budget} spent on {told} {}", grouped_amount(spent), noun(standing.told)),
        None => format!("{told} of {budget} {} used", noun(standing.budget)),
    };
    format!(
        "{above} of {n_arms} {candidates} {lie} above {threshold}{of_above}, {below} below{of_below}, {undecided} undecided; {used}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use cutline::Amount;
    use cutline_campaign::{Candidates, Settings};

    /// How a campaign without rewards stands.
    fn standing() -> Standing {
        let candidates = Candidates::new(vec!["a".into()], vec![], vec![]).unwrap();
        let mut settings = Settings::new(2.5, 400);
        settings.resolve(false).unwrap();
        let mut state = settings.begin(&candidates).unwrap();
        let verdicts = state.verdicts();
        Standing::new("screen", &settings, &mut state, &verdicts, 0)
    }

    #[test]
    fn the_sentence_is_english() {
        let said = |above, below, undecided, told, budget, spent: Option<f64>| {
            let n_arms = above + below + undecided;
            let (above_proved, below_proved, spent) = (above / 2, below / 4, spent.and_then(Amount::new));
            let counts = Standing { n_arms, above, above_proved, below, below_proved, undecided, ..standing() };
            result(&Standing { told, budget, spent, ..counts })
        };
        for (said, expected) in [
            (
                said(17, 120, 13, 400, 400, None),
                "17 of 150 candidates lie above 2.5 (8 proved), 120 below (30 proved), 13 undecided; 400 of 400 measurements used",
            ),
            (
                said(1, 1499, 0, 9, 1000, None),
                "1 of 1,500 candidates lies above 2.5 (0 proved), 1,499 below (374 proved), 0 undecided; 9 of 1,000 measurements used",
            ),
            (
                said(1, 2, 0, 1432, 2000, Some(1812.5)),
                "1 of 3 candidates lies above 2.5 (0 proved), 2 below (0 proved), 0 undecided; 1,812.5 of 2,000 spent on 1,432 measurements",
            ),
            (
                said(0, 0, 1, 0, 1, None),
                "0 of 1 candidate lies above 2.5, 0 below, 1 undecided; 0 of 1 measurement used",
            ),
        ] {
            assert_eq!(said, expected);
        }
    }

    /// Each remark appears where it applies, and none before there are ten rewards.
    #[test]
    fn remarks_say_what_the_verdicts_rest_on() {
        let explained = cutline::estimators::Explained { linear: 0.02, smooth: 0.03, own: 0.95 };
        let plain = Standing {
            wrong_calls: Some(3.0),
            repeats: 10,
            differs: Some(true),
            noise_from: cutline::NoiseSource::Model,
            ..standing()
        };
        let said = |standing: &Standing| words::remarks(standing).join("|");
        assert_eq!(said(&plain), "");
        assert_eq!(
            said(&Standing { differs: Some(false), explained: Some(explained), ..plain.clone() }),
            "the differences between candidates are no larger than noise would make"
        );
        let few = Standing { repeats: 9, ..plain.clone() };
        assert!(said(&few).starts_with("the noise σ rests on only 9 repeated measurements;"), "{}", said(&few));
        assert!(said(&Standing { repeats: 0, ..few.clone() }).contains("no repeated measurement;"));
        for noise_from in [cutline::NoiseSource::Given, cutline::NoiseSource::Bernoulli] {
            assert_eq!(said(&Standing { noise_from, ..few.clone() }), "", "σ is known without repeats");
        }
        let useless = Standing { explained: Some(explained), ..plain };
        let skewed = Standing { limits: [("skew", 3)].into(), ..few.clone() };
        assert!(
            said(&skewed).contains("|the noise may be too skewed to prove the verdicts on 3 candidates;"),
            "{}",
            said(&skewed)
        );
        assert!(said(&useless).starts_with("the features explain almost none of the differences"));
        let early = Summary::from(Standing { wrong_calls: None, repeats: 0, ..useless });
        assert_eq!((early.remarks.len(), words::wrong_calls(&early.standing)), (0, None));
    }

    #[test]
    fn proved_verdicts_are_counted_in_words() {
        let counts =
            Standing { above: 52, above_proved: 31, below: 120, below_proved: 88, undecided: 68, ..standing() };
        assert_eq!(words::sides(&counts), "52 above (31 proved), 120 below (88 proved), 68 undecided");
        let at = Standing { above: 2, above_proved: 0, at_threshold: 1, below: 0, below_proved: 0, ..counts };
        assert_eq!(words::sides(&at), "2 above (0 proved, 1 exactly at the threshold), 0 below, 68 undecided");
    }

    /// What JSON says in one value, CSV says in a field of the same name.
    #[test]
    fn csv_has_the_keys_of_json() {
        let summary = Summary::from(Standing { spent: Amount::new(1.5), ..standing() });
        let json = serde_json::to_value(&summary).unwrap();
        let keys: Vec<&String> =
            json.as_object().unwrap().keys().filter(|key| !["rest", "explained"].contains(&&key[..])).collect();
        let fields: Vec<&str> = summary.fields().iter().map(|(name, _)| *name).collect();
        assert!(keys.iter().all(|key| fields.contains(&&key[..])), "{keys:?} {fields:?}");
        assert_eq!(fields.len(), keys.len() + 5, "three shares and two numbers of the rest");
    }
}
