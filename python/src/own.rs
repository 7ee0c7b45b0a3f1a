//! Rules and instances of one's own: Python objects that Rust calls.

use crate::errors::input;
use crate::given::{shown, text};
use cutline::rules::{CustomRule, NamedRule, RuleContext};
use cutline::{Arm, Arms, Rng};
use cutline_lab::{CustomInstances, Extensions, Truth};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;
use rand_core::Rng as _;
use scoped_tls_hkt::scoped_thread_local;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ThreadId;

// What the rule that this thread is asking may look at, for as long as it is asked.
scoped_thread_local!(static mut CONTEXT: for<'a> &'a mut (dyn RuleContext + 'a));

/// Whether this thread is asking a rule.
pub(crate) fn is_asking() -> bool {
    CONTEXT.is_set()
}

/// Does something in which Python may be called from deep within, where nothing can fail: what Python raises unwinds to here.
pub(crate) fn raising<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).or_else(|payload| match payload.downcast::<PyErr>() {
        Ok(error) => Err(*error),
        Err(payload) => resume_unwind(payload),
    })
}

/// Calls Python from where nothing can fail; what it raises unwinds to [`raising`].
fn called<T>(call: impl FnOnce(Python<'_>) -> PyResult<T>) -> T {
    Python::attach(call).unwrap_or_else(|error| resume_unwind(Box::new(error)))
}

/// A rule of one's own, called `name`.
pub(crate) fn own(name: &Bound<'_, PyAny>, rule: &Bound<'_, PyAny>) -> PyResult<NamedRule> {
    let name = text(name, "the name of a rule")?;
    let opens = rule.getattr_opt("opens_with_every_arm")?.map_or(Ok(false), |opens| opens.is_truthy())?;
    NamedRule::new(&name, Arc::new(PythonRule { name: name.clone(), rule: rule.clone().unbind(), opens }))
        .map_err(input)
}

/// What an experiment was given that its text cannot hold: rules by name, and a function that draws instances.
pub(crate) fn brought(rules: &Bound<'_, PyDict>, instances: Option<&Bound<'_, PyAny>>) -> PyResult<Extensions> {
    Ok(Extensions {
        rules: rules.iter().map(|(name, rule)| own(&name, &rule)).collect::<PyResult<_>>()?,
        instances: instances.map(|function| Arc::new(PythonInstances(function.clone().unbind())) as _),
    })
}

struct PythonRule {
    name: String,
    rule: Py<PyAny>,
    opens: bool,
}

impl CustomRule for PythonRule {
    fn opens_with_every_arm(&self) -> bool {
        self.opens
    }

    fn choose(&self, context: &mut dyn RuleContext, rng: &mut Rng) -> Arm {
        called(|py| {
            let n_arms = context.pulls().len();
            let beliefs = Bound::new(py, Beliefs::new(context, rng.next_u64()))?;
            let chosen = CONTEXT.set(context, || self.rule.bind(py).call_method1("choose", (&beliefs,)));
            beliefs.get().is_over.store(true, Ordering::Relaxed);
            let chosen = chosen?;
            let arm = chosen.extract::<Arm>().ok().filter(|&arm| arm < n_arms);
            arm.ok_or_else(|| {
                let (name, last) = (&self.name, n_arms - 1);
                input(format!(
                    "`choose` of `{name}` must give an arm, a number from 0 to {last}, not {}",
                    shown(&chosen)
                ))
            })
        })
    }
}

/// What a rule sees when it is asked which arm to pull next. Its arrays are the rule's to keep and to change.
#[pyclass(frozen, module = "cutline")]
pub(crate) struct Beliefs {
    /// τ: the question is which arms have a mean above it.
    #[pyo3(get)]
    threshold: f64,
    /// ε: arms within ε of τ may be called either way.
    #[pyo3(get)]
    precision: f64,
    /// σ, the standard deviation of a reward: given, or estimated so far.
    #[pyo3(get)]
    noise: f64,
    /// How many arms there are.
    #[pyo3(get)]
    n_arms: usize,
    /// How many pulls there were, those still out for measurement included.
    #[pyo3(get)]
    total_pulls: u64,
    /// A number to draw from, as by `numpy.random.default_rng(beliefs.seed)`: the same for the same pull of the same run.
    #[pyo3(get)]
    seed: u64,
    thread: ThreadId,
    is_over: AtomicBool,
    means: PyOnceLock<Py<PyArray1<f64>>>,
    variances: PyOnceLock<Py<PyArray1<f64>>>,
    pulls: PyOnceLock<Py<PyArray1<u32>>>,
}

impl Beliefs {
    fn new(context: &dyn RuleContext, seed: u64) -> Self {
        let question = context.question();
        Self {
            threshold: question.threshold(),
            precision: question.precision(),
            noise: context.noise(),
            n_arms: context.pulls().len(),
            total_pulls: context.pulls().iter().map(|&pulls| u64::from(pulls)).sum(),
            seed,
            thread: std::thread::current().id(),
            is_over: AtomicBool::new(false),
            means: PyOnceLock::new(),
            variances: PyOnceLock::new(),
            pulls: PyOnceLock::new(),
        }
    }

    /// Looks at what the rule may look at while it is asked, and not after, nor from another thread.
    fn look<T>(&self, look: impl FnOnce(&mut dyn RuleContext) -> T) -> PyResult<T> {
        if self.is_over.load(Ordering::Relaxed) || self.thread != std::thread::current().id() {
            return Err(input("beliefs can be looked at only within `choose`; keep what they give, not them"));
        }
        Ok(CONTEXT.with(|context| look(context)))
    }

    /// An array that is made when it is first looked at.
    fn array<'py, T: numpy::Element>(
        &self,
        py: Python<'py>,
        kept: &PyOnceLock<Py<PyArray1<T>>>,
        look: impl FnOnce(&mut dyn RuleContext) -> Bound<'py, PyArray1<T>>,
    ) -> PyResult<Bound<'py, PyArray1<T>>> {
        kept.get_or_try_init(py, || Ok(self.look(look)?.unbind())).map(|array| array.bind(py).clone())
    }
}

