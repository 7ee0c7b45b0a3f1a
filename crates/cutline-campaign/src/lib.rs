#![doc = include_str!("../README.md")]

mod beginning;
mod candidates;
mod change;
mod covariance;
mod diagnosis_report;
mod encoding;
mod finding;
mod model;
mod names;
mod operation;
mod origin;
mod pace;
mod plan;
mod preparation;
mod revision;
#[cfg(feature = "schema")]
mod schema;
mod setting;
mod settings;
mod standing;
mod state;
mod ticket;

pub use candidates::{Candidates, CandidatesError, NameProblem};
pub use change::{Change, SettingValue};
pub use covariance::CampaignCovariance;
pub use diagnosis_report::{DiagnosedArm, DiagnosisReport};
pub use encoding::{ColumnValues, EncodedColumn, Encoding};
pub use finding::{diagnosis, expected_errors, finding};
pub use model::{CampaignModel, ModelError};
pub use operation::{Operation, Outcome, Submission};
pub use origin::{Origin, RequestKey};
pub use pace::Pace;
pub use plan::{
    BudgetAnswer, Expectation, Forecast, ForecastRow, Goal, Pilot, PilotError, Plan, PlanCell, PlanError, PlanReport,
    PlanTally, PlannedCampaign, Prior, PriorError, Rest, SkippedBudgets, check_noise, noise_and_spread,
};
pub use preparation::Preparation;
pub use revision::{Revised, changed_settings, settings_change};
#[cfg(feature = "schema")]
pub use schema::{ChangeSchema, NewSettingsSchema};
pub use setting::{Setting, SettingError, SettingKind};
pub use settings::{Settings, SettingsError};
pub use standing::{Fit, MAX_TEST_COST, ModelFit, Standing, serialize_amount};
pub use state::{
    BrokenJournal, CampaignError, CampaignState, DecisionPoint, EarlyStop, Event, MAX_REWARD, Progress,
    REBUILD_INTERVAL, Record, Request, Spending, Terms, TermsError, TicketId, TicketStatus, Time,
};
pub use ticket::Ticket;
