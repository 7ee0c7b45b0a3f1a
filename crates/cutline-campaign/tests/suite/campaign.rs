//! Campaigns: their state follows from their events, however the events are split into pieces.

use crate::common;

use crate::common::{Problem, assert_close, assert_replayed, spec, take};
use cutline::{
    ALGORITHMS, Arms, IntervalKind, NoiseSource, Purpose, Question, RewardKind, Rng, Side, Spec, StopCriterion,
    StopReason, Verdict, below, stream,
};
use cutline_campaign::{
    BrokenJournal, CampaignError, CampaignState, EarlyStop, Event, Record, Request, Terms, TermsError, TicketId,
    TicketStatus,
};

fn terms(algorithm: &str, budget: u32) -> Terms {
    Terms {
        rewards: None,
        delta: 0.1,
        seed: 3,
        ..Terms::new(Question::new(0.1, 0.01).unwrap(), spec(algorithm), budget)
    }
}

fn apt(n_arms: usize, budget: u32) -> CampaignState {
    CampaignState::new(Arms::without_features(n_arms).unwrap(), terms("apt", budget)).unwrap()
}

/// The ticket of a single measurement.
fn ask(campaign: &mut CampaignState, now: u64) -> Option<(TicketId, usize)> {
    campaign.ask(1, "w", now, 10).into_iter().find_map(|event| match event {
        Event::Asked { ticket, arm, .. } => Some((ticket, arm)),
        _ => None,
    })
}

/// Plays a campaign with every kind of event; returns its journal.
fn eventful(campaign: &mut CampaignState, problem: &Problem, seed: u64, steps: u64) -> Vec<Record> {
    let mut rng: Rng = stream(seed, Purpose::Noise, 0);
    let (mut open, mut lost, mut journal) = (Vec::<(TicketId, usize)>::new(), Vec::new(), Vec::<Record>::new());
    for now in 0..steps {
        let events: Vec<Event> = match below(&mut rng, 12) {
            0..5 => {
                let n = 1 + below(&mut rng, 3);
                campaign.ask(n, "w", now, 25)
            }
            5..10 if !open.is_empty() => {
                let (ticket, arm) = take(&mut open, &mut rng);
                let reward = problem.reward(arm, &mut rng);
                campaign.tell(ticket, reward, now).into_iter().flatten().collect()
            }
            10 if !open.is_empty() => {
                let (ticket, _) = take(&mut open, &mut rng);
                campaign.fail(ticket, "spilt", now).unwrap().into_iter().collect()
            }
            11 if !lost.is_empty() => {
                let (ticket, arm) = take(&mut lost, &mut rng);
                let reward = problem.reward(arm, &mut rng);
                campaign.tell(ticket, reward, now).into_iter().flatten().collect()
            }
            _ => {
                let arm = below(&mut rng, problem.means.len());
                let reward = problem.reward(arm, &mut rng);
                campaign.observe(arm, reward, now % 2 == 0, now).into_iter().collect()
            }
        };
        for event in events {
            match event {
                Event::Asked { ticket, arm, .. } => open.push((ticket, arm)),
                Event::Expired { ticket } => {
                    let position = open.iter().position(|&(other, _)| other == ticket).unwrap();
                    lost.push(open.swap_remove(position));
                }
                _ => (),
            }
            journal.push(Record { number: journal.len() as u64 + 1, at: now, event });
        }
        let progress = campaign.progress();
        assert!(progress.counted <= progress.budget);
    }
    journal
}

