//! The model of a campaign in one word, and the algorithm, estimator and preparation that settings which leave them open get.

use crate::{EarlyStop, Preparation, Settings};
use cutline::estimators::MixedSettings;
use cutline::rules::NamedRule;
use cutline::{EstimatorKind, RewardKind, algorithm};
use thiserror::Error;

/// The parameters of ridge, which the mixed model does not take.
const RIDGE_PARAMETERS: [&str; 3] = ["lambda", "centre", "intercept"];

/// The parameter of the mixed model that earlier campaigns do not have.
pub(crate) const ADDITIVE: &str = "additive";

/// How a campaign explains the means of its arms, in one word.
///
/// | model | algorithm | estimator | preparation |
/// |---|---|---|---|
/// | `mixed` | `pivot` | `mixed` | none: the model standardises the features and learns level and scale itself |
/// | `linear` | `pivot` | `ridge` | [`Preparation::default`]; with [`Preparation::raw`] it is the model of the LinearAPT paper |
/// | `independent` | `apt` | `sample-mean` | none: the features are not used |
///
/// A campaign that ends once everything is [proved](EarlyStop::Proved) has the algorithm `easiest` instead. A model may be combined with another algorithm,
/// which then replaces the one in the table. `linear` may be combined with a
/// [covariance](crate::CampaignCovariance), by which the means are then related instead of being linear in the features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum CampaignModel {
    /// A linear, a smooth and an own part per arm, whose variances are learnt from the rewards.
    Mixed,
    /// Means that are linear in the features.
    Linear,
    /// Every arm on its own.
    Independent,
}

/// Why the settings of a campaign contradict each other.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ModelError {
    /// There is no model of that name.
    #[error("unknown model `{0}`; use `mixed`, `linear` or `independent`")]
    Unknown(String),
    /// The model has another estimator.
    #[error("the model `{}` uses the estimator `{}`, not `{}`", model.name(), model.estimator().name(), estimator.name())]
    OtherEstimator {
        /// The model that was asked for.
        model: CampaignModel,
        /// The estimator that was given.
        estimator: EstimatorKind,
    },
    /// A preparation was given, and the mixed model takes none.
    #[error(
        "a preparation of the features, `raw` included, does not apply to the mixed model, which standardises them and learns the \
         level itself"
    )]
    MixedPreparation,
    /// A preparation was given, and sample means do not use the features.
    #[error("a preparation of the features does not apply to sample means, which do not use the features")]
    SampleMeanPreparation,
    /// A kernel or a graph was given, and another estimator than ridge.
    #[error("a kernel or a graph goes with the estimator `ridge` only, not with `{}`", .0.name())]
    CovarianceEstimator(EstimatorKind),
    /// A kernel was given, and the candidates have no features.
    #[error("a kernel is computed from the features, and the candidates have none")]
    KernelWithoutFeatures,
    /// A parameter of ridge was given, and the mixed model takes none of them.
    #[error("`{0}` does not apply to the mixed model, which learns its variances and the level from the rewards")]
    MixedParameter(String),
}

impl CampaignModel {
    /// Every model, the default first.
    pub const ALL: &[Self] = &[Self::Mixed, Self::Linear, Self::Independent];

    /// Its name in settings, in JSON and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mixed => "mixed",
            Self::Linear => "linear",
            Self::Independent => "independent",
        }
    }

    /// The model of that name.
    ///
    /// # Errors
    /// If there is none.
    pub fn named(name: &str) -> Result<Self, ModelError> {
        let found = Self::ALL.iter().find(|model| model.name() == name);
        found.copied().ok_or_else(|| ModelError::Unknown(name.into()))
    }

    /// The estimator that learns it.
    #[must_use]
    pub fn estimator(self) -> EstimatorKind {
        match self {
            Self::Mixed => EstimatorKind::Mixed,
            Self::Linear => EstimatorKind::Ridge,
            Self::Independent => EstimatorKind::SampleMean,
        }
    }

    /// The model of a campaign with this estimator.
    #[must_use]
    pub fn of(estimator: EstimatorKind) -> Self {
        match estimator {
            EstimatorKind::Mixed => Self::Mixed,
            EstimatorKind::Ridge => Self::Linear,
            _ => Self::Independent,
        }
    }
}

