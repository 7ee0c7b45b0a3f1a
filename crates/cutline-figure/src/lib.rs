//! Figures for Cutline: failure probability against budget, plans, and what a campaign says of its arms; as SVG and PNG.
//!
//! A figure is plain data; `to_svg` draws it and [`png`] makes pixels of that drawing. [`FailureFigure`] and [`PlanFigure`]
//! compare algorithms; [`VerdictFigure`] and [`DecidedFigure`] show one campaign, on a page that a phone can show too.
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
//!     note: Some("10,000 runs a point.".into()),
//! };
//! let svg = figure.to_svg();
//! assert!(svg.contains("Failure probability"));
//! assert!(png(&svg, 2.0)?.starts_with(b"\x89PNG"));
//! # Ok::<(), cutline_figure::PngError>(())
//! ```

mod axis;
mod curves;
mod decided;
mod figure;
mod key;
mod label;
mod layout;
mod legend;
mod marker;
mod page;
mod panel;
mod plan;
mod png;
mod scale;
mod series;
mod sheet;
mod side;
mod style;
mod svg;
mod text;
mod ticks;
mod verdict;

pub use crate::decided::{Decided, DecidedFigure};
pub use crate::figure::{Curve, FailureFigure, Point};
pub use crate::plan::{BudgetRange, PlanCurve, PlanFigure};
pub use crate::png::{PngError, png};
pub use crate::side::Side;
pub use crate::verdict::{ArmVerdict, VerdictFigure};
