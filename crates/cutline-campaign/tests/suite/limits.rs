//! The largest rewards and thresholds that a campaign takes: doubts are what they are in any other unit, with every model. What is larger is
//! refused, and in a journal of an earlier version it leads to no verdict.

use crate::common::uniform;
use cutline::{
    Arms, Edge, EstimatorKind, Graph, IntervalKind, Kernel, NoiseSource, Purpose, Question, Side, Spec, Verdict, stream,
};
use cutline_campaign::{CampaignError, CampaignState, Event, MAX_REWARD, Record, Terms, TermsError};

/// A power of two at the limit, 5.9e79: results differ by nothing but the unit.
fn largest_unit() -> f64 {
    let unit = 2.0_f64.powi(265);
    assert!(unit <= MAX_REWARD && 2.0 * unit > MAX_REWARD);
    unit
}

fn terms(estimator: EstimatorKind, threshold: f64, interval: IntervalKind) -> Terms {
    Terms {
        interval,
        ..Terms::new(
            Question::new(threshold, 0.0).unwrap(),
            Spec::named("apt").unwrap().with_estimator(estimator.name()).unwrap(),
            1000,
        )
    }
}

/// Every model: arms and an estimator.
fn models() -> Vec<(Arms, EstimatorKind)> {
    let rows: Vec<[f64; 2]> = (0..6).map(|arm| [f64::from(arm) - 2.5, f64::from(arm * arm % 5) - 2.0]).collect();
    let arms = Arms::from_rows(&rows).unwrap();
    let kernel = arms.clone().standardised().with_kernel(Kernel::Rbf, 1.0).unwrap();
    let edges: Vec<Edge> = (0..5).map(|node| (node, node + 1, 1.0)).collect();
    let graph = Graph::new(6, &edges).unwrap();
    vec![
        (arms.clone(), EstimatorKind::Mixed),
        (Arms::without_features(6).unwrap(), EstimatorKind::Mixed),
        (arms, EstimatorKind::Ridge),
        (kernel, EstimatorKind::Ridge),
        (graph.arms(0.1).unwrap(), EstimatorKind::Ridge),
        (Arms::without_features(6).unwrap(), EstimatorKind::SampleMean),
        (Arms::without_features(6).unwrap(), EstimatorKind::Isotonic),
    ]
}

/// The verdicts after `n` random rewards of every arm, all between −1 and 1 times `unit`; nothing is known about their sides.
fn verdicts(campaign: &mut CampaignState, n: usize, unit: f64) -> Vec<Verdict> {
    let mut rng = stream(5, Purpose::Noise, 0);
    for _ in 0..n {
        for arm in 0..6 {
            campaign.observe(arm, unit * uniform(&mut rng), false, 0).unwrap();
        }
    }
    campaign.verdicts()
}

#[test]
fn doubts_at_the_limit_are_those_of_any_unit() {
    let unit = largest_unit();
    for interval in [IntervalKind::Fixed, IntervalKind::Anytime] {
        for (arms, estimator) in models() {
            // Few rewards: σ is that of the distances from the threshold. Many: that of the replicates.
            for (n, threshold) in [(2, 0.0), (20, 0.0), (2, -1.0), (20, 1.0)] {
                let verdicts = |unit: f64| {
                    let terms = terms(estimator, threshold * unit, interval);
                    terms.check_guarantee().unwrap();
                    let mut campaign = CampaignState::new(arms.clone(), terms).unwrap();
                    verdicts(&mut campaign, n, unit)
                };
                for (small, large) in verdicts(1.0).iter().zip(verdicts(unit)) {
                    let case = format!("{estimator:?}, {n} rewards, {interval:?}: {small:?} {large:?}");
                    assert_eq!(small.side, large.side, "{case}");
                    assert!((small.doubt - large.doubt).abs() < 1e-9, "{case}");
                    assert!(threshold != 0.0 || large.doubt > 1e-4, "random rewards decide nothing: {case}");
                    assert!((small.mean - large.mean / unit).abs() < 1e-9, "{case}");
                }
            }
        }
    }
}

#[test]
fn larger_rewards_and_thresholds_are_refused() {
    let (arms, estimator) = models().swap_remove(0);
    let mut campaign = CampaignState::new(arms, terms(estimator, 0.0, IntervalKind::Fixed)).unwrap();
    let Some(Event::Asked { ticket, .. }) = campaign.ask(1, "w", 0, 9).pop() else { panic!("no ticket") };
    for reward in [1.0001 * MAX_REWARD, -1e120, f64::INFINITY, f64::NAN] {
        let refused =
            [campaign.tell(ticket, reward, 0).unwrap_err(), campaign.observe(0, reward, false, 0).unwrap_err()];
        assert!(refused.iter().all(|error| matches!(error, CampaignError::NotAReward { .. })), "{refused:?}");
    }
    assert_eq!(
        campaign.tell(ticket, -1e81, 0).unwrap_err().to_string(),
        "a reward must be a number between -1e80 and 1e80, not -1e81"
    );
    campaign.tell(ticket, MAX_REWARD, 0).unwrap();
    assert!(matches!(campaign.amend(ticket, 1e81, "", 0), Err(CampaignError::NotAReward { .. })));
    assert_eq!(campaign.progress().events, 2, "the ticket and its reward");
    let at = |threshold| terms(EstimatorKind::SampleMean, threshold, IntervalKind::Fixed).check_guarantee();
    assert_eq!([at(MAX_REWARD), at(-1e81)], [Ok(()), Err(TermsError::Threshold(-1e81))]);
    let terms = terms(EstimatorKind::SampleMean, 0.0, IntervalKind::Fixed);
    let precise = Terms { question: Question::new(0.0, 1e81).unwrap(), ..terms };
    assert_eq!(precise.check_guarantee(), Err(TermsError::Precision(1e81)));
}

/// Random rewards of ±1e120, as earlier versions took them: they are read, and decide nothing.
#[test]
fn larger_rewards_of_earlier_journals_decide_nothing() {
    for (arms, estimator) in models() {
        for threshold in [0.0, 1e120] {
            let mut campaign =
                CampaignState::new(arms.clone(), terms(estimator, threshold, IntervalKind::Fixed)).unwrap();
            let mut rng = stream(5, Purpose::Noise, 0);
            let record = |(number, arm)| {
                let reward = 1e120 * uniform(&mut rng) + threshold;
                Record { number, at: 0, event: Event::Observed { arm, reward, is_counted: false } }
            };
            let records: Vec<Record> = (1..=60).zip((0..6).cycle()).map(record).collect();
            campaign.extend(&records).unwrap();
            let source = campaign.noise().source;
            for verdict in campaign.verdicts() {
                assert!(verdict.doubt > 1e-4, "{estimator:?}: {verdict:?}");
                if source != NoiseSource::Model {
                    assert_eq!((verdict.side, verdict.doubt), (Side::Undecided, 0.5), "{estimator:?}");
                    assert_eq!((verdict.lower, verdict.upper), (f64::NEG_INFINITY, f64::INFINITY));
                }
            }
        }
    }
}
