//! Experiments: read by the lab's reader, played in ranges of runs.

use crate::convert::{elements, integer, string};
use crate::custom::{catch_exceptions, extensions};
use crate::errors::{ErrorKind, input, run};
use crate::interruptible::interruptible;
use crate::per_run;
use crate::pool::pool;
use crate::tally::Tally;
use cutline_lab::figures::failure_figure;
use cutline_lab::{
    Checkpoint, Overrides, Row, RunError, SimulateOptions, Simulated, Watch, compared, simulate, within_band,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// The base class of `cutline.Experiment`.
#[pyclass(frozen, subclass, module = "cutline._native")]
pub(crate) struct Experiment(pub(crate) cutline_lab::Experiment);

impl Experiment {
    pub(crate) fn check(&self, tally: &Tally) -> PyResult<()> {
        if tally.0.fits(&self.0) { Ok(()) } else { Err(input("this tally belongs to another experiment")) }
    }

    fn position(&self, label: &Bound<'_, PyAny>) -> PyResult<usize> {
        let label = string(label, "the label of an algorithm")?;
        let position = self.0.entrants().iter().position(|entrant| entrant.label() == label);
        position.ok_or_else(|| {
            let labels: Vec<_> = self.0.entrants().iter().map(|entrant| format!("`{}`", entrant.label())).collect();
            ErrorKind::NotFound.error(format!("there is no algorithm `{label}` here; there are {}", labels.join(", ")))
        })
    }

    fn rows(&self, tally: &Tally) -> PyResult<Vec<Row>> {
        self.check(tally)?;
        Ok(cutline_lab::rows(&self.0, &tally.0))
    }
}

/// Plays runs; Ctrl-C ends it, and `watch` is called regularly with the number of runs since its last call.
fn watched<T: Send>(
    py: Python<'_>,
    play: impl FnOnce(&Ended<'_>) -> Result<T, RunError> + Send,
    watch: Option<&Bound<'_, PyAny>>,
) -> PyResult<T> {
    let ended = AtomicU64::new(0);
    let work = |is_interrupted: &AtomicBool| catch_exceptions(|| play(&Ended { runs: &ended, is_interrupted }));
    let tick = || match (watch, ended.swap(0, Relaxed)) {
        (Some(watch), runs @ 1..) => watch.call1((runs,)).map(drop),
        _ => Ok(()),
    };
    interruptible(py, work, tick)??.map_err(|error| run(&error))
}

/// The range of the runs from `start` up to, but not including, `stop`.
fn range(start: &Bound<'_, PyAny>, stop: &Bound<'_, PyAny>) -> PyResult<Range<u64>> {
    let stop = integer(stop, "`stop`", 0, 1 << 50)?;
    Ok(integer(start, "`start`", 0, stop)?..stop)
}

/// Counts runs as they end.
struct Ended<'a> {
    runs: &'a AtomicU64,
    is_interrupted: &'a AtomicBool,
}

impl Watch for Ended<'_> {
    fn ended(&self, tally: &cutline_lab::Tally) {
        self.runs.fetch_add(tally.runs().n_runs(), Relaxed);
    }

    fn is_interrupted(&self) -> bool {
        self.is_interrupted.load(Relaxed)
    }
}

