//! The authors' random stream gives the authors' numbers.

use cutline_lab::{Experiment, Overrides, exact::replay, paper};
use std::cell::Cell;

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

/// The noise and the λ of `random` are the experiment's: without noise nothing fails, and with a huge λ nothing is learnt.
#[test]
fn a_replay_keeps_to_its_experiment() {
    let successes = |noise: &str, lambda: &str| {
        let text = format!(
            r#"
            budgets = [60]
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
        let experiment = Experiment::parse(&text, "".as_ref()).unwrap();
        replay(&experiment, &|_| ()).unwrap()[0].successes
    };
    assert_eq!(successes("1e-6", "1e-6"), 40);
    assert!(successes("5.0", "1e-6") < 40);
    assert_eq!(successes("1e-6", "1e9"), 0);
}
