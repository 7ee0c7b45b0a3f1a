//! `cutline report STORE`

use super::open;
use crate::args::Format;
use crate::clock::now;
use crate::failure::Failure;
use crate::output::{Inputs, check_directory, write_file};
use crate::print::{csv_record, json};
use crate::report::campaign;
use crate::report::campaign::{Answer, View};
use crate::{args, print};
use std::io::Write;

pub(crate) fn report(args: &args::Report) -> Result<(), Failure> {
    let inputs = Inputs::store(&args.address.store);
    inputs.check_replaced(&args.out, b"<!doctype html>", "no report")?;
    check_directory(&args.out)?;
    let mut view = View::new(&mut *open(&args.address)?)?;
    let answer = Answer::new(&mut view);
    let page = campaign::page(&view, &answer, args.sort, now())?;
    let verb = if args.out.exists() { "replaced" } else { "wrote" };
    write_file(&args.out, &inputs, |out| out.write_all(page.as_bytes()))?;
    let mut out = std::io::stdout().lock();
    match args.format {
        Format::Table => {
            writeln!(out, "{}.", answer.sentence)?;
            for sentence in answer.model_sentences() {
                writeln!(out, "{sentence}")?;
            }
        }
        Format::Json => json(&mut out, &answer)?,
        Format::Csv => {
            let mut writer = csv::Writer::from_writer(&mut out);
            let (names, values): (Vec<_>, Vec<_>) = answer.fields().into_iter().unzip();
            csv_record(&mut writer, names)?;
            csv_record(&mut writer, values)?;
            writer.flush()?;
        }
    }
    out.flush()?;
    print::note(&format!("{verb} {}", args.out.display()));
    Ok(())
}