impl Settings {
    /// Chooses what was left open: algorithm, estimator and preparation. After that all three are set, and `model` is not. With the mixed
    /// model, the parameter `additive` is set too.
    ///
    /// The estimator is that of the model; without a model the one that was given, or else the one that the algorithm was published
    /// with. Custom rules and those that [take any belief](cutline::Algorithm::takes_any_belief) take `mixed`, which is also the default; without features, a custom rule and the
    /// default take sample means. Ridge prepares the features unless the algorithm was published with ridge and no model is named: then
    /// features and rewards are used as they are.
    ///
    /// # Errors
    /// If the settings contradict each other. Names of algorithms and estimators are checked by [`Settings::terms`].
    pub fn resolve(&mut self, has_features: bool) -> Result<(), ModelError> {
        // A covariance implies `linear`, unless the estimator is set already.
        let implied = (self.covariance.is_some() && self.estimator.is_none()).then_some(CampaignModel::Linear);
        let model = self.model.take().or(implied);
        let published = self.published_estimator(has_features);
        if self.covariance.as_ref().is_some_and(|covariance| covariance.uses_features() && !has_features) {
            return Err(ModelError::KernelWithoutFeatures);
        }
        // Settings of another campaign have everything set.
        let is_complete = model.is_none() && self.algorithm.is_some() && self.estimator.is_some();
        let estimator = match (model, self.estimator) {
            (Some(model), Some(given)) if given != model.estimator() => {
                return Err(ModelError::OtherEstimator { model, estimator: given });
            }
            (Some(model), _) => model.estimator(),
            (None, given) => given.unwrap_or(published),
        };
        if self.covariance.is_some() && estimator != EstimatorKind::Ridge {
            return Err(ModelError::CovarianceEstimator(estimator));
        }
        let is_raw = self.preparation == Some(Preparation::raw());
        match estimator {
            EstimatorKind::Mixed => {
                let of_ridge = RIDGE_PARAMETERS.iter().find(|name| self.parameters.contains_key(**name));
                if let Some(parameter) = of_ridge {
                    return Err(ModelError::MixedParameter((*parameter).into()));
                }
                if self.preparation.is_some() && !(is_complete && is_raw) {
                    return Err(ModelError::MixedPreparation);
                }
                // Written down, because campaigns without it were begun before there was an additive term: see `Settings::terms`.
                self.parameters.entry(ADDITIVE.into()).or_insert(MixedSettings::default().additive);
            }
            EstimatorKind::SampleMean if self.preparation.is_some() && !is_raw => {
                return Err(ModelError::SampleMeanPreparation);
            }
            _ => (),
        }
        let is_prepared = estimator == EstimatorKind::Ridge && (model.is_some() || published != EstimatorKind::Ridge);
        let is_graph = self.covariance.as_ref().is_some_and(|covariance| !covariance.uses_features());
        self.preparation.get_or_insert(match is_prepared {
            true if is_graph => Preparation::of_graph(),
            true => Preparation::default(),
            false => Preparation::raw(),
        });
        if self.algorithm.is_none() {
            let usual = match estimator {
                _ if self.until_sure == Some(EarlyStop::Proved) => "easiest",
                EstimatorKind::SampleMean => "apt",
                _ => "pivot",
            };
            self.algorithm = Some(self.custom_rule.as_ref().map_or(usual, NamedRule::name).into());
        }
        self.estimator = Some(estimator);
        // Written down, because campaigns without it were begun before σ had a least value.
        self.rewards.get_or_insert(RewardKind::Gaussian);
        Ok(())
    }

