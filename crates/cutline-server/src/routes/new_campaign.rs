//! What a new campaign is made of: JSON with its arms, or a table with the settings in the address.

use crate::problem::Problem;
use crate::state::AppState;
use bytes::Bytes;
use cutline::{Arm, Graph, Kernel, RewardKind};
use cutline_campaign::{CampaignCovariance, CampaignModel, Candidates, Encoding, Preparation, Settings};
use cutline_client::wire::{ArmBody, EventBody, ObservedBody};
use cutline_data::dataset;
use cutline_data::dataset::{Loaded, ReadOptions, Source};
use cutline_store::{NewCampaign, StoreError};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use utoipa::{IntoParams, ToSchema};

/// A new campaign with its arms.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewCampaignBody {
    /// Its name, which no other campaign of the store has.
    #[schema(min_length = 1, max_length = 200, example = "screen")]
    pub(crate) name: String,
    /// The threshold τ: the question is which arms have a mean above it. Without `settings` it is required.
    #[schema(example = 0.5)]
    threshold: Option<f64>,
    /// How many measurements may be made or, if the arms have costs, what they may cost in all. Without `settings` it is required.
    #[schema(minimum = 1, example = 400)]
    budget: Option<u32>,
    /// The precision ε: arms within ε of τ may be called either way.
    #[serde(default)]
    precision: f64,
    /// `mixed`, `linear` or `independent`.
    model: Option<String>,
    /// The algorithm, by its name.
    algorithm: Option<String>,
    /// Parameters of the algorithm, by name.
    #[serde(default)]
    parameters: BTreeMap<String, f64>,
    /// `gaussian`, numbers with noise, or `bernoulli`, 1 for pass and 0 for fail.
    rewards: Option<String>,
    /// The standard deviation of a measurement; without it, it is estimated.
    noise: Option<f64>,
    /// `fixed` or `anytime`.
    interval: Option<String>,
    /// The probability that an interval contains the mean.
    #[schema(example = 0.95)]
    confidence: Option<f64>,
    /// When to end before the budget is used up: `intervals`, `evidence`, or `expected-errors 3`.
    until_sure: Option<String>,
    /// How features and rewards are prepared for the linear model.
    preparation: Option<PreparationBody>,
    /// Means that are a smooth function of the features.
    kernel: Option<KernelBody>,
    /// Means that vary little along the edges of a graph.
    #[serde(default)]
    edges: Vec<EdgeBody>,
    /// The seed of all random choices.
    #[serde(default)]
    seed: u64,
    /// The names of the features; none without features.
    #[serde(default)]
    #[schema(example = json!(["mass", "polarity"]))]
    columns: Vec<String>,
    /// The arms.
    arms: Vec<ArmBody>,
    /// Rewards that were measured before.
    #[serde(default)]
    observed: Vec<ObservedBody>,
    /// Whether they count towards the budget.
    #[serde(default)]
    count_observed: bool,
    /// All settings in the form in which a store keeps them and `first_settings` of a campaign has them, in place of the threshold, the budget and
    /// everything else from there to the seed.
    #[schema(value_type = Option<Object>)]
    settings: Option<serde_json::Value>,
    /// With `settings`: all events of the campaign of which this is a copy, as its `events` has them, in place of `observed`.
    #[schema(value_type = Option<Vec<Object>>)]
    events: Option<Vec<EventBody>>,
}

/// How features and rewards are prepared.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PreparationBody {
    /// Whether each feature is standardised.
    standardise: bool,
    /// The value of an additional feature that is the same for all arms; 0 for none.
    intercept: f64,
    /// Whether the model is fitted to r − τ instead of r.
    centre: bool,
}

/// A kernel of the features.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct KernelBody {
    /// Its name.
    #[schema(example = "matern52")]
    name: String,
    /// The distance over which the means change, in units of the features as they are prepared.
    length: f64,
}

/// An edge of a graph of the arms.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EdgeBody {
    /// The names of two arms.
    arms: [String; 2],
    /// The weight of the edge.
    #[serde(default = "one")]
    weight: f64,
}

