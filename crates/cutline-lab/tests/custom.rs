//! Rules and instances that a file cannot hold.

use cutline::rules::{CustomRule, NamedRule, RuleContext};
use cutline::{Arm, Arms, Rng};
use cutline_lab::{Experiment, Extensions, Instances, Overrides, Truth, simulate};
use std::path::Path;
use std::sync::Arc;

/// The rule of `straddle`.
struct Straddle;

impl CustomRule for Straddle {
    fn choose(&self, context: &mut dyn RuleContext, _: &mut Rng) -> Arm {
        let threshold = context.question().threshold();
        let spread: Vec<f64> = context.variances().iter().map(|variance| 1.96 * variance.sqrt()).collect();
        let index = |arm: Arm, mean: f64| spread[arm] - (mean - threshold).abs();
        let first = (0, f64::NEG_INFINITY);
        let means = context.means().iter().enumerate();
        let best = means.map(|(arm, &mean)| (arm, index(arm, mean)));
        best.fold(first, |best, next| if next.1 > best.1 { next } else { best }).0
    }
}

/// Two arms, whose features are a function of the seed.
#[derive(Debug)]
struct OfSeed;

impl Instances for OfSeed {
    fn draw(&self, seed: u64) -> Truth {
        let x = (seed % 1000) as f64 / 1000.0;
        Truth::Linear(Arms::from_rows(&[[1.0, x], [x, -1.0]]).unwrap(), vec![1.0, 0.5])
    }
}

fn read(kind: &str, brought: &Extensions) -> Result<Experiment, String> {
    let text = format!(
        r#"
        budgets = [20]
        threshold = 0.1
        instance = {{ {kind} }}
        algorithm = [{{ name = "mine" }}, {{ name = "straddle" }}]
        "#
    );
    let read = Experiment::read(&text, "own", Path::new(""), Overrides::default(), brought);
    read.map_err(|error| error.to_string())
}

fn brought() -> Extensions {
    Extensions { rules: vec![NamedRule::new("mine", Arc::new(Straddle)).unwrap()], instances: Some(Arc::new(OfSeed)) }
}

#[test]
fn a_rule_plays_as_the_named_one() {
    let experiment = read(r#"kind = "uniform", n_arms = 9, dimension = 3"#, &brought()).unwrap();
    let tally = simulate(&experiment, 0..60, &|_| ()).unwrap();
    assert_eq!(tally.cell(0, 0), tally.cell(1, 0));
    assert!(tally.cell(0, 0).failures > 0);
}

#[test]
fn instances_are_a_function_of_the_run() {
    let redrawn = read(r#"kind = "own""#, &brought()).unwrap();
    let row = |experiment: &Experiment, run| experiment.source().instance(run).unwrap().arms().row(0);
    assert_eq!(row(&redrawn, 5), row(&redrawn, 5));
    assert_ne!(row(&redrawn, 5), row(&redrawn, 6));
    let once = read(r#"kind = "own", redraw = false"#, &brought()).unwrap();
    assert_eq!(row(&once, 5), row(&redrawn, 0));
}

#[test]
fn what_was_not_brought_is_refused() {
    let nothing = Extensions::default();
    assert!(read(r#"kind = "own""#, &nothing).unwrap_err().contains("`kind` must be one of"));
    assert!(read(r#"kind = "wine""#, &nothing).unwrap_err().contains("unknown algorithm `mine`"));
    let refused = read(r#"kind = "own", draw = "published""#, &brought()).unwrap_err();
    assert!(refused.contains("leaves nothing to draw"), "{refused}");
}
