//! Measurements that cost different amounts: the budget is in units of cost, and holds exactly.

use crate::common::{Problem, assert_replayed, spec, take};
use cutline::{
    ALGORITHMS, Amount, Arms, EstimatorKind, LearnerError, MeasurementCosts, Purpose, Question, Spec, SpecError,
    StopReason, below, stream,
};
use cutline_campaign::{CampaignError, CampaignState, Event, Record, Request, Terms, TermsError, TicketId};

fn terms(spec: Spec, budget: u32) -> Terms {
    let noise = spec.algorithm().needs_fixed_noise.then_some(0.6);
    Terms { noise, delta: 0.1, rewards: None, seed: 3, ..Terms::new(Question::new(0.1, 0.01).unwrap(), spec, budget) }
}

fn priced(arms: Arms, costs: &[f64]) -> Arms {
    arms.with_measurement_costs(MeasurementCosts::new(costs).unwrap()).unwrap()
}

/// A campaign without features.
fn bare(costs: &[f64], budget: u32) -> CampaignState {
    let arms = priced(Arms::without_features(costs.len()).unwrap(), costs);
    CampaignState::new(arms, terms(spec("apt"), budget)).unwrap()
}

fn asked(events: &[Event]) -> Vec<(TicketId, usize)> {
    let asked = |event: &Event| match *event {
        Event::Asked { ticket, arm, .. } => Some((ticket, arm)),
        _ => None,
    };
    events.iter().filter_map(asked).collect()
}

/// What is spent and what is assigned to open tickets.
fn spending(campaign: &CampaignState) -> (f64, f64) {
    let spending = campaign.progress().spending.unwrap();
    (spending.spent.value(), spending.open.value())
}

#[test]
fn ten_tenths_are_one() {
    let mut campaign = bare(&[0.1, 0.2, 0.7], 1);
    assert_eq!(asked(&campaign.ask(9, "w", 0, 9)).len(), 3, "every arm once costs exactly the budget");
    assert_eq!((spending(&campaign), campaign.ask(1, "w", 0, 9).len()), ((0.0, 1.0), 0));
    let mut campaign = bare(&[0.1], 1);
    for (ticket, _) in asked(&campaign.ask(99, "w", 0, 9)) {
        campaign.tell(ticket, 0.5, 0).unwrap();
    }
    assert_eq!((campaign.progress().counted, spending(&campaign)), (10, (1.0, 0.0)));
    assert_eq!(campaign.stop_reason(), Some(StopReason::Budget));
    let mut campaign = bare(&[0.35], 1000);
    assert_eq!(asked(&campaign.ask(5000, "w", 0, 9)).len(), 2857);
}

#[test]
fn arms_that_do_not_fit_are_not_chosen() {
    let mut campaign = bare(&[1.0, 4.0], 7);
    let first = asked(&campaign.ask(2, "w", 0, 9));
    assert_eq!(first, [(1, 0), (2, 1)]);
    assert_eq!(asked(&campaign.ask(9, "w", 0, 9)), [(3, 0), (4, 0)], "2 are left, and arm 1 costs 4");
    assert_eq!((campaign.ask(9, "w", 0, 9).len(), campaign.stop_reason()), (0, None), "the open tickets may fail");
    campaign.fail(2, "lost", 0).unwrap();
    assert_eq!((spending(&campaign), campaign.progress().unassigned().value()), ((0.0, 3.0), 4.0));
    for (ticket, arm) in asked(&campaign.ask(9, "w", 0, 9)).into_iter().chain([(1, 0), (3, 0), (4, 0)]) {
        campaign.tell(ticket, [0.0, 1.0][arm], 0).unwrap();
    }
    assert_eq!((spending(&campaign), campaign.stop_reason()), ((7.0, 0.0), Some(StopReason::Budget)));
}

/// With 2.5 left and no arm that costs so little, the campaign has ended although the budget is not used to the last unit.
#[test]
fn a_campaign_ends_when_nothing_fits() {
    let mut campaign = bare(&[2.5, 3.0], 8);
    for (ticket, _) in asked(&campaign.ask(9, "w", 0, 9)) {
        campaign.tell(ticket, 0.3, 0).unwrap();
    }
    assert_eq!((spending(&campaign), campaign.stop_reason()), ((8.0, 0.0), Some(StopReason::Budget)));
    let mut campaign = bare(&[2.5, 3.0], 7);
    for (ticket, _) in asked(&campaign.ask(9, "w", 0, 9)) {
        campaign.tell(ticket, 0.3, 0).unwrap();
    }
    assert_eq!((spending(&campaign), campaign.stop_reason()), ((5.5, 0.0), Some(StopReason::Budget)));
    campaign.withdraw(0, "broken", 0).unwrap();
    campaign.withdraw(1, "broken", 0).unwrap();
    assert_eq!(campaign.stop_reason(), Some(StopReason::Withdrawn));
}

