//! Webhooks and their deliveries in memory.

use super::{DeliveryKey, WebhookJournal};
use crate::journal::Id;
use crate::journal::memory::{Memory, Requests, StoredCampaign, add_request, find};
use crate::origin::StoredRequest;
use crate::webhooks::{KEPT_DELIVERIES, MAX_WEBHOOKS, WAITING_DELIVERIES};
use crate::{
    AttemptOutcome, ClaimedDelivery, Delivery, NewDelivery, NewWebhook, Origin, StoreError, WatchedCampaign,
    WatchedWebhook, Webhook,
};
use cutline::campaign::Time;

/// The webhooks of a campaign, and what they were told.
#[derive(Debug, Default)]
pub(in crate::journal) struct StoredWebhooks {
    version: u64,
    noticed: String,
    /// How many there have ever been.
    n_webhooks: u64,
    webhooks: Vec<StoredWebhook>,
}

#[derive(Debug)]
struct StoredWebhook {
    webhook: Webhook,
    n_deliveries: u64,
    /// With what they say.
    deliveries: Vec<(Delivery, String)>,
}

impl StoredWebhooks {
    fn find(&mut self, id: u64) -> Option<&mut StoredWebhook> {
        self.webhooks.iter_mut().find(|known| known.webhook.id == id)
    }
}

impl StoredWebhook {
    /// Adds a delivery, and forgets old ones. Returns its number; `None` if the webhook is not in use.
    fn insert(&mut self, new: &NewDelivery) -> Option<u64> {
        if self.webhook.turned_off.is_some() {
            return None;
        }
        self.n_deliveries += 1;
        let last = self.n_deliveries;
        let delivery = Delivery {
            number: last,
            id: new.id.clone(),
            event: new.event,
            created: new.at,
            attempts: 0,
            next_attempt: Some(new.at),
            status: None,
            error: None,
            delivered: None,
        };
        self.deliveries.push((delivery, new.payload.clone()));
        self.deliveries.retain(|(delivery, _)| {
            let kept = if delivery.next_attempt.is_some() { WAITING_DELIVERIES } else { KEPT_DELIVERIES };
            delivery.number + kept > last
        });
        Some(last)
    }

    fn delivery(&mut self, number: u64) -> Option<&mut (Delivery, String)> {
        self.deliveries.iter_mut().find(|(delivery, _)| delivery.number == number)
    }
}

/// Remembers a request that was carried out with a key, by the two numbers of its answer.
fn remember(requests: &mut Requests, origin: &Origin, at: Time, (first, second): (u64, u64)) -> Result<(), StoreError> {
    let Some(key) = &origin.key else { return Ok(()) };
    let stored = StoredRequest { fingerprint: key.fingerprint.clone(), first, n_events: second };
    add_request(requests, key, at, stored)
}

impl WebhookJournal for Memory {
    fn webhooks(&mut self, campaign: Id) -> Result<Vec<Webhook>, StoreError> {
        let mut campaigns = self.campaigns();
        let stored = &find(&mut campaigns, campaign)?.webhooks;
        Ok(stored.webhooks.iter().map(|known| known.webhook.clone()).collect())
    }

    fn add_webhook(
        &mut self,
        campaign: Id,
        new: &NewWebhook,
        noticed: &str,
        origin: &Origin,
        now: Time,
    ) -> Result<u64, StoreError> {
        let mut campaigns = self.campaigns();
        let StoredCampaign { webhooks: stored, requests, .. } = find(&mut campaigns, campaign)?;
        if stored.webhooks.len() >= MAX_WEBHOOKS {
            return Err(StoreError::TooManyWebhooks(MAX_WEBHOOKS));
        }
        let id = stored.n_webhooks + 1;
        remember(requests, origin, now, (id, 0))?;
        stored.n_webhooks = id;
        if stored.webhooks.iter().all(|known| known.webhook.turned_off.is_some()) {
            stored.version += 1;
            stored.noticed = noticed.into();
        }
        let (settings, author) = (new.clone(), origin.author.clone());
        let webhook = Webhook { id, settings, created: now, author, turned_off: None };
        stored.webhooks.push(StoredWebhook { webhook, n_deliveries: 0, deliveries: Vec::new() });
        Ok(id)
    }

    fn delete_webhook(&mut self, campaign: Id, webhook: u64) -> Result<(), StoreError> {
        find(&mut self.campaigns(), campaign)?.webhooks.webhooks.retain(|known| known.webhook.id != webhook);
        Ok(())
    }

    fn deliveries(
        &mut self,
        campaign: Id,
        webhook: u64,
        before: u64,
        most: usize,
    ) -> Result<Vec<Delivery>, StoreError> {
        let mut campaigns = self.campaigns();
        let Some(known) = find(&mut campaigns, campaign)?.webhooks.find(webhook) else { return Ok(Vec::new()) };
        let earlier = known.deliveries.iter().rev().map(|(delivery, _)| delivery);
        Ok(earlier.filter(|delivery| delivery.number < before).take(most).cloned().collect())
    }

    fn add_delivery(&mut self, campaign: Id, new: &NewDelivery, origin: &Origin) -> Result<u64, StoreError> {
        let mut campaigns = self.campaigns();
        let StoredCampaign { webhooks: stored, requests, .. } = find(&mut campaigns, campaign)?;
        let known = stored.find(new.webhook).filter(|known| known.webhook.turned_off.is_none());
        let known = known.ok_or(StoreError::NoWebhook(new.webhook))?;
        remember(requests, origin, new.at, (new.webhook, known.n_deliveries + 1))?;
        known.insert(new).ok_or(StoreError::NoWebhook(new.webhook))
    }