#[test]
fn the_state_does_not_depend_on_how_the_events_are_split() {
    let specs = ALGORITHMS.iter().map(|algorithm| spec(algorithm.name));
    for spec in specs.chain([spec("pivot").with_estimator("mixed").unwrap()]) {
        for (n_arms, dimension, steps) in [(12, 3, 400), (4, 6, 250), (1, 1, 90)] {
            let problem = Problem::uniform(n_arms, dimension, 5);
            let context = format!("{} on {} with {n_arms} arms", spec.name(), spec.estimator().name());
            let mut terms = Terms { spec: spec.clone(), ..terms(spec.name(), 150) };
            if spec.algorithm().needs_fixed_noise {
                terms.noise = Some(0.6);
            }
            let fresh = || CampaignState::new(problem.arms(), terms.clone()).unwrap();
            let mut live = fresh();
            let journal = eventful(&mut live, &problem, 9, steps);
            assert!(journal.len() > 64, "{context}: {} events", journal.len());
            assert_replayed(live, &journal, fresh, &context);
        }
    }
}

/// A state rebuilt from counts and means is the one learned pull by pull, except for rounding.
#[test]
fn verdicts_are_those_of_a_learner_with_the_same_rewards() {
    for algorithm in ["linear-apt", "apt", "pivot"] {
        let problem = Problem::uniform(12, 3, 5);
        let mut terms = terms(algorithm, 200);
        terms.noise = Some(0.6);
        let mut campaign = CampaignState::new(problem.arms(), terms.clone()).unwrap();
        let journal = eventful(&mut campaign, &problem, 2, 300);
        let mut learner = spec(algorithm).learner(&problem.arms(), terms.question, 1_000, 0).unwrap();
        let mut arms = vec![0];
        for record in journal {
            match record.event {
                Event::Asked { arm, .. } => arms.push(arm),
                Event::Told { ticket, reward } => learner.tell(arms[usize::try_from(ticket).unwrap()], reward).unwrap(),
                Event::Observed { arm, reward, .. } => learner.tell(arm, reward).unwrap(),
                _ => (),
            }
        }
        let confidence = cutline::Confidence::new(IntervalKind::Fixed, 0.1, 0.6).unwrap();
        let expected: Vec<_> = learner.beliefs().verdicts(&confidence).collect();
        for (verdict, expected) in campaign.verdicts().iter().zip(&expected) {
            assert_close(&[verdict.mean], &[expected.mean], 1e-9, algorithm);
            assert_eq!(verdict.pulls, expected.pulls);
            if expected.pulls > 0 {
                assert_close(&[verdict.lower], &[expected.lower], 1e-9, algorithm);
            }
        }
    }
}

#[test]
fn a_reward_is_told_once_and_stands() {
    let mut campaign = apt(2, 4);
    let (ticket, arm) = ask(&mut campaign, 0).unwrap();
    assert_eq!(campaign.ticket(ticket), Ok((arm, "w", TicketStatus::Open(10))));
    assert_eq!(campaign.tell(ticket, 0.5, 1), Ok(Some(Event::Told { ticket, reward: 0.5 })));
    assert_eq!(campaign.tell(ticket, 0.5, 2), Ok(None), "the same again");
    let other = campaign.tell(ticket, 0.25, 3).unwrap_err();
    assert_eq!(other.to_string(), "ticket 1 already has the reward 0.5, so 0.25 is refused");
    let late = campaign.fail(ticket, "spilt", 4).unwrap_err();
    assert_eq!(late.to_string(), "ticket 1 already has the reward 0.5, so it cannot fail");
    assert_eq!(campaign.verdicts()[arm].pulls, 1);
    assert_eq!(campaign.ticket(ticket).unwrap().2, TicketStatus::Told(0.5));
}

#[test]
fn failed_tickets_are_returned_to_the_budget() {
    let mut campaign = apt(1, 1);
    let (first, _) = ask(&mut campaign, 0).unwrap();
    assert_eq!(ask(&mut campaign, 1), None, "the budget is assigned to an open ticket");
    assert_eq!(campaign.stop_reason(), None, "but the ticket may fail");
    assert!(campaign.fail(first, "spilt", 2).unwrap().is_some());
    assert_eq!(campaign.fail(first, "again", 2), Ok(None));
    let refused = campaign.tell(first, 1.0, 3).unwrap_err();
    assert_eq!(refused.to_string(), "ticket 1 was reported as failed");
    let (second, _) = ask(&mut campaign, 4).unwrap();
    campaign.tell(second, 1.0, 5).unwrap();
    assert_eq!((ask(&mut campaign, 6), campaign.stop_reason()), (None, Some(StopReason::Budget)));
    assert_eq!((campaign.progress().failed, campaign.progress().counted), (1, 1));
}

