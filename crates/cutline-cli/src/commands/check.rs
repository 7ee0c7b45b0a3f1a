//! `cutline check STORE`

use super::open;
use crate::args;
use crate::failure::Failure;
use crate::print::{cell, note};
use cutline::{Side, Verdict};
use cutline_campaign::{AnyCampaign, Fit, ModelFit};
use cutline_report::{short, words};
use std::io::Write;
use std::process::ExitCode;

/// The exit codes of `check --exit-code`.
const ON_THE_OTHER_SIDE: u8 = 1;
const UNDECIDED: u8 = 3;

pub(crate) fn check(args: &args::Check) -> Result<ExitCode, Failure> {
    let mut campaign = open(&args.address)?;
    let arms = chosen(&mut *campaign, &args.only)?;
    let verdicts = match args.confidence {
        Some(delta) => campaign.verdicts_at(delta.0)?,
        None => campaign.verdicts()?,
    };
    let (wanted, other) = if args.below { (Side::Below, Side::Above) } else { (Side::Above, Side::Below) };
    let of = |side: Side| arms.iter().filter(|&&arm| verdicts[arm].side == side).count();
    let (n_other, n_undecided) = (of(other), of(Side::Undecided));
    let description = campaign.description()?;
    let mut out = std::io::stdout().lock();
    for &arm in arms.iter().filter(|&&arm| verdicts[arm].side != wanted) {
        writeln!(out, "{}", line(&description.names[arm], &verdicts[arm]))?;
    }
    let (n_arms, threshold, precision) = (arms.len(), description.settings.threshold, description.settings.precision);
    let give_or_take = if precision > 0.0 { format!(" (give or take {precision})") } else { String::new() };
    let candidates = if n_arms == 1 { "candidate" } else { "candidates" };
    let n_wanted = n_arms - n_other - n_undecided;
    let (wanted, other) = (wanted.name(), other.name());
    writeln!(
        out,
        "{n_wanted} of {n_arms} {candidates} {wanted} {threshold}{give_or_take}, {n_other} {other}, {n_undecided} undecided"
    )?;
    out.flush()?;
    let fit = ModelFit::new(campaign.state()?, &verdicts);
    let is_misfit = fit.fit == Fit::Misfit;
    if is_misfit {
        note(&words::fit(&fit));
    }
    Ok(match (args.exit_code, n_other, n_undecided) {
        (false, ..) => ExitCode::SUCCESS,
        (true, 0, 0) if !is_misfit => ExitCode::SUCCESS,
        (true, 0, _) => UNDECIDED.into(),
        (true, ..) => ON_THE_OTHER_SIDE.into(),
    })
}

/// The arms of these names, or all.
fn chosen(campaign: &mut dyn AnyCampaign, only: &[String]) -> Result<Vec<usize>, Failure> {
    let name_of_campaign = campaign.name().to_owned();
    let names = &campaign.description()?.names;
    if only.is_empty() {
        return Ok((0..names.len()).collect());
    }
    let find = |name: &String| {
        let unknown = || Failure::Usage(format!("there is no candidate `{name}` in the campaign `{name_of_campaign}`"));
        names.iter().position(|known| known == name).ok_or_else(unknown)
    };
    only.iter().map(find).collect()
}

fn line(name: &str, verdict: &Verdict) -> String {
    let [mean, lower, upper] = [verdict.mean, verdict.lower, verdict.upper].map(short);
    let measured = match verdict.pulls {
        0 => "never measured".into(),
        1 => "1 measurement".into(),
        pulls => format!("{pulls} measurements"),
    };
    let withdrawn = if verdict.is_withdrawn { ", withdrawn" } else { "" };
    let side = verdict.side_in_words();
    format!("{}: {side}, mean {mean}, interval {lower} to {upper}, {measured}{withdrawn}", cell(name))
}