    fn watched(&mut self) -> Result<Vec<WatchedCampaign>, StoreError> {
        let watched = |(campaign, stored): (Id, &Option<StoredCampaign>)| {
            let StoredCampaign { name, records, webhooks: stored, .. } = stored.as_ref()?;
            let in_use = stored.webhooks.iter().filter(|known| known.webhook.turned_off.is_none());
            let webhooks: Vec<_> = in_use
                .map(|StoredWebhook { webhook, .. }| WatchedWebhook {
                    id: webhook.id,
                    events: webhook.settings.events.clone(),
                    silence: webhook.settings.silence,
                    created: webhook.created,
                })
                .collect();
            let (name, events, version) = (name.clone(), records.len() as u64, stored.version);
            (!webhooks.is_empty()).then_some(WatchedCampaign { campaign, name, events, version, webhooks })
        };
        Ok((0..).zip(self.campaigns().iter()).filter_map(watched).collect())
    }

    fn watch_state(&mut self, campaign: Id) -> Result<Option<(u64, String)>, StoreError> {
        let mut campaigns = self.campaigns();
        let stored = find(&mut campaigns, campaign).ok().map(|campaign| &campaign.webhooks);
        Ok(stored.filter(|stored| stored.n_webhooks > 0).map(|stored| (stored.version, stored.noticed.clone())))
    }

    fn advance_watch(
        &mut self,
        campaign: Id,
        version: u64,
        noticed: &str,
        deliveries: &[NewDelivery],
    ) -> Result<bool, StoreError> {
        let mut campaigns = self.campaigns();
        let Ok(StoredCampaign { webhooks: stored, .. }) = find(&mut campaigns, campaign) else { return Ok(false) };
        if stored.version != version {
            return Ok(false);
        }
        stored.version += 1;
        stored.noticed = noticed.into();
        for new in deliveries {
            stored.find(new.webhook).and_then(|known| known.insert(new));
        }
        Ok(true)
    }

    fn due(&mut self, now: Time) -> Result<Vec<DeliveryKey>, StoreError> {
        let mut due = Vec::new();
        for (campaign, stored) in (0..).zip(self.campaigns().iter()) {
            for known in stored.iter().flat_map(|stored| &stored.webhooks.webhooks) {
                let is_due = |at: Time| at <= now;
                let mut found = known.deliveries.iter().map(|(delivery, _)| delivery);
                let first = found.find(|delivery| delivery.next_attempt.is_some_and(is_due));
                due.extend(first.map(|first| (first.next_attempt, (campaign, known.webhook.id, first.number))));
            }
        }
        due.sort_unstable();
        Ok(due.into_iter().map(|(_, key)| key).collect())
    }

    fn claim(
        &mut self,
        (campaign, webhook, number): DeliveryKey,
        now: Time,
        until: Time,
    ) -> Result<Option<ClaimedDelivery>, StoreError> {
        let mut campaigns = self.campaigns();
        let Ok(StoredCampaign { webhooks: stored, .. }) = find(&mut campaigns, campaign) else { return Ok(None) };
        let Some(known) = stored.find(webhook) else { return Ok(None) };
        let (url, secret) = (known.webhook.settings.url.clone(), known.webhook.settings.secret.clone());
        let Some((delivery, payload)) = known.delivery(number) else { return Ok(None) };
        if delivery.next_attempt.is_none_or(|at| at > now) {
            return Ok(None);
        }
        delivery.next_attempt = Some(until);
        delivery.attempts += 1;
        let (id, event, payload, attempts) = (delivery.id.clone(), delivery.event, payload.clone(), delivery.attempts);
        Ok(Some(ClaimedDelivery { campaign, webhook, number, id, event, payload, attempts, url, secret }))
    }

    fn settle(&mut self, claimed: &ClaimedDelivery, outcome: &AttemptOutcome) -> Result<(), StoreError> {
        let mut campaigns = self.campaigns();
        let Ok(StoredCampaign { webhooks: stored, .. }) = find(&mut campaigns, claimed.campaign) else {
            return Ok(());
        };
        if let Some((delivery, _)) = stored.find(claimed.webhook).and_then(|known| known.delivery(claimed.number))
            && delivery.attempts == claimed.attempts
        {
            let AttemptOutcome { status, error, delivered, next_attempt } = outcome.clone();
            *delivery = Delivery { next_attempt, status, error, delivered, ..delivery.clone() };
        }
        Ok(())
    }

    fn turn_off(&mut self, campaign: Id, webhook: u64, why: &str) -> Result<(), StoreError> {
        let mut campaigns = self.campaigns();
        let Some(known) = find(&mut campaigns, campaign)?.webhooks.find(webhook) else { return Ok(()) };
        known.webhook.turned_off = Some(why.into());
        for (delivery, _) in known.deliveries.iter_mut().filter(|(delivery, _)| delivery.next_attempt.is_some()) {
            (delivery.next_attempt, delivery.error) = (None, Some(why.into()));
        }
        Ok(())
    }

    fn n_waiting(&mut self) -> Result<u64, StoreError> {
        let campaigns = self.campaigns();
        let webhooks = campaigns.iter().flatten().flat_map(|campaign| &campaign.webhooks.webhooks);
        let waiting =
            webhooks.flat_map(|known| &known.deliveries).filter(|(delivery, _)| delivery.next_attempt.is_some());
        Ok(waiting.count() as u64)
    }
}
