//! Files that are written whole or not at all.

use crate::failure::Failure;
use crate::interrupt;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A directory that results go to.
pub(crate) struct Output {
    directory: PathBuf,
}

impl Output {
    /// Makes the directory and tries to write there, so that a wrong place is known before the work and not after it.
    pub(crate) fn new(directory: &Path) -> Result<Self, Failure> {
        let _guard = interrupt::hold();
        let failed = |error| Failure::Write { path: directory.into(), error };
        std::fs::create_dir_all(directory).map_err(failed)?;
        tempfile::NamedTempFile::new_in(directory).map_err(failed)?;
        Ok(Self { directory: directory.into() })
    }

    /// Writes all files, or as many as the disk takes; none is left half-written.
    pub(crate) fn write(&self, files: &[(String, Vec<u8>)]) -> Result<(), Failure> {
        let _guard = interrupt::hold();
        for (name, bytes) in files {
            let path = self.directory.join(name);
            self.write_one(&path, bytes).map_err(|error| Failure::Write { path, error })?;
        }
        Ok(())
    }

    fn write_one(&self, path: &Path, bytes: &[u8]) -> std::io::Result<()> {
        let mut temporary = tempfile::Builder::new();
        // A temporary file is its owner's alone; this one is to become an ordinary one, as the umask has it.
        #[cfg(unix)]
        temporary.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut file = temporary.tempfile_in(&self.directory)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        Ok(())
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }
}
