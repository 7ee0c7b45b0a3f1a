//! `cutline ask` and `cutline tell`: tickets and rewards, in all formats, with many workers and with wrong input.

use crate::common::process::wait_for;
use crate::common::{NAMES, Place, Ran, screen};
use serde_json::Value;
use std::io::Write;
use std::process::Stdio;

/// The number of rewards recorded.
fn n_rewards(place: &Place) -> u64 {
    place.json(&["status", "screen.db"])["told"].as_u64().unwrap()
}

#[test]
fn formats_agree() {
    let place = screen(&["--budget", "40"]);
    let json = place.json(&["ask", "screen.db", "-n", "12"]);
    let tickets = json.as_array().unwrap();
    assert_eq!(tickets.iter().map(|t| t["ticket"].as_u64().unwrap()).collect::<Vec<_>>(), (1..=12).collect::<Vec<_>>());
    let features = [[1.0, 0.1], [2.0, -0.3], [3.0, 0.7], [4.0, 0.2], [5.0, -0.9], [6.0, 0.4]];
    for ticket in tickets {
        let index = usize::try_from(ticket["index"].as_u64().unwrap()).unwrap();
        assert_eq!(ticket["arm"], NAMES[index]);
        assert_eq!(ticket["features"], serde_json::json!({"x": features[index][0], "y": features[index][1]}));
        let until = ticket["until"].as_str().unwrap();
        assert!(until.len() == 24 && until.starts_with("20") && until.ends_with('Z'), "{until}");
    }
    // The same campaign again, asked in another format.
    let place = screen(&["--budget", "40"]);
    let ran = place.good(&["ask", "screen.db", "-n", "12", "--format", "csv", "--plain"]);
    let mut reader = csv::Reader::from_reader(ran.stdout.as_bytes());
    assert_eq!(reader.headers().unwrap(), ["ticket", "arm", "index", "until", "x", "y"].as_slice());
    let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(records.len(), 12);
    for (record, ticket) in records.iter().zip(tickets) {
        assert_eq!(record[1], *ticket["arm"].as_str().unwrap());
        assert_eq!(record[5].parse::<f64>().ok(), ticket["features"]["y"].as_f64());
    }
    let place = screen(&["--budget", "40"]);
    let table = place.good(&["ask", "screen.db", "-n", "12"]).stdout;
    for (line, ticket) in table.lines().skip(2).zip(tickets) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        assert_eq!(cells[..2], [&ticket["ticket"].to_string(), ticket["arm"].as_str().unwrap()]);
    }
    assert_eq!(table.lines().count(), 14);
}

/// People fill in the output of `ask --format csv`: a column that was sorted on its own is noticed, and rewards may have a decimal comma.
#[test]
fn a_sheet_that_was_filled_in() {
    let place = screen(&["--budget", "40"]);
    let tickets = place.json(&["ask", "screen.db", "-n", "2"]);
    let arm = |ticket: usize| tickets[ticket]["arm"].as_str().unwrap();
    let other = NAMES.iter().find(|name| **name != arm(1)).unwrap();
    place.write("wrong.csv", format!("ticket;arm;reward\n1;{};0,5\n2;{other};1\n", arm(0)));
    assert_eq!(
        place.refuses(&["tell", "screen.db", "--file", "wrong.csv", "--decimal", ","]),
        format!("error: wrong.csv: row 3: ticket 2 is for arm `{}`, not for `{other}`; nothing was recorded", arm(1))
    );
    assert_eq!(n_rewards(&place), 0);
    place.write("right.csv", format!("ticket;arm;reward\n1;{};0,5\n2;{};1\n", arm(0), arm(1)));
    let refused = place.refuses(&["tell", "screen.db", "--file", "right.csv"]);
    assert!(refused.ends_with("use `--decimal ,` for numbers with a decimal comma"), "{refused}");
    place.good(&["tell", "screen.db", "--file", "right.csv", "--decimal", ","]);
    let events = place.json(&["export", "screen.db", "--events"]);
    let told: Vec<&Value> = events.as_array().unwrap().iter().filter(|event| event["event"] == "told").collect();
    assert_eq!(told.iter().map(|event| event["reward"].as_f64()).collect::<Vec<_>>(), [Some(0.5), Some(1.0)]);
}

