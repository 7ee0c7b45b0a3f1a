//! The history of decided arms, against campaigns that end at each of its points.

use crate::common::Problem;
use cutline::{Purpose, Question, Side, Spec, stream};
use cutline_campaign::{CampaignState, DecisionPoint, Event, Record, Terms};

const BUDGET: u32 = 90;

/// A campaign on 12 arms with some rewards observed before, then asked in batches of 5; and its journal.
fn played(algorithm: &str, noise: Option<f64>) -> (CampaignState, Vec<Record>) {
    let problem = Problem::uniform(12, 3, 5);
    let terms = Terms {
        rewards: None,
        noise,
        delta: 0.1,
        seed: 3,
        ..Terms::new(Question::new(0.1, 0.01).unwrap(), Spec::named(algorithm).unwrap(), BUDGET)
    };
    let mut campaign = CampaignState::new(problem.arms(), terms).unwrap();
    let mut rng = stream(8, Purpose::Noise, 0);
    let mut events = Vec::new();
    for arm in [0, 5, 5, 7] {
        events.push(campaign.observe(arm, problem.reward(arm, &mut rng), false, 0).unwrap());
    }
    loop {
        let asked = campaign.ask(5, "w", 1, 1000);
        if asked.is_empty() {
            break;
        }
        events.extend(asked.clone());
        for event in asked {
            let Event::Asked { ticket, arm, .. } = event else { panic!("{event:?}") };
            events.extend(campaign.tell(ticket, problem.reward(arm, &mut rng), 2).unwrap());
        }
    }
    let record = |(number, event)| Record { number, at: 0, event };
    (campaign, (1..).zip(events).map(record).collect())
}

fn numbers(campaign: &mut CampaignState) -> (u32, usize, usize) {
    let verdicts = campaign.verdicts();
    let count = |side| verdicts.iter().filter(|verdict| verdict.side == side).count();
    (campaign.progress().counted, count(Side::Above), count(Side::Below))
}

fn counts(point: &DecisionPoint) -> (u32, usize, usize) {
    (point.counted, point.above, point.below)
}

#[test]
fn a_point_counts_the_verdicts_after_the_events_before_it() {
    for (algorithm, noise) in [("pivot", None), ("apt", None), ("lingame", Some(0.5))] {
        let (mut campaign, records) = played(algorithm, noise);
        let before = numbers(&mut campaign);
        let points: Vec<_> = campaign.decision_history(&records, 1000).unwrap().iter().map(counts).collect();
        let counted: Vec<u32> = points.iter().map(|point| point.0).collect();
        assert_eq!(
            counted,
            (0..=BUDGET).collect::<Vec<_>>(),
            "{algorithm}: one point per reward, and one before the first"
        );
        assert_eq!(points.last(), Some(&before), "{algorithm}");
        assert_eq!(numbers(&mut campaign), before, "the history leaves the campaign unchanged");
        for end in 0..records.len() {
            let mut ended = CampaignState::new(campaign.arms().clone(), campaign.terms().clone()).unwrap();
            ended.extend(&records[..end]).unwrap();
            let is_reward = matches!(records[end].event, Event::Told { .. });
            let expected = numbers(&mut ended);
            assert!(!is_reward || points.contains(&expected), "{algorithm}: {expected:?} before event {}", end + 1);
        }
        assert!(before.1 + before.2 > points[0].1 + points[0].2, "{algorithm}: some arms were decided: {before:?}");
    }
}

#[test]
fn points_are_few_and_evenly_spaced() {
    let (campaign, records) = played("pivot", Some(0.5));
    let counted =
        |most| campaign.decision_history(&records, most).unwrap().iter().map(|point| point.counted).collect::<Vec<_>>();
    assert_eq!(counted(4), [0, 30, 60, 90]);
    assert_eq!(counted(8), [0, 12, 25, 38, 51, 64, 77, 90]);
    assert_eq!((counted(60).len(), counted(91).len(), counted(92).len()), (60, 91, 91));
    for most in 0..=2 {
        assert_eq!(counted(most), [0, BUDGET], "the first and the last are always there");
    }
    assert_eq!(campaign.decision_history(&[], 60).unwrap().len(), 1);
    assert_eq!(
        campaign.decision_history(&records[..4], 60).unwrap()[..],
        campaign.decision_history(&records[..4], 2).unwrap()[..]
    );
}

#[test]
fn uncounted_rewards_are_in_the_first_point() {
    let (campaign, mut records) = played("apt", Some(0.1));
    for record in &mut records[..4] {
        record.event = Event::Observed { arm: 0, reward: 3.0, is_counted: false };
    }
    let points = campaign.decision_history(&records[..6], 60).unwrap();
    assert_eq!(points.iter().map(counts).collect::<Vec<_>>(), [(0, 1, 0)]);
}

#[test]
fn events_that_cannot_follow_are_refused() {
    let (campaign, mut records) = played("apt", Some(0.1));
    records.swap(4, 60);
    assert_eq!(campaign.decision_history(&records, 9).unwrap_err().number, 5);
}

/// Rewards that came late and were left out by the budget count again where it is raised, and a smaller raise than that is none below what is used.
#[test]
fn a_raise_after_late_rewards_is_history_too() {
    let problem = Problem::uniform(12, 3, 5);
    let (campaign, _) = played("pivot", None);
    let mut campaign = CampaignState::new(problem.arms(), Terms { budget: 4, ..campaign.terms().clone() }).unwrap();
    let mut events = Vec::new();
    for now in [0, 5_000] {
        events.extend(campaign.ask(4, "w", now, 1000));
    }
    for ticket in [5, 6, 7, 8, 1, 2, 3, 4] {
        events.extend(campaign.tell(ticket, 0.5, 6_000).unwrap());
    }
    events.push(Event::Changed { budget: 6, change: String::new() });
    let mut records: Vec<Record> = (1..).zip(events).map(|(number, event)| Record { number, at: 0, event }).collect();
    campaign.extend(&records[records.len() - 1..]).unwrap();
    let points = campaign.decision_history(&records, 100).unwrap();
    assert_eq!(points.last().unwrap().counted, 6);
    let number = records.len() as u64 + 1;
    records.push(Record { number, at: 0, event: Event::Changed { budget: 8, change: String::new() } });
    campaign.extend(&records[records.len() - 1..]).unwrap();
    assert_eq!(campaign.decision_history(&records, 100).unwrap().last().unwrap().counted, 8);
}
