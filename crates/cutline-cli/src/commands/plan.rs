//! `cutline plan CANDIDATES`, and `cutline plan STORE` for the rest of a campaign

use super::new::settings;
use super::{file_name, is_store, labelled, open_named, output, pictures, read, refuse_options};
use crate::failure::Failure;
use crate::output::Inputs;
use crate::print::{cell, note};
use crate::threads::Pool;
use crate::{args, plan, progress};
use cutline::{Arm, Arms, Question};
use cutline_campaign::{
    Candidates, Goal, Pilot, Plan, PlanError, PlannedCampaign, Prior, PriorError, check_noise, noise_and_spread,
};
use cutline_data::rewards::rewards;
use cutline_report::{PlanReport, plan_figure, words};
use cutline_store::NewCampaign;
use std::path::Path;

/// The default number of runs.
const RUNS: u64 = 100;

/// What may be given with a STORE that has rewards.
const WITH_STORE: [&str; 12] =
    ["source", "name", "token_file", "wrong", "target", "budgets", "batch", "runs", "threads", "seed", "out", "format"];

/// What is expected of the arms: may be given with a STORE that has no rewards.
const EXPECTED: [&str; 6] = ["explained", "linear_share", "noise_ratio", "spread", "above", "prior"];

pub(crate) fn plan(args: &args::Plan, given: &[String]) -> Result<(), Failure> {
    let options = &args.simulation;
    let requested = if is_store(&args.source) { of_store(args, given)? } else { of_file(args)? };
    let Requested { plan, remaining, inputs } = requested;
    let pool = Pool::new(options.threads)?;
    let budgets = if let Some(budgets) = &args.budgets {
        budgets.0.clone()
    } else if let Some(remaining) = remaining.filter(|&remaining| remaining > 0) {
        plan.budgets_around(remaining)
    } else {
        let count = progress::count("looking for budgets");
        let budgets = pool.install(|| plan.scout(&|pulls| count.inc(pulls)))?;
        count.finish_and_clear();
        budgets
    };
    let bar = progress::bar(plan.runs.saturating_mul(plan.pulls_per_run(&budgets)?));
    let output = output(options, &[&plan.name], inputs)?;
    bar.set_message(cell(&plan.name));
    let tally = pool.install(|| plan.play(&budgets, 0..plan.runs, &|pulls| bar.inc(pulls)))?;
    bar.finish_and_clear();
    let forecast = plan.forecast(&budgets, &tally);
    let report = PlanReport { plan, budgets, forecast, remaining };
    // A reader that closes stdout early must not lose the files.
    let printed = plan::print(&report, options.format);
    let svg = plan_figure(&report).to_svg();
    let mut files = pictures(&file_name(&report.plan.name), &svg)?.to_vec();
    files.push(("results.csv".into(), plan::csv(&report)));
    files.push(("report.html".into(), plan::page(&report, &svg)?.into_bytes()));
    output.write(&files)?;
    printed
}

/// A plan, the budget that a campaign in progress has left, and the files that must not be overwritten.
struct Requested {
    plan: Plan,
    remaining: Option<u32>,
    inputs: Inputs,
}

/// The plan for the rest of the campaign in a store. Without rewards it is the plan for the campaign's candidates and settings.
fn of_store(args: &args::Plan, given: &[String]) -> Result<Requested, Failure> {
    let mut campaign = open_named(&args.source, args.name.as_deref(), &args.token)?;
    let candidates = campaign.candidates()?;
    let name = campaign.name().to_owned();
    let state = campaign.state()?;
    let progress = state.progress();
    let remaining = Some(progress.remaining().whole_units());
    let inputs = Inputs::store(&args.source);
    let seed = args.simulation.seed.unwrap_or(0);
    let runs = args.simulation.runs.unwrap_or(RUNS);
    if state.rewards().next().is_none() {
        refuse_options(given, &[&WITH_STORE[..], &EXPECTED].concat())?;
        let terms = state.terms().clone();
        let (prior, noise) = expected(args, terms.noise, &candidates)?;
        let (question, label) = (terms.question, terms.spec.name().to_owned());
        let planned = PlannedCampaign { label, arms: state.arms().clone(), terms };
        let (goal, noise) = (goal(args), checked(noise)?);
        let arms = candidates.arms();
        let plan =
            Plan { name, arms, question, noise, prior, campaigns: vec![planned], goal, batch: args.batch, runs, seed };
        return Ok(Requested { plan, remaining, inputs });
    }
    refuse_options(given, &WITH_STORE)?;
    if let Some(reason) = state.stop_reason().filter(|_| state.terms().until_sure.is_some()) {
        note(&format!("the campaign has ended: {}; the plan is for going on all the same", words::ending(reason)));
    }
    let plan = Plan::rest_of(&name, candidates.arms(), state, runs, seed)
        .map_err(|error| Failure::Pilot { path: args.source.clone().into(), error })?;
    Ok(Requested { plan: Plan { goal: goal(args), batch: args.batch, ..plan }, remaining, inputs })
}

