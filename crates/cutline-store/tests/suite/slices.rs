//! A long ask is written in slices: others write in between, nothing is lost when it is cut short, and the tickets are the same. Also
//! several operations in one transaction. On memory, SQLite and PostgreSQL.

use crate::common::{PATIENCE, Place, candidates, reward, settings, wait_for};
use cutline::Rng;
use cutline::rules::{Choice, CustomRule, NamedRule, RuleContext};
use cutline_campaign::{AnyCampaign, CampaignError, Event, Operation, Origin, Record, Request, RequestKey, Submission};
use cutline_store::{Campaign, Group, Store, StoreError};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const LEASE: Duration = Duration::from_hours(1);

contract! {
    others_write_while_an_ask_decides,
    a_slow_decision_excludes_nobody,
    a_repeated_ask_has_the_tickets_of_all_slices,
    an_abandoned_ask_names_its_tickets,
    slices_hand_out_what_one_ask_does,
    an_interrupted_ask_leaves_no_ticket,
    a_rule_that_panics_late_leaves_no_ticket,
    operations_are_applied_together_and_refused_alone,
}

/// How long a choice takes in milliseconds, what happens during the next one, and after how many choices the rule panics.
#[derive(Clone)]
struct Settable {
    milliseconds: Arc<AtomicU64>,
    meanwhile: Arc<Mutex<Option<Meanwhile>>>,
    choices_left: Arc<AtomicU32>,
}

type Meanwhile = Box<dyn FnOnce() + Send>;

impl Settable {
    fn new(milliseconds: u64) -> Self {
        let milliseconds = Arc::new(AtomicU64::new(milliseconds));
        Self { milliseconds, meanwhile: Arc::default(), choices_left: Arc::new(AtomicU32::new(u32::MAX)) }
    }

    fn rule(&self) -> NamedRule {
        let settable = self.clone();
        NamedRule::new("takes-its-time", move || Box::new(TakesItsTime(settable.clone()))).unwrap()
    }

    fn begin(&self, store: &Store, name: &str, budget: u32) -> Campaign {
        let mut settings = settings(budget);
        settings.custom_rule = Some(self.rule());
        // The mixed model would choose some arms itself.
        settings.parameters.insert("explore".into(), 0.0);
        store.begin(name, &settings, candidates()).unwrap()
    }
}

/// Pulls an arm that depends on all pulls and rewards so far, after a while.
struct TakesItsTime(Settable);

impl CustomRule for TakesItsTime {
    fn choose(&mut self, context: &mut dyn RuleContext, _: &mut Rng) -> Choice {
        std::thread::sleep(Duration::from_millis(self.0.milliseconds.load(Ordering::Relaxed)));
        let meanwhile = self.0.meanwhile.lock().unwrap().take();
        if let Some(meanwhile) = meanwhile {
            meanwhile();
        }
        if self.0.choices_left.fetch_sub(1, Ordering::Relaxed) == 0 {
            resume_unwind(Box::new("no arm"));
        }
        let pulls = context.pulls();
        let sum: u32 = pulls.iter().zip(1..).map(|(pulls, arm)| pulls * arm).sum();
        Choice::Pull((sum as usize * 7 + 3) % pulls.len())
    }
}

fn asked(records: &[Record]) -> Vec<(u64, usize)> {
    let asked = |record: &Record| match record.event {
        Event::Asked { ticket, arm, .. } => Some((ticket, arm)),
        _ => None,
    };
    records.iter().filter_map(asked).collect()
}

