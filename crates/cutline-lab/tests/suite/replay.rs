//! The authors' random stream gives the authors' numbers.

use cutline_lab::exact::{pulls, replay, replay_all};
use cutline_lab::{Experiment, Overrides, RunError, paper};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

#[test]
fn uniform_d5_comes_out_to_all_decimals() {
    let experiment = paper::experiment("uniform-d5", Overrides::default()).unwrap();
    let pulls = Cell::new(0);
    let cells = replay(&experiment, &|more| pulls.set(pulls.get() + more)).unwrap();
    assert_eq!(cells.len(), 30);
    assert_eq!(pulls.get(), 6 * 10_000 * (40 + 80 + 120 + 160 + 200));
    for cell in &cells {
        assert!(cell.matches(), "{cell:?}");
    }
    let linear_apt = cells.iter().find(|cell| (cell.curve.as_str(), cell.budget) == ("linear-apt", 200)).unwrap();
    let mut off_by_one = linear_apt.clone();
    off_by_one.successes += 1;
    assert!(!off_by_one.matches(), "one run in 10,000 shows");
}

#[test]
fn redrawn_instances_have_nothing_to_replay() {
    let overrides = Overrides { redraw: true, ..Overrides::default() };
    let experiment = paper::experiment("uniform-d5", overrides).unwrap();
    assert_eq!(replay(&experiment, &|_| ()).unwrap(), []);
}

/// An experiment with one published cell of 40 runs.
fn small(budget: u32, noise: &str, lambda: &str) -> Experiment {
    let text = format!(
        r#"
        budgets = [{budget}]
        threshold = 0.5
        noise = {noise}
        [instance]
        kind = "uniform"
        n_arms = 20
        dimension = 5
        draw = "published"
        [[algorithm]]
        name = "random"
        lambda = {lambda}
        [[published]]
        curve = "random"
        runs = 40
        success = [0.5]
        "#
    );
    Experiment::parse(&text, "".as_ref()).unwrap()
}

/// A replay uses the noise of the experiment and the λ of `random`: without noise nothing fails, and with a huge λ nothing is
/// learnt.
#[test]
fn a_replay_uses_the_settings_of_its_experiment() {
    let successes = |noise, lambda| replay(&small(60, noise, lambda), &|_| ()).unwrap()[0].successes;
    assert_eq!(successes("1e-6", "1e-6"), 40);
    assert!(successes("5.0", "1e-6") < 40);
    assert_eq!(successes("1e-6", "1e9"), 0);
}

#[test]
fn parallel_replays_equal_single_ones_in_their_order() {
    let experiments = [30, 90, 60].map(|budget| small(budget, "1.0", "1.0"));
    assert_eq!(experiments.each_ref().map(pulls), [1200, 3600, 2400]);
    let played = AtomicU64::new(0);
    let count = |pulls| -> Result<(), RunError> {
        played.fetch_add(pulls, Relaxed);
        Ok(())
    };
    let replayed = replay_all(&experiments, &count).unwrap();
    assert_eq!(replayed, experiments.each_ref().map(|experiment| replay(experiment, &|_| ()).unwrap()));
    assert_eq!(played.into_inner(), 7200);
}

#[test]
fn a_replay_ends_at_an_error_of_its_watcher() {
    #[derive(Debug, PartialEq)]
    struct Cancelled;
    impl From<RunError> for Cancelled {
        fn from(error: RunError) -> Self {
            panic!("{error}")
        }
    }
    let played = AtomicU64::new(0);
    let count = |pulls| if played.fetch_add(pulls, Relaxed) < 300 { Ok(()) } else { Err(Cancelled) };
    assert_eq!(replay_all(&[small(60, "1.0", "1.0")], &count), Err(Cancelled));
    assert_eq!(played.into_inner(), 360, "six runs");
}
