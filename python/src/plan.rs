//! Plans: the budget that a campaign needs.

use crate::arms::ArmNames;
use crate::convert::{elements, integer, number, short_repr, string, strings};
use crate::errors;
use crate::errors::input;
use crate::handle::candidates;
use crate::interruptible::interruptible;
use crate::pool::pool;
use cutline::{Arms, Question};
use cutline_campaign::{
    CampaignModel, Candidates, Expectation, Goal, Pilot, Plan, PlanError, PlanTally, PlannedCampaign, Preparation,
    Prior, Settings, check_noise, noise_and_spread,
};
use cutline_report::{PlanReport, plan_figure};
use cutline_store::NewCampaign;
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use rayon::ThreadPool;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// The largest budget to try.
const MAX_BUDGET: u64 = 100_000_000;

/// The question of a plan; `cutline.plan` answers it.
#[pyclass(frozen, module = "cutline._native")]
pub(crate) struct Planning {
    pub(crate) plan: Plan,
    /// What remains of the budget of a campaign in progress.
    pub(crate) remaining: Option<u32>,
}

#[pymethods]
impl Planning {
    /// Reads the keywords of `cutline.plan`.
    #[new]
    fn new(
        names: Option<&Bound<'_, PyAny>>,
        columns: &Bound<'_, PyAny>,
        features: Option<PyReadonlyArray2<'_, f64>>,
        costs: Option<&Bound<'_, PyAny>>,
        keywords: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let keywords = Keywords(keywords);
        let candidates = candidates(names, columns, features.as_ref(), costs)?;
        let dimension = candidates.columns().len();
        if dimension == 0 {
            return Err(input(
                "a plan draws means from features, so the arms need some; give one row of features per arm",
            ));
        }
        let arms = Arms::from_slice(candidates.features(), dimension).map_err(input)?;
        let question = Question::new(keywords.required_number("threshold")?, keywords.required_number("precision")?);
        let question = question.map_err(input)?;
        let seed = integer(&keywords.required("seed")?, "`seed`", 0, u64::MAX)?;
        let (prior, noise) = prior(&keywords, &arms, &candidates, question, seed)?;
        let algorithms = keywords.get("algorithms")?.map(|names| strings(&names, "`algorithms`")).transpose()?;
        let campaigns = match algorithms {
            Some(names) => names
                .iter()
                .map(|name| campaign(&keywords, question, Some(name), &candidates))
                .collect::<PyResult<_>>()?,
            None => vec![campaign(&keywords, question, None, &candidates)?],
        };
        let plan = Plan {
            name: string(&keywords.required("name")?, "`name`")?,
            arms,
            question,
            noise: check_noise(noise).map_err(input)?,
            prior,
            campaigns,
            goal: goal(&keywords)?,
            batch: batch(&keywords)?,
            runs: integer(&keywords.required("runs")?, "`runs`", 1, 1 << 50)?,
            seed,
        };
        Ok(Self { plan, remaining: None })
    }

    /// Budgets worth trying.
    fn scout(&self, py: Python<'_>, threads: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<u32>> {
        let pool = pool(threads)?;
        let play = |budgets: &[u32], runs| Ok::<_, ScoutError>(self.play(py, &pool, budgets, runs, None)?);
        if let Some(remaining) = self.remaining.filter(|&remaining| remaining > 0) {
            return Ok(self.plan.budgets_around(remaining));
        }
        Ok(self.plan.scout_with(play)?)
    }

