//! Persistent campaigns: a journal in SQLite or PostgreSQL, used by any number of workers and processes at once.
//!
//! Only the [`Settings`], the candidates and the events of a campaign are stored; its state is computed from them by
//! [`cutline::campaign::CampaignState`]. An event is written before it is acknowledged, so acknowledged events survive a crash of the
//! process and, with the default durability, of the machine.
//!
//! ```
//! use cutline::Candidates;
//! use cutline_store::{Settings, Store};
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
mod covariance;
mod diagnosis_report;
mod error;
mod finding;
mod group;
mod http;
mod interrupt;
mod journal;
mod location;
mod managing;
mod model;
mod new_campaign;
mod open_options;
mod operation;
mod origin;
mod performing;
mod repeating;
mod revision;
mod settings;
mod store;
mod tickets;
mod tokens;
mod writing;

pub use activity::CampaignActivity;
pub use campaign::Campaign;
pub use change::Change;
pub use clock::{Clock, SystemClock, from_rfc3339, rfc3339};
pub use covariance::CampaignCovariance;
pub use cutline::Candidates;
pub use diagnosis_report::{DiagnosedArm, DiagnosisReport};
pub use error::StoreError;
pub use finding::{diagnosis, expected_errors, finding};
pub use group::{Finished, Group};
pub use http::{PastEvent, client_tls};
pub use interrupt::Interrupt;
pub use location::{Durability, LocationError};
pub use model::{CampaignModel, ModelError};
pub use new_campaign::NewCampaign;
pub use open_options::OpenOptions;
pub use operation::{Operation, Outcome, Submission};
pub use origin::{Authorship, Origin, RequestKey};
pub use revision::changed_settings;
pub use settings::{Preparation, Settings};
pub use store::{CampaignSummary, Store};
pub use tickets::Ticket;
pub use tokens::{Role, Token};
