//! Failure rates against those of an independent program, against the published ones, and against probability theory.
//!
//! Seeds are fixed. A tolerance is 4.9 standard errors of what is compared, so that a correct program would fail a
//! comparison for one seed in 10⁶.

use crate::common::{all_cells, cells, experiment, play};
use cutline_lab::{Cell, Overrides, paper, rows, z_against};

/// Checks a failure rate against one measured in `others` runs and printed to three decimals.
fn assert_near(cell: Cell, rate: f64, others: u32, what: &str) {
    let ours = cell.failures as f64 / cell.runs as f64;
    let error = (rate * (1.0 - rate) * (1.0 / cell.runs as f64 + 1.0 / f64::from(others))).sqrt();
    assert!((ours - rate).abs() <= 4.9 * error + 0.0005, "{what}: {ours} against {rate} ± {error}");
}

/// Checks a failure rate against a known probability.
fn assert_probability(cell: Cell, probability: f64, what: &str) {
    let ours = cell.failures as f64 / cell.runs as f64;
    let error = (probability * (1.0 - probability) / cell.runs as f64).sqrt();
    assert!((ours - probability).abs() <= 4.9 * error, "{what}: {ours} against {probability} ± {error}");
}

/// LinearAPT and Pivot at two budgets each, on redrawn and on the published instances, against the rates of an
/// independent program.
fn assert_agree(head: &str, instance: &str, runs: u64, others: u32, redrawn: [[f64; 2]; 2], published: [[f64; 2]; 2]) {
    for (draw, expected) in [("redraw = true", redrawn), ("draw = \"published\"", published)] {
        let algorithms = ["name = \"linear-apt\"", "name = \"pivot\""];
        let cells = all_cells(&experiment(head, &format!("{instance}\n{draw}"), &algorithms), runs);
        for (position, &rate) in expected.as_flattened().iter().enumerate() {
            if !rate.is_nan() {
                assert_near(cells[position], rate, others, &format!("{instance}, {draw}, cell {position}"));
            }
        }
    }
}

const UNKNOWN: f64 = f64::NAN;

#[test]
fn uniform_instances_agree_with_an_independent_program() {
    let head = "seed = 1\nbudgets = [40, 200]\nthreshold = 0.0\nprecision = 0.01";
    let d5 = "kind = \"uniform\"\nn_arms = 20\ndimension = 5";
    assert_agree(head, d5, 4_000, 4_000, [[UNKNOWN, 0.573], [UNKNOWN, 0.529]], [[UNKNOWN, 0.782], [UNKNOWN, 0.728]]);
    let d20 = "kind = \"uniform\"\nn_arms = 20\ndimension = 20";
    assert_agree(head, d20, 4_000, 4_000, [[UNKNOWN, 0.470], [UNKNOWN, 0.431]], [[UNKNOWN, 0.786], [UNKNOWN, 0.724]]);
}

#[test]
fn iris_agrees_with_an_independent_program() {
    let head = "seed = 1\nbudgets = [200, 400]\nthreshold = \"mean\"\nprecision = 0.1";
    assert_agree(head, "kind = \"iris\"", 600, 500, [[0.450, 0.275], [0.228, 0.077]], [[0.767, 0.558], [0.567, 0.265]]);
}

#[test]
fn wine_agrees_with_an_independent_program() {
    let head = "seed = 1\nbudgets = [100, 200]\nthreshold = \"mean\"\nprecision = 0.1";
    assert_agree(head, "kind = \"wine\"", 600, 500, [[0.190, 0.036], [0.022, 0.010]], [[0.712, 0.206], [0.104, 0.036]]);
}

/// All published cells of uniform-d5.
#[test]
fn published_numbers() {
    let experiment = paper::experiment("uniform-d5", Overrides { seed: Some(2), ..Overrides::default() }).unwrap();
    let rows = rows(&experiment, &play(&experiment, 2_000));
    let n_budgets = experiment.budgets().len();
    assert_eq!(experiment.published().len() * n_budgets, 30);
    for published in experiment.published() {
        for column in 0..n_budgets {
            let row = &rows[published.entrant() * n_budgets + column];
            let z = z_against(published, column, row.failure_rate, row.runs);
            assert!(z.abs() <= 4.9, "{} at {}: z = {z}", published.curve(), row.budget);
        }
    }
}

/// Redrawing keeps the experiment and drops the published curves, which belong to one instance.
#[test]
fn the_papers_experiments_can_be_redrawn() {
    for (name, _) in paper::EXPERIMENTS {
        let overrides = Overrides { redraw: true, runs: Some(3), seed: None };
        let experiment = paper::experiment(name, overrides).unwrap();
        assert_eq!((experiment.name(), experiment.runs()), (format!("{name}-redrawn").as_str(), 3));
        assert!(experiment.source().fixed().is_none() && experiment.published().is_empty());
    }
    assert!(paper::experiment("uniform-d6", Overrides::default()).is_none());
}

/// One arm with mean ½ and τ = 0: after T pulls the call is wrong if the mean of T noises is below −½.
#[test]
fn one_arm_fails_as_often_as_its_noise_says() {
    let one_arm = |noise: &str, mean: f64| {
        let head = format!("budgets = [1, 4]\nthreshold = 0.0\nnoise = {noise}");
        let experiment = experiment(&head, &format!("kind = \"means\"\nmeans = [{mean}]"), &["name = \"apt\""]);
        cells(&experiment, &play(&experiment, 20_000), 0)
    };
    let gaussian = one_arm("1.0", 0.5);
    assert_probability(gaussian[0], 0.308_537_54, "Φ(−½)");
    assert_probability(gaussian[1], 0.158_655_25, "Φ(−1)");
    assert_probability(one_arm("0.5", 0.5)[0], 0.158_655_25, "Φ(−1)");
    let rademacher = one_arm("{ kind = \"rademacher\" }", 0.5);
    assert_probability(rademacher[0], 0.5, "−1 in one");
    assert_probability(rademacher[1], 1.0 / 16.0, "four −1 in four; three make 0, which is above");
    let root3 = 3.0_f64.sqrt();
    assert_probability(one_arm("{ kind = \"uniform\" }", 0.5)[0], (root3 - 0.5) / (2.0 * root3), "below −½");
}

/// One arm that succeeds with probability 0.6 against τ = ½: it is called below after no success in one pull, and
/// after at most one in four.
#[test]
fn one_arm_with_bernoulli_rewards() {
    let head = "budgets = [1, 4]\nthreshold = 0.5\nnoise = { kind = \"bernoulli\" }";
    let experiment = experiment(head, "kind = \"means\"\nmeans = [0.6]", &["name = \"apt\""]);
    let cells = all_cells(&experiment, 20_000);
    assert_probability(cells[0], 0.4, "no success in one");
    assert_probability(cells[1], 0.4_f64.powi(4) + 4.0 * 0.6 * 0.4_f64.powi(3), "at most one in four");
}
