//! How a campaign stands, and what the rest of it would bring.

use super::Campaign;
use crate::convert::integer;
use crate::errors::input;
use crate::plan::{Planning, goal_of};
use crate::pool::pool;
use crate::verdict::Progress;
use cutline_campaign::{Plan, now};
use cutline_report::{Summary, words};
use pyo3::prelude::*;
use pyo3::types::PyDict;

#[pymethods]
impl Campaign {
    /// The progress: rewards counted, open tickets, and whether it has ended.
    #[getter]
    fn progress(slf: &Bound<'_, Self>) -> PyResult<Progress> {
        let (progress, ending) = slf.get().with(slf.py(), |campaign| {
            let state = campaign.state()?;
            Ok((state.progress(), state.stop_reason().map(cutline::StopReason::name)))
        })?;
        Ok(Progress {
            budget: progress.budget,
            spent: progress.spending.map(|spending| spending.spent.value()),
            told: progress.counted,
            uncounted: progress.uncounted,
            open: progress.open,
            failed: progress.failed,
            expired: progress.expired,
            voided: progress.voided,
            withdrawn: progress.withdrawn,
            ending,
            campaign: slf.clone().unbind(),
        })
    }

    /// How the campaign stands, with the keys of `cutline status --format json`: among them `sentence`, the result in words; `above`, `below`
    /// and `undecided`, with `above_proved` and `below_proved`; `remarks`, what the verdicts rest on where that is little; `wrong_calls`, the number to expect if every arm gets the side of its mean; `fit`, one word on whether the model
    /// fits, with `fit_p_value` and `fit_advice`; `may_stop`, whether every arm is decided; `remaining`, what is left of the budget; and
    /// `rest`, what that would still bring, or `None` in a large campaign: then see `plan`.
    ///
    /// >>> import cutline
    /// >>> campaign = cutline.Campaign(["a", "b"], threshold=0.0, budget=20, noise=1.0)
    /// >>> campaign.observe(["a", "b"] * 8, [1.0, -1.0] * 8, counted=True)
    /// >>> standing = campaign.standing
    /// >>> standing["above"], standing["below"], standing["may_stop"], standing["fit"], standing["remaining"]
    /// (1, 1, True, 'adapts', 4)
    /// >>> standing["rest"]["measurements"]
    /// 4
    #[getter]
    pub(crate) fn standing<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let pool = pool(None)?;
        let standing = self.with(py, |campaign| {
            let standing = campaign.standing_without_rest(now())?;
            if !Plan::is_rest_quick(campaign.state()?) {
                return Ok(standing);
            }
            let arms = campaign.candidates()?.arms();
            let state = campaign.state()?;
            Ok(pool.install(move || standing.with_rest(state, arms)))
        })?;
        // The keys and values of JSON, as everywhere.
        let json = serde_json::to_string(&Summary::from(standing)).map_err(|error| input(error.to_string()))?;
        Ok(py.import("json")?.call_method1("loads", (json,))?.cast_into()?)
    }

    /// The number of arms on each side and how many of them are proved, in words.
    fn _sides(&self, py: Python<'_>) -> PyResult<String> {
        let standing = self.with(py, |campaign| campaign.standing_without_rest(now()))?;
        Ok(words::sides(&standing))
    }

    /// A plan for the rest of the campaign, for `plan`.
    fn _planning(
        &self,
        py: Python<'_>,
        wrong: Option<&Bound<'_, PyAny>>,
        target: Option<&Bound<'_, PyAny>>,
        runs: &Bound<'_, PyAny>,
        seed: &Bound<'_, PyAny>,
    ) -> PyResult<Planning> {
        let goal = goal_of(wrong, target)?;
        let runs = integer(runs, "`runs`", 1, 1 << 50)?;
        let seed = integer(seed, "`seed`", 0, u64::MAX)?;
        let planned = self.with(py, |campaign| {
            let arms = campaign.candidates()?.arms();
            let state = campaign.state()?;
            let progress = state.progress();
            let remaining = progress.remaining().whole_units();
            Ok((Plan::rest_of(&self.name, arms, state, runs, seed), remaining))
        })?;
        let (plan, remaining) = planned;
        let plan = plan.map_err(input)?;
        Ok(Planning { plan: Plan { goal, ..plan }, remaining: Some(remaining) })
    }
}
