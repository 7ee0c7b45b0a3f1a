//! A model of a disk that loses power: what was synced stays, and of what was not, any sectors may be on it or not.

use cutline::{Rng, below};
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The disk writes sectors of this many bytes completely or not at all.
const SECTOR: usize = 512;

/// A change to the directory, as `record.c` logs it.
#[derive(Clone, Debug)]
pub struct Change {
    pub kind: Kind,
    /// The inode.
    file: u64,
    pub name: String,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    Create,
    Write { offset: usize, data: Vec<u8> },
    Truncate(usize),
    Sync,
    SyncDirectory,
    Unlink,
}

/// Reads a log of changes.
pub fn changes(log: &[u8]) -> Vec<Change> {
    let mut rest = log;
    let mut take = |length: usize| {
        let (taken, others) = rest.split_at_checked(length)?;
        rest = others;
        Some(taken)
    };
    let mut changes = Vec::new();
    while let Some(head) = take(40) {
        let [kind, file, offset, name_length, length] =
            [0, 8, 16, 24, 32].map(|at| u64::from_le_bytes(head[at..at + 8].try_into().unwrap()));
        let whole = |number: u64| usize::try_from(number).unwrap();
        let name = String::from_utf8(take(whole(name_length)).unwrap().to_vec()).unwrap();
        let kind = match u8::try_from(kind).unwrap() {
            b'c' => Kind::Create,
            b'w' => Kind::Write { offset: whole(offset), data: take(whole(length)).unwrap().to_vec() },
            b't' => Kind::Truncate(whole(length)),
            b's' => Kind::Sync,
            b'd' => Kind::SyncDirectory,
            b'u' => Kind::Unlink,
            other => panic!("unknown kind {other}"),
        };
        changes.push(Change { kind, file, name });
    }
    changes
}

/// How much of what was not synced a loss of power leaves.
#[derive(Clone, Copy, Debug)]
pub enum Loss {
    /// Nothing.
    Everything,
    /// All of it: the process was killed.
    Nothing,
    /// Each sector survives with one half of the probability.
    HalfOfSectors,
    /// All but a few sectors.
    FewSectors,
    /// Few sectors survive.
    MostSectors,
    /// All sectors of some writes, and none of others.
    SomeWrites,
}

impl Loss {
    pub const ALL: [Self; 6] =
        [Self::Everything, Self::Nothing, Self::HalfOfSectors, Self::FewSectors, Self::MostSectors, Self::SomeWrites];

    /// Whether a part survives.
    fn keeps(self, rng: &mut Rng) -> bool {
        match self {
            Self::Everything => false,
            Self::Nothing => true,
            Self::HalfOfSectors | Self::SomeWrites => below(rng, 2) == 0,
            Self::FewSectors => below(rng, 12) > 0,
            Self::MostSectors => below(rng, 12) == 0,
        }
    }
}

/// The files of a directory: what is on the disk for certain, and what is not yet.
#[derive(Clone, Debug, Default)]
pub struct Disk {
    files: Vec<File>,
    /// The file that has an inode at present.
    by_inode: BTreeMap<u64, usize>,
    names: BTreeMap<String, usize>,
    /// Files that got a name, and names that were removed, since the directory was synced.
    unsynced_names: Vec<(String, Option<usize>)>,
}

#[derive(Clone, Debug, Default)]
struct File {
    synced: Vec<u8>,
    unsynced: Vec<Kind>,
}

impl Disk {
    /// A disk that has the files of this directory for certain.
    pub fn of(directory: &Path) -> Self {
        let mut disk = Self::default();
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            disk.by_inode.insert(path.metadata().unwrap().ino(), disk.files.len());
            disk.names.insert(name, disk.files.len());
            disk.files.push(File { synced: std::fs::read(&path).unwrap(), unsynced: Vec::new() });
        }
        disk
    }

    /// Applies the next change.
    pub fn apply(&mut self, change: &Change) {
        let Change { kind, file, name } = change;
        let known = self.by_inode.get(file).copied();
        match kind {
            Kind::Create => {
                self.by_inode.insert(*file, self.files.len());
                self.unsynced_names.push((name.clone(), Some(self.files.len())));
                self.files.push(File::default());
            }
            Kind::Unlink => self.unsynced_names.push((name.clone(), None)),
            Kind::SyncDirectory => {
                for (name, file) in std::mem::take(&mut self.unsynced_names) {
                    set(&mut self.names, name, file);
                }
            }
            Kind::Sync => {
                let file = &mut self.files[known.expect("a file that was created")];
                for change in std::mem::take(&mut file.unsynced) {
                    write(&mut file.synced, &change, |_| true);
                }
            }
            Kind::Write { .. } | Kind::Truncate(_) => {
                self.files[known.expect("a file that was created")].unsynced.push(kind.clone());
            }
        }
    }

    /// What a loss of power at this moment leaves.
    pub fn after_loss(&self, loss: Loss, rng: &mut Rng) -> BTreeMap<String, Vec<u8>> {
        let mut names = self.names.clone();
        for (name, file) in &self.unsynced_names {
            if loss.keeps(rng) {
                set(&mut names, name.clone(), *file);
            }
        }
        names.into_iter().map(|(name, file)| (name, self.files[file].after_loss(loss, rng))).collect()
    }
}

impl File {
    fn after_loss(&self, loss: Loss, rng: &mut Rng) -> Vec<u8> {
        let mut content = self.synced.clone();
        for change in &self.unsynced {
            match (loss, change) {
                (Loss::SomeWrites, _) | (_, Kind::Truncate(_)) => {
                    if loss.keeps(rng) {
                        write(&mut content, change, |_| true);
                    }
                }
                _ => write(&mut content, change, |_| loss.keeps(rng)),
            }
        }
        content
    }
}

fn set(names: &mut BTreeMap<String, usize>, name: String, file: Option<usize>) {
    match file {
        Some(file) => names.insert(name, file),
        None => names.remove(&name),
    };
}

/// Applies a change to a content, as far as `keeps` says so of each sector of a write.
fn write(content: &mut Vec<u8>, change: &Kind, mut keeps: impl FnMut(usize) -> bool) {
    match change {
        Kind::Truncate(length) => content.resize(*length, 0),
        Kind::Write { offset, data } => {
            let mut position = *offset;
            while position < offset + data.len() {
                let end = ((position / SECTOR + 1) * SECTOR).min(offset + data.len());
                if keeps(position / SECTOR) {
                    content.resize(content.len().max(end), 0);
                    content[position..end].copy_from_slice(&data[position - offset..end - offset]);
                }
                position = end;
            }
        }
        other => panic!("{other:?} does not change a content"),
    }
}

/// Writes files into an empty directory.
pub fn place(files: &BTreeMap<String, Vec<u8>>, directory: &Path) {
    for entry in std::fs::read_dir(directory).unwrap() {
        std::fs::remove_file(entry.unwrap().path()).unwrap();
    }
    for (name, content) in files {
        std::fs::write(directory.join(name), content).unwrap();
    }
}
