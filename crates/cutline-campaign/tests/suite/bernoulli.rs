//! Campaigns with rewards of pass or fail, and campaigns of numbers whose σ is estimated: when they stop, by the definition.

use crate::common::spec;
use cutline::{
    Arms, IntervalKind, Purpose, Question, RewardKind, Side, Spec, StopCriterion, StopReason, below, stream,
};
use cutline_campaign::{CampaignError, CampaignState, Event, Terms, TermsError};

fn terms(spec: Spec, rewards: Option<RewardKind>) -> Terms {
    Terms { rewards, seed: 4, ..Terms::new(Question::new(0.3, 0.0).unwrap(), spec, 3_000) }
}

fn bernoulli(name: &str) -> Terms {
    terms(spec(name), Some(RewardKind::Bernoulli))
}

fn observe(campaign: &mut CampaignState, arm: usize, rewards: &[f64]) {
    for &reward in rewards {
        campaign.observe(arm, reward, true, 0).unwrap();
    }
}

#[test]
fn only_pass_and_fail_are_taken() {
    let arms = || Arms::without_features(2).unwrap();
    let mut campaign = CampaignState::new(arms(), bernoulli("apt")).unwrap();
    observe(&mut campaign, 0, &[0.0, 1.0, -0.0]);
    let refused = campaign.observe(0, 0.5, true, 0).unwrap_err();
    assert_eq!(refused, CampaignError::NotPassOrFail { reward: 0.5 });
    assert_eq!(refused.to_string(), "the rewards of this campaign are pass or fail, 1 or 0, not 0.5");
    let [Event::Asked { ticket, .. }] = campaign.ask(1, "w", 0, 9)[..] else { panic!("a ticket") };
    assert_eq!(campaign.tell(ticket, 2.0, 0), Err(CampaignError::NotPassOrFail { reward: 2.0 }));
    assert!(matches!(campaign.tell(ticket, f64::NAN, 0), Err(CampaignError::NotAReward { .. })));

    let refused = |terms| CampaignState::new(arms(), terms).unwrap_err();
    assert_eq!(refused(Terms { noise: Some(0.5), ..bernoulli("apt") }), TermsError::BernoulliNoise);
    for threshold in [0.0, 1.0, -1.0, 30.0] {
        let question = Question::new(threshold, 0.0).unwrap();
        assert_eq!(refused(Terms { question, ..bernoulli("apt") }), TermsError::BernoulliThreshold(threshold));
    }
    assert_eq!(RewardKind::named("poisson"), None);
    // A rule that needs a σ that does not change has one, and so has the guaranteed stop of earlier versions.
    let mut lingame = bernoulli("lingame");
    lingame.until_sure = Some(StopCriterion::Intervals.into());
    CampaignState::new(Arms::from_rows(&[[1.0], [2.0]]).unwrap(), lingame).unwrap();
}

/// However few rewards there are and however much the arms have in common, no arm is known better than if all passes were its own: the numbers are
/// those of `scipy.stats.beta(n + ½, ½)`, version 1.17. The mixed model would learn that there is no noise.
#[test]
fn passes_alone_decide_only_what_so_many_passes_can() {
    let mixed = |threshold| {
        let spec = spec("pivot").with_estimator("mixed").unwrap();
        Terms { question: Question::new(threshold, 0.0).unwrap(), ..terms(spec, Some(RewardKind::Bernoulli)) }
    };
    for (n_arms, per_arm, lower, doubt) in
        [(1, 3, 0.46441675695704965, 0.7979716952348509), (8, 10, 0.9691837415075598, 0.204057854895774)]
    {
        let rows: Vec<[f64; 1]> = (0..n_arms).map(|arm| [f64::from(arm)]).collect();
        let verdicts_after = |reward: f64, threshold: f64| {
            let mut campaign = CampaignState::new(Arms::from_rows(&rows).unwrap(), mixed(threshold)).unwrap();
            (0..rows.len()).for_each(|arm| observe(&mut campaign, arm, &vec![reward; per_arm]));
            campaign.verdicts()
        };
        for verdict in verdicts_after(1.0, 0.99) {
            assert_eq!((verdict.side, verdict.upper), (Side::Undecided, 1.0), "{verdict:?}");
            assert!(verdict.lower <= lower + 1e-9 && verdict.doubt >= doubt - 1e-9, "{verdict:?}");
        }
        for verdict in verdicts_after(0.0, 0.01) {
            assert_eq!((verdict.side, verdict.lower), (Side::Undecided, 0.0), "{verdict:?}");
            assert!(verdict.upper >= 1.0 - lower - 1e-9 && verdict.doubt >= doubt - 1e-9, "{verdict:?}");
        }
        assert!(verdicts_after(1.0, 0.3).iter().all(|verdict| verdict.side == Side::Above), "that is easy");
    }
}

