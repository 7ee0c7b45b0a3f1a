//! Requests to a server. Every wait has a limit and can be interrupted. A change is sent with a key, so that sending it again after a lost answer
//! never does it twice.

use crate::HttpAddress;
use crate::wire::{CampaignEntry, CampaignPage, ProblemDocument};
use cutline_campaign::{Interrupt, StoreError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};

/// How long to wait for a connection, and for an answer: longer than a server takes at most.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
const ANSWER_LIMIT: Duration = Duration::from_secs(75);

/// How long to send a request again and again while the server cannot be reached or is busy, and the first and the longest pause in between.
const RETRY_LIMIT: Duration = Duration::from_secs(20);
const PAUSE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

/// How often a wait looks for interruptions, and how long the answer to a request that is on its way may still take after one.
const POLL: Duration = Duration::from_millis(50);
const PATIENCE: Duration = Duration::from_secs(2);

/// How long an unused connection is kept: shorter than a server keeps it.
const IDLE: Duration = Duration::from_secs(5);

/// The most bytes of an answer.
const MAX_ANSWER: u64 = 1 << 30;

/// How many campaigns a page of the list has: as many as a server allows.
const CAMPAIGNS: usize = 100;

/// A connection to one server, and to one campaign on it, once one is chosen. Clones share what is open.
#[derive(Clone)]
pub(crate) struct Connection {
    agent: ureq::Agent,
    address: HttpAddress,
    interrupt: Interrupt,
    /// The number of the campaign that changes are meant for: another one may get its name.
    campaign: Option<i64>,
    /// Whether the server has ever answered; if not, the address may be wrong, and trying again is of no use.
    was_reached: Arc<AtomicBool>,
}

#[derive(Clone)]
struct Request {
    method: Method,
    url: String,
    authorization: Option<String>,
    campaign: Option<String>,
    /// The key of a change, and its body.
    key: String,
    body: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Post,
    Patch,
    Delete,
}

struct Answer {
    status: u16,
    body: Vec<u8>,
}

/// Why there is no answer.
struct Failure {
    what: String,
    /// Whether the server may have received the request.
    is_sent: bool,
    /// Whether the wait for it was cut short, so that it is not sent again.
    is_interrupted: bool,
}