/// JSON and CSV keep every bit of numbers that are hard to print.
#[test]
fn features_round_trip() {
    let place = Place::new();
    let numbers = [0.1 + 0.2, 1e-300 / 3.0, 1e300, -7.0 / 3.0, 5e-324];
    let csv = numbers.iter().fold(String::from("x\n"), |csv, x| format!("{csv}{x:e}\n"));
    place.write("arms.csv", csv);
    place.good(&["new", "a.db", "arms.csv", "--threshold", "0", "--budget", "9", "--algorithm", "apt"]);
    let text = place.good(&["ask", "a.db", "-n", "5", "--format", "json"]).stdout;
    assert_eq!(text.lines().count(), 2 + numbers.len());
    for (line, number) in text.lines().skip(1).zip(numbers) {
        let field = line.split("\"x\":").nth(1).unwrap().split('}').next().unwrap();
        assert_eq!(field.parse(), Ok(number), "{line}");
    }
    place.good(&["new", "b.db", "arms.csv", "--threshold", "0", "--budget", "9", "--algorithm", "apt"]);
    let text = place.good(&["ask", "b.db", "-n", "5", "--format", "csv"]).stdout;
    assert_eq!(text.lines().count(), 1 + numbers.len());
    for (line, number) in text.lines().skip(1).zip(numbers) {
        assert_eq!(line.rsplit(',').next().unwrap().parse(), Ok(number), "{line}");
    }
}

#[test]
fn nothing_to_measure_is_reported_and_not_a_failure() {
    let place = screen(&["--budget", "3"]);
    let ran = place.good(&["ask", "screen.db", "-n", "4", "--lease", "2h"]);
    assert_eq!(ran.stdout.lines().count(), 5, "three tickets");
    assert!(
        ran.stderr.starts_with("3 of 4 tickets: the remaining budget is assigned to 3 open tickets; ask again after"),
        "{}",
        ran.stderr
    );
    let wait = place.good(&["ask", "screen.db"]);
    assert_eq!(wait.stdout, "");
    assert!(
        wait.stderr.starts_with("nothing to measure: the remaining budget is assigned to 3 open tickets"),
        "{}",
        wait.stderr
    );
    assert!(
        wait.stderr.contains("in 1h 5") && wait.stderr.ends_with("m, when the first lease runs out\n"),
        "{}",
        wait.stderr
    );
    assert_eq!(place.json(&["ask", "screen.db"]), Value::Array(vec![]));
    assert_eq!(place.good(&["ask", "screen.db", "--format", "csv"]).stdout, "ticket,arm,index,until,x,y\n");
    assert_eq!(place.run(&["ask", "screen.db", "--exit-code"]).code, Some(4));
    let ran = place.good(&["tell", "screen.db", "1", "0.5", "2", "-0.25", "3", "1e-3"]);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", "3 rewards recorded; the budget of 3 is used up\n"));
    let over = place.run(&["ask", "screen.db", "--exit-code"]);
    assert_eq!((over.code, over.stderr.as_str()), (Some(3), "nothing to measure: the budget of 3 is used up\n"));
}

/// With rewards far above the threshold and hardly any noise, every verdict is proved long before the budget is used up.
#[test]
fn an_end_before_the_budget() {
    let place = screen(&["--budget", "400", "--noise", "0.01", "--until-sure", "proved", "--algorithm", "apt"]);
    let mut rounds = 0;
    let said = loop {
        let ran = place.run(&["ask", "screen.db", "-n", "6", "--format", "json", "--exit-code"]);
        if ran.code == Some(3) {
            break ran.stderr;
        }
        let tickets: Value = serde_json::from_str(&ran.stdout).unwrap();
        for ticket in tickets.as_array().unwrap() {
            place.good(&["tell", "screen.db", &ticket["ticket"].to_string(), "9"]);
        }
        rounds += 1;
        assert!(rounds < 20, "no end");
    };
    assert_eq!(said, "nothing to measure: every verdict is proved\n");
    assert_eq!(place.json(&["status", "screen.db"])["ending"], "proved");
}

