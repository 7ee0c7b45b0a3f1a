//! The journal of a server, and of one campaign on it, once one is chosen. It can be read; nothing is written to it but by the server's own
//! operations.

use super::HttpAddress;
use super::client::Client;
use super::wire::{ArmPage, CampaignPage, Details, EventPage};
use crate::error::StoreError;
use crate::journal::{Beginning, Decide, Entry, Id, Journal};
use crate::origin::{Authorship, StoredRequest};
use crate::{Interrupt, NewCampaign, Token};
use cutline_campaign::{Candidates, Record, Time};

/// How many entries a page has: as many as a server allows. Pages of campaigns are shorter.
const PAGE: usize = 1000;
const CAMPAIGNS: usize = 100;

/// A connection to a server.
pub(crate) struct HttpJournal {
    pub(super) client: Client,
    /// The chosen campaign, once it was read. What it began with does not change.
    details: Option<Details>,
}

/// A connection to the server at an address. The first request is sent when something is read.
pub(crate) fn connect(address: &HttpAddress, interrupt: &Interrupt) -> Box<dyn Journal> {
    Box::new(HttpJournal { client: Client::new(address.clone(), interrupt.clone()), details: None })
}

impl HttpJournal {
    fn details(&mut self) -> Result<&Details, StoreError> {
        if self.details.is_none() {
            let details: Details = self.client.get("")?;
            self.client.set_campaign(Some(details.id));
            self.details = Some(details);
        }
        self.details.as_ref().ok_or(StoreError::Contended)
    }

    /// From now on, everything is about the campaign with this name.
    pub(crate) fn choose(&mut self, name: &str) {
        if self.client.address().name.as_deref() != Some(name) {
            self.details = None;
            self.client.set_campaign(None);
            self.client.go_to(self.client.address().of(name));
        }
    }

    /// What a request about the chosen campaign gives. If the campaign is no longer at its address, the request is sent once more, to where
    /// it is now; another campaign that has got its name is left alone.
    pub(super) fn located<T>(
        &mut self,
        mut request: impl FnMut(&mut Client) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let error = match request(&mut self.client) {
            Err(error @ (StoreError::Deleted | StoreError::Remote { status: 404 | 410, .. })) => error,
            done => return done,
        };
        let Some(id) = self.details.as_ref().map(|details| details.id) else { return Err(error) };
        let entry = self.all_entries()?.into_iter().find(|entry| entry.id == id).ok_or(StoreError::Deleted)?;
        if self.client.address().name.as_ref() == Some(&entry.name) {
            return Err(error);
        }
        self.client.go_to(self.client.address().of(&entry.name));
        request(&mut self.client)
    }

    /// All campaigns of the server, in the order they were begun.
    pub(crate) fn all_entries(&mut self) -> Result<Vec<Entry>, StoreError> {
        let all = self.client.address().of_all();
        let mut entries = Vec::new();
        loop {
            let query = format!("?overview=false&offset={}&limit={CAMPAIGNS}", entries.len());
            let page: CampaignPage = self.client.get_from(&all.url(&query))?;
            let n_campaigns = page.campaigns.len();
            for campaign in page.campaigns {
                let entry = campaign.entry();
                entries.push(entry.ok_or_else(|| self.client.failed("the list of campaigns cannot be understood"))?);
            }
            if n_campaigns == 0 || entries.len() >= page.total {
                break;
            }
        }
        // While the pages were read, others may have begun campaigns, which moves the rest to later pages.
        entries.sort_by_key(|entry| entry.id);
        entries.dedup_by_key(|entry| entry.id);
        Ok(entries)
    }

    /// The campaign with this name, without reading the list; `None` if there is none, or the server cannot open it.
    pub(crate) fn entry(&mut self, name: &str) -> Result<Option<Entry>, StoreError> {
        let address = self.client.address().clone();
        if address.name.as_deref().is_some_and(|chosen| chosen != name) {
            return Ok(None);
        }
        self.choose(name);
        let found = self.details().map(|Details { id, .. }| Some(Entry { id: *id, name: name.into(), created: 0 }));
        found.or_else(|error| {
            self.client.go_to(address);
            if matches!(error, StoreError::Remote { status: 404 | 409, .. }) { Ok(None) } else { Err(error) }
        })
    }