#[test]
fn corrections_give_costs_back() {
    let mut campaign = bare(&[1.5, 2.0], 6);
    let refused = CampaignError::BudgetBelowUsed { budget: 3, used: Amount::new(3.5).unwrap() };
    for (ticket, _) in asked(&campaign.ask(2, "w", 0, 9)) {
        campaign.tell(ticket, 0.3, 0).unwrap();
    }
    assert_eq!((campaign.check_budget(4), campaign.check_budget(3)), (Ok(()), Err(refused)));
    assert_eq!(refused.to_string(), "the budget cannot be 3: 3.5 of it are used, counting open tickets");
    campaign.void(2, "wrong sample", 0).unwrap();
    assert_eq!(spending(&campaign), (1.5, 0.0));
    campaign.observe(1, 0.3, false, 0).unwrap();
    campaign.observe(1, 0.3, true, 0).unwrap();
    campaign.observe(1, 0.3, true, 0).unwrap();
    assert_eq!(spending(&campaign), (5.5, 0.0), "earlier rewards count if they are said to");
    let error = campaign.observe(0, 0.3, true, 0).unwrap_err();
    assert_eq!(
        error.to_string(),
        "0.5 of the budget of 6 are left, counting open tickets, and this measurement costs 1.5"
    );
}

/// A late reward was paid for, so that it counts even beyond the budget; nothing more is handed out then.
#[test]
fn late_rewards_count_with_their_cost() {
    let mut campaign = bare(&[1.0, 2.0], 4);
    campaign.ask(2, "w", 0, 9);
    campaign.expire(2, 1).unwrap();
    campaign.observe(0, 0.3, true, 1).unwrap();
    assert_eq!(spending(&campaign), (1.0, 1.0));
    campaign.tell(2, 0.3, 2).unwrap();
    assert_eq!(spending(&campaign), (3.0, 1.0));
    campaign.expire(1, 3).unwrap();
    campaign.observe(0, 0.3, true, 3).unwrap();
    assert_eq!(spending(&campaign), (4.0, 0.0));
    campaign.tell(1, 0.3, 4).unwrap();
    assert_eq!((spending(&campaign), campaign.progress().counted), ((5.0, 0.0), 4));
    assert!(campaign.ask(1, "w", 5, 9).is_empty());
    assert_eq!(campaign.stop_reason(), Some(StopReason::Budget));
    assert_eq!((campaign.check_budget(4), campaign.check_budget(3).is_err()), (Ok(()), true));
}

#[test]
fn replicates_go_as_far_as_the_budget() {
    let mut campaign = bare(&[1.5], 5);
    let request = Request { replicates: 9, ..Request::new(1, "w", 9) };
    assert_eq!(asked(&campaign.ask_unless(&request, 0, &|| false).unwrap()).len(), 3);
}

#[test]
fn budgets_that_are_too_small_are_refused() {
    let refused = |name: &str, costs: &[f64], budget| {
        let arms = priced(Arms::from_rows(&[[1.0], [2.0]]).unwrap(), costs);
        match CampaignState::new(arms, terms(spec(name), budget)) {
            Err(TermsError::Spec(SpecError::Learner(error))) => Some(error),
            other => other.map(|_| None).unwrap(),
        }
    };
    let cost = Amount::new(3.5).unwrap();
    assert_eq!(refused("apt", &[1.0, 2.5], 3), Some(LearnerError::BudgetBelowCosts { budget: 3, n_arms: 2, cost }));
    assert_eq!(refused("apt", &[1.0, 2.5], 4), None);
    assert_eq!(refused("pivot", &[1.0, 2.5], 3), None, "it needs not pull every arm");
    let cost = Amount::new(1.5).unwrap();
    assert_eq!(refused("pivot", &[1.5, 2.5], 1), Some(LearnerError::BudgetBelowCheapest { budget: 1, cost }));
    assert!(Arms::without_features(3).unwrap().with_measurement_costs(MeasurementCosts::new(&[1.0]).unwrap()).is_err());
}