fn one() -> f64 {
    1.0
}

/// The settings of a campaign whose arms are a table in the body, and how the table is read.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct TableQuery {
    /// The name of the campaign.
    pub(crate) name: Option<String>,
    /// The threshold τ.
    pub(crate) threshold: Option<f64>,
    /// How many measurements may be made or, with `cost`, what they may cost in all.
    pub(crate) budget: Option<u32>,
    /// The precision ε.
    precision: Option<f64>,
    /// `mixed`, `linear` or `independent`.
    model: Option<String>,
    /// The algorithm, by its name.
    algorithm: Option<String>,
    /// `gaussian` or `bernoulli`.
    rewards: Option<String>,
    /// The standard deviation of a measurement.
    noise: Option<f64>,
    /// `fixed` or `anytime`.
    interval: Option<String>,
    /// The probability that an interval contains the mean.
    confidence: Option<f64>,
    /// `intervals`, `evidence`, or `expected-errors 3`.
    until_sure: Option<String>,
    /// The seed of all random choices.
    seed: Option<u64>,
    /// The column with the names of the arms.
    pub(crate) id: Option<String>,
    /// The column with what a measurement of each arm costs, in units of the budget. Tables of arms that are added later need it, too.
    cost: Option<String>,
    /// The columns that are features, separated by commas.
    features: Option<String>,
    /// The columns that are categories, separated by commas.
    categories: Option<String>,
    /// `refuse`, or `mean` to replace missing values.
    missing: Option<String>,
    /// The decimal mark: `.` or `,`.
    pub(crate) decimal: Option<String>,
}

impl TableQuery {
    /// How the table is read.
    pub(crate) fn options(&self) -> Result<ReadOptions, Problem> {
        let list = |text: &Option<String>| -> Option<Vec<String>> {
            text.as_ref().map(|text| text.split(',').map(|column| column.trim().to_owned()).collect())
        };
        let choice = |name: &str, given: &Option<String>, usual: &str, other: &str| match given.as_deref() {
            None => Ok(false),
            Some(text) if text == usual => Ok(false),
            Some(text) if text == other => Ok(true),
            Some(text) => Err(Problem::Refused(format!("`{name}` must be `{usual}` or `{other}`, not `{text}`"))),
        };
        Ok(ReadOptions {
            features: list(&self.features),
            categories: list(&self.categories).unwrap_or_default(),
            id: self.id.clone(),
            cost: self.cost.clone(),
            fills_missing: choice("missing", &self.missing, "refuse", "mean")?,
            decimal_comma: choice("decimal", &self.decimal, ".", ",")?,
        })
    }

    /// The new campaign with the arms of a table, and notes on the table.
    pub(crate) fn campaign(&self, table: Bytes, state: &AppState) -> Result<(NewCampaign, Vec<String>), Problem> {
        let missing =
            |what: &str| Problem::Refused(format!("`{what}` is missing; give it in the address, as in `?{what}=…`"));
        let name = self.name.as_deref().ok_or_else(|| missing("name"))?;
        let threshold = self.threshold.ok_or_else(|| missing("threshold"))?;
        let budget = self.budget.ok_or_else(|| missing("budget"))?;
        let Loaded { candidates, encoding, notes, .. } = dataset::load(&Source::Bytes(table), &self.options()?)
            .map_err(|error| Problem::Refused(error.to_string()))?;
        check_n_arms(candidates.n_arms(), state)?;
        let mut settings = Settings::new(threshold, budget);
        settings.precision = self.precision.unwrap_or(0.0);
        settings.model = model(self.model.as_deref())?;
        settings.algorithm.clone_from(&self.algorithm);
        settings.rewards.clone_from(&self.rewards);
        settings.noise = self.noise;
        settings.interval = self.interval.clone().unwrap_or(settings.interval);
        settings.delta = delta(self.confidence)?.unwrap_or(settings.delta);
        settings.until_sure.clone_from(&self.until_sure);
        settings.cost.clone_from(&self.cost);
        settings.seed = self.seed.unwrap_or(0);
        settings.encoding = encoding;
        let new = NewCampaign::new(name, settings, candidates)?;
        Ok((new, notes.iter().map(ToString::to_string).collect()))
    }
}

