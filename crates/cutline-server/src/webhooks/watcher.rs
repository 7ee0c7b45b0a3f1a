//! The thread that looks at campaigns with webhooks, and writes what is to be told.

use super::courier::CourierWaker;
use super::noticed::{Look, News, Noticed, body, new_delivery_id};
use super::stir::Stir;
use crate::clock::now;
use crate::problem::Problem;
use crate::state::AppState;
use cutline::campaign::Time;
use cutline_store::{Campaign, NewDelivery, Store, StoreError, WatchedCampaign};
use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

/// The shortest time between two looks at a campaign. A look that takes long is repeated after four times as long.
const PAUSE: Duration = Duration::from_millis(100);

/// How long to leave a campaign alone that cannot be looked at, as one with a custom rule.
const TROUBLE: Duration = Duration::from_secs(30);

/// How many campaigns are kept open.
const MAX_OPEN: usize = 16;

/// How often what was noticed is compared again when other servers notice things at the same time.
const ATTEMPTS: usize = 3;

pub(super) struct Watcher {
    store: Store,
    poll: Duration,
    stir: Arc<Stir>,
    courier: CourierWaker,
    known: HashMap<i64, Known>,
}

/// A campaign that is watched.
#[derive(Default)]
struct Known {
    /// Its handle, which is not the one that answers requests.
    campaign: Option<Campaign>,
    look: Option<Look>,
    /// The number of rewards and the time of the last one with a ticket, at the last look; and when one without a ticket was seen.
    rewards: Option<(u64, Option<Time>)>,
    observed: Option<Time>,
    /// What was noticed, and its version.
    noticed: Option<(u64, Noticed)>,
    /// When it may be looked at again.
    rests_until: Option<Instant>,
    used: Option<Instant>,
}

impl Watcher {
    pub(super) fn new(state: &AppState) -> Self {
        Self {
            store: state.own_store(),
            poll: state.limits().webhooks.poll,
            stir: Arc::clone(state.stir()),
            courier: state.courier().clone(),
            known: HashMap::new(),
        }
    }

    pub(super) fn run(mut self) {
        let Some(woken) = self.stir.woken() else { return };
        while !self.stir.is_ending() {
            // A defect in one campaign must not end the watching of all others.
            let done = catch_unwind(AssertUnwindSafe(|| self.look_at_all()));
            match done {
                Ok(Ok(())) => (),
                Ok(Err(error)) => tracing::warn!(%error, "campaigns with webhooks could not be read"),
                Err(_) => {
                    tracing::error!("looking at a campaign with webhooks has failed");
                    self.known.clear();
                }
            }
            self.wait(&woken);
        }
    }

    /// Waits until something happens in a campaign, or it is time to look for what others have written.
    fn wait(&self, woken: &Receiver<()>) {
        let rested = self.known.values().filter_map(|known| known.rests_until).min();
        let rest = rested.map(|until| until.saturating_duration_since(Instant::now()).max(PAUSE));
        if woken.recv_timeout(rest.unwrap_or(self.poll).min(self.poll)).is_ok() && !self.stir.is_ending() {
            // However much happens, the store is not read all the time.
            std::thread::sleep(PAUSE);
        }
    }

    fn look_at_all(&mut self) -> Result<(), StoreError> {
        let watched = self.store.watched()?;
        let ids: HashSet<i64> = watched.iter().map(|watched| watched.campaign).collect();
        self.known.retain(|id, _| ids.contains(id));
        self.stir.watch(ids);
        for watched in &watched {
            if self.stir.is_ending() {
                break;
            }
            let known = self.known.entry(watched.campaign).or_default();
            if known.rests_until.is_some_and(|until| until > Instant::now()) {
                continue;
            }
            known.rests_until = None;
            if let Err(error) = known.look(&self.store, watched, &self.courier) {
                let name = &watched.name;
                tracing::warn!(campaign = name, %error, "a campaign with webhooks cannot be looked at");
                *known = Known { rests_until: Some(Instant::now() + TROUBLE), ..Known::default() };
            }
        }
        self.close_some();
        Ok(())
    }