#[test]
fn rewards_are_recorded_all_or_none() {
    let place = screen(&["--budget", "10"]);
    place.good(&["ask", "screen.db", "-n", "4"]);
    let refused = |args: &[&str]| place.run(&[&["tell", "screen.db"], args].concat()).failed(1);
    assert_eq!(refused(&["1", "0.5", "9", "0.5"]), "error: there is no ticket 9; the last one is 4");
    assert_eq!(
        refused(&["1", "0.5", "1", "0.7"]),
        "error: ticket 1 already has the reward 0.5, so 0.7 is refused; correct it with `cutline amend`"
    );
    assert_eq!(
        refused(&["1", "0.5", "2", "1e200"]),
        "error: a reward must be a number between -1e80 and 1e80, not 1e200"
    );
    assert_eq!(n_rewards(&place), 0);
    assert_eq!(place.good(&["tell", "screen.db", "1", "0.5"]).stderr, "1 reward recorded; 9 to go\n");
    assert_eq!(
        place.good(&["tell", "screen.db", "1", "0.5", "2", "-3"]).stderr,
        "1 reward recorded, 1 already known; 8 to go\n"
    );
    let expected = "error: ticket 2 already has the reward -3, so 3 is refused; correct it with `cutline amend`";
    assert_eq!(refused(&["3", "0", "2", "3"]), expected);
    assert_eq!(n_rewards(&place), 2);
}

#[test]
fn wrong_rewards_are_refused_in_one_line() {
    let place = screen(&["--budget", "10"]);
    place.good(&["ask", "screen.db", "-n", "2"]);
    for (words, expected) in [
        (&["1", "nan"][..], "`nan` is not a reward; give a finite number"),
        (&["1", "0.5", "2", "inf"], "`inf` is not a reward; give a finite number"),
        (&["1", "1e999"], "`1e999` is not a reward; give a finite number"),
        (&["1", "good"], "`good` is not a reward; give a finite number"),
        (&["1", ""], "`` is not a reward; give a finite number"),
        (&["0", "1"], "`0` is not a ticket; tickets are whole numbers from 1"),
        (&["-1", "1"], "`-1` is not a ticket; tickets are whole numbers from 1"),
        (&["x", "1"], "`x` is not a ticket; tickets are whole numbers from 1"),
        (&["1", "0.5", "2"], "`2` has no reward; give each ticket with its reward, as in `3 0.71 4 -0.2`"),
    ] {
        let line = place.run(&[&["tell", "screen.db"], words].concat()).failed(2);
        assert_eq!(line, format!("error: {expected}"));
    }
    for (csv, expected) in [
        (&b"ticket,reward\n1,0.5\n2,NaN\n"[..], "row 3, column `reward`: `NaN` is not a finite number"),
        (b"ticket,reward\n1,\n", "row 2, column `reward`: `` is not a finite number"),
        (b"ticket,reward\n1,1e999\n", "row 2, column `reward`: `1e999` is not a finite number"),
        (b"ticket,reward\na,1\n", "row 2, column `ticket`: `a` is not a ticket; tickets are whole numbers from 1"),
        (b"arm,reward\na,1\n", "there is no column `ticket` in the header `arm,reward`"),
        (b"ticket,reward\n", "there are no rewards: the file needs a header and one row per reward"),
    ] {
        place.write("rewards.csv", csv);
        let line = place.run(&["tell", "screen.db", "--file", "rewards.csv"]).failed(1);
        assert_eq!(line, format!("error: rewards.csv: {expected}"));
    }
    place.good(&["ask", "screen.db", "-n", "2"]);
    for (csv, expected) in [
        ("ticket,reward\n1,0.5\n\n99,1\n", "row 4: there is no ticket 99; the last one is 4"),
        ("reward,ticket\n1,2\n2,2\n", "row 3: ticket 2 already has the reward 1, so 2 is refused"),
    ] {
        place.write("rewards.csv", csv);
        let line = place.run(&["tell", "screen.db", "--file", "rewards.csv"]).failed(1);
        assert_eq!(line, format!("error: rewards.csv: {expected}"));
    }
    let line = place.run(&["tell", "screen.db", "--file", "no.csv"]).failed(1);
    assert_eq!(line, "error: cannot read no.csv: No such file or directory (os error 2)");
    assert_eq!(n_rewards(&place), 0);
}

#[test]
fn rewards_from_files_and_stdin() {
    let place = screen(&["--budget", "10"]);
    place.good(&["ask", "screen.db", "-n", "4"]);
    place.write("rewards.csv", "note,Reward,TICKET\n\"a, b\",0.25,3\n,-1,1\n");
    assert_eq!(place.good(&["tell", "screen.db", "--file", "rewards.csv"]).stderr, "2 rewards recorded; 8 to go\n");
    let mut child = place.cutline(&["tell", "screen.db", "--file", "-"]);
    let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"ticket,reward\r\n2,0.1\r\n4,0.2\r\n").unwrap();
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), "2 rewards recorded; 6 to go\n"));
    for words in [&["tell", "screen.db", "--file", "-"][..], &["tell", "screen.db", "-"]] {
        let line = place.run(words).failed(1);
        assert!(line.starts_with("error: stdin: there is no header; it must have a column `ticket`"), "{line}");
    }
}

