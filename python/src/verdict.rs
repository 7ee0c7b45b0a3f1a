//! The verdict on an arm, and the progress of a campaign.

use crate::campaign::Campaign;
use crate::errors::input;
use cutline::diagnostics::RewardStats;
use cutline::{Basis, Side};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

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
    /// What the side rests on: `"proved"` by the arm's own rewards, whatever the model, or `"likely"` by the model; `None` if it is
    /// undecided.
    basis: Option<&'static str>,
    /// The probability that calling the arm above is right. With a precision of 0 it is the probability that it lies above the threshold.
    probability_above: f64,
    /// The evidence of the arm's own rewards for its side, an e-value: 1 is none. If the arm lies on the other side, it ever reaches x with
    /// a probability of at most 1/x.
    evidence: f64,
    /// The mean of the arm's own rewards; `None` if it was not measured.
    own_mean: Option<f64>,
}

impl Verdict {
    pub(crate) fn new(arm: usize, name: &str, verdict: &cutline::Verdict, rewards: &RewardStats) -> Self {
        let cutline::Verdict { mean, lower, upper, side, pulls, doubt, evidence, settled_after, .. } = *verdict;
        Self {
            arm,
            name: name.into(),
            side: side.name(),
            mean,
            lower,
            upper,
            pulls,
            doubt,
            settled_after,
            withdrawn: verdict.is_withdrawn,
            at_threshold: verdict.is_at_threshold(),
            basis: verdict.basis.map(Basis::name),
            probability_above: verdict.probability_above(),
            evidence,
            own_mean: (pulls > 0).then(|| rewards.mean(arm)),
        }
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
        basis: Option<&str>,
        probability_above: f64,
        evidence: f64,
        own_mean: Option<f64>,
    ) -> PyResult<Self> {
        let sides = [Side::Above, Side::Below, Side::Undecided].map(Side::name);
        let known = sides.into_iter().find(|known| *known == side);
        let side = known.ok_or_else(|| input(format!("a side is one of {}, not `{side}`", sides.join(", "))))?;
        let named = |name: &str| Basis::ALL.iter().map(|basis| basis.name()).find(|known| *known == name);
        let unknown = |name: &str| input(format!("a basis is `proved` or `likely`, not `{name}`"));
        let basis = basis.map(|name| named(name).ok_or_else(|| unknown(name))).transpose()?;
        Ok(Self {
            arm,
            name,
            side,
            mean,
            lower,
            upper,
            pulls,
            doubt,
            settled_after,
            withdrawn,
            at_threshold,
            basis,
            probability_above,
            evidence,
            own_mean,
        })
    }

    /// The arguments of `__new__`, in their order.
    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let first = (self.arm, &self.name, self.side, self.mean, self.lower, self.upper, self.pulls, self.doubt);
        let state = (self.settled_after, self.withdrawn, self.at_threshold);
        let evidence = (self.basis, self.probability_above, self.evidence, self.own_mean);
        let parts = first.into_pyobject(py)?.add(state.into_pyobject(py)?)?.add(evidence.into_pyobject(py)?)?;
        Ok(parts.cast_into()?)
    }

    fn __repr__(&self) -> String {
        let Self { name, mean, lower, upper, pulls, doubt, .. } = self;
        let side = if self.at_threshold { "at the threshold" } else { self.side };
        let basis = self.basis.map_or_else(String::new, |basis| format!(", {basis}"));
        let withdrawn = if self.withdrawn { ", withdrawn" } else { "" };
        format!(
            "Verdict({name:?}, {side}{basis}, mean={mean:.4}, interval=({lower:.4}, {upper:.4}), pulls={pulls}, doubt={doubt:.2e}{withdrawn})"
        )
    }
}

/// Verdicts by column; `rewards` are those of these arms, if they have any.
pub(crate) fn columns<'py>(
    py: Python<'py>,
    names: &[String],
    verdicts: &[cutline::Verdict],
    rewards: Option<&RewardStats>,
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
    columns.set_item("basis", verdicts.iter().map(|verdict| verdict.basis.map(Basis::name)).collect::<Vec<_>>())?;
    columns.set_item("probability_above", numbers(cutline::Verdict::probability_above))?;
    columns.set_item("evidence", numbers(|verdict| verdict.evidence))?;
    let own_mean = |(arm, verdict): (usize, &cutline::Verdict)| {
        rewards.filter(|_| verdict.pulls > 0).map_or(f64::NAN, |rewards| rewards.mean(arm))
    };
    columns.set_item("own_mean", PyArray1::from_iter(py, verdicts.iter().enumerate().map(own_mean)))?;
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
    /// Why the campaign has ended, `"budget"`, `"confidence"`, `"expected-errors"`, `"settled"`, `"proved"`, `"done"` or `"withdrawn"`;
    /// `None` while it goes on.
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
