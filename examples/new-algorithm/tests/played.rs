//! The parts of this crate are played from the experiment file, and compute what their formulas say.

use cutline::estimators::{CustomEstimator, Estimator, NamedEstimator};
use cutline::{Arms, Confidence, IntervalKind, Problem, Question, Side, Spec, SpecError, StopReason};
use cutline_campaign::{CampaignState, Event, Record, Terms};
use cutline_lab::{SimulateOptions, rows, simulate};
use cutline_new_algorithm::{NormalInverseGamma, experiment, extensions};

fn question() -> Question {
    Question::new(0.5, 0.0).unwrap()
}

/// The closed form of the posterior: a = 1 + n/2 and b = 1 + ½ Σᵢ (Sᵢ + κ nᵢ/(κ + nᵢ) (r̄ᵢ − m)²).
#[test]
fn updates_give_the_posterior_in_closed_form() {
    let arms = Arms::without_features(2).unwrap();
    let mut estimator = NormalInverseGamma::new(&Problem { arms: &arms, question: question(), noise: 1.0 });
    for (arm, reward) in [(0, 1.0), (1, -0.5), (0, 2.0), (0, 3.0)] {
        estimator.observe(arm, reward);
    }
    let kappa = 0.1_f64;
    let expected = [(kappa * 0.5 + 6.0) / (kappa + 3.0), (kappa * 0.5 - 0.5) / (kappa + 1.0)];
    for (mean, expected) in estimator.means().iter().zip(expected) {
        assert!((mean - expected).abs() < 1e-12);
    }
    let rate = 1.0 + 0.5 * (2.0 + kappa * 3.0 / (kappa + 3.0) * 2.25 + kappa / (kappa + 1.0));
    assert!((estimator.noise_scale().unwrap() - (rate / 3.0).sqrt()).abs() < 1e-12);
    let marginals = estimator.marginals(question()).unwrap();
    assert_eq!(marginals.degrees_of_freedom, [6.0, 6.0]);
    assert!(marginals.doubts[0] < marginals.doubts[1], "three rewards say more than one");
}

#[test]
fn verdicts_use_the_marginals() {
    let estimator = extensions().unwrap().estimators.remove(0);
    let spec = Spec::named("apt").unwrap().with_custom_estimator(estimator).unwrap();
    let mut learner = spec.learner(&Arms::without_features(2).unwrap(), question(), 40, 0).unwrap();
    for pull in 0..20 {
        learner.tell(pull % 2, [0.9, 0.52][pull % 2] + if pull % 4 < 2 { 0.2 } else { -0.2 }).unwrap();
    }
    assert!(learner.depends_on_order(), "sums of squares do not follow from counts and means");
    let confidence = Confidence::new(IntervalKind::Fixed, 0.05, 1.0).unwrap();
    let sides: Vec<Side> = learner.beliefs().verdicts(&confidence).map(|verdict| verdict.side).collect();
    assert_eq!(sides, [Side::Above, Side::Undecided]);
}

#[test]
fn the_experiment_file_names_all_four_parts() {
    let extensions = extensions().unwrap();
    let experiment = experiment(&extensions).unwrap();
    let tally = simulate(&experiment, 0..200, SimulateOptions::default()).unwrap().tally;
    let rows = rows(&experiment, &tally);
    let row = |label: &str| rows.iter().find(|row| row.algorithm == label && row.budget == 320).unwrap();
    let stopping = row("least-sure").stopping.as_ref().unwrap();
    assert_eq!((stopping.by.as_str(), stopping.delta), ("few-errors", None));
    assert!(stopping.sure > 100 && stopping.mean_pulls < 300.0, "{stopping:?}");
    assert!(row("apt, own estimator").failure_rate < 0.2 && row("pivot, own estimator").failure_rate < 0.2);
    // The same pulls as without it, and arms that are above are missed more often.
    assert!(row("least-sure, cautious").failures > row("least-sure").failures);
    let again = simulate(&experiment, 0..200, SimulateOptions::default()).unwrap().tally;
    assert_eq!(tally, again);
}