    /// A page of at most `limit` events after number `after`, and where the next one begins, if there are more.
    fn page(&mut self, id: Id, after: u64, limit: usize) -> Result<(Vec<Record>, Option<u64>), StoreError> {
        let page = self.located(|client| {
            let page: EventPage = client.get(&format!("events?after={after}&limit={limit}"))?;
            if page.campaign_id == id { Ok(page) } else { Err(StoreError::Deleted) }
        })?;
        let records: Result<_, String> = page.events.into_iter().map(super::PastEvent::record).collect();
        Ok((records.map_err(|what| self.client.failed(&what))?, page.next))
    }
}

impl Journal for HttpJournal {
    fn remote(&mut self) -> Option<&mut HttpJournal> {
        Some(self)
    }

    fn entries(&mut self) -> Result<Vec<Entry>, StoreError> {
        let mut entries = self.all_entries()?;
        if let Some(name) = &self.client.address().name {
            entries.retain(|entry| entry.name == *name);
        }
        Ok(entries)
    }

    fn begin(&mut self, new: &NewCampaign) -> Result<Id, StoreError> {
        self.begin_on_server(new)
    }

    fn beginning(&mut self, _: Id) -> Result<Beginning, StoreError> {
        let Details { first_settings, first_n_arms, .. } = self.details()?;
        Ok(Beginning { settings: first_settings.clone(), n_arms: *first_n_arms })
    }

    fn candidates(&mut self, _: Id) -> Result<Candidates, StoreError> {
        let columns = self.details()?.columns.clone();
        let (mut names, mut features, mut costs) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            let page: ArmPage = self.client.get(&format!("arms?offset={}&limit={PAGE}", names.len()))?;
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
        let candidates = Candidates::new(names, columns, features)?;
        Ok(if costs.is_empty() { candidates } else { candidates.with_costs(costs)? })
    }

    fn read(&mut self, id: Id, after: u64) -> Result<Vec<Record>, StoreError> {
        let (mut records, mut next) = self.page(id, after, PAGE)?;
        while let Some(after) = next {
            let more;
            (more, next) = self.page(id, after, PAGE)?;
            records.extend(more);
        }
        Ok(records)
    }

    fn write(&mut self, _: Id, _: u64, _: &mut Decide<'_>) -> Result<Vec<Vec<f64>>, StoreError> {
        Err(StoreError::NotOverHttp)
    }

    fn database_time(&self) -> Option<Time> {
        None
    }

    fn rename(&mut self, id: Id, name: &str) -> Result<(), StoreError> {
        self.rename_on_server(id, name)
    }

    fn delete(&mut self, _: Id) -> Result<(), StoreError> {
        self.delete_on_server()
    }

    fn read_some(&mut self, id: Id, after: u64, most: usize) -> Result<Vec<Record>, StoreError> {
        Ok(self.page(id, after, most.clamp(1, PAGE))?.0)
    }

    fn name(&mut self, _: Id) -> Result<Option<String>, StoreError> {
        Ok(self.client.address().name.clone())
    }

    fn activity(&mut self) -> Result<Vec<(Id, u64, Option<Time>)>, StoreError> {
        Err(StoreError::NotOverHttp)
    }

    fn request(&mut self, _: Option<Id>, _: &str) -> Result<Option<StoredRequest>, StoreError> {
        Ok(None)
    }

    fn forget_requests(&mut self, _: Time) -> Result<(), StoreError> {
        Err(StoreError::NotOverHttp)
    }

    fn authors(&mut self, _: Id, _: u64, _: u64) -> Result<Vec<Authorship>, StoreError> {
        Err(StoreError::NotOverHttp)
    }

    fn tokens(&mut self) -> Result<Vec<Token>, StoreError> {
        Err(StoreError::NotOverHttp)
    }

    fn add_token(&mut self, _: &Token) -> Result<(), StoreError> {
        Err(StoreError::NotOverHttp)
    }

    fn revoke_token(&mut self, _: &str, _: Time) -> Result<(), StoreError> {
        Err(StoreError::NotOverHttp)
    }
}
