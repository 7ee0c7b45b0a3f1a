//! Writing changes of the settings and the candidates of a campaign.

use crate::StoreError;
use crate::campaign::{ATTEMPTS, Campaign};
use crate::journal::{Changes, has_revision};
use crate::origin::Mark;
use cutline::Arm;
use cutline_campaign::{AnyCampaign, CampaignState, Candidates, Change, Event, Operation, Origin, Outcome, Submission};

impl Campaign {
    /// Writes a change of settings. Returns whether anything has changed.
    fn change_here(&mut self, change: &Change, origin: &Origin) -> Result<bool, StoreError> {
        for _ in 0..ATTEMPTS {
            if self.repeated(origin)?.is_some() {
                return Ok(true);
            }
            self.state()?;
            let candidates = self.candidates()?;
            let Some((budget, text)) = self.description()?.changed(change, &candidates)? else { return Ok(false) };
            let decide = |state: &CampaignState| {
                state.check_budget(budget)?;
                Ok((Event::Changed { budget, change: text.clone() }, None))
            };
            if self.revise(origin, decide)? {
                return Ok(true);
            }
        }
        Err(StoreError::Contended)
    }

    /// Writes candidates. Returns how many are new.
    fn add_here(&mut self, more: &Candidates, origin: &Origin) -> Result<usize, StoreError> {
        for _ in 0..ATTEMPTS {
            if let Some(events) = self.repeated(origin)? {
                let added = |event: &Event| if let Event::Added { n_arms, .. } = event { *n_arms } else { 0 };
                return Ok(events.iter().map(added).sum());
            }
            self.state()?;
            let candidates = self.candidates()?;
            let Some((first, more)) = self.description()?.added(&candidates, more)? else { return Ok(0) };
            let n_arms = more.n_arms();
            let decide = |_: &CampaignState| Ok((Event::Added { first, n_arms }, Some((first, more.clone()))));
            if self.revise(origin, decide)? {
                return Ok(n_arms);
            }
        }
        Err(StoreError::Contended)
    }

    /// Carries out an operation that changes settings or candidates.
    pub(crate) fn perform_revision(&mut self, submission: &Submission) -> Result<Outcome, StoreError> {
        let n_added = match &submission.operation {
            Operation::Change(change) => {
                let changed = self.change_here(change, &submission.origin)?;
                return Ok(Outcome { n_events: u64::from(changed), ..Outcome::default() });
            }
            Operation::Add(more) => self.add_here(more, &submission.origin)?,
            _ => 0,
        };
        Ok(Outcome { n_events: u64::from(n_added > 0), n_added, ..Outcome::default() })
    }

    /// Writes an event that changes arms or settings, and reads the campaign again. `false`, and nothing is written, if others have changed
    /// arms or settings in the meantime, or the database has undone the transaction because of another one.
    fn revise(
        &mut self,
        origin: &Origin,
        decide: impl Fn(&CampaignState) -> Result<(Event, Option<(Arm, Candidates)>), StoreError>,
    ) -> Result<bool, StoreError> {
        let mut state = self.take_state()?;
        let mut is_overtaken = false;
        let known = state.n_events();
        let Self { journal, id, location, lease_clock, .. } = self;
        let done = journal.write(*id, known, &mut |records, database_time| {
            is_overtaken = has_revision(&records);
            if is_overtaken {
                return Ok(Changes::default());
            }
            state.extend(&records).map_err(|error| StoreError::damaged(location, error.to_string()))?;
            let (event, added) = decide(&state)?;
            let at = lease_clock.now(database_time);
            let marks = vec![Mark { origin: origin.clone(), at, n_events: 1 }];
            Ok(Changes { events: vec![(at, event)], added, marks, ..Changes::default() })
        });
        // The state has neither the new arms nor the new settings, so it is dropped.
        // If the key is in use, another process has carried out the same request in the meantime.
        let is_undone = matches!(done, Err(StoreError::Conflict { .. } | StoreError::KeyInUse));
        if !is_undone {
            done?;
        }
        self.reload()?;
        Ok(!is_overtaken && !is_undone)
    }
}
