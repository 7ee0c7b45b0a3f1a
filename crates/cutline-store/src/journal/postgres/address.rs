//! The address of a PostgreSQL database: `postgresql://user:password@host:port/database?key=value`, or `key=value` pairs. The parser of
//! `tokio-postgres` reads it, except for the settings that only Cutline or libpq have; the environment fills the gaps.

use super::tls::Tls;
use crate::LocationError;
use crate::location::{Durability, durability};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::collections::HashMap;
use std::error::Error as _;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::config::Host;

/// The settings that the parser of `tokio-postgres` does not have, or reads in another way.
const OWN_SETTINGS: [&str; 7] =
    ["connect_timeout", "durability", "lock_timeout", "passfile", "sslmode", "sslrootcert", "statement_timeout"];

/// The settings that the parser of `tokio-postgres` reads. Any other is refused: ignoring it could make a connection less safe than expected.
const OTHER_SETTINGS: [&str; 9] = [
    "application_name",
    "channel_binding",
    "dbname",
    "host",
    "options",
    "password",
    "port",
    "target_session_attrs",
    "user",
];

/// Variables of the environment, and the settings that they give.
const VARIABLES: [(&str, &str); 8] = [
    ("PGHOST", "host"),
    ("PGPORT", "port"),
    ("PGUSER", "user"),
    ("PGPASSWORD", "password"),
    ("PGDATABASE", "dbname"),
    ("PGPASSFILE", "passfile"),
    ("PGSSLMODE", "sslmode"),
    ("PGSSLROOTCERT", "sslrootcert"),
];

const DEFAULT_PORT: u16 = 5432;

/// Where a server on this machine has its socket: Debian's place, and PostgreSQL's own.
const SOCKET_DIRECTORIES: [&str; 2] = ["/var/run/postgresql", "/tmp"];

/// The value of a variable of the environment.
pub(crate) type Variable<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// How to reach a PostgreSQL server, and which database to use on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PostgresAddress {
    /// The servers to try, in this order.
    pub(super) endpoints: Vec<Endpoint>,
    /// The settings that all endpoints have in common. Its `Debug` omits the password.
    pub(super) config: Config,
    pub(super) passfile: Option<PathBuf>,
    pub(super) limits: Limits,
    pub(super) tls: Tls,
    pub(crate) durability: Durability,
    /// Whether the password is part of the address.
    pub(crate) has_password: bool,
}

/// One server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Endpoint {
    /// The name of the server, or the directory of its socket.
    pub(super) host: String,
    pub(super) port: u16,
}

/// Time limits; `None` for no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    /// For connecting to one server.
    pub(super) connect: Option<Duration>,
    /// For one answer of the server.
    pub(super) statement: Option<Duration>,
    /// For a lock that another process holds.
    pub(super) lock: Option<Duration>,
}

type Pairs = Vec<(String, String)>;

impl PostgresAddress {
    /// Reads an address; `None` if it is not that of a PostgreSQL server.
    pub(crate) fn parse(address: &str, variable: &Variable<'_>) -> Option<Result<Self, LocationError>> {
        let address = address.trim();
        let url = ["postgresql://", "postgres://"].iter().find_map(|scheme| address.strip_prefix(scheme));
        // An address that is meant to be that of a server may contain a password, so it must not become the name of a file.
        let is_meant = |scheme: &&str| address.starts_with(*scheme) || address.contains(&format!(":{scheme}//"));
        let parts = match url {
            Some(rest) => split_url(rest),
            None if ["postgresql:", "postgres:"].iter().any(is_meant) => {
                malformed("it must begin with `postgresql://`")
            }
            None => pairs_in(address)?.map(|pairs| (String::new(), pairs)),
        };
        Some(parts.and_then(|(url, pairs)| Self::new(&url, pairs, variable)))
    }

    /// Of `url`, `pairs` and the environment, the pairs count first.
    fn new(url: &str, pairs: Pairs, variable: &Variable<'_>) -> Result<Self, LocationError> {
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
        let in_environment =
            VARIABLES.iter().filter_map(|(name, key)| Some(((*key).into(), variable(name)?))).collect();
        let (own, others) = divide(pairs)?;
        let (own_defaults, defaults) = divide(in_environment)?;
        let configs = [read(&others)?, read(url)?, read(&defaults)?];
        let setting = |name: &str| own.get(name).or(own_defaults.get(name)).map(String::as_str);
        let (variable_of_home, file) =
            if cfg!(windows) { ("APPDATA", "postgresql/pgpass.conf") } else { ("HOME", ".pgpass") };
        let default_passfile = || variable(variable_of_home).map(|home| Path::new(&home).join(file));
        let limit = |name, unit, default| limit(setting(name), name, unit, default);
        Ok(Self {
            endpoints: endpoints(&configs)?,
            config: common(&configs),
            passfile: setting("passfile").map(PathBuf::from).or_else(default_passfile),
            limits: Limits {
                connect: limit("connect_timeout", 1000, Duration::from_secs(10))?,
                statement: limit("statement_timeout", 1, Duration::from_mins(2))?,
                lock: limit("lock_timeout", 1, Duration::from_mins(1))?,
            },
            tls: Tls::new(setting("sslmode"), setting("sslrootcert"))?,
            durability: setting("durability").map_or(Ok(Durability::Full), durability)?,
            has_password: configs[..2].iter().any(|config| password(config).is_some()),
        })
    }
}

