//! `cutline diagnose CANDIDATES REWARDS.csv`, and `cutline diagnose STORE`

use super::new::settings;
use super::{is_store, labelled, open, read, refuse_options};
use crate::args::{CampaignAddress, Diagnose, Format};
use crate::diagnosis::facts;
use crate::failure::Failure;
use crate::print::{cell, csv_field, json, note, short, table};
use cutline::campaign::CampaignState;
use cutline::diagnostics::{ArmFit, Conclusion, DesignShape, Diagnostics, LackOfFit, NoiseScaleEstimate};
use cutline::estimators::Explained;
use cutline::{Arm, Arms, Candidates};
use cutline_lab::rewards::rewards;
use cutline_store::{NewCampaign, diagnosis, finding};
use serde::Serialize;
use std::io::Write;

/// What may be given with a STORE.
const WITH_STORE: [&str; 4] = ["source", "name", "raw", "format"];

pub(crate) fn diagnose(args: &Diagnose, given: &[String]) -> Result<(), Failure> {
    if is_store(&args.source) {
        if args.rewards.is_some() {
            return Err(Failure::Usage(
                "on a STORE the rewards are those of the campaign: leave out the second file".into(),
            ));
        }
        refuse_options(given, &WITH_STORE)?;
        let mut campaign =
            open(&CampaignAddress { store: args.source.clone(), name: args.name.clone(), token_file: None })?;
        let arms = campaign.candidates()?.arms();
        let names = campaign.arm_names().to_vec();
        return print(args, campaign.state()?, &arms, &names);
    }
    let Some(path) = &args.rewards else {
        return Err(Failure::Usage(
            "rewards are missing: give a CSV file of `arm,reward` after the candidates, or a STORE alone".into(),
        ));
    };
    let (candidates, names) = labelled(args.source.as_ref(), &args.options.read_options())?;
    let arms = candidates.arms();
    let rewards = read(path, "", |csv| rewards(csv, arms.n_arms(), &names))?;
    let new = observed(args, candidates, &rewards)?;
    print(args, new.state(), &arms, &names)
}

/// Prints the diagnosis of a campaign in this state; `arms` are the arms as they were given.
fn print(args: &Diagnose, state: &CampaignState, arms: &Arms, names: &[String]) -> Result<(), Failure> {
    let mut diagnostics = state.diagnose();
    if args.options.raw {
        let learnt = diagnostics.learnt;
        diagnostics = state.reward_stats().with_arms(arms).diagnose();
        diagnostics.learnt = learnt;
    }
    let finding = finding(state);
    let rows: Vec<Row<'_>> = diagnostics.arms.iter().map(|arm| Row::new(arm, names)).collect();
    let sentence = diagnosis(finding.as_deref(), &diagnostics);
    let mut out = std::io::stdout().lock();
    match args.format {
        Format::Table => {
            describe(&mut out, &diagnostics)?;
            writeln!(out, "\n{}\n\n{sentence}", arm_table(&rows))?;
        }
        Format::Json => json(&mut out, &Report::new(&diagnostics, finding, sentence, &rows))?,
        Format::Csv => {
            csv(&mut out, &rows)?;
            note(&sentence);
        }
    }
    out.flush()?;
    Ok(())
}

/// The campaign that `cutline new` would begin with these rewards. Its threshold, from which the model measures rewards, is their mean if
/// none is given.
fn observed(args: &Diagnose, candidates: Candidates, rewards: &[(Arm, f64)]) -> Result<NewCampaign, Failure> {
    let n = rewards.len() as f64;
    let mean = || rewards.iter().map(|(_, reward)| reward / n).sum();
    let mut settings = settings(&args.options, args.threshold.unwrap_or_else(mean), &candidates)?;
    if settings.model.is_none() && args.options.raw {
        // Only the test of the linear model is about the features as they are.
        settings.preparation = None;
    }
    let mut new = NewCampaign::new("diagnose", settings, candidates)?;
    new.observe(rewards, false)?;
    Ok(new)
}

/// A pulled arm: a row of CSV and an object of JSON.
#[derive(Clone, Copy, Serialize)]
struct Row<'a> {
    arm: usize,
    name: Option<&'a str>,
    pulls: u64,
    mean: f64,
    fit: Option<f64>,
    leverage: Option<f64>,
    t: Option<f64>,
    p_value: Option<f64>,
    holm: Option<f64>,
    disagrees: Option<bool>,
}

