//! No command writes over a store, a journal file of one, or one of its own inputs, however the path is spelt: exit code 2, one line,
//! and every file stays as it was.

#![cfg(unix)]

use crate::common::process::{end, signal, wait_for, wait_for_work};
use crate::common::{Place, Ran, SMALL, screen};
use cutline_campaign::AnyCampaign;
use cutline_store::Store;
use std::os::unix::fs::symlink;
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;

/// Runs a command that has to refuse its output path; the reason, after it was checked that no file has changed.
fn refused(place: &Place, args: &[&str]) -> String {
    let before = place.files("");
    let line = place.run(args).failed(2);
    assert!(place.files("") == before, "{args:?} changed a file");
    assert!(line.ends_with(" and would be overwritten; choose another place with `--out`"), "{line}");
    line
}

/// A store, and a directory with other names for its files: `db.csv` is a hard link to it, all others are symbolic links.
fn linked_store() -> (Place, TempDir) {
    let (place, links) = (screen(&["--budget", "9"]), tempfile::tempdir().unwrap());
    std::fs::hard_link(place.path("screen.db"), links.path().join("db.csv")).unwrap();
    symlink(place.path("screen.db"), links.path().join("link.db")).unwrap();
    symlink(links.path().join("link.db"), links.path().join("second.db")).unwrap();
    symlink(place.path(""), links.path().join("directory")).unwrap();
    symlink(place.path("screen.db-wal"), links.path().join("wal.csv")).unwrap();
    (place, links)
}

/// Paths as text, those in the directory of links and those beside the store.
fn spellings(place: &Place, links: &TempDir, linked: &[&str], names: &[&str]) -> Vec<String> {
    let linked = linked.iter().map(|name| links.path().join(name).to_str().unwrap().to_owned());
    let detour = place.path("").join("..").join(place.path("").canonicalize().unwrap().file_name().unwrap());
    let detours = names.iter().map(|name| detour.join(name).to_str().unwrap().to_owned());
    let absolute = names.iter().map(|name| place.path(name).to_str().unwrap().to_owned());
    let relative = names.iter().flat_map(|name| [name.to_string(), format!("./{name}")]);
    linked.chain(detours).chain(absolute).chain(relative).collect()
}

#[test]
fn a_campaign_is_never_written_over_its_store() {
    let (place, links) = linked_store();
    let outs = spellings(&place, &links, &["db.csv", "link.db", "second.db", "directory/screen.db"], &["screen.db"]);
    let stores = spellings(&place, &links, &["link.db"], &["screen.db"]);
    let others = ["sqlite:///screen.db", "screen.db?durability=normal"].map(String::from);
    for (number, out) in outs.iter().enumerate() {
        for store in stores.iter().chain(&others) {
            assert!(refused(&place, &["report", store, "--out", out]).contains(" is a store "));
            let (what, format) = (["--verdicts", "--events"][number % 2], ["csv", "json", "parquet"][number % 3]);
            let line = refused(&place, &["export", store, what, "--format", format, "--out", out]);
            assert_eq!(
                line,
                format!("error: {out} is a store and would be overwritten; choose another place with `--out`")
            );
        }
    }
    assert_eq!(place.json(&["status", "screen.db"])["budget"], 9, "the store still works");
}

/// `-` is stdout for `export`, and no file for commands that print their answer and write files beside it.
#[test]
fn a_file_is_not_called_by_a_dash() {
    let place = screen(&["--budget", "9"]);
    let before = place.files("");
    let simulate = ["simulate", "small.toml", "--runs", "2", "--out", "-"];
    let plan = ["plan", "screen.db", "--out", "-"];
    for args in [&["report", "screen.db", "--out", "-"][..], &plan, &simulate] {
        let line = place.run(args).failed(2);
        assert_eq!(line, "error: this command writes files, and `-` is not the name of one; use `./-` if it is meant");
        assert!(place.files("") == before, "{args:?} wrote a file");
    }
    place.good(&["report", "screen.db", "--out", "./-"]);
    assert!(place.path("-").exists());
}

/// While the store is in use its journal files are there; otherwise their names are refused all the same.
#[test]
fn a_campaign_is_never_written_over_journal_files() {
    let (place, links) = linked_store();
    let names = ["screen.db-wal", "screen.db-shm", "screen.db-journal"];
    let outs = spellings(&place, &links, &["wal.csv", "directory/screen.db-wal"], &names);
    let check = |outs: &[String]| {
        for (out, store) in outs.iter().zip(["screen.db", "sqlite:///screen.db"].iter().cycle()) {
            for args in [&["export", store, "--events"][..], &["report", store]] {
                let line = refused(&place, &[args, &["--out", out]].concat());
                assert!(line.contains(" is a journal file of a store "), "{line}");
            }
        }
    };
    check(&outs);
    let mut campaign = Store::open(place.path("screen.db").to_str().unwrap()).unwrap().campaign(None).unwrap();
    campaign.ask(1, "w", Duration::from_mins(1)).unwrap();
    assert!(place.path("screen.db-wal").exists(), "the store is in use");
    check(&outs);
    // A hard link to a journal file has another name, and is still the same file.
    let hard = links.path().join("hard.csv");
    std::fs::hard_link(place.path("screen.db-wal"), &hard).unwrap();
    let line = refused(&place, &["export", "screen.db", "--events", "--out", hard.to_str().unwrap()]);
    assert!(line.contains(" is an input of this command "), "{line}");
    drop(campaign);
}

