//! The campaign in its store, reopened when the connection to the database fails.

use super::identity::Identity;
use crate::args::CampaignAddress;
use crate::commands::{open_with, reopen_with, token_of};
use crate::failure::Failure;
use cutline::{StopReason, Verdict};
use cutline_campaign::now;
use cutline_campaign::{AnyCampaign, CampaignError, Progress, Standing, Ticket, TicketStatus};
use cutline_store::{Interrupt, StoreError};
use std::time::{Duration, Instant};

/// How long to retry while the database is unavailable.
const RETRY_LIMIT: Duration = Duration::from_mins(1);

/// How long to wait before another try.
const PAUSE: Duration = Duration::from_secs(1);

/// A campaign that is reopened when its database was unavailable, and the worker it is used by.
pub(super) struct ReconnectingCampaign<'a> {
    address: &'a CampaignAddress,
    /// The token for the server, from a file.
    token: Option<String>,
    campaign: Box<dyn AnyCampaign>,
    identity: Identity,
    worker: String,
    /// Set when this program was asked to end; it shortens the waits for the store.
    interrupt: Interrupt,
    /// Why the store could not be reached after that: location and reason.
    unreachable: Option<(String, String)>,
}

impl<'a> ReconnectingCampaign<'a> {
    pub(super) fn open(
        address: &'a CampaignAddress,
        identity: Identity,
        interrupt: Interrupt,
    ) -> Result<Self, Failure> {
        let worker = identity.worker();
        let token = token_of(&address.token)?;
        let campaign = open_with(address, token.as_deref(), &interrupt)?;
        Ok(Self { address, token, campaign, identity, worker, interrupt, unreachable: None })
    }

    /// Calls `operation` with the campaign, and again while the database fails; the flag says that an earlier call may have taken effect.
    /// After an interruption, a store that fails twice or slowly is not tried again, by this operation or by later ones.
    fn retry<T>(
        &mut self,
        mut operation: impl FnMut(&mut dyn AnyCampaign, bool) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if let Some((location, what)) = self.unreachable.clone() {
            return Err(StoreError::Database { location, what });
        }
        let start = Instant::now();
        let mut is_repeated = false;
        loop {
            let begun = Instant::now();
            let failure = match operation(&mut *self.campaign, is_repeated) {
                Err(failure) if failure.may_pass() => failure,
                done => return done,
            };
            let is_interrupted = self.interrupt.is_set();
            let is_hopeless =
                if is_interrupted { is_repeated || begun.elapsed() > PAUSE } else { start.elapsed() > RETRY_LIMIT };
            if is_hopeless {
                if let (
                    true,
                    StoreError::Database { location, what }
                    | StoreError::Conflict { location, what }
                    | StoreError::Unconfirmed { location, what },
                ) = (is_interrupted, &failure)
                {
                    self.unreachable = Some((location.clone(), what.clone()));
                }
                return Err(failure);
            }
            std::thread::sleep(PAUSE);
            is_repeated = true;
            match reopen_with(self.address, self.token.as_deref(), &self.interrupt, self.campaign.id()) {
                Ok(campaign) => self.campaign = campaign,
                Err(StoreError::Deleted) => return Err(StoreError::Deleted),
                Err(_) => (),
            }
        }
    }

    /// Takes up to `n` tickets; `is_running` says which ones are being measured already.
    pub(super) fn ask(
        &mut self,
        n: usize,
        lease: Duration,
        is_running: impl Fn(u64) -> bool,
    ) -> Result<Vec<Ticket>, StoreError> {
        let worker = self.worker.clone();
        self.retry(|campaign, is_repeated| {
            if is_repeated {
                // Tickets may have been handed out to us in a call whose answer was lost.
                let lost = open_tickets(campaign, |ticket, by| by == worker && !is_running(ticket))?;
                campaign.expire(&lost)?;
            }
            campaign.ask(n, &worker, lease)
        })
    }

