//! Campaigns: random requests and random journals, against a plain model of tickets, budget and leases.

use crate::model::{Answer, Model};
use crate::numbers::{any, small};
use arbitrary::{Result, Unstructured};
use cutline::{Arms, EstimatorKind, Question, RewardKind, Spec, StopCriterion};
use cutline_campaign::{CampaignError, CampaignState, EarlyStop, Event, Record, Request, Terms, Time};
use std::collections::BTreeSet;

/// Algorithms with every kind of state: none, an order of the rewards, and variances. The mixed model is slow, so it is rare.
const ALGORITHMS: [(&str, Option<EstimatorKind>); 8] = [
    ("apt", None),
    ("pivot", None),
    ("random", None),
    ("lsa", None),
    ("lingame", None),
    ("hdoc", None),
    ("apt", Some(EstimatorKind::Ridge)),
    ("pivot", Some(EstimatorKind::Mixed)),
];

const WORKERS: [&str; 3] = ["a", "b", "a b"];

/// Plays a campaign, live or from a journal that may not be one.
pub fn check(data: &[u8]) {
    // An input that ends early ends the campaign.
    let _ = play(&mut Unstructured::new(data));
}

fn play(bytes: &mut Unstructured<'_>) -> Result<()> {
    let is_live = bytes.ratio(2, 3)?;
    let Some((arms, terms)) = campaign(bytes)? else { return Ok(()) };
    let fresh = || CampaignState::new(arms.clone(), terms.clone()).ok();
    let Some(state) = fresh() else { return Ok(()) };
    let is_bernoulli = terms.rewards == Some(RewardKind::Bernoulli);
    let model = Model::new(arms.n_arms(), terms.budget, is_bernoulli);
    if is_live {
        let mut live = Live { state, model, journal: Vec::new(), now: 0 };
        while !bytes.is_empty() && live.journal.len() < 300 {
            live.step(bytes)?;
        }
        let replayed = fresh().expect("the same terms");
        live.assert_replayed(replayed, bytes.int_in_range(1..=70).unwrap_or(64));
        Ok(())
    } else {
        journal(state, model, bytes)
    }
}

fn campaign(bytes: &mut Unstructured<'_>) -> Result<Option<(Arms, Terms)>> {
    let (name, estimator) = *bytes.choose(&ALGORITHMS)?;
    let (n_arms, dimension) = (bytes.int_in_range(1..=6_usize)?, bytes.int_in_range(1..=3_usize)?);
    let features: Result<Vec<f64>> = (0..n_arms * dimension).map(|_| small(bytes)).collect();
    let arms = Arms::from_slice(&features?, dimension).expect("finite features");
    let mut spec = Spec::named(name).expect("a name of the list");
    if let Some(estimator) = estimator {
        spec = spec.with_estimator(estimator.name()).expect("it fits the rule");
    }
    let is_bernoulli = bytes.ratio(1, 5)?;
    let threshold = if is_bernoulli { 0.5 } else { small(bytes)? };
    let until_sure = match bytes.int_in_range(0..=9)? {
        0 => Some(EarlyStop::Sure(StopCriterion::Intervals)),
        1 => Some(EarlyStop::Sure(StopCriterion::Evidence)),
        2 => Some(EarlyStop::ExpectedErrors(0.5)),
        _ => None,
    };
    let budget = bytes.int_in_range(1..=40)?;
    let terms = Terms {
        rewards: bytes.ratio(9, 10)?.then_some(if is_bernoulli { RewardKind::Bernoulli } else { RewardKind::Gaussian }),
        noise: (!is_bernoulli && bytes.arbitrary()?).then_some(0.5),
        until_sure,
        seed: bytes.arbitrary()?,
        ..Terms::new(Question::new(threshold, 0.01).expect("in range"), spec, budget)
    };
    Ok(Some((arms, terms)))
}

/// A campaign that is asked and told, and its model.
struct Live {
    state: CampaignState,
    model: Model,
    journal: Vec<Record>,
    now: Time,
}