#[test]
fn no_late_reward_is_refused_and_the_budget_holds() {
    let mut campaign = apt(1, 2);
    let (first, _) = ask(&mut campaign, 0).unwrap();
    let (second, _) = ask(&mut campaign, 0).unwrap();
    // Both leases end at 10. The next ask expires both and hands the whole budget out again.
    let events = campaign.ask(2, "w", 10, 10);
    assert!(matches!(events[..], [Event::Expired { ticket: 1 }, Event::Expired { ticket: 2 }, _, _]), "{events:?}");
    let mut told = vec![campaign.tell(first, 1.0, 11).unwrap().expect("no other reward has taken its place")];
    assert_eq!((campaign.progress().counted, campaign.progress().open), (1, 2));
    assert!(campaign.ask(1, "w", 11, 10).is_empty(), "one reward and two open tickets are more than the budget");
    assert_eq!(campaign.tell(first, 1.0, 12), Ok(None), "late, and told again");
    let counts = |campaign: &CampaignState| (campaign.progress().counted, campaign.progress().uncounted);
    for (ticket, expected) in [(3, (2, 0)), (4, (2, 1)), (second, (2, 2))] {
        told.extend(campaign.tell(ticket, 1.0, 13).unwrap());
        assert_eq!(counts(&campaign), expected, "after the reward of ticket {ticket}");
        assert_eq!(campaign.stop_reason(), Some(StopReason::Budget));
    }
    assert_eq!((told.len(), campaign.verdicts()[0].pulls), (4, 4), "the estimates use all of them");
    campaign.void(3, "spilt", 14).unwrap();
    assert_eq!(counts(&campaign), (2, 1), "another one takes its place");
    assert_eq!(campaign.check_budget(2), Ok(()), "the budget may stay");
    assert!(campaign.check_budget(1).is_err());
    assert_eq!(campaign.check_budget(5), Ok(()));
}

/// However an ask is cut into slices, and whether the arms are applied at once or after they were written.
#[test]
fn an_ask_in_slices_hands_out_what_one_ask_does() {
    let specs = ALGORITHMS.iter().map(|algorithm| spec(algorithm.name));
    for spec in specs.chain([spec("pivot").with_estimator("mixed").unwrap()]) {
        let problem = Problem::uniform(40, 3, 5);
        let mut terms = Terms { spec: spec.clone(), ..terms(spec.name(), 150) };
        terms.rewards = Some(RewardKind::Gaussian);
        if spec.algorithm().needs_fixed_noise {
            terms.noise = Some(0.6);
        }
        let mut campaigns = [0; 3].map(|_| CampaignState::new(problem.arms(), terms.clone()).unwrap());
        let mut rng = stream(9, Purpose::Noise, 0);
        for round in 0..6 {
            let replicates = 1 + round % 2;
            let request = Request { replicates, ..Request::new(11, "w", 1_000) };
            let [whole, sliced, planned] = &mut campaigns;
            let expected = whole.ask_unless(&request, 0, &|| false).unwrap();
            let mut found = Vec::new();
            for n in [3, 1, 7] {
                found.extend(sliced.ask_more(&request, n, 0, &mut || true));
            }
            assert_eq!(found, expected, "{}, round {round}", spec.name());
            let mut found = Vec::new();
            for _ in 0..11 {
                let events = planned.next_tickets(&request, 0);
                assert_eq!(planned.next_tickets(&request, 0), events, "nothing was applied");
                planned.record(0, &events);
                found.extend(events);
            }
            assert_eq!(found, expected, "{}, round {round}, planned", spec.name());
            for event in expected.iter().take(7) {
                let Event::Asked { ticket, arm, .. } = *event else { panic!("{event:?}") };
                let reward = problem.reward(arm, &mut rng);
                for campaign in &mut campaigns {
                    campaign.tell(ticket, reward, 1).unwrap();
                }
            }
        }
    }
}

