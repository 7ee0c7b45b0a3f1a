//! Campaigns that estimate the noise: choices, stop and verdicts use one σ at every event, and it is the one of the definition.

use crate::common::{Problem, spec, take, uniform};
use cutline::{ALGORITHMS, Arms, NoiseSource, Purpose, Question, Rng, Spec, StopCriterion, StopReason, below, stream};
use cutline_campaign::{CampaignState, Event, Record, Terms, TermsError, TicketId};
use nalgebra::{DMatrix, DVector};
use statrs::distribution::{ContinuousCDF, StudentsT};

const CRITERIA: [StopCriterion; 2] = [StopCriterion::Intervals, StopCriterion::Evidence];

fn terms(spec: Spec, until_sure: Option<StopCriterion>) -> Terms {
    Terms {
        rewards: None,
        delta: 0.1,
        until_sure: until_sure.map(Into::into),
        seed: 3,
        ..Terms::new(Question::new(0.1, 0.01).unwrap(), spec, 400)
    }
}

/// Tells rewards that hardly differ between repeats of an arm until the campaign stops; returns their number.
fn clear_measurements(campaign: &mut CampaignState) -> u32 {
    let mut told = 0;
    while let [Event::Asked { ticket, arm, .. }] = campaign.ask(1, "w", 0, 10)[..] {
        let noise = if told % 2 == 0 { 0.01 } else { -0.01 };
        campaign.tell(ticket, [3.0, -3.0, 3.0, -3.0][arm] + noise, 0).unwrap();
        told += 1;
    }
    told
}

/// Twenty-two rewards leave twenty degrees of freedom, and with these σ is small. `intervals` guarantees nothing for an estimate of σ, so
/// without a given one it never ends a campaign early, and new campaigns with it can be refused.
#[test]
fn without_noise_evidence_ends_after_clear_measurements_and_intervals_never() {
    let with_features = Arms::from_rows(&[[1.0, 0.5], [-1.0, 0.5], [1.0, -0.5], [-1.0, -0.5]]).unwrap();
    let without_features = Arms::without_features(2).unwrap();
    for (name, arms) in [("apt", &without_features), ("linear-apt", &with_features), ("pivot", &with_features)] {
        let terms = |criterion, noise| Terms { noise, ..terms(spec(name), Some(criterion)) };
        let evidence = terms(StopCriterion::Evidence, None);
        assert_eq!(evidence.check_guarantee(), Ok(()));
        let mut campaign = CampaignState::new(arms.clone(), evidence).unwrap();
        let told = clear_measurements(&mut campaign);
        // Before there are twenty degrees of freedom, σ = 3 is the distance of the rewards from the threshold; that may already be enough.
        assert!((15..=22).contains(&told), "{name}: {told}");
        assert_eq!(campaign.stop_reason(), Some(StopReason::Confidence), "{name}");
        assert!(campaign.verdicts().iter().all(cutline::Verdict::is_decided), "{name}");

        let intervals = terms(StopCriterion::Intervals, None);
        let refused = intervals.check_guarantee().unwrap_err();
        assert_eq!(refused, TermsError::IntervalsReplaced);
        assert!(refused.to_string().contains("use `proved`"), "{refused}");
        let mut campaign = CampaignState::new(arms.clone(), intervals).unwrap();
        assert_eq!(clear_measurements(&mut campaign), 400, "{name}: the whole budget");
        assert_eq!(campaign.stop_reason(), Some(StopReason::Budget));

        let given = terms(StopCriterion::Intervals, Some(0.1));
        let mut campaign = CampaignState::new(arms.clone(), given).unwrap();
        assert!(clear_measurements(&mut campaign) < 10, "{name}");
        assert_eq!(campaign.stop_reason(), Some(StopReason::Confidence));
    }
}

/// Without a reward nothing is decided, however many tickets are open.
#[test]
fn nothing_is_sure_before_the_first_reward() {
    for algorithm in ALGORITHMS.iter().filter(|algorithm| !algorithm.needs_fixed_noise && !algorithm.settles) {
        for criterion in CRITERIA {
            let problem = Problem::uniform(4, 2, 1);
            let mut campaign =
                CampaignState::new(problem.arms(), terms(spec(algorithm.name), Some(criterion))).unwrap();
            assert_eq!(campaign.ask(30, "w", 0, 10).len(), 30, "{}", algorithm.name);
            assert_eq!((campaign.stop_reason(), campaign.noise().source), (None, NoiseSource::Nothing));
            assert!(campaign.verdicts().iter().all(|verdict| !verdict.is_decided() && verdict.doubt == 0.5));
        }
    }
}

