//! The campaign in its store, through whatever happens to the connection.

use super::identity::Identity;
use crate::args::Which;
use cutline::campaign::{CampaignError, Progress, TicketStatus};
use cutline::{Side, StopReason};
use cutline_store::{Campaign, StoreError, Ticket};
use std::time::{Duration, Instant};

/// How long a database may be away.
const PATIENCE: Duration = Duration::from_mins(1);

/// A campaign that is opened again when its database was away, and who works on it.
pub(super) struct Kept<'a> {
    which: &'a Which,
    campaign: Campaign,
    identity: Identity,
    worker: String,
}

impl<'a> Kept<'a> {
    pub(super) fn open(which: &'a Which, identity: Identity) -> Result<Self, StoreError> {
        let worker = identity.worker();
        Ok(Self { which, campaign: which.open()?, identity, worker })
    }

    /// Does something with the campaign, again if the database fails; then it is said that it may have been done in part.
    fn insist<T>(
        &mut self,
        mut act: impl FnMut(&mut Campaign, bool) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let begun = Instant::now();
        let mut is_again = false;
        loop {
            match act(&mut self.campaign, is_again) {
                Err(StoreError::Database { .. }) if begun.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_secs(1));
                    is_again = true;
                    if let Ok(campaign) = self.which.open() {
                        self.campaign = campaign;
                    }
                }
                done => return done,
            }
        }
    }

    /// Takes up to `n` tickets; `works_on` says which are being measured already.
    pub(super) fn ask(
        &mut self,
        n: usize,
        lease: Duration,
        works_on: impl Fn(u64) -> bool,
    ) -> Result<Vec<Ticket>, StoreError> {
        let worker = self.worker.clone();
        self.insist(|campaign, is_again| {
            if is_again {
                // Tickets may have been handed out to us that we never heard of.
                let lost = out(campaign, |ticket, by| by == worker && !works_on(ticket))?;
                campaign.expire(&lost)?;
            }
            campaign.ask(n, &worker, lease)
        })
    }

    /// Tells rewards, in one go if all are welcome; what was refused, and why.
    pub(super) fn tell(&mut self, rewards: &[(u64, f64)]) -> Result<Vec<(u64, f64, CampaignError)>, StoreError> {
        match self.insist(|campaign, _| campaign.tell(rewards)) {
            Err(StoreError::CampaignError(_)) => (),
            done => return done.map(|_| Vec::new()),
        }
        let mut refused = Vec::new();
        for &(ticket, reward) in rewards {
            match self.insist(|campaign, _| campaign.tell(&[(ticket, reward)])) {
                Err(StoreError::CampaignError(refusal)) => refused.push((ticket, reward, refusal)),
                done => drop(done?),
            }
        }
        Ok(refused)
    }

    /// Says that a ticket has no reward; if others have settled it in the meantime, that stands.
    pub(super) fn fail(&mut self, ticket: u64, reason: &str) -> Result<(), StoreError> {
        match self.insist(|campaign, _| campaign.fail(ticket, reason)) {
            Ok(_) | Err(StoreError::CampaignError(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Gives tickets back, to be measured by others.
    pub(super) fn give_back(&mut self, tickets: &[u64]) -> Result<u64, StoreError> {
        if tickets.is_empty() { Ok(0) } else { self.insist(|campaign, _| campaign.expire(tickets)) }
    }

    /// Gives back the tickets of workers of this machine that are gone; how many those were.
    pub(super) fn give_back_of_gone(&mut self) -> Result<u64, StoreError> {
        let identity = self.identity.clone();
        let orphans = self.insist(|campaign, _| out(campaign, |_, worker| identity.knows_gone(worker)))?;
        self.give_back(&orphans)
    }

    pub(super) fn stop_reason(&mut self) -> Result<Option<StopReason>, StoreError> {
        self.insist(|campaign, _| campaign.stop_reason())
    }

    pub(super) fn progress(&mut self) -> Result<Progress, StoreError> {
        self.insist(|campaign, _| campaign.progress())
    }

    /// The sides of all arms.
    pub(super) fn sides(&mut self) -> Result<Vec<Side>, StoreError> {
        let verdicts = self.insist(|campaign, _| campaign.verdicts())?;
        Ok(verdicts.into_iter().map(|verdict| verdict.side).collect())
    }

    pub(super) fn columns(&self) -> &[String] {
        self.campaign.columns()
    }

    pub(super) fn which(&self) -> &Which {
        self.which
    }
}

/// The tickets that are out, by ticket and worker.
fn out(campaign: &mut Campaign, is_meant: impl Fn(u64, &str) -> bool) -> Result<Vec<u64>, StoreError> {
    let state = campaign.state()?;
    let mut meant = Vec::new();
    for (ticket, _) in state.open_tickets() {
        if let (_, worker, TicketStatus::Open(_)) = state.ticket(ticket)?
            && is_meant(ticket, worker)
        {
            meant.push(ticket);
        }
    }
    Ok(meant)
}
