//! Custom rules and instances.

use cutline::rules::{Choice, CustomRule, NamedRule, RuleContext};
use cutline::{Arm, Arms, Rng};
use cutline_lab::{CustomInstances, CustomNoise, Experiment, Extensions, Overrides, SimulateOptions, Truth, simulate};
use std::path::Path;
use std::sync::Arc;

/// The rule of `straddle`.
struct Straddle;

impl CustomRule for Straddle {
    fn choose(&mut self, context: &mut dyn RuleContext, _: &mut Rng) -> Choice {
        let threshold = context.question().threshold();
        let spread: Vec<f64> = context.variances().iter().map(|variance| 1.96 * variance.sqrt()).collect();
        let index = |arm: Arm, mean: f64| spread[arm] - (mean - threshold).abs();
        let first = (0, f64::NEG_INFINITY);
        let means = context.means().iter().enumerate();
        let best = means.map(|(arm, &mean)| (arm, index(arm, mean)));
        best.fold(first, |best, next| if next.1 > best.1 { next } else { best }).0.into()
    }
}

/// Two arms, whose features are a function of the seed.
#[derive(Debug)]
struct OfSeed;

impl CustomInstances for OfSeed {
    fn draw(&self, seed: u64) -> Truth {
        let x = (seed % 1000) as f64 / 1000.0;
        Truth::Linear(Arms::from_rows(&[[1.0, x], [x, -1.0]]).unwrap(), vec![1.0, 0.5])
    }
}

/// 1, −1, 1, −1, … or the opposite.
#[derive(Debug)]
struct Alternating;

impl CustomNoise for Alternating {
    fn draw(&self, seed: u64, variates: &mut [f64]) {
        let sign = |pull: usize| if (pull as u64 + seed).is_multiple_of(2) { 1.0 } else { -1.0 };
        variates.iter_mut().enumerate().for_each(|(pull, variate)| *variate = sign(pull));
    }
}

fn read(kind: &str, extensions: &Extensions) -> Result<Experiment, String> {
    let text = format!(
        r#"
        budgets = [20]
        threshold = 0.1
        instance = {{ {kind} }}
        algorithm = [{{ name = "mine" }}, {{ name = "straddle" }}]
        "#
    );
    let read = Experiment::read(&text, "own", Path::new(""), Overrides::default(), extensions);
    read.map_err(|error| error.to_string())
}

fn extensions() -> Extensions {
    Extensions {
        rules: vec![NamedRule::new("mine", || Box::new(Straddle)).unwrap()],
        instances: Some(Arc::new(OfSeed)),
        noise: Some(Arc::new(Alternating)),
        ..Extensions::default()
    }
}

#[test]
fn a_custom_rule_gives_the_results_of_the_named_one() {
    let experiment = read(r#"kind = "uniform", n_arms = 9, dimension = 3"#, &extensions()).unwrap();
    let tally = simulate(&experiment, 0..60, SimulateOptions::default()).unwrap().tally;
    assert_eq!(tally.cell(0, 0), tally.cell(1, 0));
    assert!(tally.cell(0, 0).failures > 0);
}

#[test]
fn instances_are_a_function_of_the_run() {
    let redrawn = read(r#"kind = "own""#, &extensions()).unwrap();
    let row = |experiment: &Experiment, run| experiment.source().instance(run).unwrap().arms().row(0);
    assert_eq!(row(&redrawn, 5), row(&redrawn, 5));
    assert_ne!(row(&redrawn, 5), row(&redrawn, 6));
    let once = read(r#"kind = "own", redraw = false"#, &extensions()).unwrap();
    assert_eq!(row(&once, 5), row(&redrawn, 0));
}

/// Two arms with means ±0.5 and noise ±σ: after four pulls in turn each arm has one sign of noise only, unless σ is below 0.5.
#[test]
fn custom_noise_is_scaled_and_a_function_of_the_run() {
    let experiment = |scale: &str| {
        let text = format!(
            r#"
            budgets = [4]
            threshold = 0
            noise = {{ kind = "own", scale = {scale} }}
            instance = {{ kind = "means", means = [0.5, -0.5] }}
            algorithm = [{{ name = "ucbe", estimator = "sample-mean", exploration = 1e40 }}]
            "#
        );
        Experiment::read(&text, "own", Path::new(""), Overrides::default(), &extensions()).unwrap()
    };
    let failures = |scale: &str, runs| {
        simulate(&experiment(scale), runs, SimulateOptions::default()).unwrap().tally.cell(0, 0).failures
    };
    assert_eq!((failures("0.4", 0..50), failures("[0.4, 0.4]", 0..50)), (0, 0));
    let wrong = failures("2", 0..50);
    assert!((10..40).contains(&wrong), "one sign in two: {wrong}");
    assert_eq!(failures("2", 0..20) + failures("2", 20..50), wrong);
    assert_eq!((experiment("[2, 3]").noise().scale(), experiment("2").noise().kind_name()), (3.0, "own"));
}

#[test]
fn unknown_rules_and_instances_are_refused() {
    let nothing = Extensions::default();
    assert!(read(r#"kind = "own""#, &nothing).unwrap_err().contains("`kind` must be one of"));
    assert!(read(r#"kind = "wine""#, &nothing).unwrap_err().contains("unknown algorithm `mine`"));
    let refused = read(r#"kind = "own", draw = "published""#, &extensions()).unwrap_err();
    assert!(refused.contains("of which nothing is drawn"), "{refused}");
}
