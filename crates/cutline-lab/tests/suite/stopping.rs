//! Stopping times: exact counts, errors below δ, and pulls above the lower bound.

use crate::common;

use crate::common::{all_algorithms, changed, experiment, parse, play};
use cutline_lab::{Experiment, Overrides, Row, SimulateOptions, StoppingRow, rows, simulate};

/// All algorithms on small redrawn instances, with a stop.
fn small(stop: &str, budgets: &str) -> Experiment {
    all_algorithms(
        &format!("seed = 7\nbudgets = {budgets}\nthreshold = 0.1\nprecision = 0.2\nnoise = 0.3\nstop = {stop}"),
        "kind = \"uniform\"\nn_arms = 5\ndimension = 3",
        "",
    )
}

const EVIDENCE: &str = "{ confidence = 0.1, by = \"evidence\" }";
const INTERVALS: &str = "{ confidence = 0.1, by = \"intervals\" }";

fn stoppings(experiment: &Experiment, runs: u64) -> Vec<(Row, StoppingRow)> {
    let rows = rows(experiment, &play(experiment, runs)).into_iter();
    rows.map(|row| (row.clone(), row.stopping.expect("all have the stop"))).collect()
}

#[test]
fn threads_and_splits_change_nothing() {
    for stop in [EVIDENCE, INTERVALS] {
        let experiment = small(stop, "[60, 400]");
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| play(&experiment, 100))
        };
        let whole = on(1);
        assert_eq!(whole, on(3));
        let part = |runs| simulate(&experiment, runs, SimulateOptions::default()).unwrap().tally;
        let mut sum = part(41..100);
        sum.merge(&part(0..41)).unwrap();
        assert_eq!(sum, whole);
        for entrant in 0..experiment.entrants().len() {
            let stopped = whole.stopped(entrant, 1);
            let label = experiment.entrants()[entrant].label();
            assert!(stopped.runs() > 10 && stopped.runs() <= 100, "{label}: {}", stopped.runs());
            assert_eq!(stopped.after().values().sum::<u64>(), stopped.runs());
            assert!(stopped.after().keys().all(|&pulls| (1..=400).contains(&pulls)));
            assert!(whole.stopped(entrant, 0).runs() <= stopped.runs());
        }
    }
}

/// A budget ends runs and changes nothing in those that stopped earlier; an experiment with one budget gives what one with
/// several gives at that budget.
#[test]
fn one_trajectory_serves_all_budgets() {
    let together = stoppings(&small(EVIDENCE, "[30, 90, 500]"), 80);
    for (column, budget) in [30, 90, 500].into_iter().enumerate() {
        let alone = stoppings(&small(EVIDENCE, &format!("[{budget}]")), 80);
        for (entrant, alone) in alone.iter().enumerate() {
            // UCB-E depends on the budget and plays a run per budget; its cells agree too.
            assert_eq!(&together[3 * entrant + column], alone);
        }
    }
    for rows in together.chunks(3) {
        assert!(rows.is_sorted_by_key(|(_, stopping)| stopping.sure), "with a larger budget more runs stop early");
        let (first, last) = (&rows[0].1, &rows[2].1);
        assert!(
            first.mean_pulls <= 30.0 && (last.sure > first.sure || first.sure == 80),
            "{}: {first:?} {last:?}",
            rows[0].0.algorithm
        );
    }
}

#[test]
fn by_default_only_the_budget_stops() {
    let plain = parse(common::GOOD);
    let same = parse(&changed("runs = 10", "stop = \"budget\""));
    assert_eq!(play(&plain, 20), play(&same, 20));
    let plain = rows(&plain, &play(&plain, 20));
    assert!(plain.iter().all(|row| row.stopping.is_none()));
}

