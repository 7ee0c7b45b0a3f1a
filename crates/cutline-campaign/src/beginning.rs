//! The state of a campaign that begins with given settings and candidates.

use crate::model::ADDITIVE;
use crate::{CampaignState, Candidates, CandidatesError, Preparation, Settings, SettingsError, Terms, TermsError};
use cutline::rules::NamedRule;
use cutline::{Arms, EstimatorKind, Question, Spec};

impl Settings {
    /// How features and rewards are transformed before learning, once the campaign has begun.
    #[must_use]
    pub fn preparation(&self) -> Preparation {
        self.preparation.unwrap_or(Preparation::raw())
    }

    /// Whether the features to learn from differ from those that were given.
    #[must_use]
    pub fn changes_features(&self) -> bool {
        let Preparation { standardise, intercept, .. } = self.preparation();
        standardise || intercept != 0.0 || self.covariance.is_some()
    }

    /// The arms to learn from: their features are standardised, then related, then an intercept is added.
    fn prepare(&self, arms: Arms) -> Result<Arms, SettingsError> {
        let Preparation { standardise, intercept, .. } = self.preparation();
        let mut arms = if standardise { arms.standardised() } else { arms };
        if let Some(covariance) = &self.covariance {
            arms = covariance.kind(arms.n_arms())?.arms(&arms)?;
        }
        if arms.dimension().is_none() || intercept == 0.0 {
            return Ok(arms);
        }
        arms.with_intercept(intercept).map_err(|error| TermsError::Spec(error.into()).into())
    }

    /// The state of a campaign with these settings and candidates, before its first event.
    ///
    /// # Errors
    /// If the settings are refused, or do not fit the candidates.
    pub fn begin(&self, candidates: &Candidates) -> Result<CampaignState, SettingsError> {
        let terms = self.terms(candidates.has_features())?;
        let mut arms = self.prepare(candidates.arms())?;
        if let Some(costs) = candidates.measurement_costs() {
            arms = arms.with_measurement_costs(costs).map_err(CandidatesError::from)?;
        }
        Ok(CampaignState::new(arms, terms)?)
    }

    /// The name of the algorithm or of the custom rule, for arms with or without features.
    #[must_use]
    pub fn algorithm(&self, has_features: bool) -> &str {
        let named = self.custom_rule.as_ref().map(NamedRule::name).or(self.algorithm.as_deref());
        named.unwrap_or(if has_features { "pivot" } else { "apt" })
    }

    /// The terms of the campaign, as the engine takes them.
    ///
    /// # Errors
    /// If a name is unknown or a number out of range.
    pub fn terms(&self, has_features: bool) -> Result<Terms, TermsError> {
        let mut spec = match &self.custom_rule {
            Some(rule) => Spec::custom(rule.clone()),
            None => Spec::named(self.algorithm(has_features))?,
        };
        // Without features, a custom rule can only work with the sample means.
        let sample_mean = (self.custom_rule.is_some() && !has_features).then_some(EstimatorKind::SampleMean);
        if let Some(estimator) = self.estimator.or(sample_mean) {
            spec = spec.with_estimator(estimator.name())?;
        }
        if spec.estimator() == EstimatorKind::Mixed && !self.parameters.contains_key(ADDITIVE) {
            // The campaign was begun before the smooth part had an additive term, and goes on without it.
            spec = spec.with(ADDITIVE, 0.0)?;
        }
        for (parameter, &value) in &self.parameters {
            spec = spec.with(parameter, value)?;
        }
        if self.preparation().centre {
            spec = spec.with_centre(1.0)?;
        }
        Ok(Terms {
            rewards: self.rewards,
            range: (self.min.unwrap_or(f64::NEG_INFINITY), self.max.unwrap_or(f64::INFINITY)),
            noise: self.noise,
            interval: self.interval,
            delta: self.delta,
            guarantee: self.guarantee,
            until_sure: self.until_sure,
            seed: self.seed,
            ..Terms::new(Question::new(self.threshold, self.precision)?, spec, self.budget)
        })
    }
}
