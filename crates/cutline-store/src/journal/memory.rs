//! A journal in memory, which lasts until its last clone is dropped.

use super::{Beginning, Decide, Decision, Entry, Id, Journal, first_events, numbered};
use crate::{Candidates, NewCampaign, Settings, StoreError};
use cutline::campaign::{Event, Record, Time};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Campaigns in memory. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory(Arc<Mutex<Vec<Option<StoredCampaign>>>>);

#[derive(Debug)]
struct StoredCampaign {
    name: String,
    created: Time,
    settings: Settings,
    candidates: Candidates,
    records: Vec<Record>,
}

impl Memory {
    fn campaigns(&self) -> MutexGuard<'_, Vec<Option<StoredCampaign>>> {
        // Everything that can panic comes before the first change, so the campaigns are consistent even after a panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The campaign with this id. Ids are positions, and a deleted campaign leaves its position empty.
fn find(campaigns: &mut [Option<StoredCampaign>], id: Id) -> Result<&mut StoredCampaign, StoreError> {
    let campaign = usize::try_from(id).ok().and_then(|position| campaigns.get_mut(position));
    campaign.expect("an id of this journal").as_mut().ok_or(StoreError::Deleted)
}

/// Refuses a name that a campaign has already.
fn check_name(campaigns: &[Option<StoredCampaign>], name: &str) -> Result<(), StoreError> {
    let is_taken = campaigns.iter().flatten().any(|campaign| campaign.name == *name);
    if is_taken { Err(StoreError::NameTaken(name.into())) } else { Ok(()) }
}

/// The number of arms that these records add.
fn n_added(records: &[Record]) -> usize {
    let added = |record: &Record| if let Event::Added { n_arms, .. } = record.event { n_arms } else { 0 };
    records.iter().map(added).sum()
}

/// The records after number `after`.
fn later(records: &[Record], after: u64) -> &[Record] {
    usize::try_from(after).ok().and_then(|after| records.get(after..)).unwrap_or_default()
}

impl Journal for Memory {
    fn entries(&mut self) -> Result<Vec<Entry>, StoreError> {
        let entry = |(id, campaign): (Id, &Option<StoredCampaign>)| {
            let StoredCampaign { name, created, .. } = campaign.as_ref()?;
            Some(Entry { id, name: name.clone(), created: *created })
        };
        Ok((0..).zip(self.campaigns().iter()).filter_map(entry).collect())
    }

    fn begin(&mut self, new: &NewCampaign) -> Result<Id, StoreError> {
        let NewCampaign { name, created, first_settings: settings, candidates, .. } = new;
        let mut campaigns = self.campaigns();
        check_name(&campaigns, name)?;
        let (settings, candidates) = (settings.clone(), candidates.clone());
        let records = first_events(new).collect();
        campaigns.push(Some(StoredCampaign { name: name.clone(), created: *created, settings, candidates, records }));
        Ok(Id::try_from(campaigns.len() - 1).expect("campaigns that fit in memory"))
    }

    fn beginning(&mut self, id: Id) -> Result<Beginning, StoreError> {
        let mut campaigns = self.campaigns();
        let StoredCampaign { settings, candidates, records, .. } = find(&mut campaigns, id)?;
        Ok(Beginning { settings: settings.clone(), n_arms: candidates.n_arms() - n_added(records) })
    }

    fn candidates(&mut self, id: Id) -> Result<Candidates, StoreError> {
        Ok(find(&mut self.campaigns(), id)?.candidates.clone())
    }

    fn read(&mut self, id: Id, after: u64) -> Result<Vec<Record>, StoreError> {
        Ok(later(&find(&mut self.campaigns(), id)?.records, after).to_vec())
    }

    fn write(&mut self, id: Id, after: u64, decide: &mut Decide<'_>) -> Result<Vec<Vec<f64>>, StoreError> {
        let mut campaigns = self.campaigns();
        let StoredCampaign { records, candidates, .. } = find(&mut campaigns, id)?;
        let Decision { events, added, features_of } = decide(later(records, after).to_vec(), None)?;
        if let Some((_, more)) = added {
            *candidates = candidates.with(&more)?;
        }
        let features = features_of.iter().map(|&arm| candidates.row(arm).to_vec()).collect();
        let last = records.len() as u64;
        records.extend(numbered(last, events));
        Ok(features)
    }

    fn server_time(&self) -> Option<Time> {
        None
    }

    fn rename(&mut self, id: Id, name: &str) -> Result<(), StoreError> {
        let mut campaigns = self.campaigns();
        if find(&mut campaigns, id)?.name != name {
            check_name(&campaigns, name)?;
            find(&mut campaigns, id)?.name = name.into();
        }
        Ok(())
    }

    fn delete(&mut self, id: Id) -> Result<(), StoreError> {
        let mut campaigns = self.campaigns();
        find(&mut campaigns, id)?;
        campaigns[usize::try_from(id).expect("it was found")] = None;
        Ok(())
    }
}
