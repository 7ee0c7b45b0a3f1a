//! How much a request and a server may take.

use crate::notify::Notify;
use std::time::Duration;

/// Limits of a server.
///
/// | limit | default | meaning |
/// |---|---|---|
/// | `body` | 64 MiB | the bytes of an uploaded table, or of a campaign with its arms |
/// | `small_body` | 4 MiB | the bytes of any other body |
/// | `batch` | 10,000 | the items of one request: tickets, rewards, arms to withdraw |
/// | `text` | 1,000 | the bytes of a worker's name, a reason or a key |
/// | `arms` | 1,000,000 | the arms of a campaign |
/// | `page` | 1,000 | the entries of one page of a list |
/// | `request` | 60 s | the time for one request, except for streams and plans, and how long a client may not read its answer |
/// | `headers` | 10 s | the time for the headers of a request, and that a connection may be idle |
/// | `connections` | 1,024 | the open connections; of more, the one that has been idle for longest is closed |
/// | `waiting` | 4,096 | the requests that wait for one campaign |
/// | `open_campaigns` | 64 | the campaigns that are kept open |
/// | `heavy` | 2 | the reports and plans that are computed at the same time |
/// | `notify` | none | where to post notices |
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the table above says it")]
pub struct Limits {
    pub body: usize,
    pub small_body: usize,
    pub batch: usize,
    pub text: usize,
    pub arms: usize,
    pub page: usize,
    pub request: Duration,
    pub headers: Duration,
    pub connections: usize,
    pub waiting: usize,
    pub open_campaigns: usize,
    pub heavy: usize,
    pub notify: Option<Notify>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 64 << 20,
            small_body: 4 << 20,
            batch: 10_000,
            text: 1_000,
            arms: 1_000_000,
            page: 1_000,
            request: Duration::from_mins(1),
            headers: Duration::from_secs(10),
            connections: 1024,
            waiting: 4096,
            open_campaigns: 64,
            heavy: 2,
            notify: None,
        }
    }
}
