//! Campaigns that last: one journal, in SQLite or PostgreSQL, for any number of workers and processes at once.
//!
//! Only the [`Settings`], the arms and the events of a campaign are stored; what they come to is
//! [`cutline::campaign::CampaignState`]'s business. An event is written before anybody hears of it, so what was acknowledged survives
//! whatever happens to the process, and with the default durability to the machine.
//!
//! ```
//! use cutline_store::{Candidates, Settings, Store};
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

mod campaign;
mod candidates;
mod checksum;
mod draft;
mod error;
mod journal;
mod location;
mod settings;
mod store;

pub use campaign::{Campaign, Ticket};
pub use candidates::{Candidates, CandidatesError};
pub use draft::Draft;
pub use error::StoreError;
pub use location::{Durability, LocationError};
pub use settings::{Preparation, Settings};
pub use store::{CampaignSummary, Store};