/// With decisions of 25 ms, which are made outside transactions, and of 2 ms, which are not.
fn others_write_while_an_ask_decides(store: &Store) {
    for (name, milliseconds, n) in [("slow", 25, 40), ("fast", 2, 250)] {
        let settable = Settable::new(0);
        let mut asker = settable.begin(store, name, 300);
        let mut teller = store.clone().with_rule(settable.rule()).campaign(Some(name)).unwrap();
        let tickets = teller.ask(40, "teller", LEASE).unwrap();
        settable.milliseconds.store(milliseconds, Ordering::Relaxed);
        asker.progress().unwrap();
        std::thread::scope(|scope| {
            let ask = scope.spawn(|| asker.ask(n, "asker", LEASE).unwrap());
            // After each reward, the next one waits until the ask has gone on or has ended.
            for ticket in tickets {
                teller.tell(&[(ticket.number, reward(ticket.number, &ticket.features))]).unwrap();
                let n_open = teller.progress().unwrap().open;
                wait_for("slice", || ask.is_finished() || teller.progress().unwrap().open > n_open);
            }
            assert_eq!(ask.join().unwrap().len(), n);
        });
        let records = teller.events(0).unwrap();
        let of_asker = |record: &Record| matches!(&record.event, Event::Asked { worker, .. } if worker == "asker");
        let first = records.iter().position(of_asker).unwrap();
        let last = records.iter().rposition(of_asker).unwrap();
        let between = records[first..last].iter().filter(|record| matches!(record.event, Event::Told { .. })).count();
        assert!(between >= 5, "{name}: {between} rewards were recorded during the ask");
        // The arms are a function of the events before them: a plain replay chooses the same.
        settable.milliseconds.store(0, Ordering::Relaxed);
        let mut replay = settable.begin(store, &format!("{name}, replayed"), 300);
        let state = replay.state().unwrap();
        for record in &records {
            if let Event::Asked { worker, until, .. } = &record.event {
                let request = Request::new(1, worker, until - record.at);
                let expected = std::slice::from_ref(&record.event);
                assert_eq!(state.next_tickets(&request, record.at), expected, "{name}: event {}", record.number);
            }
            state.extend(std::slice::from_ref(record)).unwrap();
        }
    }
}

/// However long a single decision takes, alone or in a group: it ends when another handle has told a reward.
fn a_slow_decision_excludes_nobody(store: &Store) {
    for (name, is_group) in [("alone", false), ("in a group", true)] {
        let settable = Settable::new(25);
        let mut asker = settable.begin(store, name, 300);
        let mut teller = store.clone().with_rule(settable.rule()).campaign(Some(name)).unwrap();
        let tickets = teller.ask(2, "teller", LEASE).unwrap();
        // From then on it knows that its decisions are slow.
        asker.ask(1, "asker", LEASE).unwrap();
        let ((start, is_started), (done, is_done)) = (channel(), channel());
        let was_told = Arc::new(Mutex::new(None));
        let result = Arc::clone(&was_told);
        *settable.meanwhile.lock().unwrap() = Some(Box::new(move || {
            start.send(()).unwrap();
            *result.lock().unwrap() = Some(is_done.recv_timeout(PATIENCE).is_ok());
        }));
        std::thread::scope(|scope| {
            let first = tickets[0].number;
            scope.spawn(move || {
                is_started.recv().unwrap();
                teller.tell(&[(first, 0.5)]).unwrap();
                // If it took too long, nobody waits.
                done.send(()).ok();
            });
            if is_group {
                let tell = Operation::Tell(vec![(tickets[1].number, vec![0.5])]);
                let done = asker.perform(&[ask_of(1, "asker"), tell].map(submission)).unwrap();
                assert_eq!(done[0].as_ref().unwrap().tickets.len(), 1);
                assert_eq!(done[1].as_ref().unwrap().n_events, 1);
            } else {
                assert_eq!(asker.ask(1, "asker", LEASE).unwrap().len(), 1);
            }
        });
        assert_eq!(*was_told.lock().unwrap(), Some(true), "{name}: others were excluded by the decision");
    }
}

fn ask_of(n: usize, worker: &str) -> Operation {
    Operation::Ask { n, replicates: 1, worker: worker.into(), lease: 3_600_000, resume: false }
}

