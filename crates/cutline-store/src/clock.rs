//! Clocks: when an event happens, and which leases have ended.

use cutline_campaign::Time;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// A clock for the events and leases of a store. PostgreSQL uses the time of its server instead of [`Clock::now`].
pub trait Clock: Send + Sync {
    /// Milliseconds since 1970. It may jump when somebody sets the clock.
    fn now(&self) -> Time;

    /// The time since some fixed moment. It never jumps.
    fn monotonic(&self) -> Duration;
}

/// The clock of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Time {
        cutline_campaign::now()
    }

    fn monotonic(&self) -> Duration {
        static START: OnceLock<Instant> = OnceLock::new();
        START.get_or_init(Instant::now).elapsed()
    }
}

/// How far a clock may be ahead before it is taken for a jump, in milliseconds.
const TOLERANCE: Time = 2_000;

/// Decides at which time leases are judged.
///
/// That is the time of the events, except after a jump forward: leases that would end by the jump alone are judged by the monotonic clock,
/// until none of them is left. A handle that was just opened has nothing to compare its clock with.
pub(crate) struct LeaseClock {
    clock: Arc<dyn Clock>,
    /// The last time that was believed, and the monotonic clock then.
    believed: Option<(Time, Duration)>,
}

impl LeaseClock {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, believed: None }
    }

    /// The time of an event that happens now; `server` is the time by the database's server, if it has one.
    pub(crate) fn now(&self, server: Option<Time>) -> Time {
        server.unwrap_or_else(|| self.clock.now())
    }

    /// The time at which to judge leases at the time `now`, where `leases` are the ends of the open ones in ascending order.
    pub(crate) fn due(&mut self, now: Time, mut leases: impl Iterator<Item = Time>) -> Time {
        let monotonic = self.clock.monotonic();
        if let Some((believed, then)) = self.believed {
            let elapsed = Time::try_from(monotonic.saturating_sub(then).as_millis()).unwrap_or(Time::MAX);
            let expected = believed.saturating_add(elapsed);
            let is_jump = now > expected.saturating_add(TOLERANCE);
            if is_jump && leases.any(|until| (expected + 1..=now).contains(&until)) {
                return expected;
            }
        }
        self.believed = Some((now, monotonic));
        now
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    struct Fake(Mutex<(Time, Duration)>);

    impl Clock for Fake {
        fn now(&self) -> Time {
            self.0.lock().unwrap().0
        }

        fn monotonic(&self) -> Duration {
            self.0.lock().unwrap().1
        }
    }

    #[test]
    fn a_jump_forward_ends_no_lease_that_time_has_not_ended() {
        let fake = Arc::new(Fake(Mutex::new((1_000_000, Duration::ZERO))));
        let pass = |wall: Time, real: u64| {
            let mut clock = fake.0.lock().unwrap();
            *clock = (clock.0 + wall, clock.1 + Duration::from_millis(real));
        };
        let mut clock = LeaseClock::new(fake.clone());
        let mut due = |leases: &[Time]| clock.due(fake.now(), leases.iter().copied());
        assert_eq!(due(&[1_000_500]), 1_000_000);
        pass(60_000, 60_000);
        assert_eq!(due(&[1_000_500, 1_200_000]), 1_060_000, "time that has passed ends leases");
        // The clock is set three hours ahead.
        pass(10_800_000 + 1_000, 1_000);
        assert_eq!(due(&[1_000_500, 1_200_000, 90_000_000]), 1_061_000);
        pass(138_000, 138_000);
        assert_eq!(due(&[1_200_000, 90_000_000]), 1_199_000, "the lease ends in its time");
        pass(2_000, 2_000);
        assert_eq!(due(&[1_200_000, 90_000_000]), 12_001_000, "no lease is in doubt, so the clock is believed again");
        // And back again.
        pass(0, 1_000);
        fake.0.lock().unwrap().0 -= 10_800_000;
        assert_eq!(due(&[90_000_000]), 1_201_000);
    }
}
