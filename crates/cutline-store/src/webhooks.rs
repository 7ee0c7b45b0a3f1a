//! Webhooks: URLs that are told what happens to a campaign, what they were told so far, and what is still to be sent to them.
//!
//! A store only keeps them. A server looks at the campaigns that have webhooks, writes what is to be told with [`Store::advance_watch`], and
//! sends it.

use crate::clock::now;
use crate::journal::{Id, Journal};
use crate::{Origin, Store, StoreError};
use cutline::campaign::Time;

/// The most webhooks of a campaign.
pub const MAX_WEBHOOKS: usize = 10;

/// How many deliveries of a webhook are kept once they are delivered or given up, and how many that wait.
pub(crate) const KEPT_DELIVERIES: u64 = 100;
pub(crate) const WAITING_DELIVERIES: u64 = 1000;

/// How often a request is tried again when another one with the same key is carried out.
const ATTEMPTS: usize = 20;

/// What a webhook is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WebhookEvent {
    /// The campaign has ended.
    Ended,
    /// Arms were decided.
    Decided,
    /// The model does not fit any more.
    Misfit,
    /// There was no reward for a while.
    Silent,
    /// Somebody wants to see whether it works.
    Test,
}

impl WebhookEvent {
    /// Those that a webhook can be for.
    pub const ALL: &[Self] = &[Self::Ended, Self::Decided, Self::Misfit, Self::Silent];

    /// Its name in stores and in deliveries.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ended => "ended",
            Self::Decided => "decided",
            Self::Misfit => "misfit",
            Self::Silent => "silent",
            Self::Test => "test",
        }
    }

    /// The event of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().chain([Self::Test]).find(|event| event.name() == name)
    }
}

/// The secret by which deliveries are signed. Its `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookSecret(pub String);

impl std::fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WebhookSecret(…)")
    }
}

/// A webhook that does not exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewWebhook {
    /// Where to send deliveries. It may contain a secret of the receiver.
    pub url: String,
    /// By which deliveries are signed.
    pub secret: WebhookSecret,
    /// What it is told.
    pub events: Vec<WebhookEvent>,
    /// The milliseconds without a reward after which it is told so; `None` if it is not.
    pub silence: Option<u64>,
}

/// A webhook of a campaign.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Webhook {
    /// Its number among the webhooks of the campaign. It is not used again.
    pub id: u64,
    /// What it was created with.
    pub settings: NewWebhook,
    /// When it was created.
    pub created: Time,
    /// Who created it, if known.
    pub author: Option<String>,
    /// Why nothing is sent to it any more; `None` while it is in use.
    pub turned_off: Option<String>,
}

/// A delivery to a webhook, without what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Delivery {
    /// Its number among the deliveries of the webhook, from 1.
    pub number: u64,
    /// By which the receiver recognises a repetition.
    pub id: String,
    /// What it tells.
    pub event: WebhookEvent,
    /// When that was noticed.
    pub created: Time,
    /// How often it was sent.
    pub attempts: u64,
    /// When it is sent again; `None` once it is delivered or given up.
    pub next_attempt: Option<Time>,
    /// The status code of the last answer, if there was one.
    pub status: Option<u16>,
    /// What went wrong the last time.
    pub error: Option<String>,
    /// When it was delivered.
    pub delivered: Option<Time>,
}

/// A delivery that does not exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDelivery {
    /// The webhook.
    pub webhook: u64,
    /// By which the receiver recognises a repetition.
    pub id: String,
    /// What it tells.
    pub event: WebhookEvent,
    /// The body.
    pub payload: String,
    /// When it was noticed, and is to be sent.
    pub at: Time,
}

/// A delivery that is to be sent now by whoever has claimed it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClaimedDelivery {
    /// The number of the campaign.
    pub campaign: i64,
    /// The webhook.
    pub webhook: u64,
    /// The number of the delivery.
    pub number: u64,
    /// By which the receiver recognises a repetition.
    pub id: String,
    /// What it tells.
    pub event: WebhookEvent,
    /// The body.
    pub payload: String,
    /// The number of attempts, this one included.
    pub attempts: u64,
    /// Where to send it.
    pub url: String,
    /// By which to sign it.
    pub secret: WebhookSecret,
}

