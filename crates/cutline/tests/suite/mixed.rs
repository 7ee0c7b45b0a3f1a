//! The estimator `mixed` by name: every rule that works with it, units, seeds, parameters and refusals.

use crate::common::{Problem, arms_of, spec, take, uniform};
use cutline::estimators::{Explained, Marginals, Mixed, MixedError, MixedSettings};
use cutline::rules::{Choice, CustomRule, NamedRule, RuleContext};
use cutline::{
    ALGORITHMS, Arm, Arms, AskTell, Confidence, ConfidenceStop, IntervalKind, NoiseSource, Purpose, Question, Rng,
    Spec, SpecError, StopCriterion, StopReason, below, stream,
};
use cutline_campaign::{CampaignState, Event, Record, Terms};

fn mixed(name: &str) -> Spec {
    spec(name).with_estimator("mixed").unwrap()
}

/// Every algorithm whose rule works with it.
fn all() -> impl Iterator<Item = (&'static str, Spec)> {
    ALGORITHMS
        .iter()
        .filter(|algorithm| !algorithm.needs_fixed_noise && !algorithm.needs_sample_means)
        .map(|algorithm| (algorithm.name, mixed(algorithm.name)))
}

fn learner(spec: &Spec, problem: &Problem, budget: u32) -> Box<dyn AskTell> {
    spec.learner(&problem.arms(), problem.question, budget, 4).unwrap()
}

/// Means that are not linear in the features.
fn curved(n_arms: usize) -> Problem {
    let mut problem = Problem::uniform(n_arms, 2, 3);
    for (mean, row) in problem.means.iter_mut().zip(&problem.rows) {
        *mean = (3.0 * row[0]).sin() + row[1] * row[1];
    }
    problem
}

#[test]
fn asking_twice_gives_the_same_arm_and_runs_repeat() {
    let problem = curved(15);
    for (name, spec) in all() {
        let mut run = learner(&spec, &problem, 80);
        let mut rng = stream(2, Purpose::Noise, 0);
        let mut arms = Vec::new();
        while let Some(arm) = run.propose() {
            assert_eq!(run.propose(), Some(arm), "{name}");
            run.tell(arm, problem.reward(arm, &mut rng)).unwrap();
            arms.push(arm);
        }
        assert_eq!(arms, arms_of(learner(&spec, &problem, 80).as_mut(), &problem, 2), "{name}");
        assert_eq!(arms.len(), 80);
    }
}

#[test]
fn lost_pulls_leave_no_trace() {
    let problem = curved(9);
    // Rules that draw at random draw other numbers after a loss.
    for (name, spec) in all().filter(|(name, _)| !name.starts_with("random")) {
        let (mut with_loss, mut without) = (learner(&spec, &problem, 60), learner(&spec, &problem, 60));
        for run in [&mut with_loss, &mut without] {
            let mut rng = stream(1, Purpose::Noise, 0);
            for _ in 0..12 {
                let arm = run.ask().unwrap();
                run.tell(arm, problem.reward(arm, &mut rng)).unwrap();
            }
        }
        let lost: Vec<Arm> = (0..4).filter_map(|_| with_loss.ask()).collect();
        for &arm in lost.iter().rev() {
            with_loss.forget(arm);
        }
        assert_eq!(arms_of(with_loss.as_mut(), &problem, 6), arms_of(without.as_mut(), &problem, 6), "{name}");
    }
}

