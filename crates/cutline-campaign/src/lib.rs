#![doc = include_str!("../README.md")]

mod amount;
mod any_campaign;
mod availability;
mod campaign_host;
mod candidates;
mod change;
mod covariance;
mod description;
mod diagnosis_report;
mod encoding;
mod finding;
mod interrupt;
mod location_error;
mod model;
mod new_campaign;
mod operation;
mod origin;
mod pace;
mod plan;
mod revision;
mod rfc3339;
mod settings;
mod standing;
mod state;
mod store_error;
mod ticket;

pub use any_campaign::AnyCampaign;
pub use availability::Availability;
pub use campaign_host::{CampaignHost, CampaignSummary, chosen_campaign, continued};
pub use candidates::{Candidates, CandidatesError, NameProblem};
pub use change::Change;
pub use covariance::CampaignCovariance;
pub use description::Description;
pub use diagnosis_report::{DiagnosedArm, DiagnosisReport};
pub use encoding::{ColumnValues, EncodedColumn, Encoding};
pub use finding::{diagnosis, expected_errors, finding};
pub use interrupt::Interrupt;
pub use location_error::LocationError;
pub use model::{CampaignModel, ModelError};
pub use new_campaign::{NewCampaign, check_name};
pub use operation::{Operation, Outcome, Submission};
pub use origin::{Origin, RequestKey};
pub use pace::Pace;
pub use plan::{
    BudgetAnswer, Expectation, Forecast, ForecastRow, Goal, Pilot, PilotError, Plan, PlanCell, PlanError, PlanReport,
    PlanTally, PlannedCampaign, Prior, PriorError, Rest, SkippedBudgets, check_noise, noise_and_spread,
};
pub use revision::{Revised, changed_settings, settings_change};
pub use rfc3339::{from_rfc3339, rfc3339};
pub use settings::{Preparation, Settings, SettingsError};
pub use standing::{Fit, MAX_TEST_COST, ModelFit, Standing, serialize_amount};
pub use state::{
    BrokenJournal, CampaignError, CampaignState, DecisionPoint, EarlyStop, Event, MAX_REWARD, Progress,
    REBUILD_INTERVAL, Record, Request, Spending, Terms, TermsError, TicketId, TicketStatus, Time,
};
pub use store_error::StoreError;
pub use ticket::{Ticket, TicketInfo};
