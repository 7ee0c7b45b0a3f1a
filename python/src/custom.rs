//! Custom rules and instances: Python objects that Rust calls.

use crate::convert::{integer, short_repr, string};
use crate::custom_parts;
use crate::errors::input;
use cutline::rules::{Choice, CustomRule, NamedRule, RuleContext};
use cutline::{Arm, Arms, Rng};
use cutline_lab::{CustomInstances, CustomNoise, Extensions, Truth};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict};
use rand_core::Rng as _;
use scoped_tls_hkt::scoped_thread_local;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ThreadId;

// The context of the rule that is choosing or learning on this thread; set while it does.
scoped_thread_local!(static mut CONTEXT: for<'a> &'a mut (dyn RuleContext + 'a));

/// Whether a custom rule is choosing on this thread.
pub(crate) fn is_choosing() -> bool {
    CONTEXT.is_set()
}

/// Runs `work`, and returns the exception if Python code that it called raised one.
///
/// Rules and instances are called from functions that cannot return errors, so an exception unwinds from there to here.
pub(crate) fn catch_exceptions<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).or_else(|payload| match payload.downcast::<PyErr>() {
        Ok(error) => Err(*error),
        Err(payload) => resume_unwind(payload),
    })
}

/// Calls Python from a function that cannot return errors; an exception unwinds to [`catch_exceptions`].
pub(crate) fn call_python<T>(call: impl FnOnce(Python<'_>) -> PyResult<T>) -> T {
    Python::attach(call).unwrap_or_else(|error| resume_unwind(Box::new(error)))
}

/// A custom rule under its name: an object, of which every learner gets a copy, or a class or function that makes one.
pub(crate) fn named_rule(name: &Bound<'_, PyAny>, rule: &Bound<'_, PyAny>) -> PyResult<NamedRule> {
    let name = string(name, "the name of a rule")?;
    let (given, called) = (rule.clone().unbind(), name.clone());
    let make = move || call_python(|py| Ok(Box::new(PythonRule::new(py, &called, &given)?) as _));
    NamedRule::new(&name, make).map_err(input)
}

/// The parts of an experiment that TOML cannot hold: custom rules, estimators, stops and decisions by name, and functions that draw instances
/// and noise.
pub(crate) fn extensions(
    rules: &Bound<'_, PyDict>,
    instances: Option<&Bound<'_, PyAny>>,
    noise: Option<&Bound<'_, PyAny>>,
    [estimators, stops, decisions]: [&Bound<'_, PyDict>; 3],
) -> PyResult<Extensions> {
    Ok(Extensions {
        estimators: custom_parts::estimators(estimators)?,
        stops: custom_parts::stops(stops)?,
        decisions: custom_parts::decisions(decisions)?,
        rules: rules.iter().map(|(name, rule)| named_rule(&name, &rule)).collect::<PyResult<_>>()?,
        instances: instances.map(|function| Arc::new(PythonInstances(function.clone().unbind())) as _),
        noise: noise.map(|function| Arc::new(PythonNoise(function.clone().unbind())) as _),
    })
}

/// The rule of one learner.
struct PythonRule {
    name: String,
    rule: Py<PyAny>,
    opens_with_every_arm: bool,
    learns: bool,
    /// Whether its last choice was to end. Until then it is not asked whether it has ended: that costs time, and may raise an exception.
    has_ended: bool,
}

impl PythonRule {
    fn new(py: Python<'_>, name: &str, given: &Py<PyAny>) -> PyResult<Self> {
        let rule = py.import("cutline._custom")?.call_method1("fresh", (given, name))?;
        let opens = rule.getattr_opt("opens_with_every_arm")?.map_or(Ok(false), |opens| opens.is_truthy())?;
        let learns = rule.getattr_opt("learn")?.is_some_and(|learn| learn.is_callable());
        Ok(Self { name: name.into(), rule: rule.unbind(), opens_with_every_arm: opens, learns, has_ended: false })
    }

    /// Calls a method of the rule with the beliefs and these arguments.
    fn call<'py>(
        &self,
        py: Python<'py>,
        method: &str,
        context: &mut dyn RuleContext,
        seed: Option<u64>,
        arguments: Option<(Arm, f64)>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let rule = self.rule.bind(py);
        with_beliefs(py, Beliefs::new(context, seed, true), context, |beliefs| match arguments {
            None => rule.call_method1(method, (beliefs,)),
            Some((arm, reward)) => rule.call_method1(method, (beliefs, arm, reward)),
        })
    }

    /// What `choose` returned: an arm, `cutline.WAIT` or `cutline.DONE`.
    fn choice(&self, returned: &Bound<'_, PyAny>, n_arms: usize) -> PyResult<Choice> {
        // `True` converts to 1, but whoever returns it does not mean arm 1.
        if !returned.is_instance_of::<PyBool>()
            && let Ok(arm) = returned.extract::<Arm>()
            && arm < n_arms
        {
            return Ok(Choice::Pull(arm));
        }
        match returned.extract::<&str>() {
            Ok("wait") => Ok(Choice::Wait),
            Ok("done") => Ok(Choice::Done),
            _ => {
                let (name, last) = (&self.name, n_arms - 1);
                let expected = format!(
                    "`choose` of `{name}` must return an arm, a position from 0 to {last}, or `cutline.WAIT` or `cutline.DONE`"
                );
                Err(input(format!("{expected}, not {}", short_repr(returned))))
            }
        }
    }
}

impl CustomRule for PythonRule {
    fn opens_with_every_arm(&self) -> bool {
        self.opens_with_every_arm
    }

    fn choose(&mut self, context: &mut dyn RuleContext, rng: &mut Rng) -> Choice {
        let choice = call_python(|py| {
            let n_arms = context.pulls().len();
            let returned = self.call(py, "choose", context, Some(rng.next_u64()), None)?;
            self.choice(&returned, n_arms)
        });
        self.has_ended = choice == Choice::Done;
        choice
    }

    fn may_end(&self) -> bool {
        self.has_ended
    }

    fn learns(&self) -> bool {
        self.learns
    }

    fn learn(&mut self, context: &mut dyn RuleContext, arm: Arm, reward: f64) {
        call_python(|py| self.call(py, "learn", context, None, Some((arm, reward))).map(drop));
    }
}

/// Calls Python with beliefs that can be read until it returns.
fn with_beliefs<'py, T>(
    py: Python<'py>,
    beliefs: Beliefs,
    context: &mut dyn RuleContext,
    call: impl FnOnce(&Bound<'py, Beliefs>) -> PyResult<T>,
) -> PyResult<T> {
    let beliefs = Bound::new(py, beliefs)?;
    let returned = CONTEXT.set(context, || call(&beliefs));
    beliefs.get().has_expired.store(true, Ordering::Relaxed);
    returned
}

/// Calls a stop or a decision with the beliefs, which have no seed and no covariances.
pub(crate) fn beliefs_for<'py, T>(
    py: Python<'py>,
    context: &mut dyn RuleContext,
    call: impl FnOnce(&Bound<'py, Beliefs>) -> PyResult<T>,
) -> PyResult<T> {
    with_beliefs(py, Beliefs::new(context, None, false), context, call)
}

/// The estimates that a custom rule chooses from and learns with. Arms are positions from 0. Its arrays are copies, which the rule may keep or
/// change.
#[pyclass(frozen, module = "cutline")]
pub(crate) struct Beliefs {
    /// τ: the question is which arms have a mean above it.
    #[pyo3(get)]
    threshold: f64,
    /// ε: arms within ε of τ may be classified either way.
    #[pyo3(get)]
    precision: f64,
    /// σ, the standard deviation of a reward: given, or the current estimate.
    #[pyo3(get)]
    noise: f64,
    /// The number of arms.
    #[pyo3(get)]
    n_arms: usize,
    /// The number of pulls so far, those of open tickets included.
    #[pyo3(get)]
    total_pulls: u64,
    /// `None` except in `choose`.
    seed: Option<u64>,
    has_covariances: bool,
    thread: ThreadId,
    has_expired: AtomicBool,
    means: PyOnceLock<Py<PyArray1<f64>>>,
    variances: PyOnceLock<Py<PyArray1<f64>>>,
    pulls: PyOnceLock<Py<PyArray1<u32>>>,
    settled: PyOnceLock<Py<PyArray1<i8>>>,
}

impl Beliefs {
    fn new(context: &dyn RuleContext, seed: Option<u64>, has_covariances: bool) -> Self {
        let question = context.question();
        Self {
            threshold: question.threshold(),
            precision: question.precision(),
            noise: context.noise(),
            n_arms: context.pulls().len(),
            total_pulls: context.pulls().iter().map(|&pulls| u64::from(pulls)).sum(),
            seed,
            has_covariances,
            thread: std::thread::current().id(),
            has_expired: AtomicBool::new(false),
            means: PyOnceLock::new(),
            variances: PyOnceLock::new(),
            pulls: PyOnceLock::new(),
            settled: PyOnceLock::new(),
        }
    }

    /// Reads from the rule's context: only while `choose` or `learn` runs, and only on its thread.
    fn read<T>(&self, read: impl FnOnce(&mut dyn RuleContext) -> T) -> PyResult<T> {
        if self.has_expired.load(Ordering::Relaxed) || self.thread != std::thread::current().id() {
            return Err(input(
                "beliefs can be read only within `choose`, `learn`, `should_stop` or a decision, on its thread; keep the arrays instead",
            ));
        }
        Ok(CONTEXT.with(|context| read(context)))
    }

    /// An array that is made on first use.
    fn array<'py, T: numpy::Element>(
        &self,
        py: Python<'py>,
        cell: &PyOnceLock<Py<PyArray1<T>>>,
        read: impl FnOnce(&mut dyn RuleContext) -> Bound<'py, PyArray1<T>>,
    ) -> PyResult<Bound<'py, PyArray1<T>>> {
        cell.get_or_try_init(py, || Ok(self.read(read)?.unbind())).map(|array| array.bind(py).clone())
    }
}

