//! Where notices may go: to public addresses, unless private ones are allowed.

use axum::http::Uri;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, ToSocketAddrs};
use ureq::config::Config;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

/// The most characters of a URL.
const MAX_URL: usize = 2_000;

/// Why nothing may be sent to a URL.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum AddressError {
    /// It has this many characters.
    #[error("the URL has {0} characters; at most {MAX_URL} are allowed")]
    TooLong(usize),
    /// It cannot be read.
    #[error("the URL is not valid: it must be as `https://example.org/path`")]
    Invalid,
    /// It is of another scheme.
    #[error("the URL must begin with `https://` or `http://`")]
    Scheme,
    /// It has a user or a password.
    #[error("the URL must not contain a user or a password; notices are signed")]
    Login,
    /// It leads to an address that is not public.
    #[error(
        "{0} is not a public address; start the server with `--notify-private` to post to addresses of its own network"
    )]
    Private(IpAddr),
}

/// Refuses a URL that nothing may be posted to. A name that has no address now is accepted: it is checked again whenever something is posted.
pub(super) fn check(url: &str, allow_private: bool) -> Result<(), AddressError> {
    let authority = parse(url)?;
    match authority.to_socket_addrs() {
        Ok(found) if !allow_private => refuse_private(found.map(|address| address.ip())),
        _ => Ok(()),
    }
}

/// The host and the port of a URL.
fn parse(url: &str) -> Result<String, AddressError> {
    let length = url.chars().count();
    if length > MAX_URL {
        return Err(AddressError::TooLong(length));
    }
    // What is after `#` would not be sent.
    if url.contains('#') || url.chars().any(|character| character.is_whitespace() || character.is_control()) {
        return Err(AddressError::Invalid);
    }
    let uri: Uri = url.parse().map_err(|_| AddressError::Invalid)?;
    let default = match uri.scheme_str() {
        Some("http") => 80,
        Some("https") => 443,
        _ => return Err(AddressError::Scheme),
    };
    let authority = uri.authority().ok_or(AddressError::Invalid)?;
    if authority.as_str().contains('@') {
        return Err(AddressError::Login);
    }
    let after_host = authority.as_str().strip_prefix(authority.host()).ok_or(AddressError::Invalid)?;
    let port = match after_host.strip_prefix(':') {
        None if after_host.is_empty() => default,
        None => return Err(AddressError::Invalid),
        Some(port) => port.parse().ok().filter(|&port: &u16| port > 0).ok_or(AddressError::Invalid)?,
    };
    if authority.host().is_empty() {
        return Err(AddressError::Invalid);
    }
    Ok(format!("{}:{port}", authority.host()))
}

fn refuse_private(mut found: impl Iterator<Item = IpAddr>) -> Result<(), AddressError> {
    found.find(|&address| !is_public(address)).map_or(Ok(()), |address| Err(AddressError::Private(address)))
}

/// Whether an address belongs to somebody on the Internet, and is that of one machine.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let octets = address.octets();
    // This network, private, loopback, multicast, reserved; link-local; private; shared (CGNAT).
    let is_reserved = matches!(octets, [0 | 10 | 127 | 224..=255, ..])
        || matches!(octets, [169, 254, ..] | [172, 16..32, ..] | [192, 168, ..] | [100, 64..128, ..]);
    // Protocol assignments, 6to4 relays, documentation, benchmarks.
    let is_special = matches!(octets, [192, 0, 0 | 2, _] | [192, 88, 99, _])
        || matches!(octets, [198, 51, 100, _] | [203, 0, 113, _] | [198, 18..20, ..]);
    !is_reserved && !is_special
}

/// Only the global unicast addresses, `2000::/3`. Thus no loopback, link-local, unique-local or multicast address, and none that stands for an
/// IPv4 address: mapped, compatible, or of NAT64.
fn is_public_v6(address: Ipv6Addr) -> bool {
    match address.segments() {
        // Protocol assignments, Teredo among them; documentation; 6to4.
        [0x2001, 0..0x200 | 0xdb8, ..] | [0x2002, ..] | [0x3fff, 0..0x1000, ..] => false,
        [first, ..] => (0x2000..0x4000).contains(&first),
    }
}

