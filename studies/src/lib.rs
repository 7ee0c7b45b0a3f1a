//! Studies of Cutline's own claims: do verdicts mean what they say, do intervals cover the truth, how often is an early stop wrong?
//! `make study` runs them at length, the tests in short.

pub mod coverage;
pub mod proved;
pub mod proved_stop;
pub mod sure;
pub mod worlds;
