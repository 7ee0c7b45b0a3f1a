//! The settings that `new`, `plan`, `diagnose` and `set` have in common.

use super::number::{Delta, delta, noise, precision};
use clap::Args;
use clap::builder::PossibleValuesParser;
use cutline::Guarantee;
use cutline_campaign::{CampaignModel, EarlyStop, Setting};
use serde::Serialize;

const ADVANCED: &str = "Advanced options";

/// Settings that a campaign may begin with, and that may change later. As JSON they have the keys of the settings.
#[derive(Debug, Args, Serialize)]
pub(crate) struct Changeable {
    /// The precision ε: arms within ε of τ may be classified either way [default of a new campaign: 0]
    #[arg(long, value_name = "ε", allow_negative_numbers = true, value_parser = precision)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) precision: Option<f64>,
    /// The standard deviation σ of a measurement, or `estimated` from the rewards [default of a new campaign: `estimated`]
    #[arg(long, value_name = "σ", allow_negative_numbers = true, value_parser = noise_or_estimated)]
    #[serde(skip_serializing_if = "Option::is_none")]
    noise: Option<OrUnset<f64>>,
    /// How the means are explained: `mixed` by a linear, a smooth and an own part per arm, with weights learnt from the rewards;
    /// `linear` in the features; `independent` of them [default of a new campaign: that of the algorithm; `mixed`, or `independent` if the
    /// arms have no features]
    #[arg(
        long,
        value_name = "MODEL",
        value_parser = PossibleValuesParser::new(CampaignModel::ALL.iter().map(|model| model.name()))
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    /// The probability that an interval contains the mean [default of a new campaign: 0.95]
    #[arg(long, value_name = "P", help_heading = ADVANCED, value_parser = delta)]
    #[serde(rename = "delta", skip_serializing_if = "Option::is_none")]
    confidence: Option<Delta>,
    /// What the confidence is about in proved verdicts: `each` of them, `all` of them together, or `fdr`, the share of wrong ones among those
    /// proved to be above, and among those proved to be below [default of a new campaign: `each`]
    #[arg(
        long,
        value_name = "GUARANTEE",
        help_heading = ADVANCED,
        value_parser = PossibleValuesParser::new(Guarantee::ALL.iter().map(|guarantee| guarantee.name()))
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    guarantee: Option<String>,
    /// End before the budget is used up: `proved` once every candidate is proved to be above or below, guaranteed; `evidence` earlier, a
    /// heuristic; `expected-errors 3` once the mixed model expects at most 3 wrong calls, an expectation and not a guarantee; or `never`;
    /// see docs/stopping.md [default of a new campaign: `never`]
    #[arg(long, value_name = "STOP", help_heading = ADVANCED, value_parser = until_sure_or_never)]
    #[serde(skip_serializing_if = "Option::is_none")]
    until_sure: Option<OrUnset<String>>,
}

impl Changeable {
    /// σ; `None` if it is estimated.
    pub(crate) fn noise(&self) -> Option<f64> {
        self.noise.as_ref().and_then(|noise| noise.0)
    }
}

/// The value of a setting; `None` if the word for its default was given, which is null in JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
struct OrUnset<T>(Option<T>);

impl<T> OrUnset<T> {
    /// The value that a text means for the setting with this key.
    fn read(key: &str, text: &str, parse: impl FnOnce(&str) -> Result<T, String>) -> Result<Self, String> {
        let word = Setting::of(key).ok().and_then(|setting| setting.unset_word);
        if word == Some(text) {
            return Ok(Self(None));
        }
        let or = word.map_or_else(String::new, |word| format!(", or `{word}`"));
        parse(text).map(|value| Self(Some(value))).map_err(|error| format!("{error}{or}"))
    }
}

fn noise_or_estimated(text: &str) -> Result<OrUnset<f64>, String> {
    OrUnset::read("noise", text, noise)
}

/// The name of a stop, as it is stored.
fn until_sure_or_never(text: &str) -> Result<OrUnset<String>, String> {
    let stop = |text: &str| EarlyStop::named(text).map(|stop| stop.to_string()).map_err(|error| error.to_string());
    OrUnset::read("until_sure", text, stop)
}
