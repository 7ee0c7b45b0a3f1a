//! The settings of a campaign, as they are stored.

use crate::model::ADDITIVE;
use crate::{
    CampaignCovariance, CampaignModel, CampaignState, Candidates, CandidatesError, EarlyStop, Encoding, ModelError,
    Terms, TermsError,
};
use cutline::rules::NamedRule;
use cutline::{Arms, CovarianceError, EstimatorKind, IntervalKind, Question, RewardKind, Spec};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use thiserror::Error;

/// The settings of a campaign: everything but its candidates. [`Settings::new`] has the defaults. What is left open is chosen when the
/// campaign [begins](Settings::resolve).
///
/// | setting | default | meaning |
/// |---|---|---|
/// | `threshold` | required | τ |
/// | `precision` | 0 | ε: arms within ε of τ may be called either way |
/// | `budget` | required | the number of measurements allowed, or what they may cost if the candidates have costs |
/// | `model` | `mixed`; `independent` without features | algorithm, estimator and preparation in one word; not stored |
/// | `algorithm` | that of the model | its name |
/// | `estimator` | that of the model or of the algorithm | its name; in stores of earlier versions `None` is that of the algorithm |
/// | `parameters` | those of the algorithm | by name; `noise`, `centre` and `intercept` are separate settings |
/// | `rewards` | `gaussian` | their kind, `gaussian` or `bernoulli`; `None` in campaigns of earlier versions: [`Terms::rewards`] |
/// | `noise` | estimated | σ, the standard deviation of a measurement |
/// | `interval`, `delta` | `fixed`, 0.05 | the intervals of the verdicts |
/// | `until_sure` | none | stop early: by `intervals` or `evidence`, once every side is certain, or by `expected-errors 3`: [`EarlyStop`] |
/// | `preparation` | that of the model | how features and rewards are transformed before learning |
/// | `covariance` | none | how the means are related, in place of a model that is linear in the features |
/// | `encoding` | none: all columns hold numbers | how the columns of a table of candidates become features |
/// | `cost` | none | the column of a table of candidates that holds their costs; the costs themselves are part of the candidates |
/// | `seed` | 0 | the seed of all random choices |
/// | `custom_rule` | none | a custom rule in place of `algorithm`; only its name is stored |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the table above says it")]
pub struct Settings {
    pub threshold: f64,
    pub precision: f64,
    pub budget: u32,
    pub algorithm: Option<String>,
    pub estimator: Option<String>,
    pub parameters: BTreeMap<String, f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewards: Option<String>,
    pub noise: Option<f64>,
    pub interval: String,
    pub delta: f64,
    pub until_sure: Option<String>,
    pub preparation: Option<Preparation>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub covariance: Option<CampaignCovariance>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<Encoding>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
    pub seed: u64,
    /// The model in one word, until the campaign begins.
    #[serde(skip)]
    pub model: Option<CampaignModel>,
    /// A custom rule in place of a named algorithm; only its name is stored, as `algorithm`.
    #[serde(skip)]
    pub custom_rule: Option<NamedRule>,
}

/// How features and rewards are transformed before ridge learns from them. With the default, the estimate of an arm about which nothing is
/// known is the threshold, and the units of the features do not matter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preparation {
    /// Whether each feature is standardised: minus its mean, divided by its standard deviation over the arms.
    pub standardise: bool,
    /// The value of an additional feature that is the same for all arms; 0 for none.
    pub intercept: f64,
    /// Whether the model is fitted to r − τ instead of r.
    pub centre: bool,
}

impl Default for Preparation {
    fn default() -> Self {
        Self { standardise: true, intercept: 1.0, centre: true }
    }
}

impl Preparation {
    /// Features and rewards as they are: the model of the LinearAPT paper.
    #[must_use]
    pub fn raw() -> Self {
        Self { standardise: false, intercept: 0.0, centre: false }
    }

    /// For arms on a graph, which have no features to prepare.
    #[must_use]
    pub fn of_graph() -> Self {
        Self { centre: true, ..Self::raw() }
    }
}

/// Why settings were refused.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SettingsError {
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
            noise: None,
            interval: IntervalKind::Fixed.name().into(),
            delta: 0.05,
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
    pub(crate) fn prepare(&self, arms: Arms) -> Result<Arms, SettingsError> {
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

    /// The kind of the rewards; `None` in campaigns of earlier versions.
    fn reward_kind(&self) -> Result<Option<RewardKind>, TermsError> {
        let named = |name: &String| RewardKind::named(name).ok_or_else(|| TermsError::UnknownRewards(name.clone()));
        self.rewards.as_ref().map(named).transpose()
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
        let sample_mean = (self.custom_rule.is_some() && !has_features).then_some(EstimatorKind::SampleMean.name());
        if let Some(estimator) = self.estimator.as_deref().or(sample_mean) {
            spec = spec.with_estimator(estimator)?;
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
            question: Question::new(self.threshold, self.precision)?,
            spec,
            budget: self.budget,
            rewards: self.reward_kind()?,
            noise: self.noise,
            interval: IntervalKind::named(&self.interval)?,
            delta: self.delta,
            until_sure: self.until_sure.as_deref().map(EarlyStop::named).transpose()?,
            seed: self.seed,
        })
    }
}
