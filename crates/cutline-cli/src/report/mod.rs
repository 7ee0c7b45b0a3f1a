//! `report.html`: everything about a simulation or a campaign on one page that needs no other file.

pub(crate) mod campaign;
pub(crate) mod html;
pub(crate) mod simulation;
