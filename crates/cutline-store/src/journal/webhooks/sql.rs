//! Webhooks and their deliveries in a database.

use super::{DeliveryKey, WebhookJournal};
use crate::journal::database::{Database, Lock, Row, Value};
use crate::journal::managing::is_deleted;
use crate::journal::rows::BadRow;
use crate::journal::sql::{Sql, integer, transaction};
use crate::journal::{Id, access};
use crate::origin::StoredRequest;
use crate::webhooks::{KEPT_DELIVERIES, MAX_WEBHOOKS, WAITING_DELIVERIES};
use crate::{
    AttemptOutcome, ClaimedDelivery, Delivery, NewDelivery, NewWebhook, Origin, StoreError, WatchedCampaign,
    WatchedWebhook, Webhook, WebhookEvent, WebhookSecret,
};
use cutline::campaign::Time;

const WEBHOOKS: &str = "SELECT id, url, secret, events, silence, created, author, turned_off FROM cutline_webhooks \
                        WHERE campaign = $1 ORDER BY id";
const ADD_WEBHOOK: &str = "INSERT INTO cutline_webhooks (campaign, id, url, secret, events, silence, created, author, n_deliveries) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0)";
const N_WEBHOOKS: &str = "SELECT n_webhooks FROM cutline_watches WHERE campaign = $1";
const ADD_WATCH: &str = "INSERT INTO cutline_watches (campaign, version, noticed, n_webhooks) VALUES ($1, 1, $2, 0)";
const COUNT_WEBHOOK: &str = "UPDATE cutline_watches SET n_webhooks = n_webhooks + 1 WHERE campaign = $1";
const WATCH: &str = "SELECT version, noticed FROM cutline_watches WHERE campaign = $1";
const SET_NOTICED: &str = "UPDATE cutline_watches SET version = version + 1, noticed = $1 WHERE campaign = $2";
const WATCHED: &str = "SELECT webhook.campaign, campaign.name, head.ticket, watch.version, webhook.id, webhook.events, webhook.silence, \
     webhook.created FROM cutline_webhooks AS webhook \
     JOIN cutline_watches AS watch ON watch.campaign = webhook.campaign \
     JOIN cutline_campaigns AS campaign ON campaign.id = webhook.campaign \
     JOIN cutline_events AS head ON head.campaign = webhook.campaign AND head.number = 9223372036854775807 \
     WHERE webhook.turned_off IS NULL ORDER BY webhook.campaign, webhook.id";
const DELETE_WEBHOOK: &str = "DELETE FROM cutline_webhooks WHERE campaign = $1 AND id = $2";
const DELETE_DELIVERIES: &str = "DELETE FROM cutline_deliveries WHERE campaign = $1 AND webhook = $2";
const DELIVERIES: &str = "SELECT number, id, event, created, attempts, next_attempt, status, error, delivered \
                          FROM cutline_deliveries WHERE campaign = $1 AND webhook = $2 AND number < $3 \
                          ORDER BY number DESC LIMIT $4";
const N_DELIVERIES: &str =
    "SELECT n_deliveries FROM cutline_webhooks WHERE campaign = $1 AND id = $2 AND turned_off IS NULL";
const COUNT_DELIVERY: &str = "UPDATE cutline_webhooks SET n_deliveries = $1 WHERE campaign = $2 AND id = $3";
const ADD_DELIVERY: &str = "INSERT INTO cutline_deliveries (campaign, webhook, number, id, event, payload, created, attempts, next_attempt) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, 0, $8)";
const FORGET_DELIVERIES: &str = "DELETE FROM cutline_deliveries WHERE campaign = $1 AND webhook = $2 AND \
                                 (number <= $3 OR (number <= $4 AND next_attempt IS NULL))";
const DUE: &str = "SELECT campaign, webhook, MIN(number) FROM cutline_deliveries WHERE next_attempt <= $1 \
                   GROUP BY campaign, webhook ORDER BY MIN(next_attempt)";
/// Of two processes that claim the same delivery, one finds it changed.
const CLAIM: &str = "UPDATE cutline_deliveries SET next_attempt = $1, attempts = attempts + 1 \
                     WHERE campaign = $2 AND webhook = $3 AND number = $4 AND next_attempt <= $5 \
                     RETURNING id, event, payload, attempts";
