//! What a plan says, as a table, JSON and CSV.

use crate::args::Format;
use crate::failure::Failure;
use crate::print::{json, table};
use cutline_lab::{ForecastRow, PlanReport};
use std::io::Write;

/// Prints a plan as `format` asks.
pub(crate) fn print(planned: &PlanReport, format: Format) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match format {
        Format::Table => {
            writeln!(out, "\n{}: {}", planned.experiment.name(), planned.heading())?;
            writeln!(out, "{}", prospects(planned))?;
            for line in planned.remarks().into_iter().chain([String::new()]).chain(planned.answers()) {
                writeln!(out, "{line}")?;
            }
        }
        Format::Json => json(&mut out, planned)?,
        Format::Csv => out.write_all(&csv(planned))?,
    }
    out.flush()?;
    Ok(())
}

fn prospects(planned: &PlanReport) -> comfy_table::Table {
    let mut table = table(&["algorithm", "T", "failure rate", "95 % interval", "wrong arms (95 % interval)"]);
    for prospect in &planned.forecast.prospects {
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
pub(crate) fn csv(planned: &PlanReport) -> Vec<u8> {
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
    for p in &planned.forecast.prospects {
        let answer = planned.forecast.answers.iter().find(|answer| answer.algorithm == p.algorithm);
        let guarantee = planned.forecast.theorem_1.iter().find(|guarantee| guarantee.budget == p.budget);
        let guarantee = guarantee.filter(|_| p.algorithm == "linear-apt");
        let record = [
            planned.experiment.name().to_owned(),
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
            planned.forecast.target.to_string(),
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

/// The mean number of arms called wrongly, with its interval.
pub(crate) fn errors(prospect: &ForecastRow) -> String {
    format!("{:.3} ({:.3} – {:.3})", prospect.mean_errors, prospect.errors_low, prospect.errors_high)
}
