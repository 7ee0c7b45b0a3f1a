//! Whether a connection is encrypted, and what the server has to prove.

use super::{Settings, Variable};
use crate::LocationError;
use std::path::PathBuf;

/// `sslmode`, as libpq has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SslMode {
    /// Without encryption.
    Disable,
    /// Encrypted if the server refuses anything else.
    Allow,
    /// Encrypted if the server can.
    Prefer,
    /// Encrypted, whoever the server is.
    Require,
    /// Encrypted, and the server has a certificate of a trusted authority.
    VerifyCa,
    /// Encrypted, and the server has a certificate of a trusted authority with its name.
    VerifyFull,
}

/// The authorities that are trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Roots {
    None,
    /// Those of the operating system.
    System,
    File(PathBuf),
}

/// The files that prove to the server who connects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClientCertificate {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

/// How a connection is encrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tls {
    pub(crate) mode: SslMode,
    pub(crate) roots: Roots,
    pub(crate) certificate: Option<ClientCertificate>,
    /// Whether to begin with TLS, without asking the server first.
    pub(crate) is_direct: bool,
}

impl Tls {
    pub(super) fn new(settings: &Settings, variable: &Variable<'_>) -> Result<Self, LocationError> {
        let home = if cfg!(windows) { variable("APPDATA") } else { variable("HOME") };
        let directory = if cfg!(windows) { "postgresql" } else { ".postgresql" };
        let default = |name: &str| home.as_ref().map(|home| PathBuf::from(home).join(directory).join(name));
        let given = |name| settings.get(name).map(PathBuf::from);
        let roots = match settings.get("sslrootcert") {
            Some("system") => Roots::System,
            Some(file) => Roots::File(file.into()),
            None => default("root.crt").filter(|file| file.exists()).map_or(Roots::None, Roots::File),
        };
        let expected = "disable, allow, prefer, require, verify-ca or verify-full";
        let mode = settings.parsed("sslmode", expected, |value| match value {
            "disable" => Some(SslMode::Disable),
            "allow" => Some(SslMode::Allow),
            "prefer" => Some(SslMode::Prefer),
            "require" => Some(SslMode::Require),
            "verify-ca" => Some(SslMode::VerifyCa),
            "verify-full" => Some(SslMode::VerifyFull),
            _ => None,
        })?;
        let mode = match (mode, &roots) {
            (None, Roots::System) => SslMode::VerifyFull,
            (Some(mode), Roots::System) if mode != SslMode::VerifyFull => return Err(LocationError::WeakMode),
            // As in libpq: whoever names an authority wants it to be checked.
            (Some(SslMode::Require), Roots::File(_)) => SslMode::VerifyCa,
            (mode, _) => mode.unwrap_or(SslMode::Prefer),
        };
        if mode >= SslMode::VerifyCa && roots == Roots::None {
            return Err(LocationError::NoRoots);
        }
        let certificate = given("sslcert").or_else(|| default("postgresql.crt").filter(|file| file.exists()));
        let key = given("sslkey").or_else(|| default("postgresql.key").filter(|file| file.exists()));
        if key.is_none() && settings.get("sslcert").is_some() {
            return Err(LocationError::Value { name: "sslkey", expected: "the file with the key of `sslcert`" });
        }
        let is_direct = settings.parsed("sslnegotiation", "postgres or direct", |value| match value {
            "postgres" => Some(false),
            "direct" => Some(true),
            _ => None,
        })?;
        if is_direct == Some(true) && mode < SslMode::Require {
            return Err(LocationError::WeakMode);
        }
        Ok(Self {
            mode,
            roots,
            certificate: certificate.zip(key).map(|(certificate, key)| ClientCertificate { certificate, key }),
            is_direct: is_direct == Some(true),
        })
    }
}
