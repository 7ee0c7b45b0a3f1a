//! Changing a campaign: its settings, its candidates and rewards that were told.

use crate::StoreError;
use crate::campaign::{ATTEMPTS, Campaign};
use crate::journal::{Decision, has_revision};
use crate::origin::Mark;
use cutline::{Arm, Verdict};
use cutline_campaign::Origin;

use cutline_campaign::{
    CampaignState, Candidates, Change, Event, Operation, Outcome, Submission, TicketId, settings_change,
};
use std::collections::HashMap;

impl Campaign {
    /// Changes settings from here on. Everything measured so far counts as if the campaign had begun with the new settings. Returns whether
    /// anything has changed.
    ///
    /// # Errors
    /// If the new settings are refused, the budget is below what is used, or the store fails.
    pub fn change(&mut self, change: &Change) -> Result<bool, StoreError> {
        Ok(self.submit(Operation::Change(Box::new(change.clone())))?.n_events > 0)
    }

    /// Writes a change of settings. Returns whether anything has changed.
    fn change_here(&mut self, change: &Change, origin: &Origin) -> Result<bool, StoreError> {
        for _ in 0..ATTEMPTS {
            if self.repeated(origin)?.is_some() {
                return Ok(true);
            }
            self.state()?;
            let Some((budget, text)) = self.changed_settings(change)? else { return Ok(false) };
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

    /// The budget after a change of the present settings, and the change as it is stored; `None` if nothing changes.
    pub(crate) fn changed_settings(&mut self, change: &Change) -> Result<Option<(u32, String)>, StoreError> {
        let settings = change.apply(self.settings(), !self.columns().is_empty())?;
        let Some(text) = settings_change(self.settings(), &settings) else { return Ok(None) };
        let candidates = self.candidates()?;
        settings.begin(&candidates)?.terms().check_guarantee()?;
        Ok(Some((settings.budget, text)))
    }

    /// Adds candidates with the same columns, behind those that there are, and returns how many are new. Candidates that the campaign has
    /// already, with the same features and cost, are not added again.
    ///
    /// # Errors
    /// If the columns differ, a name is taken by a candidate with other features or another cost, only some candidates have costs, or the
    /// store fails.
    pub fn add(&mut self, more: &Candidates) -> Result<usize, StoreError> {
        Ok(self.submit(Operation::Add(Box::new(more.clone())))?.n_added)
    }

    /// Writes candidates. Returns how many are new.
    fn add_here(&mut self, more: &Candidates, origin: &Origin) -> Result<usize, StoreError> {
        for _ in 0..ATTEMPTS {
            if let Some(events) = self.repeated(origin)? {
                let added = |event: &Event| if let Event::Added { n_arms, .. } = event { *n_arms } else { 0 };
                return Ok(events.iter().map(added).sum());
            }
            self.state()?;
            let Some((first, more)) = self.added_candidates(more)? else { return Ok(0) };
            let n_arms = more.n_arms();
            let decide = |_: &CampaignState| Ok((Event::Added { first, n_arms }, Some((first, more.clone()))));
            if self.revise(origin, decide)? {
                return Ok(n_arms);
            }
        }
        Err(StoreError::Contended)
    }

    /// Those of `more` that the campaign does not have yet, and the number of the first of them; `None` if it has all.
    pub(crate) fn added_candidates(&mut self, more: &Candidates) -> Result<Option<(Arm, Candidates)>, StoreError> {
        let candidates = self.candidates()?;
        let Some(more) = new_candidates(&candidates, more)? else { return Ok(None) };
        self.settings().begin(&candidates.with(&more)?)?;
        Ok(Some((candidates.n_arms(), more)))
    }

    /// The verdicts that these candidates would have if they were added to the campaign, which does not change. They may have the names of
    /// candidates of the campaign.
    ///
    /// # Errors
    /// If the columns differ, or the store fails.
    pub fn predict(&mut self, others: &Candidates) -> Result<Vec<Verdict>, StoreError> {
        self.state()?;
        let candidates = self.candidates()?;
        let numbered = |from: usize, candidates: &Candidates| {
            let names = (from..from + candidates.n_arms()).map(|number| number.to_string()).collect();
            candidates.clone().renamed(names)
        };
        let n_arms = candidates.n_arms();
        // They are never measured, so that any cost will do.
        let others = match candidates.costs() {
            Some(_) => others.clone().with_costs(vec![1.0; others.n_arms()])?,
            None => others.clone().without_costs(),
        };
        let all = numbered(0, &candidates)?.with(&numbered(n_arms, &others)?)?;
        let mut state = self.folded(&all)?;
        Ok(state.verdicts().split_off(n_arms))
    }

    /// Corrects rewards, all or none, and returns how many have changed. Both values stay in the journal.
    ///
    /// # Errors
    /// If a ticket does not exist or has no reward, or the store fails.
    pub fn amend(&mut self, rewards: &[(TicketId, f64)], reason: &str) -> Result<u64, StoreError> {
        Ok(self.submit(Operation::Amend(rewards.to_vec(), reason.into()))?.n_events)
    }

    /// Declares the rewards of tickets void, all or none, which gives their measurements back to the budget. Returns how many have changed.
    ///
    /// # Errors
    /// If a ticket does not exist or has no reward, or the store fails.
    pub fn void(&mut self, tickets: &[TicketId], reason: &str) -> Result<u64, StoreError> {
        Ok(self.submit(Operation::Void(tickets.to_vec(), reason.into()))?.n_events)
    }

    /// Withdraws arms, all or none, which are not handed out again. Returns how many have changed.
    ///
    /// # Errors
    /// If there is no such arm, or the store fails.
    pub fn withdraw(&mut self, arms: &[Arm], reason: &str) -> Result<u64, StoreError> {
        Ok(self.submit(Operation::Withdraw(arms.to_vec(), reason.into()))?.n_events)
    }

    /// Makes withdrawn arms available again, all or none. Returns how many have changed.
    ///
    /// # Errors
    /// If there is no such arm, or the store fails.
    pub fn restore(&mut self, arms: &[Arm]) -> Result<u64, StoreError> {
        Ok(self.submit(Operation::Restore(arms.to_vec()))?.n_events)
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
                return Ok(Decision::default());
            }
            state.extend(&records).map_err(|error| crate::error::damaged_journal(location, error))?;
            let (event, added) = decide(&state)?;
            let at = lease_clock.now(database_time);
            let marks = vec![Mark { origin: origin.clone(), at, n_events: 1 }];
            Ok(Decision { events: vec![(at, event)], added, marks, ..Decision::default() })
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

/// Those of `more` that are not among `candidates` yet.
fn new_candidates(candidates: &Candidates, more: &Candidates) -> Result<Option<Candidates>, StoreError> {
    if candidates.columns() != more.columns() || candidates.costs().is_some() != more.costs().is_some() {
        // The error says what differs.
        return Ok(Some(candidates.with(more)?));
    }
    let names: HashMap<&str, Arm> = candidates.names().iter().map(String::as_str).zip(0..).collect();
    let cost = |candidates: &Candidates, arm: Arm| candidates.costs().map(|costs| costs[arm]);
    let mut new = Vec::new();
    for (arm, name) in more.names().iter().enumerate() {
        match names.get(name.as_str()) {
            Some(&known) if candidates.row(known) != more.row(arm) => {
                return Err(StoreError::OtherFeatures(name.clone()));
            }
            Some(&known) if cost(candidates, known) != cost(more, arm) => {
                return Err(StoreError::OtherCost(name.clone()));
            }
            Some(_) => (),
            None => new.push(arm),
        }
    }
    Ok(if new.is_empty() { None } else { Some(more.select(&new)?) })
}
