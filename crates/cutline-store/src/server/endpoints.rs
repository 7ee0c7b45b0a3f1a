//! The servers of an address, tried one after another.

use super::Settings;
use crate::LocationError;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use std::fmt;
use std::net::IpAddr;
use std::path::Path;

const DEFAULT_PORT: u16 = 5432;

/// Where a server on this machine has its socket: Debian's place, and PostgreSQL's own.
const SOCKET_DIRECTORIES: [&str; 2] = ["/var/run/postgresql", "/tmp"];

/// One server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    /// Its name, or the directory of its socket.
    pub(crate) host: String,
    /// Its address, if it is not to be looked up by its name.
    pub(crate) address: Option<IpAddr>,
    pub(crate) port: u16,
}

impl Endpoint {
    /// Whether it is reached by a socket in the file system.
    pub(crate) fn is_local(&self) -> bool {
        cfg!(unix) && self.address.is_none() && self.host.starts_with('/')
    }

    /// Its name in password files.
    pub(crate) fn name_in_passfile(&self) -> &str {
        if self.is_local() && SOCKET_DIRECTORIES.contains(&self.host.as_str()) { "localhost" } else { &self.host }
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

/// The values of a list, separated by commas.
fn list<'a>(settings: &'a Settings, name: &str) -> Vec<&'a str> {
    settings.get(name).map_or_else(Vec::new, |value| value.split(',').map(str::trim).collect())
}

pub(super) fn endpoints(settings: &Settings) -> Result<Vec<Endpoint>, LocationError> {
    let (hosts, addresses, ports) = (list(settings, "host"), list(settings, "hostaddr"), list(settings, "port"));
    let n = hosts.len().max(addresses.len()).max(1);
    let fits = |list: &[&str]| list.is_empty() || list.len() == n;
    if !fits(&hosts) || !fits(&addresses) || !(fits(&ports) || ports.len() == 1) {
        return Err(LocationError::Malformed("hosts, addresses and ports differ in number"));
    }
    (0..n).map(|i| endpoint(hosts.get(i), addresses.get(i), ports.get(i).or(ports.first()))).collect()
}

fn endpoint(host: Option<&&str>, address: Option<&&str>, port: Option<&&str>) -> Result<Endpoint, LocationError> {
    let given = |text: Option<&&str>| text.copied().filter(|text| !text.is_empty()).map(str::to_owned);
    let port = given(port).map_or(Some(DEFAULT_PORT), |port| port.parse().ok().filter(|&port| port > 0));
    let port = port.ok_or(LocationError::Value { name: "port", expected: "a number from 1 to 65535" })?;
    let address = given(address).map(|address| address.parse::<IpAddr>());
    let address =
        address.transpose().map_err(|_| LocationError::Value { name: "hostaddr", expected: "an IP address" })?;
    let host = given(host).or_else(|| address.map(|address| address.to_string())).unwrap_or_else(|| default_host(port));
    Ok(Endpoint { host, address, port })
}

/// The socket of a server on this machine or, if there is none, its network address.
fn default_host(port: u16) -> String {
    let has_socket = |directory: &&&str| cfg!(unix) && Path::new(directory).join(format!(".s.PGSQL.{port}")).exists();
    SOCKET_DIRECTORIES.iter().find(has_socket).map_or("localhost", |directory| directory).into()
}
