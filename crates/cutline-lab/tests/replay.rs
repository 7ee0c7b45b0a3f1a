//! The authors' random stream gives the authors' numbers.

use cutline_lab::{Overrides, exact::replay, paper};
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