/// What came of an attempt to deliver something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AttemptOutcome {
    /// The status code of the answer, if there was one.
    pub status: Option<u16>,
    /// What went wrong.
    pub error: Option<String>,
    /// When it was delivered.
    pub delivered: Option<Time>,
    /// When to try again; `None` if it is delivered or given up.
    pub next_attempt: Option<Time>,
}

/// A campaign that has webhooks in use.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WatchedCampaign {
    /// Its number.
    pub campaign: i64,
    /// Its name.
    pub name: String,
    /// The number of its events.
    pub events: u64,
    /// The version of what its webhooks were told.
    pub version: u64,
    /// The webhooks.
    pub webhooks: Vec<WatchedWebhook>,
}

/// A webhook in use.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WatchedWebhook {
    /// Its number.
    pub id: u64,
    /// What it is told.
    pub events: Vec<WebhookEvent>,
    /// The milliseconds without a reward after which it is told so.
    pub silence: Option<u64>,
    /// When it was created.
    pub created: Time,
}

/// The number of the campaign with this name.
fn campaign_id(journal: &mut dyn Journal, name: &str) -> Result<Id, StoreError> {
    let mut entries = journal.entries()?;
    match entries.iter().position(|entry| entry.name == name) {
        Some(position) => Ok(entries.swap_remove(position).id),
        None => Err(StoreError::NoCampaign {
            name: name.into(),
            names: entries.into_iter().map(|entry| entry.name).collect(),
        }),
    }
}

impl Store {
    /// The webhooks of a campaign, in the order they were created.
    ///
    /// # Errors
    /// If there is no such campaign, or the store cannot be read.
    pub fn webhooks(&self, campaign: &str) -> Result<Vec<Webhook>, StoreError> {
        self.with_connection(|journal| {
            let id = campaign_id(journal, campaign)?;
            journal.webhooks()?.webhooks(id)
        })
    }

    /// Adds a webhook to a campaign. `noticed` is how the campaign stands, in the words of the server that watches it; it is stored if the
    /// campaign has no other webhook in use. A repetition with the same key returns the webhook of the first time.
    ///
    /// # Errors
    /// If there is no such campaign, it has too many webhooks, the key was used for something else, or the store fails.
    pub fn add_webhook(
        &self,
        campaign: &str,
        new: &NewWebhook,
        noticed: &str,
        origin: &Origin,
    ) -> Result<Webhook, StoreError> {
        self.with_connection(|journal| {
            let id = campaign_id(journal, campaign)?;
            let number = once(journal, id, origin, |journal| {
                let number = journal.webhooks()?.add_webhook(id, new, noticed, origin, now())?;
                Ok((number, 0))
            })?;
            find_webhook(journal, id, number.0)
        })
    }

    /// Deletes a webhook with its deliveries.
    ///
    /// # Errors
    /// If there is no such campaign or webhook, or the store fails.
    pub fn delete_webhook(&self, campaign: &str, webhook: u64) -> Result<(), StoreError> {
        self.with_connection(|journal| {
            let id = campaign_id(journal, campaign)?;
            find_webhook(journal, id, webhook)?;
            journal.webhooks()?.delete_webhook(id, webhook)
        })
    }

    /// At most `most` deliveries of a webhook, the latest first; with `before`, only those with smaller numbers.
    ///
    /// # Errors
    /// If there is no such campaign or webhook, or the store fails.
    pub fn deliveries(
        &self,
        campaign: &str,
        webhook: u64,
        before: Option<u64>,
        most: usize,
    ) -> Result<Vec<Delivery>, StoreError> {
        self.with_connection(|journal| {
            let id = campaign_id(journal, campaign)?;
            find_webhook(journal, id, webhook)?;
            journal.webhooks()?.deliveries(id, webhook, before.unwrap_or(u64::MAX), most)
        })
    }

    /// Adds a delivery that nothing has caused. A repetition with the same key returns the delivery of the first time.
    ///
    /// # Errors
    /// If there is no such campaign or webhook, the key was used for something else, or the store fails.
    pub fn add_delivery(&self, campaign: &str, new: &NewDelivery, origin: &Origin) -> Result<Delivery, StoreError> {
        self.with_connection(|journal| {
            let id = campaign_id(journal, campaign)?;
            find_webhook(journal, id, new.webhook)?;
            let (webhook, number) = once(journal, id, origin, |journal| {
                let number = journal.webhooks()?.add_delivery(id, new, origin)?;
                Ok((new.webhook, number))
            })?;
            let found = journal.webhooks()?.deliveries(id, webhook, number.saturating_add(1), 1)?;
            found.into_iter().find(|delivery| delivery.number == number).ok_or(StoreError::NoWebhook(webhook))
        })
    }

