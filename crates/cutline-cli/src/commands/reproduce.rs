//! `cutline reproduce`

use super::{exact, output, play, pool, write};
use crate::args::{Instances, Reproduce};
use crate::failure::Failure;
use crate::output::Inputs;
use crate::results::{self, Outcome};
use cutline_lab::paper::{self, EXPERIMENTS};
use cutline_lab::{Experiment, Overrides, within_band};

pub(crate) fn reproduce(args: &Reproduce) -> Result<(), Failure> {
    let options = &args.simulation;
    let pool = pool(options)?;
    if args.exact {
        return exact::replay(&experiments(args, false), &pool);
    }
    let redraws: &[bool] = match args.instances {
        Instances::Published => &[false],
        Instances::Redrawn => &[true],
        Instances::Both => &[false, true],
    };
    let experiments: Vec<Experiment> = redraws.iter().flat_map(|&redraw| experiments(args, redraw)).collect();
    let names: Vec<&str> = experiments.iter().map(Experiment::name).collect();
    let output = output(options, &names, Inputs::default())?;
    let outcomes = play(experiments, &pool)?;
    let summary = match within_band(&outcomes.iter().flat_map(Outcome::compared).collect::<Vec<_>>()) {
        (_, 0) => "redrawn instances have no published numbers to compare with".into(),
        (within, cells) => format!("{within} of {cells} published cells lie within their 99.9 % band"),
    };
    // A reader that closes stdout early must not lose the files.
    let summary = [summary];
    let printed = results::print(&outcomes, options.format, true, &summary);
    write(&outcomes, &output, &summary)?;
    printed
}

/// The paper's experiments that the command line names, in the paper's order.
fn experiments(args: &Reproduce, redraw: bool) -> Vec<Experiment> {
    let overrides = Overrides { runs: args.simulation.runs, seed: args.simulation.seed, redraw };
    let is_named = |name: &str| args.experiments.is_empty() || args.experiments.iter().any(|named| named == name);
    EXPERIMENTS
        .iter()
        .filter(|(name, _)| is_named(name))
        .filter_map(|(name, _)| paper::experiment(name, overrides))
        .collect()
}
