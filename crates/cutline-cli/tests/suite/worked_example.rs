//! The worked example of docs/campaigns.md, exactly as documented: started, killed half way, resumed, reported.

#![cfg(unix)]

use crate::common::process::wait_for;
use cutline_campaign::AnyCampaign;
use cutline_store::Store;
use std::path::Path;
use std::process::{Child, Command};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The commands of the first shell block of a page, one line each.
fn commands(page: &str) -> Vec<String> {
    let text = std::fs::read_to_string(Path::new(ROOT).join(page)).unwrap();
    let block = text.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a block for a shell");
    block.replace("\\\n", " ").lines().map(str::to_owned).collect()
}

/// Starts a command in a directory like the project's, with `cutline` in the path, in a process group of its own.
fn start(directory: &Path, command: &str) -> Child {
    let program = Path::new(env!("CARGO_BIN_EXE_cutline")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let shell = ["-c", &format!("exec {command}")].map(str::to_owned);
    Command::new("sh")
        .args(shell)
        .current_dir(directory)
        .env("PATH", path)
        .env("MEASURING_TAKES", "0.02")
        .spawn()
        .unwrap()
}

#[test]
fn iris_is_screened_although_the_run_is_killed_half_way() {
    let directory = tempfile::tempdir().unwrap();
    for part in ["docs", "crates"] {
        std::os::unix::fs::symlink(std::fs::canonicalize(ROOT).unwrap().join(part), directory.path().join(part))
            .unwrap();
    }
    let page = commands("docs/campaigns.md");
    let [new, run, report] = &page[..] else { panic!("{page:?}") };
    assert!(start(directory.path(), new).wait().unwrap().success());
    let store = Store::open(directory.path().join("screen.db").to_str().unwrap()).unwrap();
    let mut campaign = store.campaign(None).unwrap();

    let mut first = start(directory.path(), run);
    wait_for("half of the rewards", || campaign.progress().unwrap().counted >= 150);
    first.kill().unwrap();
    first.wait().unwrap();
    let half_way = campaign.progress().unwrap().counted;
    assert!((150..300).contains(&half_way), "{half_way} told when it was killed");

    assert!(start(directory.path(), run).wait().unwrap().success());
    let progress = campaign.progress().unwrap();
    assert_eq!((progress.counted, progress.open), (300, 0));

    assert!(start(directory.path(), report).wait().unwrap().success());
    let page = std::fs::read_to_string(directory.path().join("report.html")).unwrap();
    assert!(page.contains("300 of 300 measurements used") && page.contains("<svg"));

    // The petal widths, which the campaign did not know. 250 such campaigns were off by 4 flowers on average, and never by 20.
    let text = std::fs::read_to_string(directory.path().join("crates/cutline-lab/data/iris.csv")).unwrap();
    let widths = text.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().parse::<f64>().unwrap());
    let question = campaign.state().unwrap().terms().question;
    let verdicts = campaign.verdicts().unwrap();
    let wrong = widths.zip(&verdicts).filter(|&(width, verdict)| question.is_error(width, verdict.mean)).count();
    assert_eq!(verdicts.len(), 150);
    assert!(wrong < 20, "{wrong} flowers on the wrong side");
}
