//! Leases: what happens to late rewards, and to tickets when a clock is wrong; on memory, SQLite and PostgreSQL.

use crate::common::{Place, candidates, settings, wait_for};
use cutline::StopReason;
use cutline_campaign::{AnyCampaign, Operation, Request, Time};
use cutline_store::{Campaign, Clock, Store, SystemClock};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const HOUR: Duration = Duration::from_hours(1);

contract! {
    no_late_reward_is_lost,
    a_jump_of_the_clock_ends_no_lease,
    a_lease_ends_in_its_time,
}

/// A clock that tests move.
struct Moved(Mutex<(Time, Duration)>);

impl Moved {
    fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new((SystemClock.now(), Duration::ZERO))))
    }

    /// Sets the clock ahead.
    fn jump(&self, by: Duration) {
        self.0.lock().unwrap().0 += u64::try_from(by.as_millis()).unwrap();
    }

    /// Lets time pass.
    fn pass(&self, time: Duration) {
        self.jump(time);
        self.0.lock().unwrap().1 += time;
    }
}

impl Clock for Moved {
    fn now(&self) -> Time {
        self.0.lock().unwrap().0
    }

    fn monotonic(&self) -> Duration {
        self.0.lock().unwrap().1
    }
}

fn begin(store: &Store, budget: u32) -> Campaign {
    store.begin("screen", &settings(budget), candidates()).unwrap()
}

fn numbers(campaign: &mut Campaign, n: usize, worker: &str, lease: Duration) -> Vec<u64> {
    campaign.ask(n, worker, lease).unwrap().iter().map(|ticket| ticket.number).collect()
}

fn no_late_reward_is_lost(store: &Store) {
    let mut slow = begin(store, 3);
    let late = numbers(&mut slow, 3, "slow", Duration::ZERO);
    let mut fast = store.campaign(None).unwrap();
    let again = numbers(&mut fast, 3, "fast", HOUR);
    assert_eq!((&late[..], &again[..]), (&[1, 2, 3][..], &[4, 5, 6][..]), "the whole budget was handed out again");
    assert_eq!(slow.tell(&[(1, 0.5), (2, 0.25)]).unwrap(), 2, "no reward has taken their place");
    assert_eq!(slow.progress().unwrap().counted, 2);
    assert!(numbers(&mut fast, 1, "fast", HOUR).is_empty(), "two rewards and three open tickets are more than three");
    // Three rewards count; those of open tickets and late ones are kept all the same.
    assert_eq!(fast.tell(&[(4, 0.5), (5, 0.5)]).unwrap(), 2);
    assert_eq!(slow.tell(&[(3, 0.75)]).unwrap(), 1);
    assert_eq!(fast.tell(&[(6, 0.5)]).unwrap(), 1);
    let progress = store.campaign(None).unwrap().progress().unwrap();
    assert_eq!((progress.counted, progress.uncounted, progress.open, progress.expired), (3, 3, 0, 0));
    assert_eq!(fast.stop_reason().unwrap(), Some(StopReason::Budget));
    assert_eq!(fast.verdicts().unwrap().iter().map(|verdict| verdict.pulls).sum::<u32>(), 6);
    // A change that leaves the budget alone is not refused, and a larger budget counts what came late.
    let change = cutline_campaign::Change::new().with("threshold", 0.3);
    assert!(fast.change(&change).unwrap());
    assert!(fast.change(&cutline_campaign::Change::new().with("budget", 8)).unwrap());
    let progress = slow.progress().unwrap();
    assert_eq!((progress.counted, progress.uncounted), (6, 0));
}

/// A handle that was open before its clock was set ahead by three hours, while another worker has a ticket.
fn a_jump_of_the_clock_ends_no_lease(store: &Store) {
    begin(store, 3);
    let clock = Moved::new();
    let mut jumping = store.clone().with_clock(clock.clone()).campaign(None).unwrap();
    let mut other = store.campaign(None).unwrap();
    let theirs = numbers(&mut other, 2, "other", HOUR);
    clock.jump(3 * HOUR);
    assert_eq!(numbers(&mut jumping, 3, "jumping", HOUR), [3], "the others are out");
    assert_eq!(jumping.progress().unwrap().expired, 0);
    assert_eq!(other.tell(&[(theirs[0], 0.5), (theirs[1], 0.5)]).unwrap(), 2);
}

/// On PostgreSQL time is that of the server, whatever the clocks of the clients say; elsewhere that of the clock.
fn a_lease_ends_in_its_time(store: &Store) {
    begin(store, 1);
    let clock = Moved::new();
    let with_clock = store.clone().with_clock(clock.clone());
    let mut campaign = with_clock.campaign(None).unwrap();
    let is_server = format!("{store:?}").contains("postgresql://");
    assert_eq!(numbers(&mut campaign, 1, "one", HOUR), [1]);
    clock.pass(HOUR / 2);
    assert_eq!(numbers(&mut campaign, 1, "two", HOUR), [0_u64; 0]);
    clock.pass(HOUR);
    if is_server {
        // A handle that was just opened, with a clock that is a day ahead.
        clock.jump(24 * HOUR);
        let mut ahead = with_clock.campaign(None).unwrap();
        assert!(numbers(&mut ahead, 1, "three", HOUR).is_empty());
        let at = ahead.events(0).unwrap()[0].at;
        assert!(at.abs_diff(SystemClock.now()) < 3_600_000, "{at} is not the time of the server");
        // What is left of the lease becomes a second of the server's time, and the clock of the client stands still.
        let renewed = Instant::now();
        ahead.perform(&[Operation::Renew(vec![1], 1000).into()]).unwrap().pop().unwrap().unwrap();
        wait_for("end of the lease", || !numbers(&mut campaign, 1, "two", HOUR).is_empty());
        assert!(renewed.elapsed() >= Duration::from_millis(900), "the lease ended early");
    } else {
        assert_eq!(numbers(&mut campaign, 1, "two", HOUR), [2], "the lease has ended");
    }
    let request = Request { resume: true, ..Request::new(1, "two", 1) };
    assert_eq!(campaign.ask_unless(&request, &|| false).unwrap()[0].number, 2);
}
