//! `cutline status STORE`

use crate::args::{self, Format};
use crate::clock::now;
use crate::failure::Failure;
use crate::print::json;
use crate::standing::Standing;
use cutline_store::Campaign;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// How long to wait before looking again.
const EVERY: Duration = Duration::from_secs(1);

pub(crate) fn status(args: &args::Status) -> Result<(), Failure> {
    let mut campaign = args.which.open()?;
    if args.watch {
        return watch(&mut campaign);
    }
    let standing = Standing::new(&mut campaign, now())?;
    let mut out = std::io::stdout().lock();
    match args.format {
        Format::Table => out.write_all(standing.text().as_bytes())?,
        Format::Json => json(&mut out, &standing)?,
        Format::Csv => {
            let mut writer = csv::Writer::from_writer(&mut out);
            let (names, values): (Vec<_>, Vec<_>) = standing.numbers().into_iter().unzip();
            writer.write_record(names).map_err(std::io::Error::from)?;
            writer.write_record(values).map_err(std::io::Error::from)?;
            writer.flush()?;
        }
    }
    out.flush()?;
    Ok(())
}

/// Looks again and again until the campaign has ended.
fn watch(campaign: &mut Campaign) -> Result<(), Failure> {
    let mut out = std::io::stdout();
    let is_terminal = out.is_terminal();
    let mut seen = None;
    loop {
        let begun = Instant::now();
        let events = campaign.state()?.n_events();
        // On a terminal, leases run out before people's eyes.
        if is_terminal || seen != Some(events) {
            let standing = Standing::new(campaign, now())?;
            seen = Some(standing.events);
            if is_terminal {
                // The cursor to the corner, and what is right of it and below it away.
                write!(out, "\x1b[H\x1b[J{}", standing.text())?;
            } else {
                writeln!(out, "{}", standing.line())?;
            }
            out.flush()?;
            if standing.ending.is_some() {
                return Ok(());
            }
        }
        // Looking takes no more than a fifth of the time.
        std::thread::sleep(EVERY.max(begun.elapsed() * 4));
    }
}
