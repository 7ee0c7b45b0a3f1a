//! Custom estimators, stops and decisions: Python objects that Rust calls.

use crate::custom::{beliefs_for, call_python};
use crate::errors::input;
use cutline::estimators::{
    CustomEstimator, Estimator, LinearEstimate, Model, NamedEstimator, Posterior, VarianceEstimator,
};
use cutline::rules::RuleContext;
use cutline::{Arm, Beliefs, NamedDecision, NamedStop, Problem, Question, Settled, Stop, StopReason};
use numpy::{PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Custom estimators, by name.
pub(crate) fn estimators(given: &Bound<'_, PyDict>) -> PyResult<Vec<NamedEstimator>> {
    let named = |(name, estimator): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let name: String = name.extract()?;
        let learns_noise = estimator.getattr_opt("learns_noise")?.map_or(Ok(false), |learns| learns.is_truthy())?;
        let (factory, called) = (estimator.unbind(), name.clone());
        let custom = CustomEstimator::with_variances(move |problem| {
            Ok(Box::new(call_python(|py| PythonEstimator::new(py, &called, &factory, problem, learns_noise))))
        });
        let custom = if learns_noise { custom.learning_noise() } else { custom };
        NamedEstimator::new(&name, custom).map_err(input)
    };
    given.iter().map(named).collect()
}

/// Custom stops, by name.
pub(crate) fn stops(given: &Bound<'_, PyDict>) -> PyResult<Vec<NamedStop>> {
    let named = |(name, stop): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let name: String = name.extract()?;
        let (given, called) = (stop.unbind(), name.clone());
        let make = move |problem: &Problem<'_>| {
            let stop = call_python(|py| {
                let fresh = py.import("cutline._custom")?.call_method1("fresh_stop", (&given, &called))?;
                Ok(fresh.unbind())
            });
            Ok(Box::new(PythonStop { stop, noise: problem.noise }) as _)
        };
        NamedStop::new(&name, make).map_err(input)
    };
    given.iter().map(named).collect()
}

/// Custom decisions, by name: functions of the beliefs.
pub(crate) fn decisions(given: &Bound<'_, PyDict>) -> PyResult<Vec<NamedDecision>> {
    let named = |(name, function): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let name: String = name.extract()?;
        let (function, called) = (function.unbind(), name.clone());
        let decide = move |beliefs: &mut Beliefs<'_, dyn Estimator>, noise: f64| {
            call_python(|py| {
                let n_arms = beliefs.pulls.len();
                let returned =
                    beliefs_for(py, &mut Context::new(beliefs, noise), |beliefs| function.bind(py).call1((beliefs,)))?;
                py.import("cutline._custom")?.call_method1("sides", (returned, &called, n_arms))?.extract()
            })
        };
        NamedDecision::new(&name, decide).map_err(input)
    };
    given.iter().map(named).collect()
}

/// The estimator of one learner. What Python computes is read once per reward.
struct PythonEstimator {
    name: String,
    estimator: Py<PyAny>,
    learns_noise: bool,
    /// σ: learnt, or that of the problem.
    noise: f64,
    means: Vec<f64>,
    /// In units of σ².
    variances: Vec<f64>,
    covariances: Vec<f64>,
    n_rewards: Vec<u32>,
}

/// Means, variances in squared units of the rewards, and σ if it is learnt: what `cutline._custom.estimates` returns.
type Estimates<'py> = (PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>, Option<f64>);

impl PythonEstimator {
    fn new(
        py: Python<'_>,
        name: &str,
        factory: &Py<PyAny>,
        problem: &Problem<'_>,
        learns_noise: bool,
    ) -> PyResult<Self> {
        let (arms, question) = (problem.arms, problem.question);
        let n_arms = arms.n_arms();
        let rows: Option<Vec<Vec<f64>>> = (0..n_arms).map(|arm| arms.row(arm)).collect();
        let features = rows.map(|rows| PyArray2::from_vec2(py, &rows)).transpose()?;
        let described = (n_arms, features, question.threshold(), question.precision(), problem.noise);
        let estimator =
            py.import("cutline._custom")?.call_method1("fresh_estimator", (factory, name, described))?.unbind();
        let mut made = Self {
            name: name.into(),
            estimator,
            learns_noise,
            noise: problem.noise,
            means: vec![0.0; n_arms],
            variances: vec![0.0; n_arms],
            covariances: vec![0.0; n_arms],
            n_rewards: vec![0; n_arms],
        };
        made.read(py)?;
        Ok(made)
    }