/// Any part of an address may belong to a password, so `what` must not quote it.
fn malformed<T>(what: impl Into<String>) -> Result<T, LocationError> {
    Err(LocationError::Malformed(what.into()))
}

/// Splits the parameters off a URL; `rest` follows `postgresql://`.
fn split_url(rest: &str) -> Result<(String, Pairs), LocationError> {
    let (login_and_hosts, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    // The parser would take a part of a password for a host, which is shown.
    if path.contains('@') || login_and_hosts.matches('@').count() > 1 {
        return malformed("write `@` as `%40`, and in a password also `/` as `%2F` and `?` as `%3F`");
    }
    let (database, parameters) = path.split_once('?').unwrap_or((path, ""));
    let decoded = |text: &str| percent_decode_str(text).decode_utf8().map(String::from);
    let mut pairs = Pairs::new();
    for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
        let Some((key, value)) = parameter.split_once('=') else {
            return malformed("a parameter after `?` has no `=`; write `&` in a value as `%26`");
        };
        let (Ok(key), Ok(value)) = (decoded(key), decoded(value)) else {
            return malformed("it is not UTF-8 after percent-decoding");
        };
        pairs.push((key, value));
    }
    Ok((format!("postgresql://{login_and_hosts}{database}"), pairs))
}

/// Splits `key=value` pairs; `None` if the text is something else, such as a path.
fn pairs_in(text: &str) -> Option<Result<Pairs, LocationError>> {
    let is_setting = |key: &str| OWN_SETTINGS.contains(&key) || OTHER_SETTINGS.contains(&key);
    let first = text.split_once('=')?.0.trim();
    let pairs = split_pairs(text);
    let has_setting = is_setting(first) || pairs.iter().flatten().any(|(key, _)| is_setting(key));
    (has_setting && !first.contains(['/', '\\', '.', ':'])).then_some(pairs)
}

fn split_pairs(text: &str) -> Result<Pairs, LocationError> {
    let mut pairs = Pairs::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let Some((key, value)) = rest.split_once('=') else { return malformed("a setting has no `=`") };
        if key.trim_end().contains(char::is_whitespace) {
            return malformed("a setting has no `=`; write a value with spaces in it as 'value'");
        }
        let (value, after) = value_in_front(value.trim_start())?;
        pairs.push((key.trim_end().into(), value));
        rest = after.trim_start();
    }
    Ok(pairs)
}

/// The value at the front of the text, which may be in quotes, and the text after it. `\` escapes the next character.
fn value_in_front(text: &str) -> Result<(String, &str), LocationError> {
    let (is_quoted, text) = text.strip_prefix('\'').map_or((false, text), |text| (true, text));
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => value.extend(chars.next().map(|(_, escaped)| escaped)),
            '\'' if is_quoted => return Ok((value, &text[at + 1..])),
            c if !is_quoted && c.is_whitespace() => return Ok((value, &text[at..])),
            c => value.push(c),
        }
    }
    if is_quoted { malformed("a quoted value has no end") } else { Ok((value, "")) }
}

/// Divides pairs into Cutline's own settings and a text for the parser of `tokio-postgres`. An empty value is none.
fn divide(pairs: Pairs) -> Result<(HashMap<String, String>, String), LocationError> {
    let (mut own, mut others) = (HashMap::new(), String::new());
    for (key, value) in pairs {
        if OTHER_SETTINGS.contains(&key.as_str()) {
            let value = value.replace('\\', "\\\\").replace('\'', "\\'");
            others.extend([&key, "='", &value, "' "]);
        } else if !OWN_SETTINGS.contains(&key.as_str()) {
            return Err(LocationError::Setting(key));
        } else if !value.is_empty() {
            own.insert(key, value);
        }
    }
    Ok((own, others))
}

/// The parser's messages name settings, and quote no values.
fn read(text: &str) -> Result<Config, LocationError> {
    let message = |error: tokio_postgres::Error| error.source().map_or_else(|| error.to_string(), ToString::to_string);
    text.parse().or_else(|error| malformed(message(error)))
}

