//! Files that are written whole or not at all.

use crate::failure::Failure;
use crate::interrupt;
use std::fs::File;
use std::io::{BufWriter, Write};
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
            whole(&path, |file| file.write_all(bytes)).map_err(|error| Failure::Write { path, error })?;
        }
        Ok(())
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }
}

/// Writes one file. What is there and no file, as a pipe or a device, is written to as it is.
pub(crate) fn write_file(
    path: &Path,
    write: impl FnOnce(&mut (dyn Write + Send)) -> std::io::Result<()>,
) -> Result<(), Failure> {
    let _guard = interrupt::hold();
    let done = if path.metadata().is_ok_and(|there| !there.is_file()) {
        File::options().write(true).open(path).and_then(|file| buffered(file, write))
    } else {
        whole(path, |file| buffered(file, write))
    };
    done.map_err(|error| Failure::Write { path: path.into(), error })
}

fn buffered(
    file: impl Write + Send,
    write: impl FnOnce(&mut (dyn Write + Send)) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let mut file = BufWriter::new(file);
    write(&mut file)?;
    file.flush()
}

/// A file as a whole: it appears under its name once all of it is on the disk.
fn whole(path: &Path, write: impl FnOnce(&mut File) -> std::io::Result<()>) -> std::io::Result<()> {
    let mut temporary = tempfile::Builder::new();
    // A temporary file is its owner's alone; this one is to become an ordinary one, as the umask has it.
    #[cfg(unix)]
    temporary.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = temporary.tempfile_in(directory)?;
    write(file.as_file_mut())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}
