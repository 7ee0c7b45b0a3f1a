//! How to reach a PostgreSQL server: libpq's settings, from the address, a service file, the environment and defaults, in this order.

mod conninfo;
mod endpoints;
mod keywords;
mod limits;
mod passfile;
mod service;
mod tls;

pub(crate) use endpoints::Endpoint;
pub(crate) use limits::{Limits, in_words};
pub(crate) use passfile::{Lookup, look_up};
pub(crate) use tls::{ClientCertificate, Roots, SslMode, Tls};

use crate::LocationError;
use crate::location::{Durability, durability};
use conninfo::Pairs;
use keywords::{Support, support, variables};
use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::config::{ChannelBinding, TargetSessionAttrs};

/// The value of a variable of the environment.
pub(crate) type Variable<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// A password, which is never shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Password(pub(crate) String);

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("_")
    }
}

/// How to reach a server, and which database to use on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Server {
    /// The servers to try, in this order.
    pub(crate) endpoints: Vec<Endpoint>,
    /// What is the same for all endpoints. Its `Debug` omits the password.
    pub(crate) config: Config,
    pub(crate) passfile: Option<PathBuf>,
    pub(crate) limits: Limits,
    pub(crate) tls: Tls,
    pub(crate) durability: Durability,
    /// Whether the password is part of the address.
    pub(crate) has_password: bool,
}

/// The settings, by name.
struct Settings(HashMap<String, String>);

impl Settings {
    /// Adds the settings that are not there yet; with `ssl=true` as another name of `sslmode=require`.
    fn add(&mut self, pairs: Pairs) -> Result<(), LocationError> {
        // Of a setting that is given twice, the last value counts.
        let mut added: HashMap<String, String> = HashMap::new();
        for (name, value) in pairs {
            let (name, value) = if (name.as_str(), value.as_str()) == ("ssl", "true") {
                ("sslmode".into(), "require".into())
            } else {
                (name, value)
            };
            match support(&name) {
                None => return Err(LocationError::Setting(name)),
                Some(Support::Refused) => return Err(LocationError::Unsupported(name)),
                Some(Support::Ignored) => (),
                Some(Support::Used) => drop(added.insert(name, value)),
            }
        }
        for (name, value) in added {
            self.0.entry(name).or_insert(value);
        }
        Ok(())
    }

    /// The value of a setting; an empty one is none.
    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The value of a setting, read by `parse`.
    fn parsed<T>(
        &self,
        name: &'static str,
        expected: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, LocationError> {
        let parsed = self.get(name).map(|value| parse(value).ok_or(LocationError::Value { name, expected }));
        parsed.transpose()
    }
}

impl Server {
    /// The server at an address: `None` if the address is not that of a PostgreSQL server.
    pub(crate) fn parse(address: &str, variable: &Variable<'_>) -> Option<Result<Self, LocationError>> {
        let trimmed = address.trim();
        let url = ["postgresql://", "postgres://"].iter().find_map(|scheme| trimmed.strip_prefix(scheme));
        let pairs = match url {
            Some(rest) => conninfo::from_url(rest),
            None if looks_like_server(trimmed) => Err(LocationError::Malformed("it must begin with `postgresql://`")),
            None => conninfo::from_pairs(trimmed)?,
        };
        Some(pairs.and_then(|pairs| Self::new(pairs, variable)))
    }