#[pymethods]
impl Beliefs {
    /// The estimated means, an array with one entry per arm.
    #[getter]
    fn means<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.array(py, &self.means, |context| PyArray1::from_slice(py, context.means()))
    }

    /// The variances of these estimates, an array: σ² xᵢᵀV⁻¹xᵢ with ridge, and σ²/Tᵢ with sample means.
    #[getter]
    fn variances<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.array(py, &self.variances, |context| PyArray1::from_slice(py, context.variances()))
    }

    /// The pulls of every arm, those of open tickets included, an array.
    #[getter]
    fn pulls<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        self.array(py, &self.pulls, |context| PyArray1::from_slice(py, context.pulls()))
    }

    /// The side of the arms for which it is fixed for good, 1 above and -1 below; 0 for the others, among which to choose. An array.
    #[getter]
    fn settled<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i8>>> {
        self.array(py, &self.settled, |context| {
            let side = |arm| context.settled().side(arm).map_or(0, |is_above| if is_above { 1 } else { -1 });
            PyArray1::from_iter(py, (0..self.n_arms).map(side))
        })
    }

    /// A seed for `numpy.random.default_rng(beliefs.seed)` in `choose`: the same for the same pull of the same run.
    #[getter]
    fn seed(&self) -> PyResult<u64> {
        self.seed.ok_or_else(|| input("`seed` is for `choose`; everything else must be a function of the rewards"))
    }

    /// θ̂ of ridge from the rewards received, one number per feature, an array; `None` with other estimators. Where rewards are measured from a
    /// `centre`, θ̂ is of what remains.
    #[getter]
    fn theta<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray1<f64>>>> {
        let estimate = self.read(|context| context.linear_estimate())?;
        Ok(estimate.map(|estimate| PyArray1::from_vec(py, estimate.theta)))
    }

    /// V⁻¹ = (λI + Σ xxᵀ)⁻¹ of ridge from the rewards received, a square array; `None` with other estimators. The covariance of θ̂ is σ²V⁻¹.
    #[getter]
    fn inverse_design<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let Some(estimate) = self.read(|context| context.linear_estimate())? else { return Ok(None) };
        let d = estimate.theta.len();
        PyArray1::from_vec(py, estimate.inverse_design).reshape([d, d]).map(Some)
    }

    /// The covariances of every arm's estimate with that of `arm`, a position from 0; an array.
    fn covariances<'py>(&self, py: Python<'py>, arm: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let arm = integer(arm, "`arm`", 0, self.n_arms as u64 - 1)?;
        let arm = usize::try_from(arm).expect("checked");
        if !self.has_covariances {
            return Err(input("`covariances` is for `choose` and `learn` of a rule"));
        }
        self.read(|context| PyArray1::from_slice(py, context.covariances_with(arm)))
    }
}

