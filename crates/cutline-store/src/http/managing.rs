//! Beginning, renaming, deleting and copying campaigns on a server, as requests.

use super::HttpJournal;
use super::address::escaped;
use super::client::Method;
use super::past_event::PastEvent;
use super::wire::{Begun, ChangedSettings, Details};
use crate::journal::Id;
use crate::{NewCampaign, StoreError};
use cutline_campaign::{Candidates, Event, Settings};
use serde::Serialize;
use serde_json::{Value, json};

/// A new campaign as a server takes it.
#[derive(Serialize)]
struct NewBody<'a> {
    name: &'a str,
    /// What the store is to keep, with everything chosen: the campaign is the one that it would be in a store here.
    settings: &'a Settings,
    columns: &'a [String],
    arms: Vec<ArmRow<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    observed: Vec<Value>,
    count_observed: bool,
    /// Everything that has happened in the campaign of which it is a copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<Vec<PastEvent>>,
}

/// An arm as a server takes it.
#[derive(Serialize)]
pub(super) struct ArmRow<'a> {
    name: &'a str,
    features: &'a [f64],
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<f64>,
}

/// The candidates, one row per arm.
pub(super) fn arm_rows(candidates: &Candidates) -> Vec<ArmRow<'_>> {
    let cost = |arm: usize| candidates.costs().map(|costs| costs[arm]);
    let names = candidates.names().iter().enumerate();
    names.map(|(arm, name)| ArmRow { name, features: candidates.row(arm), cost: cost(arm) }).collect()
}

impl HttpJournal {
    /// Begins a campaign, and chooses it.
    pub(super) fn begin_on_server(&mut self, new: &NewCampaign) -> Result<Id, StoreError> {
        if new.first_settings.custom_rule.is_some() {
            return Err(StoreError::CustomRuleOverHttp);
        }
        let address = self.client.address();
        if let Some(chosen) = address.name.as_ref().filter(|chosen| **chosen != new.name) {
            return Err(StoreError::OtherName { address: chosen.clone(), given: new.name.clone() });
        }
        let url = address.of_all().url("");
        let body = self.body(new)?;
        let begun: Begun = self.client.send_to(Method::Post, url, &body).map_err(taken(&new.name))?;
        self.choose(&new.name);
        self.client.set_campaign(Some(begun.id));
        Ok(begun.id)
    }

    fn body<'a>(&self, new: &'a NewCampaign) -> Result<NewBody<'a>, StoreError> {
        let names = new.candidates.names();
        let (mut observed, mut count_observed, mut events) = (Vec::new(), false, None);
        if new.is_copy {
            let numbered = (1..).zip(&new.events);
            let past: Option<_> = numbered.map(|(number, (at, event))| PastEvent::new(number, *at, event)).collect();
            events = Some(past.ok_or_else(|| self.client.failed("the campaign is of a later version of Cutline"))?);
        } else {
            for (_, event) in &new.events {
                if let Event::Observed { arm, reward, is_counted } = event {
                    observed.push(json!({"arm": names[*arm], "reward": reward}));
                    count_observed = *is_counted;
                }
            }
        }
        Ok(NewBody {
            name: &new.name,
            settings: &new.first_settings,
            columns: new.candidates.columns(),
            arms: arm_rows(&new.candidates),
            observed,
            count_observed,
            events,
        })
    }

    /// Gives the chosen campaign another name.
    pub(super) fn rename_on_server(&mut self, id: Id, name: &str) -> Result<(), StoreError> {
        let (url, new) = (self.client.address().url(""), self.client.address().of(name));
        let renamed: Result<ChangedSettings, _> = self.client.send_to(Method::Patch, url, &json!({"name": name}));
        match renamed.map_err(taken(name)) {
            // The answer to the first attempt was lost, perhaps.
            Err(error @ StoreError::Remote { status: 404, .. }) => {
                match self.client.get_from::<Details>(&new.url("")) {
                    Ok(details) if details.id == id => Ok(()),
                    _ => Err(error),
                }
            }
            renamed => renamed.map(drop),
        }
    }

    /// Deletes the chosen campaign.
    pub(super) fn delete_on_server(&mut self) -> Result<(), StoreError> {
        let address = self.client.address();
        let name = address.name.clone().unwrap_or_default();
        let url = address.url(&format!("?confirm={}", escaped(&name)));
        match self.client.send_to(Method::Delete, url, &()) {
            // It was there a moment ago: the answer to the first attempt was lost, or somebody else has deleted it.
            Err(StoreError::Remote { status: 404, .. }) => Ok(()),
            deleted => deleted,
        }
    }

    /// Copies the chosen campaign to another name on the same server, and chooses the copy.
    pub(crate) fn copy_on_server(&mut self, name: &str) -> Result<(), StoreError> {
        let url = self.client.address().url("copies");
        self.client.send_to::<Begun>(Method::Post, url, &json!({"name": name})).map_err(taken(name))?;
        self.choose(name);
        Ok(())
    }
}

/// The error of a store for a name that another campaign has.
fn taken(name: &str) -> impl FnOnce(StoreError) -> StoreError {
    move |error| match error {
        StoreError::Remote { status: 409, detail, .. } if detail == StoreError::NameTaken(name.into()).to_string() => {
            StoreError::NameTaken(name.into())
        }
        error => error,
    }
}