/// Rewards, τ, ε and σ in other units, a power of two so that nothing is rounded differently, change no choice. UCB-E is left out: its
/// exploration has a unit.
#[test]
fn units_do_not_matter() {
    let problem = curved(40);
    for (name, spec) in all().filter(|(name, _)| *name != "ucbe") {
        let play = |unit: f64| {
            let question = Question::new(unit * 0.1, unit * 0.01).unwrap();
            let mut learner = spec.learner(&problem.arms(), question, 200, 0).unwrap();
            let mut rng = stream(5, Purpose::Noise, 0);
            let mut arms = Vec::new();
            while let Some(arm) = learner.ask() {
                learner.tell(arm, unit * problem.reward(arm, &mut rng)).unwrap();
                arms.push(arm);
            }
            let noise = learner.beliefs().estimator.noise_scale().unwrap() / unit;
            let means: Vec<f64> = learner.beliefs().means().iter().map(|mean| mean / unit).collect();
            (arms, noise, means)
        };
        let expected = play(1.0);
        for unit in [2.0_f64.powi(-10), 2.0_f64.powi(10)] {
            assert_eq!(play(unit), expected, "{name} in units of {unit}");
        }
    }
}

/// The σ that a rule is given is used before the first reward only, and does not matter for Pivot then.
#[test]
fn the_noise_of_the_rule_does_not_matter() {
    let problem = curved(30);
    let play = |noise: f64| {
        let spec = mixed("pivot").with("noise", noise).unwrap();
        arms_of(learner(&spec, &problem, 60).as_mut(), &problem, 1)
    };
    assert_eq!(play(1e-3), play(1.0));
    assert_eq!(play(1e3), play(1.0));
    let mut run = learner(&mixed("pivot"), &problem, 60);
    let arms = arms_of(run.as_mut(), &problem, 1);
    let mut disturbed = learner(&mixed("pivot"), &problem, 60);
    let mut rng = stream(1, Purpose::Noise, 0);
    for &expected in &arms {
        let arm = disturbed.ask().unwrap();
        assert_eq!(arm, expected);
        disturbed.tell(arm, problem.reward(arm, &mut rng)).unwrap();
        disturbed.set_noise(100.0);
    }
}

#[test]
fn every_parameter_changes_something() {
    let problem = curved(20);
    for (parameter, values) in [
        ("landmarks", [0.0, 5.0]),
        ("landmarks", [5.0, 20.0]),
        ("length", [0.2, 5.0]),
        ("additive", [0.0, 0.5]),
        ("linear", [0.0, 1.0]),
        ("smooth", [0.0, 1.0]),
        ("own", [0.0, 1.0]),
        ("known_noise", [0.0, 2.0]),
        ("explore", [0.0, 1.0]),
    ] {
        let run = |value: f64| {
            let mut run = learner(&mixed("pivot").with(parameter, value).unwrap(), &problem, 100);
            (arms_of(run.as_mut(), &problem, 0), run.beliefs().means().to_vec())
        };
        assert_ne!(run(values[0]), run(values[1]), "{parameter}");
    }
}

#[test]
fn landmarks_follow_from_the_seed() {
    let problem = curved(30);
    let run = |landmarks: f64, seed: u64| {
        let spec = mixed("pivot").with("landmarks", landmarks).unwrap().with("explore", 0.0).unwrap();
        arms_of(spec.learner(&problem.arms(), problem.question, 60, seed).unwrap().as_mut(), &problem, 0)
    };
    assert_eq!(run(4.0, 1), run(4.0, 1));
    assert_ne!(run(4.0, 1), run(4.0, 2));
    assert_eq!(run(0.0, 1), run(0.0, 2), "nothing else depends on the seed");
}

/// Uniform noise on [−1, 1] has σ = 0.577. The noise of 300 rewards of 30 arms has some 270 degrees of freedom, so that its estimate has a
/// standard error of 4 %; 20 % is far beyond it.
#[test]
fn the_noise_and_the_parts_are_learnt() {
    let shares = |problem: &Problem| {
        let mut run = learner(&mixed("pivot"), problem, 300);
        arms_of(run.as_mut(), problem, 3);
        let noise = run.beliefs().estimator.noise_scale().unwrap();
        assert!((noise / 0.577 - 1.0).abs() < 0.2, "{noise}");
        let Explained { linear, smooth, own } = run.beliefs().estimator.explained().unwrap();
        assert!((linear + smooth + own - 1.0).abs() < 1e-12);
        [linear, smooth, own]
    };
    let linear = Problem::uniform(30, 2, 1);
    assert!(shares(&linear)[0] > 0.7, "{:?}", shares(&linear));
    let mut unrelated = linear;
    let mut rng = stream(8, Purpose::Instance, 0);
    unrelated.means.iter_mut().for_each(|mean| *mean = 3.0 * uniform(&mut rng));
    assert!(shares(&unrelated)[2] > 0.5, "{:?}", shares(&unrelated));
}

