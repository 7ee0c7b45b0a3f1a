//! How a campaign came to its verdicts, against campaigns that end where a stage is.

mod common;

use common::Problem;
use cutline::campaign::{CampaignState, Event, Record, Stage, Terms};
use cutline::{IntervalKind, Purpose, Question, Side, Spec, stream};

const BUDGET: u32 = 90;

/// A campaign on 12 arms with some rewards from before, asked for in batches of 5, as a journal.
fn played(algorithm: &str, noise: Option<f64>) -> (CampaignState, Vec<Record>) {
    let problem = Problem::uniform(12, 3, 5);
    let terms = Terms {
        question: Question::new(0.1, 0.01).unwrap(),
        spec: Spec::named(algorithm).unwrap(),
        budget: BUDGET,
        noise,
        interval: IntervalKind::Fixed,
        delta: 0.1,
        until_sure: None,
        seed: 3,
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

fn flat(stage: &Stage) -> (u32, usize, usize) {
    (stage.counted, stage.above, stage.below)
}

#[test]
fn a_stage_is_what_the_events_before_it_come_to() {
    for (algorithm, noise) in [("pivot", None), ("apt", None), ("lingame", Some(0.5))] {
        let (mut campaign, records) = played(algorithm, noise);
        let before = numbers(&mut campaign);
        let course: Vec<_> = campaign.course(&records, 1000).unwrap().iter().map(flat).collect();
        let counted: Vec<u32> = course.iter().map(|stage| stage.0).collect();
        assert_eq!(
            counted,
            (0..=BUDGET).collect::<Vec<_>>(),
            "{algorithm}: a stage a reward, and one before the first"
        );
        assert_eq!(course.last(), Some(&before), "{algorithm}");
        assert_eq!(numbers(&mut campaign), before, "looking back changes nothing");
        for end in 0..records.len() {
            let mut ended = CampaignState::new(campaign.arms().clone(), campaign.terms().clone()).unwrap();
            ended.extend(&records[..end]).unwrap();
            let is_told = matches!(records[end].event, Event::Told { .. });
            let expected = numbers(&mut ended);
            assert!(!is_told || course.contains(&expected), "{algorithm}: {expected:?} before event {}", end + 1);
        }
        assert!(before.1 + before.2 > course[0].1 + course[0].2, "{algorithm}: some arms were decided: {before:?}");
    }
}

#[test]
fn stages_are_few_and_evenly_apart() {
    let (campaign, records) = played("pivot", Some(0.5));
    let counted = |most| campaign.course(&records, most).unwrap().iter().map(|stage| stage.counted).collect::<Vec<_>>();
    assert_eq!(counted(4), [0, 30, 60, 90]);
    assert_eq!(counted(8), [0, 12, 25, 38, 51, 64, 77, 90]);
    assert_eq!((counted(60).len(), counted(91).len(), counted(92).len()), (60, 91, 91));
    for most in 0..=2 {
        assert_eq!(counted(most), [0, BUDGET], "the first and the last are always there");
    }
    assert_eq!(campaign.course(&[], 60).unwrap().len(), 1);
    assert_eq!(campaign.course(&records[..4], 60).unwrap()[..], campaign.course(&records[..4], 2).unwrap()[..]);
}

#[test]
fn rewards_from_before_are_in_the_first_stage() {
    let (campaign, mut records) = played("apt", Some(0.1));
    for record in &mut records[..4] {
        record.event = Event::Observed { arm: 0, reward: 3.0, is_counted: false };
    }
    let course = campaign.course(&records[..6], 60).unwrap();
    assert_eq!(course.iter().map(flat).collect::<Vec<_>>(), [(0, 1, 0)]);
}

#[test]
fn events_that_cannot_have_happened_are_refused() {
    let (campaign, mut records) = played("apt", Some(0.1));
    records.swap(4, 60);
    assert_eq!(campaign.course(&records, 9).unwrap_err().number, 5);
}
