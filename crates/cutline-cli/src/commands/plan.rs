//! `cutline plan FEATURES.csv`

use super::{labelled, output, pictures, pool, pulls, read, refused, tally};
use crate::args::{self, PriorArg};
use crate::failure::Failure;
use crate::output::Inputs;
use crate::{plan, progress};
use cutline::{Arms, Question, Spec};
use cutline_lab::dataset;
use cutline_lab::figures::plan_figure;
use cutline_lab::rewards::rewards;
use cutline_lab::{Noise, NoiseKind, Plan, PlanError, PlanReport, Prior, RunError, ThetaPosterior};
use std::path::Path;

/// The default number of runs.
const RUNS: u64 = 1_000;

pub(crate) fn plan(args: &args::Plan) -> Result<(), Failure> {
    let options = &args.simulation;
    let plan = requested(args)?;
    let pool = pool(options)?;
    let budgets = if let Some(budgets) = &args.budgets {
        budgets.0.clone()
    } else {
        let count = progress::count("looking for budgets");
        let budgets = pool.install(|| plan.scout(&|pulls| count.inc(pulls)))?;
        count.finish_and_clear();
        budgets
    };
    let experiment = plan.experiment(&budgets)?;
    let pilot = if let PriorArg::Pilot(path) = &args.prior { Some(path.as_path()) } else { None };
    let inputs = Inputs::files([args.features.as_path()].into_iter().chain(pilot));
    let output = output(options, &[experiment.name()], inputs)?;
    let bar = progress::bar(pulls(&experiment));
    let tally = tally(&experiment, &pool, &bar)?;
    let forecast = pool.install(|| plan.forecast(&experiment, &tally))?;
    bar.finish_and_clear();
    let report = PlanReport { experiment, forecast };
    // A reader that closes stdout early must not lose the files.
    let printed = plan::print(&report, options.format);
    let svg = plan_figure(&report).to_svg();
    let mut files = pictures(report.experiment.name(), &svg)?.to_vec();
    files.push(("results.csv".into(), plan::csv(&report)));
    files.push(("report.html".into(), plan::page(&report, &svg)?.into_bytes()));
    output.write(&files)?;
    printed
}

/// The plan that the command line and its files ask for.
fn requested(args: &args::Plan) -> Result<Plan, Failure> {
    let path = &args.features;
    let (candidates, labels) = labelled(path)?;
    let arms = dataset::with_features(candidates).map_err(refused(path))?.arms();
    let prior = match &args.prior {
        PriorArg::Prior(prior) => prior.clone(),
        PriorArg::Pilot(path) => posterior(path, &arms, &labels, args.noise)?,
    };
    let specs = args.algorithms.iter().map(|name| {
        let refused = |error| PlanError::Run(RunError::Algorithm { label: name.clone(), error });
        Spec::named(name).map_err(refused)
    });
    Ok(Plan {
        name: path.file_stem().unwrap_or_default().to_string_lossy().replace(char::is_control, "-"),
        arms,
        question: Question::new(args.threshold, args.precision).expect("both were checked when parsed"),
        noise: Noise::new(NoiseKind::Gaussian, args.noise).expect("checked when parsed"),
        prior,
        algorithms: specs.collect::<Result<_, _>>()?,
        target: args.target,
        runs: args.simulation.runs.unwrap_or(RUNS),
        seed: args.simulation.seed.unwrap_or(0),
    })
}

fn posterior(path: &Path, arms: &Arms, labels: &[String], noise: f64) -> Result<Prior, Failure> {
    let hint = "; `--prior` takes `uniform`, `normal:s` or a CSV file of `arm,reward`";
    let pilot = read(path, hint, |csv| rewards(csv, arms.n_arms(), labels))?;
    let posterior = ThetaPosterior::new(arms, pilot, noise);
    Ok(Prior::posterior(posterior.map_err(|error| Failure::ThetaPosterior { path: path.into(), error })?))
}