const TARGET: &str = "SELECT url, secret FROM cutline_webhooks WHERE campaign = $1 AND id = $2";
const SETTLE: &str = "UPDATE cutline_deliveries SET status = $1, error = $2, delivered = $3, next_attempt = $4 \
                      WHERE campaign = $5 AND webhook = $6 AND number = $7 AND attempts = $8";
const TURN_OFF: &str = "UPDATE cutline_webhooks SET turned_off = $1 WHERE campaign = $2 AND id = $3";
const GIVE_UP: &str = "UPDATE cutline_deliveries SET next_attempt = NULL, error = $1 \
                       WHERE campaign = $2 AND webhook = $3 AND next_attempt IS NOT NULL";
const N_WAITING: &str = "SELECT COUNT(*) FROM cutline_deliveries WHERE next_attempt IS NOT NULL";
const DELETE_ALL: [&str; 3] = [
    "DELETE FROM cutline_watches WHERE campaign = $1",
    "DELETE FROM cutline_webhooks WHERE campaign = $1",
    "DELETE FROM cutline_deliveries WHERE campaign = $1",
];

/// A number of the journal, or the largest one that a database can hold.
fn whole<'a>(number: u64) -> Value<'a> {
    Value::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

fn maybe<'a>(number: Option<u64>) -> Value<'a> {
    number.map_or(Value::Null, whole)
}

fn maybe_text(text: Option<&String>) -> Value<'_> {
    text.map_or(Value::Null, |text| Value::Text(text))
}

/// A column that is never null.
fn required<T>(value: Option<T>) -> Result<T, BadRow> {
    value.ok_or_else(|| "a webhook or a delivery lacks a column".into())
}

fn number(row: &dyn Row, column: usize) -> Result<u64, BadRow> {
    Ok(required(row.integer(column)?)?.cast_unsigned())
}

fn optional(row: &dyn Row, column: usize) -> Result<Option<u64>, BadRow> {
    Ok(row.integer(column)?.map(i64::cast_unsigned))
}

fn text(row: &dyn Row, column: usize) -> Result<String, BadRow> {
    Ok(required(row.text(column)?)?.to_owned())
}

fn event(name: &str) -> Result<WebhookEvent, BadRow> {
    WebhookEvent::named(name).ok_or_else(|| format!("a webhook has the unknown event `{name}`"))
}

/// The events in a JSON array.
fn events(row: &dyn Row, column: usize) -> Result<Vec<WebhookEvent>, BadRow> {
    let names: Vec<String> = serde_json::from_str(&text(row, column)?).map_err(|error| error.to_string())?;
    names.iter().map(|name| event(name)).collect()
}

fn webhooks(database: &mut impl Database, campaign: Id) -> Result<Vec<Webhook>, StoreError> {
    let mut found = Vec::new();
    database.query(WEBHOOKS, &[Value::Integer(campaign)], &mut |row| {
        let settings = NewWebhook {
            url: text(row, 1)?,
            secret: WebhookSecret(text(row, 2)?),
            events: events(row, 3)?,
            silence: optional(row, 4)?,
        };
        found.push(Webhook {
            id: number(row, 0)?,
            settings,
            created: number(row, 5)?,
            author: row.text(6)?.map(str::to_owned),
            turned_off: row.text(7)?.map(str::to_owned),
        });
        Ok(())
    })?;
    Ok(found)
}

/// Adds a delivery in the transaction of what causes it, and forgets old ones. Returns its number; `None` if the webhook is not in use.
fn insert(database: &mut impl Database, campaign: Id, new: &NewDelivery) -> Result<Option<u64>, StoreError> {
    let key = [Value::Integer(campaign), whole(new.webhook)];
    let Some(known) = integer(database, N_DELIVERIES, &key)? else { return Ok(None) };
    let number = known.cast_unsigned() + 1;
    let values = [
        key[0],
        key[1],
        whole(number),
        Value::Text(&new.id),
        Value::Text(new.event.name()),
        Value::Text(&new.payload),
        whole(new.at),
        whole(new.at),
    ];
    database.execute(ADD_DELIVERY, &values)?;
    database.execute(COUNT_DELIVERY, &[whole(number), key[0], key[1]])?;
    let (waiting, kept) = (number.saturating_sub(WAITING_DELIVERIES), number.saturating_sub(KEPT_DELIVERIES));
    database.execute(FORGET_DELIVERIES, &[key[0], key[1], whole(waiting), whole(kept)])?;
    Ok(Some(number))
}

