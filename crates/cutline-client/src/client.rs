//! The campaigns of a server: listed, begun, opened, renamed, deleted and copied.

use crate::HttpAddress;
use crate::address::escaped;
use crate::campaign::RemoteCampaign;
use crate::connection::{Connection, Method};
use crate::wire::{
    ArmBody, BegunCampaign, CampaignEntry, CampaignIdentity, ChangedCampaign, CopyBody, EventBody, ObservedBody,
};
use cutline_campaign::{
    AnyCampaign, CampaignHost, CampaignSummary, Event, Interrupt, NewCampaign, Record, Settings, StoreError,
    check_name, chosen_campaign, from_rfc3339,
};
use serde::Serialize;
use serde_json::json;
use std::fmt;

/// The campaigns at the address of a Cutline server; at the address of a campaign, this one.
#[derive(Clone)]
pub struct Client {
    connection: Connection,
}

/// A campaign of the server, and the connection with its address.
struct Found {
    connection: Connection,
    name: String,
    /// The answer of the server, unless the campaign was found in the list.
    identity: Option<CampaignIdentity>,
    id: i64,
}

/// A new campaign as a server takes it.
#[derive(Serialize)]
struct NewBody<'a> {
    name: &'a str,
    /// What the store is to keep, with everything chosen: the campaign is the one that it would be in a store here.
    settings: &'a Settings,
    columns: &'a [String],
    arms: Vec<ArmBody>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    observed: Vec<ObservedBody>,
    count_observed: bool,
    /// Everything that has happened in the campaign of which it is a copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<Vec<EventBody>>,
}

impl<'a> NewBody<'a> {
    fn new(new: &'a NewCampaign) -> Self {
        let names = new.candidates.names();
        let mut body = Self {
            name: &new.name,
            settings: &new.first_settings,
            columns: new.candidates.columns(),
            arms: ArmBody::all(&new.candidates),
            observed: Vec::new(),
            count_observed: false,
            events: None,
        };
        if new.is_copy {
            let numbered = (1..).zip(new.events.iter().cloned());
            let past = numbered.map(|(number, (at, event))| Record { number, at, event }.into());
            body.events = Some(past.collect());
            return body;
        }
        for (_, event) in &new.events {
            if let Event::Observed { arm, reward, is_counted } = event {
                body.observed.push(ObservedBody { arm: names[*arm].clone(), reward: *reward });
                body.count_observed = *is_counted;
            }
        }
        body
    }
}

impl Client {
    /// A client of the server at an address. The first request is sent when something is asked for; the interrupt can shorten its waits.
    #[must_use]
    pub fn new(address: HttpAddress, interrupt: Interrupt) -> Self {
        Self { connection: Connection::new(address, interrupt) }
    }

    /// The campaign in the address, or the one with this name. It is an error if they differ.
    fn name<'a>(&'a self, given: Option<&'a str>) -> Result<Option<&'a str>, StoreError> {
        match (self.connection.address().name(), given) {
            (Some(address), Some(given)) if address != given => {
                Err(StoreError::OtherName { address: address.into(), given: given.into() })
            }
            (address, given) => Ok(given.or(address)),
        }
    }

    /// The campaign with that name or, without a name, the only one.
    fn find(&self, name: Option<&str>) -> Result<Found, StoreError> {
        let name = self.name(name)?;
        let mut connection = self.connection.clone();
        if let Some(name) = name {
            connection.go_to(connection.address().of(name));
            match connection.get::<CampaignIdentity>("identity") {
                Ok(identity) => {
                    let id = identity.id;
                    return Ok(Found { connection, name: name.into(), identity: Some(identity), id });
                }
                // There is none, or the server cannot open it: the list says which.
                Err(StoreError::Remote { status: 404 | 409, .. }) => (),
                Err(error) => return Err(error),
            }
        }
        let mut entries = connection.entries()?;
        let names: Vec<String> = entries.iter().map(|entry| entry.name.clone()).collect();
        let location = self.connection.address().to_string();
        let CampaignEntry { id, name, .. } = entries.swap_remove(chosen_campaign(&names, name, &location)?);
        connection.go_to(connection.address().of(&name));
        Ok(Found { connection, name, identity: None, id })
    }
}

