//! Some settings with their values: those that a campaign begins with, over the defaults, or those that change in its course.

use crate::settings::CONFIDENCE;
use crate::{CampaignModel, EarlyStop, Setting, SettingError, Settings, SettingsError};
use cutline::rules::NamedRule;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// New values of some settings, as a JSON object by the keys of [`Settings::LIST`]; null is the default of a setting. Keys that it does not
/// have stay as they are.
///
/// `confidence` stands for 1 − `delta`. With `algorithm` the present model stays, unless `model` is given too; with `model` come its
/// own algorithm, unless one is given, and its own preparation.
///
/// ```
/// use cutline_campaign::{Change, Settings};
///
/// let given = Change::new().with("threshold", 0.5).with("budget", 40).with("noise", 0.1);
/// let settings = given.settings()?;
/// let change = Change::new().with("threshold", 0.7).with("noise", None::<f64>);
/// let changed = change.apply(&settings, true)?;
/// assert_eq!((changed.threshold, changed.budget, changed.noise), (0.7, 40, None));
/// assert!(Change::new().with("seed", 1).apply(&settings, true).is_err());
/// # Ok::<(), cutline_campaign::SettingsError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Change(Map<String, Value>);

/// A value of a setting, as it is in JSON.
pub trait SettingValue {
    /// The value in JSON. JSON has no numbers that are not finite: such a number is a text here, which is refused as a value.
    fn json(self) -> Value;
}

/// A number as a value of a setting.
pub(crate) fn number(number: f64) -> Value {
    serde_json::Number::from_f64(number).map_or_else(|| number.to_string().into(), Value::Number)
}

impl SettingValue for f64 {
    fn json(self) -> Value {
        number(self)
    }
}

impl SettingValue for u32 {
    fn json(self) -> Value {
        self.into()
    }
}

impl SettingValue for &str {
    fn json(self) -> Value {
        self.into()
    }
}

impl SettingValue for EarlyStop {
    fn json(self) -> Value {
        self.to_string().into()
    }
}

impl SettingValue for CampaignModel {
    fn json(self) -> Value {
        self.name().into()
    }
}

impl<T: SettingValue> SettingValue for Option<T> {
    fn json(self) -> Value {
        self.map_or(Value::Null, T::json)
    }
}

impl From<Map<String, Value>> for Change {
    fn from(values: Map<String, Value>) -> Self {
        Self(values)
    }
}

impl Change {
    /// No settings.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with this value of a setting.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl SettingValue) -> Self {
        self.0.insert(key.into(), value.json());
        self
    }

    /// Settings that are given as texts by their keys, on a form or in an address. Empty texts are left out.
    ///
    /// # Errors
    /// If a key is unknown, or a text is not a number where one is needed.
    pub fn of_texts<'a>(texts: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, SettingsError> {
        let mut values = Map::new();
        for (key, text) in texts.into_iter().map(|(key, text)| (key, text.trim())).filter(|(_, text)| !text.is_empty())
        {
            values.insert(key.into(), Setting::of(key)?.read(text)?);
        }
        Ok(Self(values))
    }

    /// The keys that it has, in alphabetical order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Whether it has no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The settings of a new campaign: these over the defaults.
    ///
    /// # Errors
    /// If the threshold or the budget is missing, a key is unknown, a value has another type, or a name is unknown.
    pub fn settings(&self) -> Result<Settings, SettingsError> {
        self.over(Map::new())
    }

    /// The settings of a campaign after the change.
    ///
    /// # Errors
    /// If one of the settings cannot change, its value has another type, or the new settings contradict each other.
    pub fn apply(&self, settings: &Settings, has_features: bool) -> Result<Settings, SettingsError> {
        for key in self.keys() {
            let setting = Setting::of(key)?;
            if !setting.may_change {
                return Err(SettingError::Fixed(setting.key).into());
            }
        }
        let mut changed = self.merged(settings)?;
        let (has_algorithm, has_model) = (self.0.contains_key("algorithm"), self.0.contains_key("model"));
        if !has_algorithm && !has_model {
            return Ok(changed);
        }
        if has_model {
            (changed.estimator, changed.preparation, changed.covariance) = (None, None, None);
            changed.parameters.clear();
        }
        if has_algorithm {
            let estimator = changed.estimator;
            let is_of_estimator = |parameter: &String| {
                estimator.is_some_and(|kind| kind.parameters().iter().any(|known| known.name == parameter))
            };
            changed.parameters.retain(|parameter, _| is_of_estimator(parameter));
            changed.custom_rule = None;
        } else {
            changed.algorithm = changed.custom_rule.as_ref().map(|rule| NamedRule::name(rule).to_owned());
        }
        changed.resolve(has_features)?;
        Ok(changed)
    }

    /// The settings with these values, whether or not they may change.
    pub(crate) fn merged(&self, settings: &Settings) -> Result<Settings, SettingsError> {
        Ok(Settings { custom_rule: settings.custom_rule.clone(), ..self.over(settings.object())? })
    }

    fn over(&self, mut object: Map<String, Value>) -> Result<Settings, SettingsError> {
        for (key, value) in &self.0 {
            Setting::of(key)?.check(value)?;
            if key != CONFIDENCE {
                object.insert(key.clone(), value.clone());
            }
        }
        if let Some(confidence) = self.0.get(CONFIDENCE) {
            if self.0.contains_key("delta") {
                return Err(SettingError::ConfidenceAndDelta.into());
            }
            object.insert("delta".into(), delta(confidence)?);
        }
        // Null is the default, as if the key were not there.
        object.retain(|_, value| !value.is_null());
        let missing = Settings::LIST.iter().find(|setting| setting.is_required && !object.contains_key(setting.key));
        if let Some(setting) = missing {
            return Err(SettingError::Missing(setting.key).into());
        }
        serde_json::from_value(Value::Object(object))
            .map_err(|error| SettingError::Structure { key: "settings", why: error.to_string() }.into())
    }
}