/// Rewards that all equal the threshold say nothing about the noise, and so decide nothing, however many there are. One that differs does.
#[test]
fn rewards_at_the_threshold_decide_nothing() {
    for algorithm in ALGORITHMS.iter().filter(|algorithm| !algorithm.needs_fixed_noise && !algorithm.settles) {
        for (threshold, reward) in [(0.1, 0.1), (0.3, 0.1 + 0.2), (0.0, 0.0), (-5e20, -5e20)] {
            let question = Question::new(threshold, 0.05).unwrap();
            let terms = Terms { question, ..terms(spec(algorithm.name), Some(StopCriterion::Evidence)) };
            let mut campaign = CampaignState::new(Problem::uniform(4, 2, 1).arms(), terms).unwrap();
            for _ in 0..60 {
                let [Event::Asked { ticket, .. }] = campaign.ask(1, "w", 0, 10)[..] else { panic!("it has ended") };
                campaign.tell(ticket, reward, 0).unwrap();
                let name = algorithm.name;
                assert_eq!(campaign.stop_reason(), None, "{name}: {reward}");
                for verdict in campaign.verdicts() {
                    assert!(!verdict.is_decided() && verdict.doubt > 0.4, "{name}: {reward}: {verdict:?}");
                }
            }
            let [Event::Asked { ticket, .. }] = campaign.ask(1, "w", 0, 10)[..] else { panic!("it has ended") };
            campaign.tell(ticket, reward + 1.0 + reward.abs(), 0).unwrap();
            campaign.verdicts();
            assert_ne!(campaign.noise().source, NoiseSource::Nothing, "{}", algorithm.name);
        }
    }
}

/// Does something random with the campaign; returns the events, which are also added to the journal.
fn step(
    campaign: &mut CampaignState,
    problem: &Problem,
    open: &mut Vec<(TicketId, usize)>,
    now: u64,
    rng: &mut Rng,
) -> Vec<Event> {
    let events: Vec<Event> = match below(rng, 10) {
        0..5 if !open.is_empty() => {
            let (ticket, arm) = take(open, rng);
            // Some have expired; their rewards are late.
            campaign.tell(ticket, problem.means[arm] + 0.2 * uniform(rng), now).into_iter().flatten().collect()
        }
        5 if !open.is_empty() => campaign.fail(take(open, rng).0, "lost", now).into_iter().flatten().collect(),
        6 => {
            let arm = below(rng, problem.means.len());
            campaign
                .observe(arm, problem.means[arm] + 0.2 * uniform(rng), now.is_multiple_of(2), now)
                .into_iter()
                .collect()
        }
        _ => campaign.ask(1 + below(rng, 2), "w", now, 12),
    };
    open.extend(events.iter().filter_map(|event| match *event {
        Event::Asked { ticket, arm, .. } => Some((ticket, arm)),
        _ => None,
    }));
    events
}

fn verdict_bits(campaign: &mut CampaignState) -> Vec<[u64; 4]> {
    let verdicts = campaign.verdicts();
    verdicts.iter().map(|v| [v.mean, v.lower, v.upper, v.doubt].map(f64::to_bits)).collect()
}

/// The verdicts of a campaign with estimated noise have the means of one that is given this σ, and intervals wider by the ratio of the
/// quantiles of t and of the normal distribution.
fn assert_allow_for_the_estimate(live: &mut CampaignState, given: &mut CampaignState, context: &str) {
    let freedom = live.noise().degrees_of_freedom.unwrap();
    let t = StudentsT::new(0.0, 1.0, freedom).unwrap().inverse_cdf(0.95);
    for (live, given) in live.verdicts().iter().zip(given.verdicts()) {
        assert_eq!((live.mean.to_bits(), live.pulls), (given.mean.to_bits(), given.pulls), "{context}");
        let (width, normal) = (live.upper - live.mean, given.upper - given.mean);
        let expected = normal * t / 1.6448536269514722;
        assert!(width == expected || (width / expected - 1.0).abs() < 1e-9, "{context}: {width}, not {expected}");
        assert!(live.doubt >= given.doubt, "{context}");
    }
}

