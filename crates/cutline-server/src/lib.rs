#![doc = include_str!("../README.md")]

mod actor;
mod app;
mod auth;
mod connections;
mod extract;
mod limits;
mod listener;
mod mcp;
mod metrics;
mod notify;
mod page;
mod problem;
mod routes;
mod server;
mod standing;
mod state;
mod token;

pub use app::app;
pub use limits::Limits;
pub use listener::{TlsError, serve, tls};
pub use mcp::{McpAccess, serve_mcp};
pub use notify::{AddressError, Notify};
pub use problem::Problem;
pub use server::{Server, ServerError, Stopper, use_token_file};
pub use state::AppState;
pub use token::{CreateTokenError, create_token};
