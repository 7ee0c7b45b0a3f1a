//! The units of the rewards do not matter: rewards, τ and ε times a power of two give the same asks and the same sides.

use crate::common::{Problem, spec, take};
use cutline::rules::{Choice, CustomRule, NamedRule, RuleContext};
use cutline::{
    ALGORITHMS, Arm, Arms, EstimatorKind, Purpose, Question, Rng, Side, Spec, StopCriterion, StopReason, below, stream,
};
use cutline_campaign::{CampaignState, EarlyStop, Event, Terms, TicketId};

/// What a campaign did and said; numbers in units of the rewards are divided by the unit.
#[derive(Debug, PartialEq)]
struct Played {
    arms: Vec<Arm>,
    sides: Vec<Side>,
    doubts: Vec<f64>,
    means: Vec<f64>,
    noise: f64,
    stop: Option<StopReason>,
}

/// 120 asks in batches of up to four, whose rewards come in any order; some tickets fail, and some rewards come after their ticket has
/// expired.
fn play(arms: &Arms, problem: &Problem, terms: Terms, unit: f64) -> Played {
    let mut campaign = CampaignState::new(arms.clone(), terms).unwrap();
    let (mut choices, mut noise) = (stream(3, Purpose::Rule, 0), stream(4, Purpose::Noise, 0));
    let mut open: Vec<(TicketId, Arm)> = Vec::new();
    let mut late = Vec::new();
    let mut played =
        Played { arms: Vec::new(), sides: Vec::new(), doubts: Vec::new(), means: Vec::new(), noise: 0.0, stop: None };
    while played.arms.len() < 120 {
        let asked = campaign.ask(1 + below(&mut choices, 4), "me", 0, 1000);
        if asked.is_empty() && open.is_empty() {
            break;
        }
        for event in asked {
            let Event::Asked { ticket, arm, .. } = event else { panic!("{event:?}") };
            open.push((ticket, arm));
            played.arms.push(arm);
        }
        while open.len() > 3 || (!open.is_empty() && below(&mut choices, 2) == 0) {
            let (ticket, arm) = take(&mut open, &mut choices);
            match below(&mut choices, 8) {
                0 => drop(campaign.fail(ticket, "broken", 0).unwrap()),
                1 => {
                    campaign.expire(ticket, 0).unwrap();
                    late.push((ticket, arm));
                }
                _ => drop(campaign.tell(ticket, unit * problem.reward(arm, &mut noise), 0).unwrap()),
            }
        }
        if late.len() > 4 {
            let (ticket, arm) = take(&mut late, &mut choices);
            campaign.tell(ticket, unit * problem.reward(arm, &mut noise), 0).unwrap();
        }
        if played.arms.len().is_multiple_of(5) {
            played.sides.extend(campaign.verdicts().iter().map(|verdict| verdict.side));
        }
    }
    for verdict in campaign.verdicts() {
        played.sides.push(verdict.side);
        played.doubts.push(verdict.doubt);
        played.means.push(verdict.mean / unit);
    }
    played.noise = campaign.noise().sigma / unit;
    played.stop = campaign.stop_reason();
    played
}

