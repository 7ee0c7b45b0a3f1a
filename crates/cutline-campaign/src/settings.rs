//! The settings of a campaign: the one list from which stores, the command line, HTTP and Python take them.

use crate::setting::{Setting, SettingError, SettingKind};
use crate::{
    CampaignCovariance, CampaignModel, CandidatesError, EarlyStop, Encoding, ModelError, Preparation, TermsError, names,
};
use cutline::rules::NamedRule;
use cutline::{CovarianceError, EstimatorKind, Guarantee, IntervalKind, RewardKind};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use thiserror::Error;

/// The settings of a campaign: everything but its candidates. [`Settings::new`] has the defaults. What is left open is chosen when the
/// campaign [begins](Settings::resolve).
///
/// | setting | default | meaning | range | error |
/// |---|---|---|---|---|
/// | `threshold` | required | τ | ±1e80 | [`TermsError::Threshold`] |
/// | `precision` | 0 | ε: arms within ε of τ may be called either way | 0 to 1e80 | [`TermsError::Precision`] |
/// | `budget` | required | the number of measurements allowed, or what they may cost if the candidates have costs | 1 to 2³² − 1 | [`TermsError::Spec`] |
/// | `model` | `mixed`; `independent` without features | algorithm, estimator and preparation in one word; not stored | [`CampaignModel::ALL`] | [`ModelError::Unknown`] |
/// | `algorithm` | that of the model | how measurements are chosen | a name of [`cutline::ALGORITHMS`] or of a custom rule | [`TermsError::Spec`] |
/// | `estimator` | that of the model or of the algorithm | how means are estimated; `None` in stores of earlier versions is that of the algorithm | [`EstimatorKind::ALL`] | [`TermsError::Spec`] |
/// | `parameters` | those of the algorithm | by name; `noise`, `centre` and `intercept` are separate settings | as [`cutline::Parameter::range`] says | [`TermsError::Spec`] |
/// | `rewards` | `gaussian` | the kind of the rewards; `None` in campaigns of earlier versions: [`Terms::rewards`](crate::Terms::rewards) | [`RewardKind::ALL`] | [`TermsError::UnknownRewards`] |
/// | `min`, `max` | none | the ends of the range in which every reward lies; one of them may be given alone | `min` < `threshold` < `max` | [`TermsError::RangeEnds`], [`TermsError::ThresholdOutsideRange`], [`TermsError::RangeOfKind`] |
/// | `noise` | estimated | σ, the standard deviation of a measurement | 1e-100 to 1e100 | [`TermsError::Interval`], [`TermsError::BernoulliNoise`] |
/// | `interval` | `fixed` | the kind of the verdicts' intervals | [`IntervalKind::ALL`] | [`TermsError::Interval`] |
/// | `delta` | 0.05 | δ: an interval holds with probability 1 − δ; a user may give `confidence`, which is 1 − δ | above 0, below 1 | [`TermsError::Interval`] |
/// | `guarantee` | `each` for verdicts, `all` for a stop that waits for proofs | whether δ is about each proved verdict, all of them, or the share of false ones | [`Guarantee::ALL`] | [`TermsError::UnknownGuarantee`] |
/// | `until_sure` | none | stop early: `proved`, once every side is proved, by `evidence`, a heuristic, or by `expected-errors 3`; `intervals` in campaigns of earlier versions | [`EarlyStop::named`] | [`TermsError::UnknownCriterion`], [`TermsError::IntervalsReplaced`] |
/// | `preparation` | that of the model | how features and rewards are transformed before learning | [`Preparation`] | [`ModelError::MixedPreparation`] |
/// | `covariance` | none | how the means are related, in place of a model that is linear in the features | [`CampaignCovariance`] | [`SettingsError::Covariance`] |
/// | `encoding` | none: all columns hold numbers | how the columns of a table of candidates become features | [`Encoding`] | |
/// | `cost` | none | the column of a table of candidates that holds their costs; the costs themselves are part of the candidates | a name | [`SettingsError::Candidates`] |
/// | `seed` | 0 | the seed of all random choices | 0 to 2⁶⁴ − 1 | |
/// | `custom_rule` | none | a custom rule in place of `algorithm`; only its name is stored | | |
///
/// As JSON the settings are an object with these keys, in which only `threshold` and `budget` are required; a value of another type is a
/// [`SettingError`]. [`Settings::LIST`] says of each key which values it takes and whether it may change in the course of a campaign.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The threshold τ: the question is which arms have a mean above it.
    #[cfg_attr(feature = "schema", schema(example = 0.5))]
    pub threshold: f64,
    /// The precision ε: arms within ε of τ may be called either way.
    #[serde(default)]
    pub precision: f64,
    /// How many measurements may be made or, if the arms have costs, what they may cost in all.
    #[cfg_attr(feature = "schema", schema(minimum = 1, example = 400))]
    pub budget: u32,
    /// The algorithm, by its name.
    #[serde(default)]
    pub algorithm: Option<String>,
    /// `mixed`, `ridge`, `sample-mean` or `isotonic`.
    #[serde(default, with = "names::optional")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub estimator: Option<EstimatorKind>,
    /// Parameters of the algorithm, by name.
    #[serde(default)]
    pub parameters: BTreeMap<String, f64>,
    /// `gaussian`, numbers with noise, `bernoulli`, 1 for pass and 0 for fail, or `count`: 0, 1, 2 and so on.
    #[serde(default, with = "names::optional", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub rewards: Option<RewardKind>,
    /// The smallest reward that is possible; rewards below it are refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The largest reward that is possible; rewards above it are refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// The standard deviation of a measurement; without it, it is estimated.
    #[serde(default)]
    pub noise: Option<f64>,
    /// `fixed` or `anytime`.
    #[serde(default = "fixed", with = "names")]
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub interval: IntervalKind,
    /// The probability that an interval does not contain the mean.
    #[serde(default = "usual_delta")]
    pub delta: f64,
    /// What `delta` is about in proved verdicts: `each` of them, `all` together, or `fdr`, the share of false ones.
    #[serde(default, with = "names::optional", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub guarantee: Option<Guarantee>,
    /// When to end before the budget is used up: `proved`, `evidence`, or `expected-errors 3`.
    #[serde(default, with = "names::optional")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub until_sure: Option<EarlyStop>,
    /// How features and rewards are prepared for the linear model.
    #[serde(default)]
    pub preparation: Option<Preparation>,
    /// How the means are related, if they are not linear in the features.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<Object>))]
    pub covariance: Option<CampaignCovariance>,
    /// How the columns of a table of arms became features.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<Object>))]
    pub encoding: Option<Encoding>,
    /// The column of a table of arms with what a measurement of each of them costs, in units of the budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
    /// The seed of all random choices.
    #[serde(default)]
    pub seed: u64,
    /// `mixed`, `linear` or `independent`: algorithm, estimator and preparation in one word, until the campaign begins.
    #[serde(default, with = "names::optional", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub model: Option<CampaignModel>,
    /// A custom rule in place of a named algorithm; only its name is stored, as `algorithm`.
    #[serde(skip)]
    pub custom_rule: Option<NamedRule>,
}

