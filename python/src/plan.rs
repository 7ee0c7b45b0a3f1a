//! Plans: how much budget a campaign needs.

use crate::errors::{ErrorKind, input};
use crate::experiment::Experiment;
use crate::given::{arm, each, number, shown, text, texts, whole};
use crate::kept::candidates;
use crate::pool::pool;
use crate::tally::Tally;
use cutline::{Arm, Arms, Question, Spec};
use cutline_lab::figures::plan_figure;
use cutline_lab::{Noise, NoiseKind, Plan, PlanError, PlanReport, Prior, PriorError, RunError, ThetaPosterior};
use cutline_store::Candidates;
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use std::collections::HashMap;

/// The largest budget to try.
const MOST_BUDGET: u64 = 100_000_000;

/// What to plan for; `cutline.plan` plays it.
#[pyclass(frozen, module = "cutline._native")]
pub(crate) struct Planning(Plan);

#[pymethods]
impl Planning {
    /// Reads what to plan for from keywords, which are those of `cutline.plan`.
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
            return Err(input("a plan draws θ, so arms need features; give a row of features an arm"));
        }
        let arms = Arms::from_slice(candidates.features(), dimension).map_err(input)?;
        let threshold = number(&get("threshold")?, "`threshold`")?;
        let question = Question::new(threshold, number(&get("precision")?, "`precision`")?).map_err(input)?;
        let noise = Noise::new(NoiseKind::Gaussian, number(&get("noise")?, "`noise`")?).map_err(input)?;
        let prior = prior(&get("prior")?, &arms, &candidates, noise.scale())?;
        let algorithms = texts(&get("algorithms")?, "`algorithms`")?;
        let algorithms = algorithms.iter().map(|name| {
            let refused = |error| input(PlanError::Run(RunError::Algorithm { label: name.clone(), error }));
            Spec::named(name).map_err(refused)
        });
        Ok(Self(Plan {
            name: text(&get("name")?, "`name`")?,
            arms,
            question,
            noise,
            prior,
            algorithms: algorithms.collect::<PyResult<_>>()?,
            target: number(&get("target")?, "`target`")?,
            runs: whole(&get("runs")?, "`runs`", 1, 1 << 50)?,
            seed: whole(&get("seed")?, "`seed`", 0, u64::MAX)?,
        }))
    }

    /// Budgets worth trying. `play` is called with an experiment and a number of runs, and gives their tally.
    fn scout(&self, py: Python<'_>, play: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
        let play = |experiment: &cutline_lab::Experiment, runs| {
            let experiment = Bound::new(py, Experiment(experiment.clone()))?;
            Ok::<_, Failed>(play.call1((experiment, runs))?.cast::<Tally>().map_err(PyErr::from)?.get().0.clone())
        };
        Ok(self.0.scout_with(play)?)
    }

    /// The experiment that plays these budgets.
    fn experiment(&self, py: Python<'_>, budgets: &Bound<'_, PyAny>) -> PyResult<Experiment> {
        let budget = |value: &Bound<'_, PyAny>| {
            let budget = whole(value, "a budget", 1, MOST_BUDGET)?;
            Ok(u32::try_from(budget).expect("checked"))
        };
        let budgets = each(budgets, "`budgets`")?.iter().map(budget).collect::<PyResult<Vec<_>>>()?;
        py.detach(|| self.0.experiment(&budgets)).map(Experiment).map_err(input)
    }

    /// What the counts of its runs say: as JSON, in words, and as a figure.
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
        let forecast = py.detach(|| pool.install(|| self.0.forecast(&experiment, &tally.0))).map_err(input)?;
        let planned = PlanReport { experiment, forecast };
        let json = serde_json::to_string(&planned).map_err(input)?;
        let svg = py.detach(|| plan_figure(&planned).to_svg());
        (json, planned.heading(), planned.answers(), planned.remarks(), svg).into_pyobject(py)
    }
}

/// Why budgets were not found.
enum Failed {
    Plan(PlanError),
    Python(PyErr),
}

impl From<PlanError> for Failed {
    fn from(error: PlanError) -> Self {
        Self::Plan(error)
    }
}

impl From<PyErr> for Failed {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl From<Failed> for PyErr {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Plan(error) => input(error),
            Failed::Python(error) => error,
        }
    }
}

/// A prior by its name, or what a pilot leaves open: arms and rewards.
fn prior(value: &Bound<'_, PyAny>, arms: &Arms, candidates: &Candidates, noise: f64) -> PyResult<Prior> {
    if let Ok(name) = value.cast::<PyString>() {
        return text(name, "`prior`")?.parse().map_err(input);
    }
    let takes = || {
        let wanted = "`prior` must be \"uniform\", \"normal:s\" or a pair of arms and rewards";
        input(format!("{wanted}, not {}", shown(value)))
    };
    let (pilot, rewards) = value.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>().map_err(|_| takes())?;
    let (pilot, rewards) = (each(&pilot, "the arms of a pilot")?, each(&rewards, "the rewards of a pilot")?);
    if pilot.len() != rewards.len() {
        return Err(input(format!("the pilot has {} arms, but {} rewards", pilot.len(), rewards.len())));
    }
    let numbers: HashMap<&str, Arm> = candidates.names().iter().map(String::as_str).zip(0..).collect();
    let measured = pilot
        .iter()
        .zip(&rewards)
        .map(|(measured, reward)| Ok((arm(measured, |name| numbers.get(name).copied())?, number(reward, "a reward")?)));
    let posterior =
        ThetaPosterior::new(arms, measured.collect::<PyResult<_>>()?, noise).map_err(|error| match error {
            PriorError::Arm { .. } => ErrorKind::NotFound.error(error),
            error => input(error),
        })?;
    Ok(Prior::posterior(posterior))
}
