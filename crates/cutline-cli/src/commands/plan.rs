//! `cutline plan FEATURES.csv`

use super::{labelled, output, pictures, pool, read, refused};
use crate::args;
use crate::failure::Failure;
use crate::output::Inputs;
use crate::{plan, progress};
use cutline::{Arms, Candidates, Question};
use cutline_lab::figures::plan_figure;
use cutline_lab::rewards::rewards;
use cutline_lab::{
    Goal, Noise, NoiseKind, Pilot, Plan, PlanError, PlanReport, PlannedCampaign, Prior, dataset, noise_and_spread,
};
use cutline_store::{CampaignModel, NewCampaign, Preparation, Settings, StoreError};
use std::path::Path;

/// The default number of runs.
const RUNS: u64 = 100;

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
    let bar = progress::bar(plan.runs.saturating_mul(plan.pulls_per_run(&budgets)?));
    let inputs = Inputs::files([args.features.as_path()].into_iter().chain(args.pilot.as_deref()));
    let output = output(options, &[&plan.name], inputs)?;
    bar.set_message(plan.name.clone());
    let tally = pool.install(|| plan.play(&budgets, 0..plan.runs, &|pulls| bar.inc(pulls)))?;
    bar.finish_and_clear();
    let forecast = plan.forecast(&budgets, &tally);
    let report = PlanReport { plan, budgets, forecast };
    // A reader that closes stdout early must not lose the files.
    let printed = plan::print(&report, options.format);
    let svg = plan_figure(&report).to_svg();
    let mut files = pictures(&report.plan.name, &svg)?.to_vec();
    files.push(("results.csv".into(), plan::csv(&report)));
    files.push(("report.html".into(), plan::page(&report, &svg)?.into_bytes()));
    output.write(&files)?;
    printed
}

/// The plan that the command line and its files ask for.
fn requested(args: &args::Plan) -> Result<Plan, Failure> {
    let path = &args.features;
    let (candidates, labels) = labelled(path)?;
    let candidates = dataset::with_features(candidates).map_err(refused(path))?;
    let arms = candidates.arms();
    let question = Question::new(args.threshold, args.precision).expect("both were checked when parsed");
    let seed = args.simulation.seed.unwrap_or(0);
    let (prior, noise) = match (&args.pilot, &args.prior) {
        (Some(path), _) => pilot(path, &arms, &labels, question, args.noise, seed)?,
        (None, Some(prior)) => (prior.clone(), args.noise.unwrap_or(1.0)),
        (None, None) => {
            let (noise, spread) =
                noise_and_spread(args.noise, args.noise_ratio, args.spread).map_err(PlanError::Prior)?;
            (Prior::expected(args.expectation(spread)).map_err(PlanError::Prior)?, noise)
        }
    };
    let campaigns = match &args.algorithms {
        Some(names) => names.iter().map(|name| campaign(args, Some(name), &candidates)).collect::<Result<_, _>>()?,
        None => vec![campaign(args, None, &candidates)?],
    };
    Ok(Plan {
        name: path.file_stem().unwrap_or_default().to_string_lossy().replace(char::is_control, "-"),
        arms,
        question,
        noise: Noise::new(NoiseKind::Gaussian, noise).map_err(|error| Failure::Usage(error.to_string()))?,
        prior,
        campaigns,
        goal: match args.target {
            Some(probability) => Goal::FailureProbability(probability),
            None => Goal::WrongShare(args.wrong.unwrap_or(0.05)),
        },
        batch: args.batch,
        runs: args.simulation.runs.unwrap_or(RUNS),
        seed,
    })
}

/// The campaign that `cutline new` would begin, with any budget.
fn campaign(
    args: &args::Plan,
    algorithm: Option<&String>,
    candidates: &Candidates,
) -> Result<PlannedCampaign, Failure> {
    let mut settings = Settings::new(args.threshold, u32::MAX);
    settings.precision = args.precision;
    settings.model = args.model.as_deref().map(CampaignModel::named).transpose().map_err(StoreError::from)?;
    settings.algorithm = algorithm.cloned();
    settings.noise = args.noise;
    settings.preparation = args.raw.then(Preparation::raw);
    let new = NewCampaign::new("plan", settings, candidates.clone())?;
    let label = new.settings().algorithm(true).to_owned();
    Ok(PlannedCampaign { label, arms: new.state().arms().clone(), terms: new.state().terms().clone() })
}

/// The posterior given a pilot, and σ.
fn pilot(
    path: &Path,
    arms: &Arms,
    names: &[String],
    question: Question,
    noise: Option<f64>,
    seed: u64,
) -> Result<(Prior, f64), Failure> {
    let rewards = read(path, "; `--pilot` takes a CSV file of `arm,reward`", |csv| rewards(csv, arms.n_arms(), names))?;
    let refused = |error| Failure::Pilot { path: path.into(), error };
    let pilot = Pilot::new(arms, question, rewards, noise, seed).map_err(refused)?;
    let noise = pilot.noise();
    Ok((Prior::pilot(pilot), noise))
}
