//! Figures for Cutline: failure probability against budget, plans, and the verdicts of a campaign; as SVG, PNG and PDF.
//!
//! A figure is plain data; `to_svg` draws it, and [`png`] and [`pdf`](pdf()) convert that drawing. [`FailureFigure`] and [`PlanFigure`] compare
//! algorithms; [`VerdictFigure`] and [`DecidedFigure`] show one campaign, on a page narrow enough for a phone.
//!
//! The same figure always gives the same bytes, and an algorithm has the same colour, marker and dash in all figures.
//!
//! ```
//! use cutline_figure::{Curve, FailureFigure, Point, png};
//!
//! let figure = FailureFigure {
//!     title: "Wine".into(),
//!     curves: vec![Curve {
//!         label: "linear-apt".into(),
//!         points: vec![
//!             Point { budget: 200.0, rate: 0.203, low: 0.195, high: 0.211 },
//!             Point { budget: 400.0, rate: 0.012, low: 0.010, high: 0.014 },
//!         ],
//!         published: vec![(200.0, 0.2031), (400.0, 0.0117)],
//!     }],
//!     note: Some("10,000 runs per point.".into()),
//! };
//! let svg = figure.to_svg();
//! assert!(svg.contains("Failure probability"));
//! assert!(png(&svg, 2.0)?.starts_with(b"\x89PNG"));
//! # Ok::<(), cutline_figure::PngError>(())
//! ```

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