impl NewCampaignBody {
    /// The new campaign.
    pub(crate) fn campaign(mut self, state: &AppState) -> Result<NewCampaign, Problem> {
        check_n_arms(self.arms.len(), state)?;
        let (columns, arms) = (std::mem::take(&mut self.columns), std::mem::take(&mut self.arms));
        let candidates = candidates(columns, arms)?;
        let index: HashMap<&str, Arm> = candidates.names().iter().map(String::as_str).zip(0..).collect();
        let observed: Vec<(Arm, f64)> = self
            .observed
            .iter()
            .map(|one| Ok((find(&index, &one.arm)?, one.reward)))
            .collect::<Result<_, Problem>>()?;
        let (name, count_observed) = (self.name.clone(), self.count_observed);
        let events = self.events.take();
        let settings = match self.settings.take() {
            Some(settings) => self.complete(settings, &candidates)?,
            None if events.is_some() => return Err(Problem::Refused("`events` need `settings`".into())),
            None => self.settings(&index)?,
        };
        if let Some(events) = events {
            return copied(&name, settings, candidates, events, observed.is_empty());
        }
        let mut new = NewCampaign::new(&name, settings, candidates)?;
        new.observe(&observed, count_observed)?;
        Ok(new)
    }

    /// The settings that the fields of the body describe.
    fn settings(self, index: &HashMap<&str, Arm>) -> Result<Settings, Problem> {
        let missing = |what: &str| Problem::Refused(format!("`{what}` is missing"));
        let threshold = self.threshold.ok_or_else(|| missing("threshold"))?;
        let mut settings = Settings::new(threshold, self.budget.ok_or_else(|| missing("budget"))?);
        settings.precision = self.precision;
        settings.model = model(self.model.as_deref())?;
        settings.algorithm = self.algorithm;
        settings.parameters = self.parameters;
        settings.rewards = self.rewards;
        settings.noise = self.noise;
        settings.interval = self.interval.unwrap_or(settings.interval);
        settings.delta = delta(self.confidence)?.unwrap_or(settings.delta);
        settings.until_sure = self.until_sure;
        settings.preparation = self.preparation.map(|PreparationBody { standardise, intercept, centre }| Preparation {
            standardise,
            intercept,
            centre,
        });
        settings.covariance = covariance(self.kernel.as_ref(), &self.edges, index)?;
        settings.seed = self.seed;
        if settings.rewards.is_none() {
            settings.rewards = Some(RewardKind::Gaussian.name().into());
        }
        Ok(settings)
    }

    /// The settings in the form in which a store keeps them.
    fn complete(&self, settings: serde_json::Value, candidates: &Candidates) -> Result<Settings, Problem> {
        let is_given = [
            ("threshold", self.threshold.is_some()),
            ("budget", self.budget.is_some()),
            ("precision", self.precision != 0.0),
            ("model", self.model.is_some()),
            ("algorithm", self.algorithm.is_some()),
            ("parameters", !self.parameters.is_empty()),
            ("rewards", self.rewards.is_some()),
            ("noise", self.noise.is_some()),
            ("interval", self.interval.is_some()),
            ("confidence", self.confidence.is_some()),
            ("until_sure", self.until_sure.is_some()),
            ("preparation", self.preparation.is_some()),
            ("kernel", self.kernel.is_some()),
            ("edges", !self.edges.is_empty()),
            ("seed", self.seed != 0),
        ];
        if let Some((what, _)) = is_given.iter().find(|(_, is_given)| *is_given) {
            return Err(Problem::Refused(format!("`{what}` is a part of `settings`; give one of them")));
        }
        let settings: Settings = serde_json::from_value(settings)
            .map_err(|error| Problem::Refused(format!("`settings` cannot be understood: {error}")))?;
        let encoded = settings.encoding.as_ref().map(Encoding::features);
        if encoded.is_some_and(|columns| columns != candidates.columns()) {
            return Err(Problem::Refused("the `encoding` in `settings` is one of other columns".into()));
        }
        Ok(settings)
    }
}

