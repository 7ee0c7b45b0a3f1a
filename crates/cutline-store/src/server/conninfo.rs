//! Splits an address into settings, by libpq's two grammars: `postgresql://user:password@host:port/database?key=value` and
//! `key=value key='other value'`.
//!
//! What is wrong with an address is described without quoting it, because any part of it may belong to a password.

use super::keywords::is_keyword;
use crate::LocationError;
use percent_encoding::percent_decode_str;

/// Settings with their values, in the order they were given.
pub(super) type Pairs = Vec<(String, String)>;

fn malformed<T>(what: &'static str) -> Result<T, LocationError> {
    Err(LocationError::Malformed(what))
}

/// The settings of a URL; `rest` is what follows `postgresql://`.
pub(super) fn from_url(rest: &str) -> Result<Pairs, LocationError> {
    let mut pairs = Pairs::new();
    let rest = take_login(rest, &mut pairs)?;
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (servers, rest) = rest.split_at(end);
    take_servers(servers, &mut pairs)?;
    let (database, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    let database = database.strip_prefix('/').unwrap_or(database);
    if database.contains('@') {
        return malformed("write `/` in a password as `%2F`, and `@` in the name of a database as `%40`");
    }
    if !database.is_empty() {
        pairs.push(("dbname".into(), decoded(database)?));
    }
    for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
        match parameter.split_once('=') {
            Some((key, value)) if !value.contains('=') => pairs.push((decoded(key)?, decoded(value)?)),
            Some(_) => return malformed("write `=` in the value of a parameter as `%3D`, and `&` as `%26`"),
            None => return malformed("a parameter after `?` has no `=`; write `&` in a value as `%26`"),
        }
    }
    Ok(pairs)
}

/// Takes user and password off the front of a URL; what follows `@`.
fn take_login<'a>(rest: &'a str, pairs: &mut Pairs) -> Result<&'a str, LocationError> {
    let end = rest.find('/').unwrap_or(rest.len());
    let Some(at) = rest[..end].rfind('@') else { return Ok(rest) };
    let (login, rest) = (&rest[..at], &rest[at + 1..]);
    // `host?user=a@b` or a password with `?` and `=` in it.
    if login.split_once('?').is_some_and(|(_, after)| after.contains('=')) {
        return malformed("write `@` in a parameter as `%40`, and `?` in a password as `%3F`");
    }
    let (user, password) = login.split_once(':').map_or((login, None), |(user, password)| (user, Some(password)));
    if !user.is_empty() {
        pairs.push(("user".into(), decoded(user)?));
    }
    if let Some(password) = password.filter(|password| !password.is_empty()) {
        pairs.push(("password".into(), decoded(password)?));
    }
    Ok(rest)
}

/// Adds the servers of a URL, `host:port` separated by commas.
fn take_servers(servers: &str, pairs: &mut Pairs) -> Result<(), LocationError> {
    if servers.is_empty() {
        return Ok(());
    }
    let (mut hosts, mut ports) = (Vec::new(), Vec::new());
    for server in servers.split(',') {
        let (host, port) = match server.strip_prefix('[').map(|server| server.split_once(']')) {
            Some(Some((host, ""))) => (host, ""),
            Some(Some((host, port))) if port.starts_with(':') => (host, &port[1..]),
            Some(_) => return malformed("an IPv6 address is written as `[::1]:5432`"),
            None => server.split_once(':').unwrap_or((server, "")),
        };
        hosts.push(decoded(host)?);
        ports.push(decoded(port)?);
    }
    if hosts.iter().any(|host| !host.is_empty()) {
        pairs.push(("host".into(), hosts.join(",")));
    }
    if ports.iter().any(|port| !port.is_empty()) {
        pairs.push(("port".into(), ports.join(",")));
    }
    Ok(())
}

fn decoded(text: &str) -> Result<String, LocationError> {
    match percent_decode_str(text).decode_utf8() {
        Ok(text) if text.contains('\0') => malformed("it contains a zero byte"),
        Ok(text) => Ok(text.into_owned()),
        Err(_) => malformed("it is not UTF-8 after percent-decoding"),
    }
}

