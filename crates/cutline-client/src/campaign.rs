//! A campaign on a server. Nothing is read before it is asked for. Its state is computed here, from the same settings, candidates and events
//! as in a store; changes are requests, and the server decides and writes.

use crate::connection::Connection;
use crate::submitting;
use crate::wire::{
    ArmPage, AvailabilityBody, CampaignIdentity, EventBody, EventPage, FirstTerms, TicketStatusBody, TicketStatuses,
};
use cutline_campaign::{
    AnyCampaign, Availability, CampaignState, Candidates, Description, NewCampaign, Outcome, Record, StoreError,
    Submission, TicketId, TicketInfo,
};
use std::fmt;

/// How many arms or events a page has: as many as a server allows.
const PAGE: usize = 1000;

/// How many tickets are asked about at once: their numbers are a part of the address.
const TICKETS: usize = 200;

/// How often a campaign is read again because others add arms at the same time.
const ATTEMPTS: usize = 20;

/// A campaign on a Cutline server. It is found by its number, whatever its name is by now.
pub struct RemoteCampaign {
    pub(crate) connection: Connection,
    id: i64,
    name: String,
    columns: Vec<String>,
    /// What it began with, once that was read: it does not change.
    first: Option<FirstTerms>,
    /// The campaign after the events read so far; `None` if it has to be read again.
    read: Option<(Description, CampaignState)>,
}

impl RemoteCampaign {
    /// The campaign at the address of the connection.
    pub(crate) fn open(mut connection: Connection, name: String) -> Result<Self, StoreError> {
        let identity: CampaignIdentity = connection.get("identity")?;
        Ok(Self::identified(connection, name, identity))
    }

    /// The campaign at the address of the connection, of which the server has said which one it is.
    pub(crate) fn identified(mut connection: Connection, name: String, identity: CampaignIdentity) -> Self {
        connection.set_campaign(identity.id);
        Self { connection, id: identity.id, name, columns: identity.columns, first: identity.first, read: None }
    }

    /// The campaign that has just been begun at the address of the connection.
    pub(crate) fn begun(connection: Connection, id: i64, new: NewCampaign) -> Self {
        let n_arms = new.candidates.n_arms() - new.n_added;
        let first = FirstTerms { settings: new.first_settings.clone(), n_arms };
        let (names, columns) = new.candidates.into_names_and_columns();
        let description =
            Description { first_settings: new.first_settings, settings: new.settings, names, columns: columns.clone() };
        let identity = CampaignIdentity { id, columns, first: Some(first) };
        Self { read: Some((description, new.state)), ..Self::identified(connection, new.name, identity) }
    }

