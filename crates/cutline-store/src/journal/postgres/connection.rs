//! A connection to a server that never waits longer than it may.

use super::address::{Endpoint, PostgresAddress};
use super::passfile::{Exposed, look_up};
use super::tls::{self, SslMode};
use crate::Interrupt;
use std::future::poll_fn;
use std::net::{IpAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_postgres::config::SslMode as Encryption;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config, Error, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

/// How often a wait looks whether it was interrupted.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// How long the closing of a connection may take.
const CLOSING_TIME: Duration = Duration::from_millis(200);

/// Why an operation failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// The server reported an error, or the connection broke.
    Server(Error),
    /// The server refused the password, or did not get one, because the password file is not used: others can read it.
    ExposedPassfile(Error, PathBuf),
    /// The server did not answer for so long.
    Silent(Duration),
    /// The wait was cut short by the caller.
    Interrupted,
    /// An earlier operation has closed the connection.
    Closed,
    /// A connection cannot be prepared.
    Unprepared(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Server(error)
    }
}

/// How long the waits of an operation may take.
pub(super) struct WaitLimit<'a> {
    limit: Option<Duration>,
    interrupt: &'a Interrupt,
}

impl WaitLimit<'_> {
    /// Waits for `work`. Its limit begins now.
    pub(super) async fn wait<T, E>(&self, work: impl Future<Output = Result<T, E>>) -> Result<T, Failure>
    where
        Failure: From<E>,
    {
        let mut work = pin!(work);
        let mut end = pin!(self.end());
        poll_fn(|context| match work.as_mut().poll(context) {
            Poll::Ready(done) => Poll::Ready(done.map_err(Failure::from)),
            Poll::Pending => end.as_mut().poll(context).map(Err),
        })
        .await
    }

    /// Returns when the time is over.
    async fn end(&self) -> Failure {
        let interrupted = ended(self.interrupt, Instant::now());
        match self.limit {
            None => interrupted.await,
            Some(limit) => {
                if tokio::time::timeout(limit, interrupted).await.is_err() {
                    return Failure::Silent(limit);
                }
            }
        }
        Failure::Interrupted
    }
}

