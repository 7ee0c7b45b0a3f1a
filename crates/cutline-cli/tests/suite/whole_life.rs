//! The stories of docs/campaigns.md, "A campaign's whole life" and "Measurements that cost different amounts", exactly as documented.

#![cfg(unix)]

use cutline_campaign::{AnyCampaign, Event};
use cutline_store::Store;
use std::path::Path;
use std::process::{Command, Output};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The commands of a story.
fn commands(heading: &str) -> Vec<String> {
    let text = std::fs::read_to_string(Path::new(ROOT).join("docs/campaigns.md")).unwrap();
    let story = text.split(heading).nth(1).expect("the story");
    let block = story.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a block for a shell");
    block.lines().map(str::to_owned).collect()
}

/// Runs commands in a directory with the documents; what each wrote and said.
fn run_all(directory: &Path, commands: &[String]) -> Vec<(Output, String)> {
    std::os::unix::fs::symlink(std::fs::canonicalize(ROOT).unwrap().join("docs"), directory.join("docs")).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_cutline")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let run = |command: &String| -> (Output, String) {
        let output =
            Command::new("sh").args(["-c", command]).current_dir(directory).env("PATH", &path).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{command}: {said}");
        (output, said)
    };
    commands.iter().map(run).collect()
}

#[test]
fn costs_are_spent_as_documented() {
    let directory = tempfile::tempdir().unwrap();
    let commands = commands("## Measurements that cost different amounts");
    let said = run_all(directory.path(), &commands);
    let plan = String::from_utf8_lossy(&said[0].0.stdout).into_owned();
    assert!(plan.contains("needs to spend"), "{plan}");
    assert!(said[1].1.contains("  budget     400 in units of `drying`\n"), "{}", said[1].1);
    let store = Store::open(directory.path().join("hours.db").to_str().unwrap()).unwrap();
    let mut campaign = store.campaign(None).unwrap();
    let progress = campaign.progress().unwrap();
    let spent = progress.spending.unwrap().spent;
    assert!(spent <= cutline::Amount::units(400) && progress.remaining().value() < 101.2, "{spent}");
    assert_eq!((progress.budget, progress.open, campaign.arm_names().len()), (500, 0, 70));
    let status = String::from_utf8_lossy(&said[5].0.stdout).into_owned();
    assert!(status.contains(&format!("{spent} of 500 spent on {} measurements", progress.counted)), "{status}");
    assert!(std::fs::read_to_string(directory.path().join("hours.html")).unwrap().contains(" of 500 spent"));
}

#[test]
fn a_campaign_lives_through_all_changes() {
    let directory = tempfile::tempdir().unwrap();
    let commands = commands("## A campaign's whole life");
    let said = run_all(directory.path(), &commands);
    let said_by = |word: &str| {
        let position = commands.iter().position(|command| command.starts_with(&format!("cutline {word}")));
        &said[position.unwrap_or_else(|| panic!("no command `{word}`"))]
    };
    assert!(said_by("new").1.contains("`base` is text: a category") && said_by("new").1.contains("missing values"));
    assert!(said_by("run").1.contains("`paint 6` is withdrawn after 3 failed tickets"), "{}", said_by("run").1);
    assert!(said_by("predict").0.stdout.starts_with(b"| candidate"));
    assert!(said_by("add").1.starts_with("10 candidates added: "), "{}", said_by("add").1);

    let store = Store::open(directory.path().join("paints.db").to_str().unwrap()).unwrap();
    let mut campaign = store.campaign(None).unwrap();
    let progress = campaign.progress().unwrap();
    assert_eq!((progress.counted, progress.budget, progress.voided, progress.withdrawn), (180, 180, 1, 1));
    let names: Vec<&str> = campaign.events(0).unwrap().iter().map(|record| record.event.name()).collect();
    for kind in ["amended", "voided", "withdrawn", "added", "changed"] {
        assert!(names.contains(&kind), "nothing was {kind}");
    }
    let changes = names.iter().filter(|name| **name == "changed").count();
    assert_eq!(changes, 2, "extend and set");

    // The gloss of every paint, as in paints.sh, which the campaign did not know.
    let question = campaign.state().unwrap().terms().question;
    let verdicts = campaign.verdicts().unwrap();
    let wrong =
        gloss().iter().zip(&verdicts).filter(|&(&gloss, verdict)| question.is_error(gloss, verdict.mean)).count();
    // The mixed model expects about 3 wrong calls. Of 70 coins, fewer than 20 are wrong with probability 1e-4.
    assert!(verdicts.len() == 70 && wrong < 12, "{wrong} paints on the wrong side");
    let page = std::fs::read_to_string(directory.path().join("report.html")).unwrap();
    for change in [
        "; withdrawn</td>",
        "paint 6 was withdrawn",
        "was corrected to 45",
        "10 candidates were added",
        "threshold = 52",
        "wrong sample",
    ] {
        assert!(page.contains(change), "the report lacks {change}");
    }
    let asked_after = campaign.events(0).unwrap().into_iter().skip_while(|record| record.event.name() != "withdrawn");
    let arm = campaign.arm_names().iter().position(|name| name == "paint 6");
    let again =
        asked_after.filter(|record| matches!(record.event, Event::Asked { arm: asked, .. } if Some(asked) == arm));
    assert_eq!(again.count(), 0, "a withdrawn candidate is not asked for again");
}

/// The true means, computed as in `docs/campaigns/paints.sh`.
fn gloss() -> Vec<f64> {
    let read = |file: &str| std::fs::read_to_string(Path::new(ROOT).join("docs/campaigns").join(file)).unwrap();
    let rows = read("paints.csv") + &read("more-paints.csv");
    let gloss = |line: &str| -> Option<f64> {
        let cells: Vec<&str> = line.split(',').collect();
        let number: u32 = cells[0].strip_prefix("paint ")?.parse().ok()?;
        let base = match cells[1] {
            "oil" => 14.0,
            "alkyd" => 7.0,
            _ => 0.0,
        };
        let solids = if cells[2].is_empty() { 50.0 } else { cells[2].parse().ok()? };
        let drying: f64 = cells[3].parse().ok()?;
        Some(40.0 + base + 0.3 * (solids - 30.0) - drying + f64::from(number * 37 % 11) - 5.0)
    };
    rows.lines().filter_map(gloss).collect()
}