/// Why settings were refused.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SettingsError {
    /// A key or the type of a value is wrong.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// They contradict each other.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A name is unknown, a number is out of range, or they promise what cannot be guaranteed.
    #[error(transparent)]
    Terms(#[from] TermsError),
    /// The kernel or the graph does not fit the candidates.
    #[error(transparent)]
    Covariance(#[from] CovarianceError),
    /// The costs of the candidates are refused.
    #[error(transparent)]
    Candidates(#[from] CandidatesError),
}

impl Settings {
    /// Every key of the settings, and `confidence`, which is 1 − `delta`.
    pub const LIST: &[Setting] = &[
        Setting::new("threshold", SettingKind::Number).required().may_change(),
        Setting::new("precision", SettingKind::Number).may_change(),
        Setting::new("budget", SettingKind::Whole { least: 1, most: u32::MAX as u64 }).required().may_change(),
        Setting::new("algorithm", SettingKind::Text).may_change(),
        Setting::new("estimator", SettingKind::name::<EstimatorKind>()),
        Setting::new("parameters", SettingKind::structure::<BTreeMap<String, f64>>()),
        Setting::new("rewards", SettingKind::name::<RewardKind>()),
        Setting::new("min", SettingKind::Number),
        Setting::new("max", SettingKind::Number),
        Setting::new("noise", SettingKind::Number).may_change().unset_by("estimated"),
        Setting::new("interval", SettingKind::name::<IntervalKind>()),
        Setting::new("delta", SettingKind::Number).may_change(),
        Setting::new(CONFIDENCE, SettingKind::Number).may_change(),
        Setting::new("guarantee", SettingKind::name::<Guarantee>()).may_change(),
        Setting::new("until_sure", SettingKind::name::<EarlyStop>()).may_change().unset_by("never"),
        Setting::new("preparation", SettingKind::structure::<Preparation>()),
        Setting::new("covariance", SettingKind::structure::<CampaignCovariance>()),
        Setting::new("encoding", SettingKind::structure::<Encoding>()),
        Setting::new("cost", SettingKind::Text),
        Setting::new("seed", SettingKind::Whole { least: 0, most: u64::MAX }),
        Setting::new("model", SettingKind::name::<CampaignModel>()).may_change(),
    ];

    /// The defaults, for this threshold and this budget.
    #[must_use]
    pub fn new(threshold: f64, budget: u32) -> Self {
        Self {
            threshold,
            precision: 0.0,
            budget,
            algorithm: None,
            estimator: None,
            parameters: BTreeMap::new(),
            rewards: None,
            min: None,
            max: None,
            noise: None,
            interval: fixed(),
            delta: usual_delta(),
            guarantee: None,
            until_sure: None,
            preparation: None,
            covariance: None,
            encoding: None,
            cost: None,
            seed: 0,
            model: None,
            custom_rule: None,
        }
    }

    /// The settings as a JSON object.
    pub(crate) fn object(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(object)) => object,
            other => unreachable!("settings are an object, not {other:?}"),
        }
    }
}

