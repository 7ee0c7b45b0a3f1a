//! Plans against closed forms, and a planned budget against runs with another seed.
//!
//! Seeds are fixed. Unless a test says otherwise, a tolerance is 4.9 standard errors of what is compared, so that a
//! correct program would fail a comparison for one seed in 10⁶.

use cutline::{Arms, ConfidenceStop, Question, Spec, StopCriterion};
use cutline_lab::{Forecast, ForecastRow, Noise, NoiseKind, Plan, PlanError, Prior, ThetaPosterior, simulate};
use std::f64::consts::PI;

/// A plan for arms with these features; rewards have noise 1, and arms are above if their mean is.
fn plan(rows: &[Vec<f64>], prior: Prior, algorithms: &[&str]) -> Plan {
    Plan {
        name: "test".into(),
        arms: Arms::from_rows(rows).unwrap(),
        question: Question::new(0.0, 0.0).unwrap(),
        noise: Noise::new(NoiseKind::Gaussian, 1.0).unwrap(),
        prior,
        algorithms: algorithms.iter().map(|name| Spec::named(name).unwrap()).collect(),
        target: 0.05,
        runs: 20_000,
        seed: 1,
    }
}

fn forecast(plan: &Plan, budgets: &[u32]) -> Forecast {
    let experiment = plan.experiment(budgets).unwrap();
    plan.forecast(&experiment, &simulate(&experiment, 0..plan.runs, &|_| ()).unwrap()).unwrap()
}

fn assert_failure(row: &ForecastRow, probability: f64) {
    let error = (probability * (1.0 - probability) / row.runs as f64).sqrt();
    let rate = row.failure_rate;
    assert!((rate - probability).abs() <= 4.9 * error, "T = {}: {rate}, not {probability} ± {error}", row.budget);
}

fn one_arm(prior: Prior) -> Plan {
    plan(&[vec![1.0]], prior, &["pivot"])
}

/// θ ~ N(0, s²) and the mean of T rewards have correlation s/√(s² + σ²/T), so their signs differ with probability
/// arctan(σ/(s√T))/π (Sheppard 1899). It is 0.05 at T = (σ/(s tan 0.05π))², 39.86 for σ = s.
#[test]
fn one_arm_needs_what_trigonometry_says() {
    for (sigma, scale) in [(1.0, 1.0), (3.0, 3.0), (0.5, 1.0)] {
        let mut plan = Plan { runs: 10_000, ..one_arm(Prior::normal(scale).unwrap()) };
        plan.noise = Noise::new(NoiseKind::Gaussian, sigma).unwrap();
        let ratio = sigma / scale;
        let budgets = [2, 5, 10, 20, 50, 100];
        let forecast = forecast(&plan, &budgets);
        for row in &forecast.prospects {
            assert_failure(row, (ratio / f64::from(row.budget).sqrt()).atan() / PI);
        }
        // p falls as 1/√T, so a relative error of the rate is twice as large in T.
        let exact = (ratio / (0.05 * PI).tan()).powi(2);
        let tolerance = 4.9 * 2.0 * (0.95 / (0.05 * plan.runs as f64)).sqrt() * exact + 1.0;
        let answer = &forecast.answers[0];
        let budget = f64::from(answer.budget.unwrap());
        assert!((budget - exact).abs() <= tolerance, "{budget}, not {exact} ± {tolerance}");
        let (low, high) = (f64::from(answer.low.unwrap()), f64::from(answer.high.unwrap()));
        assert!(low < budget && budget < high && high - low < tolerance, "{low} to {high}, ± {tolerance}");
    }
}

/// The interval of the planned budget contains the exact budget in 95 % of plans, except for the curvature between two
/// budgets. Of 200 plans, fewer than 178 or all 200 would be a false alarm for one seed in 4,000 at a true 95 %.
#[test]
fn the_interval_contains_the_budget() {
    let exact = (1.0 / (0.05 * PI).tan()).powi(2);
    let holds = |seed: u64| {
        let plan = Plan { runs: 250, seed, ..one_arm(Prior::normal(1.0).unwrap()) };
        let answer = &forecast(&plan, &[5, 7, 10, 15, 20, 30, 50, 70, 100]).answers[0];
        let is_above = answer.low.is_none_or(|low| f64::from(low) <= exact);
        let is_below = answer.high.is_none_or(|high| f64::from(high) >= exact);
        is_above && is_below
    };
    let held = (0..200).filter(|&seed| holds(seed)).count();
    assert!((178..200).contains(&held), "{held} of 200");
}

