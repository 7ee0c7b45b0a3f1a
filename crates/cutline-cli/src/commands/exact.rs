//! `cutline reproduce --exact`

use crate::failure::Failure;
use crate::print::table;
use crate::progress;
use crate::threads::Pool;
use cutline_lab::exact::{ReplayedCell, pulls, replay_all};
use cutline_lab::{Experiment, RunError};
use std::io::Write;

/// Replays the published numbers, the experiments side by side, and fails unless all of them come out exactly.
pub(super) fn replay(experiments: &[Experiment], pool: &Pool) -> Result<(), Failure> {
    let bar = progress::bar(experiments.iter().map(pulls).sum());
    bar.set_message("replay");
    let watch = |pulls| -> Result<(), RunError> {
        bar.inc(pulls);
        Ok(())
    };
    let replayed = pool.install(|| replay_all(experiments, &watch))?;
    bar.finish_and_clear();
    let names = experiments.iter().map(|experiment| experiment.name().to_owned());
    print(&names.zip(replayed).collect::<Vec<_>>())
}

fn print(replayed: &[(String, Vec<ReplayedCell>)]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    for (name, cells) in replayed {
        writeln!(out, "\n{name}: success rates, replayed from the authors' random stream")?;
        let mut table = table(&["curve", "T", "replayed", "published", "match"]);
        for cell in cells {
            let rate = cell.successes as f64 / cell.runs as f64;
            let is_match = if cell.matches() { "yes" } else { "NO" };
            table.add_row([
                cell.curve.clone(),
                cell.budget.to_string(),
                format!("{rate:.4}"),
                format!("{:.4}", cell.published),
                is_match.into(),
            ]);
        }
        writeln!(out, "{table}")?;
    }
    let cells = replayed.iter().map(|(_, cells)| cells.len()).sum();
    let matching = replayed.iter().flat_map(|(_, cells)| cells).filter(|cell| cell.matches()).count();
    writeln!(out, "{matching} of {cells} cells match exactly")?;
    if matching == cells { Ok(()) } else { Err(Failure::Mismatch { missing: cells - matching, cells }) }
}
