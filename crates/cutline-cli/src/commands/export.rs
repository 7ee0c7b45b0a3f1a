//! `cutline export STORE --events | --verdicts`

use super::open;
use crate::args;
use crate::args::FileFormat;
use crate::failure::Failure;
use crate::output::{Inputs, write_file};
use crate::table::{Column, Table};
use cutline::Arm;
use cutline_campaign::{AnyCampaign, Event, Record, StoreError, rfc3339};
use std::io::{BufWriter, IsTerminal, Write};

pub(crate) fn export(args: &args::Export) -> Result<(), Failure> {
    let (format, file) = (args.format().map_err(Failure::Usage)?, args.file());
    if format == FileFormat::Parquet && file.is_none() && std::io::stdout().is_terminal() {
        return Err(Failure::Usage(
            "Parquet is a binary format and is not printed on a terminal; name a file with `--out`".into(),
        ));
    }
    let inputs = Inputs::store(&args.address.store);
    file.map_or(Ok(()), |path| inputs.check(path))?;
    let mut campaign = open(&args.address)?;
    let table = if args.events { events(&mut *campaign)? } else { verdicts(&mut *campaign)? };
    if let Some(path) = file {
        let header = table.header();
        let beginning = match format {
            FileFormat::Csv => header.as_bytes(),
            FileFormat::Json => b"[",
            FileFormat::Parquet => b"PAR1",
        };
        inputs.check_replaced(path, beginning, "a file of another kind")?;
    }
    let write = |out: &mut (dyn Write + Send)| match format {
        FileFormat::Csv => table.write_csv(out),
        FileFormat::Json => table.write_json(out),
        FileFormat::Parquet => table.write_parquet(out),
    };
    if let Some(path) = file {
        return write_file(path, &inputs, write);
    }
    let mut out = BufWriter::new(std::io::stdout());
    write(&mut out)?;
    Ok(out.flush()?)
}

/// All events. Those of a ticket have its arm, too.
fn events(campaign: &mut dyn AnyCampaign) -> Result<Table, StoreError> {
    let records = campaign.events(0)?;
    campaign.state()?;
    let names = campaign.description()?.names.clone();
    let arms = arms(&records);
    let name = |arm: &Option<Arm>| arm.map(|arm| names[arm].clone());
    let whole = |of: fn(&Event) -> Option<u64>| {
        Column::Whole(records.iter().map(|record| of(&record.event).map(u64::cast_signed)).collect())
    };
    let text = |of: fn(&Event) -> Option<&str>| {
        Column::Text(records.iter().map(|record| of(&record.event).map(str::to_owned)).collect())
    };
    let until = |record: &Record| match record.event {
        Event::Asked { until, .. } | Event::Renewed { until, .. } => Some(rfc3339(until)),
        _ => None,
    };
    let table = Table::default()
        .with("number", Column::Whole(records.iter().map(|record| Some(record.number.cast_signed())).collect()))
        .with("at", Column::Text(records.iter().map(|record| Some(rfc3339(record.at))).collect()))
        .with("event", text(|event| Some(event.name())))
        .with("ticket", whole(Event::ticket))
        .with("arm", Column::Text(arms.iter().map(name).collect()))
        .with("index", Column::Whole(arms.iter().map(|arm| arm.and_then(|arm| i64::try_from(arm).ok())).collect()))
        .with("reward", Column::Number(records.iter().map(|record| reward(&record.event)).collect()))
        .with("worker", text(|event| if let Event::Asked { worker, .. } = event { Some(worker) } else { None }))
        .with("until", Column::Text(records.iter().map(until).collect()))
        .with("reason", text(reason))
        .with("counted", whole(counted))
        .with(
            "replicate_of",
            whole(|event| if let Event::Asked { replicate_of, .. } = event { *replicate_of } else { None }),
        )
        .with(
            "n_arms",
            whole(|event| if let Event::Added { n_arms, .. } = event { Some(*n_arms as u64) } else { None }),
        );
    let Some(costs) = campaign.state()?.arms().measurement_costs() else { return Ok(table) };
    let cost = |(record, arm): (&Record, &Option<Arm>)| {
        let has_cost = matches!(record.event, Event::Asked { .. }) || counted(&record.event) == Some(1);
        arm.filter(|_| has_cost).map(|arm| costs.of(arm).value())
    };
    Ok(table.with("cost", Column::Number(records.iter().zip(&arms).map(cost).collect())))
}

