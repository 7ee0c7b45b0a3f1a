//! Experiments: read by the lab's own reader, played in ranges of runs.

use crate::errors::{ErrorKind, input};
use crate::given::{text, whole};
use crate::own::{brought, raising};
use crate::pool::pool;
use crate::tally::Tally;
use cutline_lab::figures::failure_figure;
use cutline_lab::{Overrides, Row, compared, within_band};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long to play before Python is let in, so that Ctrl-C works and progress shows.
const A_WHILE: Duration = Duration::from_millis(100);

/// An experiment; `cutline.Experiment` is made of it.
#[pyclass(frozen, subclass, module = "cutline._native")]
pub(crate) struct Experiment(pub(crate) cutline_lab::Experiment);

impl Experiment {
    pub(crate) fn check(&self, tally: &Tally) -> PyResult<()> {
        if tally.0.fits(&self.0) { Ok(()) } else { Err(input("this tally is not one of this experiment")) }
    }

    fn position(&self, label: &Bound<'_, PyAny>) -> PyResult<usize> {
        let label = text(label, "the label of an algorithm")?;
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

#[pymethods]
impl Experiment {
    /// Reads the text of an experiment; `file` is what it is called in complaints, if it is a file. With `redraw`, every run draws
    /// its instance anew.
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
    ) -> PyResult<Self> {
        let overrides = Overrides {
            runs: runs.map(|runs| whole(runs, "`runs`", 1, 1 << 50)).transpose()?,
            seed: seed.map(|seed| whole(seed, "`seed`", 0, u64::MAX)).transpose()?,
            redraw,
        };
        let py = toml.py();
        let (toml, name) = (text(toml, "the experiment")?, text(name, "`name`")?);
        let directory = text(directory, "the directory")?;
        let file = file.map(|file| text(file, "the file")).transpose()?;
        let brought = brought(rules, instances)?;
        let read = || cutline_lab::Experiment::read(&toml, &name, Path::new(&directory), overrides, &brought);
        let read = py.detach(|| raising(read))?;
        read.map(Self).map_err(|error| match file {
            Some(file) => input(format!("{file}:{error}")),
            None => input(error.message),
        })
    }

    /// What it is called.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// How many runs it asks for.
    #[getter]
    fn runs(&self) -> u64 {
        self.0.runs()
    }

    /// The seed of everything random.
    #[getter]
    fn seed(&self) -> u64 {
        self.0.seed()
    }

    /// The budgets, ascending.
    #[getter]
    fn budgets(&self) -> Vec<u32> {
        self.0.budgets().to_vec()
    }

    /// The labels of the algorithms that compete.
    #[getter]
    fn algorithms(&self) -> Vec<&str> {
        self.0.entrants().iter().map(cutline_lab::Entrant::label).collect()
    }

    /// Plays the runs from `start` up to and without `stop`: their counts. Any cluster can play an experiment by this, range by
    /// range, and add the tallies up. `watch` is called with the number of runs now and then.
    ///
    /// >>> import cutline
    /// >>> experiment = cutline.Experiment.of_paper("wine")
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
        let stop = whole(stop, "`stop`", 0, 1 << 50)?;
        let start = whole(start, "`start`", 0, stop)?;
        let pool = pool(threads)?;
        let simulate = |runs| pool.install(|| cutline_lab::simulate(&self.0, runs, &|_| ()));
        let tally = |runs| py.detach(|| raising(|| simulate(runs)))?.map_err(input);
        let mut sum = tally(start..start)?;
        let (mut next, mut runs) = (start, 1);
        while next < stop {
            let end = stop.min(next.saturating_add(runs));
            let begun = Instant::now();
            sum += &tally(next..end)?;
            let is_short = begun.elapsed() < A_WHILE;
            py.check_signals()?;
            if let Some(watch) = watch {
                watch.call1((end - next,))?;
            }
            next = end;
            runs = if is_short { runs.saturating_mul(2) } else { (runs / 2).max(1) };
        }
        Ok(Tally(sum))
    }

    /// The results as JSON: a row for every algorithm and budget.
    fn _rows(&self, py: Python<'_>, tally: &Tally) -> PyResult<String> {
        let rows = py.detach(|| self.rows(tally))?;
        serde_json::to_string(&rows).map_err(input)
    }

    /// The same beside the published numbers: a row once for each curve it is compared with. And how many cells lie within their
    /// band, and how many there are.
    fn _compared(&self, py: Python<'_>, tally: &Tally) -> PyResult<(String, usize, usize)> {
        let compared = py.detach(|| Ok::<_, PyErr>(compared(&self.0, &self.rows(tally)?)))?;
        let (within, cells) = within_band(&compared);
        Ok((serde_json::to_string(&compared).map_err(input)?, within, cells))
    }

    /// How many pulls a replay of its published numbers takes.
    fn _replay_pulls(&self) -> u64 {
        cutline_lab::exact::pulls(&self.0)
    }

    /// The failure rate of one algorithm less that of another, with its interval, by budget.
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

    /// Failure probability against budget, as SVG.
    fn _svg(&self, py: Python<'_>, tally: &Tally) -> PyResult<String> {
        py.detach(|| {
            let rows = self.rows(tally)?;
            Ok(failure_figure(&self.0, &rows).to_svg())
        })
    }
}

/// The names and the texts of the paper's experiments.
#[pyfunction]
pub(crate) fn paper() -> Vec<(&'static str, &'static str)> {
    cutline_lab::paper::EXPERIMENTS.to_vec()
}
