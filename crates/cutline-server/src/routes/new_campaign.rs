//! What a new campaign is made of: JSON with its arms, or a table with the settings in the address.

use crate::problem::Problem;
use crate::state::AppState;
use bytes::Bytes;
use cutline::{Arm, Graph, Kernel};
use cutline_campaign::{
    CampaignCovariance, Candidates, Change, Encoding, NewSettingsSchema, Setting, SettingError, Settings, SettingsError,
};
use cutline_client::wire::{ArmBody, EventBody, ObservedBody};
use cutline_data::dataset;
use cutline_data::dataset::{Loaded, ReadOptions, Source};
use cutline_store::{NewCampaign, StoreError};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use std::collections::{BTreeMap, HashMap};
use utoipa::{IntoParams, ToSchema};

/// A new campaign with its arms.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct NewCampaignBody {
    /// Its name, which no other campaign of the store has.
    #[schema(min_length = 1, max_length = 200, example = "screen")]
    pub(crate) name: String,
    /// The settings; `threshold` and `budget` are required, unless `settings` is given in place of all of these.
    #[serde(flatten)]
    #[schema(value_type = NewSettingsSchema)]
    given: Change,
    /// Means that are a smooth function of the features.
    kernel: Option<KernelBody>,
    /// Means that vary little along the edges of a graph.
    #[serde(default)]
    edges: Vec<EdgeBody>,
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
    /// all others.
    #[schema(value_type = Option<Settings>)]
    settings: Option<serde_json::Value>,
    /// With `settings`: all events of the campaign of which this is a copy, as its `events` has them, in place of `observed`.
    #[schema(value_type = Option<Vec<Object>>)]
    events: Option<Vec<EventBody>>,
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

/// The name of a campaign whose arms are a table in the body, how the table is read, and the settings.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct TableQuery {
    /// The name of the campaign.
    pub(crate) name: Option<String>,
    /// The settings of the campaign, as texts by their keys. `cost` is also how the table is read: tables of arms that are added later need
    /// that column, too.
    #[serde(flatten, deserialize_with = "known_settings")]
    #[param(ignore)]
    pub(crate) settings: BTreeMap<String, String>,
    /// The column with the names of the arms.
    pub(crate) id: Option<String>,
    /// The columns that are features, separated by commas.
    features: Option<String>,
    /// The columns that are categories, separated by commas.
    categories: Option<String>,
    /// `refuse`, or `mean` to replace missing values.
    missing: Option<String>,
    /// The decimal mark: `.` or `,`.
    pub(crate) decimal: Option<String>,
}

/// Reads settings as texts, and refuses unknown keys.
fn known_settings<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, String>, D::Error> {
    let settings = BTreeMap::<String, String>::deserialize(deserializer)?;
    settings.keys().try_for_each(|key| Setting::of(key).map(drop)).map_err(D::Error::custom)?;
    Ok(settings)
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
            cost: self.settings.get("cost").cloned(),
            fills_missing: choice("missing", &self.missing, "refuse", "mean")?,
            decimal_comma: choice("decimal", &self.decimal, ".", ",")?,
        })
    }

    /// The new campaign with the arms of a table, and notes on the table.
    pub(crate) fn campaign(&self, table: Bytes, state: &AppState) -> Result<(NewCampaign, Vec<String>), Problem> {
        let missing =
            |what: &str| Problem::Refused(format!("`{what}` is missing; give it in the address, as in `?{what}=…`"));
        let name = self.name.as_deref().ok_or_else(|| missing("name"))?;
        let texts = self.settings.iter().map(|(key, text)| (key.as_str(), text.as_str()));
        let settings = Change::of_texts(texts).and_then(|given| given.settings()).map_err(|error| match error {
            SettingsError::Setting(SettingError::Missing(what)) => missing(what),
            error => StoreError::from(error).into(),
        })?;
        let Loaded { candidates, encoding, notes, .. } = dataset::load(&Source::Bytes(table), &self.options()?)
            .map_err(|error| Problem::Refused(error.to_string()))?;
        check_n_arms(candidates.n_arms(), state)?;
        let new = NewCampaign::new(name, Settings { encoding, ..settings }, candidates)?;
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
            Some(settings) => self.complete(settings)?,
            None if events.is_some() => return Err(Problem::Refused("`events` need `settings`".into())),
            None => self.settings(&index)?,
        };
        let encoded = settings.encoding.as_ref().map(Encoding::features);
        if encoded.is_some_and(|columns| columns != candidates.columns()) {
            return Err(Problem::Refused("the `encoding` in `settings` is one of other columns".into()));
        }
        if let Some(events) = events {
            return copied(&name, settings, candidates, events, observed.is_empty());
        }
        let mut new = NewCampaign::new(&name, settings, candidates)?;
        new.observe(&observed, count_observed)?;
        Ok(new)
    }

    /// The settings that the fields of the body describe.
    fn settings(self, index: &HashMap<&str, Arm>) -> Result<Settings, Problem> {
        let covariance = covariance(self.kernel.as_ref(), &self.edges, index)?;
        let settings = self.given.settings().map_err(StoreError::from)?;
        Ok(Settings { covariance: covariance.or(settings.covariance), ..settings })
    }

    /// The settings in the form in which a store keeps them.
    fn complete(&self, settings: serde_json::Value) -> Result<Settings, Problem> {
        let kernel = self.kernel.as_ref().map(|_| "kernel");
        let mut given = self.given.keys().chain(kernel).chain((!self.edges.is_empty()).then_some("edges"));
        if let Some(what) = given.next() {
            return Err(Problem::Refused(format!("`{what}` is a part of `settings`; give one of them")));
        }
        serde_json::from_value(settings)
            .map_err(|error| Problem::Refused(format!("`settings` cannot be understood: {error}")))
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
