#![doc = include_str!("../README.md")]

mod diagnosis;
mod diagnosis_report;
mod finding;
mod html;
mod model;
mod numbers;
mod page;
mod plan;
mod promises;
pub mod spending;
mod summary;
pub mod words;

pub use diagnosis::diagnosis_facts;
pub use diagnosis_report::{DiagnosedArm, DiagnosisReport};
pub use finding::{diagnosis, finding};
pub use html::with_code;
pub use model::describe;
pub use numbers::{grouped_amount, short, span};
pub use page::{Sort, page, settings, short_worker, verdict_figure};
pub use plan::{PlanReport, plan_figure};
pub use promises::promises;
pub use summary::Summary;
