//! The arguments of `cutline serve` and `cutline token`.

use super::Format;
use super::duration::duration;
use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser};
use clap::{Args, Subcommand};
use cutline_store::Role;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// The store: a file, `sqlite:///FILE`, created if it is missing, or `postgresql://USER@HOST/DATABASE`
    #[arg(value_name = "STORE", default_value = "cutline.db")]
    pub(crate) store: String,
    /// The address and the port; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080")]
    pub(crate) bind: SocketAddr,
    /// A file with the token of an administrator; if it is missing, a new token is made and written to it
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// The certificate for TLS, with those that certify it, as a PEM file
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The private key of the certificate, as a PEM file
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Post a JSON to this URL when a campaign ends, is decided, stops fitting or goes silent, signed with the secret in `CUTLINE_NOTIFY_SECRET`
    #[arg(long, value_name = "URL")]
    pub(crate) notify: Option<String>,
    /// The time without a reward after which a campaign is silent
    #[arg(long, value_name = "DURATION", default_value = "6h", value_parser = duration, requires = "notify")]
    pub(crate) notify_silence: Duration,
    /// Allow loopback and private addresses for `--notify`, not only public ones
    #[arg(long, requires = "notify")]
    pub(crate) notify_private: bool,
    /// What to log on stderr
    #[arg(
        long,
        value_name = "LEVEL",
        default_value = "info",
        value_parser = PossibleValuesParser::new(["error", "warn", "info", "debug"])
    )]
    pub(crate) log: String,
}

#[derive(Debug, Args)]
pub(crate) struct Mcp {
    /// The store; with `--role admin` it is created if it is a file that is missing
    #[arg(value_name = "STORE")]
    pub(crate) store: String,
    /// What the client may do: `viewer` to read, `worker` also to ask and tell, `admin` also to begin, change and correct campaigns
    #[arg(
        long,
        value_name = "ROLE",
        default_value = Role::Worker.name(),
        value_parser = PossibleValuesParser::new(Role::ALL.iter().map(|role| role.name()))
    )]
    pub(crate) role: String,
    /// A campaign that it may use; may be given several times [default: all]
    #[arg(long, value_name = "CAMPAIGN")]
    pub(crate) campaign: Vec<String>,
    /// The name that is recorded with every change
    #[arg(long, value_name = "NAME", default_value = "mcp", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) author: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a token and print it; it is not stored and cannot be shown again
    Create(TokenCreate),
    /// List the tokens of a store, without their secrets
    List(TokenList),
    /// Revoke a token for good; servers notice within seconds
    Revoke(TokenRevoke),
}

#[derive(Debug, Args)]
pub(crate) struct TokenCreate {
    /// The store, created if it is a file that is missing
    #[arg(value_name = "STORE")]
    pub(crate) store: String,
    /// Its name, which is recorded with every change made by it
    #[arg(long, value_name = "NAME")]
    pub(crate) name: String,
    /// What it allows: `viewer` to read, `worker` also to ask and tell, `admin` everything
    #[arg(
        long,
        value_name = "ROLE",
        default_value = Role::Worker.name(),
        value_parser = PossibleValuesParser::new(Role::ALL.iter().map(|role| role.name()))
    )]
    pub(crate) role: String,
    /// A campaign that it is for; may be given several times [default: all]
    #[arg(long, value_name = "CAMPAIGN")]
    pub(crate) campaign: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct TokenList {
    /// The store
    #[arg(value_name = "STORE")]
    pub(crate) store: String,
    /// How to print the list
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct TokenRevoke {
    /// The store
    #[arg(value_name = "STORE")]
    pub(crate) store: String,
    /// The name of the token
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
}