/// Returns when a wait that began at `begun` has to end.
async fn ended(interrupt: &Interrupt, begun: Instant) {
    while !interrupt.ends(begun) {
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// A connection, and the runtime that drives it while an operation waits.
pub(super) struct Connection {
    runtime: Option<Runtime>,
    /// `None` once the connection is closed.
    client: Option<Client>,
    driver: Option<JoinHandle<Result<(), Error>>>,
    interrupt: Interrupt,
}

impl Connection {
    /// Connects to the first server that answers.
    pub(super) fn open(server: &PostgresAddress, interrupt: &Interrupt) -> Result<Self, Failure> {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build();
        let runtime = runtime.map_err(|error| Failure::Unprepared(error.to_string()))?;
        let mut connection = Self { runtime: Some(runtime), client: None, driver: None, interrupt: interrupt.clone() };
        let mut failure = Failure::Closed;
        for endpoint in &server.endpoints {
            match connection.connect(server, endpoint) {
                Ok(()) => return Ok(connection),
                Err(Failure::Interrupted) => return Err(Failure::Interrupted),
                Err(other) => failure = other,
            }
        }
        Err(failure)
    }

    /// Connects to one server, at the first of its addresses that answers.
    fn connect(&mut self, server: &PostgresAddress, endpoint: &Endpoint) -> Result<(), Failure> {
        let mut failure = Failure::Closed;
        for address in self.addresses(server, endpoint)? {
            match self.connect_to(server, endpoint, address) {
                Ok(()) => return Ok(()),
                Err(Failure::Interrupted) => return Err(Failure::Interrupted),
                Err(other) => failure = other,
            }
        }
        Err(failure)
    }

    /// The addresses of a server; `None` for a socket in the file system. A name is looked up on a thread of its own, because that cannot be
    /// interrupted. The crate `tokio` would do the same, but panics if there is no thread to be had.
    fn addresses(&self, server: &PostgresAddress, endpoint: &Endpoint) -> Result<Vec<Option<IpAddr>>, Failure> {
        if endpoint.is_local() {
            return Ok(vec![None]);
        }
        if let Ok(address) = endpoint.host.parse() {
            return Ok(vec![Some(address)]);
        }
        let Some(runtime) = &self.runtime else { return Err(Failure::Closed) };
        let failed = |error: std::io::Error| Failure::Unprepared(format!("cannot look up {}: {error}", endpoint.host));
        let (sender, receiver) = oneshot::channel();
        let name = (endpoint.host.clone(), endpoint.port);
        let look_up = move || drop(sender.send(name.to_socket_addrs()));
        std::thread::Builder::new().spawn(look_up).map_err(failed)?;
        let wait_limit = WaitLimit { limit: server.limits.connect, interrupt: &self.interrupt };
        let found = runtime.block_on(wait_limit.wait(async { receiver.await.map_err(|_| Failure::Closed) }))?;
        Ok(found.map_err(failed)?.map(|address| Some(address.ip())).collect())
    }

    /// Connects to one address of a server, with and without encryption as the mode says.
    fn connect_to(
        &mut self,
        server: &PostgresAddress,
        endpoint: &Endpoint,
        address: Option<IpAddr>,
    ) -> Result<(), Failure> {
        let mut config = server.config.clone();
        config.host(&endpoint.host).port(endpoint.port);
        if let Some(address) = address {
            config.hostaddr(address);
        }
        let exposed = add_password(&mut config, server, endpoint);
        let attempts: &[Encryption] = match server.tls.mode {
            // As libpq, for which a socket in the file system is safe enough.
            _ if endpoint.is_local() => &[Encryption::Disable],
            SslMode::Disable => &[Encryption::Disable],
            SslMode::Prefer => &[Encryption::Prefer, Encryption::Disable],
            SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull => &[Encryption::Require],
        };
        let mut done = Err(Failure::Closed);
        for &encryption in attempts {
            done = self.attempt(server, config.ssl_mode(encryption));
            if !matches!(&done, Err(Failure::Server(error)) if may_need_other_encryption(error)) {
                break;
            }
        }
        match (done, exposed) {
            (Err(Failure::Server(error)), Some(path)) if is_about_password(&error) => {
                Err(Failure::ExposedPassfile(error, path))
            }
            (done, _) => done,
        }
    }

    fn attempt(&mut self, server: &PostgresAddress, config: &Config) -> Result<(), Failure> {
        let Some(runtime) = &self.runtime else { return Err(Failure::Closed) };
        let wait_limit = WaitLimit { limit: server.limits.connect, interrupt: &self.interrupt };
        let (client, driver) = if config.get_ssl_mode() == Encryption::Disable {
            let (client, connection) = runtime.block_on(wait_limit.wait(config.connect(NoTls)))?;
            (client, runtime.spawn(connection))
        } else {
            let tls = MakeRustlsConnect::new(tls::client_config(&server.tls).map_err(Failure::Unprepared)?);
            let (client, connection) = runtime.block_on(wait_limit.wait(config.connect(tls)))?;
            (client, runtime.spawn(connection))
        };
        (self.client, self.driver) = (Some(client), Some(driver));
        Ok(())
    }

    /// Runs an operation, of which each wait may take as long as `limit` says. After a wait that took too long, nobody knows what the
    /// server will answer, so the connection is closed; the server then undoes the open transaction.
    pub(super) fn run<T>(
        &mut self,
        limit: Option<Duration>,
        operation: impl AsyncFnOnce(&Client, &WaitLimit<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let (Some(runtime), Some(client)) = (&self.runtime, &self.client) else { return Err(Failure::Closed) };
        let wait_limit = WaitLimit { limit, interrupt: &self.interrupt };
        let done = runtime.block_on(operation(client, &wait_limit));
        match done {
            Err(Failure::Server(error)) if error.is_closed() => Err(self.cause_of_end(error)),
            Err(failure @ (Failure::Silent(_) | Failure::Interrupted)) => {
                self.close();
                Err(failure)
            }
            done => done,
        }
    }

    /// Why the connection has ended: the server's last word, or the error as it is.
    fn cause_of_end(&mut self, error: Error) -> Failure {
        let (Some(runtime), Some(driver)) = (&self.runtime, self.driver.take()) else { return Failure::Server(error) };
        let ended = runtime.block_on(async { tokio::time::timeout(CLOSING_TIME, driver).await });
        self.close();
        match ended {
            Ok(Ok(Err(cause))) => Failure::Server(cause),
            _ => Failure::Server(error),
        }
    }

    /// Closes the connection without waiting for anything: not for the server, nor for a name that is being looked up.
    fn close(&mut self) {
        self.client = None;
        self.driver = None;
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.client = None;
        if let (Some(runtime), Some(driver)) = (&self.runtime, self.driver.take()) {
            // Without a client, the driver tells the server that this is the end.
            drop(runtime.block_on(async { tokio::time::timeout(CLOSING_TIME, driver).await }));
        }
        self.close();
    }
}

/// Adds the password of the password file, if there is no other. The path of a file that is not used because others can read it.
fn add_password(config: &mut Config, server: &PostgresAddress, endpoint: &Endpoint) -> Option<PathBuf> {
    let path = server.passfile.as_ref().filter(|_| config.get_password().is_none())?;
    let user = config.get_user().unwrap_or_default();
    let database = config.get_dbname().unwrap_or(user);
    match look_up(path, [endpoint.name_in_passfile(), &endpoint.port.to_string(), database, user]) {
        Ok(password) => {
            password.map(|password| config.password(password));
            None
        }
        Err(Exposed) => Some(path.clone()),
    }
}

/// Whether a server may be reached by switching encryption on or off.
fn may_need_other_encryption(error: &Error) -> bool {
    error.code() == Some(&SqlState::INVALID_AUTHORIZATION_SPECIFICATION) || error.to_string().contains("TLS")
}

/// Whether the server wants another password, or any at all.
pub(super) fn is_about_password(error: &Error) -> bool {
    error.code() == Some(&SqlState::INVALID_PASSWORD) || is_password_missing(error)
}

/// Whether the server wants a password, and none is known.
pub(super) fn is_password_missing(error: &Error) -> bool {
    std::error::Error::source(error).is_some_and(|source| source.to_string() == "password missing")
}
