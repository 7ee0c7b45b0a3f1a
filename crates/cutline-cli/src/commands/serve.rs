//! `cutline serve [STORE]`

use crate::args::{self, Sort};
use crate::clock::now;
use crate::failure::Failure;
use crate::interrupt;
use crate::print::note;
use crate::report::campaign::{Answer, View, page};
use cutline_server::{Limits, Server, ServerError, WebhookLimits, use_token_file};
use cutline_store::{Campaign, Store};
use tracing_subscriber::filter::LevelFilter;

pub(crate) fn serve(args: &args::Serve) -> Result<(), Failure> {
    let level: LevelFilter = args.log.parse().unwrap_or(LevelFilter::INFO);
    log_to_stderr(level);
    let store = Store::create(&args.store)?;
    if let Some(path) = &args.token_file {
        use_token_file(&store, path)?;
    }
    let is_open = args.bind.ip().is_loopback() && store.tokens()?.is_empty();
    let certificate = args.tls_cert.as_deref().zip(args.tls_key.as_deref());
    let webhooks = WebhookLimits { allow_private: args.allow_private_webhooks, ..WebhookLimits::default() };
    let limits = Limits { webhooks, ..Limits::default() };
    let server = Server::bind(store, args.bind, limits, certificate, Some(report_page))?;
    let stopper = server.stopper();
    // A second interruption ends the program at once.
    let mut is_stopping = false;
    interrupt::handle_with(move || {
        if is_stopping {
            std::process::exit(interrupt::EXIT_CODE.into());
        }
        is_stopping = true;
        note("finishing the requests in progress; interrupt again to end at once");
        stopper.stop();
    });
    note(&format!("serving on {}", server.url()));
    note(&format!("the API is described at {}/docs", server.url()));
    if is_open {
        note(
            "anybody on this machine may change everything; `cutline token create` makes tokens, which are then needed",
        );
    }
    server.run();
    Ok(())
}

/// Logs what is at least as important as this.
pub(super) fn log_to_stderr(level: LevelFilter) {
    tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .with_target(false)
        .init();
}

/// The page that `cutline report` writes.
fn report_page(campaign: &mut Campaign) -> Result<String, String> {
    let mut view = View::new(campaign).map_err(|error| error.to_string())?;
    let answer = Answer::new(&mut view);
    page(&view, &answer, Sort::Mean, now()).map_err(|failure| failure.line())
}

impl From<ServerError> for Failure {
    fn from(error: ServerError) -> Self {
        match error {
            ServerError::Store(error) => Self::Store(error),
            error => Self::Server(error),
        }
    }
}
