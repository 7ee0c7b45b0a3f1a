//! `cutline report STORE`

use super::open;
use super::status_text::PLAN;
use crate::args::Format;
use crate::failure::Failure;
use crate::output::{Inputs, check_directory, write_file};
use crate::print::{csv_record, json};
use crate::{args, print};
use cutline_campaign::now;
use cutline_report::{Summary, page};
use std::io::Write;

pub(crate) fn report(args: &args::Report) -> Result<(), Failure> {
    let inputs = Inputs::store(&args.address.store);
    inputs.check_replaced(&args.out, b"<!doctype html>", "no report")?;
    check_directory(&args.out)?;
    let view = open(&args.address)?.view(now())?;
    let summary = Summary::from(view.standing.clone());
    let page = page(&view, &summary, args.sort)?;
    let verb = if args.out.exists() { "replaced" } else { "wrote" };
    write_file(&args.out, &inputs, |out| out.write_all(page.as_bytes()))?;
    let mut out = std::io::stdout().lock();
    match args.format {
        Format::Table => {
            writeln!(out, "{}.", summary.sentence)?;
            for sentence in summary.sentences(PLAN) {
                writeln!(out, "{sentence}")?;
            }
        }
        Format::Json => json(&mut out, &summary)?,
        Format::Csv => {
            let mut writer = csv::Writer::from_writer(&mut out);
            let (names, values): (Vec<_>, Vec<_>) = summary.fields().into_iter().unzip();
            csv_record(&mut writer, names)?;
            csv_record(&mut writer, values)?;
            writer.flush()?;
        }
    }
    out.flush()?;
    print::note(&format!("{verb} {}", args.out.display()));
    Ok(())
}
