//! The estimates: verdicts, and what the model found.

use super::Campaign;
use crate::diagnostics;
use crate::handle::candidates;
use crate::verdict::{Verdict, columns};
use cutline_campaign::{CampaignModel, CampaignState};
use cutline_report::verdict_figure;
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;

#[pymethods]
impl Campaign {
    /// The verdict on every arm.
    #[getter]
    fn verdicts(&self, py: Python<'_>) -> PyResult<Vec<Verdict>> {
        self.with(py, |campaign| {
            let verdicts = campaign.verdicts()?;
            let names = campaign.description()?.names.clone();
            let rewards = campaign.state()?.reward_stats();
            let arms = names.iter().zip(&verdicts).enumerate();
            Ok(arms.map(|(arm, (name, verdict))| Verdict::new(arm, name, verdict, rewards)).collect())
        })
    }

    /// The standard deviation of a measurement, and its source: given, or what it is estimated from.
    #[getter]
    fn noise(&self, py: Python<'_>) -> PyResult<(f64, &'static str)> {
        let noise = self.with(py, |campaign| Ok(campaign.state()?.noise()))?;
        Ok((noise.sigma, noise.source.name()))
    }

    /// What the mixed model found: the shares of the differences between the arms that are `linear` and `smooth` in the features,
    /// and the `own` share that they do not explain. `None` for other models and before the first reward.
    ///
    /// >>> import cutline
    /// >>> campaign = cutline.Campaign([[float(i)] for i in range(20)], threshold=9.5, budget=99)
    /// >>> campaign.observe(list(range(20)) * 2, [i + e for e in (0.1, -0.1) for i in range(20)])
    /// >>> sum(campaign.explained.values()) > 0.999, campaign.explained["linear"] > 0.8
    /// (True, True)
    #[getter]
    fn explained(&self, py: Python<'_>) -> PyResult<Option<BTreeMap<&'static str, f64>>> {
        let explained = self.with(py, |campaign| Ok(campaign.state()?.explained()))?;
        Ok(explained.map(|shares| [("linear", shares.linear), ("smooth", shares.smooth), ("own", shares.own)].into()))
    }

    /// The same in words, with the noise: `features explain 71 % of the differences (linear 55 %, smooth 16 %), noise σ ≈ 4.4`.
    #[getter]
    fn finding(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.with(py, |campaign| Ok(cutline_report::finding(campaign.state()?)))
    }

    /// The number of wrong calls that the mixed model expects if every arm gets the side of its mean: the sum of the doubts. It is an
    /// expectation under the model, not a guarantee. `None` for other models, and while there are fewer than ten rewards.
    #[getter]
    fn expected_errors(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        self.with(py, |campaign| {
            let verdicts = campaign.verdicts()?;
            Ok(expected_errors(campaign.state()?, &verdicts))
        })
    }

    /// The model in one word: `"mixed"`, `"linear"` or `"independent"`.
    #[getter]
    fn model(&self, py: Python<'_>) -> PyResult<&'static str> {
        let estimator = self.with(py, |campaign| Ok(campaign.state()?.terms().spec.estimator()))?;
        Ok(CampaignModel::of(estimator).name())
    }

    /// What the rewards so far say about the arms: how much the features explain of their differences, how large the noise is, and
    /// whether a line would do. A dict whose `sentence` says it in words. docs/diagnostics.md explains each number.
    ///
    /// The linear model is tested as a campaign on it would fit it, or with `raw` on the features as they are, without an intercept.
    #[pyo3(signature = (*, raw=false))]
    fn diagnose<'py>(&self, py: Python<'py>, raw: bool) -> PyResult<Bound<'py, PyDict>> {
        let (diagnostics, finding, names) = self.with(py, |campaign| {
            let arms = if raw { Some(campaign.candidates()?.arms()) } else { None };
            let state = campaign.state()?;
            let mut diagnostics = state.diagnose();
            if let Some(arms) = arms {
                let learnt = diagnostics.learnt;
                diagnostics = state.reward_stats().with_arms(&arms).diagnose();
                diagnostics.learnt = learnt;
            }
            let finding = cutline_report::finding(state);
            Ok((diagnostics, finding, campaign.description()?.names.clone()))
        })?;
        diagnostics::to_dict(py, &diagnostics, finding.as_deref(), &names)
    }

    /// The verdicts by column.
    fn _columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (names, verdicts, rewards) = self.with(py, |campaign| {
            let verdicts = campaign.verdicts()?;
            let rewards = campaign.state()?.reward_stats().clone();
            Ok((campaign.description()?.names.clone(), verdicts, rewards))
        })?;
        columns(py, &names, &verdicts, Some(&rewards))
    }

    /// The verdicts, by column, that other arms would have, and how many of them are expected to be wrong.
    fn _predict<'py>(
        &self,
        py: Python<'py>,
        names: Option<&Bound<'py, PyAny>>,
        columns: &Bound<'py, PyAny>,
        features: Option<PyReadonlyArray2<'py, f64>>,
    ) -> PyResult<(Bound<'py, PyDict>, Option<f64>)> {
        let others = candidates(names, columns, features.as_ref(), None)?;
        let (verdicts, expected_errors) = self.with(py, |campaign| {
            let verdicts = campaign.predict(&others)?;
            let expected_errors = expected_errors(campaign.state()?, &verdicts);
            Ok((verdicts, expected_errors))
        })?;
        Ok((self::columns(py, others.names(), &verdicts, None)?, expected_errors))
    }

    /// The figure of the verdicts, as SVG.
    fn _svg(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |campaign| {
            let verdicts = campaign.verdicts()?;
            let names = campaign.description()?.names.clone();
            Ok(verdict_figure(&self.name, &names, &verdicts, campaign.state()?.terms()))
        })
    }
}

/// The number of wrong calls that the mixed model expects: the sum of the doubts. `None` for other models, and while there are too few rewards.
fn expected_errors(state: &CampaignState, verdicts: &[cutline::Verdict]) -> Option<f64> {
    state.explained()?;
    state.may_forecast().then(|| verdicts.iter().map(|verdict| verdict.doubt).sum())
}