/// Plays in units of 1, 2⁻¹⁰ and 2¹⁰, and compares. `noise` is σ in units of 1, if it is to be given.
fn check(case: &str, spec: &Spec, noise: Option<f64>, until_sure: Option<EarlyStop>) -> Option<StopReason> {
    let mut problem = Problem::uniform(24, 3, 5);
    // Some arms are to be decided soon.
    problem.means.iter_mut().for_each(|mean| *mean *= 3.0);
    let with_features = problem.arms();
    let mut cases = vec![with_features];
    if spec.estimator() != EstimatorKind::Ridge {
        cases.push(Arms::without_features(24).unwrap());
    }
    // With a large ε stops are met soon.
    let precision = if until_sure.is_some() { 1.0 } else { 0.01 };
    let mut stop = None;
    for arms in cases {
        let play = |unit: f64| {
            // UCB-E's exploration is in units of the squared rewards.
            let spec = spec.clone().with_oracle_exploration(2.0 * unit * unit).unwrap();
            let terms = Terms {
                noise: noise.map(|noise| noise * unit),
                until_sure,
                seed: 8,
                ..Terms::new(Question::new(0.2 * unit, precision * unit).unwrap(), spec, 1_000)
            };
            play(&arms, &problem, terms, unit)
        };
        let expected = play(1.0);
        assert!(expected.sides.iter().any(|side| *side != Side::Undecided), "{case}");
        for unit in [2.0_f64.powi(-10), 2.0_f64.powi(10)] {
            assert_eq!(play(unit), expected, "{case} in units of {unit}");
        }
        stop = stop.or(expected.stop);
    }
    stop
}

/// Every algorithm with every estimator it takes. σ is estimated or learnt, except for rules that have to be given σ.
#[test]
fn of_every_algorithm_with_every_estimator() {
    let mut n_cases = 0;
    for algorithm in ALGORITHMS {
        for estimator in EstimatorKind::ALL {
            let Ok(spec) = spec(algorithm.name).with_estimator(estimator.name()) else { continue };
            let noise = algorithm.needs_fixed_noise.then_some(0.6);
            check(&format!("{} on {}", algorithm.name, estimator.name()), &spec, noise, None);
            n_cases += 1;
        }
    }
    assert!(n_cases >= ALGORITHMS.len(), "every algorithm works with an estimator: {n_cases}");
}

/// The features as campaigns prepare them: centred at τ, and with an intercept.
#[test]
fn of_prepared_ridge_with_given_and_with_estimated_noise() {
    for name in ["pivot", "straddle", "linear-apt"] {
        let spec = spec(name).with("centre", 1.0).unwrap().with("intercept", 1.0).unwrap();
        check(name, &spec, None, None);
        check(name, &spec, Some(0.6), None);
    }
    check("pivot on mixed", &spec("pivot").with_estimator("mixed").unwrap(), Some(0.6), None);
}

/// Asks for the arm with the largest variance that is not decided yet, in units of the rewards.
struct LeastKnown;

impl CustomRule for LeastKnown {
    fn choose(&mut self, context: &mut dyn RuleContext, _: &mut Rng) -> Choice {
        let threshold = context.question().threshold();
        let mut index: Vec<f64> = context.variances().iter().map(|variance| 2.0 * variance.sqrt()).collect();
        index.iter_mut().zip(context.means()).for_each(|(index, mean)| *index -= (mean - threshold).abs());
        Choice::Pull((1..index.len()).fold(0, |best, arm| if index[arm] > index[best] { arm } else { best }))
    }
}

#[test]
fn of_custom_rules() {
    let custom = Spec::custom(NamedRule::new("mine", || Box::new(LeastKnown)).unwrap());
    for estimator in ["ridge", "mixed"] {
        check(estimator, &custom.clone().with_estimator(estimator).unwrap(), None, None);
    }
}

/// Stops are met after the same asks.
#[test]
fn of_stops() {
    let mixed = spec("pivot").with_estimator("mixed").unwrap();
    let (intervals, evidence) = (StopCriterion::Intervals.into(), StopCriterion::Evidence.into());
    for (spec, noise, stop) in [
        (spec("pivot"), Some(0.6), intervals),
        (spec("apt"), Some(0.6), intervals),
        (mixed.clone(), Some(0.6), intervals),
        (spec("pivot"), None, evidence),
        (spec("clucb"), None, evidence),
        (mixed, None, EarlyStop::ExpectedErrors(6.0)),
    ] {
        let case = format!("{} on {} until {stop}", spec.name(), spec.estimator().name());
        assert!(check(&case, &spec, noise, Some(stop)).is_some(), "{case}: never met");
    }
}
