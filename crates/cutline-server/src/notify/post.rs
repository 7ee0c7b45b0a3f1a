//! Posting a notice, a few times if the receiver does not take it.

use super::Notify;
use super::address::{AddressError, CheckedResolver};
use super::notice::Notice;
use super::signature::signature;
use cutline_campaign::now;
use std::io::Read;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;
use ureq::unversioned::transport::DefaultConnector;

/// How much of an answer is read.
const MAX_ANSWER: u64 = 4 << 10;

pub(super) struct Poster {
    notify: Notify,
    /// The client, once something is to be posted: reading certificates takes a moment.
    agent: Option<ureq::Agent>,
    /// Its sender is dropped when the server ends.
    ended: Receiver<()>,
}

impl Poster {
    pub(super) fn new(notify: Notify, ended: Receiver<()>) -> Self {
        Self { notify, agent: None, ended }
    }

    /// Whether the server ends within this time; waits until then, or for this long.
    pub(super) fn is_ended_after(&self, pause: Duration) -> bool {
        self.ended.recv_timeout(pause) != Err(RecvTimeoutError::Timeout)
    }

    /// Posts a notice, again after pauses if it is not taken. Ends early with the server.
    pub(super) fn post(&mut self, notice: &Notice, id: &str, campaign: &str, body: &str) {
        let kind = notice.kind;
        let mut pauses = self.notify.pauses.clone().into_iter();
        loop {
            match self.post_once(kind, id, body) {
                Ok(()) => return tracing::info!(campaign, kind, "a notice was posted"),
                Err(error) => match pauses.next() {
                    None => return tracing::warn!(campaign, kind, error, "a notice was given up"),
                    Some(pause) => {
                        tracing::info!(campaign, kind, error, "a notice was not taken; it is posted again");
                        if self.is_ended_after(pause) {
                            return tracing::warn!(campaign, kind, "the server ends before a notice was taken");
                        }
                    }
                },
            }
        }
    }

    fn post_once(&mut self, kind: &str, id: &str, body: &str) -> Result<(), String> {
        let Self { notify, agent, .. } = self;
        let signed = signature(&notify.secret, now() / 1000, body);
        let sent = agent
            .get_or_insert_with(|| new_agent(notify))
            .post(&notify.url)
            .header("content-type", "application/json")
            .header("cutline-event", kind)
            .header("cutline-delivery", id)
            .header("cutline-signature", signed)
            .send(body.as_bytes());
        let mut response = sent.map_err(|error| words(&error))?;
        // Receivers that are cut off while they answer may take that for a failure of theirs.
        drop(response.body_mut().as_reader().take(MAX_ANSWER).read_to_end(&mut Vec::new()));
        match response.status().as_u16() {
            200..300 => Ok(()),
            status => Err(format!("the answer has the status {status}")),
        }
    }
}

/// A client that follows no redirect, uses no proxy, and keeps no connection, because the address of each is checked.
fn new_agent(notify: &Notify) -> ureq::Agent {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_global(Some(notify.answer))
        .max_idle_connections(0)
        .proxy(None)
        .user_agent(concat!("cutline/", env!("CARGO_PKG_VERSION")))
        .tls_config(cutline_client::client_tls())
        .build();
    ureq::Agent::with_parts(config, DefaultConnector::default(), CheckedResolver::new(notify.allow_private))
}

/// Why there is no answer, without the URL, which may contain secrets.
fn words(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Other(error) if error.is::<AddressError>() => error.to_string(),
        ureq::Error::HostNotFound => "there is no such host".into(),
        ureq::Error::Timeout(_) => "the receiver did not answer in time".into(),
        ureq::Error::ConnectionFailed => "cannot connect to the receiver".into(),
        ureq::Error::Io(error) => format!("no connection to the receiver: {error}"),
        ureq::Error::Rustls(error) => format!("no secure connection to the receiver: {error}"),
        ureq::Error::Tls(what) => format!("no secure connection to the receiver: {what}"),
        _ => "the answer cannot be understood".into(),
    }
}