/// Deletes everything here that belongs to a campaign.
pub(in crate::journal) fn delete(database: &mut impl Database, campaign: Id) -> Result<(), StoreError> {
    DELETE_ALL.iter().try_for_each(|statement| database.execute(statement, &[Value::Integer(campaign)]))
}

/// Remembers a request that was carried out with a key, by the two numbers of its answer.
fn remember(
    database: &mut impl Database,
    campaign: Id,
    origin: &Origin,
    at: Time,
    (first, second): (u64, u64),
) -> Result<(), StoreError> {
    let Some(key) = &origin.key else { return Ok(()) };
    let stored = StoredRequest { fingerprint: key.fingerprint.clone(), first, n_events: second };
    access::add_request(database, Some(campaign), key, at, &stored)
}

impl<D: Database> WebhookJournal for Sql<D> {
    fn webhooks(&mut self, campaign: Id) -> Result<Vec<Webhook>, StoreError> {
        webhooks(&mut self.database, campaign)
    }

    fn add_webhook(
        &mut self,
        campaign: Id,
        new: &NewWebhook,
        noticed: &str,
        origin: &Origin,
        now: Time,
    ) -> Result<u64, StoreError> {
        let names: Vec<&str> = new.events.iter().map(|event| event.name()).collect();
        let events = serde_json::to_string(&names).expect("a list of texts");
        transaction(&mut self.database, Lock::Campaign(campaign), |database| {
            // It may have been deleted before the lock was taken.
            if access::name(database, campaign)?.is_none_or(|name| is_deleted(&name)) {
                return Err(StoreError::Deleted);
            }
            let known = webhooks(database, campaign)?;
            if known.len() >= MAX_WEBHOOKS {
                return Err(StoreError::TooManyWebhooks(MAX_WEBHOOKS));
            }
            let n_before = integer(database, N_WEBHOOKS, &[Value::Integer(campaign)])?;
            if n_before.is_none() {
                database.execute(ADD_WATCH, &[Value::Integer(campaign), Value::Text(noticed)])?;
            } else if known.iter().all(|webhook| webhook.turned_off.is_some()) {
                // Nobody has looked at the campaign in the meantime.
                database.execute(SET_NOTICED, &[Value::Text(noticed), Value::Integer(campaign)])?;
            }
            database.execute(COUNT_WEBHOOK, &[Value::Integer(campaign)])?;
            let id = n_before.unwrap_or(0).cast_unsigned() + 1;
            let values = [
                Value::Integer(campaign),
                whole(id),
                Value::Text(&new.url),
                Value::Text(&new.secret.0),
                Value::Text(&events),
                maybe(new.silence),
                whole(now),
                maybe_text(origin.author.as_ref()),
            ];
            database.execute(ADD_WEBHOOK, &values)?;
            remember(database, campaign, origin, now, (id, 0))?;
            Ok(id)
        })
    }

    fn delete_webhook(&mut self, campaign: Id, webhook: u64) -> Result<(), StoreError> {
        transaction(&mut self.database, Lock::Campaign(campaign), |database| {
            let key = [Value::Integer(campaign), whole(webhook)];
            database.execute(DELETE_DELIVERIES, &key)?;
            database.execute(DELETE_WEBHOOK, &key)
        })
    }

    fn deliveries(
        &mut self,
        campaign: Id,
        webhook: u64,
        before: u64,
        most: usize,
    ) -> Result<Vec<Delivery>, StoreError> {
        let mut found = Vec::new();
        let values = [Value::Integer(campaign), whole(webhook), whole(before), Value::whole(most)];
        self.database.query(DELIVERIES, &values, &mut |row| {
            found.push(Delivery {
                number: number(row, 0)?,
                id: text(row, 1)?,
                event: event(&text(row, 2)?)?,
                created: number(row, 3)?,
                attempts: number(row, 4)?,
                next_attempt: optional(row, 5)?,
                status: optional(row, 6)?.and_then(|status| u16::try_from(status).ok()),
                error: row.text(7)?.map(str::to_owned),
                delivered: optional(row, 8)?,
            });
            Ok(())
        })?;
        Ok(found)
    }

    fn add_delivery(&mut self, campaign: Id, new: &NewDelivery, origin: &Origin) -> Result<u64, StoreError> {
        transaction(&mut self.database, Lock::Campaign(campaign), |database| {
            let number = insert(database, campaign, new)?.ok_or(StoreError::NoWebhook(new.webhook))?;
            remember(database, campaign, origin, new.at, (new.webhook, number))?;
            Ok(number)
        })
    }

