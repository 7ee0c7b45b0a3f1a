//! Asking, in slices, so that an ask excludes other writers for no longer than a commit takes. Choosing an arm depends on all events before it;
//! unless others write in between, the slices together hand out what one ask would. Where a single decision takes longer than a commit, it is
//! made before the transaction begins, and made again if others write in the meantime.

use crate::StoreError;
use crate::campaign::Campaign;
use crate::writing::Moment;
use cutline_campaign::{AnyCampaign, CampaignState, Event, Request, TicketId};
use std::time::{Duration, Instant};

/// How long the decisions of a slice may exclude other writers: as long as the commit does, but within these limits.
const LOCK_LIMITS: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(10));

/// The time of a decision per number in the features of all arms, as a first guess.
const FIRST_GUESS: Duration = Duration::from_nanos(1);

/// How far an ask has come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asking {
    /// Whether leases were renewed and ended, which the first slice does.
    is_begun: bool,
    /// The number of arms that are still to be handed out.
    left: usize,
}

/// What a slice does: some events, and how far the ask has come after them.
#[derive(Clone, Debug)]
pub(crate) struct Slice {
    pub(crate) events: Vec<Event>,
    pub(crate) then: Asking,
    /// Whether the ask is complete.
    pub(crate) is_last: bool,
}

/// The time that decisions may take inside a transaction.
pub(crate) struct Stopwatch {
    begun: Instant,
    limit: Duration,
    pub(crate) n_arms: u32,
}

impl Stopwatch {
    pub(crate) fn start(limit: Duration) -> Self {
        Self { begun: Instant::now(), limit, n_arms: 0 }
    }

    /// Whether one more arm would take too long. There is time for one in any case.
    pub(crate) fn is_over(&self) -> bool {
        let took = self.begun.elapsed();
        self.n_arms > 0 && took + took / self.n_arms > self.limit
    }

    /// The time per arm.
    pub(crate) fn per_arm(&self) -> Option<Duration> {
        self.begun.elapsed().checked_div(self.n_arms)
    }
}

impl Asking {
    pub(crate) fn new(n: usize) -> Self {
        Self { is_begun: false, left: n }
    }

    /// A slice of one arm, or of leases that are renewed and ended. Its events are not applied.
    pub(crate) fn plan(self, request: &Request<'_>, state: &mut CampaignState, Moment { now, due }: Moment) -> Slice {
        let slice = |events, n_arms, is_last| {
            let then = Self { is_begun: true, left: self.left - n_arms };
            Slice { events, then, is_last: is_last || then.left == 0 }
        };
        if !self.is_begun {
            let (events, n_arms) = state.lease_events(request, now, due);
            if !events.is_empty() {
                return slice(events, n_arms, false);
            }
        }
        let events = if self.left == 0 { Vec::new() } else { state.next_tickets(request, now) };
        let (n_arms, is_last) = (usize::from(!events.is_empty()), events.is_empty());
        slice(events, n_arms, is_last)
    }

    /// A slice of as many arms as there is time for. Its events are applied.
    pub(crate) fn decide(
        self,
        request: &Request<'_>,
        state: &mut CampaignState,
        Moment { now, due }: Moment,
        watch: &mut Stopwatch,
        is_interrupted: &dyn Fn() -> bool,
    ) -> Result<Slice, StoreError> {
        let (mut events, mut n_resumed) = (Vec::new(), 0);
        if !self.is_begun {
            (events, n_resumed) = state.lease_events(request, now, due);
            state.record(now, &events);
        }
        let (mut was_interrupted, mut is_over, before) = (false, false, watch.n_arms);
        let more = state.ask_more(request, self.left - n_resumed, now, &mut || {
            was_interrupted = is_interrupted();
            is_over = watch.is_over();
            watch.n_arms += u32::from(!was_interrupted && !is_over);
            !was_interrupted && !is_over
        });
        if was_interrupted {
            return Err(StoreError::Interrupted);
        }
        events.extend(more);
        let n_arms = n_resumed + (watch.n_arms - before) as usize;
        let then = Self { is_begun: true, left: self.left - n_arms };
        Ok(Slice { events, then, is_last: !is_over || then.left == 0 })
    }
}

/// Ends the leases of tickets that nobody has received.
pub(crate) fn take_back(campaign: &mut Campaign, tickets: &[TicketId]) -> Result<(), StoreError> {
    if tickets.is_empty() { Ok(()) } else { campaign.expire(tickets).map(drop) }
}

impl Campaign {
    /// How long decisions may exclude other writers.
    pub(crate) fn lock_limit(&self) -> Duration {
        let (least, most) = LOCK_LIMITS;
        self.commit_time.clamp(least, most)
    }

    /// Whether a decision takes so long that it is made outside transactions.
    pub(crate) fn is_slow(&self) -> bool {
        let first_guess = || {
            let numbers = self.arm_names().len().saturating_mul(self.columns().len().max(1));
            FIRST_GUESS.saturating_mul(u32::try_from(numbers).unwrap_or(u32::MAX))
        };
        self.decision_time.unwrap_or_else(first_guess) > self.lock_limit()
    }
}
