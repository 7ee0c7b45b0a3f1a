//! Tokens, repeated requests, authors and activity in a database.

use super::Id;
use super::database::{Database, Lock, Value};
use super::rows::{BadRow, record};
use super::sql::{integer, transaction};
use crate::origin::{Authorship, Mark, StoredRequest, authorships, keyed};
use crate::{Role, StoreError, Token};
use cutline_campaign::{Record, RequestKey, Time};

const TOKENS: &str = "SELECT name, hash, role, campaigns, created, revoked FROM cutline_tokens ORDER BY id";
const NEXT_TOKEN: &str = "SELECT COALESCE(MAX(id), 0) + 1 FROM cutline_tokens";
const ADD_TOKEN: &str = "INSERT INTO cutline_tokens (id, name, hash, role, campaigns, created) \
                         VALUES ($1, $2, $3, $4, $5, $6)";
const REVOKE_TOKEN: &str = "UPDATE cutline_tokens SET revoked = $1 WHERE name = $2 AND revoked IS NULL";
const REQUEST: &str = "SELECT fingerprint, first, n_events FROM cutline_requests WHERE campaign = $1 AND key = $2";
const ADD_REQUEST: &str = "INSERT INTO cutline_requests (campaign, key, fingerprint, at, first, n_events) \
                           VALUES ($1, $2, $3, $4, $5, $6)";
const FORGET_REQUESTS: &str = "DELETE FROM cutline_requests WHERE at < $1";
const AUTHORS: &str = "SELECT first, last, author FROM cutline_authors WHERE campaign = $1 AND last >= $2 \
                       AND first <= $3 ORDER BY first";
const ADD_AUTHOR: &str = "INSERT INTO cutline_authors (campaign, first, last, author) VALUES ($1, $2, $3, $4)";
const DELETE_REQUESTS: &str = "DELETE FROM cutline_requests WHERE campaign = $1";
const DELETE_AUTHORS: &str = "DELETE FROM cutline_authors WHERE campaign = $1";
const SOME_EVENTS: &str = "SELECT number, at, kind, ticket, arm, reward, worker, until, reason, counted, checksum \
                           FROM cutline_events WHERE campaign = $1 AND number > $2 AND number < 9223372036854775807 \
                           ORDER BY number LIMIT $3";
const NAME: &str = "SELECT name FROM cutline_campaigns WHERE id = $1";
const ACTIVITY: &str = "SELECT campaign.id, head.ticket, event.at FROM cutline_campaigns AS campaign \
                        JOIN cutline_events AS head ON head.campaign = campaign.id AND head.number = 9223372036854775807 \
                        LEFT JOIN cutline_events AS event ON event.campaign = campaign.id AND event.number = head.ticket \
                        ORDER BY campaign.id";

/// The scope of keys for which there is no campaign yet.
const BEGINNINGS: Id = 0;

pub(super) fn tokens(database: &mut impl Database) -> Result<Vec<Token>, StoreError> {
    let mut tokens = Vec::new();
    database.query(TOKENS, &[], &mut |row| {
        let text =
            |column: usize| row.text(column)?.map(str::to_owned).ok_or_else(|| BadRow::from("a token lacks a column"));
        let role = text(2)?;
        let campaigns = row.text(3)?.map(|list| serde_json::from_str(list).map_err(|error| error.to_string()));
        tokens.push(Token {
            name: text(0)?,
            hash: text(1)?,
            role: Role::named(&role).ok_or_else(|| format!("a token has the unknown role `{role}`"))?,
            campaigns: campaigns.transpose()?,
            created: row.integer(4)?.unwrap_or_default().cast_unsigned(),
            revoked: row.integer(5)?.map(i64::cast_unsigned),
        });
        Ok(())
    })?;
    Ok(tokens)
}

pub(super) fn add_token(database: &mut impl Database, token: &Token) -> Result<(), StoreError> {
    let campaigns = token.campaigns.as_ref().map(|list| serde_json::to_string(list).expect("a list of texts"));
    transaction(database, Lock::Store, |database| {
        if tokens(database)?.iter().any(|known| known.name == token.name) {
            return Err(StoreError::TokenNameTaken(token.name.clone()));
        }
        let values = [
            Value::Integer(integer(database, NEXT_TOKEN, &[])?.unwrap_or(1)),
            Value::Text(&token.name),
            Value::Text(&token.hash),
            Value::Text(token.role.name()),
            campaigns.as_deref().map_or(Value::Null, Value::Text),
            Value::Integer(token.created.cast_signed()),
        ];
        database.execute(ADD_TOKEN, &values)
    })
}

pub(super) fn revoke_token(database: &mut impl Database, name: &str, now: Time) -> Result<(), StoreError> {
    transaction(database, Lock::Store, |database| {
        if !tokens(database)?.iter().any(|known| known.name == name) {
            return Err(StoreError::NoToken(name.into()));
        }
        database.execute(REVOKE_TOKEN, &[Value::Integer(now.cast_signed()), Value::Text(name)])
    })
}