/// A run that cannot decide every arm uses up its budget.
#[test]
fn runs_that_use_up_the_budget_are_counted() {
    let instance = "kind = \"means\"\nmeans = [0.0, 3.0]";
    let head = |stop: &str| format!("budgets = [50, 200]\nthreshold = 0.0\nstop = {stop}");
    let hopeless = experiment(&head(INTERVALS), instance, &["name = \"apt\""]);
    for (row, stopping) in stoppings(&hopeless, 40) {
        assert!(stopping.sure <= 5, "an arm at τ is hardly ever decided");
        assert!(stopping.mean_pulls > 0.8 * f64::from(row.budget));
        assert_eq!((stopping.pulls_50, stopping.pulls_90), (u64::from(row.budget), u64::from(row.budget)));
        assert_eq!(stopping.fewest_pulls, None, "no number of pulls is enough");
    }
}

/// An algorithm may have another stop than the experiment, or none.
#[test]
fn algorithms_may_differ_in_their_stop() {
    let head = format!("budgets = [300]\nthreshold = 0.0\nprecision = 0.3\nstop = {EVIDENCE}");
    let keys = [
        "name = \"pivot\"".to_owned(),
        format!("name = \"pivot\"\nlabel = \"intervals\"\nstop = {INTERVALS}"),
        "name = \"pivot\"\nlabel = \"budget\"\nstop = \"budget\"".to_owned(),
    ];
    let experiment =
        experiment(&head, "kind = \"uniform\"\nn_arms = 4\ndimension = 2", &keys.each_ref().map(String::as_str));
    let rows = rows(&experiment, &play(&experiment, 50));
    let by: Vec<_> = rows.iter().map(|row| row.stopping.as_ref().map(|stopping| stopping.by.as_str())).collect();
    assert_eq!(by, [Some("evidence"), Some("intervals"), None]);
    let pulls = |row: &Row| row.stopping.as_ref().unwrap().mean_pulls;
    assert!(pulls(&rows[0]) < pulls(&rows[1]));
}

/// CLUCB takes the δ of the stop, unless it sets its own.
#[test]
fn clucb_takes_the_delta_of_the_stop() {
    let run = |confidence: &str, keys: &str| {
        let head = format!(
            "budgets = [3000]\nthreshold = 0.0\nnoise = 0.5\nstop = {{ confidence = {confidence}, by = \"intervals\" }}"
        );
        let clucb = format!("name = \"clucb\"\n{keys}");
        stoppings(&experiment(&head, "kind = \"means\"\nmeans = [1.0, 0.2, -0.5, -0.3]", &[&clucb]), 40)
    };
    assert_eq!(run("0.01", ""), run("0.01", "delta = 0.01"));
    assert_ne!(run("0.01", ""), run("0.01", "delta = 0.5"));
}

/// The keys of an experiment, and its instance, whose means are close to τ.
fn hard(stop: &str) -> (String, &'static str) {
    let head = format!("seed = 3\nbudgets = [4000]\nthreshold = 0.5\nnoise = 0.5\nstop = {stop}");
    (head, "kind = \"soare\"\ndimension = 3\nomega = 1.4")
}

/// The results of all algorithms on it.
fn hard_for_all(stop: &str, runs: u64) -> Vec<(Row, StoppingRow)> {
    let (head, instance) = hard(stop);
    stoppings(&all_algorithms(&head, instance, ""), runs)
}

/// At most δ of the runs stop with a wrong verdict: at most 71 of 400 at δ = 0.1. A test that errs with probability 0.1 exceeds that
/// with probability below 1e-6 (a binomial tail), so a false alarm over the 24 cells has probability below 2.4e-5.
#[test]
fn errors_at_the_stop_stay_below_delta() {
    for stop in [INTERVALS, EVIDENCE, "{ confidence = 0.1, by = \"evidence\", norm = 0.0 }"] {
        for (row, stopping) in hard_for_all(stop, 400) {
            if row.algorithm == "explore" {
                // It is for means that do not decrease from arm to arm, and these do.
                continue;
            }
            let sure = stopping.sure;
            // `easiest` is for stops that settle arms: without, it stays with the easy ones.
            let least = if row.algorithm == "easiest" { 100 } else { 300 };
            assert!(sure > least, "{} stops early in {sure} runs, {stop}", row.algorithm);
            assert!(stopping.sure_and_wrong <= 71, "{}: {} of 400, {stop}", row.algorithm, stopping.sure_and_wrong);
        }
    }
}

