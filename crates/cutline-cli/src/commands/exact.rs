//! `cutline reproduce --exact`

use crate::failure::Failure;
use crate::print::table;
use crate::progress;
use cutline_lab::exact::{Replayed, replay as replay_one};
use cutline_lab::{Experiment, Instance, RunError};
use rayon::ThreadPool;
use rayon::prelude::*;
use std::io::Write;

/// Replays the published numbers, the experiments side by side, and fails unless all of them come out exactly.
pub(super) fn replay(mut experiments: Vec<Experiment>, pool: &ThreadPool) -> Result<(), Failure> {
    let pulls = |experiment: &Experiment| -> u64 {
        let a_run: u64 = experiment.budgets().iter().copied().map(u64::from).sum();
        experiment.published().iter().map(|published| published.runs() * a_run).sum()
    };
    let bar = progress::bar(experiments.iter().map(pulls).sum());
    bar.set_message("replay");
    // A stream is read in sequence, so an experiment takes one thread: the longest first, one by one as threads are free.
    let order: Vec<String> = experiments.iter().map(|experiment| experiment.name().to_owned()).collect();
    experiments.sort_by_key(|experiment| std::cmp::Reverse(pulls(experiment) * n_features(experiment)));
    let replay = |experiment: &Experiment| -> Result<(String, Vec<Replayed>), RunError> {
        Ok((experiment.name().to_owned(), replay_one(experiment, &|pulls| bar.inc(pulls))?))
    };
    let replayed: Result<Vec<_>, _> = pool.install(|| experiments.par_iter().with_max_len(1).map(replay).collect());
    bar.finish_and_clear();
    let mut replayed = replayed?;
    replayed.sort_by_key(|(name, _)| order.iter().position(|other| other == name));
    print(&replayed)
}

fn n_features(experiment: &Experiment) -> u64 {
    let arms = experiment.source().fixed().map(Instance::arms);
    arms.map_or(1, |arms| (arms.n_arms() * arms.dimension().unwrap_or(1)) as u64)
}

fn print(replayed: &[(String, Vec<Replayed>)]) -> Result<(), Failure> {
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
