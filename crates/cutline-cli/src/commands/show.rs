//! `cutline show STORE`

use super::open;
use crate::args;
use crate::args::Format;
use crate::failure::Failure;
use crate::print::{cell, csv_record, json};
use cutline_campaign::now;
use cutline_report::settings;
use std::io::Write;

pub(crate) fn show(args: &args::Show) -> Result<(), Failure> {
    let mut campaign = open(&args.address)?;
    let mut out = std::io::stdout().lock();
    if args.format == Format::Json {
        json(&mut out, &campaign.description()?.settings)?;
        out.flush()?;
        return Ok(());
    }
    let view = campaign.view(now())?;
    let name = [("campaign", view.name.clone())];
    let settings = name.into_iter().chain(settings(&view));
    if args.format == Format::Csv {
        let mut writer = csv::Writer::from_writer(&mut out);
        writer.write_record(["setting", "value"]).map_err(std::io::Error::from)?;
        for (setting, value) in settings {
            csv_record(&mut writer, [setting, &value])?;
        }
        writer.flush()?;
    } else {
        for (setting, value) in settings {
            writeln!(out, "{setting:<17}{}", cell(&value))?;
        }
    }
    out.flush()?;
    Ok(())
}