    /// Reads the estimates that Python has computed.
    fn read(&mut self, py: Python<'_>) -> PyResult<()> {
        let arguments = (&self.estimator, &self.name, self.means.len(), self.learns_noise);
        let read = py.import("cutline._custom")?.call_method1("estimates", arguments)?;
        let (means, variances, noise): Estimates<'_> = read.extract()?;
        self.noise = noise.unwrap_or(self.noise);
        self.means.copy_from_slice(means.as_slice()?);
        let unit = self.noise * self.noise;
        self.variances.clear();
        self.variances.extend(variances.as_slice()?.iter().map(|variance| variance / unit));
        Ok(())
    }

    /// Reads the covariances with `arm`; without a method for them, the means are independent.
    fn read_covariances(&mut self, arm: Arm) {
        let covariances = call_python(|py| {
            let arguments = (&self.estimator, &self.name, self.means.len(), arm);
            let read = py.import("cutline._custom")?.call_method1("covariances", arguments)?;
            let read: Option<PyReadonlyArray1<'_, f64>> = read.extract()?;
            read.map(|covariances| Ok(covariances.as_slice()?.to_vec())).transpose()
        });
        if let Some(covariances) = covariances {
            let unit = self.noise * self.noise;
            self.covariances = covariances.iter().map(|covariance| covariance / unit).collect();
        } else {
            self.covariances.fill(0.0);
            self.covariances[arm] = self.variances[arm];
        }
    }
}

impl Estimator for PythonEstimator {
    fn n_arms(&self) -> usize {
        self.means.len()
    }

    fn observe(&mut self, arm: Arm, reward: f64) {
        self.n_rewards[arm] += 1;
        call_python(|py| {
            self.estimator.bind(py).call_method1("observe", (arm, reward))?;
            self.read(py)
        });
    }

    fn means(&mut self) -> &[f64] {
        &self.means
    }

    fn posterior(&mut self) -> Posterior<'_> {
        Posterior::new(&self.means, &self.variances, &self.n_rewards, Model::Unrelated)
    }

    fn noise_scale(&self) -> Option<f64> {
        self.learns_noise.then_some(self.noise)
    }
}

/// Pulls whose reward is out do not count: Python is told of rewards only.
impl VarianceEstimator for PythonEstimator {
    fn moments(&mut self) -> (&[f64], &[f64]) {
        (&self.means, &self.variances)
    }

    fn covariances_with(&mut self, arm: Arm) -> (&[f64], &[f64]) {
        self.read_covariances(arm);
        (&self.covariances, &self.variances)
    }

    fn observed_moments(&mut self) -> (&[f64], &[f64]) {
        self.moments()
    }

    fn observed_covariances_with(&mut self, arm: Arm) -> &[f64] {
        self.covariances_with(arm).0
    }
}

/// The stop of one learner.
struct PythonStop {
    stop: Py<PyAny>,
    noise: f64,
}

impl Stop<dyn Estimator> for PythonStop {
    fn stop_reason(&mut self, beliefs: &mut Beliefs<'_, dyn Estimator>) -> Option<StopReason> {
        let is_met = call_python(|py| {
            beliefs_for(py, &mut Context::new(beliefs, self.noise), |beliefs| {
                self.stop.bind(py).call_method1("should_stop", (beliefs,))
            })?
            .is_truthy()
        });
        is_met.then_some(StopReason::Custom)
    }

    fn set_noise(&mut self, noise: f64) {
        self.noise = noise;
    }
}

/// The beliefs of a learner with any estimator, for `cutline.Beliefs`, which does not ask it for covariances.
struct Context<'a, 'b> {
    beliefs: &'a mut Beliefs<'b, dyn Estimator>,
    noise: f64,
    variances: Vec<f64>,
}

impl<'a, 'b> Context<'a, 'b> {
    fn new(beliefs: &'a mut Beliefs<'b, dyn Estimator>, noise: f64) -> Self {
        Self { beliefs, noise, variances: Vec::new() }
    }
}

impl RuleContext for Context<'_, '_> {
    fn question(&self) -> Question {
        self.beliefs.question
    }

    fn noise(&self) -> f64 {
        self.noise
    }

    fn pulls(&self) -> &[u32] {
        self.beliefs.pulls
    }

    fn settled(&self) -> &Settled {
        self.beliefs.settled
    }

    fn means(&mut self) -> &[f64] {
        self.beliefs.means()
    }

    fn variances(&mut self) -> &[f64] {
        let (posterior, unit) = (self.beliefs.estimator.posterior(), self.noise * self.noise);
        self.variances = posterior.variances.iter().map(|variance| unit * variance).collect();
        &self.variances
    }

    fn linear_estimate(&mut self) -> Option<LinearEstimate> {
        self.beliefs.estimator.linear_estimate()
    }

    fn covariances_with(&mut self, arm: Arm) -> &[f64] {
        unreachable!("the covariances with {arm} are refused before")
    }
}
