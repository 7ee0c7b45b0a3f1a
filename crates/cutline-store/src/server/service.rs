//! Service files: named groups of settings, as `pg_service.conf` has them.

use super::Variable;
use super::conninfo::Pairs;
use super::keywords::is_keyword;
use crate::LocationError;
use std::path::PathBuf;

/// Where the files of a package or an administrator are.
const SYSTEM: &str = "/etc/postgresql-common";

/// The settings of a service. The user's file is `PGSERVICEFILE` or `~/.pg_service.conf`; the system's is in `PGSYSCONFDIR`.
pub(super) fn settings(name: &str, variable: &Variable<'_>) -> Result<Pairs, LocationError> {
    let of_user = variable("PGSERVICEFILE").map(PathBuf::from);
    let of_user = of_user.or_else(|| variable("HOME").map(|home| PathBuf::from(home).join(".pg_service.conf")));
    let of_system = PathBuf::from(variable("PGSYSCONFDIR").unwrap_or_else(|| SYSTEM.into())).join("pg_service.conf");
    for path in of_user.into_iter().chain([of_system]) {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let bad_line = |line| LocationError::ServiceFile { path: path.display().to_string(), line };
        if let Some(pairs) = group(&text, name).map_err(bad_line)? {
            return Ok(pairs);
        }
    }
    Err(LocationError::Service(name.into()))
}

/// The settings in `[name]`; the number of a line that is no setting is an error.
fn group(text: &str, name: &str) -> Result<Option<Pairs>, usize> {
    let mut found: Option<Pairs> = None;
    let mut is_inside = false;
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(group) = line.strip_prefix('[') {
            if found.is_some() {
                break;
            }
            is_inside = group.strip_suffix(']') == Some(name);
            if is_inside {
                found = Some(Pairs::new());
            }
        } else if is_inside {
            let (key, value) = line.split_once('=').ok_or(number)?;
            // As in libpq, a service cannot refer to another.
            if key == "service" || !is_keyword(key) {
                return Err(number);
            }
            found.get_or_insert_default().push((key.into(), value.into()));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_found_among_others() {
        let text = "# all\n[a]\nhost=x\n\n[b]\n# here\nhost=y\nport=1\n[b]\nport=2\n";
        let expected = vec![("host".to_string(), "y".to_string()), ("port".to_string(), "1".to_string())];
        assert_eq!(group(text, "b"), Ok(Some(expected)));
        assert_eq!(group(text, "c"), Ok(None));
        assert_eq!(group("[a]\nhost\n", "a"), Err(2));
        assert_eq!(group("[a]\nhots=x\n", "a"), Err(2));
        assert_eq!(group("[a]\nservice=b\n", "a"), Err(2));
    }
}