#[test]
fn tickets_may_fail() {
    let place = screen(&["--budget", "2"]);
    place.good(&["ask", "screen.db", "-n", "2"]);
    let fail = ["tell", "screen.db", "--fail", "2", "--reason", "spilt, \"all\"\nof it"];
    assert_eq!(place.good(&fail).stderr, "ticket 2 recorded as failed; 2 to go\n");
    assert_eq!(place.good(&fail).stderr, "ticket 2 was already recorded as failed; 2 to go\n");
    let events = place.json(&["export", "screen.db", "--events"]);
    assert_eq!(events[2]["reason"], "spilt, \"all\"\nof it");
    assert_eq!(place.json(&["ask", "screen.db"])[0]["ticket"], 3, "its measurement is handed out again");
    place.good(&["tell", "screen.db", "1", "0"]);
    let line = place.run(&["tell", "screen.db", "--fail", "1"]).failed(1);
    assert_eq!(line, "error: ticket 1 already has the reward 0, so it cannot fail");
    let line = place.run(&["tell", "screen.db", "2", "1"]).failed(1);
    assert_eq!(line, "error: ticket 2 was reported as failed; ask for another one with `cutline ask`");
    assert!(place.run(&["tell", "screen.db", "--fail", "7"]).failed(1).contains("there is no ticket 7"));
}

#[test]
fn leases_run_out_and_rewards_may_come_late() {
    let place = screen(&["--budget", "2"]);
    place.good(&["ask", "screen.db", "-n", "2", "--lease", "1s", "--worker", "slow one"]);
    let is_overdue = |ticket: &Value| ticket["is_overdue"] == true;
    wait_for("end of the leases", || {
        place.json(&["status", "screen.db"])["tickets"].as_array().unwrap().iter().all(is_overdue)
    });
    assert!(place.good(&["status", "screen.db"]).stdout.contains("overdue by "));
    let again = place.json(&["ask", "screen.db", "-n", "2"]);
    assert_eq!((&again[0]["ticket"], &again[1]["ticket"]), (&3.into(), &4.into()));
    let told = |ticket: &str| place.good(&["tell", "screen.db", ticket, "0.5"]).stderr;
    assert_eq!(told("1"), "1 reward recorded; 1 to go\n", "its place was handed out again, but not told");
    assert_eq!(told("3"), "1 reward recorded; the budget of 2 is used up\n");
    assert_eq!(told("4"), "1 reward recorded; the budget of 2 is used up\n", "it was promised a place");
    let status = place.json(&["status", "screen.db"]);
    assert_eq!((&status["told"], &status["uncounted"]), (&2.into(), &1.into()));
    let text = place.good(&["status", "screen.db"]).stdout;
    assert!(text.contains("2 of 2, 1 more that do not count towards the budget"), "{text}");
    for bad in ["0", "0s", "-1h", "2", "1.5h", "soon", "", "99999d"] {
        let ran = place.run(&["ask", "screen.db", "--lease", bad]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{bad}");
        assert!(ran.stderr.starts_with(&format!("error: invalid value '{bad}' for '--lease")), "{}", ran.stderr);
    }
}

#[test]
fn what_is_not_a_store_is_refused() {
    let place = screen(&["--budget", "2"]);
    place.write("foreign.db", "a file of somebody else's");
    place.write("empty.db", "");
    for verb in [&["ask"][..], &["tell", "1", "2"], &["status"], &["export", "--events"]] {
        let refused = |store: &str| place.refuses(&[&verb[..1], &[store], &verb[1..]].concat());
        assert_eq!(refused("no.db"), "error: there is no store at no.db; begin a campaign with `cutline new`");
        assert_eq!(refused("empty.db"), "error: there is no store at empty.db; begin a campaign with `cutline new`");
        assert_eq!(refused("foreign.db"), "error: foreign.db is not a Cutline store; it was left as it is");
        let named = place.run(&[&verb[..1], &["screen.db"], &verb[1..], &["--name", "x"]].concat()).failed(1);
        assert_eq!(named, "error: there is no campaign `x`; the store has `arms`");
    }
    let line = place.run(&["tell", "screen.db", "1", "0.5"]).failed(1);
    assert_eq!(line, "error: there is no ticket 1; none was handed out yet");
}

#[test]
fn wrong_command_lines() {
    let place = screen(&["--budget", "2"]);
    for args in [
        &["ask"][..],
        &["ask", "screen.db", "-n", "0"],
        &["ask", "screen.db", "--worker", ""],
        &["ask", "screen.db", "--worker", "a\nb"],
        &["tell", "screen.db"],
        &["tell", "screen.db", "1", "2", "--file", "x.csv"],
        &["tell", "screen.db", "1", "2", "--fail", "1"],
        &["tell", "screen.db", "1", "2", "--reason", "none"],
        &["tell", "screen.db", "1", "-inf"],
        &["status", "screen.db", "--watch", "--format", "json"],
        &["export", "screen.db"],
        &["export", "screen.db", "--events", "--verdicts"],
        &["export", "screen.db", "--events", "--format", "table"],
    ] {
        let ran = place.run(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{args:?}");
        assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr);
    }
    assert_eq!(place.json(&["export", "screen.db", "--events"]), Value::Array(vec![]));
}

/// Tickets that nobody could read are not open.
#[test]
fn tickets_that_cannot_be_printed_expire() {
    let place = screen(&["--budget", "2"]);
    let ran = place.shell("\"$@\" > /dev/full", &["ask", "screen.db", "-n", "2"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.starts_with("error: cannot print: "), "{}", ran.stderr);
    let status = place.json(&["status", "screen.db"]);
    assert_eq!((&status["tickets"], &status["expired"]), (&Value::Array(vec![]), &2.into()));
}

#[test]
fn concurrent_workers_get_different_tickets() {
    let place = screen(&["--budget", "24"]);
    let ask =
        || place.cutline(&["ask", "screen.db", "-n", "3", "--format", "json"]).stdout(Stdio::piped()).spawn().unwrap();
    let asking: Vec<_> = (0..8).map(|_| ask()).collect();
    let mut numbers: Vec<u64> = asking
        .into_iter()
        .map(|child| Ran::from(child.wait_with_output().unwrap()))
        .flat_map(|ran| serde_json::from_str::<Vec<Value>>(&ran.stdout).unwrap())
        .map(|ticket| ticket["ticket"].as_u64().unwrap())
        .collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=24).collect::<Vec<_>>());
}