#[test]
fn told_rewards_are_checked_together() {
    let mut campaign = apt(1, 3);
    campaign.ask(3, "w", 0, 10);
    let events = campaign.tell_events(&[(1, 0.5), (2, -0.0), (1, 0.5)]).unwrap();
    assert_eq!(events, [Event::Told { ticket: 1, reward: 0.5 }, Event::Told { ticket: 2, reward: 0.0 }]);
    assert_eq!(campaign.progress().counted, 0, "nothing is applied");
    let other = campaign.tell_events(&[(1, 0.5), (1, 0.25)]).unwrap_err();
    assert_eq!(other, CampaignError::OtherReward { ticket: 1, told: 0.5, reward: 0.25 });
    campaign.record(1, &events);
    assert_eq!(campaign.tell_events(&[(1, 0.5), (3, 1.0)]), Ok(vec![Event::Told { ticket: 3, reward: 1.0 }]));
}

#[test]
fn an_ended_lease_matters_only_at_the_next_ask() {
    let mut campaign = apt(1, 1);
    let (ticket, _) = ask(&mut campaign, 0).unwrap();
    assert!(campaign.tell(ticket, 1.0, 1_000).unwrap().is_some(), "late, but nobody took its place");
}

#[test]
fn observations_count_towards_the_budget_only_if_told_to() {
    let mut campaign = apt(2, 2);
    campaign.observe(0, 5.0, false, 0).unwrap();
    campaign.observe(1, -5.0, true, 0).unwrap();
    let progress = campaign.progress();
    assert_eq!((progress.counted, progress.uncounted), (1, 1));
    assert_eq!(campaign.verdicts().iter().map(|v| v.pulls).collect::<Vec<_>>(), [1, 1]);
    let (ticket, _) = ask(&mut campaign, 1).unwrap();
    assert_eq!(campaign.observe(0, 1.0, true, 1), Err(CampaignError::BudgetUsed { budget: 2 }));
    assert!(campaign.observe(0, 1.0, false, 1).is_ok());
    assert_eq!(campaign.observe(2, 1.0, false, 1), Err(CampaignError::NoArm { arm: 2, n_arms: 2 }));
    for reward in [f64::NAN, f64::INFINITY, 2e140] {
        assert!(matches!(campaign.observe(0, reward, false, 1), Err(CampaignError::NotAReward { .. })));
        assert!(matches!(campaign.tell(ticket, reward, 1), Err(CampaignError::NotAReward { .. })));
    }
    for ticket in [0, 2, u64::MAX] {
        assert_eq!(campaign.tell(ticket, 1.0, 1), Err(CampaignError::NoTicket { ticket, last: 1 }));
    }
    assert!(campaign.tell(ticket, 1.0, 1).is_ok(), "refused requests have changed nothing");
}

#[test]
fn an_impossible_journal_is_refused() {
    let record = |number, event| Record { number, at: 0, event };
    let asked = |ticket, arm| Event::Asked { ticket, arm, worker: "w".into(), until: 9, replicate_of: None };
    let told = |ticket| Event::Told { ticket, reward: 1.0 };
    for (events, number) in [
        (vec![told(1)], 1),
        (vec![asked(2, 0)], 1),
        (vec![asked(1, 7)], 1),
        (vec![asked(1, 0), told(1), told(1)], 3),
        (vec![asked(1, 0), asked(2, 0), asked(3, 0)], 3),
        (vec![asked(1, 0), Event::Expired { ticket: 1 }, Event::Failed { ticket: 1, reason: String::new() }], 3),
    ] {
        let records: Vec<Record> = (1..).zip(events).map(|(number, event)| record(number, event)).collect();
        let broken: BrokenJournal = apt(2, 2).extend(&records).unwrap_err();
        assert_eq!(broken.number, number, "{records:?}");
    }
}

