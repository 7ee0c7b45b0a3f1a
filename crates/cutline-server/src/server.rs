//! A server that is bound to an address, with a runtime of its own: for programs that are not asynchronous.

use crate::limits::Limits;
use crate::listener::{TlsError, serve, tls};
use crate::state::AppState;
use crate::token::{CreateTokenError, hash, new_secret};
use cutline_store::{Role, Store, StoreError, Token};
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::Notify;
use tokio_rustls::TlsAcceptor;

/// How long work that nobody waits for any more may go on when a server ends.
pub(crate) const CLOSING: Duration = Duration::from_secs(5);

/// The fewest bytes of a secret in a file.
const SHORTEST_SECRET: usize = 32;

/// Why a server could not be started.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The address cannot be used.
    #[error("cannot serve on {address}: {error}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// Why.
        error: std::io::Error,
    },
    /// Others could reach the server, and the store has no token.
    #[error("{0} can be reached by others, and the store has no token, so anybody could change everything")]
    NoTokens(SocketAddr),
    /// TLS could not be set up.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The token could not be made.
    #[error(transparent)]
    Token(#[from] CreateTokenError),
    /// The file with the token cannot be read or written.
    #[error("{}: {what}", path.display())]
    TokenFile {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// The streams of a client cannot be read or written.
    #[error("cannot talk to the client: {0}")]
    Pipe(std::io::Error),
    /// The system refused threads.
    #[error("cannot start: {0}")]
    Runtime(std::io::Error),
}

/// A server that is bound to an address.
pub struct Server {
    runtime: Runtime,
    listener: TcpListener,
    state: AppState,
    tls: Option<TlsAcceptor>,
    end: Arc<Notify>,
}

/// Ends a server.
#[derive(Clone, Debug)]
pub struct Stopper(Arc<Notify>);

impl Stopper {
    /// Ends the server: no new connections are accepted, and requests in progress are answered.
    pub fn stop(&self) {
        self.0.notify_one();
    }
}

impl Server {
    /// Binds a server to an address, with the files of a certificate and its key for TLS, and with what makes the
    /// report of a campaign.
    ///
    /// # Errors
    /// If the store or a file cannot be read, the address is in use, or it can be reached by others and the store has no valid token.
    pub fn bind(
        store: Store,
        address: SocketAddr,
        limits: Limits,
        certificate: Option<(&Path, &Path)>,
    ) -> Result<Self, ServerError> {
        let is_loopback = address.ip().is_loopback();
        if !is_loopback && store.tokens()?.iter().all(|token| token.revoked.is_some()) {
            return Err(ServerError::NoTokens(address));
        }
        let tls = certificate.map(|(certificate, key)| tls(certificate, key)).transpose()?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(ServerError::Runtime)?;
        let state = AppState::new(store, limits, is_loopback)?;
        let listener =
            runtime.block_on(TcpListener::bind(address)).map_err(|error| ServerError::Bind { address, error })?;
        Ok(Self { runtime, listener, state, tls, end: Arc::new(Notify::new()) })
    }

    /// The URL at which it is reached.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        self.listener.local_addr().map_or_else(|_| String::new(), |address| format!("{scheme}://{address}"))
    }

    /// By which another thread, or a signal, ends it.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        Stopper(Arc::clone(&self.end))
    }

    /// Serves until it is stopped.
    pub fn run(self) {
        let Self { runtime, listener, state, tls, end } = self;
        let closing = state.clone();
        runtime.block_on(serve(listener, state, tls, async move { end.notified().await }));
        // Then the connections to the store, so that SQLite leaves no file beside it.
        runtime.shutdown_timeout(CLOSING);
        closing.close();
    }
}

/// Makes the secret in a file the token of an administrator. If there is no such file, a new secret is written to it.
///
/// # Errors
/// If the file cannot be read or written, its secret is too short, or the store fails.
pub fn use_token_file(store: &Store, path: &Path) -> Result<(), ServerError> {
    let failed = |what: String| ServerError::TokenFile { path: path.into(), what };
    let secret = match std::fs::read_to_string(path) {
        Ok(text) => text.trim().to_owned(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let secret = new_secret()?;
            write_secret(path, &secret).map_err(|error| failed(error.to_string()))?;
            secret
        }
        Err(error) => return Err(failed(error.to_string())),
    };
    if secret.len() < SHORTEST_SECRET || secret.chars().any(char::is_whitespace) {
        return Err(failed(format!("a token has at least {SHORTEST_SECRET} characters and no spaces")));
    }
    let hash = hash(secret.as_bytes());
    match store.tokens()?.iter().find(|token| token.hash == hash) {
        Some(token) if token.revoked.is_some() => Err(failed("this token was revoked; name another file".into())),
        Some(_) => Ok(()),
        None => {
            let name = format!("file {}", &hash[..8]);
            Ok(store.add_token(&Token::new(&name, hash, Role::Admin, None))?)
        }
    }
}

/// Writes a new file that only its owner may read.
fn write_secret(path: &Path, secret: &str) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    writeln!(file, "{secret}")?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_file_is_made_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("admin.token");
        let store = Store::memory();
        use_token_file(&store, &path).unwrap();
        use_token_file(&store, &path).unwrap();
        let tokens = store.tokens().unwrap();
        assert_eq!((tokens.len(), tokens[0].role), (1, Role::Admin));
        let secret = std::fs::read_to_string(&path).unwrap();
        assert_eq!(tokens[0].hash, hash(secret.trim().as_bytes()));
        store.revoke_token(&tokens[0].name).unwrap();
        assert!(use_token_file(&store, &path).unwrap_err().to_string().contains("was revoked"));
        std::fs::write(&path, "short\n").unwrap();
        assert!(use_token_file(&store, &path).unwrap_err().to_string().contains("at least 32"));
    }

    #[test]
    fn others_are_not_served_without_tokens() {
        let address: SocketAddr = "0.0.0.0:0".parse().unwrap();
        let bind = |store: &Store| Server::bind(store.clone(), address, Limits::default(), None);
        let store = Store::memory();
        assert!(matches!(bind(&store), Err(ServerError::NoTokens(_))));
        crate::create_token(&store, "ada", Role::Viewer, None).unwrap();
        assert!(bind(&store).is_ok());
        store.revoke_token("ada").unwrap();
        assert!(matches!(bind(&store), Err(ServerError::NoTokens(_))));
    }
}
