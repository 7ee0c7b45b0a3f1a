//! `cutline simulate FILE.toml`

use super::{play, pool, write};
use crate::args::Simulate;
use crate::failure::Failure;
use crate::output::Output;
use crate::results;
use cutline_lab::{Experiment, Overrides};

pub(crate) fn simulate(args: &Simulate) -> Result<(), Failure> {
    let options = &args.simulation;
    let overrides = Overrides { runs: options.runs, seed: options.seed, redraw: false };
    let experiments = Experiment::load_all(&args.file, overrides)?;
    let pool = pool(options)?;
    let output = Output::new(&options.out)?;
    let outcomes = play(experiments, &pool)?;
    // A reader that closes stdout early must not lose the files.
    let printed = results::print(&outcomes, options.format, false, &[]);
    write(&outcomes, &output, &[])?;
    printed
}