    /// Records rewards, in one transaction if none is refused; the refused ones with the reasons.
    pub(super) fn tell(&mut self, rewards: &[(u64, f64)]) -> Result<Vec<(u64, f64, CampaignError)>, StoreError> {
        match self.retry(|campaign, _| campaign.tell(rewards)) {
            Err(StoreError::CampaignError(_)) => (),
            done => return done.map(|_| Vec::new()),
        }
        let mut refused = Vec::new();
        for &(ticket, reward) in rewards {
            match self.retry(|campaign, _| campaign.tell(&[(ticket, reward)])) {
                Err(StoreError::CampaignError(refusal)) => refused.push((ticket, reward, refusal)),
                done => drop(done?),
            }
        }
        Ok(refused)
    }

    /// Records that a ticket failed, unless others have recorded its result in the meantime.
    pub(super) fn fail(&mut self, ticket: u64, reason: &str) -> Result<(), StoreError> {
        match self.retry(|campaign, _| campaign.fail(ticket, reason)) {
            Ok(_) | Err(StoreError::CampaignError(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Withdraws candidates, or makes them available again.
    pub(super) fn set_withdrawn(
        &mut self,
        names: &[String],
        is_withdrawn: bool,
        reason: &str,
    ) -> Result<(), StoreError> {
        if names.is_empty() {
            return Ok(());
        }
        self.retry(|campaign, _| {
            campaign.state()?;
            let known = &campaign.description()?.names;
            let arms: Vec<usize> = (0..known.len()).filter(|&arm| names.contains(&known[arm])).collect();
            if is_withdrawn { campaign.withdraw(&arms, reason) } else { campaign.restore(&arms) }
        })?;
        Ok(())
    }

    /// Returns tickets to the budget.
    pub(super) fn return_tickets(&mut self, tickets: &[u64]) -> Result<u64, StoreError> {
        if tickets.is_empty() { Ok(0) } else { self.retry(|campaign, _| campaign.expire(tickets)) }
    }

    /// Returns the tickets of workers on this machine that have ended to the budget; their number.
    pub(super) fn return_tickets_of_ended_workers(&mut self) -> Result<u64, StoreError> {
        let identity = self.identity.clone();
        let orphans = self.retry(|campaign, _| open_tickets(campaign, |_, worker| identity.knows_ended(worker)))?;
        self.return_tickets(&orphans)
    }

    pub(super) fn stop_reason(&mut self) -> Result<Option<StopReason>, StoreError> {
        self.retry(|campaign, _| campaign.stop_reason())
    }

    pub(super) fn progress(&mut self) -> Result<Progress, StoreError> {
        self.retry(|campaign, _| campaign.progress())
    }

    pub(super) fn verdicts(&mut self) -> Result<Vec<Verdict>, StoreError> {
        self.retry(|campaign, _| campaign.verdicts())
    }

    /// How the campaign stands now.
    pub(super) fn standing(&mut self) -> Result<Standing, StoreError> {
        self.retry(|campaign, _| campaign.standing(now()))
    }

    pub(super) fn columns(&self) -> &[String] {
        self.campaign.columns()
    }

    pub(super) fn name(&self) -> &str {
        self.campaign.name()
    }

    pub(super) fn address(&self) -> &CampaignAddress {
        self.address
    }
}

/// The open tickets that `is_selected` selects by ticket and worker.
fn open_tickets(
    campaign: &mut dyn AnyCampaign,
    is_selected: impl Fn(u64, &str) -> bool,
) -> Result<Vec<u64>, StoreError> {
    let state = campaign.state()?;
    let mut selected = Vec::new();
    for (ticket, _) in state.open_tickets() {
        if let (_, worker, TicketStatus::Open(_)) = state.ticket(ticket)?
            && is_selected(ticket, worker)
        {
            selected.push(ticket);
        }
    }
    Ok(selected)
}
