//! Renaming and deleting campaigns in a database.
//!
//! The row of a deleted campaign stays, without settings and under a name that no campaign can have. So its number is never given to another
//! campaign, and a process that still uses the deleted one notices.

use super::database::{Database, Lock, Value};
use super::rows::CampaignRow;
use super::sql::{ENTRIES, transaction};
use super::{Id, access};
use crate::StoreError;

const UPDATE: &str = "UPDATE cutline_campaigns SET name = $1, settings = $2, n_arms = $3, checksum = $4 WHERE id = $5";
const DELETE_EVENTS: &str = "DELETE FROM cutline_events WHERE campaign = $1";
const DELETE_ARMS: &str = "DELETE FROM cutline_arms WHERE campaign = $1";

/// The first character of the names of deleted campaigns. Names of campaigns have no control characters.
const DELETED: char = '\u{7f}';

/// Whether a row is that of a deleted campaign.
pub(super) fn is_deleted(name: &str) -> bool {
    name.starts_with(DELETED)
}

/// Gives a campaign another name.
pub(super) fn rename(database: &mut impl Database, id: Id, name: &str) -> Result<(), StoreError> {
    transaction(database, Lock::Store, |database| {
        let (row, is_taken) = find(database, id, name)?;
        if is_taken {
            return Err(StoreError::NameTaken(name.into()));
        }
        update(database, &CampaignRow { name: name.into(), ..row })
    })
}

/// Deletes a campaign. The lock is the one that excludes writers to it.
pub(super) fn delete(database: &mut impl Database, id: Id) -> Result<(), StoreError> {
    transaction(database, Lock::Campaign(id), |database| {
        let name = format!("{DELETED}{id}");
        let (row, _) = find(database, id, &name)?;
        database.execute(DELETE_EVENTS, &[Value::Integer(id)])?;
        database.execute(DELETE_ARMS, &[Value::Integer(id)])?;
        access::delete(database, id)?;
        update(database, &CampaignRow { name, settings: String::new(), n_arms: 0, ..row })
    })
}

/// The row of a campaign, and whether another one has this name.
fn find(database: &mut impl Database, id: Id, name: &str) -> Result<(CampaignRow, bool), StoreError> {
    let (mut found, mut is_taken) = (None, false);
    database.query(ENTRIES, &[], &mut |row| {
        let row = CampaignRow::read(row)?;
        is_taken |= row.id != id && row.name == name;
        if row.id == id && !is_deleted(&row.name) {
            found = Some(row);
        }
        Ok(())
    })?;
    Ok((found.ok_or(StoreError::Deleted)?, is_taken))
}

fn update(database: &mut impl Database, row: &CampaignRow) -> Result<(), StoreError> {
    let [id, name, _, settings, n_arms, checksum] = row.values();
    database.execute(UPDATE, &[name, settings, n_arms, checksum, id])
}
