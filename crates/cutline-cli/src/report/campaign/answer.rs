//! The result of a campaign so far, in one sentence.

use super::View;
use crate::status_summary::reason_in_words;
use crate::{spending, standing};
use cutline::{Amount, StopReason, grouped};
use cutline_campaign::{Standing, expected_errors, finding};
use serde::Serialize;

/// The result of a campaign so far: an object of JSON.
#[derive(Debug, Serialize)]
pub(crate) struct Answer {
    pub(crate) campaign: String,
    /// Without a full stop.
    pub(crate) sentence: String,
    pub(crate) n_arms: usize,
    pub(crate) above: usize,
    pub(crate) below: usize,
    pub(crate) undecided: usize,
    pub(crate) threshold: f64,
    pub(crate) precision: f64,
    pub(crate) told: u32,
    /// What they have cost, if measurements have costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) spent: Option<f64>,
    pub(crate) budget: u32,
    pub(crate) ending: Option<&'static str>,
    pub(crate) model: &'static str,
    /// What the mixed model found about features and noise, without a full stop.
    pub(crate) finding: Option<String>,
    /// The wrong calls that the mixed model expects: the sum of the doubts.
    pub(crate) expected_errors: Option<f64>,
    #[serde(flatten)]
    pub(crate) standing: Standing,
}

impl Answer {
    pub(crate) fn new(view: &mut View) -> Self {
        let progress = view.state.progress();
        let standing = view.standing.clone();
        let mut answer = Self {
            campaign: view.name.clone(),
            sentence: String::new(),
            n_arms: view.names.len(),
            above: standing.above,
            below: standing.below,
            undecided: standing.undecided,
            threshold: view.settings.threshold,
            precision: view.settings.precision,
            told: progress.counted,
            spent: spending::spent(&progress),
            budget: progress.budget,
            ending: view.state.stop_reason().map(StopReason::name),
            model: view.model().name(),
            finding: finding(&view.state),
            expected_errors: expected_errors(&view.state, &view.verdicts),
            standing,
        };
        answer.sentence = answer.in_words(progress.spending.map(|spending| spending.spent));
        answer
    }

    /// The result in one sentence; `spent` is what the measurements have cost, if they have costs.
    fn in_words(&self, spent: Option<Amount>) -> String {
        let Self { threshold, above, below, undecided, told, budget, .. } = self;
        let [above, below, undecided, n_arms] = [*above, *below, *undecided, self.n_arms].map(|n| grouped(n as u64));
        let [told, budget] = [*told, *budget].map(|n| grouped(n.into()));
        let candidates = if self.n_arms == 1 { "candidate" } else { "candidates" };
        let at = match self.standing.at_threshold {
            0 => String::new(),
            n => format!(" ({} of them exactly at it)", grouped(n as u64)),
        };
        let lie = if self.above == 1 || self.n_arms == 1 { "lies" } else { "lie" };
        let noun = |n: u32| if n == 1 { "measurement" } else { "measurements" };
        let used = match spent {
            Some(spent) => format!("{} of {budget} spent on {told} {}", grouped_amount(spent), noun(self.told)),
            None => format!("{told} of {budget} {} used", noun(self.budget)),
        };
        format!(
            "{above} of {n_arms} {candidates} {lie} above {threshold}{at}, {below} below, {undecided} undecided; {used}"
        )
    }

    /// Whether and why the campaign has ended.
    pub(crate) fn state(&self) -> String {
        match self.ending {
            Some(ending) => format!("The campaign has ended: {}.", reason_in_words(ending)),
            None if self.told == 0 => "The campaign has no rewards yet.".into(),
            None => "The campaign is in progress.".into(),
        }
    }

    /// What the model found and how the campaign stands, one sentence each.
    pub(crate) fn model_sentences(&self) -> Vec<String> {
        let found = self.finding.as_deref().map(sentence);
        let lines = standing::lines(&self.standing).into_iter().map(|(label, line)| match label {
            "stop" => sentence(&line),
            label => sentence(&format!("{label}: {line}")),
        });
        found.into_iter().chain(lines).collect()
    }

    /// The fields of CSV, by name.
    pub(crate) fn fields(&self) -> Vec<(&'static str, String)> {
        let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
        let fields = [
            ("campaign", self.campaign.clone()),
            ("sentence", self.sentence.clone()),
            ("n_arms", self.n_arms.to_string()),
            ("above", self.above.to_string()),
            ("below", self.below.to_string()),
            ("undecided", self.undecided.to_string()),
            ("threshold", format!("{:?}", self.threshold)),
            ("precision", format!("{:?}", self.precision)),
            ("told", self.told.to_string()),
            ("budget", self.budget.to_string()),
            ("ending", text(self.ending)),
            ("model", self.model.into()),
            ("finding", text(self.finding.as_deref())),
            ("expected_errors", self.expected_errors.map_or_else(String::new, |errors| format!("{errors:?}"))),
        ];
        let spent = self.spent.map(|spent| ("spent", format!("{spent:?}")));
        fields.into_iter().chain(spent).chain(self.standing.fields()).collect()
    }
}

/// With a capital letter and a full stop.
fn sentence(words: &str) -> String {
    let mut characters = words.chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", characters.as_str())
}

/// An amount with commas before the point: 1,812.5.
pub(crate) fn grouped_amount(amount: Amount) -> String {
    let text = amount.to_string();
    let (whole, rest) = text.split_once('.').map_or((text.as_str(), None), |(whole, rest)| (whole, Some(rest)));
    let whole = grouped(whole.parse().unwrap_or(0));
    rest.map_or_else(|| whole.clone(), |rest| format!("{whole}.{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_is_english() {
        let answer = |above, below, undecided, told, budget| {
            let n_arms = above + below + undecided;
            let (campaign, sentence) = (String::new(), String::new());
            let (threshold, precision, ending) = (2.5, 0.0, None);
            let (model, finding, expected_errors) = ("mixed", None, None);
            Answer {
                campaign,
                sentence,
                n_arms,
                above,
                below,
                undecided,
                threshold,
                precision,
                told,
                spent: None,
                budget,
                ending,
                model,
                finding,
                expected_errors,
                standing: Standing::default(),
            }
        };
        let check = |answer: Answer, expected: &str| assert_eq!(answer.in_words(None), expected);
        check(
            answer(17, 120, 13, 400, 400),
            "17 of 150 candidates lie above 2.5, 120 below, 13 undecided; 400 of 400 measurements used",
        );
        check(
            answer(1, 1499, 0, 9, 1000),
            "1 of 1,500 candidates lies above 2.5, 1,499 below, 0 undecided; 9 of 1,000 measurements used",
        );
        assert_eq!(
            answer(1, 2, 0, 1432, 2000).in_words(Amount::new(1812.5)),
            "1 of 3 candidates lies above 2.5, 2 below, 0 undecided; 1,812.5 of 2,000 spent on 1,432 measurements"
        );
        check(answer(0, 0, 1, 0, 1), "0 of 1 candidate lies above 2.5, 0 below, 1 undecided; 0 of 1 measurement used");
    }
}
