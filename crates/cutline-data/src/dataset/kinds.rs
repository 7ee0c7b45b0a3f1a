//! What a file is, by its first bytes.

use super::parquet::MAGIC;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum FileKind {
    /// Text, CSV as far as its beginning shows.
    Text,
    /// Text that is compressed with gzip.
    Gzip,
    /// Parquet.
    Parquet,
    /// A zip archive, as an Excel file is.
    Zip,
    /// Something that is not a table, in words.
    Other(&'static str),
}

/// How many bytes of a file are looked at.
pub(super) const LENGTH: usize = 64;

/// The first bytes of files that are no tables, or tables in a format that is not read.
const OTHERS: [(&[u8], &str); 20] = [
    (b"%PDF", "a PDF file"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Excel file of the old kind (.xls)"),
    (b"ARROW1", "an Arrow file (Feather)"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x93NUMPY", "a NumPy file"),
    (b"\x80\x04", "a pickle of Python"),
    (b"\x80\x05", "a pickle of Python"),
    (b"RDX", "an R data file"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"BZh", "a file compressed with bzip2"),
    (b"\xfd7zXZ", "a file compressed with xz"),
    (b"\x28\xb5\x2f\xfd", "a file compressed with Zstandard"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"\x7fELF", "a program"),
    (b"\xff\xfe", "text in UTF-16 instead of UTF-8"),
    (b"\xfe\xff", "text in UTF-16 instead of UTF-8"),
    (b"{\\rtf", "an RTF document"),
];

/// The kind of a file that begins with these bytes.
pub(super) fn kind(start: &[u8]) -> FileKind {
    if start.starts_with(MAGIC) {
        return FileKind::Parquet;
    }
    if start.starts_with(b"\x1f\x8b") {
        return FileKind::Gzip;
    }
    if start.starts_with(b"PK\x03\x04") {
        return FileKind::Zip;
    }
    if let Some((_, what)) = OTHERS.iter().find(|(first, _)| start.starts_with(first)) {
        return FileKind::Other(what);
    }
    markup(start.trim_ascii_start()).map_or(FileKind::Text, FileKind::Other)
}

/// What a file is that is not plain text; `None` if it is.
pub(crate) fn other_kind(bytes: &[u8]) -> Option<&'static str> {
    match kind(&bytes[..bytes.len().min(LENGTH)]) {
        FileKind::Text => None,
        FileKind::Gzip => Some("a file compressed with gzip"),
        FileKind::Parquet => Some("a Parquet file"),
        FileKind::Zip if zip_kind(bytes) == "a zip archive" => Some("an Excel file or another zip archive"),
        FileKind::Zip => Some(zip_kind(bytes)),
        FileKind::Other(what) => Some(what),
    }
}

/// Text that is JSON, HTML or XML.
fn markup(start: &[u8]) -> Option<&'static str> {
    let lower = start.to_ascii_lowercase();
    let second = start.get(1..).unwrap_or_default().trim_ascii_start().first();
    match start.first() {
        Some(b'{') if second == Some(&b'"') => Some("JSON"),
        Some(b'[') if matches!(second, Some(b'{' | b'[')) => Some("JSON"),
        _ if lower.starts_with(b"<!doctype html") || lower.starts_with(b"<html") => Some("a web page (HTML)"),
        _ if lower.starts_with(b"<?xml") => Some("XML"),
        _ => None,
    }
}

/// What a zip archive is that is no Excel file: its first entry gives it away.
pub(super) fn zip_kind(bytes: &[u8]) -> &'static str {
    let start = &bytes[..bytes.len().min(100)];
    let contains = |text: &[u8]| start.windows(text.len()).any(|window| window == text);
    if contains(b"opendocument.spreadsheet") { "an OpenDocument spreadsheet (.ods)" } else { "a zip archive" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_text_are_not_mistaken() {
        for text in ["", "a,b\n", "[mg],b\n1,2\n", "{a},b\n", "<x>,y\n", "\"a\",b\n", "\u{feff}a,b\n", "PK,a\n"] {
            assert_eq!(kind(text.as_bytes()), FileKind::Text, "{text}");
        }
        assert_eq!(kind(b"[\n{\"number\":1}"), FileKind::Other("JSON"));
        assert_eq!(kind(b"{ \"a\": 1}"), FileKind::Other("JSON"));
        assert_eq!(kind(b"\n<!DOCTYPE HTML>"), FileKind::Other("a web page (HTML)"));
    }
}