/// `csar` pulls in phases: it waits for the rewards of a phase, ends before its budget is used up, and reports when each arm was settled.
#[test]
fn a_campaign_in_phases_waits_and_settles_arms() {
    let place = Place::new();
    place.write("arms.csv", "name\na\nb\nc\n");
    let new = ["new", "phases.db", "arms.csv", "--threshold", "0", "--budget", "20", "--algorithm", "csar"];
    place.good(&new);
    // ⌈(20 − 3)/(3 (1 + ½ + ⅓))⌉ = 4 pulls of each arm in the first phase.
    let waiting = place.good(&["ask", "phases.db", "-n", "20"]);
    let expected = "12 of 20 tickets: the next choice depends on the rewards of 12 open tickets; ask again after";
    assert!(waiting.stderr.starts_with(expected), "{}", waiting.stderr);
    let mut told = 0;
    loop {
        for ticket in told + 1..=told + 20 {
            let reward = ["9", "-1", "1"][ticket % 3];
            if place.run(&["tell", "phases.db", &ticket.to_string(), reward]).code != Some(0) {
                break;
            }
            told = ticket;
        }
        if place.good(&["ask", "phases.db", "-n", "20"]).stdout.is_empty() {
            break;
        }
    }
    let status = place.json(&["status", "phases.db"]);
    assert_eq!((&status["ending"], told < 20), (&Value::from("settled"), true), "{told} rewards");
    let verdicts = place.json(&["export", "phases.db", "--verdicts"]);
    let settled: Vec<u64> = verdicts.as_array().unwrap().iter().map(|v| v["settled_after"].as_u64().unwrap()).collect();
    assert!(settled.contains(&12) && settled.contains(&(told as u64)), "{settled:?}");
    place.good(&["report", "phases.db", "--out", "report.html"]);
    let page = place.text("report.html");
    assert!(page.contains("4; decided at measurement 12"));
}
