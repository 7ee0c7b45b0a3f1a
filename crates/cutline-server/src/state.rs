//! What all requests share: the store, the open campaigns, the tokens and the limits.

use crate::actor::{Fault, Handle, OpenCampaign};
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::token::Tokens;
use cutline_campaign::{Outcome, Standing, Submission};
use cutline_store::{Campaign, Store, StoreError, Token};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, watch};

/// How often a campaign is opened again for one request, after others renamed it or its connection was lost.
const ATTEMPTS: usize = 3;

/// Of how many campaigns it is remembered how they stand.
const MAX_STANDINGS: usize = 10_000;

/// How long a campaign stays open without requests.
const IDLE: Duration = Duration::from_mins(10);

/// What all requests share. Clones refer to the same.
#[derive(Clone)]
pub struct AppState(Arc<Shared>);

struct Shared {
    /// Always there, until it is dropped.
    store: Option<Store>,
    limits: Limits,
    is_loopback: bool,
    tokens: Tokens,
    open: Mutex<HashMap<String, Entry>>,
    /// How campaigns stood when they were listed last.
    standings: Mutex<HashMap<String, Standing>>,
    heavy: Arc<Semaphore>,
    ending: watch::Sender<bool>,
    metrics: Metrics,
}

/// An open campaign.
struct Entry {
    used: Instant,
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

impl Shared {
    fn store(&self) -> &Store {
        self.store.as_ref().expect("it is taken out only when this is dropped")
    }
}

/// A connection to PostgreSQL waits when it is closed, which a thread of the runtime must not.
impl Drop for Shared {
    fn drop(&mut self) {
        let store = self.store.take();
        let dropping = std::thread::Builder::new().spawn(move || drop(store));
        if tokio::runtime::Handle::try_current().is_err() {
            drop(dropping.map(JoinHandle::join));
        }
    }
}

impl AppState {
    /// The state of a server on a store. Without tokens in the store, a server that is bound to a loopback address belongs to a single user;
    /// any other serves nobody.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn new(store: Store, limits: Limits, is_loopback: bool) -> Result<Self, StoreError> {
        let tokens = Tokens::new(&store)?;
        let heavy = Arc::new(Semaphore::new(limits.heavy));
        Ok(Self(Arc::new(Shared {
            store: Some(store),
            limits,
            is_loopback,
            tokens,
            open: Mutex::default(),
            standings: Mutex::default(),
            heavy,
            ending: watch::Sender::new(false),
            metrics: Metrics::default(),
        })))
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// All tokens of the store, at most a moment old.
    pub(crate) async fn tokens(&self) -> Result<Arc<Vec<Token>>, StoreError> {
        self.0.tokens.all(self.0.store()).await
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    pub(crate) fn is_loopback(&self) -> bool {
        self.0.is_loopback
    }

    /// The store, with a connection of its own.
    pub(crate) fn own_store(&self) -> Store {
        self.0.store().clone().with_own_connection()
    }

    /// Ends streams and refuses further requests to campaigns.
    pub fn end(&self) {
        self.0.ending.send_replace(true);
    }

    /// Becomes true when the server ends.
    pub(crate) fn ending(&self) -> watch::Receiver<bool> {
        self.0.ending.subscribe()
    }

    /// The number of open campaigns.
    pub(crate) fn n_open(&self) -> usize {
        self.open_campaigns().len()
    }

    fn open_campaigns(&self) -> std::sync::MutexGuard<'_, HashMap<String, Entry>> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The campaign with this name, opened if it is not. Of too many open campaigns, the one that was not used for longest is closed.
    pub(crate) fn handle(&self, name: &str) -> Handle {
        let mut open = self.open_campaigns();
        if let Some(entry) = open.get_mut(name)
            && !entry.handle.is_closed()
        {
            entry.used = Instant::now();
            return entry.handle.clone();
        }
        if open.len() >= self.0.limits.open_campaigns
            && let Some(oldest) = open.iter().min_by_key(|(_, entry)| entry.used).map(|(name, _)| name.clone())
        {
            open.remove(&oldest);
        }
        let (handle, thread) = Handle::open(self.0.store().clone(), name.into(), self.0.limits.waiting);
        open.insert(name.into(), Entry { used: Instant::now(), handle: handle.clone(), thread });
        handle
    }

    pub(crate) fn known_standing(&self, name: &str) -> Option<Standing> {
        self.0.standings.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    pub(crate) fn remember_standing(&self, name: &str, standing: Standing) {
        let mut standings = self.0.standings.lock().unwrap_or_else(PoisonError::into_inner);
        if standings.len() >= MAX_STANDINGS {
            standings.clear();
        }
        standings.insert(name.into(), standing);
    }

    /// Closes a campaign that was deleted.
    pub(crate) fn forget(&self, name: &str) {
        self.open_campaigns().remove(name);
        self.0.standings.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
    }

    /// Closes campaigns that were not used for a while.
    pub(crate) fn close_idle(&self) {
        self.open_campaigns().retain(|_, entry| entry.used.elapsed() < IDLE && !entry.handle.is_closed());
    }

    /// Closes all campaigns, and waits until they are closed. To be called when nobody uses them any more.
    pub(crate) fn close(&self) {
        let open = std::mem::take(&mut *self.open_campaigns());
        for Entry { handle, thread, .. } in open.into_values() {
            drop(handle);
            drop(thread.map(JoinHandle::join));
        }
    }

    /// Carries out an operation on a campaign: the one with the number `meant`, if that is given.
    pub(crate) async fn submit(
        &self,
        name: &str,
        submission: Submission,
        meant: Option<i64>,
    ) -> Result<Outcome, Problem> {
        for _ in 0..ATTEMPTS {
            match self.handle(name).submit(submission.clone(), meant).await {
                Ok(outcome) => return Ok(outcome),
                Err(Fault::Problem(problem)) => return Err(problem),
                Err(Fault::Closed) => (),
            }
        }
        Err(Problem::Busy)
    }

    /// What `work` returns for a campaign.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        name: &str,
        work: impl Fn(&mut OpenCampaign) -> Result<T, StoreError> + Clone + Send + 'static,
    ) -> Result<T, Problem> {
        for _ in 0..ATTEMPTS {
            match self.handle(name).run(work.clone()).await {
                Ok(done) => return Ok(done),
                Err(Fault::Problem(problem)) => return Err(problem),
                Err(Fault::Closed) => (),
            }
        }
        Err(Problem::Busy)
    }

    /// What `work` returns for the store, on a thread that may wait.
    pub(crate) async fn store<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let store = self.0.store().clone();
        let done = tokio::task::spawn_blocking(move || work(&store)).await;
        done.unwrap_or_else(|error| Err(Problem::internal(&error)))
    }

    /// What `work` returns, on a thread that may wait. For what takes long and needs no campaign.
    pub(crate) async fn heavy_work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let permit = Arc::clone(&self.0.heavy).acquire_owned().await.map_err(|error| Problem::internal(&error))?;
        self.store(move |_| {
            let _permit = permit;
            work()
        })
        .await
    }

    /// What `work` returns for another handle of a campaign, so that the campaign itself does not wait. For what takes long.
    pub(crate) async fn heavy<T: Send + 'static>(
        &self,
        name: &str,
        work: impl FnOnce(&mut Campaign) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let permit = Arc::clone(&self.0.heavy).acquire_owned().await.map_err(|error| Problem::internal(&error))?;
        let name = name.to_owned();
        self.store(move |store| {
            // Until it is done, even if the client is gone.
            let _permit = permit;
            work(&mut store.campaign(Some(&name))?)
        })
        .await
    }
}
