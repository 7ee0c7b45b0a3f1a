//! `cutline list STORE`

use super::token_of;
use crate::args;
use crate::args::Format;
use crate::failure::Failure;
use crate::print::{cell, csv_field, csv_record, json_rows, left, table};
use cutline_campaign::{CampaignHost, CampaignSummary, rfc3339};
use cutline_report::spending;
use cutline_store::OpenOptions;
use serde::Serialize;
use std::io::Write;

/// A campaign in the list: an object of JSON and a row of CSV. What only its state says is missing if the campaign cannot be opened here,
/// for example because it uses a custom rule.
#[derive(Serialize)]
struct Row {
    campaign: String,
    begun: String,
    n_arms: Option<usize>,
    threshold: Option<f64>,
    told: Option<u32>,
    budget: Option<u32>,
    ending: Option<&'static str>,
    /// What the rewards have cost, if measurements have costs.
    spent: Option<f64>,
    #[serde(skip)]
    used: Option<String>,
}

/// The columns of CSV: the fields of a row.
const COLUMNS: [&str; 8] = ["campaign", "begun", "n_arms", "threshold", "told", "budget", "ending", "spent"];

pub(crate) fn list(args: &args::List) -> Result<(), Failure> {
    let token = token_of(&args.token)?;
    let store = OpenOptions::new().token(token.as_deref()).host(&args.store)?;
    let rows: Vec<Row> = store.campaigns()?.into_iter().map(|summary| row(&*store, summary)).collect();
    let mut out = std::io::stdout().lock();
    match args.format {
        Format::Table => writeln!(out, "{}", text_table(&rows))?,
        Format::Json => json_rows(&mut out, rows.iter())?,
        Format::Csv => {
            let mut writer = csv::Writer::from_writer(&mut out);
            if rows.is_empty() {
                // Otherwise the header is written with the first row.
                csv_record(&mut writer, COLUMNS)?;
            }
            for row in rows {
                let campaign = csv_field(&row.campaign).into_owned();
                writer.serialize(Row { campaign, ..row }).map_err(std::io::Error::from)?;
            }
            writer.flush()?;
        }
    }
    out.flush()?;
    Ok(())
}

fn row(host: &dyn CampaignHost, summary: CampaignSummary) -> Row {
    let begun = rfc3339(summary.created);
    let mut campaign = host.campaign(Some(&summary.name)).ok();
    let progress = campaign.as_mut().and_then(|campaign| campaign.progress().ok());
    let ending = campaign.as_mut().and_then(|campaign| campaign.stop_reason().ok().flatten());
    let spent = progress.as_ref().and_then(|progress| progress.spending).map(|spending| spending.spent);
    let description = campaign.as_mut().and_then(|campaign| campaign.description().ok());
    Row {
        campaign: summary.name,
        begun,
        n_arms: description.map(|description| description.names.len()),
        threshold: description.map(|description| description.settings.threshold),
        told: progress.as_ref().map(|progress| progress.counted),
        spent: spent.map(cutline::Amount::value),
        budget: progress.as_ref().map(|progress| progress.budget),
        used: progress.as_ref().map(spending::used_so_far),
        ending: ending.map(cutline::StopReason::name),
    }
}

fn text_table(rows: &[Row]) -> comfy_table::Table {
    let mut table = left(table(&["campaign", "begun", "arms", "threshold", "rewards", "ended"]), &[1, 5]);
    for row in rows {
        let text = |value: Option<String>| value.unwrap_or_else(|| "-".into());
        table.add_row([
            cell(&row.campaign),
            row.begun.clone(),
            text(row.n_arms.map(|n| n.to_string())),
            text(row.threshold.map(|threshold| threshold.to_string())),
            text(row.used.clone()),
            row.ending.unwrap_or_default().into(),
        ]);
    }
    table
}
