//! Changes to a campaign that runs: corrected rewards, withdrawn and further arms, other settings.

use super::{Campaign, reason_text};
use crate::handle::candidates;
use crate::rewards::{one_or_more, pairs, per_measurement, replicates, ticket_number};
use crate::settings::change;
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use pyo3::types::PyDict;

#[pymethods]
impl Campaign {
    /// Corrects the reward of a ticket, or of several, all or none; both values stay in the journal. All verdicts follow as if the correct
    /// reward had been told. Returns how many rewards changed. Replicates have the numbers after that of their ticket, and a list of rewards
    /// corrects them all.
    ///
    /// >>> import cutline
    /// >>> campaign = cutline.Campaign(["a", "b"], threshold=0.5, budget=9)
    /// >>> ticket = campaign.ask()
    /// >>> campaign.tell(ticket, 70.0)
    /// 1
    /// >>> campaign.amend(ticket, 0.7, "mistyped")
    /// 1
    /// >>> campaign.verdicts[ticket.arm].mean
    /// 0.7
    #[pyo3(signature = (ticket, reward, reason=None))]
    fn amend(
        &self,
        py: Python<'_>,
        ticket: &Bound<'_, PyAny>,
        reward: &Bound<'_, PyAny>,
        reason: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<u64> {
        let rewards = pairs(ticket, reward, "tickets", ticket_number, replicates)?;
        let reason = reason_text(reason)?;
        self.with(py, |campaign| {
            let rewards = per_measurement(campaign, rewards)?;
            campaign.amend(&rewards, &reason)
        })
    }

    /// Declares the reward of a ticket void, or those of several, all or none: it no longer counts, and its measurement returns to the budget.
    /// Returns how many rewards changed. Replicates have the numbers after that of their ticket, and each is declared void on its own.
    ///
    /// >>> import cutline
    /// >>> campaign = cutline.Campaign(["a", "b"], threshold=0.5, budget=9)
    /// >>> campaign.tell(campaign.ask(2), [0.7, 0.2])
    /// 2
    /// >>> campaign.void(1, "wrong sample")
    /// 1
    /// >>> campaign.progress.told, campaign.progress.voided
    /// (1, 1)
    #[pyo3(signature = (ticket, reason=None))]
    fn void(&self, py: Python<'_>, ticket: &Bound<'_, PyAny>, reason: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
        let tickets = one_or_more(ticket, "the tickets", ticket_number)?;
        let reason = reason_text(reason)?;
        self.with(py, |campaign| campaign.void(&tickets, &reason))
    }

    /// Withdraws one or several arms that cannot be measured: they are never asked for again. Their verdicts stay, and say so. Arms are given
    /// as in `observe`. Returns how many were not withdrawn before.
    ///
    /// >>> import cutline
    /// >>> campaign = cutline.Campaign(["a", "b", "c"], threshold=0.5, budget=9)
    /// >>> campaign.withdraw(["a", "c"], "does not dissolve")
    /// 2
    /// >>> campaign.restore("c")
    /// 1
    /// >>> campaign.withdrawn
    /// {'a': 'does not dissolve'}
    /// >>> campaign.ask().name
    /// 'b'
    #[pyo3(signature = (arms, reason=None))]
    fn withdraw(&self, py: Python<'_>, arms: &Bound<'_, PyAny>, reason: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
        let (arms, reason) = (self.arms(py, arms)?, reason_text(reason)?);
        self.with(py, |campaign| campaign.withdraw(&arms, &reason))
    }

    /// Makes withdrawn arms available again; returns how many were withdrawn.
    fn restore(&self, py: Python<'_>, arms: &Bound<'_, PyAny>) -> PyResult<u64> {
        let arms = self.arms(py, arms)?;
        self.with(py, |campaign| campaign.restore(&arms))
    }

    /// The withdrawn arms by name, with the reasons.
    #[getter]
    fn withdrawn<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let withdrawn: Vec<(String, String)> = self.with(py, |campaign| {
            let arms: Vec<_> = campaign.state()?.withdrawn().map(|(arm, reason)| (arm, reason.to_owned())).collect();
            let names = &campaign.description()?.names;
            Ok(arms.into_iter().map(|(arm, reason)| (names[arm].clone(), reason)).collect())
        })?;
        let dict = PyDict::new(py);
        for (name, reason) in withdrawn {
            dict.set_item(name, reason)?;
        }
        Ok(dict)
    }

    /// Changes the settings that the dict has; returns whether anything changed.
    fn _change(&self, py: Python<'_>, keywords: &Bound<'_, PyDict>) -> PyResult<bool> {
        let change = change(keywords)?;
        self.with(py, |campaign| campaign.change(&change))
    }

    /// Adds arms; returns how many are new.
    fn _add(
        &self,
        py: Python<'_>,
        names: Option<&Bound<'_, PyAny>>,
        columns: &Bound<'_, PyAny>,
        features: Option<PyReadonlyArray2<'_, f64>>,
        costs: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        let more = candidates(names, columns, features.as_ref(), costs)?;
        self.with(py, |campaign| campaign.add(&more))
    }
}
