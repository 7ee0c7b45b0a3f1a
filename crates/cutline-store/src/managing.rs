//! Renaming, deleting and copying the campaigns of a store.

use crate::{Campaign, Store, StoreError};
use cutline_campaign::{AnyCampaign, CampaignHost, CampaignSummary, NewCampaign, Origin, check_name, continued};

impl Store {
    /// Gives a campaign another name. Processes that use it go on.
    ///
    /// # Errors
    /// If there is no such campaign, the new name is taken or not allowed, or the store cannot be written to.
    pub fn rename(&self, name: Option<&str>, new_name: &str) -> Result<(), StoreError> {
        check_name(new_name)?;
        let (mut journal, entry) = self.find(name)?;
        journal.rename(entry.id, new_name)
    }

    /// Deletes a campaign with its candidates and events. Processes that use it get [`StoreError::Deleted`] with their next operation.
    ///
    /// # Errors
    /// If there is no such campaign, or the store cannot be written to.
    pub fn delete(&self, name: &str) -> Result<(), StoreError> {
        let (mut journal, entry) = self.find(Some(name))?;
        journal.delete(entry.id)
    }

    /// Copies a campaign with its candidates and events into `to`, which may be this store. Measurements are not shared from then on: a
    /// ticket that is open in both counts in that one to which its reward is told. If a request with the key of `origin` has made the copy
    /// before, it is returned.
    ///
    /// # Errors
    /// If there is no such campaign, the new name is taken or not allowed, the campaign uses a custom rule that was not
    /// [given](Store::with_rule), the key was used for another request, or a store fails.
    pub fn copy(&self, name: Option<&str>, to: &Self, new_name: &str, origin: &Origin) -> Result<Campaign, StoreError> {
        let copy = continued(&mut self.campaign(name)?, new_name)?;
        to.begin_new(copy.with_origin(origin.clone()))
    }
}

impl CampaignHost for Store {
    fn campaigns(&self) -> Result<Vec<CampaignSummary>, StoreError> {
        self.campaigns()
    }

    fn begin_new(&self, new: NewCampaign) -> Result<Box<dyn AnyCampaign>, StoreError> {
        Ok(Box::new(self.begin_new(new)?))
    }

    fn campaign(&self, name: Option<&str>) -> Result<Box<dyn AnyCampaign>, StoreError> {
        Ok(Box::new(self.campaign(name)?))
    }

    fn campaign_by_id(&self, id: i64) -> Result<Box<dyn AnyCampaign>, StoreError> {
        Ok(Box::new(self.campaign_by_id(id)?))
    }

    fn rename(&self, name: Option<&str>, new_name: &str) -> Result<(), StoreError> {
        self.rename(name, new_name)
    }

    fn delete(&self, name: &str) -> Result<(), StoreError> {
        self.delete(name)
    }
}
