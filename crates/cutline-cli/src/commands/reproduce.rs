//! `cutline reproduce`

use super::{exact, output, play, write};
use crate::args::{Instances, Reproduce};
use crate::failure::Failure;
use crate::output::Inputs;
use crate::results;
use crate::results::Detail;
use crate::threads::Pool;
use cutline_lab::paper::EXPERIMENTS;
use cutline_lab::{Experiment, Overrides, field, paper, within_band};

pub(crate) fn reproduce(args: &Reproduce) -> Result<(), Failure> {
    let options = &args.simulation;
    let pool = Pool::new(options.threads)?;
    if args.exact {
        let is_papers = |name: &&String| EXPERIMENTS.iter().any(|(known, _)| known == name);
        if let Some(other) = args.experiments.iter().find(|name| !is_papers(name)) {
            let message = format!("`--exact` is for the experiments of the LinearAPT paper, and `{other}` is not one");
            return Err(Failure::Usage(message));
        }
        return exact::replay(&of_paper(args, false), &pool);
    }
    let redraws: &[bool] = match args.instances {
        Instances::Published => &[false],
        Instances::Redrawn => &[true],
        Instances::Both => &[false, true],
    };
    let of_paper = redraws.iter().flat_map(|&redraw| of_paper(args, redraw));
    let experiments: Vec<Experiment> = of_paper.chain(of_field(args)).collect();
    let names: Vec<&str> = experiments.iter().map(Experiment::name).collect();
    let output = output(options, &names, Inputs::default())?;
    let outcomes = play(experiments, &pool)?;
    let summary = match within_band(outcomes.iter().flat_map(|outcome| &outcome.compared)) {
        (_, 0) => "redrawn instances have no published numbers to compare with".into(),
        (within, cells) => format!("{within} of {cells} published cells lie within their 99.9 % band"),
    };
    // A reader that closes stdout early must not lose the files.
    let summary = [summary];
    let detail = if args.verbose { Detail::Full } else { Detail::Compact };
    let printed = results::print(&outcomes, options.format, true, detail, &summary);
    write(&outcomes, &output, &summary)?;
    printed
}

/// The paper's experiments that the command line names, in the paper's order; all of them if it names none.
fn of_paper(args: &Reproduce, redraw: bool) -> Vec<Experiment> {
    let is_named = |name: &str| args.experiments.is_empty() || args.experiments.iter().any(|named| named == name);
    let named = EXPERIMENTS.iter().filter(|(name, _)| is_named(name));
    named.filter_map(|(name, _)| paper::experiment(name, overrides(args, redraw))).collect()
}

/// The experiments of other papers that the command line names.
fn of_field(args: &Reproduce) -> Vec<Experiment> {
    let is_named = |name: &str| args.all || args.experiments.iter().any(|named| named == name);
    let named = field::EXPERIMENTS.iter().filter(|(name, _)| is_named(name));
    named.filter_map(|(name, _)| field::experiments(name, overrides(args, false))).flatten().collect()
}

fn overrides(args: &Reproduce, redraw: bool) -> Overrides {
    Overrides { runs: args.simulation.runs, seed: args.simulation.seed, redraw }
}
