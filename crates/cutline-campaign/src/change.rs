//! Changes of settings in the course of a campaign.

use crate::{CampaignModel, ModelError, Settings};
use cutline::EstimatorKind;

/// New values of settings; `None` leaves a setting as it is.
///
/// ```
/// use cutline_campaign::Change;
///
/// let raise_the_bar = Change { threshold: Some(0.7), ..Change::default() };
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "as in `Settings`")]
pub struct Change {
    pub budget: Option<u32>,
    pub threshold: Option<f64>,
    pub precision: Option<f64>,
    /// `Some(None)` to estimate it.
    pub noise: Option<Option<f64>>,
    pub delta: Option<f64>,
    /// `Some(None)` to use the whole budget.
    pub until_sure: Option<Option<String>>,
    /// The present model stays, unless another is given.
    pub algorithm: Option<String>,
    /// Its own algorithm, unless one is given, and its own preparation.
    pub model: Option<CampaignModel>,
}

impl Change {
    /// The settings after the change.
    ///
    /// # Errors
    /// If the new settings contradict each other.
    pub fn apply(self, mut settings: Settings, has_features: bool) -> Result<Settings, ModelError> {
        let Self { budget, threshold, precision, noise, delta, until_sure, algorithm, model } = self;
        settings.budget = budget.unwrap_or(settings.budget);
        settings.threshold = threshold.unwrap_or(settings.threshold);
        settings.precision = precision.unwrap_or(settings.precision);
        settings.noise = noise.unwrap_or(settings.noise);
        settings.delta = delta.unwrap_or(settings.delta);
        settings.until_sure = until_sure.unwrap_or(settings.until_sure);
        if algorithm.is_none() && model.is_none() {
            return Ok(settings);
        }
        if model.is_some() {
            (settings.model, settings.estimator, settings.preparation) = (model, None, None);
            settings.covariance = None;
            settings.parameters.clear();
            settings.algorithm = settings.custom_rule.as_ref().map(|rule| rule.name().into());
        }
        if let Some(name) = algorithm {
            let estimator = EstimatorKind::ALL.iter().find(|kind| Some(kind.name()) == settings.estimator.as_deref());
            let is_of_estimator = |parameter: &String| {
                estimator.is_some_and(|kind| kind.parameters().iter().any(|known| known.name == parameter))
            };
            settings.parameters.retain(|parameter, _| is_of_estimator(parameter));
            (settings.algorithm, settings.custom_rule) = (Some(name), None);
        }
        settings.resolve(has_features)?;
        Ok(settings)
    }
}
