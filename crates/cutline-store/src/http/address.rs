//! The address of a campaign on a server: `http://HOST:PORT/v1/campaigns/NAME`.

use crate::LocationError;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::fmt;

/// The part of an address between the server and the name of the campaign.
const CAMPAIGNS: &str = "/v1/campaigns/";

/// The characters of a name that are escaped in an address.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The address of a campaign on a server, and the token to show there.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct HttpAddress {
    /// The address of the server, and of its directory if it is not at the root.
    server: String,
    pub(crate) name: String,
    pub(crate) token: Option<String>,
}

impl HttpAddress {
    /// Reads an address; `None` if it is of another kind. The token is in the variable `CUTLINE_TOKEN`, if there is one.
    pub(crate) fn parse(
        address: &str,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Option<Result<Self, LocationError>> {
        let (scheme, rest) = address.split_once("://")?;
        let is_http = ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
        is_http.then(|| Self::read(scheme, rest, variable("CUTLINE_TOKEN")))
    }

    fn read(scheme: &str, rest: &str, token: Option<String>) -> Result<Self, LocationError> {
        let (server, name) = rest.split_once(CAMPAIGNS).ok_or(LocationError::NoCampaignInUrl)?;
        let name = name.strip_suffix('/').unwrap_or(name);
        if server.is_empty() || name.is_empty() || name.contains(['/', '?', '#']) {
            return Err(LocationError::NoCampaignInUrl);
        }
        if server.contains('@') {
            return Err(LocationError::LoginInUrl);
        }
        let name = percent_decode_str(name).decode_utf8().map_err(|_| LocationError::NoCampaignInUrl)?.into_owned();
        let server = format!("{}://{server}", scheme.to_ascii_lowercase());
        Ok(Self { server, name, token: None }.with_token(&token.unwrap_or_default()))
    }

    /// The same address with this token; an empty one is none.
    pub(crate) fn with_token(self, token: &str) -> Self {
        let token = token.trim();
        Self { token: (!token.is_empty()).then(|| token.to_owned()), ..self }
    }

    /// The address with `/path` behind it.
    pub(crate) fn url(&self, path: &str) -> String {
        let separator = if path.is_empty() { "" } else { "/" };
        format!("{self}{separator}{path}")
    }

    /// Whether the server is on this machine, where no proxy leads.
    pub(crate) fn is_local(&self) -> bool {
        let host = self.server.split("://").nth(1).unwrap_or_default();
        let host = host.split('/').next().unwrap_or_default();
        ["localhost", "127.", "[::1]"].iter().any(|local| host.starts_with(local))
    }
}

/// Without the token.
impl fmt::Display for HttpAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{CAMPAIGNS}{}", self.server, utf8_percent_encode(&self.name, ESCAPED))
    }
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
        assert_eq!((address.name.as_str(), address.token.as_deref()), ("a b/c", Some("secret")));
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
    fn other_addresses_of_servers_are_refused() {
        for address in [
            "http://h",
            "http://h/v1/campaigns",
            "http://h/v1/campaigns/",
            "https:///v1/campaigns/a",
            "http://h/v1/campaigns/a/asks",
        ] {
            assert_eq!(parsed(address), Some(Err(LocationError::NoCampaignInUrl)), "{address}");
        }
        assert_eq!(parsed("http://me:secret@h/v1/campaigns/a"), Some(Err(LocationError::LoginInUrl)));
    }
}