    /// Plays the campaigns at these budgets, and returns the plan as JSON, in words, and as a figure. `watch` is called regularly with
    /// the number of runs since its last call.
    #[pyo3(signature = (budgets, threads, watch))]
    fn forecast<'py>(
        &self,
        py: Python<'py>,
        budgets: &Bound<'py, PyAny>,
        threads: Option<&Bound<'py, PyAny>>,
        watch: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let budget = |value: &Bound<'_, PyAny>| {
            let budget = integer(value, "a budget", 1, MAX_BUDGET)?;
            Ok(u32::try_from(budget).expect("checked"))
        };
        let budgets = elements(budgets, "`budgets`")?.iter().map(budget).collect::<PyResult<Vec<_>>>()?;
        let tally = self.play(py, &pool(threads)?, &budgets, self.plan.runs, Some(watch))?;
        let forecast = self.plan.forecast(&budgets, &tally);
        let report = PlanReport { plan: self.plan.clone(), budgets, forecast, remaining: self.remaining };
        let json = serde_json::to_string(&report).map_err(input)?;
        let svg = py.detach(|| plan_figure(&report).to_svg());
        (json, report.heading(), report.answers(), report.remarks(), svg).into_pyobject(py)
    }
}

/// How many measurements are asked for at once.
fn batch(keywords: &Keywords<'_, '_>) -> PyResult<NonZeroU32> {
    let batch = integer(&keywords.required("batch")?, "`batch`", 1, MAX_BUDGET)?;
    Ok(u32::try_from(batch).ok().and_then(NonZeroU32::new).expect("checked"))
}

impl Planning {
    /// Plays the first runs. Ctrl-C ends it, and `watch` is called regularly with the number of runs since its last call.
    fn play(
        &self,
        py: Python<'_>,
        pool: &ThreadPool,
        budgets: &[u32],
        runs: u64,
        watch: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PlanTally> {
        let pulls_per_run = self.plan.pulls_per_run(budgets).map_err(|error| errors::plan(&error))?.max(1);
        let pulls = AtomicU64::new(0);
        let count = |more| {
            pulls.fetch_add(more, Relaxed);
        };
        let work = |is_interrupted: &AtomicBool| {
            pool.install(|| self.plan.play_unless(budgets, 0..runs, &count, &|| is_interrupted.load(Relaxed)))
        };
        let mut reported = 0;
        let tick = || {
            let done = pulls.load(Relaxed) / pulls_per_run;
            let more = done - std::mem::replace(&mut reported, done);
            watch.filter(|_| more > 0).map_or(Ok(()), |watch| watch.call1((more,)).map(drop))
        };
        interruptible(py, work, tick)?.map_err(|error| errors::plan(&error))
    }
}

/// The keywords of `cutline.plan`; `None` means the default.
struct Keywords<'a, 'py>(&'a Bound<'py, PyDict>);

impl<'py> Keywords<'_, 'py> {
    fn get(&self, key: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.0.get_item(key)?.filter(|value| !value.is_none()))
    }

    fn required(&self, key: &str) -> PyResult<Bound<'py, PyAny>> {
        self.0.get_item(key)?.ok_or_else(|| input(format!("`{key}` is missing")))
    }

    fn number(&self, key: &str) -> PyResult<Option<f64>> {
        self.get(key)?.map(|value| number(&value, &format!("`{key}`"))).transpose()
    }

    fn required_number(&self, key: &str) -> PyResult<f64> {
        number(&self.required(key)?, &format!("`{key}`"))
    }
}

fn goal(keywords: &Keywords<'_, '_>) -> PyResult<Goal> {
    goal_of(keywords.get("wrong")?.as_ref(), keywords.get("target")?.as_ref())
}

/// The goal that `wrong` and `target` say.
pub(crate) fn goal_of(wrong: Option<&Bound<'_, PyAny>>, target: Option<&Bound<'_, PyAny>>) -> PyResult<Goal> {
    let wrong = wrong.map(|wrong| number(wrong, "`wrong`")).transpose()?;
    match (wrong, target.map(|target| number(target, "`target`")).transpose()?) {
        (Some(_), Some(_)) => Err(input("`wrong` and `target` are two goals; leave one out")),
        (_, Some(probability)) => Ok(Goal::FailureProbability(probability)),
        (wrong, None) => Ok(Goal::WrongShare(wrong.unwrap_or(0.05))),
    }
}

