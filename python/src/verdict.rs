//! What is said of an arm, and of how far a campaign is.

use cutline::Verdict as Said;
use pyo3::prelude::*;

/// What is said of an arm.
#[pyclass(frozen, eq, get_all, module = "cutline")]
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Verdict {
    /// The arm, from 0.
    arm: usize,
    /// What it is called.
    name: String,
    /// `"above"`, `"below"` or `"undecided"`.
    side: &'static str,
    /// The estimate of its mean.
    mean: f64,
    /// The lower end of its interval; −∞ where nothing is known.
    lower: f64,
    /// The upper end of its interval; ∞ where nothing is known.
    upper: f64,
    /// The rewards told of this arm.
    pulls: u32,
    /// The probability that it lies on the other side of the threshold than its mean.
    doubt: f64,
}

impl Verdict {
    pub(crate) fn new(arm: usize, name: &str, said: &Said) -> Self {
        let Said { mean, lower, upper, side, pulls, doubt, .. } = *said;
        Self { arm, name: name.into(), side: side.name(), mean, lower, upper, pulls, doubt }
    }
}

#[pymethods]
impl Verdict {
    fn __repr__(&self) -> String {
        let Self { name, side, mean, lower, upper, pulls, doubt, .. } = self;
        format!(
            "Verdict({name:?}, {side}, mean={mean:.4}, interval=({lower:.4}, {upper:.4}), pulls={pulls}, doubt={doubt:.2e})"
        )
    }
}

/// How far a campaign is.
#[pyclass(frozen, eq, get_all, module = "cutline")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    /// The most rewards that may be counted.
    pub(crate) budget: u32,
    /// The rewards counted.
    pub(crate) counted: u32,
    /// The rewards that do not count towards the budget.
    pub(crate) uncounted: u64,
    /// The tickets that are out.
    pub(crate) out: usize,
    /// The tickets that failed.
    pub(crate) failed: u64,
    /// The tickets that were given up and have no reward.
    pub(crate) expired: u64,
    /// Why no measurement will ever be asked for again, `"budget"` or `"confidence"`; `None` while one may.
    pub(crate) ending: Option<&'static str>,
}

#[pymethods]
impl Progress {
    fn __repr__(&self) -> String {
        let Self { budget, counted, out, failed, expired, ending, .. } = self;
        let ending = ending.map_or("None".into(), |ending| format!("'{ending}'"));
        format!(
            "Progress(counted={counted}, budget={budget}, out={out}, failed={failed}, expired={expired}, ending={ending})"
        )
    }
}
