//! `cutline status STORE`

use super::open;
use super::status_text::Status;
use crate::args;
use crate::args::Format;
use crate::failure::Failure;
use crate::print::{csv_record, fitted, json};
use cutline_campaign::AnyCampaign;
use cutline_campaign::now;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// How often a watched campaign is read again.
const INTERVAL: Duration = Duration::from_secs(1);

pub(crate) fn status(args: &args::Status) -> Result<(), Failure> {
    let mut campaign = open(&args.address)?;
    if args.watch {
        return watch(&mut *campaign);
    }
    let standing = campaign.standing(now())?;
    let status = Status::new(&mut *campaign, standing)?;
    let mut out = std::io::stdout().lock();
    match args.format {
        Format::Table => out.write_all(status.text().as_bytes())?,
        Format::Json => json(&mut out, &status)?,
        Format::Csv => {
            let mut writer = csv::Writer::from_writer(&mut out);
            let (names, values): (Vec<_>, Vec<_>) = status.summary.fields().into_iter().unzip();
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
            let standing = campaign.standing_without_rest(now())?;
            let (known, ending) = (standing.events, standing.ending);
            let status = Status::new(campaign, standing)?;
            seen = Some(known);
            if is_terminal {
                // Move the cursor to the corner and clear the screen after it.
                let text = terminal_size().map_or_else(
                    || status.text(),
                    |(columns, lines)| fitted(&status.text(), columns, lines.saturating_sub(1)),
                );
                write!(out, "\x1b[H\x1b[J{text}")?;
            } else {
                writeln!(out, "{}", status.line())?;
            }
            out.flush()?;
            if ending.is_some() {
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