/// The slices of a request with a key belong together, whatever others write in between.
fn a_repeated_ask_has_the_tickets_of_all_slices(store: &Store) {
    let settable = Settable::new(12);
    let mut asker = settable.begin(store, "slow", 300);
    let mut other = store.clone().with_rule(settable.rule()).campaign(Some("slow")).unwrap();
    let key = RequestKey { key: "k".into(), fingerprint: "ask for 8".into() };
    let origin = Origin { author: Some("anna".into()), key: Some(key) };
    let request = Submission { operation: ask_of(8, "asker"), origin };
    let mut group = Group::default();
    group.push(request.clone(), "first");
    group.push(request.clone(), "again");
    let mut finished = Vec::new();
    while !group.is_empty() {
        finished.extend(asker.advance(&mut group, &|| false).unwrap());
        other.ask(1, "other", LEASE).unwrap();
    }
    let outcomes: Vec<_> = finished.iter().map(|finished| (finished.tag, finished.outcome.as_ref().unwrap())).collect();
    let [("first", first), ("again", again)] = outcomes[..] else { panic!("{outcomes:?}") };
    let numbers: Vec<u64> = first.tickets.iter().map(|ticket| ticket.number).collect();
    assert_eq!((numbers.len(), first.n_events), (8, 8));
    assert!(numbers.windows(2).any(|pair| pair[1] > pair[0] + 1), "{numbers:?}: another asked in between");
    assert_eq!((&again.tickets, again.is_repeated), (&first.tickets, true), "it waits for the first");
    let later = other.perform(&[request]).unwrap().pop().unwrap().unwrap();
    assert_eq!((&later.tickets, later.is_repeated), (&first.tickets, true));
    let records = other.events(0).unwrap();
    let of_asker = |record: &&Record| matches!(&record.event, Event::Asked { worker, .. } if worker == "asker");
    let events: Vec<u64> = records.iter().filter(of_asker).map(|record| record.number).collect();
    let authors = other.authors(1, records.len() as u64).unwrap();
    assert_eq!(authors.iter().flat_map(|range| range.first..=range.last).collect::<Vec<_>>(), events);
}

/// Somebody who does not wait any more gets no tickets, and what was handed out so far is known.
fn an_abandoned_ask_names_its_tickets(store: &Store) {
    let mut asker = Settable::new(12).begin(store, "slow", 300);
    let mut group = Group::default();
    group.push(submission(ask_of(30, "asker")), ());
    while asker.progress().unwrap().open < 5 {
        assert!(asker.advance(&mut group, &|| false).unwrap().is_empty());
    }
    assert!(group.abandon(|_, ()| false).is_empty() && !group.is_empty());
    assert_eq!(group.abandon(|_, ()| true), asked(&asker.events(0).unwrap()).iter().map(|a| a.0).collect::<Vec<_>>());
    assert!(group.is_empty());
}

/// Among 100,000 candidates on the default model, others tell rewards while a group of asks is decided.
#[test]
fn others_write_while_a_large_group_decides() {
    const N_ARMS: u32 = 100_000;
    let place = Place::sqlite();
    let store = Store::create(&format!("{}?durability=normal", place.address)).unwrap();
    let names = (0..N_ARMS).map(|arm| format!("arm {arm}")).collect();
    let columns = (0..8).map(|column| format!("x{column}")).collect();
    let features = (0..N_ARMS * 8).map(|i| f64::from((i % 9973) * 7919 % 9973) / 9973.0).collect();
    let candidates = cutline_campaign::Candidates::new(names, columns, features).unwrap();
    let mut asker = store.begin("large", &settings(N_ARMS), candidates).unwrap();
    let mut teller = store.campaign(Some("large")).unwrap();
    let tickets = teller.ask(40, "teller", LEASE).unwrap();
    teller.tell(&tickets[..20].iter().map(|ticket| (ticket.number, 0.1)).collect::<Vec<_>>()).unwrap();
    asker.ask(1, "asker", LEASE).unwrap();
    let begun = asker.state().unwrap().n_events();
    std::thread::scope(|scope| {
        let asks: Vec<Submission> = (0..20).map(|_| submission(ask_of(5, "asker"))).collect();
        let ask = scope.spawn(move || asker.perform(&asks).unwrap());
        for ticket in &tickets[20..] {
            teller.tell(&[(ticket.number, reward(ticket.number, &ticket.features[..3]))]).unwrap();
        }
        assert!(ask.join().unwrap().iter().all(|outcome| outcome.as_ref().unwrap().tickets.len() == 5));
    });
    let records = teller.events(begun).unwrap();
    let is_asked = |record: &Record| matches!(&record.event, Event::Asked { .. });
    let (first, last) = (records.iter().position(is_asked).unwrap(), records.iter().rposition(is_asked).unwrap());
    let between = records[first..last].iter().filter(|record| !is_asked(record)).count();
    // If the group kept others from writing, there would be none. How many there are depends on how long a tell takes beside the asks.
    assert!(between >= 1, "none of 20 rewards was recorded during the asks");
}

