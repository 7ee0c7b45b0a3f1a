//! `cutline simulate FILE.toml`

use super::{output, play, pool, write};
use crate::args::Simulate;
use crate::failure::Failure;
use crate::output::Inputs;
use crate::results::{self, Detail};
use cutline_lab::{Experiment, Overrides};

pub(crate) fn simulate(args: &Simulate) -> Result<(), Failure> {
    let options = &args.simulation;
    let overrides = Overrides { runs: options.runs, seed: options.seed, redraw: false };
    let experiments = Experiment::load_all(&args.file, overrides)?;
    let pool = pool(options)?;
    let data = experiments.iter().filter_map(|experiment| experiment.source().file());
    let inputs = Inputs::files([args.file.as_path()].into_iter().chain(data));
    let names: Vec<&str> = experiments.iter().map(Experiment::name).collect();
    let output = output(options, &names, inputs)?;
    let outcomes = play(experiments, &pool)?;
    // A reader that closes stdout early must not lose the files.
    let printed = results::print(&outcomes, options.format, false, Detail::Full, &[]);
    write(&outcomes, &output, &[])?;
    printed
}
