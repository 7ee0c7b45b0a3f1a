//! Corrections and changes in the course of a campaign: corrected rewards, withdrawn arms, replicates, resumed tickets, another budget.

use crate::common;

use crate::common::{Problem, assert_replayed, spec, take};
use cutline::{ALGORITHMS, Arms, Purpose, Question, Rng, Spec, StopCriterion, StopReason, below, stream};
use cutline_campaign::{
    CampaignError, CampaignState, EarlyStop, Event, Record, Request, Terms, TicketId, TicketStatus,
};

fn terms(spec: Spec, budget: u32) -> Terms {
    let noise = spec.algorithm().needs_fixed_noise.then_some(0.6);
    Terms { noise, delta: 0.1, rewards: None, seed: 3, ..Terms::new(Question::new(0.1, 0.01).unwrap(), spec, budget) }
}

fn apt(n_arms: usize, budget: u32) -> CampaignState {
    CampaignState::new(Arms::without_features(n_arms).unwrap(), terms(spec("apt"), budget)).unwrap()
}

/// The tickets and arms that were handed out by some events.
fn asked(events: &[Event]) -> Vec<(TicketId, usize)> {
    let asked = |event: &Event| match *event {
        Event::Asked { ticket, arm, .. } => Some((ticket, arm)),
        _ => None,
    };
    events.iter().filter_map(asked).collect()
}

/// A journal that takes a reward out twice is not one of a campaign.
#[test]
fn a_reward_that_is_void_cannot_be_declared_void_in_a_journal() {
    let voided = Event::Voided { ticket: 1, reason: "wrong".into() };
    let asked = Event::Asked { ticket: 1, arm: 0, worker: "w".into(), until: 9, replicate_of: None };
    let events = [asked, Event::Told { ticket: 1, reward: 0.5 }, voided.clone(), voided];
    let records: Vec<Record> = (1..).zip(events).map(|(number, event)| Record { number, at: 0, event }).collect();
    let broken = apt(2, 9).extend(&records).unwrap_err();
    assert_eq!((broken.number, broken.refusal), (4, CampaignError::Voided { ticket: 1 }));
}

/// A phase may be over because an arm was withdrawn or is available again, with no reward out that would begin the next one.
#[test]
fn no_learner_waits_for_rewards_that_are_not_out() {
    let arms = Arms::from_rows(&[[3.0, 0.1], [0.1, 1.0], [0.2, -0.3], [0.05, 0.05]]).unwrap();
    let orders = [[true, false], [false, true]];
    for (algorithm, is_withdrawn) in ALGORITHMS.iter().flat_map(|algorithm| orders.map(|order| (algorithm, order))) {
        for (pulls, changed) in (1..40).flat_map(|pulls| (0..4).map(move |arm| (pulls, arm))) {
            let mut learner = spec(algorithm.name).learner(&arms, Question::new(0.1, 0.0).unwrap(), 60, 0).unwrap();
            learner.set_withdrawn(changed, is_withdrawn[0]);
            for _ in 0..pulls {
                let Some(arm) = learner.ask() else { break };
                learner.tell(arm, [0.1, 0.12, 0.08, 0.11][arm]).unwrap();
            }
            learner.set_withdrawn(changed, is_withdrawn[1]);
            let goes_on = learner.propose().is_some() || learner.stop_reason().is_some();
            assert!(goes_on, "{}: {pulls} pulls, arm {changed} withdrawn: {is_withdrawn:?}", algorithm.name);
        }
    }
}

/// Plays a campaign in which rewards are corrected and arms withdrawn; returns its journal. No withdrawn arm is ever handed out.
fn changing(campaign: &mut CampaignState, problem: &Problem, seed: u64, steps: u64) -> Vec<Record> {
    let mut rng: Rng = stream(seed, Purpose::Noise, 0);
    let n_arms = problem.means.len();
    let (mut open, mut told, mut journal) = (Vec::<(TicketId, usize)>::new(), Vec::new(), Vec::<Record>::new());
    for now in 0..steps {
        let events: Vec<Event> = match below(&mut rng, 16) {
            0..5 => {
                let replicates = u32::try_from(1 + below(&mut rng, 3)).unwrap();
                let resume = below(&mut rng, 4) == 0;
                let request = Request { replicates, resume, ..Request::new(1 + below(&mut rng, 2), "w", 1_000_000) };
                campaign.ask_unless(&request, now, &|| false).unwrap()
            }
            5..11 if !open.is_empty() => {
                let (ticket, arm) = take(&mut open, &mut rng);
                told.push(ticket);
                let reward = problem.reward(arm, &mut rng);
                campaign.tell(ticket, reward, now).unwrap().into_iter().collect()
            }
            11 if !told.is_empty() => {
                let ticket = told[below(&mut rng, told.len())];
                let reward = problem.reward(0, &mut rng);
                campaign.amend(ticket, reward, "mistyped", now).unwrap().into_iter().collect()
            }
            12 if !told.is_empty() => {
                let ticket = take(&mut told, &mut rng);
                campaign.void(ticket, "wrong sample", now).unwrap().into_iter().collect()
            }
            13 => campaign.withdraw(below(&mut rng, n_arms), "broken", now).unwrap().into_iter().collect(),
            14 => campaign.restore(below(&mut rng, n_arms), now).unwrap().into_iter().collect(),
            _ => {
                let arm = below(&mut rng, n_arms);
                vec![campaign.observe(arm, problem.reward(arm, &mut rng), false, now).unwrap()]
            }
        };
        let withdrawn: Vec<usize> = campaign.withdrawn().map(|(arm, _)| arm).collect();
        for (ticket, arm) in asked(&events) {
            assert!(!withdrawn.contains(&arm), "arm {arm} is withdrawn");
            open.push((ticket, arm));
        }
        for event in events {
            journal.push(Record { number: journal.len() as u64 + 1, at: now, event });
        }
        let progress = campaign.progress();
        assert!(u64::from(progress.counted) + progress.open as u64 <= u64::from(progress.budget));
    }
    journal
}

