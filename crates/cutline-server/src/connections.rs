//! Open connections: never more than the limit. When all are taken, the one that has been idle for longest is closed for a new one, so that clients who only
//! hold connections keep nobody out. A client that does not read what it asked for is cut off.

use axum::Router;
use axum::body::Body as AnyBody;
use axum::http::{Request, Response};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use std::collections::HashMap;
use std::convert::Infallible;
use std::future::Future;
use std::io::{Error, ErrorKind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;
use tokio::time::{Sleep, sleep};

/// All open connections.
#[derive(Clone)]
pub(crate) struct Connections(Arc<Shared>);

struct Shared {
    limit: usize,
    open: Mutex<Open>,
    /// Whoever waits for a place.
    room: Notify,
}

#[derive(Default)]
struct Open {
    next: u64,
    places: HashMap<u64, Place>,
}

struct Place {
    /// The requests in progress, answers that are still sent included.
    n_busy: usize,
    idle_since: Instant,
    close: Arc<Notify>,
}

impl Connections {
    pub(crate) fn new(limit: usize) -> Self {
        Self(Arc::new(Shared { limit, open: Mutex::default(), room: Notify::new() }))
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a new connection. If all are taken, an idle connection is closed; if none is idle, this waits.
    pub(crate) async fn enter(&self) -> Connection {
        loop {
            let room = self.0.room.notified();
            if let Some(connection) = self.try_enter() {
                return connection;
            }
            room.await;
        }
    }

    fn try_enter(&self) -> Option<Connection> {
        let mut open = self.open();
        if open.places.len() >= self.0.limit {
            let idle = open.places.iter().filter(|(_, place)| place.n_busy == 0);
            let oldest = *idle.min_by_key(|(_, place)| place.idle_since)?.0;
            if let Some(place) = open.places.remove(&oldest) {
                place.close.notify_one();
            }
        }
        let (number, close) = (open.next, Arc::new(Notify::new()));
        open.next += 1;
        open.places.insert(number, Place { n_busy: 0, idle_since: Instant::now(), close: Arc::clone(&close) });
        Some(Connection { connections: self.clone(), number, close })
    }

    fn change(&self, number: u64, change: impl FnOnce(&mut Place)) {
        if let Some(place) = self.open().places.get_mut(&number) {
            change(place);
        }
    }
}

/// The place of one connection, which is free again when this is dropped.
pub(crate) struct Connection {
    connections: Connections,
    number: u64,
    close: Arc<Notify>,
}

impl Connection {
    /// Returns when the connection has to make room for another.
    pub(crate) async fn closed(&self) {
        self.close.notified().await;
    }

    /// The application for this connection.
    pub(crate) fn service(&self, app: Router) -> Counted {
        Counted { app: TowerToHyperService::new(app), connections: self.connections.clone(), number: self.number }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.connections.open().places.remove(&self.number);
        self.connections.0.room.notify_one();
    }
}

/// A request in progress.
struct Busy {
    connections: Connections,
    number: u64,
}

impl Busy {
    fn new(connections: Connections, number: u64) -> Self {
        connections.change(number, |place| place.n_busy += 1);
        Self { connections, number }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.connections.change(self.number, |place| {
            place.n_busy -= 1;
            place.idle_since = Instant::now();
        });
        self.connections.0.room.notify_one();
    }
}

/// The application, and whether its connection is busy.
#[derive(Clone)]
pub(crate) struct Counted {
    app: TowerToHyperService<Router>,
    connections: Connections,
    number: u64,
}

impl Service<Request<Incoming>> for Counted {
    type Response = Response<BusyBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let busy = Busy::new(self.connections.clone(), self.number);
        let answer = self.app.call(request);
        Box::pin(async move { Ok(answer.await?.map(|body| BusyBody { body, _busy: busy })) })
    }
}

/// The body of an answer, until it is sent.
pub(crate) struct BusyBody {
    body: AnyBody,
    _busy: Busy,
}

impl Body for BusyBody {
    type Data = bytes::Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A stream whose other side has to read: if nothing can be written for too long, writing fails.
pub(crate) struct Impatient<S> {
    stream: S,
    patience: Duration,
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<S> Impatient<S> {
    pub(crate) fn new(stream: S, patience: Duration) -> Self {
        Self { stream, patience, waiting: None }
    }

    /// What came of writing, unless it has been waiting for too long.
    fn wait<T>(&mut self, written: Poll<std::io::Result<T>>, context: &mut Context<'_>) -> Poll<std::io::Result<T>> {
        if written.is_ready() {
            self.waiting = None;
            return written;
        }
        let patience = self.patience;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(patience)));
        ready!(waiting.as_mut().poll(context));
        Poll::Ready(Err(Error::from(ErrorKind::TimedOut)))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Impatient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Impatient<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.wait(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.wait(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.wait(flushed, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        let closed = Pin::new(&mut self.stream).poll_shutdown(context);
        self.wait(closed, context)
    }
}
