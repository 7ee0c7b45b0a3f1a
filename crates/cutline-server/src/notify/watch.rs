//! Looks at the campaigns of a store, and posts what has changed.

use super::Notify;
use super::notice::{Notice, Stand};
use super::post::Poster;
use crate::token::hexadecimal;
use cutline_store::{Campaign, CampaignActivity, Store, StoreError};
use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

/// How many campaigns are kept open.
const MAX_OPEN: usize = 16;

/// How long to leave a campaign alone that cannot be read, as one with a custom rule.
const TROUBLE: Duration = Duration::from_secs(30);

pub(super) struct Watcher {
    store: Store,
    silence: Duration,
    poll: Duration,
    poster: Poster,
    known: HashMap<i64, Known>,
    /// The campaigns that were there when the server started, until they are looked at; `None` while they could not be read.
    old: Option<HashSet<i64>>,
}

/// A campaign that was looked at.
#[derive(Default)]
struct Known {
    stand: Stand,
    /// The campaign, while it is kept open, and when it was used last.
    open: Option<(Instant, Campaign)>,
    /// When a reward was last seen here; `None` if none came since the server started, or the silence was posted.
    rewarded: Option<Instant>,
    /// A campaign whose look takes long is left alone for a while after it.
    rests_until: Option<Instant>,
}

impl Watcher {
    pub(super) fn new(store: Store, notify: Notify, ended: Receiver<()>) -> Self {
        let (silence, poll) = (notify.silence, notify.poll);
        let old = store.activity().map(|all| all.iter().map(|campaign| campaign.id).collect());
        let old = old.inspect_err(|error| tracing::warn!(%error, "campaigns could not be read for notices")).ok();
        Self { store, silence, poll, poster: Poster::new(notify, ended), known: HashMap::new(), old }
    }

    pub(super) fn run(mut self) {
        loop {
            // A defect in one campaign must not end the notices of all others.
            match catch_unwind(AssertUnwindSafe(|| self.look_at_all())) {
                Ok(Ok(())) => (),
                Ok(Err(error)) => tracing::warn!(%error, "campaigns could not be read for notices"),
                Err(_) => tracing::error!("looking at a campaign for notices has failed"),
            }
            if self.poster.is_ended_after(self.poll) {
                return;
            }
        }
    }

    fn look_at_all(&mut self) -> Result<(), StoreError> {
        let all = self.store.activity()?;
        let ids: HashSet<i64> = all.iter().map(|campaign| campaign.id).collect();
        self.known.retain(|id, _| ids.contains(id));
        let old = self.old.get_or_insert_with(|| ids.clone());
        for campaign in &all {
            if self.poster.is_ended_after(Duration::ZERO) {
                break;
            }
            let is_new = !self.known.contains_key(&campaign.id);
            let known = self.known.entry(campaign.id).or_default();
            if known.rests_until.is_some_and(|until| until > Instant::now()) {
                continue;
            }
            let mut notices = Vec::new();
            if is_new || known.stand.n_events != campaign.events {
                match known.look(&self.store, campaign) {
                    // How it stood when the server started is no news.
                    Ok(_) if old.remove(&campaign.id) => known.rewarded = None,
                    Ok(changes) => notices = changes,
                    Err(error) => {
                        tracing::warn!(campaign = campaign.name, %error, "a campaign cannot be read for notices");
                        known.rests_until = Some(Instant::now() + TROUBLE);
                    }
                }
            }
            if known.rewarded.is_some_and(|last| last.elapsed() >= self.silence) && known.stand.ended.is_none() {
                known.rewarded = None;
                notices.push(Notice::silent(self.silence.as_secs()));
            }
            for notice in notices {
                let mut id = [0; 16];
                // Without random numbers, it is still posted.
                getrandom::fill(&mut id).ok();
                let id = hexadecimal(&id);
                let body = notice.body(&id, (&campaign.name, campaign.id), known.stand.n_events);
                self.poster.post(&notice, &id, &campaign.name, &body);
            }
        }
        self.close_some();
        Ok(())
    }

    /// Closes the campaigns that did not change for longest, if there are too many.
    fn close_some(&mut self) {
        let mut open: Vec<_> = self.known.values_mut().filter(|known| known.open.is_some()).collect();
        open.sort_by_key(|known| std::cmp::Reverse(known.open.as_ref().map(|(used, _)| *used)));
        open.into_iter().skip(MAX_OPEN).for_each(|known| known.open = None);
    }
}

impl Known {
    /// Looks at a campaign. Returns what there is to post.
    fn look(&mut self, store: &Store, activity: &CampaignActivity) -> Result<Vec<Notice>, StoreError> {
        let begun = Instant::now();
        // It is not the handle that answers requests.
        let mut campaign = match self.open.take() {
            Some((_, campaign)) => campaign,
            None => store.campaign_by_id(activity.id)?,
        };
        campaign.state()?;
        let names = campaign.arm_names().to_vec();
        let (stand, notices) = Stand::new(campaign.state()?, &names, &self.stand);
        if stand.n_rewards != self.stand.n_rewards {
            self.rewarded = Some(begun);
        }
        self.stand = stand;
        self.open = Some((begun, campaign));
        self.rests_until = Some(Instant::now() + 4 * begun.elapsed());
        Ok(notices)
    }
}
