//! Which SQLite databases this process has open.
//!
//! When a process closes a file, POSIX takes away all locks that the process has on it, also those of other descriptors. So whoever opens
//! and closes the file of a database, only to look at it, takes away the locks of the connections in the same process, and the next process
//! that closes the database believes to be its last user and deletes the write-ahead log.

use super::open_files::{FileId, file_id};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many connections this process has, by file.
static IN_USE: Mutex<BTreeMap<FileId, usize>> = Mutex::new(BTreeMap::new());

/// The databases in use. As long as this exists, no other thread begins to use one.
pub(super) struct Databases(MutexGuard<'static, BTreeMap<FileId, usize>>);

/// A database in use, until this is dropped. It has to be dropped after the connection, and not while the same thread has [`Databases`].
pub(super) struct Used(Option<FileId>);

fn lock() -> MutexGuard<'static, BTreeMap<FileId, usize>> {
    IN_USE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn id_of(path: &Path) -> Option<FileId> {
    path.metadata().ok().map(|metadata| file_id(&metadata))
}

impl Databases {
    pub(super) fn lock() -> Self {
        Self(lock())
    }

    /// Whether this process uses the database at a path.
    pub(super) fn has(&self, path: &Path) -> bool {
        // Elsewhere files are not told apart, and locks belong to descriptors.
        cfg!(unix) && id_of(path).is_some_and(|id| self.0.contains_key(&id))
    }

    /// Notes that the database at a path is used from now on.
    pub(super) fn enter(mut self, path: &Path) -> Used {
        let id = id_of(path);
        if let Some(id) = id {
            *self.0.entry(id).or_default() += 1;
        }
        Used(id)
    }
}

impl Drop for Used {
    fn drop(&mut self) {
        let Some(id) = self.0 else { return };
        let mut in_use = lock();
        if let Some(connections) = in_use.get_mut(&id) {
            *connections -= 1;
            if *connections == 0 {
                in_use.remove(&id);
            }
        }
    }
}