impl Found {
    fn open(self) -> Result<Box<dyn AnyCampaign>, StoreError> {
        let Self { connection, name, identity, .. } = self;
        Ok(Box::new(match identity {
            Some(identity) => RemoteCampaign::identified(connection, name, identity),
            None => RemoteCampaign::open(connection, name)?,
        }))
    }
}

impl CampaignHost for Client {
    fn campaigns(&self) -> Result<Vec<CampaignSummary>, StoreError> {
        let mut connection = self.connection.clone();
        let mut entries = connection.entries()?;
        if let Some(name) = self.connection.address().name() {
            entries.retain(|entry| entry.name == name);
        }
        let summary = |entry: CampaignEntry| {
            let created = from_rfc3339(&entry.created);
            let created = created.ok_or_else(|| connection.failed("the list of campaigns cannot be understood"))?;
            Ok(CampaignSummary { name: entry.name, created })
        };
        entries.into_iter().map(summary).collect()
    }

    fn begin_new(&self, new: NewCampaign) -> Result<Box<dyn AnyCampaign>, StoreError> {
        if new.first_settings.custom_rule.is_some() {
            return Err(StoreError::CustomRuleOverHttp);
        }
        self.name(Some(&new.name))?;
        let mut connection = self.connection.clone();
        let url = connection.address().of_all().url("");
        let BegunCampaign { id, .. } = connection.send_to(Method::Post, url, &NewBody::new(&new))?;
        connection.go_to(connection.address().of(&new.name));
        Ok(Box::new(RemoteCampaign::begun(connection, id, new)))
    }

    fn campaign(&self, name: Option<&str>) -> Result<Box<dyn AnyCampaign>, StoreError> {
        self.find(name)?.open()
    }

    fn campaign_by_id(&self, id: i64) -> Result<Box<dyn AnyCampaign>, StoreError> {
        let mut connection = self.connection.clone();
        let entry = connection.entries()?.into_iter().find(|entry| entry.id == id).ok_or(StoreError::Deleted)?;
        connection.go_to(connection.address().of(&entry.name));
        let campaign = RemoteCampaign::open(connection, entry.name)?;
        if campaign.id() == id { Ok(Box::new(campaign)) } else { Err(StoreError::Deleted) }
    }

    fn rename(&self, name: Option<&str>, new_name: &str) -> Result<(), StoreError> {
        check_name(new_name)?;
        let Found { mut connection, id, .. } = self.find(name)?;
        let (url, new) = (connection.address().url(""), connection.address().of(new_name));
        let renamed = connection.send_to::<ChangedCampaign>(Method::Patch, url, &json!({"name": new_name}));
        match renamed {
            // The answer to the first attempt was lost, perhaps.
            Err(error @ StoreError::Remote { status: 404, .. }) => {
                match connection.get_from::<CampaignIdentity>(&new.url("identity")) {
                    Ok(identity) if identity.id == id => Ok(()),
                    _ => Err(error),
                }
            }
            renamed => renamed.map(drop),
        }
    }

    fn delete(&self, name: &str) -> Result<(), StoreError> {
        let Found { mut connection, name, .. } = self.find(Some(name))?;
        let url = connection.address().url(&format!("?confirm={}", escaped(&name)));
        match connection.send_to(Method::Delete, url, &()) {
            // It was there a moment ago: the answer to the first attempt was lost, or somebody else has deleted it.
            Err(StoreError::Remote { status: 404, .. }) => Ok(()),
            deleted => deleted,
        }
    }

    fn server(&self) -> Option<&str> {
        Some(self.connection.address().server())
    }

    fn copy_here(&self, name: Option<&str>, new_name: &str) -> Result<Box<dyn AnyCampaign>, StoreError> {
        check_name(new_name)?;
        let Found { mut connection, .. } = self.find(name)?;
        let url = connection.address().url("copies");
        let _: BegunCampaign = connection.send_to(Method::Post, url, &CopyBody { name: new_name.into() })?;
        connection.go_to(connection.address().of(new_name));
        Ok(Box::new(RemoteCampaign::open(connection, new_name.into())?))
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("address", self.connection.address()).finish_non_exhaustive()
    }
}
