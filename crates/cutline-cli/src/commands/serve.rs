//! `cutline serve [STORE]`

use crate::failure::Failure;
use crate::print::note;
use crate::{args, interrupt};
use cutline_server::{Limits, Notify, Server, ServerError, use_token_file};
use cutline_store::Store;
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
    let limits = Limits { notify: notify(args)?, ..Limits::default() };
    let server = Server::bind(store, args.bind, limits, certificate)?;
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

/// Where to post notices.
fn notify(args: &args::Serve) -> Result<Option<Notify>, Failure> {
    let Some(url) = &args.notify else { return Ok(None) };
    let secret = std::env::var("CUTLINE_NOTIFY_SECRET").unwrap_or_default();
    if secret.is_empty() {
        return Err(Failure::Usage(
            "`--notify` needs a secret, with which receivers check who posts: set CUTLINE_NOTIFY_SECRET".into(),
        ));
    }
    let mut notify =
        Notify::new(url, &secret, args.notify_private).map_err(|error| Failure::Usage(error.to_string()))?;
    notify.silence = args.notify_silence;
    Ok(Some(notify))
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

impl From<ServerError> for Failure {
    fn from(error: ServerError) -> Self {
        match error {
            ServerError::Store(error) => Self::Store(error),
            error => Self::Server(error),
        }
    }
}