impl<'a> Row<'a> {
    fn new(arm: &ArmFit, names: &'a [String]) -> Self {
        let test = arm.fit.and_then(|fit| fit.test);
        Self {
            arm: arm.arm,
            name: names.get(arm.arm).map(String::as_str),
            pulls: arm.pulls,
            mean: arm.mean,
            fit: arm.fit.map(|fit| fit.mean),
            leverage: arm.fit.map(|fit| fit.leverage),
            t: test.map(|test| test.t),
            p_value: test.map(|test| test.p_value),
            holm: test.map(|test| test.holm),
            disagrees: test.map(|test| test.disagrees()),
        }
    }
}

/// The whole diagnosis, as JSON.
#[derive(Serialize)]
struct Report<'a> {
    conclusion: &'static str,
    missing: Option<&'static str>,
    sentence: String,
    model: Option<&'static str>,
    finding: Option<String>,
    explained: Option<Shares>,
    noise: Option<f64>,
    spread: Option<f64>,
    pulls_per_arm: Option<f64>,
    n_arms: usize,
    n_pulled: usize,
    pulls: u64,
    features: Option<Matrix>,
    design: Option<Matrix>,
    replicates: Option<Noise>,
    residuals: Option<Noise>,
    lack_of_fit: Option<Test>,
    arms: &'a [Row<'a>],
}

#[derive(Serialize)]
struct Shares {
    linear: f64,
    smooth: f64,
    own: f64,
}

#[derive(Serialize)]
struct Matrix {
    dimension: usize,
    rank: usize,
    condition: Option<f64>,
}

#[derive(Serialize)]
struct Noise {
    sigma: f64,
    freedom: u64,
}

#[derive(Serialize)]
struct Test {
    f: f64,
    freedom: (u64, u64),
    p_value: f64,
    misfit: f64,
    power: f64,
}

impl<'a> Report<'a> {
    fn new(diagnostics: &Diagnostics, finding: Option<String>, sentence: String, arms: &'a [Row<'a>]) -> Self {
        let shares = |Explained { linear, smooth, own }| Shares { linear, smooth, own };
        let matrix = |DesignShape { dimension, rank, condition }| Matrix { dimension, rank, condition };
        let noise = |NoiseScaleEstimate { sigma, freedom }| Noise { sigma, freedom };
        let test = |LackOfFit { f, freedom, p_value, misfit, power }| Test { f, freedom, p_value, misfit, power };
        let (conclusion, learnt) = (diagnostics.conclusion, diagnostics.learnt);
        Self {
            conclusion: conclusion.name(),
            missing: if let Conclusion::NotEnoughData(missing) = conclusion { Some(missing.name()) } else { None },
            sentence,
            model: diagnostics.model(),
            finding,
            explained: learnt.map(|learnt| shares(learnt.explained)),
            noise: learnt.map(|learnt| learnt.noise),
            spread: learnt.map(|learnt| learnt.spread),
            pulls_per_arm: learnt.map(|learnt| learnt.pulls_per_arm()),
            n_arms: diagnostics.n_arms,
            n_pulled: diagnostics.arms.len(),
            pulls: diagnostics.pulls,
            features: diagnostics.features.map(matrix),
            design: diagnostics.design.map(matrix),
            replicates: diagnostics.replicates.map(noise),
            residuals: diagnostics.residuals.map(noise),
            lack_of_fit: diagnostics.lack_of_fit.map(test),
            arms,
        }
    }
}

fn csv(out: &mut impl Write, rows: &[Row<'_>]) -> Result<(), Failure> {
    let mut writer = csv::Writer::from_writer(out);
    for row in rows {
        let name = row.name.map(csv_field);
        writer.serialize(Row { name: name.as_deref(), ..*row }).map_err(std::io::Error::from)?;
    }
    writer.flush()?;
    Ok(())
}

/// Prints the numbers about all arms together, one per line.
fn describe(out: &mut impl Write, diagnostics: &Diagnostics) -> Result<(), Failure> {
    for (what, value) in facts(diagnostics) {
        writeln!(out, "{what:<23}{value}")?;
    }
    Ok(())
}

fn arm_table(rows: &[Row<'_>]) -> comfy_table::Table {
    let mut table = table(&["arm", "pulls", "mean", "fit", "leverage", "t", "p", "Holm p", "disagrees"]);
    for row in rows {
        let number = |number: Option<f64>| number.map_or("-".into(), short);
        let disagrees = match row.disagrees {
            Some(true) => "yes",
            Some(false) => "no",
            None => "-",
        };
        table.add_row([
            row.name.map_or_else(|| row.arm.to_string(), cell),
            row.pulls.to_string(),
            short(row.mean),
            number(row.fit),
            number(row.leverage),
            row.t.map_or("-".into(), |t| format!("{t:+.2}")),
            number(row.p_value),
            number(row.holm),
            disagrees.into(),
        ]);
    }
    table
}
