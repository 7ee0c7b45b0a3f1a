//! `cutline check STORE`

use super::open;
use crate::args;
use crate::failure::Failure;
use crate::print::{cell, note};
use cutline::{Arm, Guarantee, Side, Verdict};
use cutline_campaign::{AnyCampaign, Description, Fit, ModelFit};
use cutline_report::{short, words};
use std::io::Write;
use std::process::ExitCode;

/// The exit codes of `check --exit-code`: an arm is on the other side, or it is not known yet.
const ON_THE_OTHER_SIDE: u8 = 1;
const NOT_KNOWN: u8 = 3;

pub(crate) fn check(args: &args::Check) -> Result<ExitCode, Failure> {
    let mut campaign = open(&args.address)?;
    let arms = chosen(&mut *campaign, &args.only)?;
    let description = campaign.description()?;
    let (delta, guarantee) = (description.settings.delta, description.settings.guarantee);
    // A gate is about all candidates together.
    let guarantee = guarantee.unwrap_or(Guarantee::All);
    let verdicts = campaign.verdicts_at(args.confidence.map_or(delta, |delta| delta.0), Some(guarantee))?;
    let checked = Checked::new(&verdicts, &arms, args);
    let Description { settings, names, .. } = campaign.description()?;
    let mut out = std::io::stdout().lock();
    for &arm in &checked.listed {
        writeln!(out, "{}", line(&names[arm], &verdicts[arm]))?;
    }
    writeln!(out, "{}", checked.summary(arms.len(), settings.threshold, settings.precision))?;
    out.flush()?;
    let fit = ModelFit::new(campaign.state()?, &verdicts);
    // A misfit says nothing about proofs, which do not rest on the model.
    let is_misfit = args.likely && fit.fit == Fit::Misfit;
    if is_misfit {
        note(&words::fit(&fit));
    }
    let is_known = checked.listed.is_empty() && !is_misfit;
    if !args.exit_code || is_known {
        return Ok(ExitCode::SUCCESS);
    }
    if checked.has_other {
        return Ok(ON_THE_OTHER_SIDE.into());
    }
    if let Some(hint) = words::only_likely(checked.n_likely) {
        note(&hint);
    }
    Ok(NOT_KNOWN.into())
}

/// What the verdicts on the checked arms are.
struct Checked {
    wanted: Side,
    other: Side,
    /// The arms that are not known to be on the side that is wanted.
    listed: Vec<Arm>,
    /// Whether one of them is known to be on the other side.
    has_other: bool,
    /// How many have a verdict that is likely but does not count.
    n_likely: usize,
    /// The number of arms on the side that is wanted and on the other one, each with how many of them are proved.
    counts: [(usize, usize); 2],
}

impl Checked {
    fn new(verdicts: &[Verdict], arms: &[Arm], args: &args::Check) -> Self {
        let (wanted, other) = if args.below { (Side::Below, Side::Above) } else { (Side::Above, Side::Below) };
        let counts_as = |arm: Arm, side: Side| verdicts[arm].side == side && (args.likely || verdicts[arm].is_proved());
        let count = |side: Side| {
            let on_side = || arms.iter().filter(|&&arm| verdicts[arm].side == side);
            (on_side().count(), on_side().filter(|&&arm| verdicts[arm].is_proved()).count())
        };
        let is_likely = |arm: Arm| verdicts[arm].is_decided() && !verdicts[arm].is_proved();
        Self {
            wanted,
            other,
            listed: arms.iter().copied().filter(|&arm| !counts_as(arm, wanted)).collect(),
            has_other: arms.iter().any(|&arm| counts_as(arm, other)),
            n_likely: if args.likely { 0 } else { arms.iter().filter(|&&arm| is_likely(arm)).count() },
            counts: [count(wanted), count(other)],
        }
    }

    fn summary(&self, n_arms: usize, threshold: f64, precision: f64) -> String {
        let give_or_take = if precision > 0.0 { format!(", give or take {precision}") } else { String::new() };
        let candidates = if n_arms == 1 { "candidate" } else { "candidates" };
        let [(n_wanted, _), (n_other, _)] = self.counts;
        let n_undecided = n_arms - n_wanted - n_other;
        let (wanted, other) = (self.wanted.name(), self.other.name());
        let [of_wanted, of_other] = self.counts.map(|(decided, proved)| words::proved(decided, proved));
        format!(
            "{n_wanted} of {n_arms} {candidates} {wanted} {threshold}{give_or_take}{of_wanted}, {n_other} {other}{of_other}, {n_undecided} undecided"
        )
    }
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
    let verdict_words = words::verdict(verdict);
    format!("{}: {verdict_words}, mean {mean}, interval {lower} to {upper}, {measured}{withdrawn}", cell(name))
}
