//! The results of every run: the same bits in batches and one by one, and the counts follow from them.

use crate::common;

use crate::common::all_algorithms;
use cutline::StopReason;
use cutline_lab::{Experiment, PerRun, RunError, SimulateOptions, Tally, Watch, simulate};
use std::sync::atomic::{AtomicU64, Ordering};

const HEAD: &str = "seed = 7\nbudgets = [12, 30]\nthreshold = 0.1\nprecision = 0.02\n";
const INSTANCE: &str = "kind = \"uniform\"\nn_arms = 6\ndimension = 3";

/// All algorithms, in batches where they support it.
fn small() -> Experiment {
    all_algorithms(HEAD, INSTANCE, "")
}

/// Some that stop early.
fn stopping(delta: f64) -> Experiment {
    let head = format!("{HEAD}noise = 0.1\nstop = {{ confidence = {delta}, by = \"evidence\" }}");
    common::experiment(&head, INSTANCE, &["name = \"linear-apt\"", "name = \"apt\"", "name = \"pivot\""])
}

fn per_run(experiment: &Experiment, runs: std::ops::Range<u64>) -> (Tally, PerRun) {
    let options = SimulateOptions { keeps_runs: true, ..SimulateOptions::default() };
    let played = simulate(experiment, runs, options).unwrap();
    (played.tally, played.per_run.unwrap())
}

/// Runs 0 to 36 at once are played in batches of four where the algorithm supports it; a run on its own is alone in its batch.
#[test]
fn any_split_gives_the_same_bits() {
    for experiment in [small(), stopping(0.2)] {
        let (tally, whole) = per_run(&experiment, 0..37);
        assert_eq!(tally, simulate(&experiment, 0..37, SimulateOptions::default()).unwrap().tally);
        let mut row = 0;
        for run in 0..37 {
            let (_, alone) = per_run(&experiment, run..run + 1);
            let (rows, arms) = (row..row + alone.n_rows(), row * 6..(row + alone.n_rows()) * 6);
            assert_eq!(alone.runs, [run]);
            assert_eq!(alone.errors, whole.errors[rows.clone()]);
            assert_eq!((&alone.pulls[..], &alone.stops[..]), (&whole.pulls[rows.clone()], &whole.stops[rows]));
            assert_eq!(
                (&alone.arm_pulls[..], &alone.above[..]),
                (&whole.arm_pulls[arms.clone()], &whole.above[arms.clone()])
            );
            let bits = |means: &[f64]| means.iter().map(|mean| mean.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&alone.means), bits(&whole.means[arms]));
            row += alone.n_rows();
        }
        assert_eq!(row, whole.n_rows());
    }
}

/// A stop that is never met takes an algorithm out of its batches, and changes nothing else.
#[test]
fn individual_runs_give_the_bits_of_batches() {
    for name in ["linear-apt", "pivot"] {
        let with = |stop: &str| {
            let experiment = common::experiment(HEAD, INSTANCE, &[&format!("name = \"{name}\"\n{stop}")]);
            per_run(&experiment, 0..37).1
        };
        assert_eq!(with(""), with("stop = { confidence = 1e-12, by = \"intervals\" }"), "{name}");
    }
}

/// Errors and sides follow from the means, and the pulls of the arms add up to those of the run.
#[test]
fn rows_agree_with_each_other() {
    let experiment = small();
    let (_, found) = per_run(&experiment, 0..9);
    let mut row = 0;
    for run in 0..9 {
        let instance = experiment.source().instance(run).unwrap();
        for _ in experiment.entrants() {
            for &budget in experiment.budgets() {
                let arms = row * 6..(row + 1) * 6;
                let pulls: u64 = found.arm_pulls[arms.clone()].iter().map(|&pulls| u64::from(pulls)).sum();
                assert_eq!(found.pulls[row], pulls);
                let budget = u64::from(budget);
                assert!(pulls == budget || (pulls < budget && found.stops[row] != StopReason::Budget));
                let above = &found.above[arms.clone()];
                let sides = above.iter().map(|&is_above| if is_above { f64::INFINITY } else { f64::NEG_INFINITY });
                assert_eq!(found.errors[row], instance.n_errors(sides));
                if found.n_settled[row] == 0 {
                    assert_eq!(above, found.means[arms].iter().map(|&mean| mean >= 0.1).collect::<Vec<_>>());
                }
                row += 1;
            }
        }
        let run = usize::try_from(run).unwrap();
        assert_eq!(&found.true_means[run * 6..(run + 1) * 6], instance.means());
        assert_eq!((found.n_arms[run], found.thresholds[run]), (6, 0.1));
    }
}

