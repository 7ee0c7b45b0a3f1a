#![doc = include_str!("../README.md")]

mod activity;
mod asking;
mod campaign;
mod change;
mod checksum;
mod clock;
mod error;
mod group;
mod http;
mod interrupt;
mod journal;
mod location;
mod managing;
mod new_campaign;
mod open_options;
mod origin;
mod performing;
mod repeating;
mod store;
mod tickets;
mod tokens;
mod writing;

pub use activity::CampaignActivity;
pub use campaign::Campaign;
pub use clock::{Clock, SystemClock};
pub use error::StoreError;
pub use group::{Finished, Group};
pub use http::{PastEvent, client_tls};
pub use interrupt::Interrupt;
pub use location::{Durability, LocationError};
pub use new_campaign::NewCampaign;
pub use open_options::OpenOptions;
pub use origin::Authorship;
pub use store::{CampaignSummary, Store};
pub use tokens::{Role, Token};
