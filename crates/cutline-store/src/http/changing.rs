//! Changes of the settings and the candidates of a campaign on a server, as requests.

use super::client::Method;
use super::managing::arm_rows;
use super::wire::{AddedArms, ChangedSettings};
use crate::{Campaign, StoreError};
use cutline_campaign::{Candidates, Change};
use serde_json::json;

impl Campaign {
    /// As [`Campaign::change`], on the server of this campaign.
    pub(super) fn change_on_server(&mut self, change: &Change) -> Result<bool, StoreError> {
        let Some(journal) = self.journal.remote() else { return Err(StoreError::NotOverHttp) };
        let changed = journal.located(|client| {
            let url = client.address().url("");
            client.send_to::<ChangedSettings>(Method::Patch, url, change).map(|answer| answer.changed)
        });
        match changed {
            Ok(changed) => self.state().map(|_| changed),
            Err(error) if error.is_refusal() => Err(self.refused_change(change).unwrap_or(error)),
            Err(error) => Err(error),
        }
    }

    /// Why the campaign does not allow a change, by its state here: the error that a store in a file would return.
    fn refused_change(&mut self, change: &Change) -> Option<StoreError> {
        self.state().ok()?;
        match self.changed_settings(change) {
            Err(error) => Some(error),
            Ok(None) => None,
            Ok(Some((budget, _))) => Some(self.state.as_ref()?.check_budget(budget).err()?.into()),
        }
    }

    /// As [`Campaign::add`], on the server of this campaign.
    pub(super) fn add_on_server(&mut self, more: &Candidates) -> Result<usize, StoreError> {
        // Requests do not name the columns.
        let has_same_columns = self.columns() == more.columns();
        let Some(journal) = self.journal.remote() else { return Err(StoreError::NotOverHttp) };
        let added = if has_same_columns {
            let body = json!({"arms": arm_rows(more)});
            journal.located(|client| {
                let url = client.address().url("arms");
                client.send_to::<AddedArms>(Method::Post, url, &body).map(|answer| answer.added)
            })
        } else {
            Err(journal.client.failed("the columns differ").refused())
        };
        match added {
            Ok(added) => self.state().map(|_| added),
            Err(error) if error.is_refusal() => Err(self.added_candidates(more).err().unwrap_or(error)),
            Err(error) => Err(error),
        }
    }
}

impl StoreError {
    /// Whether a server refused a request because of what it asks for.
    fn is_refusal(&self) -> bool {
        matches!(self, Self::Remote { status: 409 | 422, .. })
    }

    /// The same error, as if a server had refused the request.
    fn refused(self) -> Self {
        match self {
            Self::Remote { location, detail, .. } => Self::Remote { location, status: 422, detail },
            error => error,
        }
    }
}