#[test]
fn stopping_times_are_those_of_the_counts() {
    let experiment = stopping(0.5);
    let (tally, found) = per_run(&experiment, 0..64);
    let mut n_stopped = 0;
    for (entrant, _) in experiment.entrants().iter().enumerate() {
        for budget in 0..2 {
            let mut after = std::collections::BTreeMap::<u64, u64>::new();
            for run in 0..64 {
                let row = (run * experiment.entrants().len() + entrant) * 2 + budget;
                if found.stops[row] == StopReason::Confidence {
                    *after.entry(found.pulls[row]).or_default() += 1;
                    assert_eq!(
                        found.arm_pulls[row * 6..row * 6 + 6].iter().map(|&n| u64::from(n)).sum::<u64>(),
                        found.pulls[row]
                    );
                }
            }
            n_stopped += after.values().sum::<u64>();
            assert_eq!(&after, tally.stopped(entrant, budget).after());
        }
    }
    assert!(n_stopped > 20, "{n_stopped} runs stopped early");
}

/// Arms that are settled one by one: their order, their times, and the side that counts.
#[test]
fn settled_arms_come_with_their_times() {
    let experiment = common::experiment(
        "seed = 7\nbudgets = [40, 4000]\nthreshold = 0.1\nnoise = 0.2",
        "kind = \"uniform\"\nn_arms = 6\ndimension = 3",
        &["name = \"apt\"\nstop = { confidence = 0.1, by = \"intervals\", elimination = \"sampling\" }"],
    );
    let (_, found) = per_run(&experiment, 0..20);
    let mut next = 0;
    for row in 0..found.n_rows() {
        let settled = next..next + found.n_settled[row];
        let (arms, after) = (&found.settled_arms[settled.clone()], &found.settled_after[settled.clone()]);
        assert!(after.is_sorted() && after.iter().all(|&rewards| 1 <= rewards && rewards <= found.pulls[row]));
        assert!(arms.iter().all(|arm| arms.iter().filter(|&other| other == arm).count() == 1));
        assert_eq!(found.stops[row] == StopReason::Settled, arms.len() == 6, "row {row}");
        // A run at the larger budget goes on from where it was at the smaller one.
        if row % 2 == 1 {
            let before = &found.settled_arms[next - found.n_settled[row - 1]..next];
            assert_eq!(before, &arms[..before.len()]);
        }
        next = settled.end;
    }
    assert_eq!(next, found.settled_arms.len());
    assert!(found.stops.contains(&StopReason::Settled) && found.stops.contains(&StopReason::Budget));
}

/// Gives up when it has been asked a number of times.
struct After(AtomicU64, u64);

impl Watch for After {
    fn ended(&self, _: &Tally) {}

    fn is_interrupted(&self) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed) >= self.1
    }
}

/// One run of a thousand times 1,024 pulls asks a thousand times and more, so an interruption does not wait for its end.
#[test]
fn a_watch_interrupts_within_one_run() {
    let head = "seed = 7\nbudgets = [1048576]\nthreshold = 0.1";
    for algorithm in ["linear-apt", "apt"] {
        let experiment = common::experiment(
            head,
            "kind = \"uniform\"\nn_arms = 6\ndimension = 3",
            &[&format!("name = \"{algorithm}\"")],
        );
        let watch = After(AtomicU64::new(0), 5);
        let options = SimulateOptions { watch: &watch, ..SimulateOptions::default() };
        assert_eq!(simulate(&experiment, 0..1, options), Err(RunError::Interrupted));
        assert_eq!(watch.0.into_inner(), 6, "{algorithm}");
    }
}
