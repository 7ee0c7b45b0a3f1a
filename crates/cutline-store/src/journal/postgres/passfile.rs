//! Password files: lines of `host:port:database:user:password`, as `~/.pgpass` has them.

use std::path::Path;

/// Others may read or change the password file, so it is not used.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Exposed;

/// Looks up the password of a connection: of host, port, database and user. `None` if the file does not exist, or no line matches.
pub(super) fn look_up(path: &Path, connection: [&str; 4]) -> Result<Option<String>, Exposed> {
    let Some(metadata) = path.metadata().ok().filter(std::fs::Metadata::is_file) else { return Ok(None) };
    if is_exposed(&metadata) {
        return Err(Exposed);
    }
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let is_same = |(field, value): (&String, &str)| field == "*" || field == value;
    let mut lines = text.lines().filter(|line| !line.starts_with('#')).map(fields);
    let line = lines.find(|fields| fields.len() > 4 && fields.iter().zip(connection).all(is_same));
    Ok(line.map(|mut fields| fields.swap_remove(4)))
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

/// The fields of a line. `\` escapes the next character.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            ':' => fields.push(String::new()),
            '\\' => fields.last_mut().into_iter().for_each(|field| field.extend(chars.next())),
            c => fields.last_mut().into_iter().for_each(|field| field.push(c)),
        }
    }
    fields
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
        let is = |password: &str| Ok(Some(password.into()));
        assert_eq!(found(["h", "5432", "db", "me"]), is("o:n\\e"));
        assert_eq!(found(["h", "5433", "db", "me"]), is("two"));
        assert_eq!(found(["::1", "1", "db", "me"]), is("six"));
        assert_eq!(found(["localhost", "1", "x", "y"]), is("any"));
        std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(0o640)).unwrap();
        assert_eq!(found(["h", "5432", "db", "me"]), Err(Exposed));
        assert_eq!(look_up(Path::new("/nonexistent"), ["h", "1", "d", "u"]), Ok(None));
    }
}