/// Six unit vectors pulled once each: every arm is wrong with probability ¼, independently, at σ = s.
#[test]
fn orthogonal_arms_fail_independently() {
    let rows: Vec<Vec<f64>> = (0..6).map(|i| (0..6).map(|j| f64::from(i == j)).collect()).collect();
    let plan = plan(&rows, Prior::normal(1.0).unwrap(), &["linear-apt", "random", "apt"]);
    for row in forecast(&plan, &[6]).prospects {
        assert_failure(&row, 1.0 - 0.75_f64.powi(6));
        let error = (6.0 * 0.25 * 0.75 / row.runs as f64).sqrt();
        assert!((row.mean_errors - 1.5).abs() <= 4.9 * error, "{}", row.mean_errors);
        let half = (row.errors_high - row.errors_low) / 2.0;
        assert!((half / (1.96 * error) - 1.0).abs() < 0.05, "± {half}, not ± {}", 1.96 * error);
    }
}

/// A pilot of n = 2 with rewards 3 and 1, λ = 1: θ ~ N(4/3, 1/3). With τ = 4/3 and T more rewards, the posterior mean
/// is on the wrong side with probability arccos(√(T/(1 + n + T)))/π. A learner without the pilot would estimate
/// the mean from its own rewards only, shrunk towards 0.
#[test]
fn budgets_come_after_the_pilot() {
    let arms = Arms::from_rows(&[[1.0]]).unwrap();
    let posterior = ThetaPosterior::new(&arms, vec![(0, 3.0), (0, 1.0)], 1.0).unwrap();
    assert!((posterior.mean()[0] - 4.0 / 3.0).abs() < 1e-15);
    let mut plan = one_arm(Prior::posterior(posterior));
    plan.question = Question::new(4.0 / 3.0, 0.0).unwrap();
    plan.algorithms.push(Spec::named("linear-apt").unwrap());
    let forecast = forecast(&plan, &[1, 3, 9]);
    for row in &forecast.prospects {
        let t = f64::from(row.budget);
        assert_failure(row, (t / (3.0 + t)).sqrt().acos() / PI);
    }
    assert_eq!((forecast.pilot, forecast.theorem_1.len()), (2, 0), "the theorem knows no pilot");
}

/// A pilot that decides every arm: every run stops before its first pull, because the pilot's pulls are not counted.
#[test]
fn pulls_until_the_stop_do_not_count_the_pilot() {
    let arms = Arms::from_rows(&[[1.0]]).unwrap();
    let posterior = ThetaPosterior::new(&arms, vec![(0, 5.0); 100], 1.0).unwrap();
    let mut plan = one_arm(Prior::posterior(posterior));
    plan.algorithms = vec![
        Spec::named("pivot")
            .unwrap()
            .with_confidence_stop(ConfidenceStop::new(StopCriterion::Intervals, 0.05, 1.0).unwrap()),
    ];
    let tally = simulate(&plan.experiment(&[10]).unwrap(), 0..8, &|_| ()).unwrap();
    let stopped = tally.stopped(0, 0);
    assert_eq!((stopped.runs(), stopped.quantile(100, 8, 10)), (8, 0));
}

/// Features with some spread, from a small generator: K rows of d numbers in [−1, 1).
fn spread(n_arms: usize, dimension: usize) -> Vec<Vec<f64>> {
    let mut state = 7_u64;
    let mut number = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    (0..n_arms).map(|_| (0..dimension).map(|_| number()).collect()).collect()
}

fn practical(algorithms: &[&str]) -> Plan {
    let mut plan = plan(&spread(30, 3), Prior::uniform(), algorithms);
    plan.question = Question::new(0.2, 0.4).unwrap();
    plan.runs = 10_000;
    plan
}

/// A plan with one seed is confirmed with another: the failure rate at the planned budget lies within 4.9 standard
/// errors of the target, those of the plan and of the check together, 0.0151. That is an error of the budget of at most 20 %.
#[test]
fn a_planned_budget_reaches_the_target() {
    for algorithm in ["pivot", "linear-apt"] {
        let plan = practical(&[algorithm]);
        let budget = forecast(&plan, &plan.scout(&|_| ()).unwrap()).answers[0].budget.unwrap();
        let check = forecast(&Plan { seed: 2, ..plan }, &[budget]);
        let error = (2.0 * 0.05 * 0.95 / 10_000.0_f64).sqrt();
        let rate = check.prospects[0].failure_rate;
        assert!((rate - 0.05).abs() <= 4.9 * error, "{algorithm} at T = {budget}: {rate}");
    }
}

