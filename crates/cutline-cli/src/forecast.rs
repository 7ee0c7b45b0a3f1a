//! What a plan says, in tables and sentences.

use crate::args::Format;
use crate::failure::Failure;
use crate::print::{json, table};
use cutline_lab::{Answer, Experiment, Forecast, Guarantee, Kind, LeftOut, Prospect};
use serde::Serialize;
use std::io::Write;

/// A plan that was made.
pub(crate) struct Planned {
    pub(crate) experiment: Experiment,
    pub(crate) forecast: Forecast,
}

/// As JSON shows it.
#[derive(Serialize)]
struct Shown<'a> {
    experiment: &'a str,
    runs: u64,
    seed: u64,
    #[serde(flatten)]
    forecast: &'a Forecast,
}

impl Planned {
    /// Prints it as `format` asks.
    pub(crate) fn print(&self, format: Format) -> Result<(), Failure> {
        let mut out = std::io::stdout().lock();
        match format {
            Format::Table => {
                writeln!(out, "\n{}: {}", self.experiment.name(), self.heading())?;
                writeln!(out, "{}", self.table())?;
                for line in self.remarks().into_iter().chain([String::new()]).chain(self.answers()) {
                    writeln!(out, "{line}")?;
                }
            }
            Format::Json => {
                let (experiment, runs, seed) = (self.experiment.name(), self.experiment.runs(), self.experiment.seed());
                json(&mut out, &Shown { experiment, runs, seed, forecast: &self.forecast })?;
            }
            Format::Csv => out.write_all(&self.csv())?,
        }
        out.flush()?;
        Ok(())
    }

    /// What was played, in one line.
    pub(crate) fn heading(&self) -> String {
        let experiment = &self.experiment;
        let prior = match experiment.source().kind() {
            Kind::Features(_, prior) => prior.to_string(),
            _ => String::new(),
        };
        format!("{} runs, seed {}, {prior}", experiment.runs(), experiment.seed())
    }

    /// The budget of each algorithm, and what to try if there is none.
    pub(crate) fn answers(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.forecast.answers.iter().map(|answer| self.answer(answer)).collect();
        if self.forecast.answers.iter().all(|answer| answer.budget.is_none()) {
            lines.push(
                "No budget will do: try larger `--budgets`, a larger `--precision` or a larger `--target`".into(),
            );
        }
        lines
    }

    fn answer(&self, answer: &Answer) -> String {
        let Answer { algorithm, tried_from, tried_to, .. } = answer;
        let target = self.forecast.target;
        let Some(budget) = answer.budget else {
            let last = self.forecast.prospects.iter().rfind(|prospect| prospect.algorithm == *algorithm);
            let rate = last.map_or(String::new(), |p| format!("{:.4} ({:.4} – {:.4})", p.failure_rate, p.low, p.high));
            return format!(
                "`{algorithm}` does not get to a failure probability of {target}: at T = {tried_to} it is {rate}"
            );
        };
        let interval = match (answer.low, answer.high) {
            (Some(low), Some(high)) => format!("{low} to {high}"),
            (Some(low), None) => format!("{low} to more than {tried_to}, the largest budget tried"),
            (None, Some(high)) => format!("up to {high}"),
            (None, None) => format!("up to more than {tried_to}, the largest budget tried"),
        };
        let more = if self.forecast.pilot > 0 { "more " } else { "" };
        let plural = if budget == 1 { "" } else { "s" };
        let at_most = if budget == *tried_from { "at most " } else { "" };
        let smallest = if budget == *tried_from { ", the smallest budget tried," } else { "" };
        format!(
            "`{algorithm}` needs {at_most}{budget} {more}measurement{plural}{smallest} for a failure probability of {target} (95 % interval: {interval})"
        )
    }