/// The settings of `key=value` pairs; `None` if the text is something else, such as a path.
pub(super) fn from_pairs(text: &str) -> Option<Result<Pairs, LocationError>> {
    let (first, _) = text.split_once('=')?;
    let first = first.trim();
    if first.is_empty() || !first.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return None;
    }
    let pairs = split_pairs(text);
    let is_known = |pairs: &Pairs| pairs.iter().any(|(key, _)| is_keyword(key));
    (is_keyword(first) || pairs.as_ref().is_ok_and(is_known)).then_some(pairs)
}

fn split_pairs(text: &str) -> Result<Pairs, LocationError> {
    let mut pairs = Pairs::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let Some((key, value)) = rest.split_once('=') else { return malformed("a setting has no `=`") };
        let key = key.trim_end();
        if key.contains(char::is_whitespace) {
            return malformed("a setting has no `=`; write a value with spaces in it as 'value'");
        }
        let (value, after) = split_value(value.trim_start())?;
        if value.contains('\0') {
            return malformed("it contains a zero byte");
        }
        pairs.push((key.into(), value));
        rest = after.trim_start();
    }
    Ok(pairs)
}

/// The value at the front of the text, which may be in quotes, and the text after it. `\` escapes the next character.
fn split_value(text: &str) -> Result<(String, &str), LocationError> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn url(rest: &str) -> Vec<(String, String)> {
        from_url(rest).unwrap()
    }

    fn pairs(expected: &[(&str, &str)]) -> Pairs {
        expected.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
    }

    #[test]
    fn urls() {
        assert_eq!(url(""), []);
        assert_eq!(url("/db"), pairs(&[("dbname", "db")]));
        assert_eq!(
            url("me:se%20cret@h:5433/d%2Fb?sslmode=require&password=a%26b"),
            pairs(&[
                ("user", "me"),
                ("password", "se cret"),
                ("host", "h"),
                ("port", "5433"),
                ("dbname", "d/b"),
                ("sslmode", "require"),
                ("password", "a&b")
            ])
        );
        assert_eq!(url("me:p?w@h"), pairs(&[("user", "me"), ("password", "p?w"), ("host", "h")]));
        assert_eq!(url("me:p@w@h/d"), pairs(&[("user", "me"), ("password", "p@w"), ("host", "h"), ("dbname", "d")]));
        assert_eq!(url("a:1,[::1]:2,c/d"), pairs(&[("host", "a,::1,c"), ("port", "1,2,"), ("dbname", "d")]));
        assert_eq!(url("%2Fvar%2Frun/d"), pairs(&[("host", "/var/run"), ("dbname", "d")]));
    }

    #[test]
    fn key_value_pairs() {
        let text = r"host = a.b  password='it\'s \\ it' user=me dbname=";
        let expected = [("host", "a.b"), ("password", r"it's \ it"), ("user", "me"), ("dbname", "")];
        assert_eq!(from_pairs(text).unwrap().unwrap(), pairs(&expected));
        assert!(from_pairs("unknown=1 password=x").is_some());
        for path in ["screen.db", "a=b.db", "my host=x.db", "./host=x", "=x", "a b"] {
            assert!(from_pairs(path).is_none(), "{path}");
        }
        assert!(from_pairs("host=a password='x").unwrap().is_err());
        assert!(from_pairs("host=a b c=d").unwrap().is_err());
    }

    /// No part of an address that cannot be understood is repeated: it may be a password.
    #[test]
    fn errors_quote_nothing() {
        let addresses = [
            "h?password=SEC@RET",
            "me:SEC/RET@h/db",
            "me:SEC?R=ET@h/db",
            "h/d?password=SEC=RET",
            "h/d?SECRET",
            "[SECRET",
        ];
        for address in addresses {
            let message = from_url(address).unwrap_err().to_string();
            assert!(!message.contains("SEC") && !message.contains("RET"), "{message}");
        }
    }
}
