//! The index rules on sample means, APT, LSA and FWT, against the numbers of an independent program: the mean number of wrong arms and the
//! probability of any, at T. The instances are those of Ouhamma et al. (2021, O1), Locatelli et al. (2016, L1 to L3) and Tao et al. (2019,
//! S3). The column `uniform` is LSA with α = 0, which pulls the arms in turn.
//!
//! Seeds are fixed. A tolerance is 4.9 standard errors of the difference, so that a correct program would fail a comparison for one seed in
//! 10⁶; there are 87.
//!
//! `cargo test --release --package cutline-lab --test index_rules -- --ignored --nocapture` plays as many runs as the other program and
//! prints z of every number.

#![allow(clippy::approx_constant, reason = "a reference number is near 1/π by chance")]

use crate::common::{all_cells, experiment};
use cutline_lab::Cell;

const GAUSSIAN: &str = "threshold = 0.0\nnoise = 1.0";
const BERNOULLI: &str = "threshold = 0.5\nnoise = { kind = \"bernoulli\" }";

const COLUMNS: [(&str, &str); 6] = [
    ("uniform", "name = \"lsa\"\nalpha = 0\nlabel = \"uniform\""),
    ("apt", "name = \"apt\""),
    ("lsa", "name = \"lsa\""),
    ("fwt", "name = \"fwt\""),
    ("fwt-gaps", "name = \"fwt-gaps\""),
    ("lsa(1.35)", "name = \"lsa\"\nalpha = 1.35\nlabel = \"lsa(1.35)\""),
];

/// One row: the budget, and per column the mean number of wrong arms and the probability of any, with half of the last digit printed.
/// NaN where there is no number.
type Row = (u32, [(f64, f64); 6]);

const NONE: (f64, f64) = (f64::NAN, f64::NAN);

fn only_mean(means: [f64; 5]) -> [(f64, f64); 6] {
    std::array::from_fn(|column| means.get(column).map_or(NONE, |&mean| (mean, f64::NAN)))
}

struct Instance {
    name: &'static str,
    head: &'static str,
    means: Vec<f64>,
    /// The runs behind the numbers.
    runs: u64,
    rows: Vec<Row>,
}

fn instances() -> Vec<Instance> {
    let o1: Vec<f64> = (0..100).map(|arm| if arm % 2 == 0 { -1.0 } else { 1.0 }).collect();
    let l1 = vec![0.1, 0.1, 0.1, 0.35, 0.45, 0.55, 0.65, 0.9, 0.9, 0.9];
    let l2 = vec![0.2, 0.25, 0.3, 0.35, 0.45, 0.55, 0.65, 0.7, 0.75, 0.8];
    let below = (1..=4).map(|i| 0.4 - 0.2_f64.powi(i));
    let above = (1..=4).map(|i| 0.6 + 0.2_f64.powi(5 - i));
    let l3: Vec<f64> = below.chain([0.45, 0.55]).chain(above).collect();
    let s3 = [[0.45; 5], [0.505; 5]].concat();
    let p = f64::NAN;
    vec![
        Instance {
            name: "O1",
            head: GAUSSIAN,
            means: o1,
            runs: 4_000,
            rows: vec![
                (200, only_mean([7.851, 3.270, 3.925, 7.138, 7.667])),
                (300, only_mean([4.137, 1.011, 0.645, 2.639, 3.614])),
                (500, only_mean([1.249, 0.139, 0.0217, 0.257, 0.674])),
            ],
        },
        Instance {
            name: "L1",
            head: BERNOULLI,
            means: l1,
            runs: 10_000,
            rows: vec![
                (
                    500,
                    [(0.499, 0.433), (0.230, 0.204), (0.140, 0.132), (0.221, 0.206), (0.268, 0.251), (0.1337, 0.1274)],
                ),
                (
                    1000,
                    [
                        (0.311, 0.288),
                        (0.0711, 0.0680),
                        (0.0204, 0.0200),
                        (0.0409, 0.0401),
                        (0.0631, 0.0619),
                        (0.0203, p),
                    ],
                ),
            ],
        },
        Instance {
            name: "L2",
            head: BERNOULLI,
            means: l2,
            runs: 10_000,
            rows: vec![
                (500, [(0.503, 0.435), (0.318, 0.263), (0.174, 0.164), (0.293, 0.268), (0.354, 0.322), (0.1696, p)]),
                (
                    1000,
                    [
                        (0.311, 0.288),
                        (0.0921, 0.0835),
                        (0.0260, 0.0253),
                        (0.0682, 0.0671),
                        (0.103, 0.0999),
                        (0.0299, p),
                    ],
                ),
            ],
        },
        Instance {
            name: "L3",
            head: BERNOULLI,
            means: l3,
            runs: 10_000,
            rows: vec![
                (500, [(0.779, 0.574), (0.683, 0.488), (0.329, 0.286), (0.548, 0.445), (0.637, 0.498), (0.3288, p)]),
                (1000, [(0.380, 0.335), (0.249, 0.210), (0.0704, 0.0682), (0.156, 0.147), (0.226, 0.211), (0.0718, p)]),
            ],
        },
        Instance {
            name: "S3",
            head: BERNOULLI,
            means: s3,
            runs: 4_000,
            rows: vec![(5000, only_mean([2.055, 2.905, 1.911, 1.995, 2.065]))],
        },
    ]
}