/// Stores of other commands are safe, too, whatever they are called.
#[test]
fn other_stores_are_kept() {
    let place = screen(&["--budget", "9"]);
    std::fs::copy(place.path("screen.db"), place.path("other.html")).unwrap();
    for args in [&["export", "screen.db", "--verdicts"][..], &["report", "screen.db"]] {
        assert!(refused(&place, &[args, &["--out", "other.html"]].concat()).contains("other.html is a store "));
        assert!(refused(&place, &[args, &["--out", "other.html-wal"]].concat()).contains(" is a journal file "));
    }
}

/// A file that the command cannot have written, such as the candidates that a campaign began with, is kept; an earlier output is replaced.
#[test]
fn files_of_another_kind_are_kept() {
    let place = screen(&["--budget", "9"]);
    place.write("page.html", "<!DOCTYPE html><title>An earlier report</title>");
    place.write("empty.csv", "");
    for (args, what) in [
        (&["export", "screen.db", "--events", "--format", "csv"][..], "a file of another kind"),
        (&["export", "screen.db", "--verdicts", "--format", "csv"], "a file of another kind"),
        (&["export", "screen.db", "--verdicts", "--format", "json"], "a file of another kind"),
        (&["export", "screen.db", "--verdicts", "--format", "parquet"], "a file of another kind"),
        (&["report", "screen.db"], "no report"),
    ] {
        let line = refused(&place, &[args, &["--out", "arms.csv"]].concat());
        assert!(line.starts_with(&format!("error: arms.csv is {what} and ")), "{line}");
        place.good(&[args, &["--out", "out"]].concat());
        place.good(&[args, &["--out", "out"]].concat());
        std::fs::remove_file(place.path("out")).unwrap();
    }
    place.good(&["report", "screen.db", "--out", "page.html"]);
    place.good(&["export", "screen.db", "--verdicts", "--out", "empty.csv"]);
    refused(&place, &["export", "screen.db", "--events", "--out", "empty.csv"]);
}

const PLAN: [&str; 8] = ["plan", "results.csv", "--threshold", "0.5", "--runs", "2", "--budgets", "9"];
const REPRODUCE: [&str; 4] = ["reproduce", "uniform-d5", "--runs", "2"];

/// The files in the output directory of a simulation are checked before it begins.
#[test]
fn simulations_keep_stores() {
    for name in ["report.html", "results.csv", "small.svg", "small.png", "arms.png", "uniform-d5.svg"] {
        let place = screen(&["--budget", "9"]);
        place.write("small.toml", SMALL);
        std::fs::copy(place.path("screen.db"), place.path(name)).unwrap();
        let simulate = ["simulate", "small.toml", "--runs", "1000000000000"];
        let plan = ["plan", "arms.csv", "--threshold", "0.5", "--runs", "100000000", "--budgets", "9"];
        let reproduce = ["reproduce", "uniform-d5", "--runs", "1000000000000"];
        let commands: &[&[&str]] = match name {
            "small.svg" | "small.png" => &[&simulate],
            "arms.png" => &[&plan],
            "uniform-d5.svg" => &[&reproduce],
            _ => &[&simulate, &plan, &reproduce],
        };
        for command in commands {
            let line = refused(&place, &[command, &["--out", "."][..]].concat());
            assert_eq!(line.split(" and ").next(), Some(format!("error: ./{name} is a store").as_str()));
        }
    }
}

