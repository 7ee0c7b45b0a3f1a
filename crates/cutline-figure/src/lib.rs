#![doc = include_str!("../README.md")]

mod axis;
mod decided;
mod failure;
mod legend;
mod page;
mod pdf;
mod plan;
mod style;
mod svg;
mod text;
mod verdict;

pub use crate::decided::{DecidedCount, DecidedFigure};
pub use crate::failure::{Curve, FailureFigure, Point};
pub use crate::pdf::pdf;
pub use crate::plan::{BudgetRange, PlanCurve, PlanFigure, PlanTarget};
pub use crate::svg::{PngError, png};
pub use crate::verdict::{ArmVerdict, VerdictFigure, interval_note, model_interval_note};