/// `scipy.stats.beta` of version 1.17: the quantiles of Beta(x + ½, n − x + ½), and its tails at τ = 0.3.
#[test]
fn intervals_and_doubts_of_sample_means_are_those_of_jeffreys() {
    let table = [
        (0, 10, 0.0, 0.21719626750921053, 0.0068218258139706115),
        (3, 10, 0.09269459393815316, 0.6058183181486713, 0.4807485978328125),
        (10, 10, 0.7828037324907894, 1.0, 6.532973660828039e-07),
        (1, 2, 0.06083027592009732, 0.9391697240799026, 0.2523157877343455),
        (40, 100, 0.30795229848852, 0.4977432628019683, 0.016270934914534504),
    ];
    let mut campaign = CampaignState::new(Arms::without_features(6).unwrap(), bernoulli("apt")).unwrap();
    for (arm, (ones, n, ..)) in table.iter().enumerate() {
        let rewards: Vec<f64> = (0..*n).map(|i| f64::from(u8::from(i < *ones))).collect();
        observe(&mut campaign, arm, &rewards);
    }
    let verdicts = campaign.verdicts();
    for (verdict, (ones, n, lower, upper, doubt)) in verdicts.iter().zip(table) {
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(close(verdict.mean, f64::from(ones) / f64::from(n)), "{verdict:?}");
        assert!(close(verdict.lower, lower) && close(verdict.upper, upper), "{ones} of {n}: {verdict:?}");
        assert!(close(verdict.doubt, doubt), "{ones} of {n}: {verdict:?}");
    }
    let unmeasured = verdicts[5];
    assert_eq!((unmeasured.lower, unmeasured.upper, unmeasured.side), (0.0, 1.0, Side::Undecided));
    assert_eq!(unmeasured.doubt, 0.5);
}

/// Whatever the model and the kind of interval.
#[test]
fn means_and_intervals_are_probabilities() {
    let rows: Vec<[f64; 2]> = (0..12).map(|i| [f64::from(i) - 5.5, f64::from(i % 3)]).collect();
    let ridge = spec("pivot").with_estimator("ridge").unwrap().with_centre(1.0).unwrap();
    let mixed = spec("pivot").with_estimator("mixed").unwrap();
    for spec in [spec("apt"), ridge, mixed] {
        for interval in [IntervalKind::Fixed, IntervalKind::Anytime] {
            let name = format!("{} {interval:?}", spec.estimator().name());
            let terms = Terms { interval, ..terms(spec.clone(), Some(RewardKind::Bernoulli)) };
            let mut campaign = CampaignState::new(Arms::from_rows(&rows).unwrap(), terms).unwrap();
            let in_range = |campaign: &mut CampaignState| {
                for verdict in campaign.verdicts() {
                    let ordered = [0.0, verdict.lower, verdict.upper, 1.0];
                    assert!(ordered.is_sorted(), "{name}: {verdict:?}");
                    assert!((0.0..=1.0).contains(&verdict.mean), "{name}: {verdict:?}");
                }
            };
            in_range(&mut campaign);
            for arm in (0..12).cycle().take(60) {
                observe(&mut campaign, arm, &[f64::from(u8::from(arm >= 6))]);
                in_range(&mut campaign);
            }
            let verdicts = campaign.verdicts();
            assert!(verdicts[0].mean < 0.3 && verdicts[11].mean > 0.3, "{name}: {verdicts:?}");
        }
    }
}

/// One arm that always fails: n kl(0, 0.3) = −n ln 0.7 > ln((1 + ln n)/δ).
#[test]
fn evidence_of_pass_and_fail_is_a_divergence() {
    let terms = Terms { until_sure: Some(StopCriterion::Evidence.into()), ..bernoulli("apt") };
    let mut campaign = CampaignState::new(Arms::without_features(1).unwrap(), terms).unwrap();
    let mut n = 0;
    while let [Event::Asked { ticket, .. }] = campaign.ask(1, "w", 0, 9)[..] {
        campaign.tell(ticket, 0.0, 0).unwrap();
        n += 1;
    }
    let first = (1..1_000).find(|&n| -f64::from(n) * 0.7_f64.ln() > ((1.0 + f64::from(n).ln()) / 0.05).ln());
    assert_eq!((campaign.stop_reason(), Some(n)), (Some(StopReason::Confidence), first));
}

