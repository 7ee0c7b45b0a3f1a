//! The checksums of a store, computed by their definition, so that rows that were changed look as if Cutline had written them.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

/// The sum of no words.
const EMPTY: u64 = 0x6a09_e667_f3bc_c908;

fn add(sum: u64, word: u64) -> u64 {
    let mixed = (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 29)
}

fn add_bytes(sum: u64, bytes: &[u8]) -> u64 {
    let mut sum = sum;
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        sum = add(sum, u64::from_le_bytes(*word));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    add(add(sum, u64::from_le_bytes(last)), bytes.len() as u64)
}

/// A column as a word; `None` for null and for what is no number.
fn word(row: &Row<'_>, column: usize) -> Option<u64> {
    match row.get_ref(column).expect("a column of the table") {
        ValueRef::Integer(integer) => Some(integer.cast_unsigned()),
        ValueRef::Real(real) => Some(real.to_bits()),
        _ => None,
    }
}

fn bytes<'a>(row: &'a Row<'_>, column: usize) -> &'a [u8] {
    match row.get_ref(column).expect("a column of the table") {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes,
        _ => &[],
    }
}

/// Gives every row the checksum of what it holds.
pub(super) fn write_checksums(connection: &Connection) {
    let campaigns = "SELECT id, name, created, settings, n_arms FROM cutline_campaigns ORDER BY id";
    write(connection, campaigns, "UPDATE cutline_campaigns SET checksum = ?1 WHERE id = ?2", |row, _| {
        let sum = add(EMPTY, word(row, 0).unwrap_or(0));
        let sum = add(add_bytes(sum, bytes(row, 1)), word(row, 2).unwrap_or(0));
        add(add_bytes(sum, bytes(row, 3)), word(row, 4).unwrap_or(0))
    });
    let arms = "SELECT first, names, features FROM cutline_arms ORDER BY first";
    write(connection, arms, "UPDATE cutline_arms SET checksum = ?1 WHERE first = ?2", |row, _| {
        add_bytes(add_bytes(add(EMPTY, word(row, 0).unwrap_or(0)), bytes(row, 1)), bytes(row, 2))
    });
    let events = "SELECT number, at, kind, ticket, arm, reward, until, counted, worker, reason \
                  FROM cutline_events WHERE number < 9223372036854775807 ORDER BY number";
    write(connection, events, "UPDATE cutline_events SET checksum = ?1 WHERE number = ?2", |row, before| {
        let sum = add(add(before, word(row, 0).unwrap_or(0)), word(row, 1).unwrap_or(0));
        let numbers = [3, 4, 5, 6, 7].map(|column| word(row, column));
        let sum = numbers.iter().fold(add_bytes(sum, bytes(row, 2)), |sum, number| {
            add(add(sum, u64::from(number.is_some())), number.unwrap_or(0))
        });
        add_bytes(add_bytes(sum, bytes(row, 8)), bytes(row, 9))
    });
}

/// Writes the checksums of the rows of a query, whose first column is the key. `sum_of` gets a row and the sum of the row before it.
fn write(connection: &Connection, query: &str, update: &str, sum_of: impl Fn(&Row<'_>, u64) -> u64) {
    let mut statement = connection.prepare(query).expect("a valid query");
    let mut rows = statement.query([]).expect("a valid query");
    let (mut sums, mut sum) = (Vec::new(), EMPTY);
    while let Some(row) = rows.next().expect("a good database") {
        sum = sum_of(row, sum);
        sums.push((sum.cast_signed(), row.get::<_, rusqlite::types::Value>(0).expect("a key")));
    }
    for (sum, key) in sums {
        connection.execute(update, (sum, key)).expect("a valid update");
    }
}