    /// The campaigns that have webhooks in use.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn watched(&self) -> Result<Vec<WatchedCampaign>, StoreError> {
        self.with_connection(|journal| journal.webhooks()?.watched())
    }

    /// What the webhooks of a campaign were told so far, with its version; `None` if it has no webhooks.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn watch_state(&self, campaign: i64) -> Result<Option<(u64, String)>, StoreError> {
        self.with_connection(|journal| journal.webhooks()?.watch_state(campaign))
    }

    /// Writes what is noticed about a campaign together with the deliveries that follow, if nobody else has written since `version`. Returns
    /// whether it was written.
    ///
    /// # Errors
    /// If the store cannot be written to.
    pub fn advance_watch(
        &self,
        campaign: i64,
        version: u64,
        noticed: &str,
        deliveries: &[NewDelivery],
    ) -> Result<bool, StoreError> {
        self.with_connection(|journal| journal.webhooks()?.advance_watch(campaign, version, noticed, deliveries))
    }

    /// Claims at most `most` deliveries that are due at `now`, one per webhook and none of the webhooks in `busy`: nobody else gets them before
    /// `until`.
    ///
    /// # Errors
    /// If the store cannot be written to.
    pub fn claim_deliveries(
        &self,
        now: Time,
        until: Time,
        busy: &[(i64, u64)],
        most: usize,
    ) -> Result<Vec<ClaimedDelivery>, StoreError> {
        self.with_connection(|journal| {
            let webhooks = journal.webhooks()?;
            let mut claimed = Vec::new();
            for (campaign, webhook, number) in webhooks.due(now)? {
                if claimed.len() == most {
                    break;
                }
                if !busy.contains(&(campaign, webhook)) {
                    claimed.extend(webhooks.claim((campaign, webhook, number), now, until)?);
                }
            }
            Ok(claimed)
        })
    }

    /// Records what came of an attempt, unless somebody else has made another one since.
    ///
    /// # Errors
    /// If the store cannot be written to.
    pub fn settle_delivery(&self, claimed: &ClaimedDelivery, outcome: &AttemptOutcome) -> Result<(), StoreError> {
        self.with_connection(|journal| journal.webhooks()?.settle(claimed, outcome))
    }

    /// Sends nothing to a webhook any more.
    ///
    /// # Errors
    /// If the store cannot be written to.
    pub fn turn_webhook_off(&self, campaign: i64, webhook: u64, why: &str) -> Result<(), StoreError> {
        self.with_connection(|journal| journal.webhooks()?.turn_off(campaign, webhook, why))
    }

    /// The number of deliveries that wait to be sent.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn waiting_deliveries(&self) -> Result<u64, StoreError> {
        self.with_connection(|journal| journal.webhooks()?.n_waiting())
    }
}

fn find_webhook(journal: &mut dyn Journal, campaign: Id, webhook: u64) -> Result<Webhook, StoreError> {
    let found = journal.webhooks()?.webhooks(campaign)?.into_iter().find(|known| known.id == webhook);
    found.ok_or(StoreError::NoWebhook(webhook))
}

/// The two numbers that `work` returns, or that it returned when the request with this key was carried out before.
fn once(
    journal: &mut dyn Journal,
    campaign: Id,
    origin: &Origin,
    mut work: impl FnMut(&mut dyn Journal) -> Result<(u64, u64), StoreError>,
) -> Result<(u64, u64), StoreError> {
    for _ in 0..ATTEMPTS {
        if let Some(key) = &origin.key
            && let Some(known) = journal.request(Some(campaign), &key.key)?
        {
            let is_same = known.fingerprint == key.fingerprint;
            return if is_same { Ok((known.first, known.n_events)) } else { Err(StoreError::OtherRequest) };
        }
        match work(journal) {
            // Another process has carried it out with the same key in the meantime.
            Err(StoreError::KeyInUse) => (),
            done => return done,
        }
    }
    Err(StoreError::Contended)
}