/// The request with this key that was carried out in a campaign; without a campaign, that began one.
pub(super) fn request(
    database: &mut impl Database,
    campaign: Option<Id>,
    key: &str,
) -> Result<Option<StoredRequest>, StoreError> {
    let mut found = None;
    let values = [Value::Integer(campaign.unwrap_or(BEGINNINGS)), Value::Text(key)];
    database.query(REQUEST, &values, &mut |row| {
        let whole = |column: usize| Ok::<_, BadRow>(row.integer(column)?.unwrap_or_default().cast_unsigned());
        let fingerprint = row.text(0)?.unwrap_or_default().to_owned();
        found = Some(StoredRequest { fingerprint, first: whole(1)?, n_events: whole(2)? });
        Ok(())
    })?;
    Ok(found)
}

/// Writes where events come from; `last` is the number of the event before them. Fails if a key is in use already. To be called in the
/// transaction of the events, which excludes other writers to the campaign.
pub(super) fn add_marks(database: &mut impl Database, id: Id, last: u64, marks: &[Mark]) -> Result<(), StoreError> {
    for (key, at, stored) in keyed(last, marks) {
        add_request(database, Some(id), key, at, &stored)?;
    }
    for Authorship { first, last, author } in authorships(last, marks) {
        add_author(database, id, first, last, &author)?;
    }
    Ok(())
}

/// Writes the origin of a new campaign.
pub(super) fn add_beginning(database: &mut impl Database, id: Id, mark: &Mark) -> Result<(), StoreError> {
    if let Some(key) = &mark.origin.key {
        let stored = StoredRequest { fingerprint: key.fingerprint.clone(), first: id.cast_unsigned(), n_events: 0 };
        add_request(database, None, key, mark.at, &stored)?;
    }
    match &mark.origin.author {
        Some(author) => add_author(database, id, 0, mark.n_events, author),
        None => Ok(()),
    }
}

pub(super) fn add_request(
    database: &mut impl Database,
    campaign: Option<Id>,
    key: &RequestKey,
    at: Time,
    stored: &StoredRequest,
) -> Result<(), StoreError> {
    if request(database, campaign, &key.key)?.is_some() {
        return Err(StoreError::KeyInUse);
    }
    let values = [
        Value::Integer(campaign.unwrap_or(BEGINNINGS)),
        Value::Text(&key.key),
        Value::Text(&stored.fingerprint),
        Value::Integer(at.cast_signed()),
        Value::Integer(stored.first.cast_signed()),
        Value::Integer(stored.n_events.cast_signed()),
    ];
    database.execute(ADD_REQUEST, &values)
}

fn add_author(database: &mut impl Database, id: Id, first: u64, last: u64, author: &str) -> Result<(), StoreError> {
    let numbers = [first, last].map(|number| Value::Integer(number.cast_signed()));
    database.execute(ADD_AUTHOR, &[Value::Integer(id), numbers[0], numbers[1], Value::Text(author)])
}

pub(super) fn forget_requests(database: &mut impl Database, before: Time) -> Result<(), StoreError> {
    database.execute(FORGET_REQUESTS, &[Value::Integer(before.cast_signed())])
}

/// The authors of the events from number `first` to number `last`.
pub(super) fn authors(
    database: &mut impl Database,
    id: Id,
    first: u64,
    last: u64,
) -> Result<Vec<Authorship>, StoreError> {
    let mut authors = Vec::new();
    let numbers = [first, last].map(|number| Value::Integer(i64::try_from(number).unwrap_or(i64::MAX)));
    database.query(AUTHORS, &[Value::Integer(id), numbers[0], numbers[1]], &mut |row| {
        let whole = |column: usize| Ok::<_, BadRow>(row.integer(column)?.unwrap_or_default().cast_unsigned());
        let author = row.text(2)?.unwrap_or_default().to_owned();
        authors.push(Authorship { first: whole(0)?, last: whole(1)?, author });
        Ok(())
    })?;
    Ok(authors)
}

/// At most `most` events after number `after`.
pub(super) fn events(database: &mut impl Database, id: Id, after: u64, most: usize) -> Result<Vec<Record>, StoreError> {
    let mut records = Vec::new();
    let after = Value::Integer(i64::try_from(after).unwrap_or(i64::MAX));
    database.query(SOME_EVENTS, &[Value::Integer(id), after, Value::whole(most)], &mut |row| {
        records.push(record(row)?.0);
        Ok(())
    })?;
    Ok(records)
}

/// Deletes everything here that belongs to a campaign.
pub(super) fn delete(database: &mut impl Database, id: Id) -> Result<(), StoreError> {
    database.execute(DELETE_REQUESTS, &[Value::Integer(id)])?;
    database.execute(DELETE_AUTHORS, &[Value::Integer(id)])
}

/// The name of a campaign; `None` if there is none with this id.
pub(super) fn name(database: &mut impl Database, id: Id) -> Result<Option<String>, StoreError> {
    let mut name = None;
    database.query(NAME, &[Value::Integer(id)], &mut |row| {
        name = row.text(0)?.map(str::to_owned);
        Ok(())
    })?;
    Ok(name)
}

/// For every campaign, the number of its events and the time of the last one.
pub(super) fn activity(database: &mut impl Database) -> Result<Vec<(Id, u64, Option<Time>)>, StoreError> {
    let mut found = Vec::new();
    database.query(ACTIVITY, &[], &mut |row| {
        let whole = |column: usize| row.integer(column);
        let n_events = whole(1)?.unwrap_or_default().cast_unsigned();
        found.push((whole(0)?.unwrap_or_default(), n_events, whole(2)?.map(i64::cast_unsigned)));
        Ok(())
    })?;
    Ok(found)
}
