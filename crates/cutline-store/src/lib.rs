#![doc = include_str!("../README.md")]

mod activity;
mod asking;
mod campaign;
mod change;
mod checksum;
mod clock;
mod group;
mod journal;
mod location;
mod managing;
mod open_options;
mod origin;
mod performing;
mod repeating;
mod store;
mod tokens;
mod writing;

pub use activity::CampaignActivity;
pub use campaign::Campaign;
pub use clock::{Clock, SystemClock};
pub use cutline_campaign::{CampaignSummary, Interrupt, LocationError, NewCampaign, StoreError};
pub use group::{Finished, Group};
pub use location::Durability;
pub use open_options::OpenOptions;
pub use origin::Authorship;
pub use store::Store;
pub use tokens::{Role, Token};