impl Live {
    /// One request, of any kind.
    fn step(&mut self, bytes: &mut Unstructured<'_>) -> Result<()> {
        self.now = match bytes.int_in_range(0..=20_u8)? {
            0 => Time::MAX,
            1 => 0,
            passed => self.now.saturating_add(passed.into()),
        };
        let now = self.now;
        let n_tickets = self.model.tickets.len() as u64;
        let ticket = bytes.int_in_range(0..=n_tickets + 1)?;
        let arm = bytes.int_in_range(0..=6_usize)?;
        let Self { state, model, .. } = self;
        let only = |event: std::result::Result<Event, CampaignError>| event.map(Some);
        let (expected, done) = match bytes.int_in_range(0..=15_u8)? {
            0..=4 => return self.ask(bytes),
            5..=8 => {
                let reward = any(bytes)?;
                (model.tell(ticket, reward).of_request(reward), state.tell(ticket, reward, now))
            }
            9 => (model.close(ticket), state.fail(ticket, "lost", now)),
            10 => (model.close(ticket), state.expire(ticket, now)),
            11 => {
                let (reward, is_counted) = (any(bytes)?, bytes.arbitrary()?);
                (
                    model.observe(arm, reward, is_counted).of_request(reward),
                    only(state.observe(arm, reward, is_counted, now)),
                )
            }
            12 => {
                let reward = any(bytes)?;
                (model.amend(ticket, reward).of_request(reward), state.amend(ticket, reward, "typo", now))
            }
            13 => (model.void(ticket), state.void(ticket, "wrong", now)),
            14 if bytes.arbitrary()? => (model.withdraw(arm, true), state.withdraw(arm, "gone", now)),
            14 => (model.withdraw(arm, false), state.restore(arm, now)),
            _ => (model.renew(ticket), only(state.renew(ticket, now, bytes.int_in_range(0..=9)?))),
        };
        assert_eq!(Answer::of(&done), expected, "{done:?}");
        self.record(done.ok().flatten());
        self.model.assert_same(&self.state);
        Ok(())
    }

    fn record(&mut self, events: impl IntoIterator<Item = Event>) {
        for event in events {
            assert!(self.model.takes(&event), "{event:?} in {:?}", self.model);
            self.model.apply(self.now, &event);
            self.journal.push(Record { number: self.journal.len() as u64 + 1, at: self.now, event });
        }
    }

    fn ask(&mut self, bytes: &mut Unstructured<'_>) -> Result<()> {
        let request = Request {
            n: bytes.int_in_range(0..=5)?,
            replicates: bytes.int_in_range(0..=3)?,
            worker: bytes.choose(&WORKERS)?,
            lease: if bytes.ratio(1, 10)? { Time::MAX } else { bytes.int_in_range(0..=30)? },
            resume: bytes.arbitrary()?,
        };
        let (due, used) = (self.model.due(self.now), self.model.used());
        let events = self.state.ask_unless(&request, self.now, &|| false).expect("nobody interrupts");
        let before = self.model.clone();
        self.record(events.iter().cloned());
        self.assert_answered(&request, &before, &due, &events);
        self.model.assert_same(&self.state);
        assert!(self.model.used() <= before.budget.max(used), "the budget holds");
        Ok(())
    }

    /// First come the worker's own tickets, then those expire that are due, then measurements are handed out.
    fn assert_answered(&self, request: &Request<'_>, before: &Model, due: &[u64], events: &[Event]) {
        let until = self.now.saturating_add(request.lease);
        let (mut resumed, mut asked, mut expired, mut stage) = (BTreeSet::new(), BTreeSet::new(), Vec::new(), 0);
        for event in events {
            let (at, lease) = match *event {
                Event::Renewed { ticket, until } => {
                    let own = &before.tickets[usize::try_from(ticket).expect("few tickets") - 1];
                    assert!(request.resume && own.worker == request.worker && !before.withdrawn.contains(&own.arm));
                    resumed.insert(own.group);
                    (0, until)
                }
                Event::Expired { ticket } => {
                    expired.push(ticket);
                    (1, until)
                }
                Event::Asked { ticket, arm, ref worker, until, replicate_of } => {
                    assert!(!before.withdrawn.contains(&arm) && worker == request.worker);
                    asked.insert(replicate_of.unwrap_or(ticket));
                    (2, until)
                }
                ref other => panic!("{other:?} answers a request"),
            };
            assert!(at >= stage && lease == until, "{events:?}");
            stage = at;
        }
        assert!(resumed.len() + asked.len() <= request.n, "{request:?}: {events:?}");
        let renewed =
            |ticket: &u64| events.iter().any(|e| matches!(e, Event::Renewed { ticket: t, .. } if t == ticket));
        let expected: BTreeSet<u64> = due.iter().filter(|ticket| !renewed(ticket)).copied().collect();
        assert_eq!(expired.iter().copied().collect::<BTreeSet<u64>>(), expected, "{events:?}");
    }

