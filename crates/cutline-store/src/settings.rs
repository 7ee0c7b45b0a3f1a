//! What a campaign is about, as it is written down.

use crate::StoreError;
use cutline::campaign::{Terms, TermsError};
use cutline::rules::NamedRule;
use cutline::{Arms, EstimatorKind, IntervalKind, Question, Spec, StopCriterion};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a campaign is about, but for its arms. [`Settings::new`] has the defaults.
///
/// | setting | default | meaning |
/// |---|---|---|
/// | `threshold` | none | τ |
/// | `precision` | 0 | ε: arms within ε of τ may be called either way |
/// | `budget` | none | the most rewards that may be counted |
/// | `algorithm` | `pivot`; `apt` without features | its name |
/// | `estimator` | the algorithm's own | its name |
/// | `parameters` | the algorithm's own | by name; `noise`, `centre` and `intercept` have settings of their own |
/// | `noise` | estimated | σ, the standard deviation of a measurement |
/// | `interval`, `delta` | `fixed`, 0.05 | the intervals of the verdicts |
/// | `until_sure` | none | end once every side is sure: `intervals` or `evidence` |
/// | `preparation` | [`Preparation::default`] | what is done to features before they are learned from |
/// | `seed` | 0 | of everything random |
/// | `own` | none | a rule of one's own in place of `algorithm`; what is written down is its name |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the table above says it")]
pub struct Settings {
    pub threshold: f64,
    pub precision: f64,
    pub budget: u32,
    pub algorithm: Option<String>,
    pub estimator: Option<String>,
    pub parameters: BTreeMap<String, f64>,
    pub noise: Option<f64>,
    pub interval: String,
    pub delta: f64,
    pub until_sure: Option<String>,
    pub preparation: Preparation,
    pub seed: u64,
    /// A rule of one's own in place of a named algorithm; it is not written down, only what it is called.
    #[serde(skip)]
    pub own: Option<NamedRule>,
}

/// What is done to the features before they are learned from. An arm nothing is known of then lies at the threshold, and no unit
/// weighs more than another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preparation {
    /// Each feature less its mean, in units of its standard deviation over the arms.
    pub standardise: bool,
    /// The value of one more feature that is the same for all arms; 0 for none.
    pub intercept: f64,
    /// Whether r − τ is learned from rather than r.
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

    /// The arms to learn from.
    pub(crate) fn prepare(&self, arms: Arms) -> Result<Arms, StoreError> {
        if arms.dimension().is_none() {
            return Ok(arms);
        }
        let arms = if self.standardise { arms.standardised() } else { arms };
        if self.intercept == 0.0 {
            return Ok(arms);
        }
        arms.with_intercept(self.intercept).map_err(|error| TermsError::Spec(error.into()).into())
    }
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
            noise: None,
            interval: IntervalKind::Fixed.name().into(),
            delta: 0.05,
            until_sure: None,
            preparation: Preparation::default(),
            seed: 0,
            own: None,
        }
    }

    /// The name of the algorithm or of one's own rule, for arms with or without features.
    #[must_use]
    pub fn algorithm(&self, has_features: bool) -> &str {
        let named = self.own.as_ref().map(NamedRule::name).or(self.algorithm.as_deref());
        named.unwrap_or(if has_features { "pivot" } else { "apt" })
    }

    /// The same as the engine has it.
    ///
    /// # Errors
    /// If a name is unknown or a number out of range.
    pub fn terms(&self, has_features: bool) -> Result<Terms, TermsError> {
        let mut spec = match &self.own {
            Some(own) => Spec::custom(own.clone()),
            None => Spec::named(self.algorithm(has_features))?,
        };
        // Who gives a rule of one's own for arms without features means that of each arm on its own.
        let own_mean = (self.own.is_some() && !has_features).then_some(EstimatorKind::SampleMean.name());
        if let Some(estimator) = self.estimator.as_deref().or(own_mean) {
            spec = spec.with_estimator(estimator)?;
        }
        for (parameter, &value) in &self.parameters {
            spec = spec.with(parameter, value)?;
        }
        if self.preparation.centre {
            spec = spec.with_centre(1.0)?;
        }
        Ok(Terms {
            question: Question::new(self.threshold, self.precision)?,
            spec,
            budget: self.budget,
            noise: self.noise,
            interval: IntervalKind::named(&self.interval)?,
            delta: self.delta,
            until_sure: self.until_sure.as_deref().map(by).transpose()?,
            seed: self.seed,
        })
    }
}

fn by(name: &str) -> Result<StopCriterion, TermsError> {
    let found = StopCriterion::ALL.iter().find(|(other, _)| *other == name);
    found.map(|&(_, by)| by).ok_or_else(|| TermsError::UnknownCriterion(name.into()))
}
