#![doc = include_str!("../README.md")]

mod amount;
mod any_campaign;
mod availability;
mod beginning;
mod campaign_host;
mod candidates;
mod change;
mod covariance;
mod description;
mod encoding;
mod fit;
mod interrupt;
mod json;
mod location_error;
mod model;
mod names;
mod new_campaign;
mod operation;
mod origin;
mod pace;
mod plan;
mod preparation;
mod revision;
mod rows;
#[cfg(feature = "schema")]
mod schema;
mod setting;
mod settings;
mod standing;
mod state;
mod store_error;
mod ticket;
mod time;
mod view;

pub use any_campaign::AnyCampaign;
pub use availability::Availability;
pub use campaign_host::{CampaignHost, CampaignSummary, chosen_campaign, continued};
pub use candidates::{Candidates, CandidatesError, NameProblem};
pub use change::{Change, SettingValue};
pub use covariance::CampaignCovariance;
pub use description::Description;
pub use encoding::{ColumnValues, EncodedColumn, Encoding};
pub use fit::{Fit, FitReason, MAX_TEST_COST, ModelFit};
pub use interrupt::Interrupt;
pub use json::serialize_amount;
pub use location_error::LocationError;
pub use model::{CampaignModel, ModelError};
pub use new_campaign::{NewCampaign, check_name};
pub use operation::{Operation, Outcome, Submission};
pub use origin::{Origin, RequestKey};
pub use pace::Pace;
pub use plan::{
    BudgetAnswer, Expectation, Forecast, ForecastRow, Goal, Pilot, PilotError, Plan, PlanCell, PlanError, PlanTally,
    PlannedCampaign, Prior, PriorError, Rest, SkippedBudgets, check_noise, noise_and_spread,
};
pub use preparation::Preparation;
pub use revision::{Revised, changed_settings, settings_change};
pub use rows::{OpenTicket, VerdictRow};
#[cfg(feature = "schema")]
pub use schema::{ChangeSchema, NewSettingsSchema};
pub use setting::{Setting, SettingError, SettingKind};
pub use settings::{Settings, SettingsError};
pub use standing::Standing;
pub use state::{
    BrokenJournal, CampaignError, CampaignState, DecisionPoint, EarlyStop, Event, MAX_REWARD, Progress,
    REBUILD_INTERVAL, Record, Request, Spending, Terms, TermsError, TicketId, TicketStatus, Time,
};
pub use store_error::StoreError;
pub use ticket::{Ticket, TicketInfo};
pub use time::{from_rfc3339, now, rfc3339};
pub use view::View;
