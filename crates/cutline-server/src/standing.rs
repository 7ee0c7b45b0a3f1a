//! How campaigns stand, remembered between requests.

use crate::actor::OpenCampaign;
use crate::problem::Problem;
use crate::state::AppState;
use cutline_campaign::Standing;
use cutline_campaign::now;
use cutline_store::{CampaignActivity, StoreError};

impl OpenCampaign {
    /// How the campaign stands now, without what the rest of its budget would bring.
    pub(crate) fn standing(&mut self) -> Result<Standing, StoreError> {
        let (_, verdicts) = self.verdicts()?;
        let (name, settings) = (self.campaign.name().to_owned(), self.campaign.settings().clone());
        Ok(Standing::new(&name, &settings, self.campaign.state()?, &verdicts, now()))
    }
}

impl AppState {
    /// How a listed campaign stands, if it is asked for.
    pub(crate) async fn standing_if(
        &self,
        is_wanted: bool,
        campaign: &CampaignActivity,
    ) -> Result<Option<Standing>, Problem> {
        if is_wanted { self.standing(&campaign.name, campaign.events).await.map(Some) } else { Ok(None) }
    }

    /// How a campaign stands that has this many events. It is remembered, so that a list does not open all campaigns again and again.
    async fn standing(&self, name: &str, events: u64) -> Result<Standing, Problem> {
        if let Some(known) = self.known_standing(name).filter(|known| known.events == events) {
            return Ok(known);
        }
        let standing = self.run(name, OpenCampaign::standing).await?;
        self.remember_standing(name, standing.clone());
        Ok(standing)
    }
}
