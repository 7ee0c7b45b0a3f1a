//! The campaigns of a place: of a store here or of a server.

use crate::{AnyCampaign, NewCampaign, StoreError, Time};

/// An entry in the list of the campaigns of a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CampaignSummary {
    /// The name under which it is opened.
    pub name: String,
    /// When it was begun, in milliseconds since 1970.
    pub created: Time,
}

/// The campaigns of a place, each with its own name: a store or a server.
pub trait CampaignHost {
    /// The campaigns, in the order they were begun.
    ///
    /// # Errors
    /// If the store cannot be read.
    fn campaigns(&self) -> Result<Vec<CampaignSummary>, StoreError>;

    /// Begins a campaign, completely or not at all.
    ///
    /// # Errors
    /// If the name is taken, or the store cannot be written to.
    fn begin_new(&self, new: NewCampaign) -> Result<Box<dyn AnyCampaign>, StoreError>;

    /// The campaign with that name or, without a name, the only one.
    ///
    /// # Errors
    /// If there is no such campaign, or there are several and no name is given, or the store cannot be read.
    fn campaign(&self, name: Option<&str>) -> Result<Box<dyn AnyCampaign>, StoreError>;

    /// The campaign with this [number](AnyCampaign::id), whatever its name is by now: for opening one again.
    ///
    /// # Errors
    /// [`StoreError::Deleted`] if it is there no longer; and as [`campaign`](Self::campaign).
    fn campaign_by_id(&self, id: i64) -> Result<Box<dyn AnyCampaign>, StoreError>;

    /// Gives a campaign another name. Processes that use it go on.
    ///
    /// # Errors
    /// If there is no such campaign, the new name is taken or not allowed, or the store cannot be written to.
    fn rename(&self, name: Option<&str>, new_name: &str) -> Result<(), StoreError>;

    /// Deletes a campaign with its candidates and events. Processes that use it get [`StoreError::Deleted`] with their next operation.
    ///
    /// # Errors
    /// If there is no such campaign, or the store cannot be written to.
    fn delete(&self, name: &str) -> Result<(), StoreError>;

    /// The address of the Cutline server; `None` if the campaigns are in a store here.
    fn server(&self) -> Option<&str> {
        None
    }

    /// Copies a campaign to another name in this place.
    ///
    /// # Errors
    /// As [`copy`](Self::copy).
    fn copy_here(&self, name: Option<&str>, new_name: &str) -> Result<Box<dyn AnyCampaign>, StoreError> {
        self.begin_new(continued(&mut *self.campaign(name)?, new_name)?)
    }

    /// Copies a campaign with its candidates and events to another place; without one, to another name in this place. Measurements are not
    /// shared from then on: a ticket that is open in both counts in that one to which its reward is told.
    ///
    /// # Errors
    /// If there is no such campaign, the new name is taken or not allowed, the campaign uses a custom rule, or a store fails.
    fn copy(
        &self,
        name: Option<&str>,
        to: Option<&dyn CampaignHost>,
        new_name: &str,
    ) -> Result<Box<dyn AnyCampaign>, StoreError> {
        // A server copies its own campaigns itself.
        let is_elsewhere = |to: &&dyn CampaignHost| self.server().is_none_or(|server| to.server() != Some(server));
        match to.filter(is_elsewhere) {
            Some(to) => to.begin_new(continued(&mut *self.campaign(name)?, new_name)?),
            None => self.copy_here(name, new_name),
        }
    }
}

/// A campaign that continues another one.
///
/// # Errors
/// If the name is not allowed, or the store fails.
pub fn continued(campaign: &mut dyn AnyCampaign, new_name: &str) -> Result<NewCampaign, StoreError> {
    campaign.state()?;
    let (records, candidates) = (campaign.events(0)?, campaign.candidates()?);
    NewCampaign::continued(new_name, campaign.description()?.first_settings.clone(), candidates, records)
}

/// The position among the campaigns of a place of the one with that name or, without a name, of the only one.
///
/// # Errors
/// If there is no such campaign, or there are several and no name is given.
pub fn chosen_campaign(names: &[String], name: Option<&str>, location: &str) -> Result<usize, StoreError> {
    match (name, names.len()) {
        (None, 0) => Err(StoreError::NoCampaigns(location.into())),
        (None, 1) => Ok(0),
        (None, _) => Err(StoreError::WhichCampaign(names.to_vec())),
        (Some(name), _) => {
            let found = names.iter().position(|other| other == name);
            found.ok_or_else(|| StoreError::NoCampaign { name: name.into(), names: names.to_vec() })
        }
    }
}
