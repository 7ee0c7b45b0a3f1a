//! Addresses of stores.

use cutline_store::Store;
use std::path::Path;

/// Reads an address. Nothing is opened or connected to.
pub fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let file = Store::file(text);
    assert!(file.as_ref().is_none_or(|file| !file.as_os_str().is_empty()), "a file has a name");
    // A path without a character that means anything in a URL is a path.
    let is_path = !text.is_empty() && !text.contains([':', '?', '=', '&', '%', '#', '\0']);
    if is_path {
        assert_eq!(file.as_deref(), Some(Path::new(text)), "a path is taken as it is");
        for (settings, is_valid) in
            [("", true), ("?durability=full", true), ("?durability=normal", true), ("?durability=never", false)]
        {
            let path = Some(Path::new(text)).filter(|_| is_valid);
            assert_eq!(Store::file(&format!("{text}{settings}")).as_deref(), path, "{settings}");
            assert_eq!(Store::file(&format!("sqlite:///{text}{settings}")).as_deref(), path, "{settings} in a URL");
        }
        for server in ["postgresql://", "postgres://", "mysql://", "http://"] {
            assert_eq!(Store::file(&format!("{server}{text}")), None);
        }
    }
}