/// Every algorithm keeps to the budget, ends only when nothing more fits, and its state follows from its events. Some rewards fail, come late or
/// are taken out.
#[test]
fn every_algorithm_keeps_to_its_budget() {
    let problem = Problem::uniform(8, 2, 11);
    let costs: Vec<f64> = (0..8).map(|arm| f64::from(1 + arm * 3 % 8) * 0.35).collect();
    for algorithm in ALGORITHMS {
        let arms = || match algorithm.estimator {
            EstimatorKind::SampleMean => Arms::without_features(8).unwrap(),
            _ => problem.arms(),
        };
        let fresh = || CampaignState::new(priced(arms(), &costs), terms(spec(algorithm.name), 60)).unwrap();
        let mut campaign = fresh();
        let mut rng = stream(5, Purpose::Noise, 0);
        let (mut open, mut journal, mut told) = (Vec::new(), Vec::new(), Vec::new());
        let mut record = |events: Vec<Event>| {
            for event in events {
                journal.push(Record { number: journal.len() as u64 + 1, at: 0, event });
            }
        };
        for step in 0..4000 {
            let events = campaign.ask(1 + below(&mut rng, 3), "w", 0, 1_000_000);
            let is_stuck = events.is_empty() && open.is_empty();
            open.extend(asked(&events));
            record(events);
            let (spent, reserved) = spending(&campaign);
            assert!(spent + reserved <= 60.0 + 1e-9, "{}: {spent} and {reserved}", algorithm.name);
            if is_stuck {
                break;
            }
            assert!(step < 3999, "{} never ends", algorithm.name);
            let (ticket, arm) = take(&mut open, &mut rng);
            let event = match below(&mut rng, 12) {
                0 => campaign.fail(ticket, "lost", 0).unwrap(),
                1 if !told.is_empty() && step < 60 => {
                    open.push((ticket, arm));
                    campaign.void(take(&mut told, &mut rng), "wrong", 0).unwrap()
                }
                _ => {
                    told.push(ticket);
                    campaign.tell(ticket, problem.reward(arm, &mut rng), 0).unwrap()
                }
            };
            record(event.into_iter().collect());
        }
        let reason = campaign.stop_reason().unwrap_or_else(|| panic!("{} does not say why it ended", algorithm.name));
        let left = campaign.progress().remaining();
        let settled = campaign.verdicts().iter().filter(|verdict| verdict.settled_after.is_some()).count();
        assert!(
            reason != StopReason::Budget || settled > 0 || left < Amount::new(0.35).unwrap(),
            "{}: {left} are left",
            algorithm.name
        );
        assert_replayed(campaign, &journal, fresh, algorithm.name);
    }
}

/// Costs that are all 1 change nothing: the same arms, the same spending, the same end.
#[test]
fn equal_costs_change_nothing() {
    let problem = Problem::uniform(12, 3, 2);
    for algorithm in ALGORITHMS {
        let play = |arms: Arms| {
            let mut campaign = CampaignState::new(arms, terms(spec(algorithm.name), 40)).unwrap();
            let mut rng = stream(9, Purpose::Noise, 0);
            let mut arms = Vec::new();
            while let [(ticket, arm)] = asked(&campaign.ask(1, "w", 0, 9))[..] {
                campaign.tell(ticket, problem.reward(arm, &mut rng), 0).unwrap();
                arms.push(arm);
            }
            (arms, campaign.progress().counted, campaign.stop_reason())
        };
        let arms = match algorithm.estimator {
            EstimatorKind::SampleMean => Arms::without_features(12).unwrap(),
            _ => problem.arms(),
        };
        assert_eq!(play(priced(arms.clone(), &[1.0; 12])), play(arms), "{}", algorithm.name);
    }
}

/// Of two arms that tell the same, the cheaper one is measured, in whatever unit costs are given.
#[test]
fn pivot_measures_the_cheaper_of_two_equal_arms() {
    for unit in [1.0, 0.001, 700.0] {
        let arms = Arms::from_rows(&[[1.0, 0.3], [1.0, 0.3], [-0.4, 1.0], [-0.4, 1.0]]).unwrap();
        let costs = [5.0, 1.0, 2.0, 2.5].map(|cost| cost * unit);
        let budget = if unit < 1.0 { 1 } else { 40 * 1000 };
        let mut campaign = CampaignState::new(priced(arms, &costs), terms(spec("pivot"), budget)).unwrap();
        let mut pulls = [0; 4];
        for step in 0..20 {
            let (ticket, arm) = asked(&campaign.ask(1, "w", 0, 9))[0];
            campaign.tell(ticket, [0.4, 0.4, -0.1, -0.1][arm] + if step % 2 == 0 { 0.3 } else { -0.3 }, 0).unwrap();
            pulls[arm] += 1;
        }
        assert_eq!((pulls[0], pulls[3]), (0, 0), "{pulls:?}");
        assert!(pulls[1] > 0 && pulls[2] > 0, "{pulls:?}");
    }
}
