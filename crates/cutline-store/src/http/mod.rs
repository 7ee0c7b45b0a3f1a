//! Campaigns on a Cutline server (`cutline serve`), over HTTP. Reading is that of any journal, so that the state is computed here from the same
//! settings, candidates and events. Changes are requests: the server decides and writes.

mod address;
mod client;
mod journal;
mod operations;
mod wire;

pub(crate) use address::HttpAddress;
pub use client::client_tls;
pub(crate) use journal::{HttpJournal, connect};
