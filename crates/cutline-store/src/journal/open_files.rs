//! Whether the files of an open SQLite database are still the ones at its path.
//!
//! A process keeps writing to a file that was deleted, and everything it writes is lost when it ends. This is detected by device and
//! inode numbers: while a file is open, no other file gets its inode.

use crate::StoreError;
use std::fs::Metadata;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The files of an open database, as they were when it was opened.
pub(super) struct OpenFiles(Vec<(PathBuf, FileId)>);

#[cfg(unix)]
pub(super) type FileId = (u64, u64);

#[cfg(unix)]
pub(super) fn file_id(metadata: &Metadata) -> FileId {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

/// Other systems do not allow an open file to be deleted or replaced, so it is enough that the file exists.
#[cfg(not(unix))]
pub(super) type FileId = ();

#[cfg(not(unix))]
pub(super) fn file_id(_: &Metadata) -> FileId {}

impl OpenFiles {
    /// Those of these files that exist.
    pub(super) fn new(files: impl IntoIterator<Item = PathBuf>) -> Self {
        let id = |path: PathBuf| path.metadata().ok().map(|metadata| (path, file_id(&metadata)));
        Self(files.into_iter().filter_map(id).collect())
    }

    /// Fails if a file is no longer at its path.
    pub(super) fn check(&self, location: &str) -> Result<(), StoreError> {
        self.0.iter().try_for_each(|(path, id)| check(path, *id, location))
    }
}

fn check(path: &Path, id: FileId, location: &str) -> Result<(), StoreError> {
    let found = path.metadata();
    if found.as_ref().is_ok_and(|metadata| file_id(metadata) == id) {
        return Ok(());
    }
    let (location, file) = (location.to_owned(), path.display().to_string());
    match found {
        Ok(_) => Err(StoreError::Replaced { location, file }),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Err(StoreError::Vanished { location, file })
        }
        Err(error) => {
            let what = format!("cannot check whether {file} is still there: {error}");
            Err(StoreError::Database { location, what })
        }
    }
}
