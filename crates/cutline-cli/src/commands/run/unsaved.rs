//! Rewards that the store did not take, kept in a CSV file that `cutline tell --file` reads.

use crate::commands::file_name;
use crate::output::{Inputs, write_file};
use crate::table::{Column, Table};
use cutline_store::Store;
use std::path::{Path, PathBuf};

/// A measured reward.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Reward {
    pub(super) ticket: u64,
    /// The name of the arm.
    pub(super) arm: String,
    pub(super) value: f64,
}

/// Rewards that could not be saved in the store.
pub(super) struct UnsavedRewards {
    /// Where to write the file, the best place first.
    paths: Vec<PathBuf>,
    /// The file, once it was written.
    file: Option<PathBuf>,
    rewards: Vec<Reward>,
}

impl UnsavedRewards {
    /// No rewards yet. They will be written to `STORE.unsaved-rewards.csv` beside the store or, if that fails, in the current
    /// directory. For a database on a server, the file is named after the campaign.
    pub(super) fn new(address: &str, campaign: &str) -> Self {
        let store = Store::file(address).unwrap_or_else(|| file_name(campaign).into());
        let mut name = store.file_name().unwrap_or_default().to_owned();
        name.push(".unsaved-rewards.csv");
        Self { paths: vec![store.with_file_name(&name), name.into()], file: None, rewards: Vec::new() }
    }

    /// Adds rewards and writes the file with all of them.
    pub(super) fn add(&mut self, rewards: &[Reward]) {
        self.rewards.extend_from_slice(rewards);
        let table = self.table();
        let write = |path: &PathBuf| write_file(path, &Inputs::default(), |out| table.write_csv(out)).is_ok();
        self.file = match self.file.take() {
            Some(path) => Some(path).filter(write),
            None => self.paths.iter().map(|path| unused(path)).find(write),
        };
    }

    pub(super) fn rewards(&self) -> &[Reward] {
        &self.rewards
    }

    /// The file that has the rewards; `None` if it could not be written.
    pub(super) fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    fn table(&self) -> Table {
        let rewards = &self.rewards;
        Table::default()
            .with("ticket", Column::Whole(rewards.iter().map(|reward| Some(reward.ticket.cast_signed())).collect()))
            .with("arm", Column::Text(rewards.iter().map(|reward| Some(reward.arm.clone())).collect()))
            .with("reward", Column::Number(rewards.iter().map(|reward| Some(reward.value)).collect()))
    }
}

/// The path, or one with a number before its extension if that file already exists.
fn unused(path: &Path) -> PathBuf {
    let numbered = |number: u32| path.with_extension(format!("{number}.csv"));
    let mut paths = std::iter::once(path.to_owned()).chain((2..).map(numbered));
    paths.find(|path| path.symlink_metadata().is_err()).unwrap_or_else(|| path.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reward(ticket: u64, arm: &str, value: f64) -> Reward {
        Reward { ticket, arm: arm.into(), value }
    }

    #[test]
    fn the_file_has_all_rewards_and_replaces_no_other() {
        let directory = tempfile::tempdir().unwrap();
        let store = directory.path().join("s.db");
        let first = directory.path().join("s.db.unsaved-rewards.csv");
        std::fs::write(&first, "from before").unwrap();
        let mut unsaved = UnsavedRewards::new(store.to_str().unwrap(), "c");
        unsaved.add(&[reward(3, "a, b", 0.1 + 0.2)]);
        unsaved.add(&[reward(1, "c", -1.0)]);
        let file = directory.path().join("s.db.unsaved-rewards.2.csv");
        assert_eq!(unsaved.file(), Some(file.as_path()));
        let text = std::fs::read_to_string(file).unwrap();
        assert_eq!(text, "ticket,arm,reward\n3,\"a, b\",0.30000000000000004\n1,c,-1.0\n");
        assert_eq!(std::fs::read_to_string(first).unwrap(), "from before");
    }

    #[test]
    fn a_database_on_a_server_has_no_directory() {
        let unsaved = UnsavedRewards::new("postgresql://me:secret@host/db", "my screen");
        assert_eq!(unsaved.paths, [Path::new("my-screen.unsaved-rewards.csv"); 2]);
    }
}