fn endpoints(configs: &[Config]) -> Result<Vec<Endpoint>, LocationError> {
    let hosts = configs.iter().map(Config::get_hosts).find(|hosts| !hosts.is_empty()).unwrap_or_default();
    let ports = configs.iter().map(Config::get_ports).find(|ports| !ports.is_empty()).unwrap_or(&[DEFAULT_PORT]);
    let n = hosts.len().max(1);
    if ports.len() != n && ports.len() != 1 {
        return malformed("hosts and ports differ in number");
    }
    let endpoint = |i: usize| {
        let port = *ports.get(i).unwrap_or(&ports[0]);
        let host = match hosts.get(i) {
            Some(Host::Tcp(name)) if !name.is_empty() => name.clone(),
            #[cfg(unix)]
            Some(Host::Unix(path)) => path.display().to_string(),
            _ => default_host(port),
        };
        Endpoint { host, port }
    };
    Ok((0..n).map(endpoint).collect())
}

/// The socket of a server on this machine or, if there is none, its network address.
fn default_host(port: u16) -> String {
    let has_socket = |directory: &&&str| cfg!(unix) && Path::new(directory).join(format!(".s.PGSQL.{port}")).exists();
    SOCKET_DIRECTORIES.iter().find(has_socket).map_or("localhost", |directory| directory).into()
}

fn password(config: &Config) -> Option<&[u8]> {
    config.get_password().filter(|password| !password.is_empty())
}

/// The settings that all endpoints have in common.
fn common(configs: &[Config; 3]) -> Config {
    let of = |get: fn(&Config) -> Option<&str>| configs.iter().filter_map(get).find(|value| !value.is_empty());
    let mut config = Config::new();
    // The default is the name of the user of the operating system, as with libpq; it is needed for password files too.
    if let Some(user) = of(Config::get_user).map(String::from).or_else(|| whoami::username().ok()) {
        config.user(user);
    }
    if let Some(database) = of(Config::get_dbname) {
        config.dbname(database);
    }
    if let Some(password) = configs.iter().find_map(password) {
        config.password(password);
    }
    if let Some(options) = of(Config::get_options) {
        config.options(options);
    }
    config
        .application_name(of(Config::get_application_name).unwrap_or("cutline"))
        .channel_binding(configs[0].get_channel_binding())
        .target_session_attrs(configs[0].get_target_session_attrs())
        .keepalives_idle(Duration::from_mins(1))
        .keepalives_interval(Duration::from_secs(10))
        .keepalives_retries(6);
    config
}

/// A limit: a number of `unit` milliseconds, or a number with a unit; 0 for no limit.
fn limit(
    text: Option<&str>,
    name: &'static str,
    unit: u64,
    default: Duration,
) -> Result<Option<Duration>, LocationError> {
    let Some(text) = text else { return Ok(Some(default)) };
    let number = text.parse::<u64>().map(|number| Duration::from_millis(number.saturating_mul(unit)));
    let limit = number.ok().or_else(|| humantime::parse_duration(text).ok());
    // The longest that the server takes.
    let limit = limit.filter(|limit| limit.as_millis() <= i32::MAX.unsigned_abs().into());
    let limit = limit.ok_or(LocationError::Value { name, expected: "a number, or one with a unit, as `30s`" })?;
    Ok(Some(limit).filter(|limit| !limit.is_zero()))
}

impl Endpoint {
    /// Whether it is reached by a socket in the file system.
    pub(super) fn is_local(&self) -> bool {
        cfg!(unix) && self.host.starts_with('/')
    }

    /// The name under which password files list it.
    pub(super) fn name_in_passfile(&self) -> &str {
        if SOCKET_DIRECTORIES.contains(&self.host.as_str()) { "localhost" } else { &self.host }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            host if self.is_local() => write!(f, "{}", utf8_percent_encode(host, NON_ALPHANUMERIC))?,
            host if host.contains(':') => write!(f, "[{host}]")?,
            host => f.write_str(host)?,
        }
        if self.port == DEFAULT_PORT { Ok(()) } else { write!(f, ":{}", self.port) }
    }
}

/// As a URL, without the password.
impl fmt::Display for PostgresAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let endpoints: Vec<String> = self.endpoints.iter().map(ToString::to_string).collect();
        write!(f, "postgresql://{}@{}", self.config.get_user().unwrap_or_default(), endpoints.join(","))?;
        self.config.get_dbname().map_or(Ok(()), |database| write!(f, "/{database}"))
    }
}

#[cfg(test)]
mod tests;