#[pymethods]
impl Experiment {
    /// Reads an experiment from TOML. `file` is its path in error messages, if it was read from a file. With `redraw`, every run
    /// draws a new instance. `variant` is the name of one of several experiments in the text.
    #[new]
    fn new(
        toml: &Bound<'_, PyAny>,
        name: &Bound<'_, PyAny>,
        directory: &Bound<'_, PyAny>,
        file: Option<&Bound<'_, PyAny>>,
        redraw: bool,
        runs: Option<&Bound<'_, PyAny>>,
        seed: Option<&Bound<'_, PyAny>>,
        rules: &Bound<'_, PyDict>,
        instances: Option<&Bound<'_, PyAny>>,
        noise: Option<&Bound<'_, PyAny>>,
        estimators: &Bound<'_, PyDict>,
        stops: &Bound<'_, PyDict>,
        decisions: &Bound<'_, PyDict>,
        variant: Option<String>,
    ) -> PyResult<Self> {
        let overrides = Overrides {
            runs: runs.map(|runs| integer(runs, "`runs`", 1, 1 << 50)).transpose()?,
            seed: seed.map(|seed| integer(seed, "`seed`", 0, u64::MAX)).transpose()?,
            redraw,
        };
        let py = toml.py();
        let (toml, name) = (string(toml, "the experiment")?, string(name, "`name`")?);
        let directory = string(directory, "the directory")?;
        let file = file.map(|file| string(file, "the file")).transpose()?;
        let extensions = extensions(rules, instances, noise, [estimators, stops, decisions])?;
        let directory = Path::new(&directory);
        let read = || match &variant {
            None => cutline_lab::Experiment::read(&toml, &name, directory, overrides, &extensions),
            Some(variant) => {
                let all = cutline_lab::Experiment::read_all(&toml, &name, directory, overrides, &extensions)?;
                Ok(all.into_iter().find(|experiment| experiment.name() == variant).expect("a variant of the text"))
            }
        };
        let pool = pool(None)?;
        let read = py.detach(|| catch_exceptions(|| pool.install(read)))?;
        read.map(Self).map_err(|error| match file {
            Some(file) => input(format!("{file}:{error}")),
            None => input(error.message),
        })
    }

    /// The experiment's name.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// The number of runs.
    #[getter]
    fn runs(&self) -> u64 {
        self.0.runs()
    }

    /// The seed of all random numbers.
    #[getter]
    fn seed(&self) -> u64 {
        self.0.seed()
    }

    /// The budgets, ascending.
    #[getter]
    fn budgets(&self) -> Vec<u32> {
        self.0.budgets().to_vec()
    }

    /// The labels of the algorithms.
    #[getter]
    fn algorithms(&self) -> Vec<&str> {
        self.0.entrants().iter().map(cutline_lab::Entrant::label).collect()
    }

    /// Plays the runs from `start` up to, but not including, `stop`, and returns their counts. Any cluster can play an experiment
    /// range by range and add the tallies. `watch` is called regularly with the number of runs since its last call.
    ///
    /// >>> import cutline
    /// >>> experiment = cutline.Experiment.from_paper("wine")
    /// >>> experiment.play(0, 30) + experiment.play(30, 100) == experiment.play(0, 100)
    /// True
    #[pyo3(signature = (start, stop, *, threads=None, watch=None))]
    fn play(
        &self,
        py: Python<'_>,
        start: &Bound<'_, PyAny>,
        stop: &Bound<'_, PyAny>,
        threads: Option<&Bound<'_, PyAny>>,
        watch: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Tally> {
        let runs = range(start, stop)?;
        let pool = pool(threads)?;
        let play =
            |watch: &Ended<'_>| pool.install(|| simulate(&self.0, runs, SimulateOptions { watch, keeps_runs: false }));
        watched(py, play, watch).map(|played| Tally(played.tally))
    }

    /// As `play`; also returns the results of every run, as flat arrays.
    #[pyo3(signature = (start, stop, *, threads=None, watch=None))]
    fn _play_per_run<'py>(
        &self,
        py: Python<'py>,
        start: &Bound<'_, PyAny>,
        stop: &Bound<'_, PyAny>,
        threads: Option<&Bound<'_, PyAny>>,
        watch: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Tally, Bound<'py, PyDict>)> {
        let runs = range(start, stop)?;
        let pool = pool(threads)?;
        let play =
            |watch: &Ended<'_>| pool.install(|| simulate(&self.0, runs, SimulateOptions { watch, keeps_runs: true }));
        let Simulated { tally, per_run, .. } = watched(py, play, watch)?;
        Ok((Tally(tally), per_run::to_dict(py, per_run.unwrap_or_default())?))
    }