#[pymethods]
impl Beliefs {
    /// The estimates of all means, an array.
    #[getter]
    fn means<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.array(py, &self.means, |context| PyArray1::from_slice(py, context.means()))
    }

    /// The variances of these estimates, an array: σ² xᵢᵀV⁻¹xᵢ with ridge, and σ²/Tᵢ with sample means.
    #[getter]
    fn variances<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.array(py, &self.variances, |context| PyArray1::from_slice(py, context.variances()))
    }

    /// The pulls of every arm, those still out for measurement included, an array.
    #[getter]
    fn pulls<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        self.array(py, &self.pulls, |context| PyArray1::from_slice(py, context.pulls()))
    }

    /// The covariances of every arm's estimate with that of `arm`, an array.
    fn covariances<'py>(&self, py: Python<'py>, arm: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let arm = crate::given::whole(arm, "`arm`", 0, self.n_arms as u64 - 1)?;
        let arm = usize::try_from(arm).expect("checked");
        self.look(|context| PyArray1::from_slice(py, context.covariances_with(arm)))
    }
}

#[derive(Debug)]
struct PythonInstances(Py<PyAny>);

/// Features, θ and means, as far as there are: what `cutline._own.draw` gives.
type Drawn<'py> =
    (Option<PyReadonlyArray2<'py, f64>>, Option<PyReadonlyArray1<'py, f64>>, Option<PyReadonlyArray1<'py, f64>>);

impl CustomInstances for PythonInstances {
    fn draw(&self, seed: u64) -> Truth {
        called(|py| {
            let drawn = py.import("cutline._own")?.call_method1("draw", (&self.0, seed))?;
            let (features, theta, means): Drawn<'_> = drawn.extract()?;
            let arms = match (&features, &means) {
                (Some(features), _) => {
                    let dimension = features.as_array().ncols();
                    Arms::from_slice(features.as_slice()?, dimension)
                }
                (None, Some(means)) => Arms::without_features(means.as_slice()?.len()),
                (None, None) => unreachable!("`draw` sees to it"),
            };
            let arms = arms.map_err(|error| input(format!("`instance` gave no arms: {error}")))?;
            Ok(match (theta, means) {
                (Some(theta), _) => Truth::Linear(arms, theta.to_vec()?),
                (None, Some(means)) => Truth::Means(arms, means.to_vec()?),
                (None, None) => unreachable!("`draw` sees to it"),
            })
        })
    }
}