/// The campaign that `cutline.Campaign` would begin, with any budget.
fn campaign(
    keywords: &Keywords<'_, '_>,
    question: Question,
    algorithm: Option<&String>,
    candidates: &Candidates,
) -> PyResult<PlannedCampaign> {
    let mut settings = Settings::new(question.threshold(), u32::MAX);
    settings.precision = question.precision();
    if let Some(model) = keywords.get("model")? {
        let model = string(&model, "`model`")?;
        settings.model = Some(CampaignModel::named(&model).map_err(|error| errors::store(&error.into()))?);
    }
    settings.algorithm = algorithm.cloned();
    settings.noise = keywords.number("noise")?;
    settings.preparation = keywords.required("raw")?.is_truthy()?.then(Preparation::raw);
    let new = NewCampaign::new("plan", settings, candidates.clone()).map_err(|error| errors::store(&error))?;
    let label = new.settings().algorithm(true).to_owned();
    Ok(PlannedCampaign { label, arms: new.state().arms().clone(), terms: new.state().terms().clone() })
}

/// What is expected of the arms, and σ.
fn prior(
    keywords: &Keywords<'_, '_>,
    arms: &Arms,
    candidates: &Candidates,
    question: Question,
    seed: u64,
) -> PyResult<(Prior, f64)> {
    let noise = keywords.number("noise")?;
    let (prior, pilot) = (keywords.get("prior")?, keywords.get("pilot")?);
    if let Some(name) = prior.as_ref().map(|_| "prior").or(pilot.as_ref().map(|_| "pilot")) {
        for other in ["explained", "linear_share", "noise_ratio", "spread", "above", "pilot"] {
            if other != name && keywords.get(other)?.is_some() {
                return Err(input(format!(
                    "`{name}` and `{other}` both say what to expect of the arms; leave one out"
                )));
            }
        }
    }
    if let Some(prior) = prior {
        let expected = "`prior` must be \"uniform\" or \"normal:s\"";
        let hint = "; arms and rewards measured before are given as `pilot=`";
        let name =
            prior.cast::<PyString>().map_err(|_| input(format!("{expected}, not {}{hint}", short_repr(&prior))))?;
        let prior: Prior = string(name, "`prior`")?.parse().map_err(input)?;
        return Ok((prior, noise.unwrap_or(1.0)));
    }
    if let Some(pilot) = pilot {
        let pilot = Pilot::new(arms, question, rewards(&pilot, candidates)?, noise, seed).map_err(input)?;
        let noise = pilot.noise();
        return Ok((Prior::pilot(pilot), noise));
    }
    let (noise, spread) =
        noise_and_spread(noise, keywords.number("noise_ratio")?, keywords.number("spread")?).map_err(input)?;
    let usual = Expectation::default();
    let expectation = Expectation {
        explained: keywords.number("explained")?.unwrap_or(usual.explained),
        linear_share: keywords.number("linear_share")?.unwrap_or(usual.linear_share),
        above: keywords.number("above")?.unwrap_or(usual.above),
        spread,
    };
    Ok((Prior::expected(expectation).map_err(input)?, noise))
}

/// The arms and rewards of a pilot.
fn rewards(value: &Bound<'_, PyAny>, candidates: &Candidates) -> PyResult<Vec<(usize, f64)>> {
    let invalid = || input(format!("`pilot` must be a pair of arms and rewards, not {}", short_repr(value)));
    let (pilot, rewards) = value.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>().map_err(|_| invalid())?;
    let (pilot, rewards) = (elements(&pilot, "the arms of a pilot")?, elements(&rewards, "the rewards of a pilot")?);
    if pilot.len() != rewards.len() {
        return Err(input(format!("the pilot has {} arms, but {} rewards", pilot.len(), rewards.len())));
    }
    let names = ArmNames::new(candidates.names().to_vec());
    let rewards = pilot.iter().zip(&rewards).map(|(arm, reward)| Ok((names.find(arm)?, number(reward, "a reward")?)));
    rewards.collect()
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
