//! The Model Context Protocol on a pair of streams, as `cutline mcp` speaks it on stdin and stdout: assistants and controllers of
//! laboratories use campaigns as tools. Every tool is a route of the API, called without a socket, so the same checks and roles hold.

mod rpc;
mod specs;
mod tools;

use crate::app::app;
use crate::auth::Principal;
use crate::limits::Limits;
use crate::routes;
use crate::server::{CLOSING, ServerError};
use crate::state::AppState;
use axum::Router;
use cutline_store::{Role, Store};
use rpc::{Reply, Request, RpcError};
use serde_json::{Value, json};
use std::io::{BufRead, Write};
use tokio::runtime::Runtime;
use tools::Tool;

/// The versions of the protocol that are spoken, the latest first. What is used of it is the same in all of them.
const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// What an assistant is told about all tools together.
const INSTRUCTIONS: &str = "Cutline decides which arms (candidates) have a mean above a threshold, from noisy measurements on a budget. To work on a campaign: \
    `ask` for tickets, measure the arm of each ticket in reality, and `tell` the rewards; repeat until `ending` is not null. Never invent a \
    reward: if a measurement cannot be made, `fail` its ticket. `campaign_status` and `read_verdicts` say what is known so far.";

/// What a client may do.
#[derive(Clone, Debug)]
pub struct McpAccess {
    /// Its role: tools that need more are not offered.
    pub role: Role,
    /// The campaigns it may use; `None` for all.
    pub campaigns: Option<Vec<String>>,
    /// The name that is recorded with its changes.
    pub author: String,
}

/// Serves a client that writes requests to `input` and reads answers from `output`, one per line, until the input ends.
///
/// # Errors
/// If the store cannot be read, the system refuses threads, or a stream fails.
pub fn serve_mcp(
    store: Store,
    access: McpAccess,
    mut input: impl BufRead,
    mut output: impl Write,
) -> Result<(), ServerError> {
    let limits = Limits::default();
    let longest = limits.body;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(ServerError::Runtime)?;
    let state = AppState::new(store, limits, false)?;
    let McpAccess { role, campaigns, author } = access;
    let principal = Principal { name: Some(author), role, campaigns };
    let (_, document) = routes::router();
    let document = serde_json::to_value(document).unwrap_or_default();
    let client = Client { runtime, router: app(state.clone()), principal, tools: tools::all(&document) };
    let served = loop {
        match rpc::read(&mut input, longest) {
            Ok(None) => break Ok(()),
            Ok(Some(read)) => {
                let Some(reply) = client.reply(read) else { continue };
                match rpc::write(&mut output, &reply) {
                    // The client is gone.
                    Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => break Ok(()),
                    Err(error) => break Err(ServerError::Pipe(error)),
                    Ok(()) => (),
                }
            }
            Err(error) => break Err(ServerError::Pipe(error)),
        }
    };
    state.end();
    let Client { runtime, router, .. } = client;
    drop(router);
    runtime.shutdown_timeout(CLOSING);
    state.close();
    served
}

/// A client and what it may use.
struct Client {
    runtime: Runtime,
    router: Router,
    principal: Principal,
    tools: Vec<Tool>,
}

impl Client {
    /// The answer to a line; `None` for notifications.
    fn reply(&self, read: Result<Request, RpcError>) -> Option<Reply> {
        match read {
            Err(error) => Some(Reply { id: Value::Null, result: Err(error) }),
            Ok(Request { id, method, params }) => {
                let id = id?;
                Some(Reply { id, result: self.answer(&method, &params) })
            }
        }
    }

    fn answer(&self, method: &str, params: &Value) -> Result<Value, RpcError> {
        match method {
            "initialize" => Ok(initialized(params)),
            "ping" => Ok(json!({})),
            "tools/list" => {
                let offered = self.tools.iter().filter(|tool| tool.role() <= self.principal.role);
                Ok(json!({"tools": offered.map(Tool::description).collect::<Vec<_>>()}))
            }
            "tools/call" => self.call(params),
            _ => Err(RpcError::NoMethod(method.into())),
        }
    }

    fn call(&self, params: &Value) -> Result<Value, RpcError> {
        let name =
            params["name"].as_str().ok_or_else(|| RpcError::BadParams("the name of a tool is missing".into()))?;
        let tool = self.tools.iter().find(|tool| tool.name() == name);
        let tool = tool.ok_or_else(|| RpcError::BadParams(format!("there is no tool `{name}`")))?;
        let nothing = serde_json::Map::new();
        let arguments = match &params["arguments"] {
            Value::Null => &nothing,
            Value::Object(arguments) => arguments,
            _ => return Err(RpcError::BadParams("the arguments of a tool are an object".into())),
        };
        let (needed, found) = (tool.role(), self.principal.role);
        if needed > found {
            return Ok(refused(&format!(
                "`{name}` needs the role `{}`, and this server was started with `--role {}`",
                needed.name(),
                found.name()
            )));
        }
        if let Some(campaign) = arguments.get("campaign").and_then(Value::as_str)
            && !self.principal.sees(campaign)
        {
            return Ok(refused(&format!("this server was started with `--campaign`, for others than `{campaign}`")));
        }
        let request = match tool.request(arguments) {
            Ok(mut request) => {
                request.extensions_mut().insert(self.principal.clone());
                request
            }
            Err(what) => return Ok(refused(&what)),
        };
        Ok(match self.runtime.block_on(tools::send(self.router.clone(), request)) {
            Ok(answer) => json!({
                "content": [{"type": "text", "text": answer.to_string()}], "structuredContent": answer, "isError": false
            }),
            Err(what) => refused(&what),
        })
    }
}

/// The answer to the first request of a client.
fn initialized(params: &Value) -> Value {
    let wanted = params["protocolVersion"].as_str();
    let version = VERSIONS.into_iter().find(|&version| Some(version) == wanted).unwrap_or(VERSIONS[0]);
    json!({
        "protocolVersion": version,
        "capabilities": {"tools": {"listChanged": false}},
        "serverInfo": {"name": "cutline", "title": "Cutline", "version": env!("CARGO_PKG_VERSION")},
        "instructions": INSTRUCTIONS,
    })
}

/// The result of a tool that was refused or failed: one line that says why.
fn refused(what: &str) -> Value {
    let line = what.replace(char::is_control, " ");
    json!({"content": [{"type": "text", "text": line}], "isError": true})
}