/// The differences of a cell from the numbers of the other program, in standard errors; and the two numbers of each comparison.
fn compare(cell: Cell, (mean, probability): (f64, f64), others: u64) -> Vec<(&'static str, f64, f64, f64)> {
    let n = cell.runs as f64;
    let (ours, rate) = (cell.errors as f64 / n, cell.failures as f64 / n);
    let spread = (cell.squared_errors as f64 / n - ours * ours).max(1.0 / n).sqrt();
    let error = (1.0 / n + 1.0 / others as f64).sqrt();
    let z = |ours: f64, theirs: f64, spread: f64| {
        let digits = if theirs >= 0.1 { 0.0005 } else { 0.00005 };
        ((ours - theirs).abs() - digits).max(0.0).copysign(ours - theirs) / (spread * error)
    };
    let numbers = [
        ("wrong arms", ours, mean, z(ours, mean, spread)),
        ("any wrong", rate, probability, z(rate, probability, (probability * (1.0 - probability)).sqrt())),
    ];
    numbers.into_iter().filter(|number| !number.2.is_nan()).collect()
}

/// Plays all instances, with one run for `fewer` of the other program, and calls `check` with every comparison.
fn play(fewer: u64, mut check: impl FnMut(&str, &(&'static str, f64, f64, f64))) {
    for Instance { name, head, means, runs, rows } in instances() {
        let budgets: Vec<u32> = rows.iter().map(|row| row.0).collect();
        let head = format!("seed = 9\nbudgets = {budgets:?}\n{head}");
        let experiment = experiment(&head, &format!("kind = \"means\"\nmeans = {means:?}"), &COLUMNS.map(|c| c.1));
        let cells = all_cells(&experiment, runs / fewer);
        for (column, (label, _)) in COLUMNS.iter().enumerate() {
            for (position, (budget, numbers)) in rows.iter().enumerate() {
                for number in compare(cells[column * rows.len() + position], numbers[column], runs) {
                    check(&format!("{name}, T = {budget}, {label}"), &number);
                }
            }
        }
    }
}

#[test]
fn index_rules_agree_with_an_independent_program() {
    let mut n_numbers = 0;
    play(5, |what, (kind, ours, theirs, z)| {
        assert!(z.abs() <= 4.9, "{what}, {kind}: {ours} against {theirs}, z = {z}");
        n_numbers += 1;
    });
    assert_eq!(n_numbers, 87);
}

/// T = 2K pulls every arm twice: K Φ(−√2) = 7.865 wrong arms of 100.
#[test]
fn pulls_in_turn_are_wrong_as_often_as_theory_says() {
    let means: Vec<f64> = (0..100).map(|arm| if arm % 2 == 0 { -1.0 } else { 1.0 }).collect();
    let instance = format!("kind = \"means\"\nmeans = {means:?}");
    let cell = all_cells(&experiment(&format!("budgets = [200]\n{GAUSSIAN}"), &instance, &[COLUMNS[0].1]), 2_000)[0];
    let wrong = cell.errors as f64 / 2_000.0;
    // One arm is wrong with probability p = Φ(−√2), so the standard deviation of their number is √(100 p (1 − p)).
    let p: f64 = 0.078_649_603;
    assert!((wrong - 100.0 * p).abs() <= 4.9 * (100.0 * p * (1.0 - p) / 2_000.0).sqrt(), "{wrong}");
}

#[test]
#[ignore = "a minute"]
fn every_number() {
    play(1, |what, (kind, ours, theirs, z)| println!("{what}, {kind}: {ours:.4} against {theirs}, z = {z:.2}"));
}
