//! `cutline status STORE`

use super::open;
use crate::args;
use crate::args::Format;
use crate::clock::now;
use crate::failure::Failure;
use crate::print::{csv_record, fitted, json};
use crate::status_summary::StatusSummary;
use cutline_campaign::AnyCampaign;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// How often a watched campaign is read again.
const INTERVAL: Duration = Duration::from_secs(1);

pub(crate) fn status(args: &args::Status) -> Result<(), Failure> {
    let mut campaign = open(&args.address)?;
    if args.watch {
        return watch(&mut *campaign);
    }
    let summary = StatusSummary::new(&mut *campaign, now())?;
    let mut out = std::io::stdout().lock();
    match args.format {
        Format::Table => out.write_all(summary.text().as_bytes())?,
        Format::Json => json(&mut out, &summary)?,
        Format::Csv => {
            let mut writer = csv::Writer::from_writer(&mut out);
            let (names, values): (Vec<_>, Vec<_>) = summary.numbers().into_iter().unzip();
            csv_record(&mut writer, names)?;
            csv_record(&mut writer, values)?;
            writer.flush()?;
        }
    }
    out.flush()?;
    Ok(())
}

/// Prints every change until the campaign has ended.
fn watch(campaign: &mut dyn AnyCampaign) -> Result<(), Failure> {
    let mut out = std::io::stdout();
    let is_terminal = out.is_terminal();
    let mut seen = None;
    loop {
        let begun = Instant::now();
        let events = campaign.state()?.n_events();
        // On a terminal the times left of the leases are shown, and they change without events.
        if is_terminal || seen != Some(events) {
            let summary = StatusSummary::watched(campaign, now())?;
            seen = Some(summary.events);
            if is_terminal {
                // Move the cursor to the corner and clear the screen after it.
                let text = terminal_size().map_or_else(
                    || summary.text(),
                    |(columns, lines)| fitted(&summary.text(), columns, lines.saturating_sub(1)),
                );
                write!(out, "\x1b[H\x1b[J{text}")?;
            } else {
                writeln!(out, "{}", summary.line())?;
            }
            out.flush()?;
            if summary.ending.is_some() {
                return Ok(());
            }
        }
        // Reading takes no more than a fifth of the time.
        std::thread::sleep(INTERVAL.max(begun.elapsed() * 4));
    }
}

/// The columns and lines of the terminal that stdout is, if it says them.
fn terminal_size() -> Option<(usize, usize)> {
    #[cfg(unix)]
    {
        let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
        (size.ws_col > 0 && size.ws_row > 0).then_some((size.ws_col.into(), size.ws_row.into()))
    }
    #[cfg(not(unix))]
    None
}
