//! The journal of a campaign on a server. It can be read; nothing is written to it but by the server's own operations.

use super::HttpAddress;
use super::client::Client;
use super::wire::{ArmPage, Details, EventPage};
use crate::error::StoreError;
use crate::journal::{Beginning, Decide, Entry, Id, Journal};
use crate::origin::{Authorship, StoredRequest};
use crate::{Candidates, Interrupt, NewCampaign, Token};
use cutline::campaign::{Record, Time};

/// How many entries a page has: as many as a server allows.
const PAGE: usize = 1000;

/// A connection to a campaign on a server.
pub(crate) struct HttpJournal {
    pub(super) client: Client,
    /// The campaign, once it was read. What it began with does not change.
    details: Option<Details>,
}

/// A connection to the campaign at an address. The first request is sent when something is read.
pub(crate) fn connect(address: &HttpAddress, interrupt: &Interrupt) -> Box<dyn Journal> {
    Box::new(HttpJournal { client: Client::new(address.clone(), interrupt.clone()), details: None })
}

impl HttpJournal {
    fn details(&mut self) -> Result<&Details, StoreError> {
        if self.details.is_none() {
            self.details = Some(self.client.get("")?);
        }
        self.details.as_ref().ok_or(StoreError::Contended)
    }

    /// A page of at most `limit` events after number `after`, and where the next one begins, if there are more.
    fn page(&mut self, id: Id, after: u64, limit: usize) -> Result<(Vec<Record>, Option<u64>), StoreError> {
        let page: EventPage = self.client.get(&format!("events?after={after}&limit={limit}"))?;
        if page.campaign_id != id {
            return Err(StoreError::Deleted);
        }
        let records: Result<_, String> = page.events.into_iter().map(super::wire::EventRow::record).collect();
        Ok((records.map_err(|what| self.client.failed(&what))?, page.next))
    }
}

impl Journal for HttpJournal {
    fn remote(&mut self) -> Option<&mut HttpJournal> {
        Some(self)
    }

    fn entries(&mut self) -> Result<Vec<Entry>, StoreError> {
        let Details { id, name, .. } = self.details()?;
        // When it was begun is not asked for here.
        Ok(vec![Entry { id: *id, name: name.clone(), created: 0 }])
    }

    fn begin(&mut self, _: &NewCampaign) -> Result<Id, StoreError> {
        Err(StoreError::NotOverHttp)
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

    fn server_time(&self) -> Option<Time> {
        None
    }

    fn rename(&mut self, _: Id, _: &str) -> Result<(), StoreError> {
        Err(StoreError::NotOverHttp)
    }

    fn delete(&mut self, _: Id) -> Result<(), StoreError> {
        Err(StoreError::NotOverHttp)
    }

    fn read_some(&mut self, id: Id, after: u64, most: usize) -> Result<Vec<Record>, StoreError> {
        Ok(self.page(id, after, most.clamp(1, PAGE))?.0)
    }

    fn name(&mut self, _: Id) -> Result<Option<String>, StoreError> {
        Ok(Some(self.client.address().name.clone()))
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
