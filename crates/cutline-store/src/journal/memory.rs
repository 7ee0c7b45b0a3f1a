//! A journal that lasts as long as the process.

use super::{Decide, Entry, Id, Journal, first_events, numbered};
use crate::{Candidates, Draft, Settings, StoreError};
use cutline::Arm;
use cutline::campaign::{Record, Time};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Campaigns in memory. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory(Arc<Mutex<Vec<Kept>>>);

#[derive(Debug)]
struct Kept {
    name: String,
    created: Time,
    settings: Settings,
    candidates: Candidates,
    records: Vec<Record>,
}

impl Memory {
    fn kept(&self) -> MutexGuard<'_, Vec<Kept>> {
        // Nothing is changed before everything that can fail has been done, so what a panic left is whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ids are positions.
fn of(kept: &mut [Kept], id: Id) -> &mut Kept {
    usize::try_from(id).ok().and_then(|position| kept.get_mut(position)).expect("an id that this journal gave")
}

fn after(records: &[Record], after: u64) -> &[Record] {
    usize::try_from(after).ok().and_then(|after| records.get(after..)).unwrap_or_default()
}

impl Journal for Memory {
    fn entries(&mut self) -> Result<Vec<Entry>, StoreError> {
        let entry = |(id, kept): (Id, &Kept)| Entry { id, name: kept.name.clone(), created: kept.created };
        Ok((0..).zip(self.kept().iter()).map(entry).collect())
    }

    fn begin(&mut self, draft: &Draft) -> Result<Id, StoreError> {
        let Draft { name, at, settings, candidates, .. } = draft;
        let mut kept = self.kept();
        if kept.iter().any(|kept| kept.name == *name) {
            return Err(StoreError::NameTaken(name.clone()));
        }
        let (settings, candidates) = (settings.clone(), candidates.clone());
        let records = first_events(draft).collect();
        kept.push(Kept { name: name.clone(), created: *at, settings, candidates, records });
        Ok(Id::try_from(kept.len() - 1).expect("campaigns that fit in memory"))
    }

    fn settings(&mut self, id: Id) -> Result<Settings, StoreError> {
        Ok(of(&mut self.kept(), id).settings.clone())
    }

    fn candidates(&mut self, id: Id) -> Result<Candidates, StoreError> {
        Ok(of(&mut self.kept(), id).candidates.clone())
    }

    fn row(&mut self, id: Id, arm: Arm) -> Result<Vec<f64>, StoreError> {
        Ok(of(&mut self.kept(), id).candidates.row(arm).to_vec())
    }

    fn read(&mut self, id: Id, last: u64) -> Result<Vec<Record>, StoreError> {
        Ok(after(&of(&mut self.kept(), id).records, last).to_vec())
    }

    fn write(&mut self, id: Id, last: u64, decide: &mut Decide<'_>) -> Result<(), StoreError> {
        let mut all = self.kept();
        let records = &mut of(&mut all, id).records;
        let events = decide(after(records, last).to_vec())?;
        let last = records.len() as u64;
        records.extend(numbered(last, events));
        Ok(())
    }
}
