//! `cutline simulate FILE.toml`

use super::{output, play, pulls, write};
use crate::args::Simulate;
use crate::failure::Failure;
use crate::figure_files::FigureFiles;
use crate::output::Inputs;
use crate::per_run::PerRunFile;
use crate::results::{Detail, Outcome};
use crate::resume::Resumed;
use crate::threads::Pool;
use crate::{progress, results};
use cutline_lab::{Experiment, Overrides, SimulateOptions, Tally, Watch};
use indicatif::ProgressBar;

pub(crate) fn simulate(args: &Simulate) -> Result<(), Failure> {
    let options = &args.simulation;
    let overrides = Overrides { runs: options.runs, seed: options.seed, redraw: false };
    let experiments = Experiment::load_all(&args.file, overrides)?;
    let pool = Pool::new(options.threads)?;
    let data = experiments.iter().filter_map(|experiment| experiment.source().file());
    let inputs = Inputs::files([args.file.as_path()].into_iter().chain(data));
    let names: Vec<&str> = experiments.iter().map(Experiment::name).collect();
    let figures = args.figure.as_ref().map(|path| FigureFiles::new(path, &names, inputs.clone())).transpose();
    let figures = figures.map_err(|failure| failure.at("--figure"))?;
    let per_run = args.per_run.as_ref().map(|path| PerRunFile::create(path, inputs.clone())).transpose();
    let per_run = per_run.map_err(|failure| failure.at("--per-run"))?;
    let others = args.per_run.iter().chain(&args.resume);
    let output = output(options, &names, inputs.clone().with_outputs(others))?;
    let resumed = args.resume.as_ref().map(|path| Resumed::open(path, inputs, &experiments)).transpose();
    let resumed = resumed.map_err(|failure| failure.at("--resume"))?;
    let outcomes = match (per_run, resumed) {
        (Some(file), _) => play_per_run(experiments, &pool, file).map_err(|failure| failure.at("--per-run"))?,
        (None, Some(resumed)) => {
            play_resumed(experiments, &pool, &resumed).map_err(|failure| failure.at("--resume"))?
        }
        (None, None) => play(experiments, &pool)?,
    };
    // A reader that closes stdout early must not lose the files.
    let printed = results::print(&outcomes, options.format, false, Detail::Full, &[]);
    write(&outcomes, &output, &[])?;
    figures.map_or(Ok(()), |figures| figures.write(&outcomes)).map_err(|failure| failure.at("--figure"))?;
    printed
}

/// Runs experiments one after another, without the runs that are finished.
fn play_resumed(experiments: Vec<Experiment>, pool: &Pool, resumed: &Resumed) -> Result<Vec<Outcome>, Failure> {
    let bar = progress::bar(experiments.iter().map(pulls).fold(0, u64::saturating_add));
    let mut outcomes = Vec::new();
    for (position, experiment) in experiments.into_iter().enumerate() {
        bar.set_message(experiment.name().to_owned());
        let tally = pool.install(|| resumed.play(position, &experiment, &bar))?;
        outcomes.push(Outcome::new(experiment, &tally));
    }
    bar.finish_and_clear();
    Ok(outcomes)
}

/// Runs experiments one after another, and writes the results of every run to a file.
fn play_per_run(experiments: Vec<Experiment>, pool: &Pool, mut file: PerRunFile) -> Result<Vec<Outcome>, Failure> {
    let bar = progress::bar(experiments.iter().map(pulls).fold(0, u64::saturating_add));
    let mut outcomes = Vec::new();
    for experiment in experiments {
        bar.set_message(experiment.name().to_owned());
        let watch = Progress { bar: &bar, pulls_per_run: experiment.pulls_per_run() };
        let runs_at_once = PerRunFile::runs_at_once(&experiment);
        let mut sum = Tally::new(&experiment);
        for first in (0..experiment.runs()).step_by(usize::try_from(runs_at_once).unwrap_or(usize::MAX)) {
            let runs = first..experiment.runs().min(first.saturating_add(runs_at_once));
            let options = SimulateOptions { watch: &watch, keeps_runs: true };
            let played = pool.install(|| cutline_lab::simulate(&experiment, runs, options))?;
            let (tally, results) = (played.tally, played.per_run.unwrap_or_default());
            sum.merge(&tally).expect("other runs of the same experiment");
            file.write(&experiment, &results)?;
        }
        outcomes.push(Outcome::new(experiment, &sum));
    }
    bar.finish_and_clear();
    file.finish()?;
    Ok(outcomes)
}

/// Moves the progress bar.
struct Progress<'a> {
    bar: &'a ProgressBar,
    pulls_per_run: u64,
}

impl Watch for Progress<'_> {
    fn ended(&self, tally: &Tally) {
        self.bar.inc(tally.runs().n_runs() * self.pulls_per_run);
    }
}
