//! Webhooks and their deliveries in a journal.

mod memory;
mod sql;

pub(super) use memory::StoredWebhooks;
pub(super) use sql::delete;

use super::Id;
use crate::{
    AttemptOutcome, ClaimedDelivery, Delivery, NewDelivery, NewWebhook, Origin, StoreError, WatchedCampaign, Webhook,
};
use cutline::campaign::Time;

/// A campaign, a webhook of it, and the number of a delivery.
pub(crate) type DeliveryKey = (Id, u64, u64);

/// The webhooks of a journal. [`Store`](crate::Store) says what the methods promise.
pub(crate) trait WebhookJournal {
    fn webhooks(&mut self, campaign: Id) -> Result<Vec<Webhook>, StoreError>;
    /// Returns the number of the new webhook.
    fn add_webhook(
        &mut self,
        campaign: Id,
        new: &NewWebhook,
        noticed: &str,
        origin: &Origin,
        now: Time,
    ) -> Result<u64, StoreError>;
    fn delete_webhook(&mut self, campaign: Id, webhook: u64) -> Result<(), StoreError>;
    fn deliveries(&mut self, campaign: Id, webhook: u64, before: u64, most: usize)
    -> Result<Vec<Delivery>, StoreError>;
    /// Returns the number of the new delivery.
    fn add_delivery(&mut self, campaign: Id, new: &NewDelivery, origin: &Origin) -> Result<u64, StoreError>;
    fn watched(&mut self) -> Result<Vec<WatchedCampaign>, StoreError>;
    fn watch_state(&mut self, campaign: Id) -> Result<Option<(u64, String)>, StoreError>;
    fn advance_watch(
        &mut self,
        campaign: Id,
        version: u64,
        noticed: &str,
        deliveries: &[NewDelivery],
    ) -> Result<bool, StoreError>;
    /// For each webhook the first delivery that is due, the one that is due for longest first.
    fn due(&mut self, now: Time) -> Result<Vec<DeliveryKey>, StoreError>;
    /// Claims a delivery, unless another process has.
    fn claim(&mut self, key: DeliveryKey, now: Time, until: Time) -> Result<Option<ClaimedDelivery>, StoreError>;
    fn settle(&mut self, claimed: &ClaimedDelivery, outcome: &AttemptOutcome) -> Result<(), StoreError>;
    fn turn_off(&mut self, campaign: Id, webhook: u64, why: &str) -> Result<(), StoreError>;
    fn n_waiting(&mut self) -> Result<u64, StoreError>;
}