    /// Sends a request about this campaign, to where it is by now.
    pub(crate) fn located<T>(
        &mut self,
        request: impl FnMut(&mut Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.connection.located(self.id, request)
    }

    /// What the server says at `path`, if that is about this campaign.
    fn get<T: serde::de::DeserializeOwned>(
        &mut self,
        path: &str,
        campaign_id: impl Fn(&T) -> i64,
    ) -> Result<T, StoreError> {
        let id = self.id;
        self.located(|connection| {
            let answer: T = connection.get(path)?;
            if campaign_id(&answer) == id { Ok(answer) } else { Err(StoreError::Deleted) }
        })
    }

    /// What it began with.
    fn first(&mut self) -> Result<FirstTerms, StoreError> {
        if self.first.is_none() {
            self.first = self.get("identity?settings=true", |identity: &CampaignIdentity| identity.id)?.first;
        }
        self.first.clone().ok_or_else(|| self.connection.failed("the settings of the campaign are missing"))
    }

    /// Reads settings, candidates and events, and computes the state from them.
    fn reload(&mut self) -> Result<&mut (Description, CampaignState), StoreError> {
        self.read = None;
        let FirstTerms { settings, n_arms } = self.first()?;
        let location = self.connection.address().to_string();
        for _ in 0..ATTEMPTS {
            let (records, candidates) = (self.events(0)?, self.candidates()?);
            if let Some(read) = Description::fold(&settings, n_arms, candidates, &records, &location)? {
                return Ok(self.read.insert(read));
            }
        }
        Err(StoreError::damaged(&location, "it has more arms than its events say"))
    }
}

impl AnyCampaign for RemoteCampaign {
    fn id(&self) -> i64 {
        self.id
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn description(&mut self) -> Result<&Description, StoreError> {
        if self.read.is_none() {
            self.reload()?;
        }
        self.read.as_ref().map(|(description, _)| description).ok_or(StoreError::Contended)
    }

    fn state(&mut self) -> Result<&mut CampaignState, StoreError> {
        let Some(known) = self.read.as_ref().map(|(_, state)| state.n_events()) else {
            return self.reload().map(|(_, state)| state);
        };
        let records = self.events(known)?;
        if records.iter().any(|record| record.event.is_revision()) {
            return self.reload().map(|(_, state)| state);
        }
        let (description, mut state) = self.read.take().ok_or(StoreError::Contended)?;
        let location = self.connection.address().to_string();
        state.extend(&records).map_err(|error| StoreError::damaged(&location, error.to_string()))?;
        Ok(&mut self.read.insert((description, state)).1)
    }

    fn candidates(&mut self) -> Result<Candidates, StoreError> {
        let (mut names, mut features, mut costs) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            let path = format!("arms?offset={}&limit={PAGE}", names.len());
            let page: ArmPage = self.located(|connection| connection.get(&path))?;
            let is_last = page.arms.is_empty() || names.len() + page.arms.len() >= page.total;
            for arm in page.arms {
                names.push(arm.name);
                features.extend(arm.features);
                costs.extend(arm.cost);
            }
            if is_last {
                break;
            }
        }
        let candidates = Candidates::new(names, self.columns.clone(), features)?;
        Ok(if costs.is_empty() { candidates } else { candidates.with_costs(costs)? })
    }

    fn events(&mut self, after: u64) -> Result<Vec<Record>, StoreError> {
        let mut records = Vec::new();
        let mut next = Some(after);
        while let Some(after) = next {
            let path = format!("events?after={after}&limit={PAGE}");
            let page = self.get(&path, |page: &EventPage| page.campaign_id)?;
            next = page.next;
            let read: Result<Vec<_>, String> = page.events.into_iter().map(EventBody::record).collect();
            records.extend(read.map_err(|what| self.connection.failed(&what))?);
        }
        Ok(records)
    }

    fn tickets(&mut self, numbers: &[TicketId]) -> Result<Vec<TicketInfo>, StoreError> {
        let mut tickets = Vec::new();
        for numbers in numbers.chunks(TICKETS) {
            let numbers: Vec<String> = numbers.iter().map(TicketId::to_string).collect();
            let path = format!("ticket-status?numbers={}", numbers.join(","));
            let found = self.get(&path, |found: &TicketStatuses| found.campaign_id)?;
            let infos: Option<Vec<_>> = found.tickets.into_iter().map(TicketStatusBody::info).collect();
            tickets.extend(infos.ok_or_else(|| self.connection.failed("the tickets cannot be understood"))?);
        }
        Ok(tickets)
    }

    fn availability(&mut self) -> Result<Availability, StoreError> {
        let body = self.get("availability", |body: &AvailabilityBody| body.campaign_id)?;
        body.availability().ok_or_else(|| self.connection.failed("what it can hand out cannot be understood"))
    }

    /// The author and the key of the submission are not sent: the server knows the author by the token, and every request has its own key.
    fn submit_unless(
        &mut self,
        submission: Submission,
        is_interrupted: &dyn Fn() -> bool,
    ) -> Result<Outcome, StoreError> {
        submitting::submit(self, &submission.operation, is_interrupted)
    }
}

impl fmt::Debug for RemoteCampaign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteCampaign").field("address", self.connection.address()).finish_non_exhaustive()
    }
}
