//! What the verbs of a campaign take.

use clap::Args;
use cutline_store::{Campaign, Store, StoreError};

/// Which campaign is meant: what every verb but `new` takes.
#[derive(Debug, Args)]
pub(crate) struct Which {
    /// Where the campaign is: a file, `sqlite:///FILE` or `postgresql://USER@HOST/DATABASE`
    #[arg(value_name = "STORE")]
    pub(crate) store: String,
    /// Which campaign, if the store has several
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
}

impl Which {
    /// The campaign, as it is now.
    pub(crate) fn open(&self) -> Result<Campaign, StoreError> {
        Store::open(&self.store)?.campaign(self.name.as_deref())
    }
}