fn slices_hand_out_what_one_ask_does(store: &Store) {
    let mut all = Vec::new();
    for (name, milliseconds) in [("at once", 0), ("in slices", 2), ("one by one", 12)] {
        let mut campaign = Settable::new(milliseconds).begin(store, name, 90);
        campaign.ask(2, "first", Duration::ZERO).unwrap();
        let request = Request { replicates: 2, ..Request::new(40, "w", 1) };
        let tickets = campaign.ask_unless(&request, &|| false).unwrap();
        let numbers: Vec<u64> = tickets.iter().map(|ticket| ticket.number).collect();
        assert_eq!(numbers, (0..40).map(|i| 3 + 2 * i).collect::<Vec<_>>(), "{name}");
        assert!(tickets.iter().all(|ticket| ticket.replicates == 2 && ticket.features == candidates().row(ticket.arm)));
        let records = campaign.events(0).unwrap();
        assert_eq!(campaign.progress().unwrap().expired, 2, "{name}: its own short leases are left alone");
        let n_times = records.iter().map(|record| record.at).collect::<std::collections::BTreeSet<_>>().len();
        assert!(milliseconds == 0 || n_times > 2, "{name}: {n_times} times");
        all.push(asked(&records));
    }
    assert_eq!(all[0], all[1]);
    assert_eq!(all[0], all[2]);
}

fn an_interrupted_ask_leaves_no_ticket(store: &Store) {
    for (name, milliseconds) in [("in slices", 4), ("one by one", 20)] {
        let mut campaign = Settable::new(milliseconds).begin(store, name, 90);
        let open = campaign.ask(2, "other", LEASE).unwrap();
        let calls = AtomicU32::new(0);
        let is_interrupted = || calls.fetch_add(1, Ordering::Relaxed) >= 30;
        let done = campaign.ask_unless(&Request::new(80, "w", 3_600_000), &is_interrupted);
        assert!(matches!(done, Err(StoreError::Interrupted)), "{done:?}");
        let mut again = campaign;
        let progress = again.progress().unwrap();
        assert_eq!(progress.open, open.len(), "{name}: {progress:?}");
        assert!(progress.expired > 0, "{name}: some slices were written: {progress:?}");
    }
    let mut campaign = Settable::new(0).begin(store, "at once", 90);
    let done = campaign.ask_unless(&Request::new(80, "w", 3_600_000), &|| true);
    assert!(matches!(done, Err(StoreError::Interrupted)), "{done:?}");
    assert_eq!(campaign.progress().unwrap().events, 0);
}

fn a_rule_that_panics_late_leaves_no_ticket(store: &Store) {
    let settable = Settable::new(20);
    let mut campaign = settable.begin(store, "screen", 90);
    settable.choices_left.store(8, Ordering::Relaxed);
    assert!(catch_unwind(AssertUnwindSafe(|| campaign.ask(20, "w", LEASE))).is_err());
    settable.choices_left.store(u32::MAX, Ordering::Relaxed);
    let progress = campaign.progress().unwrap();
    assert_eq!(progress.open, 0, "{progress:?}");
    assert!(progress.expired > 0, "some slices were written: {progress:?}");
}

/// The store is gone before the second half of an ask.
#[test]
fn a_failure_in_a_later_slice_returns_the_tickets_so_far() {
    let place = Place::sqlite();
    let mut campaign = Settable::new(20).begin(&Store::create(&place.address).unwrap(), "screen", 90);
    let calls = AtomicU32::new(0);
    let is_interrupted = || {
        if calls.fetch_add(1, Ordering::Relaxed) == 10 {
            std::fs::remove_file(&place.address).unwrap();
        }
        false
    };
    let tickets = campaign.ask_unless(&Request::new(80, "w", 3_600_000), &is_interrupted).unwrap();
    assert!((1..80).contains(&tickets.len()), "{} tickets", tickets.len());
    assert!(campaign.ask(1, "w", LEASE).unwrap_err().is_store_gone());
}

fn submission(operation: Operation) -> Submission {
    Submission { operation, origin: Origin::default() }
}

