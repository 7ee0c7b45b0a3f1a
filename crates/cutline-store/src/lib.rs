//! Persistent campaigns: a journal in SQLite or PostgreSQL, used by any number of workers and processes at once.
//!
//! Only the [`Settings`], the candidates and the events of a campaign are stored; its state is computed from them by
//! [`cutline_campaign::CampaignState`]. An event is written before it is acknowledged, so acknowledged events survive a crash of the
//! process and, with the default durability, of the machine.
//!
//! ```
//! use cutline_campaign::{AnyCampaign, Candidates, Settings};
//! use cutline_store::Store;
//! use std::time::Duration;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("screen.db").display().to_string();
//! let store = Store::create(&path)?; // or `sqlite:///screen.db`, or `postgresql://…`
//! let candidates = Candidates::new(vec!["a".into(), "b".into()], vec!["x".into()], vec![1.0, -2.0])?;
//! store.begin("screen", &Settings::new(0.5, 40), candidates)?;
//!
//! let mut campaign = Store::open(&path)?.campaign(Some("screen"))?; // in any process, at any time
//! for ticket in campaign.ask(4, "worker 1", Duration::from_secs(3600))? {
//!     campaign.tell(&[(ticket.number, 0.7)])?;
//! }
//! assert_eq!(campaign.progress()?.counted, 4);
//! # Ok(())
//! # }
//! ```

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
pub use cutline_campaign::{CampaignSummary, Interrupt, LocationError, NewCampaign, StoreError, from_rfc3339, rfc3339};
pub use group::{Finished, Group};
pub use location::Durability;
pub use open_options::OpenOptions;
pub use origin::Authorship;
pub use store::Store;
pub use tokens::{Role, Token};
