//! `cutline simulate FILE.toml`

use super::{output, play, pool, write};
use crate::args::Simulate;
use crate::failure::Failure;
use crate::output::Inputs;
use crate::print;
use cutline_lab::{Experiment, Overrides};

pub(crate) fn simulate(args: &Simulate) -> Result<(), Failure> {
    let options = &args.simulation;
    let overrides = Overrides { runs: options.runs, seed: options.seed, redraw: false };
    let experiment = Experiment::load(&args.file, overrides)?;
    let pool = pool(options)?;
    let inputs = Inputs::files([args.file.as_path()].into_iter().chain(experiment.source().file()));
    let output = output(options, &[experiment.name()], inputs)?;
    let outcomes = play(vec![experiment], &pool)?;
    // Whoever stops reading does not lose the files.
    let printed = print::outcomes(&outcomes, options.format, false, &[]);
    write(&outcomes, &output, &[])?;
    printed
}
