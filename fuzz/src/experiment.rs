//! Experiment files.

use cutline_lab::{Experiment, Extensions, Overrides, SimulateOptions, simulate};
use std::path::Path;

/// Reads an experiment file. An experiment that is accepted and small can be played, and reading it again gives the same one.
pub fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if is_large(text) {
        return;
    }
    // Files that it names are not there.
    let directory = Path::new("no/such/directory");
    let read = || Experiment::read_all(text, "experiment", directory, Overrides::default(), &Extensions::default());
    let experiments = match read() {
        Err(error) => return assert!(!error.to_string().is_empty()),
        Ok(experiments) => experiments,
    };
    let again = read().expect("it was accepted");
    for (experiment, again) in experiments.iter().zip(&again) {
        assert_eq!(experiment.fingerprint(), again.fingerprint());
        if experiment.pulls_per_run() <= 2_000 {
            match simulate(experiment, 0..1, SimulateOptions::default()) {
                Ok(played) => {
                    assert_eq!(Some(&played), simulate(experiment, 0..1, SimulateOptions::default()).ok().as_ref());
                }
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
    }
}

/// Whether it may be a large experiment, which is slow for a good reason: it has a number of four to nine digits. Longer ones are refused or
/// harmless.
fn is_large(text: &str) -> bool {
    let text = text.replace('_', "");
    text.contains("0x") || text.split(|c: char| !c.is_ascii_digit()).any(|digits| (4..10).contains(&digits.len()))
}
