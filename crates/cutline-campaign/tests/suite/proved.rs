//! Proved verdicts and the stop `proved`: a function of the journal, and equal to the engine's proofs of the same rewards.

use crate::common::spec;
use cutline::proof::{Proofs, RewardFamily};
use cutline::{
    Arms, Basis, Guarantee, Purpose, Question, RewardKind, Rng, Side, Spec, StopCriterion, StopReason, Verdict,
    VerdictLimit, below, stream,
};
use cutline_campaign::{CampaignState, EarlyStop, Event, Record, Terms, TermsError};

const MEANS: [f64; 6] = [2.0, -1.5, 1.0, -2.5, 3.0, -1.0];

fn question() -> Question {
    Question::new(0.0, 0.0).unwrap()
}

fn until_proved(spec: Spec, budget: u32) -> Terms {
    Terms { until_sure: Some(EarlyStop::Proved), seed: 5, ..Terms::new(question(), spec, budget) }
}

/// Triangular noise around a mean.
fn reward(mean: f64, rng: &mut Rng) -> f64 {
    mean + (below(rng, 1001) as f64 + below(rng, 1001) as f64) / 400.0 - 2.5
}

fn arms() -> Arms {
    let rows: Vec<[f64; 2]> = MEANS.iter().enumerate().map(|(i, mean)| [*mean, (i % 3) as f64]).collect();
    Arms::from_rows(&rows).unwrap()
}

/// Asks, tells and keeps the events.
fn play(campaign: &mut CampaignState, rng: &mut Rng, journal: &mut Vec<Record>) -> bool {
    let events = campaign.ask(1, "w", 0, 10);
    let [Event::Asked { ticket, arm, .. }] = events[..] else { return false };
    let told = campaign.tell(ticket, reward(MEANS[arm], rng), 0).unwrap();
    for event in events.into_iter().chain(told) {
        journal.push(Record { number: journal.len() as u64 + 1, at: 0, event });
    }
    true
}

fn bits(verdicts: &[Verdict]) -> Vec<(Side, Option<Basis>, u64, Option<u64>)> {
    verdicts.iter().map(|it| (it.side, it.basis, it.evidence.to_bits(), it.settled_after)).collect()
}

/// Whatever the model, however the journal is split and however often one looks.
#[test]
fn it_ends_when_every_side_is_proved_and_is_a_function_of_the_journal() {
    for estimator in ["mixed", "ridge", "sample-mean"] {
        let terms = until_proved(spec("easiest").with_estimator(estimator).unwrap(), 1_000);
        let new = || CampaignState::new(arms(), terms.clone()).unwrap();
        let (mut campaign, mut journal, mut rng) = (new(), Vec::new(), stream(3, Purpose::Noise, 0));
        while play(&mut campaign, &mut rng, &mut journal) {
            if journal.len() % 22 == 0 {
                let mut restored = new();
                let middle = journal.len() / 3;
                restored.extend(&journal[..middle]).unwrap();
                restored.verdicts();
                restored.extend(&journal[middle..]).unwrap();
                assert_eq!(bits(&restored.verdicts()), bits(&campaign.verdicts()), "{estimator}: {}", journal.len());
            }
        }
        assert_eq!(campaign.stop_reason(), Some(StopReason::Proved), "{estimator}");
        let counted = campaign.progress().counted;
        assert!((40..400).contains(&counted), "{estimator}: {counted}");
        for (verdict, mean) in campaign.verdicts().iter().zip(MEANS) {
            assert_eq!((verdict.side == Side::Above, verdict.basis), (mean > 0.0, Some(Basis::Proved)), "{estimator}");
            assert!(verdict.evidence >= 6.0 / 0.05 && verdict.doubt <= 0.05 && verdict.settled_after.is_some());
        }
        let mut restored = new();
        restored.extend(&journal).unwrap();
        assert_eq!(restored.stop_reason(), Some(StopReason::Proved), "{estimator}");
        assert!(restored.ask(1, "w", 0, 10).is_empty());
    }
}