#[test]
fn any_number_of_threads_plans_the_same() {
    let mut plan = practical(&["pivot", "linear-apt", "random"]);
    plan.question = Question::new(0.2, 3.0).unwrap();
    plan.runs = 40;
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| (plan.scout(&|_| ()).unwrap(), forecast(&plan, &[5, 40, 4000])))
    };
    let one = on(1);
    assert!(one.1.theorem_1[2].share > 0.5, "the sum has terms below 1");
    assert_eq!(one, on(2));
    assert_eq!(one, on(5));
}

/// x = ±1, τ = ε = 0: H = 2/θ², so for T > 32 the bound is (1 + T) exp(−θ²(√(T/32) − 1)²), averaged here over
/// θ ~ N(0, 4) by Simpson's rule.
#[test]
fn theorem_1_is_averaged_over_the_prior() {
    let plan = plan(&[vec![1.0], vec![-1.0]], Prior::normal(2.0).unwrap(), &["linear-apt"]);
    let forecast = forecast(&plan, &[1, 2, 32, 100, 400]);
    for guarantee in &forecast.theorem_1 {
        let t = f64::from(guarantee.budget);
        if t <= 32.0 {
            assert_eq!((guarantee.share, guarantee.bound), (0.0, None), "T = {t}");
            continue;
        }
        let bound = |theta: f64| (1.0 + t) * (-(theta * ((t / 32.0).sqrt() - 1.0)).powi(2)).exp();
        let mean = over_normal(2.0, |theta| bound(theta).min(1.0));
        let share = over_normal(2.0, |theta| f64::from(bound(theta) < 1.0));
        let error = 0.5 / (plan.runs as f64).sqrt();
        assert!((guarantee.share - share).abs() <= 4.9 * error, "T = {t}: {} not {share}", guarantee.share);
        assert!((guarantee.bound.unwrap() - mean).abs() <= 4.9 * error, "T = {t}: {:?} not {mean}", guarantee.bound);
    }
}

/// With ε = 100 the bound is tiny at any budget, but LinearAPT takes none below K = 30.
#[test]
fn theorem_1_guarantees_nothing_below_the_number_of_arms() {
    let mut plan = practical(&["pivot", "linear-apt"]);
    plan.question = Question::new(0.2, 100.0).unwrap();
    plan.runs = 20;
    let theorem = forecast(&plan, &[29, 30]).theorem_1;
    assert_eq!((theorem[0].share, theorem[0].bound), (0.0, None));
    assert!(theorem[1].share == 1.0 && theorem[1].bound.is_some_and(|bound| 0.0 < bound && bound < 1e-6));
}

/// Pivot gets the noise of the plan.
#[test]
fn rules_get_the_noise() {
    let mut plan = practical(&["pivot"]);
    plan.noise = Noise::new(NoiseKind::Gaussian, 2.5).unwrap();
    let experiment = plan.experiment(&[4]).unwrap();
    assert!(experiment.entrants()[0].spec().values().any(|value| value == ("noise", 2.5)));
}

/// E f(θ), θ ~ N(0, s²).
fn over_normal(scale: f64, f: impl Fn(f64) -> f64) -> f64 {
    let n = 200_000;
    let step = 16.0 / f64::from(n);
    let density = |z: f64| (-z * z / 2.0).exp() / (2.0 * PI).sqrt();
    let term = |i: i32| {
        let z = -8.0 + step * f64::from(i);
        let weight = if i == 0 || i == n { 1.0 } else { f64::from(2 + 2 * (i % 2)) };
        weight * density(z) * f(scale * z)
    };
    (0..=n).map(term).sum::<f64>() * step / 3.0
}

