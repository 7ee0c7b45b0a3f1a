//! Files that are written whole or not at all, and never over a store or an input of the command.

use crate::failure::Failure;
use crate::interrupt;
use crate::print::note;
use cutline_store::Store;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// The suffixes of the journal files that SQLite keeps beside a database.
const JOURNAL_SUFFIXES: [&str; 3] = ["-wal", "-shm", "-journal"];

/// The files that a command reads. None of its output files may replace one of them, or another one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inputs {
    files: Vec<PathBuf>,
    outputs: Vec<PathBuf>,
}

impl Inputs {
    /// These files.
    pub(crate) fn files<'a>(files: impl IntoIterator<Item = &'a Path>) -> Self {
        Self { files: files.into_iter().map(Path::to_owned).collect(), outputs: Vec::new() }
    }

    /// The same, for an output beside these others of the same command.
    pub(crate) fn with_outputs<'a>(self, outputs: impl IntoIterator<Item = &'a PathBuf>) -> Self {
        Self { outputs: outputs.into_iter().cloned().collect(), ..self }
    }

    /// The file of a store with its journal files; nothing for a database on a server.
    pub(crate) fn store(address: &str) -> Self {
        let Some(file) = Store::file(address) else { return Self::default() };
        // SQLite keeps the journal files beside the file itself, not beside a symbolic link to it.
        let resolved = file.canonicalize();
        let names: Vec<PathBuf> = [file].into_iter().chain(resolved).collect();
        let journals = names.iter().flat_map(|file| JOURNAL_SUFFIXES.map(|suffix| with_suffix(file, suffix)));
        Self { files: journals.chain(names.iter().cloned()).collect(), outputs: Vec::new() }
    }

    /// Refuses a path whose file must stay as it is: a store, a journal file of one, an input of the command or another output of it. Refuses
    /// `-` too, which others take for stdout.
    pub(crate) fn check(&self, path: &Path) -> Result<(), Failure> {
        let refuse = |what| Err(Failure::Overwrite { path: path.into(), what });
        check_dash(path)?;
        if is_database(path) {
            refuse("a store")
        } else if is_journal(path) {
            refuse("a journal file of a store")
        } else if self.files.iter().any(|input| is_same(path, input)) {
            refuse("an input of this command")
        } else if self.outputs.iter().any(|output| is_same(path, output)) {
            refuse("another output of this command")
        } else {
            Ok(())
        }
    }

    /// Refuses likewise a file that this command has not written before: one that does not begin as all its outputs do.
    pub(crate) fn check_replaced(&self, path: &Path, beginning: &[u8], what: &'static str) -> Result<(), Failure> {
        self.check(path)?;
        let is_there = path.metadata().is_ok_and(|there| there.is_file() && there.len() > 0);
        let is_similar = || {
            let mut start = vec![0; beginning.len()];
            let is_read = File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok();
            is_read && start.eq_ignore_ascii_case(beginning)
        };
        if is_there && !is_similar() { Err(Failure::Overwrite { path: path.into(), what }) } else { Ok(()) }
    }
}

/// Refuses `-`, which others take for stdout.
fn check_dash(path: &Path) -> Result<(), Failure> {
    if path == Path::new("-") { Err(Failure::Stdout) } else { Ok(()) }
}

/// A directory that results go to.
pub(crate) struct Output {
    directory: PathBuf,
    inputs: Inputs,
}

impl Output {
    /// Creates the directory and tries to write to it, so that a bad path is reported before the work starts and not after it.
    /// Refuses likewise if one of the files `names` must not be replaced.
    pub(crate) fn new(directory: &Path, names: &[String], inputs: Inputs) -> Result<Self, Failure> {
        check_dash(directory)?;
        names.iter().try_for_each(|name| inputs.check(&directory.join(name)))?;
        let _guard = interrupt::hold();
        let failed = |error| Failure::Write { path: directory.into(), error };
        if directory.exists() && !directory.is_dir() {
            return Err(failed(std::io::Error::from(std::io::ErrorKind::NotADirectory)));
        }
        std::fs::create_dir_all(directory).map_err(failed)?;
        tempfile::NamedTempFile::new_in(directory).map_err(|error| failed(without_path(error)))?;
        Ok(Self { directory: directory.into(), inputs })
    }

