//! `cutline ask STORE`

use super::open;
use crate::args::Format;
use crate::failure::Failure;
use crate::print::{cell, json_rows, left, note, table};
use crate::table::{Column, Table};
use crate::{args, interrupt};
use cutline::Amount;
use cutline_campaign::now;
use cutline_campaign::{AnyCampaign, Request, StoreError, Ticket, rfc3339};
use cutline_report::{span, words};
use serde::{Serialize, Serializer};
use std::io::Write;
use std::process::ExitCode;

/// How many features a table shows.
const MAX_FEATURES: usize = 4;

/// The exit codes with `--exit-code` when the campaign has ended and when there is nothing to measure for now.
const ENDED: u8 = 3;
const NOTHING_FOR_NOW: u8 = 4;

pub(crate) fn ask(args: &args::Ask) -> Result<ExitCode, Failure> {
    let mut campaign = open(&args.address)?;
    let user = || ["USER", "USERNAME"].iter().find_map(|name| std::env::var(name).ok()).unwrap_or("somebody".into());
    let worker = args.worker.clone().unwrap_or_else(|| user().replace(char::is_control, "-"));
    let lease = u64::try_from(args.lease.as_millis()).unwrap_or(u64::MAX);
    let request = Request { replicates: args.replicates, resume: args.resume, ..Request::new(args.n, &worker, lease) };
    let tickets = match campaign.ask_unless(&request, &interrupt::flag()) {
        Err(StoreError::Interrupted) => {
            note("interrupted; no ticket was handed out");
            return Ok(ExitCode::from(interrupt::EXIT_CODE));
        }
        asked => asked?,
    };
    if let Err(failure) = print(campaign.columns(), &tickets, args.format) {
        // Nobody has seen the tickets, so nobody will measure them.
        campaign.expire(&tickets.iter().flat_map(Ticket::numbers).collect::<Vec<_>>())?;
        return Err(failure);
    }
    let mut code = 0;
    if tickets.len() < args.n {
        let (reason, reason_code) = reason(&mut *campaign)?;
        match tickets.len() {
            0 => note(&format!("nothing to measure: {reason}")),
            n => note(&format!("{n} of {} tickets: {reason}", args.n)),
        }
        code = if args.exit_code && tickets.is_empty() { reason_code } else { 0 };
    }
    Ok(code.into())
}

/// Why there are no more measurements to hand out, and the exit code for it.
fn reason(campaign: &mut dyn AnyCampaign) -> Result<(String, u8), StoreError> {
    let available = campaign.availability()?;
    if let Some(reason) = available.stop_reason {
        return Ok((words::ending_of(reason, available.budget), ENDED));
    }
    let first = available.first_lease_end.map_or(0, |until| until.saturating_sub(now()));
    let (n_open, left) = (available.open, available.unassigned);
    let tickets = if n_open == 1 { "ticket" } else { "tickets" };
    let why = if available.is_too_little() {
        format!("{left} of the budget are not assigned to the {n_open} open {tickets}, less than a measurement costs")
    } else if left == Amount::ZERO {
        format!("the remaining budget is assigned to {n_open} open {tickets}")
    } else {
        format!("the next choice depends on the rewards of {n_open} open {tickets}")
    };
    let after = span(first);
    let reason =
        format!("{why}; ask again after their rewards are recorded, or in {after}, when the first lease runs out");
    Ok((reason, NOTHING_FOR_NOW))
}

/// A ticket as a JSON object.
#[derive(Serialize)]
struct Row<'a> {
    ticket: u64,
    arm: &'a str,
    index: usize,
    #[serde(serialize_with = "by_name")]
    features: (&'a [String], &'a [f64]),
    until: String,
    replicates: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<f64>,
}

fn by_name<S: Serializer>(&(columns, features): &(&[String], &[f64]), serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(columns.iter().zip(features))
}