/// After every event, a campaign with estimated noise behaves like one that is given this σ and reads the same journal, and its verdicts
/// allow for the error of the estimate.
#[test]
fn choices_stop_and_verdicts_use_one_noise_at_every_event() {
    let mut sources = Vec::new();
    let mut stopped = 0;
    for algorithm in ALGORITHMS.iter().filter(|algorithm| !algorithm.needs_fixed_noise && !algorithm.settles) {
        for n_arms in [3, 9] {
            let criterion = StopCriterion::Evidence;
            let problem = Problem::uniform(n_arms, 2, 5);
            let estimated = terms(spec(algorithm.name), Some(criterion));
            let mut live = CampaignState::new(problem.arms(), estimated.clone()).unwrap();
            let (mut journal, mut open) = (Vec::<Record>::new(), Vec::new());
            let mut rng = stream(7, Purpose::Noise, 0);
            for now in 0..150 {
                let noise = live.noise();
                let given = Terms { noise: Some(noise.sigma), ..estimated.clone() };
                let mut given = CampaignState::new(problem.arms(), given).unwrap();
                given.extend(&journal).unwrap();
                let context = format!("{} {criterion:?} after {} events", algorithm.name, journal.len());
                assert_eq!(live.stop_reason(), given.stop_reason(), "{context}");
                if noise.source != NoiseSource::Nothing {
                    assert_allow_for_the_estimate(&mut live, &mut given, &context);
                }
                if !sources.contains(&noise.source) {
                    sources.push(noise.source);
                }
                stopped += u32::from(live.stop_reason() == Some(StopReason::Confidence));
                let events = step(&mut live, &problem, &mut open, now, &mut rng);
                if matches!(events.last(), Some(Event::Asked { .. })) {
                    assert_eq!(given.ask(asked(&events), "w", now, 12), events, "{context}");
                }
                for event in events {
                    journal.push(Record { number: journal.len() as u64 + 1, at: now, event });
                }
            }
        }
    }
    assert_eq!(sources.len(), 4, "nothing, rewards, residuals and replicates: {sources:?}");
    assert!(stopped > 50, "{stopped}");
}

fn asked(events: &[Event]) -> usize {
    events.iter().filter(|event| matches!(event, Event::Asked { .. })).count()
}

/// Neither how a journal is split nor when the noise is read changes a bit of the noise or a choice.
#[test]
fn pieces_of_a_journal_do_not_matter() {
    for (index, name) in ["pivot", "linear-apt", "straddle", "apt"].into_iter().enumerate() {
        // More arms than rewards, so that least squares is used to the end.
        let problem = Problem::uniform(200, 6, index as u64);
        let terms = terms(spec(name), Some(StopCriterion::Evidence));
        let mut live = CampaignState::new(problem.arms(), terms.clone()).unwrap();
        let (mut journal, mut open) = (Vec::<Record>::new(), Vec::new());
        let mut rng = stream(2, Purpose::Noise, 0);
        for now in 0..260 {
            for event in step(&mut live, &problem, &mut open, now, &mut rng) {
                journal.push(Record { number: journal.len() as u64 + 1, at: now, event });
            }
        }
        for most in [1, 7, 50, journal.len()] {
            let mut other = CampaignState::new(problem.arms(), terms.clone()).unwrap();
            let mut rest = &journal[..];
            while !rest.is_empty() {
                let (piece, others) = rest.split_at(below(&mut rng, rest.len().min(most)) + 1);
                other.extend(piece).unwrap();
                rest = others;
            }
            assert_eq!(other.noise().sigma.to_bits(), live.noise().sigma.to_bits(), "{name} {most}");
            assert_eq!(other.noise().source, live.noise().source);
            assert_eq!(verdict_bits(&mut other), verdict_bits(&mut live), "{name} {most}");
            let mut again = CampaignState::new(problem.arms(), terms.clone()).unwrap();
            again.extend(&journal).unwrap();
            assert_eq!(other.ask(3, "w", 1_000, 9), again.ask(3, "w", 1_000, 9), "{name} {most}");
        }
    }
}

