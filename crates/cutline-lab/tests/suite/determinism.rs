//! The same counts for any number of threads and any split of the runs, in this version and in later ones.

use crate::common;

use crate::common::{UNIFORM, all_algorithms, cells, experiment, parse, play};
use cutline_lab::{Experiment, SimulateOptions, simulate};

/// All algorithms on small redrawn instances.
fn small() -> Experiment {
    all_algorithms(
        "seed = 7\nbudgets = [12, 30]\nthreshold = 0.1\nprecision = 0.02\nbaseline = \"linear-apt\"",
        "kind = \"uniform\"\nn_arms = 6\ndimension = 3",
        "",
    )
}

#[test]
fn any_number_of_threads_gives_the_same() {
    let experiment = small();
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| play(&experiment, 300))
    };
    let one = on(1);
    assert_eq!(one, on(2));
    assert_eq!(one, on(5));
}

#[test]
fn any_split_of_the_runs_gives_the_same() {
    let experiment = small();
    let part = |runs| simulate(&experiment, runs, SimulateOptions::default()).unwrap().tally;
    let whole = part(0..256);
    let mut sum = part(100..256);
    sum.merge(&part(0..37)).unwrap();
    assert_ne!(sum, whole, "runs 37 to 99 are missing");
    sum.merge(&part(37..100)).unwrap();
    assert_eq!(sum, whole);
    sum.merge(&part(256..256)).unwrap();
    assert_eq!(sum, whole, "no runs add nothing");
}

/// Checks that runs simulated one by one give the same counts as runs simulated in batches.
fn assert_batches_change_nothing(head: &str, instance: &str, keys: &str, n_runs: u64) {
    let experiment = all_algorithms(head, instance, keys);
    let part = |runs| simulate(&experiment, runs, SimulateOptions::default()).unwrap().tally;
    let mut sum = part(0..0);
    for run in 0..n_runs {
        sum.merge(&part(run..run + 1)).unwrap();
    }
    assert_eq!(sum, part(0..n_runs), "{instance}");
}

/// Runs are simulated in batches for speed; a single run gives the same result, whatever the shape of the instance.
#[test]
fn a_run_does_not_depend_on_its_batch() {
    for (n_arms, dimension, budget) in [(1, 1, 7), (3, 1, 20), (9, 4, 40), (20, 5, 60), (5, 17, 30), (33, 8, 50)] {
        for redraw in [true, false] {
            let head = format!("seed = 5\nbudgets = [{budget}]\nthreshold = 0.1\nprecision = 0.01");
            let shape = format!("kind = \"uniform\"\nn_arms = {n_arms}\ndimension = {dimension}\nredraw = {redraw}");
            assert_batches_change_nothing(&head, &shape, "", 30);
        }
    }
}

/// The same with raw features and hardly any regularisation, where rounding matters most.
#[test]
fn nor_where_rounding_matters_most() {
    let head = "seed = 5\nbudgets = [180, 250]\nthreshold = \"mean\"\nprecision = 0.1";
    for keys in ["lambda = 1e-8", "lambda = 1e6"] {
        assert_batches_change_nothing(head, "kind = \"wine\"", keys, 12);
    }
}

#[test]
fn runs_differ() {
    let experiment = small();
    let part = |runs| simulate(&experiment, runs, SimulateOptions::default()).unwrap().tally;
    assert_ne!(part(0..64), part(64..128));
}

/// The last run numbers do not overflow.
#[test]
fn the_last_run_numbers_work() {
    let tally = simulate(&small(), u64::MAX - 19..u64::MAX, SimulateOptions::default()).unwrap().tally;
    assert_eq!(tally.cell(0, 0).runs, 19);
}

#[test]
fn every_run_is_reported_once() {
    let reported = std::sync::atomic::AtomicU64::new(0);
    let watch = |runs| {
        reported.fetch_add(runs, std::sync::atomic::Ordering::Relaxed);
    };
    simulate(&small(), 5..106, SimulateOptions { watch: &watch, ..SimulateOptions::default() }).unwrap();
    assert_eq!(reported.into_inner(), 101);
}

/// (failures, errors, runs that only it failed, runs that only the baseline failed) at both budgets. They change only if a
/// random stream or an algorithm changes, which belongs in the changelog.
#[test]
fn counts_are_pinned() {
    let experiment = small();
    let tally = play(&experiment, 200);
    let counts = |entrant| {
        let cells = cells(&experiment, &tally, entrant);
        let baseline = experiment.baseline().unwrap();
        let only = |b| (tally.only(entrant, baseline, b), tally.only(baseline, entrant, b));
        [0, 1].map(|b| (cells[b].failures, cells[b].errors, only(b).0, only(b).1))
    };
    let pinned = [
        ("linear-apt", [(111, 197, 0, 0), (95, 139, 0, 0)]),
        ("apt", [(150, 259, 47, 8), (121, 200, 43, 17)]),
        ("random", [(132, 247, 35, 14), (111, 172, 37, 21)]),
        ("ucbe", [(110, 196, 3, 4), (97, 149, 16, 14)]),
        ("pivot", [(119, 205, 36, 28), (86, 111, 24, 33)]),
        ("straddle", [(118, 191, 38, 31), (88, 119, 29, 36)]),
        ("clucb", [(158, 294, 53, 6), (128, 215, 52, 19)]),
        ("lingame", [(119, 203, 40, 32), (103, 150, 39, 31)]),
    ];
    for (label, pinned) in pinned {
        let entrant = experiment.entrants().iter().position(|entrant| entrant.label() == label).unwrap();
        assert_eq!(counts(entrant), pinned, "{label}");
    }
}

#[test]
fn the_seed_matters() {
    let with = |seed: u64| {
        let text = common::GOOD.replace("runs = 10", &format!("seed = {seed}"));
        play(&parse(&text), 100)
    };
    assert_eq!(with(3), with(3));
    assert_ne!(with(3), with(4));
    assert_ne!(with(0), with(u64::MAX));
}

#[test]
fn the_seed_draws_the_one_instance() {
    let theta = |seed: u64| {
        let head = format!("seed = {seed}\nbudgets = [40]\nthreshold = 0.0");
        let experiment = experiment(&head, &format!("{UNIFORM}redraw = false"), &["name = \"pivot\""]);
        experiment.source().fixed().unwrap().theta().unwrap().to_vec()
    };
    assert_eq!(theta(1), theta(1));
    assert_ne!(theta(1), theta(2));
}