/// Finds the addresses of a name and refuses those that are not allowed. Connections go to exactly the addresses that were checked, so a name
/// that changes its address in between gains nothing.
#[derive(Debug, Default)]
pub(super) struct CheckedResolver {
    pub(super) allow_private: bool,
    resolver: DefaultResolver,
}

impl CheckedResolver {
    pub(super) fn new(allow_private: bool) -> Self {
        Self { allow_private, resolver: DefaultResolver::default() }
    }
}

impl Resolver for CheckedResolver {
    fn resolve(&self, uri: &Uri, config: &Config, timeout: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let found = self.resolver.resolve(uri, config, timeout)?;
        if !self.allow_private {
            let checked = refuse_private(found.iter().map(std::net::SocketAddr::ip));
            checked.map_err(|error| ureq::Error::Other(Box::new(error)))?;
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_addresses_are_public() {
        let private = [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.9.9.9",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.9.9",
            "198.51.100.7",
            "203.0.113.7",
            "224.0.0.1",
            "239.1.1.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "::7f00:1",
            "64:ff9b::7f00:1",
            "64:ff9b::808:808",
            "64:ff9b:1::1",
            "100::1",
            "fc00::1",
            "fd12:3456::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "2001::1",
            "2001:2::1",
            "2001:20::1",
            "2001:db8::1",
            "2002:7f00:1::1",
            "3fff:0fff::1",
            "4000::1",
            "5f00::1",
        ];
        for address in private {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
        let public = [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.1",
            "100.63.255.255",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "192.167.1.1",
            "198.17.0.1",
            "198.20.0.1",
            "223.255.255.255",
            "2001:4860:4860::8888",
            "2600:1f18::1",
            "2a00:1450::1",
            "3fff:1000::1",
        ];
        for address in public {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn urls_are_checked() {
        assert_eq!(parse("https://example.org/a?b=c").unwrap(), "example.org:443");
        assert_eq!(parse("http://example.org:8080").unwrap(), "example.org:8080");
        assert_eq!(parse("http://[::1]:9/x").unwrap(), "[::1]:9");
        for (url, error) in [
            ("ftp://example.org/", AddressError::Scheme),
            ("file:///etc/passwd", AddressError::Invalid),
            ("javascript:alert(1)", AddressError::Scheme),
            ("example.org", AddressError::Scheme),
            ("/path", AddressError::Scheme),
            ("", AddressError::Invalid),
            ("https://", AddressError::Invalid),
            ("https://a b/", AddressError::Invalid),
            ("https://example.org/#part", AddressError::Invalid),
            ("https://ada:s3cret@example.org/", AddressError::Login),
            ("https://ada@example.org/", AddressError::Login),
            ("https://example.org:0/", AddressError::Invalid),
            ("https://example.org:99999/", AddressError::Invalid),
            ("https://example.org:/", AddressError::Invalid),
        ] {
            assert_eq!(parse(url), Err(error), "{url}");
        }
        let long = format!("https://example.org/{}", "a".repeat(1_981));
        assert_eq!(parse(&long), Err(AddressError::TooLong(2_001)));
        assert!(parse(&long[..2_000]).is_ok());
    }

    #[test]
    fn names_of_this_machine_are_refused() {
        for host in [
            "localhost",
            "127.0.0.1",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "2130706433",
            "0177.0.0.1",
            "0x7f.1",
            "127.1",
            "0.0.0.0",
        ] {
            for url in [format!("http://{host}/"), format!("https://{host}:8443/x")] {
                let checked = check(&url, false);
                assert!(matches!(checked, Err(AddressError::Private(_))), "{url}: {checked:?}");
                assert_eq!(check(&url, true), Ok(()), "{url}");
            }
        }
        assert_eq!(check("https://nothing.invalid/", false), Ok(()), "it has no address now");
    }
}
