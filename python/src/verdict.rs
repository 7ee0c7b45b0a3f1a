//! The verdict on an arm, and the progress of a campaign.

use crate::campaign::Campaign;
use crate::errors::input;
use cutline::Side;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The verdict on an arm. It can be pickled.
#[pyclass(frozen, eq, get_all, module = "cutline")]
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Verdict {
    /// The arm's position from 0.
    arm: usize,
    /// The arm's name.
    name: String,
    /// `"above"`, `"below"` or `"undecided"`.
    side: &'static str,
    /// The estimate of its mean.
    mean: f64,
    /// The lower end of its interval; −∞ without data.
    lower: f64,
    /// The upper end of its interval; ∞ without data.
    upper: f64,
    /// The number of the arm's rewards.
    pulls: u32,
    /// The probability that the call is wrong: that the true mean is on the other side of the threshold than the estimate, and more
    /// than the precision from it. For the mixed model it is the probability by that model.
    doubt: f64,
    /// The number of rewards, of all arms, after which the algorithm fixed the side for good; `None` if it did not.
    settled_after: Option<u64>,
    /// Whether the arm is withdrawn: it is not measured any more.
    withdrawn: bool,
    /// Whether the mean is the threshold itself, so that nothing speaks for either side; the side is `"above"` then.
    at_threshold: bool,
}

impl Verdict {
    pub(crate) fn new(arm: usize, name: &str, verdict: &cutline::Verdict) -> Self {
        let cutline::Verdict { mean, lower, upper, side, pulls, doubt, settled_after, is_withdrawn, .. } = *verdict;
        let (name, side, withdrawn) = (name.into(), side.name(), is_withdrawn);
        let at_threshold = verdict.is_at_threshold();
        Self { arm, name, side, mean, lower, upper, pulls, doubt, settled_after, withdrawn, at_threshold }
    }
}

#[pymethods]
impl Verdict {
    /// For unpickling.
    #[new]
    fn from_parts(
        arm: usize,
        name: String,
        side: &str,
        mean: f64,
        lower: f64,
        upper: f64,
        pulls: u32,
        doubt: f64,
        settled_after: Option<u64>,
        withdrawn: bool,
        at_threshold: bool,
    ) -> PyResult<Self> {
        let sides = [Side::Above, Side::Below, Side::Undecided].map(Side::name);
        let known = sides.into_iter().find(|known| *known == side);
        let side = known.ok_or_else(|| input(format!("a side is one of {}, not `{side}`", sides.join(", "))))?;
        Ok(Self { arm, name, side, mean, lower, upper, pulls, doubt, settled_after, withdrawn, at_threshold })
    }

    #[expect(clippy::type_complexity, reason = "the arguments of `__new__`, in their order")]
    fn __getnewargs__(&self) -> (usize, &str, &str, f64, f64, f64, u32, f64, Option<u64>, bool, bool) {
        let Self { arm, name, side, mean, lower, upper, pulls, doubt, settled_after, withdrawn, at_threshold } = self;
        (*arm, name, side, *mean, *lower, *upper, *pulls, *doubt, *settled_after, *withdrawn, *at_threshold)
    }

    fn __repr__(&self) -> String {
        let Self { name, mean, lower, upper, pulls, doubt, .. } = self;
        let side = if self.at_threshold { "at the threshold" } else { self.side };
        let withdrawn = if self.withdrawn { ", withdrawn" } else { "" };
        format!(
            "Verdict({name:?}, {side}, mean={mean:.4}, interval=({lower:.4}, {upper:.4}), pulls={pulls}, doubt={doubt:.2e}{withdrawn})"
        )
    }
}

