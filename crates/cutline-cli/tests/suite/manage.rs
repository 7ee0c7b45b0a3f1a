//! `cutline list`, `show`, `rename`, `delete` and `copy`, and the scripts that are made from the command line.

use crate::common::process::wait_for;
use crate::common::{Place, Ran, screen};

/// A store with the campaigns `arms` and `more`; the first one has three rewards.
fn two_campaigns() -> Place {
    let place = screen(&["--budget", "9"]);
    place.good(&["ask", "screen.db", "-n", "3"]);
    place.good(&["tell", "screen.db", "1", "0.5", "2", "0.25", "3", "1"]);
    place.good(&["new", "screen.db", "arms.csv", "--threshold", "2", "--budget", "5", "--name", "more"]);
    place
}

#[test]
fn campaigns_are_listed() {
    let place = two_campaigns();
    let list = place.json(&["list", "screen.db"]);
    let facts: Vec<_> = ["campaign", "n_arms", "threshold", "told", "budget"].map(|key| list[0][key].clone()).into();
    assert_eq!(facts, ["arms".into(), 6.into(), 0.5.into(), 3.into(), serde_json::Value::from(9)]);
    assert_eq!((&list[1]["campaign"], &list[1]["ending"]), (&"more".into(), &serde_json::Value::Null));
    let csv = place.good(&["list", "screen.db", "--format", "csv"]).stdout;
    assert!(csv.starts_with("campaign,begun,n_arms,threshold,told,budget,ending,spent\narms,20"), "{csv}");
    let table = place.good(&["list", "screen.db"]).stdout;
    assert!(table.contains("| arms ") && table.contains(" 3 of 9 ") && table.lines().count() == 4, "{table}");
}

#[test]
fn settings_are_shown() {
    let place = two_campaigns();
    let text = place.good(&["show", "screen.db", "--name", "more"]).stdout;
    for line in ["campaign         more", "threshold τ      2", "budget           5", "features         2: x, y"] {
        assert!(text.lines().any(|said| said == line), "{line}: {text}");
    }
    assert_eq!(place.json(&["show", "screen.db", "--name", "more"])["budget"], 5);
    let csv = place.good(&["show", "screen.db", "--name", "more", "--format", "csv"]).stdout;
    assert!(csv.starts_with("setting,value\ncampaign,more\n"), "{csv}");
    assert!(place.run(&["show", "screen.db"]).failed(1).contains("choose one with `--name`"));
}

#[test]
fn a_campaign_is_renamed_and_copied() {
    let place = two_campaigns();
    assert!(place.run(&["rename", "screen.db", "x"]).failed(1).contains("the store has 2 campaigns"));
    place.good(&["rename", "screen.db", "screen 1", "--name", "arms"]);
    assert_eq!(place.json(&["status", "screen.db", "--name", "screen 1"])["told"], 3);
    let line = place.run(&["copy", "screen.db", "more", "--name", "screen 1"]).failed(2);
    assert_eq!(line, "error: there is already a campaign `more`; choose another name");
    let said = place.good(&["copy", "screen.db", "copied", "--name", "screen 1", "--to", "other.db"]).stderr;
    assert_eq!(said, "copied the campaign to `copied`, with 6 events\n");
    let export = |store: &str, name: &str| place.good(&["export", store, "--events", "--name", name]).stdout;
    assert_eq!(export("other.db", "copied"), export("screen.db", "screen 1"));
}

/// Without the name once more, nothing is deleted.
#[test]
fn a_campaign_is_deleted_by_its_name() {
    let place = two_campaigns();
    let line = place.run(&["delete", "screen.db", "--name", "arms"]).failed(2);
    assert!(line.contains("repeat its name with `--yes`"), "{line}");
    let line = place.run(&["delete", "screen.db", "--name", "arms", "--yes", "more"]).failed(2);
    assert!(line.contains("`more` is not the name of the campaign, `arms`, so nothing was deleted"), "{line}");
    assert!(place.run(&["delete", "screen.db", "--yes", "more"]).failed(1).contains("the store has 2 campaigns"));
    assert_eq!(place.json(&["list", "screen.db"]).as_array().unwrap().len(), 2);
    place.good(&["delete", "screen.db", "--name", "arms", "--yes", "arms"]);
    assert_eq!(place.json(&["status", "screen.db"])["campaign"], "more");
    place.good(&["delete", "screen.db", "--yes", "more"]);
    assert!(place.run(&["status", "screen.db"]).failed(1).contains("has no campaign yet"));
    assert_eq!(place.good(&["list", "screen.db", "--format", "json"]).stdout, "[]\n");
    let header = place.good(&["list", "screen.db", "--format", "csv"]).stdout;
    assert_eq!(header, "campaign,begun,n_arms,threshold,told,budget,ending,spent\n");
}

/// A `run` whose campaign is deleted says so, and keeps the reward that it could not save.
#[cfg(unix)]
#[test]
fn a_run_whose_campaign_is_deleted_keeps_its_rewards() {
    let place = screen(&["--budget", "3"]);
    place.write("m.sh", "touch started; while [ ! -e gone ]; do sleep 0.02; done; echo 0.25\n");
    let mut run = place.cutline(&["run", "screen.db", "--measure", "sh m.sh"]);
    let running = run.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    wait_for("measurement", || place.path("started").exists());
    place.good(&["delete", "screen.db", "--yes", "arms"]);
    place.write("gone", "");
    let ran = Ran::from(running.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("error: the campaign was deleted, so nothing more was saved"), "{}", ran.stderr);
    assert!(ran.stderr.starts_with("1 reward was not saved in the store; "), "{}", ran.stderr);
    assert!(place.text("screen.db.unsaved-rewards.csv").contains(",0.25\n"));
}

#[test]
fn scripts_and_the_manual_name_every_command() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = place.good(&["completions", shell]).stdout;
        for word in ["status", "--threshold", "check", "--exit-code"] {
            assert!(script.contains(word.trim_start_matches('-')), "{shell}: {word}");
        }
    }
    assert_eq!(place.run(&["completions", "tcsh"]).code, Some(2));
    let man = place.good(&["man"]).stdout;
    for word in [".TH cutline", "CUTLINE CHECK", "CUTLINE PLAN", "\\-\\-exit\\-code"] {
        assert!(man.contains(word), "{word}");
    }
    assert!(!man.contains("WATCHDOG") && !man.contains("watchdog"));
}