/// A campaign that continues another one.
fn copied(
    name: &str,
    settings: Settings,
    candidates: Candidates,
    events: Vec<EventBody>,
    is_complete: bool,
) -> Result<NewCampaign, Problem> {
    if !is_complete {
        return Err(Problem::Refused("`events` and `observed` exclude each other".into()));
    }
    let records = events.into_iter().map(EventBody::record).collect::<Result<Vec<_>, _>>().map_err(Problem::Refused)?;
    NewCampaign::continued(name, settings, candidates, records).map_err(|error| match error {
        StoreError::Damaged { what, .. } => Problem::Refused(format!("the events do not fit together: {what}")),
        error => error.into(),
    })
}

fn check_n_arms(n_arms: usize, state: &AppState) -> Result<(), Problem> {
    let most = state.limits().arms;
    if n_arms > most {
        return Err(Problem::Refused(format!("there are {n_arms} arms; at most {most} are allowed")));
    }
    Ok(())
}

/// Candidates with these columns, and with costs if the arms have them.
pub(crate) fn candidates(columns: Vec<String>, arms: Vec<ArmBody>) -> Result<Candidates, Problem> {
    let n_arms = arms.len();
    let (mut names, mut features, mut costs) = (Vec::with_capacity(n_arms), Vec::new(), Vec::new());
    for arm in arms {
        if arm.features.len() != columns.len() {
            let (name, found, expected) = (arm.name, arm.features.len(), columns.len());
            return Err(Problem::Refused(format!(
                "arm `{name}` has {found} features, and there are {expected} columns"
            )));
        }
        names.push(arm.name);
        features.extend(arm.features);
        costs.extend(arm.cost);
    }
    if names.is_empty() {
        return Err(Problem::Refused("there are no arms".into()));
    }
    if !costs.is_empty() && costs.len() < n_arms {
        return Err(Problem::Refused(format!(
            "{} of {n_arms} arms have a `cost`; give all of them one, or none",
            costs.len()
        )));
    }
    let candidates = Candidates::new(names, columns, features);
    let with_costs =
        |candidates: Candidates| if costs.is_empty() { Ok(candidates) } else { candidates.with_costs(costs) };
    candidates.and_then(with_costs).map_err(|error| StoreError::from(error).into())
}

fn find(index: &HashMap<&str, Arm>, name: &str) -> Result<Arm, Problem> {
    index.get(name).copied().ok_or_else(|| Problem::Refused(format!("there is no arm `{name}`")))
}

/// The model with this name.
pub(crate) fn model(name: Option<&str>) -> Result<Option<CampaignModel>, Problem> {
    Ok(name.map(CampaignModel::named).transpose().map_err(StoreError::from)?)
}

/// δ for a confidence.
pub(crate) fn delta(confidence: Option<f64>) -> Result<Option<f64>, Problem> {
    let delta = confidence.map(cutline::delta_of).transpose();
    delta.map_err(|_| Problem::Refused("`confidence` must be a number above 0 and below 1".into()))
}

fn covariance(
    kernel: Option<&KernelBody>,
    edges: &[EdgeBody],
    index: &HashMap<&str, Arm>,
) -> Result<Option<CampaignCovariance>, Problem> {
    if let Some(KernelBody { name, length }) = kernel {
        if !edges.is_empty() {
            return Err(Problem::Refused("`kernel` and `edges` exclude each other".into()));
        }
        let kernel = Kernel::named(name).map_err(StoreError::from)?;
        return Ok(Some(CampaignCovariance::kernel(kernel, *length)));
    }
    if edges.is_empty() {
        return Ok(None);
    }
    let edge =
        |EdgeBody { arms: [one, other], weight }: &EdgeBody| Ok((find(index, one)?, find(index, other)?, *weight));
    let edges = edges.iter().map(edge).collect::<Result<Vec<_>, Problem>>()?;
    let graph = Graph::new(index.len(), &edges).map_err(StoreError::from)?;
    Ok(Some(CampaignCovariance::graph(&graph)))
}