#[derive(Debug)]
struct PythonInstances(Py<PyAny>);

/// Features, θ and means, as far as they were given: what `cutline._custom.draw` returns.
type Drawn<'py> =
    (Option<PyReadonlyArray2<'py, f64>>, Option<PyReadonlyArray1<'py, f64>>, Option<PyReadonlyArray1<'py, f64>>);

impl CustomInstances for PythonInstances {
    fn draw(&self, seed: u64) -> Truth {
        call_python(|py| {
            let drawn = py.import("cutline._custom")?.call_method1("draw", (&self.0, seed))?;
            let (features, theta, means): Drawn<'_> = drawn.extract()?;
            let arms = match (&features, &means) {
                (Some(features), _) => {
                    let dimension = features.as_array().ncols();
                    Arms::from_slice(features.as_slice()?, dimension)
                }
                (None, Some(means)) => Arms::without_features(means.as_slice()?.len()),
                (None, None) => unreachable!("`draw` returns features or means"),
            };
            let arms = arms.map_err(|error| input(format!("`instance` returned invalid arms: {error}")))?;
            Ok(match (theta, means) {
                (Some(theta), _) => Truth::Linear(arms, theta.to_vec()?),
                (None, Some(means)) => Truth::Means(arms, means.to_vec()?),
                (None, None) => unreachable!("`draw` returns theta or means"),
            })
        })
    }
}

#[derive(Debug)]
struct PythonNoise(Py<PyAny>);

impl CustomNoise for PythonNoise {
    fn draw(&self, seed: u64, variates: &mut [f64]) {
        call_python(|py| {
            let drawn = py.import("cutline._custom")?.call_method1("draw_noise", (&self.0, seed, variates.len()))?;
            let drawn: PyReadonlyArray1<'_, f64> = drawn.extract()?;
            variates.copy_from_slice(drawn.as_slice()?);
            Ok(())
        });
    }
}