    /// Writes all files, `report.html` among them, or as many as the disk takes, and says where; none is left half-written.
    pub(crate) fn write(&self, files: &[(String, Vec<u8>)]) -> Result<(), Failure> {
        let report = self.directory.join("report.html");
        let verb = if report.exists() { "replaced" } else { "wrote" };
        files.iter().try_for_each(|(name, _)| self.inputs.check(&self.directory.join(name)))?;
        let _guard = interrupt::hold();
        restore_directory(&report);
        for (name, bytes) in files {
            let path = self.directory.join(name);
            write_whole(&path, |file| file.write_all(bytes)).map_err(|error| Failure::Write { path, error })?;
        }
        note(&format!("{verb} {} and {} more files beside it", report.display(), files.len() - 1));
        Ok(())
    }
}

/// Creates the directory of a file again if it has vanished during the work, which would be lost otherwise.
pub(crate) fn restore_directory(path: &Path) {
    // If that fails, so does writing the file, which is reported.
    drop(std::fs::create_dir_all(directory_of(path)));
}

/// Refuses a path in a directory that does not exist.
pub(crate) fn check_directory(path: &Path) -> Result<(), Failure> {
    let directory = directory_of(path);
    if directory.is_dir() {
        Ok(())
    } else {
        Err(Failure::NoDirectory { path: path.into(), directory: directory.into() })
    }
}

/// Writes one file. A pipe or a device is written to directly.
pub(crate) fn write_file(
    path: &Path,
    inputs: &Inputs,
    write: impl FnOnce(&mut (dyn Write + Send)) -> std::io::Result<()>,
) -> Result<(), Failure> {
    inputs.check(path)?;
    check_directory(path)?;
    let done = if path.metadata().is_ok_and(|there| !there.is_file()) {
        // A pipe may wait for its reader for ever, so it can be interrupted.
        File::options().write(true).open(path).and_then(|file| buffered(file, write))
    } else {
        let _guard = interrupt::hold();
        write_whole(path, |file| buffered(file, write))
    };
    done.map_err(|error| match Failure::from(error) {
        Failure::Print(error) => Failure::Write { path: path.into(), error },
        reader_gone => reader_gone,
    })
}

fn buffered(
    file: impl Write + Send,
    write: impl FnOnce(&mut (dyn Write + Send)) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let mut file = BufWriter::new(file);
    write(&mut file)?;
    file.flush()
}

/// Writes a file that appears under its name once all of it is on the disk.
fn write_whole(path: &Path, write: impl FnOnce(&mut File) -> std::io::Result<()>) -> std::io::Result<()> {
    let mut temporary = tempfile::Builder::new();
    // Temporary files are private by default. This one becomes an ordinary file, so its permissions are those of the umask.
    #[cfg(unix)]
    temporary.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let directory = directory_of(path);
    let mut file = temporary.tempfile_in(directory).map_err(without_path)?;
    write(file.as_file_mut())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

/// The error without the name of a temporary file, which the crate `tempfile` adds and the user has never seen.
fn without_path(error: std::io::Error) -> std::io::Error {
    if error.get_ref().is_some() { error.kind().into() } else { error }
}

pub(crate) fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// Whether there is an SQLite database at a path, which may be the store of another command.
pub(crate) fn is_database(path: &Path) -> bool {
    const MAGIC: [u8; 16] = *b"SQLite format 3\0";
    let mut start = [0; MAGIC.len()];
    path.is_file() && File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == MAGIC
}

/// Whether a path is that of a journal file of an SQLite database; the journal file itself need not exist.
fn is_journal(path: &Path) -> bool {
    let path = resolved(path);
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    JOURNAL_SUFFIXES
        .iter()
        .filter_map(|suffix| name.strip_suffix(suffix))
        .any(|name| is_database(&path.with_file_name(name)))
}

/// Whether two paths lead to one regular file, through links and however they are spelt, or would if it were there.
fn is_same(a: &Path, b: &Path) -> bool {
    match (a.metadata(), b.metadata()) {
        #[cfg(unix)]
        (Ok(a), Ok(b)) => {
            use std::os::unix::fs::MetadataExt;
            b.is_file() && (a.dev(), a.ino()) == (b.dev(), b.ino())
        }
        #[cfg(not(unix))]
        (Ok(_), Ok(there)) => there.is_file() && resolved(a) == resolved(b),
        (Err(_), Err(_)) => resolved(a) == resolved(b),
        _ => false,
    }
}

/// A path without symbolic links and `..`; the file itself need not exist.
fn resolved(path: &Path) -> PathBuf {
    /// As many links in a row as Linux follows.
    const MAX_LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match path.read_link() {
            Ok(target) if path.canonicalize().is_err() => path = directory_of(&path).join(target),
            _ => break,
        }
    }
    let path = &path;
    path.canonicalize().unwrap_or_else(|_| match (directory_of(path).canonicalize(), path.file_name()) {
        (Ok(directory), Some(name)) => directory.join(name),
        _ => path.into(),
    })
}
