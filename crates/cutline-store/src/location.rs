//! The address of a store: a path, `sqlite:///path`, or `postgresql://…`.

use std::fmt;
use std::path::PathBuf;
use thiserror::Error;

/// Which failures an acknowledged event survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// A crash of the process or of the machine: an event is on the disk before it is acknowledged.
    #[default]
    Full,
    /// A crash of the process. If the machine loses power, the last events may be lost; the store stays consistent.
    Normal,
}

/// Where a store is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    /// In a file.
    Sqlite { path: PathBuf, durability: Durability },
    /// On a server, at a URL without Cutline's own settings.
    Postgres { url: String, durability: Durability },
}

/// Why an address of a store was refused.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum LocationError {
    /// The scheme is not supported.
    #[error("unsupported store scheme `{0}://`; give a path, `sqlite:///path` or `postgresql://…`")]
    Scheme(String),
    /// The address has no path.
    #[error("the address of the store has no path; give one, as in `sqlite:///screen.db`")]
    NoPath,
    /// A setting is unknown.
    #[error("unknown store setting `{0}`; use `durability=full` or `durability=normal`")]
    Setting(String),
}

impl Location {
    /// Reads an address. `sqlite:///a.db` is the file `a.db` in the current directory, `sqlite:////a.db` is `/a.db`.
    pub(crate) fn parse(address: &str) -> Result<Self, LocationError> {
        let (scheme, rest) = match address.split_once("://") {
            Some((scheme, rest)) if scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c)) => {
                (scheme, rest)
            }
            _ => ("sqlite", address),
        };
        let is_path = !address.contains("://");
        match scheme {
            "sqlite" => {
                let (path, settings) = split_settings(rest, is_path);
                let path = if is_path { path } else { path.strip_prefix('/').unwrap_or(path) };
                let durability =
                    settings.map_or(Ok(None), |settings| durability(settings, |other| Err(other.into())))?;
                if path.is_empty() {
                    return Err(LocationError::NoPath);
                }
                Ok(Self::Sqlite { path: path.into(), durability: durability.unwrap_or_default() })
            }
            "postgres" | "postgresql" => {
                let (url, settings) = address.split_once('?').unwrap_or((address, ""));
                let mut others = Vec::new();
                let durability = durability(settings, |other| {
                    others.push(other.to_owned());
                    Ok(())
                })?;
                let url = if others.is_empty() { url.into() } else { format!("{url}?{}", others.join("&")) };
                Ok(Self::Postgres { url, durability: durability.unwrap_or_default() })
            }
            other => Err(LocationError::Scheme(other.into())),
        }
    }
}

/// Splits off the settings. A path may contain question marks, so after a path only `?durability=` begins settings.
fn split_settings(rest: &str, is_path: bool) -> (&str, Option<&str>) {
    let split = if is_path { rest.rfind("?durability=") } else { rest.find('?') };
    split.map_or((rest, None), |at| (&rest[..at], Some(&rest[at + 1..])))
}

/// The durability among settings; all other settings are passed to `other`.
fn durability(
    settings: &str,
    mut other: impl FnMut(&str) -> Result<(), String>,
) -> Result<Option<Durability>, LocationError> {
    let mut found = None;
    for setting in settings.split('&').filter(|setting| !setting.is_empty()) {
        match setting {
            "durability=full" => found = Some(Durability::Full),
            "durability=normal" => found = Some(Durability::Normal),
            _ if setting.starts_with("durability=") => return Err(LocationError::Setting(setting.into())),
            _ => other(setting).map_err(LocationError::Setting)?,
        }
    }
    Ok(found)
}

/// Without the password.
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite { path, .. } => write!(f, "{}", path.display()),
            Self::Postgres { url, .. } => {
                let (server, _) = url.split_once('?').unwrap_or((url, ""));
                let (scheme, rest) = server.split_once("://").unwrap_or(("postgresql", server));
                let (login, host) = rest.rsplit_once('@').map_or((None, rest), |(login, host)| (Some(login), host));
                match login.and_then(|login| login.split(':').next()) {
                    Some(user) => write!(f, "{scheme}://{user}@{host}"),
                    None => write!(f, "{scheme}://{host}"),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sqlite(path: &str, durability: Durability) -> Location {
        Location::Sqlite { path: path.into(), durability }
    }

    #[test]
    fn usual_addresses_are_understood() {
        use Durability::{Full, Normal};
        assert_eq!(Location::parse("screen.db").unwrap(), sqlite("screen.db", Full));
        assert_eq!(Location::parse("/a/b?c.db").unwrap(), sqlite("/a/b?c.db", Full));
        assert_eq!(Location::parse("a.db?durability=normal").unwrap(), sqlite("a.db", Normal));
        assert_eq!(Location::parse("sqlite:///a.db").unwrap(), sqlite("a.db", Full));
        assert_eq!(Location::parse("sqlite:////a/b.db?durability=normal").unwrap(), sqlite("/a/b.db", Normal));
        let postgres =
            Location::parse("postgresql://me:secret@host:5433/db?sslmode=disable&durability=normal").unwrap();
        let url = "postgresql://me:secret@host:5433/db?sslmode=disable".into();
        assert_eq!(postgres, Location::Postgres { url, durability: Normal });
        assert_eq!(postgres.to_string(), "postgresql://me@host:5433/db");
        assert_eq!(Location::parse("postgres://h/db").unwrap().to_string(), "postgres://h/db");
    }

    #[test]
    fn other_addresses_are_refused() {
        let message = |address: &str| Location::parse(address).unwrap_err().to_string();
        assert!(message("mysql://h/db").contains("unsupported store scheme `mysql://`"));
        assert!(message("").contains("has no path"));
        assert!(message("sqlite://").contains("has no path"));
        assert!(message("sqlite:///a.db?sync=off").contains("unknown store setting `sync=off`"));
        assert!(message("a.db?durability=none").contains("unknown store setting `durability=none`"));
        assert!(message("postgres://h/db?durability=x").contains("unknown store setting `durability=x`"));
    }
}
