//! Password files: lines of `host:port:database:user:password`, as `~/.pgpass` has them.

use super::Password;
use std::path::Path;

/// What a password file says of a connection.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Lookup {
    Found(Password),
    /// The file does not exist, or no line matches.
    NotFound,
    /// Others may read or change the file, so it is not used.
    Exposed,
}

/// Looks up the password of a connection: of host, port, database and user.
pub(crate) fn look_up(path: &Path, connection: [&str; 4]) -> Lookup {
    let Ok(metadata) = path.metadata() else { return Lookup::NotFound };
    if !metadata.is_file() {
        return Lookup::NotFound;
    }
    if is_exposed(&metadata) {
        return Lookup::Exposed;
    }
    let Ok(text) = std::fs::read_to_string(path) else { return Lookup::NotFound };
    let mut matching = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let [host, port, database, user, password] = fields(line.trim_end_matches('\r'))?;
        let is_same = |(field, value): (&str, &str)| field == "*" || unescaped(field) == value;
        [host, port, database, user].into_iter().zip(connection).all(is_same).then(|| Password(unescaped(password)))
    });
    matching.next().map_or(Lookup::NotFound, Lookup::Found)
}

#[cfg(unix)]
fn is_exposed(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o077 != 0
}

#[cfg(not(unix))]
fn is_exposed(_: &std::fs::Metadata) -> bool {
    false
}

/// The five fields of a line, still escaped. The last one ends with the line.
fn fields(line: &str) -> Option<[&str; 5]> {
    let mut fields = [""; 5];
    let mut rest = line;
    for field in &mut fields[..4] {
        (*field, rest) = split(rest)?;
    }
    // What follows another colon is ignored, as by libpq.
    fields[4] = split(rest).map_or(rest, |(password, _)| password);
    Some(fields)
}

/// Splits at the first colon that is not escaped.
fn split(text: &str) -> Option<(&str, &str)> {
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            ':' => return Some((&text[..at], &text[at + 1..])),
            _ => (),
        }
    }
    None
}

fn unescaped(field: &str) -> String {
    let mut text = String::new();
    let mut chars = field.chars();
    while let Some(c) = chars.next() {
        text.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn the_first_matching_line_counts() {
        use std::os::unix::fs::PermissionsExt;
        let file = tempfile::NamedTempFile::new().unwrap();
        let text = "# localhost:*:*:*:no\nshort:line\nh:5432:db:me:o\\:n\\\\e:x\n\\:\\:1:*:*:*:six\nh:*:*:me:two\n*:*:*:*:any\n";
        std::fs::write(file.path(), text).unwrap();
        let found = |connection| look_up(file.path(), connection);
        let is = |password: &str| Lookup::Found(Password(password.into()));
        assert_eq!(found(["h", "5432", "db", "me"]), is("o:n\\e"));
        assert_eq!(found(["h", "5433", "db", "me"]), is("two"));
        assert_eq!(found(["::1", "1", "db", "me"]), is("six"));
        assert_eq!(found(["localhost", "1", "x", "y"]), is("any"));
        std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(0o640)).unwrap();
        assert_eq!(found(["h", "5432", "db", "me"]), Lookup::Exposed);
        assert_eq!(look_up(Path::new("/nonexistent"), ["h", "1", "d", "u"]), Lookup::NotFound);
    }
}
