//! Plays the experiment of this crate and prints how often each algorithm is wrong.

use cutline_lab::{SimulateOptions, rows, simulate};
use cutline_new_algorithm::{experiment, extensions};

#[expect(clippy::print_stdout, reason = "a program whose output is a table")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let experiment = experiment(&extensions()?)?;
    let tally = simulate(&experiment, 0..experiment.runs(), SimulateOptions::default())?.tally;
    println!("{:<22} {:>6} {:>12} {:>10}", "algorithm", "budget", "failure rate", "mean pulls");
    for row in rows(&experiment, &tally) {
        let pulls = row.stopping.map_or(f64::from(row.budget), |stopping| stopping.mean_pulls);
        println!("{:<22} {:>6} {:>12.3} {pulls:>10.1}", row.algorithm, row.budget, row.failure_rate);
    }
    Ok(())
}