/// 60 arms without features, all at the same distance from τ, are 60 tests: at most δ of the runs have any of them wrong, with
/// the bound and the false-alarm rate of the test above (1e-6 per cell, two cells).
#[test]
fn errors_stay_below_delta_with_many_arms() {
    let means = vec!["0.6"; 60].join(", ");
    for stop in [INTERVALS, EVIDENCE] {
        let head = format!("seed = 3\nbudgets = [6000]\nthreshold = 0.0\nstop = {stop}");
        let instance = format!("kind = \"means\"\nmeans = [{means}]");
        for (row, stopping) in stoppings(&experiment(&head, &instance, &["name = \"apt\""]), 400) {
            assert!(stopping.sure > 300, "{} stops early in {} runs", row.algorithm, stopping.sure);
            assert!(stopping.sure_and_wrong <= 71, "{}: {} of 400, {stop}", row.algorithm, stopping.sure_and_wrong);
        }
    }
}

/// With ridge the bound on ‖θ‖ is needed. Means of 60 and 40 about τ = 50 are far from 0 in units of σ: ridge shrinks them towards
/// 0, which looks like evidence that both lie below, unless the stop knows how large ‖θ‖ = 72 may be.
#[test]
fn evidence_without_the_norm_is_fooled_by_a_threshold_far_from_zero() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("arms.csv"), "a,b\n1,0\n0,1\n").unwrap();
    let run = |norm: u32| {
        let text = format!(
            "budgets = [4000]\nthreshold = 50.0\nstop = {{ confidence = 0.1, by = \"evidence\", norm = {norm} }}
            [instance]\nkind = \"csv\"\nfile = \"arms.csv\"\ntheta = [60, 40]\n[[algorithm]]\nname = \"pivot\""
        );
        let stopping = stoppings(&Experiment::parse(&text, directory.path()).unwrap(), 50).swap_remove(0).1;
        (stopping.sure, stopping.sure_and_wrong)
    };
    assert_eq!(run(0), (50, 50), "it stops at once, because of the prior alone");
    assert_eq!(run(80), (50, 0));
}

/// No test that errs with probability at most δ can be quicker on average than the bound.
#[test]
fn mean_pulls_are_above_the_lower_bound() {
    for stop in [INTERVALS, EVIDENCE] {
        for (row, stopping) in hard_for_all(stop, 200) {
            let bound = stopping.fewest_pulls.expect("one instance, Gaussian noise");
            assert!(
                stopping.mean_pulls > bound && bound > 1.0,
                "{}: {} and {bound}",
                row.algorithm,
                stopping.mean_pulls
            );
            assert!(stopping.pulls_10 <= stopping.pulls_50 && stopping.pulls_50 <= stopping.pulls_90);
        }
    }
    let (head, instance) = hard(INTERVALS);
    let rows = stoppings(&experiment(&head, instance, &["name = \"clucb\"", "name = \"pivot\""]), 2);
    let [(_, without_features), (_, linear)] = &rows[..] else { unreachable!() };
    assert!(without_features.fewest_pulls > linear.fewest_pulls, "without features the bound is another");
}

/// The experiments of docs/stopping.md are valid, and have a stop.
#[test]
fn the_experiments_of_the_docs_are_good() {
    for name in ["stopping-soare", "stopping-uniform"] {
        let path = format!("{}/../../experiments/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        let experiment = Experiment::load(path.as_ref(), Overrides { runs: Some(2), ..Overrides::default() }).unwrap();
        assert!(stoppings(&experiment, 2).iter().all(|(_, stopping)| stopping.fewest_pulls > Some(500.0)), "{name}");
    }
}
