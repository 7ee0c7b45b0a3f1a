//! Shared by the test suites: a temporary directory, and the program run in it.

#![allow(dead_code, reason = "each suite uses a part of it")]

pub mod process;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A small experiment with one instance, a baseline and UCBE.
pub const SMALL: &str = r#"name = "small"
runs = 40
seed = 3
budgets = [12, 30]
threshold = 0.1
precision = 0.02
baseline = "linear-apt"

[instance]
kind = "uniform"
n_arms = 6
dimension = 3
redraw = false

[[algorithm]]
name = "linear-apt"

[[algorithm]]
name = "ucbe"
exponent = -1

[[algorithm]]
name = "pivot"
"#;

/// A temporary directory with the experiment `small.toml`.
pub struct Place {
    directory: TempDir,
}

/// The exit code and the output of the program.
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Place {
    pub fn new() -> Self {
        let place = Self { directory: tempfile::tempdir().unwrap() };
        place.write("small.toml", SMALL);
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// The program with these arguments, to be run here.
    pub fn cutline(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cutline"));
        command.args(args).current_dir(self.directory.path()).stdin(Stdio::null());
        command
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        Ran::from(self.cutline(args).output().unwrap())
    }

    /// Runs a command that must fail with exit code 1 and one line, and write nothing; the line.
    pub fn refuses(&self, args: &[&str]) -> String {
        let before = self.names("");
        let line = self.run(args).failed(1);
        assert_eq!(self.names(""), before, "{args:?} wrote something");
        line
    }

    /// Runs a command that must succeed.
    pub fn good(&self, args: &[&str]) -> Ran {
        let ran = self.run(args);
        assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.stderr);
        ran
    }

    /// Runs the program through a shell script, which gets the program and `args` as `"$@"`.
    pub fn shell(&self, script: &str, args: &[&str]) -> Ran {
        let mut command = Command::new("sh");
        command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_cutline")]).args(args);
        Ran::from(command.current_dir(self.directory.path()).stdin(Stdio::null()).output().unwrap())
    }

    /// The files of a directory in this one, by name; none if there is no such directory.
    pub fn files(&self, directory: &str) -> BTreeMap<String, Vec<u8>> {
        let Ok(entries) = std::fs::read_dir(self.path(directory)) else { return BTreeMap::new() };
        let file = |path: &Path| (path.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read(path).unwrap());
        entries.map(|entry| file(&entry.unwrap().path())).collect()
    }

    pub fn names(&self, directory: &str) -> Vec<String> {
        self.files(directory).into_keys().collect()
    }

    pub fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

impl Ran {
    /// Checks that it failed with this code, one line on stderr and nothing on stdout; the line.
    pub fn failed(self, code: i32) -> String {
        assert_eq!((self.code, self.stdout.as_str()), (Some(code), ""), "{}", self.stderr);
        let line = self.stderr.strip_suffix('\n').expect("a line");
        assert!(line.starts_with("error: ") && !line.contains(char::is_control), "{line:?}");
        line.to_owned()
    }
}

/// Six arms with two features, and names that need quoting.
pub const ARMS: &str =
    "name,x,y\na,1,0.1\nb,2,-0.3\n\"c, d\",3,0.7\n-e,4,0.2\n\"f \"\"g\"\"\",5,-0.9\nżółw 'h',6,0.4\n";
pub const NAMES: [&str; 6] = ["a", "b", "c, d", "-e", "f \"g\"", "żółw 'h'"];

/// A directory with the campaign `arms` in `screen.db`.
pub fn screen(options: &[&str]) -> Place {
    let place = Place::new();
    place.write("arms.csv", ARMS);
    place.good(&[&["new", "screen.db", "arms.csv", "--threshold", "0.5"], options].concat());
    place
}

impl Place {
    /// The output of a command as JSON.
    pub fn json(&self, args: &[&str]) -> serde_json::Value {
        serde_json::from_str(&self.good(&[args, &["--format", "json"]].concat()).stdout).unwrap()
    }
}