/// The plan for candidates in a file.
fn of_file(args: &args::Plan) -> Result<Requested, Failure> {
    let path = Path::new(&args.source);
    let inputs = Inputs::files([path].into_iter().chain(args.pilot.as_deref()));
    let (candidates, labels) = labelled(path, &args.options.read_options())?;
    let Some(threshold) = args.threshold else {
        return Err(Failure::Usage("the threshold is missing: give it with `--threshold`".into()));
    };
    let arms = candidates.arms();
    let question = Question::new(threshold, args.options.changeable.precision.unwrap_or(0.0))
        .expect("both were checked when parsed");
    let seed = args.simulation.seed.unwrap_or(0);
    let (prior, noise) = match &args.pilot {
        Some(path) => {
            let decimal_comma = args.options.read_options().decimal_comma;
            let kind = "; `--pilot` takes a CSV file of `arm,reward`";
            let rewards = read(path, kind, |csv| rewards(csv, arms.n_arms(), &labels, decimal_comma))?;
            pilot(path, &arms, rewards, question, args.options.changeable.noise(), seed)?
        }
        None => expected(args, args.options.changeable.noise(), &candidates)?,
    };
    let campaign = |name: Option<&String>| campaign(args, threshold, name, &candidates);
    let campaigns = match &args.algorithms {
        Some(names) => names.iter().map(|name| campaign(Some(name))).collect::<Result<_, _>>()?,
        None => vec![campaign(None)?],
    };
    let plan = Plan {
        name: path.file_stem().unwrap_or_default().to_string_lossy().replace(char::is_control, "-"),
        arms,
        question,
        noise: checked(noise)?,
        prior,
        campaigns,
        goal: goal(args),
        batch: args.batch,
        runs: args.simulation.runs.unwrap_or(RUNS),
        seed,
    };
    Ok(Requested { plan, remaining: None, inputs })
}

fn goal(args: &args::Plan) -> Goal {
    match args.target {
        Some(probability) => Goal::FailureProbability(probability),
        None => Goal::WrongShare(args.wrong.unwrap_or(0.05)),
    }
}

fn checked(noise: f64) -> Result<f64, Failure> {
    check_noise(noise).map_err(|error| Failure::Usage(error.to_string()))
}

/// What is expected of the arms before any reward, and σ.
fn expected(args: &args::Plan, noise: Option<f64>, candidates: &Candidates) -> Result<(Prior, f64), Failure> {
    let has_features = candidates.has_features();
    if !has_features && args.explained.or(args.linear_share).is_some_and(|share| share > 0.0) {
        return Err(Failure::Usage(
            "the candidates have no features that could explain anything; leave out `--explained` and `--linear-share`"
                .into(),
        ));
    }
    if let Some(prior) = &args.prior {
        if !has_features {
            return Err(PlanError::Prior(PriorError::NoFeatures).into());
        }
        return Ok((prior.clone(), noise.unwrap_or(1.0)));
    }
    let (noise, spread) = noise_and_spread(noise, args.noise_ratio, args.spread).map_err(PlanError::Prior)?;
    Ok((Prior::expected(args.expectation(spread, has_features)).map_err(PlanError::Prior)?, noise))
}

/// The campaign that `cutline new` would begin, with any budget.
fn campaign(
    args: &args::Plan,
    threshold: f64,
    algorithm: Option<&String>,
    candidates: &Candidates,
) -> Result<PlannedCampaign, Failure> {
    let mut settings = settings(&args.options, threshold, candidates)?;
    settings.algorithm = algorithm.cloned();
    let new = NewCampaign::new("plan", settings, candidates.clone())?;
    let label = new.settings().algorithm(true).to_owned();
    Ok(PlannedCampaign { label, arms: new.state().arms().clone(), terms: new.state().terms().clone() })
}

/// The posterior given a pilot, and σ.
fn pilot(
    path: &Path,
    arms: &Arms,
    rewards: Vec<(Arm, f64)>,
    question: Question,
    noise: Option<f64>,
    seed: u64,
) -> Result<(Prior, f64), Failure> {
    let refused = |error| Failure::Pilot { path: path.into(), error };
    let pilot = Pilot::new(arms, question, rewards, noise, seed).map_err(refused)?;
    let noise = pilot.noise();
    Ok((Prior::pilot(pilot), noise))
}
