//! A journal in memory, which lasts until its last clone is dropped.

use super::{Beginning, Changes, Decide, Entry, Id, Journal, first_events, first_mark, numbered};
use crate::origin::{Authorship, Mark, StoredRequest, authorships, keyed};
use crate::{NewCampaign, StoreError, Token};
use cutline_campaign::{Candidates, Event, Record, RequestKey, Settings, Time};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Campaigns in memory. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    campaigns: Arc<Mutex<Vec<Option<StoredCampaign>>>>,
    tokens: Arc<Mutex<Vec<Token>>>,
    /// The requests that began campaigns.
    beginnings: Arc<Mutex<Requests>>,
}

/// The requests that were carried out, by their keys, and when.
pub(super) type Requests = HashMap<String, (Time, StoredRequest)>;

#[derive(Debug)]
pub(super) struct StoredCampaign {
    pub(super) name: String,
    created: Time,
    settings: Settings,
    candidates: Candidates,
    pub(super) records: Vec<Record>,
    pub(super) requests: Requests,
    authors: Vec<Authorship>,
}

impl Memory {
    pub(super) fn campaigns(&self) -> MutexGuard<'_, Vec<Option<StoredCampaign>>> {
        // Everything that can panic comes before the first change, so the campaigns are consistent even after a panic.
        locked(&self.campaigns)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds a request that was carried out, unless its key is in use.
pub(super) fn add_request(
    requests: &mut Requests,
    key: &RequestKey,
    at: Time,
    request: StoredRequest,
) -> Result<(), StoreError> {
    if requests.contains_key(&key.key) {
        return Err(StoreError::KeyInUse);
    }
    requests.insert(key.key.clone(), (at, request));
    Ok(())
}

/// The campaign with this id. Ids are positions, and a deleted campaign leaves its position empty.
pub(super) fn find(campaigns: &mut [Option<StoredCampaign>], id: Id) -> Result<&mut StoredCampaign, StoreError> {
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
        let Mark { origin, at, n_events } = first_mark(new);
        if let Some(key) = &origin.key {
            let request =
                StoredRequest { fingerprint: key.fingerprint.clone(), first: campaigns.len() as u64, n_events: 0 };
            add_request(&mut locked(&self.beginnings), key, at, request)?;
        }
        let authors = origin.author.map(|author| Authorship { first: 0, last: n_events, author });
        campaigns.push(Some(StoredCampaign {
            name: name.clone(),
            created: *created,
            settings,
            candidates,
            records,
            requests: Requests::new(),
            authors: authors.into_iter().collect(),
        }));
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
        let StoredCampaign { records, candidates, requests, authors, .. } = find(&mut campaigns, id)?;
        let Changes { events, added, features_of, marks } = decide(later(records, after).to_vec(), None)?;
        for (key, at, request) in keyed(records.len() as u64, &marks) {
            add_request(requests, key, at, request)?;
        }
        if let Some((_, more)) = added {
            *candidates = candidates.with(&more)?;
        }
        let features = features_of.iter().map(|&arm| candidates.row(arm).to_vec()).collect();
        let last = records.len() as u64;
        authors.extend(authorships(last, &marks));
        records.extend(numbered(last, events));
        Ok(features)
    }

    fn database_time(&self) -> Option<Time> {
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

    fn read_some(&mut self, id: Id, after: u64, most: usize) -> Result<Vec<Record>, StoreError> {
        Ok(later(&find(&mut self.campaigns(), id)?.records, after).iter().take(most).cloned().collect())
    }

    fn name(&mut self, id: Id) -> Result<Option<String>, StoreError> {
        Ok(find(&mut self.campaigns(), id).ok().map(|campaign| campaign.name.clone()))
    }

    fn activity(&mut self) -> Result<Vec<(Id, u64, Option<Time>)>, StoreError> {
        let activity = |(id, campaign): (Id, &Option<StoredCampaign>)| {
            let records = &campaign.as_ref()?.records;
            Some((id, records.len() as u64, records.last().map(|record| record.at)))
        };
        Ok((0..).zip(self.campaigns().iter()).filter_map(activity).collect())
    }

    fn request(&mut self, campaign: Option<Id>, key: &str) -> Result<Option<StoredRequest>, StoreError> {
        let of = |requests: &Requests| requests.get(key).map(|(_, request)| request.clone());
        match campaign {
            Some(id) => Ok(of(&find(&mut self.campaigns(), id)?.requests)),
            None => Ok(of(&locked(&self.beginnings))),
        }
    }

    fn forget_requests(&mut self, before: Time) -> Result<(), StoreError> {
        let is_kept = |_: &String, (at, _): &mut (Time, StoredRequest)| *at >= before;
        locked(&self.beginnings).retain(is_kept);
        self.campaigns().iter_mut().flatten().for_each(|campaign| campaign.requests.retain(is_kept));
        Ok(())
    }

    fn authors(&mut self, id: Id, first: u64, last: u64) -> Result<Vec<Authorship>, StoreError> {
        let mut campaigns = self.campaigns();
        let authors = &find(&mut campaigns, id)?.authors;
        Ok(authors.iter().filter(|range| range.last >= first && range.first <= last).cloned().collect())
    }

    fn tokens(&mut self) -> Result<Vec<Token>, StoreError> {
        Ok(locked(&self.tokens).clone())
    }

    fn add_token(&mut self, token: &Token) -> Result<(), StoreError> {
        let mut tokens = locked(&self.tokens);
        if tokens.iter().any(|known| known.name == token.name) {
            return Err(StoreError::TokenNameTaken(token.name.clone()));
        }
        tokens.push(token.clone());
        Ok(())
    }

    fn revoke_token(&mut self, name: &str, now: Time) -> Result<(), StoreError> {
        let mut tokens = locked(&self.tokens);
        let token = tokens.iter_mut().find(|token| token.name == name);
        token.ok_or_else(|| StoreError::NoToken(name.into()))?.revoked.get_or_insert(now);
        Ok(())
    }
}
