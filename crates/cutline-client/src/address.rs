//! The address of a server, `http://HOST:PORT`, or of a campaign on it, `http://HOST:PORT/v1/campaigns/NAME`.

use cutline_campaign::LocationError;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::fmt;
use std::str::FromStr;

/// The part of an address between the server and the name of the campaign.
const CAMPAIGNS: &str = "/v1/campaigns";

/// The characters of a name that are escaped in an address.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The address of a server or of a campaign on it, and the token to show there.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpAddress {
    /// The address of the server, and of its directory if it is not at the root.
    server: String,
    /// The campaign; `None` for all of the server.
    pub(crate) name: Option<String>,
    pub(crate) token: Option<String>,
}

impl HttpAddress {
    /// Reads an address; `None` if its scheme is another one. The token is in the variable `CUTLINE_TOKEN`, if there is one.
    ///
    /// # Errors
    /// If it is neither that of a server nor that of a campaign on it, or contains a login.
    pub fn parse(address: &str, variable: &dyn Fn(&str) -> Option<String>) -> Option<Result<Self, LocationError>> {
        let (scheme, rest) = address.split_once("://")?;
        let is_http = ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
        is_http.then(|| Self::read(scheme, rest, variable("CUTLINE_TOKEN")))
    }

    fn read(scheme: &str, rest: &str, token: Option<String>) -> Result<Self, LocationError> {
        let (server, name) = rest.split_once(CAMPAIGNS).unwrap_or_else(|| (rest.trim_end_matches('/'), ""));
        let is_directory = rest.contains(CAMPAIGNS);
        if server.is_empty() || server.contains(['?', '#']) || (server.contains('/') && !is_directory) {
            return Err(LocationError::NoCampaignInUrl);
        }
        if server.contains('@') {
            return Err(LocationError::LoginInUrl);
        }
        let name = match name.strip_suffix('/').unwrap_or(name) {
            "" => None,
            name => Some(campaign_name(name).ok_or(LocationError::NoCampaignInUrl)?),
        };
        let server = format!("{}://{server}", scheme.to_ascii_lowercase());
        Ok(Self { server, name, token: None }.with_token(&token.unwrap_or_default()))
    }

    /// The same address with this token; an empty one is none.
    #[must_use]
    pub fn with_token(self, token: &str) -> Self {
        let token = token.trim();
        Self { token: (!token.is_empty()).then(|| token.to_owned()), ..self }
    }

    /// The address of a campaign on the same server.
    #[must_use]
    pub fn of(&self, name: &str) -> Self {
        Self { name: Some(name.into()), ..self.clone() }
    }

    /// The address of the list of campaigns on the same server.
    pub(crate) fn of_all(&self) -> Self {
        Self { name: None, ..self.clone() }
    }

    /// The campaign; `None` for all of the server.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The address of the server, without the list of campaigns.
    pub(crate) fn server(&self) -> &str {
        &self.server
    }

    /// The address with `/path` or `?query` behind it.
    pub(crate) fn url(&self, path: &str) -> String {
        let separator = if path.is_empty() || path.starts_with('?') { "" } else { "/" };
        format!("{self}{separator}{path}")
    }

    /// Whether the server is on this machine, where no proxy leads.
    pub(crate) fn is_local(&self) -> bool {
        let host = self.server.split("://").nth(1).unwrap_or_default();
        let host = host.split('/').next().unwrap_or_default();
        ["localhost", "127.", "[::1]"].iter().any(|local| host.starts_with(local))
    }
}

impl FromStr for HttpAddress {
    type Err = LocationError;

    fn from_str(address: &str) -> Result<Self, LocationError> {
        let variable = |name: &str| std::env::var(name).ok();
        Self::parse(address, &variable).unwrap_or(Err(LocationError::NoCampaignInUrl))
    }
}

/// Without the token.
impl fmt::Display for HttpAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{CAMPAIGNS}", self.server)?;
        self.name.as_ref().map_or(Ok(()), |name| write!(f, "/{}", escaped(name)))
    }
}

/// A text as a part of an address: every byte that could have a meaning there is escaped.
#[must_use]
pub fn escaped(text: &str) -> impl fmt::Display + '_ {
    utf8_percent_encode(text, ESCAPED)
}

/// The name in the part of an address after the list of campaigns.
fn campaign_name(escaped: &str) -> Option<String> {
    let name = escaped.strip_prefix('/').filter(|name| !name.is_empty() && !name.contains(['/', '?', '#']))?;
    Some(percent_decode_str(name).decode_utf8().ok()?.into_owned())
}

/// Without the token.
impl fmt::Debug for HttpAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(address: &str) -> Option<Result<HttpAddress, LocationError>> {
        HttpAddress::parse(address, &|_| Some(" secret\n".into()))
    }

    #[test]
    fn addresses_of_campaigns_are_understood() {
        let address = parsed("HTTP://h:8080/lab/v1/campaigns/a%20b%2Fc/").unwrap().unwrap();
        assert_eq!((address.name.as_deref(), address.token.as_deref()), (Some("a b/c"), Some("secret")));
        assert_eq!(address.url(""), "http://h:8080/lab/v1/campaigns/a%20b%2Fc");
        assert_eq!(address.url("asks"), "http://h:8080/lab/v1/campaigns/a%20b%2Fc/asks");
        assert!(!format!("{address} {address:?}").contains("secret"));
        assert!(!address.is_local());
        assert!(parsed("http://127.0.0.1:8080/v1/campaigns/a").unwrap().unwrap().is_local());
        assert_eq!(address.with_token(" ").token, None);
        for other in ["screen.db", "postgresql://h/v1/campaigns/a", "httpx://h/v1/campaigns/a"] {
            assert!(parsed(other).is_none(), "{other}");
        }
    }

    #[test]
    fn addresses_of_servers_are_understood() {
        for (address, shown) in [
            ("http://h", "http://h/v1/campaigns"),
            ("https://h:8443/", "https://h:8443/v1/campaigns"),
            ("http://h/v1/campaigns", "http://h/v1/campaigns"),
            ("http://h/lab/v1/campaigns/", "http://h/lab/v1/campaigns"),
        ] {
            let address = parsed(address).unwrap().unwrap();
            assert_eq!((address.name.as_deref(), address.to_string().as_str()), (None, shown));
            assert_eq!(address.url("?limit=1"), format!("{shown}?limit=1"));
            assert_eq!(address.of("a b").url("arms"), format!("{shown}/a%20b/arms"));
            assert!(address.of("a").server() == address.server() && address.of("a").of_all() == address);
        }
    }

    #[test]
    fn other_addresses_of_servers_are_refused() {
        for address in [
            "http://",
            "http:///",
            "http://h/lab",
            "http://h/campaigns/a",
            "http://h?a=1",
            "http://h/v1/campaignsa",
            "http://h/v1/campaigns//",
            "https:///v1/campaigns/a",
            "http://h/v1/campaigns/a/asks",
        ] {
            assert_eq!(parsed(address), Some(Err(LocationError::NoCampaignInUrl)), "{address}");
        }
        assert_eq!(parsed("http://me:secret@h/v1/campaigns/a"), Some(Err(LocationError::LoginInUrl)));
    }
}