fn print(columns: &[String], tickets: &[Ticket], format: Format) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match format {
        Format::Json => json_rows(
            &mut out,
            tickets.iter().map(|ticket| Row {
                ticket: ticket.number,
                arm: &ticket.name,
                index: ticket.arm,
                features: (columns, &ticket.features),
                until: rfc3339(ticket.until),
                replicates: ticket.replicates,
                cost: ticket.cost.map(Amount::value),
            }),
        )?,
        Format::Csv => csv(columns, tickets).write_csv(&mut out)?,
        Format::Table if tickets.is_empty() => (),
        Format::Table => writeln!(out, "{}", text_table(columns, tickets))?,
    }
    out.flush()?;
    Ok(())
}

/// Whether a ticket is for more than one measurement.
fn has_replicates(tickets: &[Ticket]) -> bool {
    tickets.iter().any(|ticket| ticket.replicates > 1)
}

/// Whether measurements have costs.
fn has_costs(tickets: &[Ticket]) -> bool {
    tickets.iter().any(|ticket| ticket.cost.is_some())
}

fn csv(columns: &[String], tickets: &[Ticket]) -> Table {
    let mut names: Vec<String> = ["ticket", "arm", "index", "until"].map(String::from).into();
    let mut table = Table::default()
        .with("ticket", Column::Whole(tickets.iter().map(|ticket| Some(ticket.number.cast_signed())).collect()))
        .with("arm", Column::Text(tickets.iter().map(|ticket| Some(ticket.name.clone())).collect()))
        .with("index", Column::Whole(tickets.iter().map(|ticket| i64::try_from(ticket.arm).ok()).collect()))
        .with("until", Column::Text(tickets.iter().map(|ticket| Some(rfc3339(ticket.until))).collect()));
    if has_replicates(tickets) {
        names.push("replicates".into());
        let replicates = tickets.iter().map(|ticket| Some(ticket.replicates.into()));
        table = table.with("replicates", Column::Whole(replicates.collect()));
    }
    if has_costs(tickets) {
        names.push("cost".into());
        let costs = tickets.iter().map(|ticket| ticket.cost.map(Amount::value));
        table = table.with("cost", Column::Number(costs.collect()));
    }
    for (position, column) in columns.iter().enumerate() {
        // A feature may have the name of one of the columns above.
        let mut name = column.clone();
        while names.contains(&name) || (name != *column && columns.contains(&name)) {
            name.insert_str(0, "feature ");
        }
        let values = tickets.iter().map(|ticket| Some(ticket.features[position])).collect();
        table = table.with(&name, Column::Number(values));
        names.push(name);
    }
    table
}

fn text_table(columns: &[String], tickets: &[Ticket]) -> comfy_table::Table {
    let shown = columns.len().min(MAX_FEATURES);
    let more = (columns.len() > shown).then(|| format!("… {} more", columns.len() - shown));
    let names: Vec<String> = columns[..shown].iter().map(|column| cell(column)).collect();
    let mut header: Vec<&str> = vec!["ticket", "arm"];
    header.extend(names.iter().map(String::as_str));
    header.extend(more.as_deref());
    let has_replicates = has_replicates(tickets);
    if has_replicates {
        header.push("replicates");
    }
    if has_costs(tickets) {
        header.push("cost");
    }
    header.push("until");
    let mut table = left(table(&header), &[1]);
    for ticket in tickets {
        let mut cells = vec![ticket.number.to_string(), cell(&ticket.name)];
        cells.extend(ticket.features[..shown].iter().map(ToString::to_string));
        cells.extend(more.as_ref().map(|_| "…".into()));
        cells.extend(has_replicates.then(|| ticket.replicates.to_string()));
        cells.extend(ticket.cost.map(|cost| cost.to_string()));
        cells.push(rfc3339(ticket.until));
        table.add_row(cells);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::csv;

    /// Features with the names of other columns, before and after they are renamed.
    #[test]
    fn column_names_differ_whatever_the_features_are_called() {
        let columns = ["x", "arm", "feature arm", "feature feature arm", "ticket"].map(String::from);
        let mut out = Vec::new();
        csv(&columns, &[]).write_csv(&mut out).unwrap();
        let header = String::from_utf8(out).unwrap();
        assert_eq!(
            header,
            "ticket,arm,index,until,x,feature feature feature arm,feature arm,feature feature arm,feature ticket\n"
        );
    }
}