#[test]
fn a_stop_ends_a_learner() {
    let extensions = extensions().unwrap();
    let spec = Spec::named("pivot").unwrap().with_custom_estimator(extensions.estimators[0].clone()).unwrap();
    let spec = spec.with_custom_stop(extensions.stops[0].clone());
    assert_eq!((spec.estimator_name(), spec.stop()), ("normal-inverse-gamma", "few-errors or budget".into()));
    let mut learner = spec.learner(&Arms::without_features(2).unwrap(), question(), 500, 0).unwrap();
    while let Some(arm) = learner.ask() {
        learner.tell(arm, [1.0, 0.0][arm]).unwrap();
    }
    assert_eq!(learner.stop_reason(), Some(StopReason::Custom));
    assert!(learner.beliefs().total_pulls < 40);
}

#[test]
fn what_does_not_fit_is_refused() {
    let estimator = extensions().unwrap().estimators.remove(0);
    let refused = Spec::named("lingame").unwrap().with_custom_estimator(estimator).unwrap_err();
    let name = "normal-inverse-gamma".to_owned();
    assert_eq!(refused, SpecError::NeedsFixedNoise { rule: "lingame", estimator: name });
    let without = CustomEstimator::new(|problem| Ok(Box::new(NormalInverseGamma::new(problem))));
    let without = NamedEstimator::new("means-only", without).unwrap();
    let refused = Spec::named("pivot").unwrap().with_custom_estimator(without).unwrap_err();
    assert_eq!(refused, SpecError::NeedsVariances { rule: "pivot", estimator: "means-only".into() });
    assert!(NamedEstimator::new("ridge", CustomEstimator::new(|_| Err("unused".into()))).is_err());
    let failing = NamedEstimator::new("failing", CustomEstimator::new(|_| Err("needs features".into()))).unwrap();
    let spec = Spec::named("apt").unwrap().with_custom_estimator(failing).unwrap();
    let refused = spec.learner(&Arms::without_features(1).unwrap(), question(), 5, 0).map(drop).unwrap_err();
    assert_eq!(refused.to_string(), "`failing` refused: needs features");
}

/// Sums of squares do not follow from counts and means, so a campaign that is opened again is told all rewards in order.
#[test]
fn a_campaign_is_played_and_replayed() {
    let extensions = extensions().unwrap();
    let spec = Spec::named("pivot").unwrap().with_custom_estimator(extensions.estimators[0].clone()).unwrap();
    let spec = spec.with_custom_stop(extensions.stops[0].clone());
    let terms = Terms { seed: 7, ..Terms::new(question(), spec, 1000) };
    let arms = Arms::without_features(3).unwrap();
    let mut campaign = CampaignState::new(arms.clone(), terms.clone()).unwrap();
    let mut events: Vec<Event> = Vec::new();
    loop {
        let asked = campaign.ask(2, "me", 0, 60_000);
        if asked.is_empty() {
            break;
        }
        events.extend(asked.iter().cloned());
        for event in asked {
            let Event::Asked { ticket, arm, .. } = event else { continue };
            let noise = if ticket % 2 == 0 { 0.4 } else { -0.4 };
            events.extend(campaign.tell(ticket, [0.9, 0.55, 0.2][arm] + noise, 0).unwrap());
        }
    }
    assert_eq!(campaign.stop_reason(), Some(StopReason::Custom));
    assert!(events.len() > 64, "more than are replayed from counts and means");
    let records: Vec<Record> = (1..).zip(events).map(|(number, event)| Record { number, at: 0, event }).collect();
    let mut again = CampaignState::new(arms, terms).unwrap();
    again.extend(&records).unwrap();
    assert_eq!((again.verdicts(), again.stop_reason()), (campaign.verdicts(), campaign.stop_reason()));
}