#[test]
fn the_noise_is_estimated_from_the_rewards() {
    let arms = Arms::from_rows(&(0..40).map(|i| [1.0, f64::from(i) / 10.0]).collect::<Vec<_>>()).unwrap();
    let mut campaign =
        CampaignState::new(arms, Terms { question: Question::new(2.0, 0.0).unwrap(), ..terms("pivot", 400) }).unwrap();
    let mut rng = stream(4, Purpose::Noise, 0);
    assert_eq!((campaign.noise().sigma, campaign.noise().source), (1.0, NoiseSource::Nothing));
    assert!(campaign.verdicts().iter().all(|v| v.side == Side::Undecided && v.doubt == 0.5), "there is no reward yet");
    let is_unbounded = |v: &Verdict| (v.lower, v.upper) == (f64::NEG_INFINITY, f64::INFINITY);
    assert!(campaign.verdicts().iter().all(is_unbounded), "nothing is known about the noise");
    let mut observe = |campaign: &mut CampaignState, arm: usize| {
        let reward = 1.0 + 0.05 * arm as f64 + 0.3 * common::uniform(&mut rng);
        campaign.observe(arm, reward, false, 0).unwrap();
    };
    observe(&mut campaign, 0);
    assert_eq!(campaign.noise().source, NoiseSource::Rewards);
    (1..40).for_each(|arm| observe(&mut campaign, arm));
    let noise = campaign.noise();
    assert_eq!(noise.source, NoiseSource::Residuals);
    let sigma = 0.3 / 3.0_f64.sqrt();
    assert!((noise.sigma / sigma - 1.0).abs() < 0.4, "{noise:?}");
    (0..400).for_each(|i| observe(&mut campaign, i % 40));
    let noise = campaign.noise();
    assert_eq!(noise.source, NoiseSource::Replicates);
    assert!((noise.sigma / sigma - 1.0).abs() < 0.15, "{noise:?}");
}

/// Rewards without noise, and of any scale: nothing overflows and all is decided.
#[test]
fn measurements_without_noise_are_fine() {
    for scale in [1e-120, 1.0, 1e79] {
        let rows: Vec<[f64; 2]> = (0..8).map(|i| [1.0, f64::from(i) - 3.4]).collect();
        let question = Question::new(0.0, 0.0).unwrap();
        let mut campaign =
            CampaignState::new(Arms::from_rows(&rows).unwrap(), Terms { question, ..terms("pivot", 100) }).unwrap();
        while let Some((ticket, arm)) = ask(&mut campaign, 0) {
            campaign.tell(ticket, scale * rows[arm][1], 0).unwrap();
        }
        let expected = |&[_, x]: &[f64; 2]| x >= 0.0;
        for (verdict, row) in campaign.verdicts().iter().zip(&rows) {
            assert_eq!(verdict.mean >= 0.0, expected(row), "{scale}: {verdict:?}");
            assert!(verdict.lower.is_finite() && verdict.upper.is_finite());
        }
    }
}

#[test]
fn it_ends_when_it_is_sure() {
    let mut sure = terms("apt", 1_000);
    sure.until_sure = Some(StopCriterion::Intervals.into());
    sure.noise = Some(1.0);
    let mut campaign = CampaignState::new(Arms::without_features(2).unwrap(), sure).unwrap();
    while let Some((ticket, arm)) = ask(&mut campaign, 0) {
        campaign.tell(ticket, [2.0, -2.0][arm], 0).unwrap();
    }
    assert_eq!(campaign.stop_reason(), Some(StopReason::Confidence));
    assert!(campaign.progress().counted < 100);
    assert!(campaign.verdicts().iter().all(Verdict::is_decided));
}

