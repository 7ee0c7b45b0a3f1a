//! `cutline diagnose CANDIDATES REWARDS.csv`, and `cutline diagnose STORE`

use super::new::settings;
use super::{is_store, labelled, open_named, read, refuse_options};
use crate::args::{Diagnose, Format};
use crate::failure::Failure;
use crate::print::{cell, csv_field, json, note, table};
use cutline::diagnostics::Diagnostics;
use cutline::{Arm, Arms};
use cutline_campaign::{CampaignState, Candidates};
use cutline_data::rewards::rewards;
use cutline_report::{DiagnosedArm, DiagnosisReport, diagnosis, diagnosis_facts, finding, short};
use cutline_store::NewCampaign;
use std::io::Write;

/// What may be given with a STORE.
const WITH_STORE: [&str; 5] = ["source", "name", "token_file", "raw", "format"];

pub(crate) fn diagnose(args: &Diagnose, given: &[String]) -> Result<(), Failure> {
    if is_store(&args.source) {
        if args.rewards.is_some() {
            return Err(Failure::Usage(
                "on a STORE the rewards are those of the campaign: leave out the second file".into(),
            ));
        }
        refuse_options(given, &WITH_STORE)?;
        let mut campaign = open_named(&args.source, args.name.as_deref(), &args.token)?;
        let arms = campaign.candidates()?.arms();
        let names = campaign.description()?.names.clone();
        return print(args, campaign.state()?, &arms, &names);
    }
    let Some(path) = &args.rewards else {
        return Err(Failure::Usage(
            "rewards are missing: give a CSV file of `arm,reward` after the candidates, or a STORE alone".into(),
        ));
    };
    let (candidates, names) = labelled(args.source.as_ref(), &args.options.read_options())?;
    let arms = candidates.arms();
    let decimal_comma = args.options.read_options().decimal_comma;
    let rewards = read(path, "", |csv| rewards(csv, arms.n_arms(), &names, decimal_comma))?;
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
    let rows: Vec<DiagnosedArm<'_>> = diagnostics.arms.iter().map(|arm| DiagnosedArm::new(arm, names)).collect();
    let sentence = diagnosis(finding.as_deref(), &diagnostics);
    let mut out = std::io::stdout().lock();
    match args.format {
        Format::Table => {
            describe(&mut out, &diagnostics)?;
            writeln!(out, "\n{}\n\n{sentence}", arm_table(&rows))?;
        }
        Format::Json => json(&mut out, &DiagnosisReport::new(&diagnostics, finding, sentence, &rows))?,
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

fn csv(out: &mut impl Write, rows: &[DiagnosedArm<'_>]) -> Result<(), Failure> {
    let mut writer = csv::Writer::from_writer(out);
    for row in rows {
        let name = row.name.map(csv_field);
        writer.serialize(DiagnosedArm { name: name.as_deref(), ..*row }).map_err(std::io::Error::from)?;
    }
    writer.flush()?;
    Ok(())
}

/// Prints the numbers about all arms together, one per line.
fn describe(out: &mut impl Write, diagnostics: &Diagnostics) -> Result<(), Failure> {
    for (what, value) in diagnosis_facts(diagnostics) {
        writeln!(out, "{what:<23}{value}")?;
    }
    Ok(())
}

fn arm_table(rows: &[DiagnosedArm<'_>]) -> comfy_table::Table {
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
