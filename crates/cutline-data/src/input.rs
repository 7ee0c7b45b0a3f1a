//! Input files: regular files, up to a size beyond which reading them would only fill the memory.
//!
//! The limit is one of the process, like those of `ulimit`, and counts what a compressed file decompresses to.

use std::fs::File;
use std::io::{Error, Read, Result};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use thiserror::Error;

/// The limit unless it is changed: 8 GiB.
pub const DEFAULT_MAX_SIZE: u64 = 8 << 30;

static MAX_SIZE: AtomicU64 = AtomicU64::new(DEFAULT_MAX_SIZE);

/// Why an input was refused; the source of an [`std::io::Error`].
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum InputError {
    /// It is not a regular file, but this.
    #[error("it is {0}, not a file")]
    NotAFile(&'static str),
    /// It is larger than the limit.
    #[error("it is larger than {}{}", size(*.most), if *.is_decompressed { " once decompressed" } else { "" })]
    TooLarge {
        /// The limit.
        most: u64,
        /// Whether that is the size of what it decompresses to.
        is_decompressed: bool,
    },
}

impl InputError {
    /// The input error that an error of reading wraps, if it does.
    #[must_use]
    pub fn of(error: &Error) -> Option<Self> {
        error.get_ref()?.downcast_ref().copied()
    }
}

/// Changes the limit, for all files that are read from here on.
pub fn set_max_size(bytes: u64) {
    MAX_SIZE.store(bytes, Ordering::Relaxed);
}

/// The limit in bytes.
#[must_use]
pub fn max_size() -> u64 {
    MAX_SIZE.load(Ordering::Relaxed)
}

/// A number of bytes in words.
fn size(bytes: u64) -> String {
    let units = [(1_u64 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let whole = units.iter().find(|(unit, _)| bytes > 0 && bytes.is_multiple_of(*unit));
    whole.map_or_else(|| format!("{bytes} bytes"), |(unit, name)| format!("{} {name}", bytes / unit))
}

/// Opens a file, unless it is too large, or something that may block or never end: a pipe, a socket or a device.
///
/// # Errors
/// If it cannot be opened or is refused.
pub fn open(path: &Path) -> Result<File> {
    let metadata = std::fs::metadata(path)?;
    // Reading a directory fails with an error that says so.
    if !metadata.is_file() && !metadata.is_dir() {
        return Err(Error::other(InputError::NotAFile(kind(metadata.file_type()))));
    }
    check_size(metadata.len(), false)?;
    File::open(path)
}

/// Refuses a size beyond the limit.
///
/// # Errors
/// If the limit is exceeded.
pub(crate) fn check_size(bytes: u64, is_decompressed: bool) -> Result<()> {
    let most = max_size();
    if bytes > most { Err(Error::other(InputError::TooLarge { most, is_decompressed })) } else { Ok(()) }
}

/// The bytes of a file.
///
/// # Errors
/// As [`open`], and if it cannot be read.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    read_all(open(path)?)
}

/// The bytes of stdin, up to its end.
///
/// # Errors
/// If it cannot be read, or is larger than the limit.
pub fn read_stdin() -> Result<Vec<u8>> {
    read_all(std::io::stdin().lock())
}

fn read_all(stream: impl Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    Limited::new(stream, false).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A stream that fails once more was read from it than the limit allows.
pub(crate) struct Limited<R> {
    stream: R,
    left: u64,
    is_decompressed: bool,
}

impl<R: Read> Limited<R> {
    pub(crate) fn new(stream: R, is_decompressed: bool) -> Self {
        Self { stream, left: max_size(), is_decompressed }
    }
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let n = self.stream.read(buffer)?;
        self.left = self.left.checked_sub(n as u64).ok_or_else(|| {
            Error::other(InputError::TooLarge { most: max_size(), is_decompressed: self.is_decompressed })
        })?;
        Ok(n)
    }
}

#[cfg(unix)]
fn kind(file: std::fs::FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    if file.is_fifo() {
        "a pipe"
    } else if file.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

#[cfg(not(unix))]
fn kind(_: std::fs::FileType) -> &'static str {
    "a device"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        let sizes = [DEFAULT_MAX_SIZE, 3 << 40, 1 << 20, 5 << 10, 1025, 0].map(size);
        assert_eq!(sizes, ["8 GiB", "3 TiB", "1 MiB", "5 KiB", "1025 bytes", "0 bytes"]);
    }

    #[test]
    fn a_stream_without_an_end_is_cut_off() {
        let mut limited = Limited { stream: std::io::repeat(0), left: 1000, is_decompressed: true };
        let error = limited.read_to_end(&mut Vec::new()).unwrap_err();
        assert!(matches!(InputError::of(&error), Some(InputError::TooLarge { is_decompressed: true, .. })), "{error}");
        let mut exact = Limited { stream: std::io::repeat(0).take(1000), left: 1000, is_decompressed: false };
        assert_eq!(exact.read_to_end(&mut Vec::new()).unwrap(), 1000);
    }

    #[cfg(unix)]
    #[test]
    fn devices_and_sockets_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let socket = directory.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let refused = |path: &Path| read(path).unwrap_err().to_string();
        assert_eq!(refused(Path::new("/dev/zero")), "it is a device, not a file");
        assert_eq!(refused(&socket), "it is a socket, not a file");
    }
}