    /// Closes the campaigns that did not change for longest, if there are too many.
    fn close_some(&mut self) {
        let mut open: Vec<_> = self.known.values_mut().filter(|known| known.campaign.is_some()).collect();
        open.sort_by_key(|known| std::cmp::Reverse(known.used));
        open.into_iter().skip(MAX_OPEN).for_each(|known| known.campaign = None);
    }
}

/// Why a campaign could not be looked at.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Problem(#[from] Problem),
    #[error("what was noticed cannot be read: {0}")]
    Unreadable(#[from] serde_json::Error),
}

impl Known {
    /// Looks at a campaign, if anything has changed, and writes what is to be told.
    fn look(&mut self, store: &Store, watched: &WatchedCampaign, courier: &CourierWaker) -> Result<(), Trouble> {
        for _ in 0..ATTEMPTS {
            // What was noticed is read before the campaign, so that the campaign is never behind it.
            let (version, noticed) = match self.noticed.take() {
                Some(known) if known.0 == watched.version => known,
                _ => {
                    // Another server may have seen the campaign as it was before the last look.
                    self.look = None;
                    match store.watch_state(watched.campaign)? {
                        Some((version, noticed)) => (version, serde_json::from_str(&noticed)?),
                        None => return Ok(()),
                    }
                }
            };
            let (mut next, news) = self.compare(store, watched, &noticed)?;
            let Some(look) = &self.look else { return Ok(()) };
            let silences = next.silences(look, &watched.webhooks, now());
            let deliveries = deliveries(watched, look.events(), &news, &silences)?;
            if deliveries.is_empty() && next.says_the_same(&noticed) {
                self.noticed = Some((version, noticed));
                return Ok(());
            }
            if store.advance_watch(watched.campaign, version, &next.to_json()?, &deliveries)? {
                self.noticed = Some((version + 1, next));
                if !deliveries.is_empty() {
                    courier.wake();
                }
                return Ok(());
            }
            // Another server was first. What it has noticed is compared with a new look.
        }
        Ok(())
    }

    /// What there is to tell. The campaign itself is read only if it has other events than at the last look, or another server has noticed
    /// something.
    fn compare(
        &mut self,
        store: &Store,
        watched: &WatchedCampaign,
        noticed: &Noticed,
    ) -> Result<(Noticed, Vec<News>), Trouble> {
        let is_new = |look: &Look| look.events() < watched.events.max(noticed.events());
        if self.look.as_ref().is_some_and(|look| !is_new(look)) {
            return Ok((noticed.clone(), Vec::new()));
        }
        let begun = Instant::now();
        let mut campaign = match self.campaign.take() {
            Some(campaign) => campaign,
            None => store.campaign(Some(&watched.name))?,
        };
        if campaign.id() != watched.campaign {
            // It was renamed, and another one has its name now.
            return Ok((noticed.clone(), Vec::new()));
        }
        let state = campaign.state()?;
        let verdicts = state.verdicts();
        let mut look = Look::new(state, &verdicts);
        if let Some((rewards, last)) = self.rewards.replace((look.rewards, look.last_reward))
            && rewards != look.rewards
            && last == look.last_reward
        {
            // Rewards without tickets end a silence too.
            self.observed = Some(now());
        }
        look.last_reward = look.last_reward.max(self.observed);
        let compared = noticed.compare(&look, &verdicts, campaign.arm_names());
        (self.look, self.campaign, self.used) = (Some(look), Some(campaign), Some(begun));
        self.rests_until = Some(Instant::now() + (4 * begun.elapsed()).max(PAUSE));
        Ok(compared)
    }
}

/// What each webhook is to be told.
fn deliveries(
    watched: &WatchedCampaign,
    n_events: u64,
    news: &[News],
    silences: &[(u64, News)],
) -> Result<Vec<NewDelivery>, Problem> {
    let campaign = (watched.name.as_str(), watched.campaign);
    let delivery = |webhook: u64, news: &News| {
        let id = new_delivery_id()?;
        let payload = body(&id, news.event, campaign, n_events, &news.data);
        Ok(NewDelivery { webhook, id, event: news.event, payload, at: now() })
    };
    let of_all = watched.webhooks.iter().flat_map(|webhook| {
        news.iter().filter(|news| webhook.events.contains(&news.event)).map(move |news| delivery(webhook.id, news))
    });
    of_all.chain(silences.iter().map(|(webhook, news)| delivery(*webhook, news))).collect()
}
