//! `cutline mcp STORE`

use super::serve::log_to_stderr;
use crate::args;
use crate::failure::Failure;
use cutline_server::{McpAccess, serve_mcp};
use cutline_store::{Role, Store};
use tracing_subscriber::filter::LevelFilter;

/// Nothing but the protocol is written to stdout.
pub(crate) fn mcp(args: &args::Mcp) -> Result<(), Failure> {
    log_to_stderr(LevelFilter::WARN);
    let role = Role::named(&args.role).unwrap_or(Role::Viewer);
    // Whoever may begin campaigns may do so in a new store.
    let store = if role == Role::Admin { Store::create(&args.store)? } else { Store::open(&args.store)? };
    let campaigns = (!args.campaign.is_empty()).then(|| args.campaign.clone());
    let access = McpAccess { role, campaigns, author: args.author.clone() };
    Ok(serve_mcp(store, access, std::io::stdin().lock(), std::io::stdout().lock())?)
}
