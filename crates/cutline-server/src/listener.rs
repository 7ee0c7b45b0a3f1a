//! The server: connections, TLS, and an end that loses nothing.

use crate::app::app;
use crate::connections::{Connections, Counted, Impatient};
use crate::notify::Notifier;
use crate::state::AppState;
use cutline_campaign::now;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use std::future::Future;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// How long requests in progress may take when the server ends.
const GRACE: Duration = Duration::from_secs(30);

/// How often idle campaigns are closed and old keys forgotten.
const CLEANING: Duration = Duration::from_mins(5);

/// How long the keys of requests are remembered, in milliseconds: two days.
const KEYS_REMEMBERED: u64 = 2 * 86_400_000;

/// Why TLS could not be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read {}: {what}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        what: String,
    },
    /// Certificate and key do not fit.
    #[error("the certificate and the key cannot be used: {0}")]
    Refused(String),
}

/// The certificate and the key of a server, from PEM files.
///
/// # Errors
/// If a file cannot be read, or they do not belong together.
pub fn tls(certificate: &Path, key: &Path) -> Result<TlsAcceptor, TlsError> {
    let unreadable =
        |path: &Path, what: &dyn std::fmt::Display| TlsError::File { path: path.into(), what: what.to_string() };
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect)
        .map_err(|error| unreadable(certificate, &error))?;
    if chain.is_empty() {
        return Err(unreadable(certificate, &"it has no certificate in PEM format"));
    }
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| unreadable(key, &error))?;
    let refused = |error: tokio_rustls::rustls::Error| TlsError::Refused(error.to_string());
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(refused)?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .map_err(refused)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Serves connections until `end` is done. Then no new ones are accepted, streams end, and requests in progress are answered.
pub async fn serve(listener: TcpListener, state: AppState, tls: Option<TlsAcceptor>, end: impl Future<Output = ()>) {
    let limits = state.limits().clone();
    let connections = Connections::new(limits.connections);
    let graceful = GracefulShutdown::new();
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(limits.headers).max_headers(64).max_buf_size(64 << 10);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(limits.headers)
        .keep_alive_timeout(limits.headers)
        .max_concurrent_streams(64);
    let (builder, service) = (Arc::new(builder), app(state.clone()));
    let cleaning = tokio::spawn(clean(state.clone()));
    let notifier = Notifier::start(&state).await;
    let mut end = std::pin::pin!(end);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut end => break,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // For example, too many open files. Others may end soon.
                tracing::warn!(%error, "a connection was not accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        // Answers are small, and should not wait for more to send.
        drop(stream.set_nodelay(true));
        let connection = tokio::select! {
            connection = connections.enter() => connection,
            () = &mut end => break,
        };
        let (builder, service, watcher) = (Arc::clone(&builder), service.clone(), graceful.watcher());
        let (tls, state, limits) = (tls.clone(), state.clone(), limits.clone());
        tokio::spawn(async move {
            state.metrics().connections.fetch_add(1, Ordering::Relaxed);
            let service = connection.service(service);
            let stream = Impatient::new(stream, limits.request);
            let serving = async {
                match tls {
                    None => serve_connection(&builder, stream, service, watcher, peer).await,
                    Some(tls) => match tokio::time::timeout(limits.headers, tls.accept(stream)).await {
                        Ok(Ok(stream)) => serve_connection(&builder, stream, service, watcher, peer).await,
                        Ok(Err(error)) => tracing::debug!(%peer, %error, "a TLS handshake failed"),
                        Err(_) => tracing::debug!(%peer, "a TLS handshake took too long"),
                    },
                }
            };
            tokio::select! {
                () = serving => (),
                () = connection.closed() => tracing::debug!(%peer, "an idle connection was closed for another"),
            }
            state.metrics().connections.fetch_sub(1, Ordering::Relaxed);
        });
    }
    drop(listener);
    state.end();
    cleaning.abort();
    let notifier = notifier.map(|notifier| tokio::spawn(notifier.end()));
    if tokio::time::timeout(GRACE, graceful.shutdown()).await.is_err() {
        tracing::warn!("requests were still in progress when the server ended");
    }
    if let Some(notifier) = notifier {
        drop(notifier.await);
    }
}

async fn serve_connection(
    builder: &Builder<TokioExecutor>,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    service: Counted,
    watcher: hyper_util::server::graceful::Watcher,
    peer: SocketAddr,
) {
    let connection = builder.serve_connection(TokioIo::new(stream), service).into_owned();
    if let Err(error) = watcher.watch(connection).await {
        tracing::debug!(%peer, %error, "a connection broke off");
    }
}

/// Closes idle campaigns and forgets old keys, from time to time.
async fn clean(state: AppState) {
    let mut interval = tokio::time::interval(CLEANING);
    loop {
        interval.tick().await;
        state.close_idle();
        let before = now().saturating_sub(KEYS_REMEMBERED);
        // A failure is logged, and it is tried again later.
        drop(state.store(move |store| Ok(store.forget_requests(before)?)).await);
    }
}