    /// The estimator of a campaign in which only the algorithm may be named.
    fn published_estimator(&self, has_features: bool) -> EstimatorKind {
        let named = self.algorithm.as_deref().filter(|_| self.custom_rule.is_none());
        match named {
            None if !has_features => EstimatorKind::SampleMean,
            None => EstimatorKind::Mixed,
            Some(name) => algorithm(name)
                .filter(|algorithm| !algorithm.takes_any_belief)
                .map_or(EstimatorKind::Mixed, |algorithm| algorithm.estimator),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CampaignCovariance;

    /// Algorithm, estimator and preparation of settings that begin with these.
    fn resolved(
        model: Option<CampaignModel>,
        algorithm: Option<&str>,
        estimator: Option<EstimatorKind>,
        preparation: Option<Preparation>,
        has_features: bool,
    ) -> Result<(String, EstimatorKind, Preparation), ModelError> {
        let mut settings = Settings::new(0.0, 9);
        settings.model = model;
        settings.algorithm = algorithm.map(str::to_owned);
        settings.estimator = estimator;
        settings.preparation = preparation;
        settings.resolve(has_features)?;
        assert_eq!(settings.model, None);
        let again = settings.clone();
        settings.resolve(has_features).expect("what was resolved is consistent");
        assert_eq!(settings, again, "resolving twice changes nothing");
        Ok((settings.algorithm.unwrap(), settings.estimator.unwrap(), settings.preparation.unwrap()))
    }

    /// A campaign on the mixed model writes the additive term down when it begins. One without it was begun by an earlier version and has
    /// none.
    #[test]
    fn an_earlier_mixed_model_has_no_additive_term() {
        let additive = |settings: &Settings| {
            let spec = settings.terms(true).unwrap().spec;
            spec.values().find(|(name, _)| *name == ADDITIVE).map(|(_, value)| value)
        };
        let mut settings = Settings::new(0.0, 9);
        settings.estimator = Some(EstimatorKind::Mixed);
        assert_eq!(additive(&settings), Some(0.0), "as it was stored");
        settings.resolve(true).unwrap();
        assert_eq!((settings.parameters[ADDITIVE], additive(&settings)), (0.5, Some(0.5)));
        settings.parameters.insert(ADDITIVE.into(), 0.25);
        settings.resolve(true).unwrap();
        assert_eq!(additive(&settings), Some(0.25), "what was given stays");
    }

    #[test]
    fn a_model_in_one_word() {
        let (raw, prepared) = (Preparation::raw(), Preparation::default());
        for (model, algorithm, estimator, preparation) in [
            (CampaignModel::Mixed, "pivot", EstimatorKind::Mixed, raw),
            (CampaignModel::Linear, "pivot", EstimatorKind::Ridge, prepared),
            (CampaignModel::Independent, "apt", EstimatorKind::SampleMean, raw),
        ] {
            let expected = Ok((algorithm.into(), estimator, preparation));
            assert_eq!(resolved(Some(model), None, None, None, true), expected);
            assert_eq!(
                resolved(Some(model), None, Some(estimator), None, true),
                expected,
                "saying it twice is allowed"
            );
            assert_eq!(CampaignModel::named(model.name()), Ok(model));
            assert_eq!(CampaignModel::of(model.estimator()), model);
        }
        assert_eq!(resolved(None, None, None, None, true).unwrap().1, EstimatorKind::Mixed);
        assert_eq!(resolved(None, None, None, None, false).unwrap(), ("apt".into(), EstimatorKind::SampleMean, raw));
        let linear =
            |preparation| resolved(Some(CampaignModel::Linear), None, None, Some(preparation), true).unwrap().2;
        assert_eq!((linear(raw), linear(prepared)), (raw, prepared));
        let named = resolved(Some(CampaignModel::Linear), Some("linear-apt"), None, None, true).unwrap();
        assert_eq!(named, ("linear-apt".into(), EstimatorKind::Ridge, prepared), "a named model prepares");
    }

    #[test]
    fn an_algorithm_alone_runs_as_published() {
        for (name, estimator) in [
            ("linear-apt", EstimatorKind::Ridge),
            ("random", EstimatorKind::Ridge),
            ("ucbe", EstimatorKind::Ridge),
            ("lingame", EstimatorKind::Ridge),
            ("apt", EstimatorKind::SampleMean),
            ("clucb", EstimatorKind::SampleMean),
            ("pivot", EstimatorKind::Mixed),
            ("straddle", EstimatorKind::Mixed),
            ("random-straddle", EstimatorKind::Mixed),
            ("grapl", EstimatorKind::Ridge),
            ("lse", EstimatorKind::Ridge),
        ] {
            let found = resolved(None, Some(name), None, None, true).unwrap();
            assert_eq!(found, (name.into(), estimator, Preparation::raw()));
        }
        for algorithm in cutline::ALGORITHMS {
            let found = resolved(None, Some(algorithm.name), None, None, true).unwrap();
            let is_published = found.1 == algorithm.estimator;
            assert_eq!(
                is_published,
                !["pivot", "straddle", "random-straddle"].contains(&algorithm.name),
                "{}",
                algorithm.name
            );
        }
        let ridge = resolved(None, Some("pivot"), Some(EstimatorKind::Ridge), None, true).unwrap();
        assert_eq!(ridge.2, Preparation::default(), "`pivot` has no paper that uses ridge");
    }

    #[test]
    fn a_covariance_goes_with_ridge() {
        let kernel = CampaignCovariance::kernel(cutline::Kernel::Rbf, 0.5);
        let graph = CampaignCovariance::graph(&cutline::Graph::new(2, &[(0, 1, 1.0)]).unwrap());
        let resolve = |covariance: &CampaignCovariance, change: fn(&mut Settings), has_features| {
            let mut settings = Settings { covariance: Some(covariance.clone()), ..Settings::new(0.0, 9) };
            change(&mut settings);
            settings.resolve(has_features)?;
            let again = settings.clone();
            settings.resolve(has_features)?;
            assert_eq!(settings, again, "resolving twice changes nothing");
            Ok((settings.algorithm.unwrap(), settings.estimator.unwrap(), settings.preparation.unwrap()))
        };
        let (pivot, ridge) = ("pivot".to_owned(), EstimatorKind::Ridge);
        let prepared = Ok((pivot.clone(), ridge, Preparation::default()));
        assert_eq!(resolve(&kernel, |_| (), true), prepared);
        assert_eq!(resolve(&kernel, |settings| settings.model = Some(CampaignModel::Linear), true), prepared);
        assert_eq!(resolve(&graph, |_| (), false), Ok((pivot, ridge, Preparation::of_graph())));
        let by_name = resolve(&graph, |settings| settings.algorithm = Some("grapl".into()), false);
        assert_eq!(by_name, Ok(("grapl".into(), ridge, Preparation::of_graph())));
        assert_eq!(resolve(&kernel, |_| (), false), Err(ModelError::KernelWithoutFeatures));
        let mixed = resolve(&kernel, |settings| settings.model = Some(CampaignModel::Mixed), true);
        assert_eq!(mixed, Err(ModelError::CovarianceEstimator(EstimatorKind::Mixed)));
        let means = resolve(&graph, |settings| settings.estimator = Some(EstimatorKind::SampleMean), false);
        assert_eq!(means, Err(ModelError::CovarianceEstimator(EstimatorKind::SampleMean)));
    }

    #[test]
    fn contradictions() {
        let raw = Some(Preparation::raw());
        let centre = Some(Preparation { centre: true, ..Preparation::raw() });
        for preparation in [raw, centre, Some(Preparation::default())] {
            assert_eq!(resolved(None, None, None, preparation, true), Err(ModelError::MixedPreparation));
        }
        assert_eq!(resolved(None, Some("apt"), None, centre, true), Err(ModelError::SampleMeanPreparation));
        assert!(resolved(None, Some("apt"), None, raw, true).is_ok(), "its features are not prepared");
        let model = CampaignModel::Linear;
        let other = ModelError::OtherEstimator { model, estimator: EstimatorKind::Mixed };
        assert_eq!(other.to_string(), "the model `linear` uses the estimator `ridge`, not `mixed`");
        assert_eq!(resolved(Some(model), None, Some(EstimatorKind::Mixed), None, true), Err(other));
        assert_eq!(CampaignModel::named("magic"), Err(ModelError::Unknown("magic".into())));
        let mut settings = Settings::new(0.0, 9);
        settings.parameters.insert("lambda".into(), 1.0);
        assert_eq!(settings.clone().resolve(true), Err(ModelError::MixedParameter("lambda".into())));
        settings.model = Some(model);
        assert_eq!(settings.resolve(true), Ok(()));
    }
}