    /// The state follows from the journal, however it is split.
    fn assert_replayed(mut self, mut replayed: CampaignState, piece: usize) {
        for records in self.journal.chunks(piece) {
            replayed.extend(records).expect("the events of a campaign");
        }
        self.model.assert_same(&replayed);
        assert_eq!(self.state.noise(), replayed.noise());
        let bits = |state: &mut CampaignState| -> Vec<_> {
            let verdicts = state.verdicts();
            assert!(
                verdicts.iter().all(|v| v.mean.is_finite() && v.lower <= v.upper && (0.0..=1.0).contains(&v.doubt))
            );
            verdicts.iter().map(|v| ([v.mean, v.lower, v.upper, v.doubt].map(f64::to_bits), v.side, v.pulls)).collect()
        };
        assert_eq!(bits(&mut self.state), bits(&mut replayed));
        assert_eq!(self.state.stop_reason(), replayed.stop_reason());
        self.state.decision_history(&self.journal, 3).expect("the events of a campaign");
        assert_eq!(self.state.ask(3, "w", self.now, 9), replayed.ask(3, "w", self.now, 9));
    }
}

/// Events that may be of no campaign are refused exactly where the model refuses them.
fn journal(mut state: CampaignState, mut model: Model, bytes: &mut Unstructured<'_>) -> Result<()> {
    let mut number = 1;
    while !bytes.is_empty() && number < 300 {
        let at = bytes.int_in_range(0..=99)?;
        let mut event = any_event(&model, bytes)?;
        // Mostly events that may follow, so that journals get long.
        while !model.takes(&event) && !bytes.is_empty() && bytes.ratio(7, 8)? {
            event = any_event(&model, bytes)?;
        }
        let is_taken = model.takes(&event);
        let done = state.extend(&[Record { number, at, event: event.clone() }]);
        assert_eq!(done.is_ok(), is_taken, "{event:?}: {done:?} after {model:?}");
        if !is_taken {
            // The state must not be used after that.
            return Ok(());
        }
        model.apply(at, &event);
        model.assert_same(&state);
        number += 1;
    }
    assert!(state.verdicts().iter().all(|verdict| verdict.mean.is_finite()));
    Ok(())
}

fn any_event(model: &Model, bytes: &mut Unstructured<'_>) -> Result<Event> {
    let n_tickets = model.tickets.len() as u64;
    let arm = if bytes.ratio(1, 20)? { bytes.arbitrary()? } else { bytes.int_in_range(0..=5)? };
    let ticket = if bytes.ratio(1, 20)? { bytes.arbitrary()? } else { bytes.int_in_range(1..=n_tickets.max(1))? };
    let reason = String::from("why");
    Ok(match bytes.int_in_range(0..=14_u8)? {
        0..=4 => {
            let ticket = if bytes.ratio(1, 20)? { ticket } else { n_tickets + 1 };
            let replicate_of = bytes.ratio(1, 4)?.then_some(bytes.arbitrary()?);
            let until = bytes.arbitrary()?;
            Event::Asked { ticket, arm, worker: (*bytes.choose(&WORKERS)?).into(), until, replicate_of }
        }
        5..=7 => Event::Told { ticket, reward: any(bytes)? },
        8 => Event::Failed { ticket, reason },
        9 => Event::Expired { ticket },
        10 => Event::Observed { arm, reward: any(bytes)?, is_counted: bytes.arbitrary()? },
        11 => Event::Amended { ticket, reward: any(bytes)?, reason },
        12 => Event::Voided { ticket, reason },
        13 => match bytes.int_in_range(0..=3_u8)? {
            0 => Event::Withdrawn { arm, reason },
            1 => Event::Restored { arm },
            2 => Event::Added { first: arm, n_arms: bytes.arbitrary()? },
            _ => Event::Changed { budget: bytes.int_in_range(0..=60)?, change: reason },
        },
        _ => Event::Renewed { ticket, until: bytes.arbitrary()? },
    })
}