/// Without a model the evidence is that of the engine for the same rewards.
#[test]
fn without_a_model_the_proofs_are_those_of_the_engine() {
    let rewards = [(0, 1.0), (1, 0.0), (0, 1.0), (1, 0.0), (0, 1.0), (1, 1.0), (0, 0.0), (1, 0.0)];
    let terms = Terms {
        rewards: Some(RewardKind::Bernoulli),
        question: Question::new(0.5, 0.1).unwrap(),
        ..Terms::new(question(), spec("apt"), 99)
    };
    let mut campaign = CampaignState::new(Arms::without_features(2).unwrap(), terms.clone()).unwrap();
    let mut proofs = Proofs::new(2, terms.question, RewardFamily::PassFail);
    for _ in 0..12 {
        for (arm, reward) in rewards {
            campaign.observe(arm, reward, true, 0).unwrap();
            proofs.tell(arm, reward);
        }
        for (arm, verdict) in campaign.verdicts().iter().enumerate() {
            let is_above = verdict.is_mean_above();
            assert_eq!(verdict.evidence, proofs.evidence(arm, is_above, Guarantee::Each));
            assert_eq!(verdict.is_proved(), proofs.sides(Guarantee::Each, 0.05)[arm].is_some());
        }
    }
    assert!(campaign.verdicts().iter().all(Verdict::is_proved));
}

/// The model decides where arms that are first measured after eight rewards look for evidence.
#[test]
fn predictions_change_the_evidence_of_arms_that_come_later() {
    let evidence = |estimator: &str| {
        let terms =
            Terms { noise: Some(1.0), ..Terms::new(question(), spec("random").with_estimator(estimator).unwrap(), 99) };
        let mut campaign = CampaignState::new(arms(), terms).unwrap();
        let mut rng = stream(4, Purpose::Noise, 0);
        for arm in [0, 1, 2, 3, 0, 1, 2, 3, 0, 4, 4, 4] {
            campaign.observe(arm, reward(MEANS[arm], &mut rng), true, 0).unwrap();
        }
        campaign.verdicts().iter().map(|verdict| verdict.evidence).collect::<Vec<_>>()
    };
    let (independent, mixed, linear) = (evidence("sample-mean"), evidence("mixed"), evidence("ridge"));
    assert_eq!((independent[0], independent[1]), (mixed[0], mixed[1]), "measured before the first prediction");
    assert!(mixed[4] != independent[4] && linear[4] != mixed[4]);
    assert_eq!((mixed[5], linear[5]), (1.0, 1.0), "no rewards, no evidence");
}

/// After a correction the state is that of a campaign that got the corrected rewards in the first place.
#[test]
fn a_corrected_reward_takes_a_proof_back() {
    let terms = || until_proved(spec("easiest"), 200);
    let two = || Arms::without_features(2).unwrap();
    let terms = || Terms { noise: Some(1.0), ..terms() };
    let mut campaign = CampaignState::new(two(), terms()).unwrap();
    let mut tickets = Vec::new();
    while let [Event::Asked { ticket, arm, .. }] = campaign.ask(1, "w", 0, 10)[..] {
        campaign.tell(ticket, [4.0, -4.0][arm], 0).unwrap();
        tickets.push((ticket, arm));
    }
    assert_eq!(campaign.stop_reason(), Some(StopReason::Proved));
    let (ticket, _) = *tickets.iter().find(|(_, arm)| *arm == 0).unwrap();
    campaign.amend(ticket, -3.0, "a typo", 0).unwrap();
    assert_eq!(campaign.stop_reason(), None);
    let mut again = CampaignState::new(two(), terms()).unwrap();
    for (arm, reward) in campaign.rewards() {
        again.observe(arm, reward, true, 0).unwrap();
    }
    assert_eq!(bits(&campaign.verdicts()), bits(&again.verdicts()));
    assert!(matches!(campaign.ask(1, "w", 0, 10)[..], [Event::Asked { arm: 0, .. }]), "the open arm");
}

#[test]
fn a_withdrawn_arm_need_not_be_proved() {
    let terms = Terms { noise: Some(1.0), ..until_proved(spec("easiest"), 200) };
    let mut campaign = CampaignState::new(Arms::without_features(3).unwrap(), terms).unwrap();
    campaign.withdraw(1, "lost", 0).unwrap();
    while let [Event::Asked { ticket, arm, .. }] = campaign.ask(1, "w", 0, 10)[..] {
        campaign.tell(ticket, [4.0, 0.0, -4.0][arm], 0).unwrap();
    }
    assert_eq!((campaign.stop_reason(), campaign.verdicts()[1].pulls), (Some(StopReason::Proved), 0));
}

