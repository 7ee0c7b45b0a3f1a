#![doc = include_str!("../README.md")]

mod address;
mod campaign;
mod client;
mod connection;
mod submitting;
pub mod wire;

pub use address::{HttpAddress, escaped};
pub use campaign::RemoteCampaign;
pub use client::Client;
pub use connection::client_tls;