/// The arm of every event.
fn arms(records: &[Record]) -> Vec<Option<Arm>> {
    // Tickets are numbered from 1, in the order they were handed out.
    let mut asked = Vec::new();
    let arm = |record: &Record| match record.event {
        Event::Asked { arm, .. } => {
            asked.push(arm);
            Some(arm)
        }
        Event::Observed { arm, .. } | Event::Withdrawn { arm, .. } | Event::Restored { arm } => Some(arm),
        Event::Added { first, .. } => Some(first),
        ref event => event.ticket().and_then(|ticket| asked.get(usize::try_from(ticket).ok()? - 1).copied()),
    };
    records.iter().map(arm).collect()
}

fn reward(event: &Event) -> Option<f64> {
    match *event {
        Event::Told { reward, .. } | Event::Observed { reward, .. } | Event::Amended { reward, .. } => Some(reward),
        _ => None,
    }
}

/// Why something happened, in words of its author; for changed settings, the change as JSON.
fn reason(event: &Event) -> Option<&str> {
    match event {
        Event::Failed { reason, .. }
        | Event::Amended { reason, .. }
        | Event::Voided { reason, .. }
        | Event::Withdrawn { reason, .. } => Some(reason),
        Event::Changed { change, .. } => Some(change),
        _ => None,
    }
}

/// Whether a reward counts towards the budget: 1 or 0.
fn counted(event: &Event) -> Option<u64> {
    match *event {
        Event::Told { .. } => Some(1),
        Event::Observed { is_counted, .. } => Some(is_counted.into()),
        _ => None,
    }
}

/// The verdicts of all arms.
fn verdicts(campaign: &mut dyn AnyCampaign) -> Result<Table, StoreError> {
    let verdicts = campaign.verdicts()?;
    let number = |of: fn(&cutline::Verdict) -> f64| Column::Number(verdicts.iter().map(|v| Some(of(v))).collect());
    let rewards = campaign.state()?.reward_stats();
    let own_mean = |(arm, v): (usize, &cutline::Verdict)| (v.pulls > 0).then(|| rewards.mean(arm));
    let own_means = verdicts.iter().enumerate().map(own_mean).collect();
    let settled_after = verdicts.iter().map(|v| v.settled_after.and_then(|after| i64::try_from(after).ok()));
    let table = Table::default()
        .with("arm", Column::Text(campaign.description()?.names.iter().cloned().map(Some).collect()))
        .with("index", Column::Whole((0..verdicts.len()).map(|arm| i64::try_from(arm).ok()).collect()))
        .with("side", Column::Text(verdicts.iter().map(|v| Some(v.side.name().into())).collect()))
        .with("mean", number(|v| v.mean))
        .with("lower", number(|v| v.lower))
        .with("upper", number(|v| v.upper))
        .with("pulls", Column::Whole(verdicts.iter().map(|v| Some(v.pulls.into())).collect()))
        .with("doubt", number(|v| v.doubt))
        .with("settled_after", Column::Whole(settled_after.collect()))
        .with("withdrawn", Column::Whole(verdicts.iter().map(|v| Some(v.is_withdrawn.into())).collect()))
        .with("at_threshold", Column::Whole(verdicts.iter().map(|v| Some(v.is_at_threshold().into())).collect()))
        .with("basis", Column::Text(verdicts.iter().map(|v| v.basis.map(|basis| basis.name().into())).collect()))
        .with("probability_above", number(cutline::Verdict::probability_above))
        .with("evidence", number(|v| v.evidence))
        .with("own_mean", Column::Number(own_means));
    let Some(costs) = campaign.state()?.arms().measurement_costs() else { return Ok(table) };
    Ok(table.with("cost", Column::Number(costs.all().iter().map(|cost| Some(cost.value())).collect())))
}
