//! What went wrong on a server, in words.

use super::super::sql::first_line;
use super::address::Limits;
use super::connection::{Failure, is_password_missing};
use super::tls;
use std::error::Error as _;
use std::time::Duration;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

/// Why no connection could be made.
pub(super) fn of_connecting(failure: &Failure) -> String {
    match failure {
        Failure::Silent(limit) => {
            format!("the server did not answer within {} (`connect_timeout`)", in_words(*limit))
        }
        Failure::Server(error) if is_password_missing(error) => {
            "the server asks for a password; give it in a password file or with PGPASSWORD".into()
        }
        Failure::ExposedPassfile(error, path) => {
            let path = path.display();
            format!(
                "{}; the password file {path} was not used, because other users can read it: run `chmod 600 {path}`",
                of_error(error)
            )
        }
        failure => of_operation(failure, None),
    }
}

/// Why an operation failed.
pub(super) fn of_operation(failure: &Failure, limits: Option<&Limits>) -> String {
    let limit = |limit: fn(&Limits) -> Option<Duration>| limits.and_then(limit).map(in_words);
    match failure {
        Failure::Server(error) | Failure::ExposedPassfile(error, _) => {
            match (error.code(), limit(|limits| limits.lock), limit(|limits| limits.statement)) {
                (Some(&SqlState::LOCK_NOT_AVAILABLE), Some(limit), _) => {
                    format!("another process has kept it locked for {limit} (`lock_timeout`); try again")
                }
                (Some(&SqlState::QUERY_CANCELED), _, Some(limit)) => {
                    format!("{} (`statement_timeout` is {limit})", of_error(error))
                }
                _ => of_error(error),
            }
        }
        Failure::Silent(_) => {
            let limit = limit(|limits| limits.statement).unwrap_or_default();
            format!("the server has not answered for {limit} (`statement_timeout`)")
        }
        Failure::Interrupted => "interrupted while waiting for the server".into(),
        Failure::Closed => "the connection was closed after an earlier failure".into(),
        Failure::Unprepared(what) => what.clone(),
    }
}

/// The server's own message, or what happened to the connection.
fn of_error(error: &Error) -> String {
    if let Some(reported) = error.as_db_error() {
        return first_line(&reported.message());
    }
    let Some(source) = error.source() else { return first_line(error) };
    let refused = source.downcast_ref::<std::io::Error>().and_then(|error| error.get_ref()?.downcast_ref());
    match refused {
        Some(refused) => tls::in_words(refused),
        None => first_line(&format_args!("{error}: {source}")),
    }
}

/// A limit in words.
fn in_words(limit: Duration) -> String {
    format!("{} s", limit.as_secs_f64())
}