    fn new(pairs: Pairs, variable: &Variable<'_>) -> Result<Self, LocationError> {
        let has_password = pairs.iter().any(|(name, value)| name == "password" && !value.is_empty());
        let mut settings = Settings(HashMap::new());
        settings.add(pairs)?;
        let service = settings.get("service").map(str::to_owned).or_else(|| variable("PGSERVICE"));
        if let Some(service) = service.filter(|service| !service.is_empty()) {
            settings.add(service::settings(&service, variable)?)?;
        }
        let given = |(name, name_of_variable): (&str, &str)| Some((name.to_owned(), variable(name_of_variable)?));
        settings.add(variables().filter_map(given).filter(|(_, value)| !value.is_empty()).collect())?;
        Ok(Self {
            endpoints: endpoints::endpoints(&settings)?,
            config: config(&settings)?,
            passfile: passfile(&settings, variable),
            limits: Limits::new(&settings)?,
            tls: Tls::new(&settings, variable)?,
            durability: settings.get("durability").map_or(Ok(Durability::Full), durability)?,
            has_password,
        })
    }
}

/// Whether an address that does not begin with `postgresql://` is probably meant to be that of a server; such an address may contain a
/// password, so it must not become the name of a file.
fn looks_like_server(address: &str) -> bool {
    let begins = ["postgresql:", "postgres:"].iter().any(|scheme| address.starts_with(scheme));
    begins || ["postgresql://", "postgres://"].iter().any(|scheme| address.contains(&format!(":{scheme}")))
}

/// What is the same for all endpoints.
fn config(settings: &Settings) -> Result<Config, LocationError> {
    let mut config = Config::new();
    // The default is the name of the user of the operating system, as with libpq; it is needed for password files too.
    if let Some(user) = settings.get("user").map(str::to_owned).or_else(|| whoami::username().ok()) {
        config.user(user);
    }
    if let Some(database) = settings.get("dbname") {
        config.dbname(database);
    }
    if let Some(password) = settings.get("password") {
        config.password(password);
    }
    if let Some(options) = settings.get("options") {
        config.options(options);
    }
    config.application_name(settings.get("application_name").unwrap_or("cutline"));
    let whole = |value: &str| value.parse::<u32>().ok();
    let seconds = |value: &str| whole(value).map(|seconds| Duration::from_secs(seconds.max(1).into()));
    let number = "a whole number";
    config.keepalives(settings.parsed("keepalives", "0 or 1", whole)? != Some(0));
    config.keepalives_idle(settings.parsed("keepalives_idle", number, seconds)?.unwrap_or(Duration::from_mins(1)));
    config.keepalives_interval(
        settings.parsed("keepalives_interval", number, seconds)?.unwrap_or(Duration::from_secs(10)),
    );
    config.keepalives_retries(settings.parsed("keepalives_count", number, whole)?.unwrap_or(6).max(1));
    if let Some(limit) =
        settings.parsed("tcp_user_timeout", "a number of milliseconds", whole)?.filter(|&limit| limit > 0)
    {
        config.tcp_user_timeout(Duration::from_millis(limit.into()));
    }
    let attributes = settings.parsed("target_session_attrs", "any, read-write or read-only", |value| match value {
        "any" => Some(TargetSessionAttrs::Any),
        "read-write" | "primary" => Some(TargetSessionAttrs::ReadWrite),
        "read-only" => Some(TargetSessionAttrs::ReadOnly),
        _ => None,
    })?;
    config.target_session_attrs(attributes.unwrap_or(TargetSessionAttrs::Any));
    let binding = settings.parsed("channel_binding", "disable, prefer or require", |value| match value {
        "disable" => Some(ChannelBinding::Disable),
        "prefer" => Some(ChannelBinding::Prefer),
        "require" => Some(ChannelBinding::Require),
        _ => None,
    })?;
    config.channel_binding(binding.unwrap_or(ChannelBinding::Prefer));
    Ok(config)
}

/// The password file.
fn passfile(settings: &Settings, variable: &Variable<'_>) -> Option<PathBuf> {
    let default = if cfg!(windows) {
        variable("APPDATA").map(|data| PathBuf::from(data).join("postgresql").join("pgpass.conf"))
    } else {
        variable("HOME").map(|home| PathBuf::from(home).join(".pgpass"))
    };
    settings.get("passfile").map(PathBuf::from).or(default)
}

/// As a URL, without the password.
impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("postgresql://")?;
        if let Some(user) = self.config.get_user() {
            write!(f, "{user}@")?;
        }
        let endpoints: Vec<String> = self.endpoints.iter().map(ToString::to_string).collect();
        f.write_str(&endpoints.join(","))?;
        match self.config.get_dbname() {
            Some(database) => write!(f, "/{database}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
