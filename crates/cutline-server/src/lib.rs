//! Campaigns for a team: an HTTP API on a store, for workers in any language and for pages that people leave open.
//!
//! [`app`] is the whole application without a socket; [`serve`] serves it. One thread per open campaign owns its handle of the store, and
//! what waits while it commits shares the next commit. Servers keep nothing that is not in the store, so any number of them may serve one
//! store in PostgreSQL.

mod actor;
mod app;
mod auth;
mod clock;
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
mod state;
mod summary;
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