#[test]
fn the_state_with_changes_does_not_depend_on_how_the_events_are_split() {
    let specs = ALGORITHMS.iter().map(|algorithm| spec(algorithm.name));
    for spec in specs.chain([spec("pivot").with_estimator("mixed").unwrap()]) {
        let problem = Problem::uniform(12, 3, 5);
        let context = format!("{} on {}", spec.name(), spec.estimator().name());
        let fresh = || CampaignState::new(problem.arms(), terms(spec.clone(), 150)).unwrap();
        let mut live = fresh();
        let journal = changing(&mut live, &problem, 9, 300);
        for kind in ["amended", "voided", "withdrawn", "restored", "renewed"] {
            assert!(journal.iter().any(|record| record.event.name() == kind), "{context}: nothing was {kind}");
        }
        assert_replayed(live, &journal, fresh, &context);
    }
}

/// A corrected campaign is one that got the right rewards in the first place.
#[test]
fn a_corrected_reward_replaces_the_one_that_was_told() {
    for spec in [spec("apt"), spec("linear-apt"), spec("pivot"), spec("pivot").with_estimator("mixed").unwrap()] {
        let problem = Problem::uniform(6, 2, 5);
        let context = format!("{} on {}", spec.name(), spec.estimator().name());
        let fresh = || CampaignState::new(problem.arms(), terms(spec.clone(), 150)).unwrap();
        let (mut corrected, mut right) = (fresh(), fresh());
        let mut rng: Rng = stream(4, Purpose::Noise, 0);
        let arms: Vec<usize> = (0..40).map(|_| below(&mut rng, 6)).collect();
        let rewards: Vec<f64> = arms.iter().map(|&arm| problem.reward(arm, &mut rng)).collect();
        let number = |position: usize| position as u64 + 1;
        let mut wrong = Vec::new();
        for (position, (&arm, &reward)) in arms.iter().zip(&rewards).enumerate() {
            let ticket = number(position);
            let ask = Event::Asked { ticket, arm, worker: "w".into(), until: 9, replicate_of: None };
            wrong.push(ask);
            let is_mistyped = position == 3 || position == 17;
            let told = if is_mistyped { 100.0 * reward } else { reward };
            wrong.push(Event::Told { ticket, reward: told });
            if position == 25 {
                continue;
            }
            right.observe(arm, reward, true, 0).unwrap();
        }
        let records: Vec<Record> = (1..).zip(wrong).map(|(number, event)| Record { number, at: 0, event }).collect();
        corrected.extend(&records).unwrap();
        for position in [3, 17] {
            let event = corrected.amend(number(position), rewards[position], "mistyped", 1).unwrap();
            assert_eq!(event.map(|event| event.name()), Some("amended"));
            assert_eq!(corrected.amend(number(position), rewards[position], "again", 1), Ok(None), "{context}");
            // The worker that told the first reward may tell it again.
            assert_eq!(corrected.tell(number(position), 100.0 * rewards[position], 1), Ok(None), "{context}");
        }
        assert!(corrected.void(26, "wrong sample", 1).unwrap().is_some());
        assert_eq!(corrected.void(26, "wrong sample", 1), Ok(None));
        assert_eq!(corrected.progress().counted, 39, "the budget has it back");
        for (one, other) in corrected.verdicts().iter().zip(right.verdicts()) {
            assert_eq!((one.pulls, one.side), (other.pulls, other.side), "{context}");
            common::assert_close(
                &[one.mean, one.lower, one.doubt],
                &[other.mean, other.lower, other.doubt],
                1e-9,
                &context,
            );
        }
    }
}

