//! The studies in short.

mod calibration;
mod coverage;
mod sure;