    /// What Theorem 1 guarantees, and who was left out where.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let n_arms = match self.experiment.source().kind() {
            Kind::Features(arms, _) => arms.n_arms(),
            _ => 0,
        };
        let left_out = |LeftOut { algorithm, budgets, .. }: &LeftOut| {
            let budgets: Vec<String> = budgets.iter().map(ToString::to_string).collect();
            format!("`{algorithm}` pulls each of the {n_arms} arms once first: left out at T = {}", budgets.join(", "))
        };
        self.forecast.left_out.iter().map(left_out).chain(self.theory()).collect()
    }

    fn theory(&self) -> Vec<String> {
        let guarantees = &self.forecast.theorem_1;
        if self.forecast.pilot > 0 {
            return vec!["Theorem 1 is about campaigns without a pilot: here it guarantees nothing.".into()];
        }
        if guarantees.iter().all(|guarantee| guarantee.bound.is_none()) {
            let line = "Theorem 1 guarantees nothing at any of these budgets: in no run does it apply (‖θ‖ < √(T/16H), T ≥ K) \
                        with a bound below 1.";
            return vec![line.into()];
        }
        let (silent, spoken): (Vec<&Guarantee>, Vec<&Guarantee>) =
            guarantees.iter().partition(|guarantee| guarantee.bound.is_none());
        let silent = (!silent.is_empty()).then(|| {
            let budgets: Vec<String> = silent.iter().map(|guarantee| guarantee.budget.to_string()).collect();
            format!("Theorem 1 guarantees nothing at T = {}", budgets.join(", "))
        });
        let line = |guarantee: &Guarantee| {
            let (budget, share) = (guarantee.budget, 100.0 * guarantee.share);
            let bound = guarantee.bound.unwrap_or(1.0);
            let bound = if bound < 0.001 { format!("{bound:.3e}") } else { format!("{bound:.4}") };
            format!(
                "Theorem 1 at T = {budget}: a failure probability of `linear-apt` of at most {bound} over the prior; it says \
                 something of {share:.1} % of the runs"
            )
        };
        silent.into_iter().chain(spoken.into_iter().map(line)).collect()
    }

    fn table(&self) -> comfy_table::Table {
        let mut table = table(&["algorithm", "T", "failure rate", "95 % interval", "wrong arms (95 % interval)"]);
        for prospect in &self.forecast.prospects {
            table.add_row([
                prospect.algorithm.clone(),
                prospect.budget.to_string(),
                format!("{:.4}", prospect.failure_rate),
                format!("{:.4} – {:.4}", prospect.low, prospect.high),
                errors(prospect),
            ]);
        }
        table
    }

    /// A row a prospect, with its algorithm's answer and, for LinearAPT, what is guaranteed.
    pub(crate) fn csv(&self) -> Vec<u8> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let header = [
            "experiment",
            "algorithm",
            "budget",
            "runs",
            "failures",
            "failure_rate",
            "low",
            "high",
            "mean_errors",
            "errors_low",
            "errors_high",
            "target",
            "planned",
            "planned_low",
            "planned_high",
            "guarantee",
            "guarantee_share",
        ];
        writer.write_record(header).expect("memory takes every record");
        let shown = |value: Option<u32>| value.map_or(String::new(), |value| value.to_string());
        for p in &self.forecast.prospects {
            let answer = self.forecast.answers.iter().find(|answer| answer.algorithm == p.algorithm);
            let guarantee = self.forecast.theorem_1.iter().find(|guarantee| guarantee.budget == p.budget);
            let guarantee = guarantee.filter(|_| p.algorithm == "linear-apt");
            let record = [
                self.experiment.name().to_owned(),
                p.algorithm.clone(),
                p.budget.to_string(),
                p.runs.to_string(),
                p.failures.to_string(),
                p.failure_rate.to_string(),
                p.low.to_string(),
                p.high.to_string(),
                p.mean_errors.to_string(),
                p.errors_low.to_string(),
                p.errors_high.to_string(),
                self.forecast.target.to_string(),
                shown(answer.and_then(|answer| answer.budget)),
                shown(answer.and_then(|answer| answer.low)),
                shown(answer.and_then(|answer| answer.high)),
                guarantee.and_then(|guarantee| guarantee.bound).map_or(String::new(), |bound| bound.to_string()),
                guarantee.map_or(String::new(), |guarantee| guarantee.share.to_string()),
            ];
            writer.write_record(record).expect("memory takes every record");
        }
        writer.into_inner().expect("memory takes every record")
    }
}

/// The mean number of arms called wrongly, with its interval.
pub(crate) fn errors(prospect: &Prospect) -> String {
    format!("{:.3} ({:.3} – {:.3})", prospect.mean_errors, prospect.errors_low, prospect.errors_high)
}