#[test]
fn what_cannot_be_corrected_is_refused() {
    let mut campaign = apt(2, 4);
    let [(first, _), (second, _)] = asked(&campaign.ask(2, "w", 0, 10))[..] else { panic!("two tickets") };
    campaign.tell(first, 1.0, 0).unwrap();
    assert_eq!(campaign.amend(second, 1.0, "", 0), Err(CampaignError::NotTold { ticket: second }));
    assert_eq!(campaign.void(9, "", 0), Err(CampaignError::NoTicket { ticket: 9, last: 2 }));
    assert!(matches!(campaign.amend(first, f64::NAN, "", 0), Err(CampaignError::NotAReward { .. })));
    campaign.void(first, "", 0).unwrap();
    assert_eq!(campaign.tell(first, 1.0, 0), Err(CampaignError::Voided { ticket: first }));
    assert_eq!(campaign.amend(first, 1.0, "", 0), Err(CampaignError::Voided { ticket: first }));
    assert_eq!(campaign.fail(first, "", 0), Ok(None));
    assert_eq!(campaign.withdraw(2, "", 0), Err(CampaignError::NoArm { arm: 2, n_arms: 2 }));
    assert_eq!(
        campaign.check_budget(0),
        Err(CampaignError::BudgetBelowUsed { budget: 0, used: cutline::Amount::units(1) })
    );
    assert_eq!(campaign.check_budget(1), Ok(()));
}

#[test]
fn a_withdrawn_arm_keeps_its_verdict_and_no_stop_waits_for_it() {
    let mut terms = terms(spec("apt"), 1_000);
    (terms.noise, terms.until_sure) = (Some(0.5), Some(EarlyStop::Sure(StopCriterion::Evidence)));
    let mut campaign = CampaignState::new(Arms::without_features(3).unwrap(), terms).unwrap();
    campaign.withdraw(1, "out of stock", 0).unwrap();
    assert_eq!(campaign.withdraw(1, "again", 0), Ok(None));
    assert_eq!(campaign.withdrawn().collect::<Vec<_>>(), [(1, "out of stock")]);
    while let Some(&(ticket, arm)) = asked(&campaign.ask(1, "w", 0, 10)).first() {
        campaign.tell(ticket, [2.0, 0.1, -2.0][arm], 0).unwrap();
    }
    assert_eq!(campaign.stop_reason(), Some(StopReason::Confidence));
    let verdicts = campaign.verdicts();
    assert_eq!(verdicts.iter().map(|verdict| verdict.is_withdrawn).collect::<Vec<_>>(), [false, true, false]);
    assert_eq!((verdicts[1].pulls, verdicts[1].is_decided()), (0, false));
    campaign.restore(1, 0).unwrap();
    assert_eq!(campaign.stop_reason(), None);
    assert_eq!(asked(&campaign.ask(1, "w", 0, 10))[0].1, 1, "it was never measured");
    for arm in 0..3 {
        campaign.withdraw(arm, "", 0).unwrap();
    }
    assert_eq!((campaign.stop_reason(), asked(&campaign.ask(1, "w", 0, 10))), (Some(StopReason::Withdrawn), vec![]));
}

#[test]
fn replicates_share_a_ticket_and_end_with_the_budget() {
    let mut campaign = apt(2, 5);
    let request = Request { replicates: 3, ..Request::new(2, "w", 10) };
    let events = campaign.ask_unless(&request, 0, &|| false).unwrap();
    assert_eq!(asked(&events), [(1, 0), (2, 0), (3, 0), (4, 1), (5, 1)], "the budget ends with the second replicate");
    assert_eq!((campaign.replicates(1), campaign.replicates(4)), (Ok(1..4), Ok(4..6)));
    assert_eq!((campaign.replicates(2), campaign.first_replicate(2)), (Ok(2..3), 1));
}

#[test]
fn a_worker_that_crashed_gets_its_tickets_again() {
    let mut campaign = apt(3, 9);
    let first = asked(&campaign.ask(2, "one", 0, 10));
    campaign.ask(1, "other", 0, 10);
    let request = Request { resume: true, ..Request::new(3, "one", 10) };
    // The lease has ended, but nobody else has taken the measurements over.
    let events = campaign.ask_unless(&request, 20, &|| false).unwrap();
    let renewed: Vec<_> = first.iter().map(|&(ticket, _)| Event::Renewed { ticket, until: 30 }).collect();
    assert_eq!(events[..2], renewed);
    assert_eq!(events[2], Event::Expired { ticket: 3 });
    assert_eq!(asked(&events).len(), 1, "two of three are its own");
    assert!(matches!(campaign.ticket(1).unwrap().2, TicketStatus::Open(30)));
    let (ticket, arm) = first[1];
    campaign.withdraw(arm, "spilt", 22).unwrap();
    let again = campaign.ask_unless(&request, 22, &|| false).unwrap();
    assert!(!again.contains(&Event::Renewed { ticket, until: 32 }), "its arm is withdrawn: {again:?}");
    assert_eq!(campaign.renew(1, 25, 10), Ok(Event::Renewed { ticket: 1, until: 35 }));
    assert_eq!(campaign.renew(3, 25, 10), Err(CampaignError::NotOpen { ticket: 3 }));
}
