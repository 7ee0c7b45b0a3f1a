//! The address of a store: a path, `sqlite:///path`, `postgresql://…`, libpq's `host=… dbname=…`, or that of a Cutline server, `http://…`.

use crate::journal::PostgresAddress;
use cutline_campaign::LocationError;
use cutline_client::HttpAddress;
use std::fmt;
use std::path::PathBuf;

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
    /// On a PostgreSQL server.
    Postgres(Box<PostgresAddress>),
    /// A Cutline server, or a campaign on it.
    Http(Box<HttpAddress>),
}

/// Reads a value of the setting `durability`.
pub(crate) fn durability(value: &str) -> Result<Durability, LocationError> {
    match value {
        "full" => Ok(Durability::Full),
        "normal" => Ok(Durability::Normal),
        _ => Err(LocationError::Value { name: "durability", expected: "full or normal" }),
    }
}

impl Location {
    /// Reads an address. `sqlite:///a.db` is the file `a.db` in the current directory, `sqlite:////a.db` is `/a.db`.
    pub(crate) fn parse(address: &str) -> Result<Self, LocationError> {
        if let Some(server) = PostgresAddress::parse(address, &|name| std::env::var(name).ok()) {
            return Ok(Self::Postgres(Box::new(server?)));
        }
        if let Some(campaign) = HttpAddress::parse(address, &|name| std::env::var(name).ok()) {
            return Ok(Self::Http(Box::new(campaign?)));
        }
        let (scheme, rest) = match address.split_once("://") {
            Some((scheme, rest)) if scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c)) => {
                (scheme, rest)
            }
            _ => ("sqlite", address),
        };
        if scheme != "sqlite" {
            return Err(LocationError::Scheme(scheme.into()));
        }
        let is_path = !address.contains("://");
        let (path, settings) = split_settings(rest, is_path);
        let path = if is_path { path } else { path.strip_prefix('/').unwrap_or(path) };
        let mut found = Durability::Full;
        for setting in settings.unwrap_or("").split('&').filter(|setting| !setting.is_empty()) {
            match setting.split_once('=').unwrap_or((setting, "")) {
                ("durability", value) => found = durability(value)?,
                (name, _) => return Err(LocationError::Setting(name.into())),
            }
        }
        if path.is_empty() {
            return Err(LocationError::NoPath);
        }
        Ok(Self::Sqlite { path: path.into(), durability: found })
    }

    /// The address of a server without its password, if it has one; `STORE` if it cannot be read and may have one.
    pub(crate) fn redacted(address: &str) -> Option<String> {
        match Self::parse(address) {
            Ok(Self::Postgres(server)) if server.has_password => Some(server.to_string()),
            Ok(_) => None,
            Err(_) => (address.contains("://") || PostgresAddress::parse(address, &|_| None).is_some())
                .then(|| "STORE".into()),
        }
    }
}

/// Splits off the settings. A path may contain question marks, so after a path only `?durability=` begins settings.
fn split_settings(rest: &str, is_path: bool) -> (&str, Option<&str>) {
    let split = if is_path { rest.rfind("?durability=") } else { rest.find('?') };
    split.map_or((rest, None), |at| (&rest[..at], Some(&rest[at + 1..])))
}

/// Without the password.
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite { path, .. } => write!(f, "{}", path.display()),
            Self::Postgres(server) => server.fmt(f),
            Self::Http(campaign) => campaign.fmt(f),
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
        let Location::Postgres(server) =
            Location::parse("postgresql://me:secret@host:5433/db?sslmode=disable&durability=normal").unwrap()
        else {
            panic!("a server");
        };
        assert_eq!((server.durability, server.to_string().as_str()), (Normal, "postgresql://me@host:5433/db"));
    }

    #[test]
    fn other_addresses_are_refused() {
        let message = |address: &str| Location::parse(address).unwrap_err().to_string();
        assert!(message("mysql://h/db").contains("unsupported store scheme `mysql://`"));
        assert!(message("").contains("has no path"));
        assert!(message("sqlite://").contains("has no path"));
        assert!(message("sqlite:///a.db?sync=off").contains("unknown store setting `sync`"));
        assert!(message("a.db?durability=none").contains("`durability`; give full or normal"));
        assert!(message("postgres://h/db?durability=x").contains("`durability`; give full or normal"));
    }

    #[test]
    fn a_password_is_left_out() {
        let redacted = Location::redacted;
        assert_eq!(redacted("postgres://me:SECRET@h/db").as_deref(), Some("postgresql://me@h/db"));
        assert_eq!(redacted("postgres://me@h/db?password=SECRET").as_deref(), Some("postgresql://me@h/db"));
        assert_eq!(redacted("host=h user=me password=SECRET").as_deref(), Some("postgresql://me@h"));
        for address in
            ["mysql://me:SECRET@h", "postgresql:me:SECRET@h", "postgresql://me:SEC/RET@h", "host=h password='S"]
        {
            assert_eq!(redacted(address).as_deref(), Some("STORE"), "{address}");
        }
        assert_eq!(redacted("postgres://me@h/db"), None);
        assert_eq!(redacted("screen.db"), None);
    }
}