    fn watched(&mut self) -> Result<Vec<WatchedCampaign>, StoreError> {
        let mut found: Vec<WatchedCampaign> = Vec::new();
        self.database.query(WATCHED, &[], &mut |row| {
            let campaign = required(row.integer(0)?)?;
            let webhook = WatchedWebhook {
                id: number(row, 4)?,
                events: events(row, 5)?,
                silence: optional(row, 6)?,
                created: number(row, 7)?,
            };
            match found.last_mut() {
                Some(last) if last.campaign == campaign => last.webhooks.push(webhook),
                _ => found.push(WatchedCampaign {
                    campaign,
                    name: text(row, 1)?,
                    events: number(row, 2)?,
                    version: number(row, 3)?,
                    webhooks: vec![webhook],
                }),
            }
            Ok(())
        })?;
        Ok(found)
    }

    fn watch_state(&mut self, campaign: Id) -> Result<Option<(u64, String)>, StoreError> {
        let mut found = None;
        self.database.query(WATCH, &[Value::Integer(campaign)], &mut |row| {
            found = Some((number(row, 0)?, text(row, 1)?));
            Ok(())
        })?;
        Ok(found)
    }

    fn advance_watch(
        &mut self,
        campaign: Id,
        version: u64,
        noticed: &str,
        deliveries: &[NewDelivery],
    ) -> Result<bool, StoreError> {
        transaction(&mut self.database, Lock::Campaign(campaign), |database| {
            // Of a deleted campaign there is no row.
            let found = integer(database, WATCH, &[Value::Integer(campaign)])?;
            if found.map(i64::cast_unsigned) != Some(version) {
                return Ok(false);
            }
            database.execute(SET_NOTICED, &[Value::Text(noticed), Value::Integer(campaign)])?;
            for delivery in deliveries {
                // A webhook that was deleted in the meantime is told nothing.
                insert(database, campaign, delivery)?;
            }
            Ok(true)
        })
    }

    fn due(&mut self, now: Time) -> Result<Vec<DeliveryKey>, StoreError> {
        let mut found = Vec::new();
        self.database.query(DUE, &[whole(now)], &mut |row| {
            found.push((required(row.integer(0)?)?, number(row, 1)?, number(row, 2)?));
            Ok(())
        })?;
        Ok(found)
    }

    fn claim(
        &mut self,
        (campaign, webhook, delivery): DeliveryKey,
        now: Time,
        until: Time,
    ) -> Result<Option<ClaimedDelivery>, StoreError> {
        let mut target = None;
        self.database.query(TARGET, &[Value::Integer(campaign), whole(webhook)], &mut |row| {
            target = Some((text(row, 0)?, WebhookSecret(text(row, 1)?)));
            Ok(())
        })?;
        let Some((url, secret)) = target else { return Ok(None) };
        let mut claimed = None;
        let values = [whole(until), Value::Integer(campaign), whole(webhook), whole(delivery), whole(now)];
        self.database.query(CLAIM, &values, &mut |row| {
            claimed = Some((text(row, 0)?, event(&text(row, 1)?)?, text(row, 2)?, number(row, 3)?));
            Ok(())
        })?;
        Ok(claimed.map(|(id, event, payload, attempts)| ClaimedDelivery {
            campaign,
            webhook,
            number: delivery,
            id,
            event,
            payload,
            attempts,
            url,
            secret,
        }))
    }

    fn settle(&mut self, claimed: &ClaimedDelivery, outcome: &AttemptOutcome) -> Result<(), StoreError> {
        let values = [
            maybe(outcome.status.map(u64::from)),
            maybe_text(outcome.error.as_ref()),
            maybe(outcome.delivered),
            maybe(outcome.next_attempt),
            Value::Integer(claimed.campaign),
            whole(claimed.webhook),
            whole(claimed.number),
            whole(claimed.attempts),
        ];
        self.database.execute(SETTLE, &values)
    }

    fn turn_off(&mut self, campaign: Id, webhook: u64, why: &str) -> Result<(), StoreError> {
        transaction(&mut self.database, Lock::Campaign(campaign), |database| {
            let values = [Value::Text(why), Value::Integer(campaign), whole(webhook)];
            database.execute(TURN_OFF, &values)?;
            database.execute(GIVE_UP, &values)
        })
    }

    fn n_waiting(&mut self) -> Result<u64, StoreError> {
        Ok(integer(&mut self.database, N_WAITING, &[])?.unwrap_or(0).cast_unsigned())
    }
}
