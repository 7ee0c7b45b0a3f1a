//! Campaigns on a Cutline server (`cutline serve`), over HTTP. Reading is that of any journal, so that the state is computed here from the same
//! settings, candidates and events. Changes are requests: the server decides and writes.

mod address;
mod changing;
mod client;
mod journal;
mod managing;
mod operations;
mod past_event;
mod wire;

pub(crate) use address::HttpAddress;
pub use client::client_tls;
pub(crate) use journal::{HttpJournal, connect};
pub use past_event::PastEvent;
