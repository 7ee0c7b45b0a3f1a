//! Plans: the budget that a campaign needs.

use crate::arms::ArmNames;
use crate::convert::{elements, integer, number, short_repr, string, strings};
use crate::errors::{self, input};
use crate::experiment::Experiment;
use crate::handle::candidates;
use crate::pool::pool;
use crate::tally::Tally;
use cutline::{Arms, Candidates, Question, Spec};
use cutline_lab::figures::plan_figure;
use cutline_lab::{Noise, NoiseKind, Plan, PlanError, PlanReport, Prior, RunError, ThetaPosterior};
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

/// The largest budget to try.
const MAX_BUDGET: u64 = 100_000_000;

/// The question of a plan; `cutline.plan` answers it.
#[pyclass(frozen, module = "cutline._native")]
pub(crate) struct Planning(Plan);

#[pymethods]
impl Planning {
    /// Reads the keywords of `cutline.plan`.
    #[new]
    fn new(
        names: Option<&Bound<'_, PyAny>>,
        columns: &Bound<'_, PyAny>,
        features: Option<PyReadonlyArray2<'_, f64>>,
        keywords: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let get = |key: &str| keywords.get_item(key)?.ok_or_else(|| input(format!("`{key}` is missing")));
        let candidates = candidates(names, columns, features.as_ref())?;
        let dimension = candidates.columns().len();
        if dimension == 0 {
            return Err(input("a plan draws θ, so the arms need features; give one row of features per arm"));
        }
        let arms = Arms::from_slice(candidates.features(), dimension).map_err(input)?;
        let threshold = number(&get("threshold")?, "`threshold`")?;
        let question = Question::new(threshold, number(&get("precision")?, "`precision`")?).map_err(input)?;
        let noise = Noise::new(NoiseKind::Gaussian, number(&get("noise")?, "`noise`")?).map_err(input)?;
        let prior = prior(&get("prior")?, &arms, &candidates, noise.scale())?;
        let algorithms = strings(&get("algorithms")?, "`algorithms`")?;
        let algorithms = algorithms.iter().map(|name| {
            let refused = |error| errors::run(&RunError::Algorithm { label: name.clone(), error });
            Spec::named(name).map_err(refused)
        });
        Ok(Self(Plan {
            name: string(&get("name")?, "`name`")?,
            arms,
            question,
            noise,
            prior,
            algorithms: algorithms.collect::<PyResult<_>>()?,
            target: number(&get("target")?, "`target`")?,
            runs: integer(&get("runs")?, "`runs`", 1, 1 << 50)?,
            seed: integer(&get("seed")?, "`seed`", 0, u64::MAX)?,
        }))
    }

    /// Budgets worth trying. `play` is called with an experiment and a number of runs, and returns their tally.
    fn scout(&self, py: Python<'_>, play: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
        let play = |experiment: &cutline_lab::Experiment, runs| {
            let experiment = Bound::new(py, Experiment(experiment.clone()))?;
            Ok::<_, ScoutError>(play.call1((experiment, runs))?.cast::<Tally>().map_err(PyErr::from)?.get().0.clone())
        };
        Ok(self.0.scout_with(play)?)
    }

    /// The experiment that plays these budgets.
    fn experiment(&self, py: Python<'_>, budgets: &Bound<'_, PyAny>) -> PyResult<Experiment> {
        let budget = |value: &Bound<'_, PyAny>| {
            let budget = integer(value, "a budget", 1, MAX_BUDGET)?;
            Ok(u32::try_from(budget).expect("checked"))
        };
        let budgets = elements(budgets, "`budgets`")?.iter().map(budget).collect::<PyResult<Vec<_>>>()?;
        py.detach(|| self.0.experiment(&budgets)).map(Experiment).map_err(|error| errors::plan(&error))
    }

    /// The plan from the counts of its runs: as JSON, in words, and as a figure.
    fn forecast<'py>(
        &self,
        py: Python<'py>,
        experiment: &Experiment,
        tally: &Tally,
        threads: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        experiment.check(tally)?;
        let pool = pool(threads)?;
        let experiment = experiment.0.clone();
        let forecast = py
            .detach(|| pool.install(|| self.0.forecast(&experiment, &tally.0)))
            .map_err(|error| errors::run(&error))?;
        let report = PlanReport { experiment, forecast };
        let json = serde_json::to_string(&report).map_err(input)?;
        let svg = py.detach(|| plan_figure(&report).to_svg());
        (json, report.heading(), report.answers(), report.remarks(), svg).into_pyobject(py)
    }
}

/// Why no budgets were found.
enum ScoutError {
    Plan(PlanError),
    Python(PyErr),
}

impl From<PlanError> for ScoutError {
    fn from(error: PlanError) -> Self {
        Self::Plan(error)
    }
}

impl From<PyErr> for ScoutError {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl From<ScoutError> for PyErr {
    fn from(error: ScoutError) -> Self {
        match error {
            ScoutError::Plan(error) => errors::plan(&error),
            ScoutError::Python(error) => error,
        }
    }
}

/// A prior by its name, or the posterior given the arms and rewards of a pilot.
fn prior(value: &Bound<'_, PyAny>, arms: &Arms, candidates: &Candidates, noise: f64) -> PyResult<Prior> {
    if let Ok(name) = value.cast::<PyString>() {
        return string(name, "`prior`")?.parse().map_err(input);
    }
    let invalid = || {
        let expected = "`prior` must be \"uniform\", \"normal:s\" or a pair of arms and rewards";
        input(format!("{expected}, not {}", short_repr(value)))
    };
    let (pilot, rewards) = value.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>().map_err(|_| invalid())?;
    let (pilot, rewards) = (elements(&pilot, "the arms of a pilot")?, elements(&rewards, "the rewards of a pilot")?);
    if pilot.len() != rewards.len() {
        return Err(input(format!("the pilot has {} arms, but {} rewards", pilot.len(), rewards.len())));
    }
    let names = ArmNames::new(candidates.names().to_vec());
    let rewards = pilot.iter().zip(&rewards).map(|(arm, reward)| Ok((names.find(arm)?, number(reward, "a reward")?)));
    let posterior = ThetaPosterior::new(arms, rewards.collect::<PyResult<_>>()?, noise).map_err(input)?;
    Ok(Prior::posterior(posterior))
}