fn operations_are_applied_together_and_refused_alone(store: &Store) {
    let begin = |name: &str| store.begin(name, &settings(30), candidates()).unwrap();
    let (mut grouped, mut single) = (begin("grouped"), begin("single"));
    for campaign in [&mut grouped, &mut single] {
        campaign.ask(8, "first", LEASE).unwrap();
    }
    let ask = |n| Operation::Ask { n, replicates: 2, worker: "w".into(), lease: 3_600_000, resume: false };
    let renew = || Operation::Renew(vec![7], 7_200_000);
    let tell = |rewards: &[(u64, f64)]| Operation::Tell(rewards.iter().map(|&(t, reward)| (t, vec![reward])).collect());
    let done = grouped
        .perform(
            &[
                tell(&[(1, 0.5), (2, 0.25)]),
                tell(&[(3, 0.5), (1, 0.75)]),
                ask(2),
                Operation::Fail(vec![(4, "spilt".into())]),
                tell(&[(4, 1.0)]),
                Operation::Expire(vec![5, 5, 1]),
                Operation::Expire(vec![6, 99]),
                renew(),
                Operation::Tell(vec![(9, vec![0.5, 0.75])]),
                Operation::Tell(vec![(9, vec![0.5, 0.75, 1.0])]),
                ask(1),
            ]
            .map(submission),
        )
        .unwrap();
    single.tell(&[(1, 0.5), (2, 0.25)]).unwrap();
    let request = Request { replicates: 2, ..Request::new(2, "w", 3_600_000) };
    let expected = single.ask_unless(&request, &|| false).unwrap();
    single.fail(4, "spilt").unwrap();
    single.expire(&[5]).unwrap();
    single.perform(&[submission(renew())]).unwrap();
    single.tell_replicates(9, &[0.5, 0.75]).unwrap();
    single.ask_unless(&Request { n: 1, ..request }, &|| false).unwrap();
    let changed = [0, 3, 5, 8].map(|position: usize| done[position].as_ref().unwrap().n_events);
    assert_eq!(changed, [2, 1, 1, 2]);
    let refusal = |position: usize| match &done[position] {
        Err(StoreError::CampaignError(refusal)) => *refusal,
        other => panic!("{other:?}"),
    };
    assert_eq!(refusal(1), CampaignError::OtherReward { ticket: 1, told: 0.5, reward: 0.75 }, "neither is told");
    assert_eq!(refusal(4), CampaignError::Failed { ticket: 4 });
    assert_eq!(refusal(6), CampaignError::NoTicket { ticket: 99, last: 12 }, "neither is expired");
    assert_eq!(refusal(9), CampaignError::TooManyRewards { ticket: 9, replicates: 2, rewards: 3 });
    let tickets = &done[2].as_ref().unwrap().tickets;
    let seen = |tickets: &[cutline_campaign::Ticket]| {
        tickets.iter().map(|t| (t.number, t.arm, t.name.clone(), t.features.clone(), t.replicates)).collect::<Vec<_>>()
    };
    assert_eq!(seen(tickets), seen(&expected));
    let renewed = &done[7].as_ref().unwrap().tickets;
    assert_eq!((renewed[0].number, &renewed[0].features[..]), (7, candidates().row(renewed[0].arm)));
    let without_times = |campaign: &mut Campaign| -> Vec<Event> {
        let events = campaign.events(0).unwrap().into_iter().map(|record| record.event);
        let strip = |event| match event {
            Event::Asked { ticket, arm, worker, replicate_of, .. } => {
                Event::Asked { ticket, arm, worker, until: 0, replicate_of }
            }
            Event::Renewed { ticket, .. } => Event::Renewed { ticket, until: 0 },
            other => other,
        };
        events.map(strip).collect()
    };
    assert_eq!(without_times(&mut grouped), without_times(&mut single));
    let is_asked = |record: &&Record| matches!(record.event, Event::Asked { .. });
    let records = grouped.events(8).unwrap();
    let together: std::collections::BTreeSet<u64> =
        records.iter().filter(|record| !is_asked(record)).map(|record| record.at).collect();
    assert_eq!(together.len(), 1, "one moment, one transaction");
    assert_eq!(grouped.verdicts().unwrap(), single.verdicts().unwrap());
}
