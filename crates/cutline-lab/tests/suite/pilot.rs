//! Plans after a pilot, and plans for campaigns on the mixed model.

use cutline::estimators::{Estimator, Mixed, MixedSettings};
use cutline::{Arms, Purpose, Question, Spec, stream};
use cutline_campaign::{Expectation, Forecast, Goal, Pilot, PilotError, Plan, PlannedCampaign, Prior, Terms};
use cutline_lab::tables;
use rand_distr::{Distribution, StandardNormal};

fn question() -> Question {
    Question::new(2.0, 0.0).unwrap()
}

/// The campaign that a store would begin by default: `pivot` on the mixed model, σ estimated.
fn campaign(arms: &Arms) -> PlannedCampaign {
    let terms = Terms {
        rewards: None,
        ..Terms::new(question(), Spec::named("pivot").unwrap().with_estimator("mixed").unwrap(), 1)
    };
    PlannedCampaign { label: "pivot".into(), arms: arms.clone(), terms }
}

fn plan(arms: &Arms, prior: Prior, noise: f64, runs: u64) -> Plan {
    Plan {
        name: "test".into(),
        arms: arms.clone(),
        question: question(),
        noise,
        prior,
        campaigns: vec![campaign(arms)],
        goal: Goal::WrongShare(0.05),
        batch: std::num::NonZeroU32::MIN,
        runs,
        seed: 1,
    }
}

fn forecast(plan: &Plan, budgets: &[u32]) -> Forecast {
    plan.forecast(budgets, &plan.play(budgets, 0..plan.runs, &|_| ()).unwrap())
}

fn expected(expectation: Expectation) -> Prior {
    Prior::expected(expectation).unwrap()
}

/// The wrong calls that campaigns expect themselves are those that they make. 60 runs at K and 3K: the mean of the wrong calls has a
/// standard error of about 6 %; the verdicts are promised to be right to within a fifth.
#[test]
fn campaigns_expect_about_as_many_wrong_calls_as_they_make() {
    let plan = plan(&tables::iris(), expected(Expectation::default()), 0.5, 60);
    for row in forecast(&plan, &[150, 450]).prospects {
        let ratio = row.expected_errors / row.mean_errors;
        assert!(
            (0.65..1.5).contains(&ratio),
            "T = {}: {} expected, {} made",
            row.budget,
            row.expected_errors,
            row.mean_errors
        );
        assert!((0.1..0.9).contains(&row.decided), "{}", row.decided);
    }
}

/// Every number that is expected of the arms changes the forecast as it should: better features, less noise and a bar at the edge leave
/// fewer wrong calls. 30 runs; the differences are several standard errors.
#[test]
fn expectations_matter() {
    let arms = tables::iris();
    let usual = Expectation::default();
    let errors =
        |expectation, noise| forecast(&plan(&arms, expected(expectation), noise, 30), &[150]).prospects[0].mean_errors;
    let base = errors(usual, 0.5);
    assert!(errors(Expectation { explained: 0.95, ..usual }, 0.5) < 0.8 * base);
    assert!(errors(Expectation { explained: 0.1, ..usual }, 0.5) > 1.2 * base);
    assert!(errors(usual, 0.1) < 0.8 * base);
    assert!(errors(Expectation { above: 0.02, ..usual }, 0.5) < 0.6 * base);
    let same = errors(Expectation { spread: 4.0, ..usual }, 2.0);
    assert!((same - base).abs() < 1e-9, "the units do not matter: {same} and {base}");
}

/// A truth to measure, and rewards of some arms.
fn measured(arms: &Arms, n: usize) -> (Vec<f64>, Vec<(usize, f64)>) {
    let mut rng = stream(3, Purpose::Noise, 0);
    let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
    let means: Vec<f64> = (0..arms.n_arms()).map(|arm| arms.row(arm).unwrap()[2] - 1.5 + 0.3 * normal()).collect();
    let rewards = (0..n).map(|pull| pull * 7 % arms.n_arms()).map(|arm| (arm, means[arm] + 0.5 * normal()));
    let rewards = rewards.collect();
    (means, rewards)
}