/// δ for a confidence.
fn delta(confidence: &Value) -> Result<Value, SettingError> {
    let Some(confidence) = confidence.as_f64() else { return Ok(Value::Null) };
    cutline::delta_of(confidence).map(number).map_err(|_| SettingError::Confidence(confidence))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TermsError;
    use cutline::{EstimatorKind, IntervalError, SpecError, StopCriterion};

    fn refused(change: &Change) -> String {
        change.apply(&Settings::new(0.5, 40), true).unwrap_err().to_string()
    }

    #[test]
    fn values_are_checked_against_the_list() {
        assert_eq!(refused(&Change::new().with("colour", 1)), "unknown setting `colour`");
        assert_eq!(refused(&Change::new().with("seed", 1)), "`seed` cannot change in the course of a campaign");
        let nan = Change::new().with("noise", f64::NAN);
        assert_eq!(refused(&nan), "`noise` must be a finite number, not `NaN`", "and is not taken for null");
        assert_eq!(refused(&Change::new().with("threshold", None::<f64>)), "`threshold` is missing");
        assert!(refused(&Change::new().with("budget", 0)).contains("between 1 and 4294967295, not `0`"));
        assert!(refused(&Change::new().with("until_sure", "hope")).contains("unknown stopping criterion `hope`"));
        assert!(refused(&Change::new().with("model", "magic")).contains("unknown model `magic`"));
        assert!(refused(&Change::new().with("confidence", 2.0)).contains("above 0 and below 1, not 2"));
        assert!(refused(&Change::new().with("confidence", 0.9).with("delta", 0.1)).contains("give one of them"));
    }

    #[test]
    fn unknown_names_begin_no_campaign() {
        let refused = |key: &str, name: &str| {
            Change::new().with("threshold", 0.5).with("budget", 9).with(key, name).settings().unwrap_err()
        };
        let terms = |error: TermsError| SettingsError::Terms(error);
        let (hope, wide) = (|| "hope".into(), || "wide".into());
        assert_eq!(refused("until_sure", "hope"), terms(TermsError::UnknownCriterion(hope())));
        assert_eq!(refused("interval", "wide"), terms(TermsError::Interval(IntervalError::Unknown(wide()))));
        assert_eq!(refused("rewards", "wide"), terms(TermsError::UnknownRewards(wide())));
        assert_eq!(refused("estimator", "wide"), terms(TermsError::Spec(SpecError::UnknownEstimator(wide()))));
    }

    #[test]
    fn texts_are_read_by_their_keys() {
        let texts = [
            ("threshold", " 0.7 "),
            ("budget", "60"),
            ("noise", "estimated"),
            ("until_sure", "evidence"),
            ("model", ""),
        ];
        let change = Change::of_texts(texts).unwrap();
        assert_eq!(change.keys().collect::<Vec<_>>(), ["budget", "noise", "threshold", "until_sure"]);
        let old = Settings { noise: Some(0.1), ..Settings::new(0.5, 40) };
        let new = change.apply(&old, true).unwrap();
        let until_sure = Some(EarlyStop::Sure(StopCriterion::Evidence));
        assert_eq!(new, Settings { until_sure, ..Settings::new(0.7, 60) });
        let bad = Change::of_texts([("noise", "low")]).unwrap_err().to_string();
        assert_eq!(bad, "the noise must be a number with a decimal point, not `low`");
    }

    #[test]
    fn null_is_the_default() {
        let old = Settings { precision: 0.1, delta: 0.2, algorithm: Some("straddle".into()), ..Settings::new(0.5, 40) };
        let none = None::<f64>;
        let new = Change::new().with("precision", none).with("delta", none).with("algorithm", none).apply(&old, true);
        let new = new.unwrap();
        assert_eq!((new.precision, new.delta, new.algorithm.as_deref()), (0.0, 0.05, Some("pivot")));
        let linear = Change::new().with("model", CampaignModel::Linear).apply(&new, true).unwrap();
        assert_eq!(linear.estimator, Some(EstimatorKind::Ridge));
        let again = Change::new().with("model", none).apply(&linear, true).unwrap();
        assert_eq!((again.estimator, again.model), (Some(EstimatorKind::Mixed), None));
    }
}