#[test]
fn budgets_below_the_number_of_arms_are_skipped() {
    let mut plan = practical(&["linear-apt", "pivot"]);
    plan.runs = 50;
    let below = forecast(&plan, &[5, 29]);
    assert_eq!(below.answers.len(), 1);
    assert!(below.prospects.iter().all(|row| row.algorithm == "pivot"));
    assert_eq!((below.left_out[0].algorithm.as_str(), &below.left_out[0].budgets[..]), ("linear-apt", &[5, 29][..]));
    let around = forecast(&plan, &[5, 29, 30, 60]);
    let budgets = |name: &str| -> Vec<u32> {
        around.prospects.iter().filter(|p| p.algorithm == name).map(|p| p.budget).collect()
    };
    assert_eq!((budgets("pivot"), budgets("linear-apt")), (vec![5, 29, 30, 60], vec![30, 60]));
    assert_eq!(around.answers[0].tried_from, 30);

    plan.algorithms.pop();
    let refused = plan.experiment(&[5, 29]).unwrap_err().to_string();
    assert!(refused.starts_with("algorithm `linear-apt`: a budget of 29 is too small for 30 arms"), "{refused}");
    assert!(plan.scout(&|_| ()).unwrap().last().is_some_and(|&budget| budget >= 30), "it goes on to larger budgets");

    // With a pilot of two, 28 more are enough for one pull per arm.
    let posterior = ThetaPosterior::new(&plan.arms, vec![(3, 1.0), (4, 0.5)], 1.0).unwrap();
    plan.prior = Prior::posterior(posterior);
    assert!(plan.experiment(&[27]).is_err() && plan.experiment(&[28]).is_ok());
}

/// The scouted budgets lie on both sides of the answer; where the target cannot be met, they end.
#[test]
fn scouts_find_the_range() {
    let mut plan = practical(&["pivot", "linear-apt"]);
    plan.runs = 200;
    for (precision, target) in [(0.25, 0.05), (0.4, 0.01), (0.1, 0.3)] {
        plan.question = Question::new(0.2, precision).unwrap();
        plan.target = target;
        let budgets = plan.scout(&|_| ()).unwrap();
        let forecast = forecast(&plan, &budgets);
        let best = forecast.answers.iter().filter_map(|answer| answer.budget).min().unwrap();
        assert!(budgets[0] < best && best < *budgets.last().unwrap(), "{best} in {budgets:?}");
        assert!(budgets.len() <= 14, "{budgets:?}");
    }
    // At ε = 0 with a tiny target there is no end.
    plan.question = Question::new(0.2, 0.0).unwrap();
    (plan.target, plan.runs) = (1e-6, 4);
    let budgets = plan.scout(&|_| ()).unwrap();
    assert!(*budgets.last().unwrap() <= 10_000_000 / 590, "{budgets:?}");
}

/// One arm, one feature, one run: every shape can be planned.
#[test]
fn small_and_odd_shapes() {
    let shapes: [&[Vec<f64>]; 4] = [&[vec![1.0]], &[vec![0.0]], &[vec![1.0, 2.0, 3.0]], &[vec![1.0], vec![1.0]]];
    for rows in shapes {
        let plan = Plan { runs: 1, ..plan(rows, Prior::uniform(), &["pivot", "linear-apt", "random"]) };
        let budgets = plan.scout(&|_| ()).unwrap();
        let forecast = forecast(&plan, &budgets);
        assert_eq!(forecast.answers.len(), 3);
        assert!(forecast.prospects.iter().all(|p| p.low <= p.failure_rate && p.failure_rate <= p.high));
    }
}

#[test]
fn invalid_plans_are_refused() {
    let good = || Plan { runs: 2, ..one_arm(Prior::uniform()) };
    for target in [0.0, 1e-10, 1.0, -0.1, f64::NAN] {
        let refused = Plan { target, ..good() }.experiment(&[4]).unwrap_err();
        assert!(matches!(refused, PlanError::Target(_)), "{refused}");
    }
    for budgets in [&[][..], &[0], &[0, 4], &[4, 4], &[8, 4]] {
        assert_eq!(good().experiment(budgets).unwrap_err(), PlanError::Budgets);
    }
    let named = |names: &[&str]| Plan { algorithms: names.iter().map(|n| Spec::named(n).unwrap()).collect(), ..good() };
    assert_eq!(named(&[]).experiment(&[4]).unwrap_err(), PlanError::NoAlgorithms);
    assert_eq!(named(&["apt", "pivot", "apt"]).experiment(&[4]).unwrap_err(), PlanError::Twice("apt"));
    assert!(named(&["ucbe"]).scout(&|_| ()).unwrap_err().to_string().contains("needs the parameter `exploration`"));
    let large = Plan { arms: Arms::from_rows(&[[1e9]]).unwrap(), ..good() };
    assert!(large.experiment(&[4]).unwrap_err().to_string().contains("too large"));
    let bare = Plan { arms: Arms::without_features(3).unwrap(), ..good() };
    assert!(bare.experiment(&[4]).is_err());
}