/// Plain definition of when a campaign on sample means with estimated σ is sure.
fn is_sure(rewards: &[Vec<f64>], threshold: f64, delta: f64) -> bool {
    let all: Vec<f64> = rewards.iter().flatten().copied().collect();
    let mean = |r: &[f64]| r.iter().sum::<f64>() / r.len() as f64;
    if rewards.iter().any(Vec::is_empty) {
        return false;
    }
    let squares: f64 = rewards.iter().map(|r| r.iter().map(|x| (x - mean(r)).powi(2)).sum::<f64>()).sum();
    let repeats = (all.len() - rewards.len()) as f64;
    let from_threshold = (all.iter().map(|r| (r - threshold).powi(2)).sum::<f64>() / all.len() as f64).sqrt();
    let mut values = all.clone();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let step = values.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
    let estimate = if repeats >= 20.0 { (squares / repeats).sqrt() } else { from_threshold };
    let sigma = if step.is_infinite() { from_threshold } else { estimate.max(step / 2.0) };
    let level = (rewards.len() as f64 * (1.0 + (all.len() as f64).ln()) / delta).ln();
    let freedom = repeats.max(20.0);
    let least = sigma * (freedom * ((2.0 * level / freedom).exp() - 1.0)).sqrt();
    rewards.iter().all(|r| (mean(r) - threshold).abs() > least / (r.len() as f64).sqrt())
}

/// Rewards in steps of ½, in steps of 1, and continuous.
#[test]
fn evidence_allows_for_the_error_of_an_estimate() {
    for (case, step) in [(0, 0.5), (1, 1.0), (2, 1e-9)] {
        let mut rng = stream(7, Purpose::Noise, case);
        let until_sure = Some(StopCriterion::Evidence.into());
        let terms = Terms { until_sure, ..terms(spec("apt"), Some(RewardKind::Gaussian)) };
        let mut campaign = CampaignState::new(Arms::without_features(4).unwrap(), terms).unwrap();
        let mut rewards = vec![Vec::new(); 4];
        while let [Event::Asked { ticket, arm, .. }] = campaign.ask(1, "w", 0, 9)[..] {
            assert!(!is_sure(&rewards, 0.3, 0.05), "{case}: {rewards:?}");
            let noise = (0..4).map(|_| below(&mut rng, 1_001) as f64 / 1_000.0 - 0.5).sum::<f64>();
            let reward = (([-0.8, 1.2, 2.0, -1.5][arm] + noise) / step).round() * step;
            campaign.tell(ticket, reward, 0).unwrap();
            rewards[arm].push(reward);
        }
        assert_eq!(campaign.stop_reason(), Some(StopReason::Confidence), "{case}");
        assert!(is_sure(&rewards, 0.3, 0.05), "{case}: {rewards:?}");
    }
}

/// Before the first reward, a batch is a sample of the arms. One measurement at a time is asked for as in campaigns of earlier versions.
#[test]
fn a_first_batch_is_a_sample_of_the_arms() {
    let rows: Vec<[f64; 2]> = (0..40).map(|i| [f64::from(i * i), f64::from(i % 7)]).collect();
    let mixed = || spec("pivot").with_estimator("mixed").unwrap();
    let begin = |rewards| CampaignState::new(Arms::from_rows(&rows).unwrap(), terms(mixed(), rewards)).unwrap();
    let arms = |events: Vec<Event>| -> Vec<usize> {
        let arm = |event: &Event| if let Event::Asked { arm, .. } = event { *arm } else { panic!("{event:?}") };
        events.iter().map(arm).collect()
    };
    let mut asked = arms(begin(Some(RewardKind::Gaussian)).ask(40, "w", 0, 9));
    assert_ne!(asked, arms(begin(None).ask(40, "w", 0, 9)));
    let mut split = begin(Some(RewardKind::Gaussian));
    let parts = [split.ask(13, "w", 0, 9), split.ask(27, "w", 0, 9)].concat();
    assert_eq!(arms(parts), asked, "however it is split");
    asked.sort_unstable();
    assert_eq!(asked, (0..40).collect::<Vec<_>>(), "no arm twice");
    let (mut now, mut earlier) = (begin(Some(RewardKind::Gaussian)), begin(None));
    for i in 0..60 {
        let [Event::Asked { ticket, arm, .. }] = now.ask(1, "w", 0, 9)[..] else { panic!("a ticket") };
        assert_eq!(arms(earlier.ask(1, "w", 0, 9)), [arm], "{i}");
        let reward = (arm as f64 / 7.0).sin();
        now.tell(ticket, reward, 0).unwrap();
        earlier.tell(ticket, reward, 0).unwrap();
    }
}
