//! One attempt to deliver something.

use super::WebhookLimits;
use super::signature::signature;
use super::target::{CheckedResolver, TargetError};
use crate::clock::now;
use cutline_store::ClaimedDelivery;
use std::io::Read;
use std::time::Duration;
use ureq::unversioned::transport::DefaultConnector;

/// How much of an answer is read.
const MAX_ANSWER: u64 = 4 << 10;

/// The longest pause that a receiver may ask for.
const MAX_RETRY_AFTER: Duration = Duration::from_hours(6);

/// The status of an answer, and the pause that it asks for.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) retry_after: Option<Duration>,
}

/// The client. It follows no redirect, uses no proxy, and keeps no connection, because the address of each is to be checked.
pub(super) fn agent(limits: &WebhookLimits) -> ureq::Agent {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_global(Some(limits.answer))
        .max_idle_connections(0)
        .proxy(None)
        .user_agent(concat!("cutline/", env!("CARGO_PKG_VERSION")))
        .tls_config(cutline_store::client_tls())
        .build();
    ureq::Agent::with_parts(config, DefaultConnector::default(), CheckedResolver::new(limits.allow_private))
}

/// Sends a delivery once. An error says in words why there is no answer.
pub(super) fn send(agent: &ureq::Agent, delivery: &ClaimedDelivery) -> Result<Answer, String> {
    let signed = signature(&delivery.secret, now() / 1000, &delivery.payload);
    let sent = agent
        .post(&delivery.url)
        .header("content-type", "application/json")
        .header("cutline-event", delivery.event.name())
        .header("cutline-delivery", &delivery.id)
        .header("cutline-signature", signed)
        .send(delivery.payload.as_bytes());
    let mut response = sent.map_err(|error| words(&error))?;
    let retry_after = response.headers().get("retry-after").and_then(|value| value.to_str().ok()?.trim().parse().ok());
    // Receivers that are cut off while they answer may take that for a failure of theirs.
    drop(response.body_mut().as_reader().take(MAX_ANSWER).read_to_end(&mut Vec::new()));
    Ok(Answer {
        status: response.status().as_u16(),
        retry_after: retry_after.map(|seconds| Duration::from_secs(seconds).min(MAX_RETRY_AFTER)),
    })
}

/// Why there is no answer, without the URL, which may contain secrets.
fn words(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Other(error) if error.is::<TargetError>() => error.to_string(),
        ureq::Error::HostNotFound => "there is no such host".into(),
        ureq::Error::Timeout(_) => "the receiver did not answer in time".into(),
        ureq::Error::ConnectionFailed => "cannot connect to the receiver".into(),
        ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => "connection refused".into(),
        ureq::Error::Io(error) => format!("no connection to the receiver: {error}"),
        ureq::Error::Rustls(error) => format!("no secure connection to the receiver: {error}"),
        ureq::Error::Tls(what) => format!("no secure connection to the receiver: {what}"),
        _ => "the answer cannot be understood".into(),
    }
}