/// A pilot teaches the model what a plan needs: σ = 0.5 and features that explain most. σ̂ from 600 rewards of 150 arms has a relative
/// standard error of about 1/√900; within 5 of those.
#[test]
fn a_pilot_says_what_to_expect() {
    let arms = tables::iris();
    let (_, rewards) = measured(&arms, 600);
    let pilot = Pilot::new(&arms, question(), rewards, None, 0).unwrap();
    assert!((pilot.noise() / 0.5 - 1.0).abs() < 5.0 / 30.0, "{}", pilot.noise());
    assert!(pilot.explained().features() > 0.8, "{:?}", pilot.explained());
    let given = Pilot::new(&arms, question(), measured(&arms, 60).1, Some(0.7), 0).unwrap();
    assert_eq!(given.noise(), 0.7);
    let said = Prior::pilot(given).to_string();
    assert!(said.starts_with("the posterior given a pilot of 60: features explain "), "{said}");
}

/// Budgets are new measurements, and campaigns keep the pilot: on known means, one measurement after a long pilot leaves far fewer wrong calls
/// than one measurement alone, and a longer pilot fewer than a short one.
#[test]
fn campaigns_keep_the_pilot() {
    let arms = tables::iris();
    let errors = |n: usize| {
        let (means, rewards) = measured(&arms, 450);
        let forecast = forecast(&plan(&arms, Prior::known(means, rewards[..n].to_vec()), 0.5, 60), &[1, 100]);
        assert_eq!(forecast.pilot, n);
        [0, 1].map(|row: usize| forecast.prospects[row].mean_errors)
    };
    let (none, short, long) = (errors(0), errors(75), errors(450));
    assert!(short[0] < 0.6 * none[0] && long[0] < short[0], "{none:?} {short:?} {long:?}");
    assert!(short[1] < short[0] && long[1] <= long[0], "{short:?} {long:?}");
}

/// Draws given a pilot vary by as much as the verdicts say: over 400 draws the deviation of an arm has a relative standard error of about
/// 4 %. The verdicts also allow for unequal noise, so that they may be somewhat wider or narrower.
#[test]
fn draws_are_as_uncertain_as_verdicts() {
    let arms = tables::iris();
    let (_, rewards) = measured(&arms, 200);
    let pilot = Pilot::new(&arms, question(), rewards.clone(), None, 0).unwrap();
    let mut model = Mixed::new(&arms, question(), &MixedSettings::default(), 0).unwrap();
    for &(arm, reward) in &rewards {
        model.observe(arm, reward);
    }
    let verdicts = model.marginals(question()).unwrap();
    let draws: Vec<Vec<f64>> = (0..400).map(|run| pilot.draw(&mut stream(1, Purpose::Instance, run))).collect();
    let mut ratios = 0.0;
    for arm in 0..150 {
        let mean = draws.iter().map(|draw| draw[arm]).sum::<f64>() / 400.0;
        let variance = draws.iter().map(|draw| (draw[arm] - mean).powi(2)).sum::<f64>() / 400.0;
        ratios += variance.sqrt() / verdicts.deviations[arm] / 150.0;
        assert!((mean - verdicts.means[arm]).abs() < verdicts.deviations[arm], "arm {arm}");
    }
    assert!((0.8..1.2).contains(&ratios), "{ratios}");
}

#[test]
fn invalid_pilots_are_refused() {
    let arms = tables::iris();
    let refused = |rewards: Vec<(usize, f64)>| Pilot::new(&arms, question(), rewards, None, 0).unwrap_err();
    assert_eq!(refused(vec![(150, 1.0)]), PilotError::Arm { arm: 150, n_arms: 150 });
    assert!(matches!(refused(vec![(0, f64::NAN)]), PilotError::Reward(_)));
    assert_eq!(refused(vec![(0, 1e200)]), PilotError::Reward(1e200));
    assert_eq!(refused(vec![]), PilotError::Nothing);
    assert_eq!(refused(vec![(0, 2.0), (1, 2.0)]), PilotError::Nothing, "all rewards are the threshold");
    assert!(matches!(Pilot::new(&arms, question(), vec![(0, 1.0)], Some(-1.0), 0).unwrap_err(), PilotError::Model(_)));
}