/// It ends at one of the scheduled numbers of rewards, whether it is played in one piece or restored before every ask, and not before
/// max(50, K/4) rewards and one more check.
#[test]
fn it_ends_when_few_errors_are_expected() {
    let rows: Vec<[f64; 2]> = (0..40).map(|i| [f64::from(i % 8), f64::from(i / 8)]).collect();
    let new = |errors: f64| {
        let spec = spec("pivot").with_estimator("mixed").unwrap();
        let until_sure = Some(EarlyStop::ExpectedErrors(errors));
        let terms = Terms { spec, until_sure, question: Question::new(0.1, 0.0).unwrap(), ..terms("pivot", 1_000) };
        CampaignState::new(Arms::from_rows(&rows).unwrap(), terms).unwrap()
    };
    let mut ends = Vec::new();
    for errors in [0.5, 4.0, 39.0] {
        let mut rng: Rng = stream(2, Purpose::Noise, 0);
        let (mut campaign, mut journal) = (new(errors), Vec::<Record>::new());
        while let Some((ticket, arm)) = ask(&mut campaign, 0) {
            let reward = rows[arm][0] - 0.7 * rows[arm][1] + below(&mut rng, 9) as f64 / 4.0 - 1.0;
            let asked = Event::Asked { ticket, arm, worker: "w".into(), until: 10, replicate_of: None };
            let told = campaign.tell(ticket, reward, 0).unwrap().unwrap();
            for event in [asked, told] {
                journal.push(Record { number: journal.len() as u64 + 1, at: 0, event });
            }
            if journal.len() > 90 && journal.len() % 6 == 0 {
                let mut restored = new(errors);
                restored.extend(&journal).unwrap();
                assert_eq!(restored.stop_reason(), campaign.stop_reason(), "after {} events", journal.len());
            }
        }
        assert_eq!(campaign.stop_reason(), Some(StopReason::ExpectedErrors));
        assert!(campaign.verdicts().iter().map(|verdict| verdict.doubt).sum::<f64>() <= errors);
        ends.push(campaign.progress().counted);
    }
    assert_eq!(ends[2], 53, "the second check");
    assert!(ends[0] > ends[1] && ends[1] >= ends[2], "{ends:?}");
    let ridge = Terms { until_sure: Some(EarlyStop::ExpectedErrors(1.0)), ..terms("pivot", 9) };
    let refused = CampaignState::new(Arms::from_rows(&rows).unwrap(), ridge).unwrap_err();
    assert_eq!(refused.to_string(), "the stop `expected-errors` needs the estimator `mixed`, not `ridge`");
}

#[test]
fn terms_that_do_not_fit_are_refused() {
    let arms = || Arms::from_rows(&[[1.0], [2.0]]).unwrap();
    let message = |terms: Terms| CampaignState::new(arms(), terms).unwrap_err().to_string();
    assert!(message(terms("pivot", 0)).contains("at least 1"));
    assert!(message(terms("linear-apt", 1)).contains("too small for 2 arms"));
    assert!(message(Terms { delta: 1.0, ..terms("pivot", 9) }).contains("delta"));
    assert!(message(Terms { noise: Some(0.0), ..terms("pivot", 9) }).contains("noise"));
    assert!(message(Terms { noise: Some(f64::NAN), ..terms("apt", 9) }).contains("noise"));
    assert!(message(Terms { spec: Spec::named("ucbe").unwrap(), ..terms("ucbe", 9) }).contains("exploration"));
    let lingame = CampaignState::new(arms(), terms("lingame", 9)).unwrap_err();
    assert_eq!(lingame, TermsError::NeedsNoise("lingame".into()));
    let bare = CampaignState::new(Arms::without_features(2).unwrap(), terms("pivot", 9)).unwrap_err();
    assert!(bare.to_string().contains("features"), "{bare}");
}
