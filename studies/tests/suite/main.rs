//! The studies in short.

mod calibration;
mod coverage;
mod proved;
mod sure;