/// Verdicts by column.
pub(crate) fn columns<'py>(
    py: Python<'py>,
    names: &[String],
    verdicts: &[cutline::Verdict],
) -> PyResult<Bound<'py, PyDict>> {
    let numbers = |of: fn(&cutline::Verdict) -> f64| PyArray1::from_iter(py, verdicts.iter().map(of));
    let columns = PyDict::new(py);
    columns.set_item("name", names)?;
    columns.set_item("side", verdicts.iter().map(|verdict| verdict.side.name()).collect::<Vec<_>>())?;
    columns.set_item("mean", numbers(|verdict| verdict.mean))?;
    columns.set_item("lower", numbers(|verdict| verdict.lower))?;
    columns.set_item("upper", numbers(|verdict| verdict.upper))?;
    columns.set_item("pulls", PyArray1::from_iter(py, verdicts.iter().map(|verdict| i64::from(verdict.pulls))))?;
    columns.set_item("doubt", numbers(|verdict| verdict.doubt))?;
    columns.set_item("withdrawn", PyArray1::from_iter(py, verdicts.iter().map(|verdict| verdict.is_withdrawn)))?;
    let at_threshold = verdicts.iter().map(cutline::Verdict::is_at_threshold);
    columns.set_item("at_threshold", PyArray1::from_iter(py, at_threshold))?;
    Ok(columns)
}

/// The progress of a campaign.
#[pyclass(frozen, eq, module = "cutline")]
#[derive(Debug)]
pub(crate) struct Progress {
    /// The number of measurements that may count, or what they may cost.
    #[pyo3(get)]
    pub(crate) budget: u32,
    /// What the rewards that count have cost; `None` in a campaign without costs.
    #[pyo3(get)]
    pub(crate) spent: Option<f64>,
    /// The number of rewards that count towards the budget.
    #[pyo3(get)]
    pub(crate) told: u32,
    /// The number of rewards that do not.
    #[pyo3(get)]
    pub(crate) uncounted: u64,
    /// The number of open tickets.
    #[pyo3(get)]
    pub(crate) open: usize,
    /// The number of failed tickets.
    #[pyo3(get)]
    pub(crate) failed: u64,
    /// The number of expired tickets without a reward.
    #[pyo3(get)]
    pub(crate) expired: u64,
    /// The number of rewards that were declared void.
    #[pyo3(get)]
    pub(crate) voided: u64,
    /// The number of withdrawn arms.
    #[pyo3(get)]
    pub(crate) withdrawn: usize,
    /// Why the campaign has ended, `"budget"`, `"confidence"`, `"expected-errors"`, `"settled"`, `"done"` or `"withdrawn"`; `None` while
    /// it goes on.
    #[pyo3(get)]
    pub(crate) ending: Option<&'static str>,
    /// The campaign, for what takes longer to compute than counts.
    pub(crate) campaign: Py<Campaign>,
}

impl PartialEq for Progress {
    fn eq(&self, other: &Self) -> bool {
        let counts = |progress: &Self| {
            let Self { budget, spent, told, uncounted, open, failed, expired, voided, withdrawn, ending, .. } =
                *progress;
            (budget, spent, told, uncounted, open, failed, expired, voided, withdrawn, ending)
        };
        counts(self) == counts(other)
    }
}

#[pymethods]
impl Progress {
    /// How the campaign stands: `Campaign.standing`.
    #[getter]
    fn standing<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.campaign.get().standing(py)
    }

    fn __repr__(&self) -> String {
        let Self { budget, told, open, failed, expired, voided, withdrawn, ending, .. } = self;
        let ending = ending.map_or("None".into(), |ending| format!("'{ending}'"));
        // Most campaigns have none of either.
        let voided = if *voided > 0 { format!("voided={voided}, ") } else { String::new() };
        let withdrawn = if *withdrawn > 0 { format!("withdrawn={withdrawn}, ") } else { String::new() };
        let spent = self.spent.map_or_else(String::new, |spent| format!("spent={spent:?}, "));
        format!(
            "Progress({spent}told={told}, budget={budget}, open={open}, failed={failed}, expired={expired}, \
             {voided}{withdrawn}ending={ending})"
        )
    }
}