impl Connection {
    pub(crate) fn new(address: HttpAddress, interrupt: Interrupt) -> Self {
        let mut config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(CONNECT_LIMIT))
            .timeout_global(Some(ANSWER_LIMIT))
            .max_idle_age(IDLE)
            .user_agent(concat!("cutline/", env!("CARGO_PKG_VERSION")));
        if address.is_local() {
            config = config.proxy(None);
        }
        if address.url("").starts_with("https:") {
            config = config.tls_config(client_tls());
        }
        Self { agent: config.build().new_agent(), address, interrupt, campaign: None, was_reached: Arc::default() }
    }

    pub(crate) fn address(&self) -> &HttpAddress {
        &self.address
    }

    /// From now on, paths are those of this address on the same server.
    pub(crate) fn go_to(&mut self, address: HttpAddress) {
        self.address = address;
    }

    /// From now on, changes are meant for the campaign with this number.
    pub(crate) fn set_campaign(&mut self, campaign: i64) {
        self.campaign = Some(campaign);
    }

    /// Reads the answer of the server at `path`.
    pub(crate) fn get<T: DeserializeOwned>(&mut self, path: &str) -> Result<T, StoreError> {
        self.get_from(&self.address.url(path))
    }

    /// Reads the answer of the server at an address.
    pub(crate) fn get_from<T: DeserializeOwned>(&mut self, url: &str) -> Result<T, StoreError> {
        self.call(&self.request(Method::Get, url.into(), Vec::new())?, &|| false)
    }

    /// Sends a change. If `is_interrupted` becomes true, the answer gets little time.
    pub(crate) fn post<T: DeserializeOwned>(
        &mut self,
        path: &str,
        body: &impl Serialize,
        is_interrupted: &dyn Fn() -> bool,
    ) -> Result<T, StoreError> {
        let request = self.request(Method::Post, self.address.url(path), self.json(body)?)?;
        self.call(&request, is_interrupted)
    }

    /// Sends a change to an address.
    pub(crate) fn send_to<T: DeserializeOwned>(
        &mut self,
        method: Method,
        url: String,
        body: &impl Serialize,
    ) -> Result<T, StoreError> {
        let request = self.request(method, url, self.json(body)?)?;
        self.call(&request, &|| false)
    }

    fn json(&self, body: &impl Serialize) -> Result<Vec<u8>, StoreError> {
        serde_json::to_vec(body).map_err(|error| self.failed(&error.to_string()))
    }

    fn request(&self, method: Method, url: String, body: Vec<u8>) -> Result<Request, StoreError> {
        let mut key = [0; 16];
        getrandom::fill(&mut key).map_err(|error| self.failed(&format!("no random numbers: {error}")))?;
        let authorization = self.address.token.as_ref().map(|token| format!("Bearer {token}"));
        let campaign = self.campaign.map(|campaign| campaign.to_string());
        Ok(Request { method, url, authorization, campaign, key: format!("{:032x}", u128::from_ne_bytes(key)), body })
    }

    /// Sends a request, again after growing pauses if there is no answer or the server is busy.
    fn call<T: DeserializeOwned>(
        &mut self,
        request: &Request,
        is_interrupted: &dyn Fn() -> bool,
    ) -> Result<T, StoreError> {
        let begun = Instant::now();
        let mut pause = PAUSE.0;
        let mut is_sent = false;
        loop {
            let failure = match self.send(request, is_interrupted) {
                // Of a server, or of a proxy in front of it.
                Ok(answer) if matches!(answer.status, 408 | 502..=504) => {
                    self.was_reached.store(true, Ordering::Relaxed);
                    Failure { what: detail(&answer), is_sent: answer.status != 503, is_interrupted: false }
                }
                Ok(answer) => {
                    self.was_reached.store(true, Ordering::Relaxed);
                    return self.read(&answer);
                }
                Err(failure) => failure,
            };
            is_sent |= failure.is_sent;
            let is_over = !self.was_reached.load(Ordering::Relaxed) || begun.elapsed() + pause > RETRY_LIMIT;
            if is_over || failure.is_interrupted || self.interrupt.ends(begun) || is_interrupted() {
                let (location, what) = (self.address.to_string(), failure.what);
                return Err(if is_sent && request.method != Method::Get {
                    StoreError::Unconfirmed { location, what }
                } else {
                    StoreError::Database { location, what }
                });
            }
            std::thread::sleep(pause);
            pause = (2 * pause).min(PAUSE.1);
        }
    }

    /// Sends a request once, on a thread of its own, so that the wait for it can be cut short.
    fn send(&self, request: &Request, is_interrupted: &dyn Fn() -> bool) -> Result<Answer, Failure> {
        let unsent = |error: std::io::Error| Failure {
            what: format!("cannot start a thread: {error}"),
            is_sent: false,
            is_interrupted: false,
        };
        let (sender, answers) = channel();
        let (agent, sent) = (self.agent.clone(), request.clone());
        let begun = Instant::now();
        let work = move || drop(sender.send(fetch(&agent, &sent)));
        std::thread::Builder::new().spawn(work).map_err(unsent)?;
        let mut interrupted = None;
        loop {
            match answers.recv_timeout(POLL) {
                Ok(answer) => return answer.map_err(|error| failure(&error)),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failure {
                        what: "the request was abandoned".into(),
                        is_sent: true,
                        is_interrupted: false,
                    });
                }
                Err(RecvTimeoutError::Timeout) => (),
            }
            if interrupted.is_none() && is_interrupted() {
                interrupted = Some(Instant::now());
            }
            let is_impatient = interrupted.is_some_and(|since: Instant| since.elapsed() > PATIENCE);
            if is_impatient || self.interrupt.ends(begun) {
                return Err(Failure {
                    what: "interrupted while waiting for the server".into(),
                    is_sent: true,
                    is_interrupted: true,
                });
            }
        }
    }

    fn read<T: DeserializeOwned>(&self, answer: &Answer) -> Result<T, StoreError> {
        let location = self.address.to_string();
        match answer.status {
            200..=299 => {
                let body: &[u8] = if answer.body.is_empty() { b"null" } else { &answer.body };
                serde_json::from_slice(body).map_err(|error| {
                    self.failed(&format!("the server's answer is of another version of Cutline: {error}"))
                })
            }
            401 => Err(StoreError::Unauthorized { location, is_given: self.address.token.is_some() }),
            status => Err(match problem(answer) {
                Some(ProblemDocument { refusal: Some(refusal), .. }) => refusal.into(),
                _ => StoreError::Remote { location, status, detail: detail(answer) },
            }),
        }
    }

    /// All campaigns of the server, in the order they were begun.
    pub(crate) fn entries(&mut self) -> Result<Vec<CampaignEntry>, StoreError> {
        let all = self.address.of_all();
        let mut entries: Vec<CampaignEntry> = Vec::new();
        loop {
            let query = format!("?overview=false&offset={}&limit={CAMPAIGNS}", entries.len());
            let page: CampaignPage = self.get_from(&all.url(&query))?;
            let is_last = page.campaigns.is_empty();
            entries.extend(page.campaigns);
            if is_last || entries.len() >= page.total {
                break;
            }
        }
        // While the pages were read, others may have begun campaigns, which moves the rest to later pages.
        entries.sort_by_key(|entry| entry.id);
        entries.dedup_by_key(|entry| entry.id);
        Ok(entries)
    }

    /// What a request about the campaign with the number `id` gives. If the campaign is no longer at its address, the request is sent once
    /// more, to where it is now; another campaign that has got its name is left alone.
    pub(crate) fn located<T>(
        &mut self,
        id: i64,
        mut request: impl FnMut(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let error = match request(self) {
            Err(error @ (StoreError::Deleted | StoreError::Remote { status: 404 | 410, .. })) => error,
            done => return done,
        };
        let entry = self.entries()?.into_iter().find(|entry| entry.id == id).ok_or(StoreError::Deleted)?;
        if self.address.name() == Some(&entry.name) {
            return Err(error);
        }
        self.go_to(self.address.of(&entry.name));
        request(self)
    }

    /// An error that trying again does not mend.
    pub(crate) fn failed(&self, detail: &str) -> StoreError {
        StoreError::Remote { location: self.address.to_string(), status: 0, detail: detail.into() }
    }
}