/// Features that are the same for all arms explain nothing, however much the arms differ.
#[test]
fn features_that_do_not_differ_explain_nothing() {
    let arms = Arms::from_rows(&[[1.0, 2.0]; 6]).unwrap();
    let mut learner = mixed("pivot").learner(&arms, Question::new(0.0, 0.0).unwrap(), 60, 4).unwrap();
    for reward in 0..30_u8 {
        learner.tell(usize::from(reward % 6), f64::from(reward % 6) - 2.0 + f64::from(reward % 7) / 50.0).unwrap();
    }
    let nothing = Explained { linear: 0.0, smooth: 0.0, own: 1.0 };
    assert_eq!(learner.beliefs().estimator.explained(), Some(nothing));
}

/// Without features the means are the sample means, shrunk towards their level.
#[test]
fn without_features_it_shrinks_sample_means() {
    let arms = Arms::without_features(6).unwrap();
    let mut run = mixed("apt").learner(&arms, Question::new(0.0, 0.0).unwrap(), 100, 0).unwrap();
    let truth = [-3.0, -2.0, -1.0, 1.0, 2.0, 3.0];
    for pull in 0..4 {
        for (arm, mean) in truth.iter().enumerate() {
            run.tell(arm, mean + if pull % 2 == 0 { 0.5 } else { -0.5 }).unwrap();
        }
    }
    for (mean, truth) in run.beliefs().means().iter().zip(truth) {
        assert!(mean.abs() < truth.abs() && mean.abs() > 0.9 * truth.abs(), "{mean} for {truth}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let lingame = Spec::named("lingame").unwrap().with_estimator("mixed").unwrap_err();
    assert_eq!(lingame, SpecError::NeedsFixedNoise { rule: "lingame", estimator: "mixed".into() });
    assert_eq!(
        lingame.to_string(),
        "the rule `lingame` needs a σ that does not change, and the estimator `mixed` learns σ from the rewards"
    );
    let problem = curved(5);
    assert!(mixed("pivot").with("length", 0.0).is_err() && mixed("pivot").with("landmarks", -1.0).is_err());
    assert!(mixed("pivot").with("lambda", 1.0).is_err(), "the model learns its own");
    assert!(Spec::batch(&[&mixed("pivot")], &[&problem.arms()], &[problem.question]).is_none());
}

#[test]
fn settings_out_of_range_are_refused() {
    let problem = curved(5);
    let refused =
        |settings: &MixedSettings, arms: &Arms| Mixed::new(arms, problem.question, settings, 0).err().unwrap();
    let all = MixedSettings::default;
    let cases = [
        (MixedSettings { length: 0.0, ..all() }, "the length must be a number between 0.001 and 1000, not 0"),
        (MixedSettings { length: f64::NAN, ..all() }, "the length must be a number between 0.001 and 1000, not NaN"),
        (
            MixedSettings { additive: 1.5, ..all() },
            "the share of additive functions must be a number between 0 and 1, not 1.5",
        ),
        (
            MixedSettings { known_noise: Some(0.0), ..all() },
            "the known noise must be a number between 1e-100 and 1e100, not 0",
        ),
        (MixedSettings { shares: Some(vec![0.0, 1.5]), ..all() }, "a share must be a number between 0 and 1, not 1.5"),
        (
            MixedSettings { scales: Some(vec![0.0]), ..all() },
            "a scale must be a number between 0.000001 and 1000000, not 0",
        ),
        (MixedSettings { scales: Some(vec![]), ..all() }, "the grid needs a scale and a share of at most 0.5"),
        (MixedSettings { shares: Some(vec![0.7]), ..all() }, "the grid needs a scale and a share of at most 0.5"),
        (
            MixedSettings { linear: false, own: false, landmarks: 0, ..all() },
            "the mixed model has no part left; it needs its linear part, its smooth part with landmarks, or its own part",
        ),
    ];
    for (settings, message) in cases {
        assert_eq!(refused(&settings, &problem.arms()).to_string(), message);
    }
    let without_own = MixedSettings { own: false, ..all() };
    let error = refused(&without_own, &Arms::without_features(3).unwrap());
    assert_eq!(error, MixedError::NeedsOwn);
    assert_eq!(error.to_string(), "arms without features need the own part of the mixed model");
    let none = ["linear", "smooth", "own"].iter().try_fold(mixed("pivot"), |spec, part| spec.with(part, 0.0)).unwrap();
    let error = none.learner(&problem.arms(), problem.question, 9, 0).err().unwrap();
    assert_eq!(error, SpecError::Mixed(MixedError::NoPart));
    assert_eq!(
        mixed("pivot").with_known_noise(-1.0).unwrap_err().to_string(),
        "`known_noise` must be a finite number between 0 and 1e100, not -1"
    );
}

/// A known σ is used by rule and verdicts from the start, and is part of the units. Other estimators ignore it.
#[test]
fn the_noise_can_be_known() {
    let problem = curved(30);
    let play = |unit: f64, noise: f64| {
        let spec = mixed("pivot").with_known_noise(unit * noise).unwrap();
        let question = Question::new(unit * 0.1, unit * 0.01).unwrap();
        let mut learner = spec.learner(&problem.arms(), question, 100, 0).unwrap();
        let mut rng = stream(5, Purpose::Noise, 0);
        let mut arms = Vec::new();
        while let Some(arm) = learner.ask() {
            learner.tell(arm, unit * problem.reward(arm, &mut rng)).unwrap();
            arms.push(arm);
        }
        assert_eq!(learner.beliefs().estimator.noise_scale(), Some(unit * noise));
        let means: Vec<f64> = learner.beliefs().means().iter().map(|mean| mean / unit).collect();
        (arms, means, learner.beliefs().estimator.explained())
    };
    let expected = play(1.0, 0.6);
    assert_eq!(play(2.0_f64.powi(-10), 0.6), expected);
    assert_eq!(play(2.0_f64.powi(10), 0.6), expected);
    assert_ne!(play(1.0, 0.1), expected);
    let values: Vec<(&str, f64)> = spec("pivot").with_known_noise(0.3).unwrap().values().collect();
    assert_eq!(values, spec("pivot").values().collect::<Vec<_>>());
}

/// A campaign that is given σ has a model that is given σ.
#[test]
fn the_noise_of_a_campaign_is_known_to_the_model() {
    let problem = curved(20);
    let terms = |noise| Terms { rewards: None, noise, seed: 4, ..Terms::new(problem.question, mixed("straddle"), 60) };
    let play = |noise| {
        let mut campaign = CampaignState::new(problem.arms(), terms(noise)).unwrap();
        let mut rng = stream(9, Purpose::Noise, 0);
        let mut arms = Vec::new();
        while let [Event::Asked { ticket, arm, .. }] = campaign.ask(1, "me", 0, 1)[..] {
            campaign.tell(ticket, problem.reward(arm, &mut rng), 0).unwrap();
            arms.push(arm);
        }
        (arms, campaign.noise())
    };
    let known = mixed("straddle").with_known_noise(0.6).unwrap();
    let (arms, noise) = play(Some(0.6));
    assert_eq!(arms, arms_of(learner(&known, &problem, 60).as_mut(), &problem, 9));
    assert_eq!((noise.sigma, noise.source), (0.6, NoiseSource::Given));
    let (arms, noise) = play(None);
    assert_eq!(arms, arms_of(learner(&mixed("straddle"), &problem, 60).as_mut(), &problem, 9));
    assert_eq!(noise.source, NoiseSource::Model);
}

/// The order in which arms are explored, from its definition.
fn exploration_order(n_arms: usize, seed: u64) -> Vec<Arm> {
    let mut rng = stream(seed, Purpose::Exploration, 0);
    let (mut rest, mut order) = ((0..n_arms).collect::<Vec<_>>(), Vec::new());
    while !rest.is_empty() {
        let other = below(&mut rng, rest.len());
        rest.swap(0, other);
        order.push(rest.remove(0));
    }
    order
}

/// An arm that was never pulled is explored before pull number k² + 1; otherwise the rule chooses. Pending pulls count, lost ones do not,
/// and rewards that were not asked for count as pulls.
#[test]
fn exploration_by_its_definition() {
    let problem = curved(25);
    let order = exploration_order(25, 4);
    let custom = Spec::custom(NamedRule::new("mine", || Box::new(Straddle)).unwrap()).with_estimator("mixed").unwrap();
    for (name, spec) in all().chain([("custom", custom)]) {
        let mut exploring = learner(&spec, &problem, u32::MAX);
        let mut plain = learner(&spec.with("explore", 0.0).unwrap(), &problem, u32::MAX);
        let mut rng = stream(11, Purpose::Instance, 0);
        let (mut pending, mut explored): (Vec<Arm>, usize) = (Vec::new(), 0);
        for _ in 0..300 {
            let total: u64 = exploring.beliefs().total_pulls;
            let is_square = (0..=total).any(|k| k * k == total);
            let next = order.iter().copied().find(|&arm| exploring.beliefs().pulls[arm] == 0).filter(|_| is_square);
            let chosen = exploring.propose().unwrap();
            assert_eq!(chosen, next.unwrap_or_else(|| plain.propose().unwrap()), "{name} at {total}");
            explored += usize::from(next.is_some());
            match below(&mut rng, 6) {
                0 if !pending.is_empty() => {
                    let arm = take(&mut pending, &mut rng);
                    exploring.forget(arm);
                    plain.forget(arm);
                }
                1 => {
                    let (arm, reward) = (below(&mut rng, 25), uniform(&mut rng));
                    pending.iter().position(|&waiting| waiting == arm).map(|place| pending.remove(place));
                    exploring.tell(arm, reward).unwrap();
                    plain.tell(arm, reward).unwrap();
                }
                2 | 3 if !pending.is_empty() => {
                    let arm = take(&mut pending, &mut rng);
                    let reward = problem.reward(arm, &mut rng);
                    exploring.tell(arm, reward).unwrap();
                    plain.tell(arm, reward).unwrap();
                }
                _ => {
                    exploring.assign(chosen);
                    plain.assign(chosen);
                    pending.push(chosen);
                }
            }
        }
        assert!(explored >= 3, "{name}: {explored}");
    }
}

/// Fixed intervals use the σ that was learnt, whatever the caller says; anytime intervals are infinite and decide nothing.
#[test]
fn verdicts_use_the_noise_that_was_learnt() {
    let problem = curved(12);
    let mut run = learner(&mixed("pivot"), &problem, 100);
    arms_of(run.as_mut(), &problem, 7);
    let mut verdicts = |interval, noise| -> Vec<cutline::Verdict> {
        let confidence = Confidence::new(interval, 0.05, noise).unwrap();
        run.beliefs().verdicts(&confidence).collect()
    };
    let fixed = verdicts(IntervalKind::Fixed, 1.0);
    assert_eq!(fixed, verdicts(IntervalKind::Fixed, 7.0));
    assert!(fixed.iter().any(cutline::Verdict::is_decided));
    let widths = [1.0, 2.0].map(|noise| {
        let anytime = verdicts(IntervalKind::Anytime, noise);
        for (anytime, fixed) in anytime.iter().zip(&fixed) {
            assert_eq!((anytime.doubt, anytime.mean), (fixed.doubt, fixed.mean));
        }
        anytime.iter().map(|verdict| verdict.upper - verdict.lower).fold(0.0, f64::max)
    });
    assert!((widths[1] / widths[0] - 2.0).abs() < 1e-9, "the level of anytime holds for a given σ: {widths:?}");
    let beliefs = run.beliefs();
    let marginals: Marginals = beliefs.estimator.marginals(beliefs.question).unwrap();
    for (arm, verdict) in fixed.iter().enumerate() {
        let (lower, upper) = marginals.interval(arm, 0.05);
        assert!((verdict.mean - marginals.means[arm]).abs() < 1e-12);
        assert!((verdict.lower - lower).abs() + (verdict.upper - upper).abs() < 1e-9, "{verdict:?}, {lower}, {upper}");
        let (wider_lower, wider_upper) = marginals.interval(arm, 0.01);
        assert!(wider_lower < lower && lower <= verdict.mean && verdict.mean <= upper && upper < wider_upper);
    }
}

/// The journal of a campaign with these rewards in this order: asked in batches of `batch`, with tickets that fail and tickets that
/// expire in between.
fn journal(rewards: &[(Arm, f64)], batch: usize) -> Vec<Record> {
    let mut events = Vec::new();
    let mut ticket = 0;
    let mut ask = |arm: Arm, events: &mut Vec<Event>| {
        ticket += 1;
        events.push(Event::Asked { ticket, arm, worker: String::new(), until: 1, replicate_of: None });
        ticket
    };
    for (number, rewards) in rewards.chunks(batch).enumerate() {
        let tickets: Vec<_> = rewards.iter().map(|&(arm, _)| ask(arm, &mut events)).collect();
        let (lost, expired) = (ask(number % 9, &mut events), ask((number + 4) % 9, &mut events));
        for (place, (&ticket, &(_, reward))) in tickets.iter().zip(rewards).enumerate() {
            if place == batch / 2 {
                events.push(Event::Failed { ticket: lost, reason: String::new() });
            }
            events.push(Event::Told { ticket, reward });
        }
        events.push(Event::Expired { ticket: expired });
    }
    (1..).zip(events).map(|(number, event)| Record { number, at: 0, event }).collect()
}

/// σ and the shares after a number of rewards are a function of the rewards: the same in a learner that receives them one by one, and in
/// campaigns with any tickets in between, however their journal is split.
#[test]
fn what_is_learnt_depends_on_the_rewards_alone() {
    let problem = curved(15);
    let mut rng = stream(6, Purpose::Noise, 0);
    let rewards: Vec<(Arm, f64)> = (0..250)
        .map(|_| {
            let arm = below(&mut rng, 15);
            (arm, 1e3 + problem.reward(arm, &mut rng))
        })
        .collect();
    let question = Question::new(1e3, 0.01).unwrap();
    let mut learner = mixed("pivot").learner(&problem.arms(), question, 1_000, 0).unwrap();
    let expected: Vec<(f64, Explained)> = rewards
        .iter()
        .map(|&(arm, reward)| {
            learner.tell(arm, reward).unwrap();
            let estimator = learner.beliefs().estimator;
            (estimator.noise_scale().unwrap(), estimator.explained().unwrap())
        })
        .collect();
    for (batch, piece) in [(1, 1), (7, 1), (30, 1), (1, 50), (7, 3), (30, 301)] {
        let terms = Terms { rewards: None, ..Terms::new(question, mixed("pivot"), 2_000) };
        let mut campaign = CampaignState::new(problem.arms(), terms).unwrap();
        for records in journal(&rewards, batch).chunks(piece) {
            campaign.extend(records).unwrap();
            if let Some(last) = (campaign.progress().counted as usize).checked_sub(1) {
                assert_eq!((campaign.noise().sigma, campaign.explained().unwrap()), expected[last], "after {last}");
            }
        }
        assert_eq!(campaign.progress().counted, 250);
    }
}

/// Straddle, written as a custom rule: it sees variances and means in units of the rewards.
struct Straddle;

impl CustomRule for Straddle {
    fn choose(&mut self, context: &mut dyn RuleContext, _: &mut Rng) -> Choice {
        let threshold = context.question().threshold();
        let mut index: Vec<f64> = context.variances().iter().map(|variance| 1.96 * variance.sqrt()).collect();
        index.iter_mut().zip(context.means()).for_each(|(index, mean)| *index -= (mean - threshold).abs());
        Choice::Pull((1..index.len()).fold(0, |best, arm| if index[arm] > index[best] { arm } else { best }))
    }
}

#[test]
fn custom_rules_see_the_noise_that_was_learnt() {
    let problem = curved(20);
    let rule = NamedRule::new("mine", || Box::new(Straddle)).unwrap();
    let custom = Spec::custom(rule).with_estimator("mixed").unwrap();
    let run = |spec: &Spec| arms_of(learner(spec, &problem, 80).as_mut(), &problem, 5);
    assert_eq!(run(&custom), run(&mixed("straddle")));
}

/// The stop `intervals` uses each arm's own rewards and the σ it was given: it is met exactly when the bounds of sample means decide every
/// arm and agree with the model's sides, whatever σ the model has learnt.
#[test]
fn the_guaranteed_stop_is_that_of_sample_means() {
    let (delta, noise) = (0.1, 0.5);
    let problem = Problem { question: Question::new(0.1, 0.3).unwrap(), ..curved(12) };
    let stop = |criterion| ConfidenceStop::new(criterion, delta, noise).unwrap();
    let spec = mixed("pivot").with_confidence_stop(stop(StopCriterion::Intervals));
    let mut learner = spec.learner(&problem.arms(), problem.question, 4_000, 0).unwrap();
    let mut means = Spec::named("apt").unwrap().learner(&problem.arms(), problem.question, 4_000, 0).unwrap();
    let intervals = Confidence::new(IntervalKind::Anytime, delta, noise).unwrap();
    let mut rng = stream(8, Purpose::Noise, 0);
    let mut pulls = 0;
    while let Some(arm) = learner.ask() {
        let reward = problem.means[arm] + noise * uniform(&mut rng);
        learner.tell(arm, reward).unwrap();
        means.tell(arm, reward).unwrap();
        pulls += 1;
        let sides: Vec<bool> = learner.beliefs().means().iter().map(|&mean| problem.question.is_above(mean)).collect();
        let decided: Vec<_> = means.beliefs().verdicts(&intervals).collect();
        let is_sure = decided
            .iter()
            .zip(sides)
            .all(|(verdict, is_above)| verdict.is_decided() && problem.question.is_above(verdict.mean) == is_above);
        assert_eq!(learner.stop_reason().is_some(), is_sure, "after {pulls} pulls");
    }
    assert!(pulls > 50 && learner.stop_reason() == Some(StopReason::Confidence), "{pulls}");

    let spec = mixed("pivot").with_confidence_stop(stop(StopCriterion::Evidence));
    let mut heuristic = spec.learner(&problem.arms(), problem.question, 4_000, 0).unwrap();
    let mut rng = stream(8, Purpose::Noise, 0);
    while let Some(arm) = heuristic.ask() {
        heuristic.tell(arm, problem.means[arm] + noise * uniform(&mut rng)).unwrap();
    }
    assert_eq!(heuristic.stop_reason(), Some(StopReason::Confidence));
    assert!(heuristic.beliefs().total_pulls < pulls, "the heuristic ends earlier");
}