/// The definition by dense linear algebra.
fn defined(rows: &[Vec<f64>], rewards: &[(usize, f64)], threshold: f64) -> (f64, NoiseSource) {
    let n = rewards.len();
    let of = |arm: usize| rewards.iter().filter(move |reward| reward.0 == arm).map(|reward| reward.1);
    let mean = |arm: usize| of(arm).sum::<f64>() / of(arm).count() as f64;
    let measured = (0..rows.len()).filter(|&arm| of(arm).count() > 0).count();
    let within: f64 = rewards.iter().map(|&(arm, reward)| (reward - mean(arm)).powi(2)).sum();
    if n - measured >= 20 {
        return ((within / (n - measured) as f64).sqrt(), NoiseSource::Replicates);
    }
    let mut x = DMatrix::from_fn(n, rows[0].len(), |i, j| rows[rewards[i].0][j]);
    x.column_iter_mut().filter(|column| column.amax() > 0.0).for_each(|mut column| {
        column.unscale_mut(column.amax());
        column.normalize_mut();
    });
    let qr = x.col_piv_qr();
    let r = qr.r();
    let rank = (0..r.nrows()).filter(|&k| r[(k, k)].abs() > 1e-10).count();
    if n - rank >= 20 {
        let y = DVector::from_iterator(n, rewards.iter().map(|reward| reward.1));
        let u = qr.q().columns(0, rank).into_owned();
        let residual = &y - &u * (u.transpose() * &y);
        return ((residual.norm_squared() / (n - rank) as f64).sqrt(), NoiseSource::Residuals);
    }
    let squares: f64 = rewards.iter().map(|&(_, reward)| (reward - threshold).powi(2)).sum();
    ((squares / n as f64).sqrt(), NoiseSource::Rewards)
}

/// Features of one kind: independent, dependent, categories with a constant, fewer arms than features, or units far apart.
fn features(kind: usize, rng: &mut Rng) -> Vec<Vec<f64>> {
    let mut draw = |n_arms: usize, d: usize| -> Vec<Vec<f64>> {
        (0..n_arms).map(|_| (0..d).map(|_| uniform(rng)).collect()).collect()
    };
    match kind {
        0 => draw(60, 4),
        1 => {
            let mut rows = draw(60, 3);
            for row in &mut rows {
                let sum = 0.3 * row[0] - 1.7 * row[2];
                row.extend([sum, 0.0, 1e6 * row[1], 1e-6 * (row[0] + sum)]);
            }
            rows
        }
        2 => {
            let mut rows = draw(60, 2);
            for (arm, row) in rows.iter_mut().enumerate() {
                row.extend((0..5).map(|level| f64::from(u8::from(arm % 5 == level))));
                row.push(1.0);
            }
            rows
        }
        3 => draw(12, 20),
        4 => {
            let rows = draw(8, 3);
            (0..60).map(|arm| rows[arm % 8].clone()).collect()
        }
        _ => {
            let units = [1e-300, 1e300, 1.0, 1e-9];
            draw(60, 4).iter().map(|row| row.iter().zip(units).map(|(x, unit)| x * unit).collect()).collect()
        }
    }
}

#[test]
fn the_estimate_is_its_definition_by_dense_linear_algebra() {
    let mut sources = [0, 0, 0];
    for kind in 0..6 {
        for seed in 0..6 {
            let mut rng = stream(100 + seed, Purpose::Noise, kind as u64);
            let rows = features(kind, &mut rng);
            let mut terms = terms(spec("apt"), None);
            let level = [0.0, 1e3][kind % 2];
            terms.question = Question::new(level, 0.0).unwrap();
            let mut campaign = CampaignState::new(Arms::from_rows(&rows).unwrap(), terms).unwrap();
            let mut rewards = Vec::new();
            // Few arms are repeated with some seeds, many with others.
            let n_choices = if seed % 2 == 0 { rows.len() } else { rows.len().min(14) };
            for _ in 0..60 {
                let arm = below(&mut rng, n_choices);
                let reward = level + arm as f64 / 10.0 + uniform(&mut rng);
                campaign.observe(arm, reward, false, 0).unwrap();
                rewards.push((arm, reward));
                let (sigma, source) = defined(&rows, &rewards, level);
                let ours = campaign.noise();
                let context = format!("kind {kind}, seed {seed}, {} rewards", rewards.len());
                assert_eq!(ours.source, source, "{context}");
                assert!((ours.sigma / sigma - 1.0).abs() < 1e-9, "{context}: {} against {sigma}", ours.sigma);
                sources[source as usize - NoiseSource::Replicates as usize] += 1;
            }
        }
    }
    assert!(sources.iter().all(|&n| n > 100), "{sources:?}");
}