/// TLS for clients built on `ureq`, with the certificates that this machine trusts, or those of `SSL_CERT_FILE`.
#[must_use]
pub fn client_tls() -> TlsConfig {
    let found = rustls_native_certs::load_native_certs().certs;
    let roots: Vec<_> = found.iter().map(|root| Certificate::from_der(root).to_owned()).collect();
    TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .root_certs(RootCerts::new_with_certs(&roots))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build()
}

fn fetch(agent: &ureq::Agent, request: &Request) -> Result<Answer, ureq::Error> {
    let (url, authorization) = (&request.url, request.authorization.iter().map(String::as_str));
    let with_body = |builder: ureq::RequestBuilder<ureq::typestate::WithBody>| {
        let builder = authorization.clone().fold(builder, |builder, token| builder.header("authorization", token));
        let campaign = request.campaign.iter();
        campaign
            .fold(builder, |builder, campaign| builder.header("cutline-campaign", campaign))
            .header("content-type", "application/json")
            .header("idempotency-key", &request.key)
            .send(&request.body[..])
    };
    let without_body = |builder: ureq::RequestBuilder<ureq::typestate::WithoutBody>| {
        authorization.clone().fold(builder, |builder, token| builder.header("authorization", token)).call()
    };
    let mut response = match request.method {
        Method::Get => without_body(agent.get(url)),
        Method::Delete => without_body(agent.delete(url)),
        Method::Post => with_body(agent.post(url)),
        Method::Patch => with_body(agent.patch(url)),
    }?;
    let status = response.status().as_u16();
    Ok(Answer { status, body: response.body_mut().with_config().limit(MAX_ANSWER).read_to_vec()? })
}

/// Why a server refused a request, if it says so.
fn problem(answer: &Answer) -> Option<ProblemDocument> {
    serde_json::from_slice(&answer.body).ok()
}

/// The words of a refusal.
fn detail(answer: &Answer) -> String {
    problem(answer).map_or_else(
        || format!("the answer has the status {} and is not that of a Cutline server", answer.status),
        |problem| problem.detail,
    )
}

fn failure(error: &ureq::Error) -> Failure {
    let (what, is_sent) = match error {
        ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
            ("cannot connect to the server: connection refused".into(), false)
        }
        ureq::Error::HostNotFound => ("there is no such host".into(), false),
        ureq::Error::ConnectionFailed | ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => {
            ("cannot connect to the server".into(), false)
        }
        ureq::Error::Io(error) if error.get_ref().is_some_and(is_of_tls) => {
            (format!("no secure connection to the server: {error}"), false)
        }
        ureq::Error::Timeout(_) => ("the server did not answer in time".into(), true),
        ureq::Error::Io(error) => (format!("the connection to the server was lost: {error}"), true),
        error => (format!("no answer from the server: {error}"), true),
    };
    Failure { what, is_sent, is_interrupted: false }
}

/// Whether the other side is not who it should be, or does not speak TLS.
fn is_of_tls(error: &(dyn std::error::Error + Send + Sync + 'static)) -> bool {
    error.is::<rustls::Error>()
}