    /// A checkpoint with these runs, as `cutline simulate --resume` writes it.
    fn _checkpoint<'py>(&self, py: Python<'py>, tally: &Tally) -> PyResult<Bound<'py, PyBytes>> {
        let mut checkpoint = Checkpoint::new(std::slice::from_ref(&self.0));
        checkpoint.add(0, &tally.0).map_err(input)?;
        Ok(PyBytes::new(py, &checkpoint.to_bytes()))
    }

    /// The runs of a checkpoint of this experiment. `file` is its path, for the error message.
    fn _resumed(&self, checkpoint: &[u8], file: &str) -> PyResult<Tally> {
        let read = Checkpoint::read(checkpoint, std::slice::from_ref(&self.0));
        let read = read.map_err(|error| input(format!("{file} is {error}; name another file with `resume=`")))?;
        Ok(Tally(read.tally(0).clone()))
    }

    /// The results as JSON: one row per algorithm and budget.
    fn _rows(&self, py: Python<'_>, tally: &Tally) -> PyResult<String> {
        let rows = py.detach(|| self.rows(tally))?;
        serde_json::to_string(&rows).map_err(input)
    }

    /// The results with the published numbers: one row per curve that a row is compared with. Also the number of cells within
    /// their band, and the number of cells.
    fn _compared(&self, py: Python<'_>, tally: &Tally) -> PyResult<(String, usize, usize)> {
        self.check(tally)?;
        let compared = py.detach(|| compared(&self.0, &tally.0));
        let (within, cells) = within_band(&compared);
        Ok((serde_json::to_string(&compared).map_err(input)?, within, cells))
    }

    /// The number of pulls in a replay of its published numbers.
    fn _replay_pulls(&self) -> u64 {
        cutline_lab::exact::pulls(&self.0)
    }

    /// The failure rate of one algorithm minus that of another, with its interval, at every budget.
    fn _compare(
        &self,
        tally: &Tally,
        one: &Bound<'_, PyAny>,
        other: &Bound<'_, PyAny>,
    ) -> PyResult<Vec<(f64, f64, f64)>> {
        self.check(tally)?;
        let entrants = [self.position(one)?, self.position(other)?];
        let compare = |column| {
            let compared = cutline_lab::compare(&self.0, &tally.0, entrants, column);
            (compared.difference, compared.difference_low, compared.difference_high)
        };
        Ok((0..self.0.budgets().len()).map(compare).collect())
    }

    /// Failure probability against budget, as SVG; with this title, and only these algorithms.
    fn _svg(
        &self,
        py: Python<'_>,
        tally: &Tally,
        title: Option<&Bound<'_, PyAny>>,
        algorithms: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let title = title.map(|title| string(title, "`title`")).transpose()?;
        let labels = algorithms.map(|labels| elements(labels, "`algorithms`")).transpose()?;
        let shown = labels.map(|labels| labels.iter().map(|label| self.position(label)).collect::<PyResult<Vec<_>>>());
        let shown = shown.transpose()?;
        py.detach(|| {
            let rows = self.rows(tally)?;
            let mut figure = failure_figure(&self.0, &rows);
            if let Some(shown) = shown {
                figure.curves = shown.into_iter().map(|position| figure.curves[position].clone()).collect();
            }
            figure.title = title.unwrap_or(figure.title);
            Ok(figure.to_svg())
        })
    }
}

/// The names of the paper's experiments, and their TOML.
#[pyfunction]
pub(crate) fn paper() -> Vec<(&'static str, &'static str)> {
    cutline_lab::paper::EXPERIMENTS.to_vec()
}

/// The names of the experiments of other papers, and their TOML.
#[pyfunction]
pub(crate) fn field() -> Vec<(&'static str, &'static str)> {
    cutline_lab::field::EXPERIMENTS.to_vec()
}

/// The names of the variants of an experiment of another paper. It reads the experiment, which may take a moment.
#[pyfunction]
pub(crate) fn variants(py: Python<'_>, name: &str) -> PyResult<Vec<String>> {
    let pool = pool(None)?;
    let read = || pool.install(|| cutline_lab::field::experiments(name, Overrides::default()));
    let variants = py.detach(read).unwrap_or_default();
    Ok(variants.iter().map(|experiment| experiment.name().to_owned()).collect())
}