/// The key under which 1 − δ is given.
pub(crate) const CONFIDENCE: &str = "confidence";

fn fixed() -> IntervalKind {
    IntervalKind::Fixed
}

fn usual_delta() -> f64 {
    0.05
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The list and the fields are the same, and each key takes null or has to be given.
    #[test]
    fn every_field_is_in_the_list() {
        let mut settings = Settings::new(0.5, 9);
        settings.rewards = Some(RewardKind::Gaussian);
        (settings.min, settings.max) = (Some(0.0), Some(1.0));
        settings.guarantee = Some(Guarantee::Fdr);
        settings.covariance = Some(CampaignCovariance::kernel(cutline::Kernel::Rbf, 1.0));
        settings.encoding = Some(Encoding::default());
        settings.cost = Some("price".into());
        settings.model = Some(CampaignModel::Mixed);
        let object = settings.object();
        let mut listed: Vec<&str> = Settings::LIST.iter().map(|setting| setting.key).collect();
        listed.retain(|key| *key != CONFIDENCE);
        listed.sort_unstable();
        assert_eq!(listed, object.keys().collect::<Vec<_>>());
        let again: Settings = serde_json::from_value(Value::Object(object)).unwrap();
        assert_eq!(again, settings);
    }

    #[test]
    fn only_threshold_and_budget_are_required() {
        let settings: Settings = serde_json::from_str(r#"{"threshold":0.5,"budget":9}"#).unwrap();
        assert_eq!(settings, Settings::new(0.5, 9));
        for bad in [
            r#"{"threshold":0.5}"#,
            r#"{"threshold":0.5,"budget":9,"colour":1}"#,
            r#"{"threshold":0.5,"budget":9,"interval":"wide"}"#,
            r#"{"threshold":0.5,"budget":9,"until_sure":"hope"}"#,
        ] {
            assert!(serde_json::from_str::<Settings>(bad).is_err(), "{bad}");
        }
    }
}