/// `each` asks for 1/δ, `all` for K/δ and `fdr` for something in between; a stop is about all arms unless it is told otherwise.
#[test]
fn a_guarantee_decides_how_much_evidence_is_enough() {
    let pulls = |guarantee| {
        let terms = Terms { guarantee, noise: Some(1.0), ..until_proved(spec("easiest"), 2_000) };
        let mut campaign = CampaignState::new(Arms::without_features(6).unwrap(), terms).unwrap();
        let mut rng = stream(6, Purpose::Noise, 0);
        while play(&mut campaign, &mut rng, &mut Vec::new()) {}
        assert_eq!(campaign.stop_reason(), Some(StopReason::Proved));
        campaign.progress().counted
    };
    let [each, all, fdr] = [Guarantee::Each, Guarantee::All, Guarantee::Fdr].map(|it| pulls(Some(it)));
    assert!(each < all && each <= fdr && fdr <= all, "{each}, {fdr}, {all}");
    assert_eq!(pulls(None), all);
}

/// One surprising pass or fail is no verdict; 0 of 2 has a probability of 1 % at the bar 0.9.
#[test]
fn one_fail_is_no_verdict_on_an_independent_arm() {
    let question = Question::new(0.9, 0.0).unwrap();
    let terms = Terms { rewards: Some(RewardKind::Bernoulli), ..Terms::new(question, spec("apt"), 99) };
    let mut campaign = CampaignState::new(Arms::without_features(1).unwrap(), terms).unwrap();
    campaign.observe(0, 0.0, true, 0).unwrap();
    let verdict = campaign.verdicts()[0];
    assert_eq!((verdict.side, verdict.basis, verdict.limit), (Side::Undecided, None, Some(VerdictLimit::FewRewards)));
    campaign.observe(0, 0.0, true, 0).unwrap();
    let verdict = campaign.verdicts()[0];
    assert_eq!((verdict.side, verdict.basis, verdict.limit), (Side::Below, Some(Basis::Likely), None));
}

/// Four arms on a line of two parameters: until more than two of them have repeated rewards, nothing could have contradicted the line.
#[test]
fn a_linear_model_makes_nothing_likely_before_it_was_tested() {
    let line = Arms::from_rows(&[[1.0, 1.0], [1.0, 2.0], [1.0, 3.0], [1.0, 4.0]]).unwrap();
    let terms = Terms::new(Question::new(2.6, 0.0).unwrap(), spec("linear-apt"), 999);
    let mut campaign = CampaignState::new(line, terms).unwrap();
    let mut rng = stream(7, Purpose::Noise, 0);
    let mut observe = |campaign: &mut CampaignState, arm: usize, n: usize, off: f64| {
        for _ in 0..n {
            let noise = reward(0.0, &mut rng) / 10.0;
            campaign.observe(arm, arm as f64 + 1.0 + off + noise, true, 0).unwrap();
        }
        campaign.verdicts()
    };
    observe(&mut campaign, 0, 14, 0.0);
    let untested = observe(&mut campaign, 3, 14, 0.0);
    assert!(untested.iter().all(|it| !it.is_decided()), "{untested:?}");
    assert!(untested.iter().any(|it| it.limit == Some(VerdictLimit::UntestedModel)), "{untested:?}");
    observe(&mut campaign, 1, 3, 0.0);
    let tested = observe(&mut campaign, 2, 3, 0.0);
    assert!(tested.iter().all(|it| it.limit.is_none() && it.is_decided()), "{tested:?}");
    let contradicted = observe(&mut campaign, 2, 8, 5.0);
    assert!(contradicted.iter().any(|it| it.limit == Some(VerdictLimit::Misfit)), "{contradicted:?}");
    assert!(contradicted.iter().all(|it| it.basis != Some(Basis::Likely)));
}

#[test]
fn new_campaigns_have_no_stop_by_intervals() {
    let terms = Terms {
        until_sure: Some(StopCriterion::Intervals.into()),
        noise: Some(1.0),
        ..Terms::new(question(), spec("apt"), 9)
    };
    assert_eq!(terms.check_guarantee(), Err(TermsError::IntervalsReplaced));
    assert_eq!(until_proved(spec("apt"), 9).check_guarantee(), Ok(()), "without a given σ");
}