#[test]
fn simulations_keep_their_inputs() {
    let place = Place::new();
    // The experiment file itself, and the candidates that it names.
    place.write("report.html", SMALL);
    assert!(refused(&place, &["simulate", "report.html", "--out", "."]).contains("is an input of this command"));
    place.write("results.csv", "name,x,y\na,1,0.1\nb,2,-0.3\nc,3,0.7\n");
    let csv = "[instance]\nkind = \"csv\"\nfile = \"results.csv\"\n[[algorithm]]\nname = \"pivot\"\n";
    place.write("data.toml", format!("budgets = [9]\nthreshold = 0.2\nruns = 1\n{csv}"));
    let line = refused(&place, &["simulate", "data.toml", "--out", "."]);
    assert!(line.starts_with("error: ./results.csv is an input of this command"), "{line}");
    // The candidates of a plan, and its pilot.
    assert!(refused(&place, &[&PLAN[..], &["--out", "."]].concat()).contains("./results.csv is an input"));
    std::fs::rename(place.path("results.csv"), place.path("arms.csv")).unwrap();
    place.write("results.csv", "arm,reward\na,1\nb,0\nc,1\n");
    let mut plan = PLAN;
    plan[1] = "arms.csv";
    let line = refused(&place, &[&plan[..], &["--pilot", "results.csv", "--out", "."]].concat());
    assert!(line.starts_with("error: ./results.csv is an input of this command"), "{line}");
    // Through a hard link, too.
    std::fs::hard_link(place.path("arms.csv"), place.path("arms.svg")).unwrap();
    std::fs::remove_file(place.path("results.csv")).unwrap();
    assert!(refused(&place, &[&plan[..], &["--out", "."]].concat()).contains("./arms.svg is an input"));
}

/// The error names the path that was given, and no temporary file.
#[test]
fn a_directory_that_is_missing() {
    let place = screen(&["--budget", "9"]);
    let line = place.run(&["export", "screen.db", "--events", "--out", "no/events.csv"]).failed(1);
    assert_eq!(
        line,
        "error: cannot write no/events.csv: there is no directory no; create it, or choose another place with `--out`"
    );
}

/// An earlier output is replaced.
#[test]
fn earlier_outputs_are_replaced() {
    let place = screen(&["--budget", "9"]);
    place.write("old.csv", "arm,index,side,of,an,earlier,version\n");
    place.write("screen.csv-wal", "");
    for out in ["old.csv", "screen.csv-wal"] {
        place.good(&["export", "screen.db", "--verdicts", "--out", out]);
        assert!(place.text(out).starts_with("arm,index,side,mean"), "{out}");
    }
    place.good(&[&REPRODUCE[..], &["--out", "out"]].concat());
    place.good(&[&REPRODUCE[..], &["--out", "out"]].concat());
}

/// One output of a simulation never replaces another: neither the results of every run and the checkpoint, nor the figures of experiments
/// whose names become the same file name.
#[test]
fn outputs_are_kept_apart() {
    let place = Place::new();
    for option in ["--per-run", "--resume"] {
        for path in ["results.csv", "./results.csv", "../x/results.csv"] {
            let directory = place.path("x");
            std::fs::create_dir_all(&directory).unwrap();
            let args = ["simulate", "../small.toml", "--out", ".", option, path];
            let before = place.names("x");
            let ran = Ran::from(place.cutline(&args).current_dir(&directory).output().unwrap());
            assert_eq!(
                ran.failed(2),
                "error: ./results.csv is another output of this command and would be overwritten; choose another place with `--out`"
            );
            assert_eq!(place.names("x"), before);
        }
    }
    place.write(
        "two.toml",
        format!("{SMALL}[[variant]]\nname = \"a b\"\n[[variant]]\nname = \"a-b\"\nbudgets = [13]\n"),
    );
    place.good(&["simulate", "two.toml", "--out", "out", "--figure", "fig.svg"]);
    assert_eq!(place.names("out"), ["a-b-2.png", "a-b-2.svg", "a-b.png", "a-b.svg", "report.html", "results.csv"]);
    assert_ne!(place.text("fig-a-b.svg"), place.text("fig-a-b-2.svg"));
}

/// The directory of the results is there again if it was deleted while they were computed.
#[cfg(target_os = "linux")]
#[test]
fn a_directory_that_vanishes_is_restored() {
    for more in [&[][..], &["--per-run", "out/runs.csv"]] {
        // If the results were there before the directory could be deleted, there are more runs the next time.
        assert!((0..10).any(|power| is_restored(400_000 << power, more)));
    }
}

/// Whether the directory was deleted before there were results; if so, it was restored.
#[cfg(target_os = "linux")]
fn is_restored(runs: u64, more: &[&str]) -> bool {
    let (place, runs) = (Place::new(), runs.to_string());
    std::fs::create_dir(place.path("out")).unwrap();
    let args = [&["simulate", "small.toml", "--runs", &runs, "--out", "out/results"], more].concat();
    let child = place.cutline(&args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("directory", || place.path("out/results").exists());
    // The program first tries to write to the directory that it has just created, and then begins to work.
    wait_for_work(child.id());
    signal(child.id(), "STOP");
    let is_in_time = place.names("out/results").is_empty();
    std::fs::remove_dir_all(place.path("out")).unwrap();
    signal(child.id(), "CONT");
    let ran = Ran::from(end(child));
    if is_in_time {
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert_eq!(place.names("out/results").len(), 4, "{}", ran.stderr);
        assert_eq!(place.path("out/runs.csv").exists(), !more.is_empty());
    }
    is_in_time
}
