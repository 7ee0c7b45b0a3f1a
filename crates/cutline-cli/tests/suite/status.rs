//! `cutline status`: the numbers, the tables, and watching.

use crate::common::{Place, Ran, screen};
use std::io::{BufRead, BufReader};
use std::process::Stdio;

/// Eleven of twenty rewards, one failed ticket, two open ones.
fn under_way() -> Place {
    let place = screen(&["--budget", "20", "--precision", "0.1"]);
    place.good(&["ask", "screen.db", "-n", "12", "--worker", "w 1"]);
    for ticket in 1..=11 {
        place.good(&["tell", "screen.db", &ticket.to_string(), &format!("0.{ticket}")]);
    }
    place.good(&["tell", "screen.db", "--fail", "12"]);
    place.good(&["ask", "screen.db", "-n", "2", "--worker", "w, 2", "--lease", "3h"]);
    place
}

#[test]
fn the_numbers_add_up() {
    let place = under_way();
    let status = place.json(&["status", "screen.db"]);
    for (key, expected) in
        [("budget", 20), ("told", 11), ("uncounted", 0), ("failed", 1), ("expired", 0), ("n_arms", 6)]
    {
        assert_eq!(status[key], expected, "{key}");
    }
    let verdicts = place.json(&["export", "screen.db", "--verdicts"]);
    let verdicts = verdicts.as_array().unwrap();
    for side in ["above", "below", "undecided"] {
        assert_eq!(status[side], verdicts.iter().filter(|verdict| verdict["side"] == side).count(), "{side}");
    }
    let out = status["tickets"].as_array().unwrap();
    assert_eq!(out.iter().map(|out| &out["ticket"]).collect::<Vec<_>>(), [13, 14]);
    assert_eq!((&out[0]["worker"], &out[0]["is_overdue"]), (&"w, 2".into(), &false.into()));
    let mut doubts: Vec<f64> = verdicts.iter().map(|verdict| verdict["doubt"].as_f64().unwrap()).collect();
    doubts.sort_by(|a, b| b.total_cmp(a));
    let shown: Vec<f64> = status["doubtful"].as_array().unwrap().iter().map(|d| d["doubt"].as_f64().unwrap()).collect();
    assert_eq!(shown, doubts[..5], "the largest first");
    assert_eq!((&status["noise_from"], &status["ending"]), (&"model".into(), &serde_json::Value::Null));
    assert_eq!(status["model"], "mixed");
    let expected = status["wrong_calls"].as_f64().unwrap();
    assert!((expected - doubts.iter().sum::<f64>()).abs() < 1e-12, "{expected}");
    let shares = ["linear", "smooth", "own"].map(|part| status["explained"][part].as_f64().unwrap());
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{shares:?}");
    let features = (100.0 * (shares[0] + shares[1])).round();
    let found = format!("features explain {features} % of the differences (linear ");
    assert!(status["finding"].as_str().unwrap().starts_with(&found), "{status}");
    assert!(status["rewards_per_hour"].as_f64().unwrap() > 0.0);
    assert!(status["budget_used_at"].as_str() > Some("2020"));
}

#[test]
fn formats_agree() {
    let place = under_way();
    let status = place.json(&["status", "screen.db"]);
    let csv = place.good(&["status", "screen.db", "--format", "csv"]).stdout;
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header = reader.headers().unwrap().clone();
    let row = reader.records().next().unwrap().unwrap();
    assert_eq!(header.len(), 44);
    for (key, field) in header.iter().zip(&row).filter(|(key, _)| !["rewards_per_hour", "budget_used_at"].contains(key))
    {
        let value = match key.split_once('_') {
            Some((whole @ ("explained" | "rest"), part)) => &status[whole][part],
            _ => &status[key],
        };
        let is_same = match value {
            serde_json::Value::String(text) => text == field,
            serde_json::Value::Null => field.is_empty(),
            serde_json::Value::Bool(value) => value.to_string() == field,
            serde_json::Value::Object(limits) => limits.is_empty() && field.is_empty(),
            serde_json::Value::Array(texts) => {
                texts.iter().map(|text| text.as_str().unwrap()).collect::<Vec<_>>().join("; ") == field
            }
            serde_json::Value::Number(number) => number.as_f64() == field.parse().ok(),
        };
        assert!(is_same, "{key}: {field} against {value}");
    }
    let text = place.good(&["status", "screen.db"]).stdout;
    for line in [
        "campaign   arms",
        "question   which of 6 arms have a mean above 0.5, give or take 0.1?",
        "algorithm  pivot, mixed model",
        "rewards    11 of 20",
        "tickets    2 open",
        "lost       1 failed, 0 expired",
        "open tickets",
        "most doubtful arms, 5 of 6",
    ] {
        assert!(text.lines().any(|said| said == line), "{line}: {text}");
    }
    assert!(text.contains("| w, 2   | runs out in 2h 59m |"), "{text}");
    let ends = text.lines().find(|line| line.starts_with("pace ")).unwrap();
    assert!(ends.contains(" rewards per hour; at this rate the budget is used up in "), "{ends}");
    let noise = text.lines().find(|line| line.starts_with("noise ")).unwrap();
    assert!(noise.ends_with(", learnt by the model"), "{noise}");
    let found = format!("found      {}", status["finding"].as_str().unwrap());
    assert!(text.lines().any(|line| line == found), "{found}: {text}");
    let expected = text.lines().find(|line| line.starts_with("expected ")).unwrap();
    let number = format!("expected   {:.1} wrong calls ", status["wrong_calls"].as_f64().unwrap());
    assert!(expected.starts_with(&number) && expected.ends_with("by the model, not guaranteed"), "{expected}");
}

/// Decided or not, the wrong calls to expect, the fit of the model and what the rest of the budget would bring: the same in `status`, in
/// `report` and, for people, in words.
#[test]
fn every_surface_says_how_things_stand() {
    let place = under_way();
    let status = place.json(&["status", "screen.db"]);
    let report = place.json(&["report", "screen.db"]);
    for key in [
        "above",
        "above_proved",
        "below",
        "below_proved",
        "undecided",
        "remarks",
        "wrong_calls",
        "fit",
        "fit_p_value",
        "fit_advice",
        "may_stop",
        "rest",
    ] {
        assert_eq!(status[key], report[key], "{key}");
    }
    assert_eq!(
        (&status["fit"], &status["may_stop"], &status["remaining"]),
        (&"adapts".into(), &false.into(), &9.into())
    );
    let rest = &status["rest"];
    assert_eq!((&rest["measurements"], &rest["runs"]), (&9.into(), &16.into()));
    let [wrong, undecided] = ["wrong_calls", "undecided"].map(|key| rest[key].as_f64().unwrap());
    assert!((0.0..=6.0).contains(&wrong) && (0.0..=6.0).contains(&undecided), "{rest}");
    let text = place.good(&["status", "screen.db"]).stdout;
    let said = place.good(&["report", "screen.db"]).stdout;
    let line =
        format!("9 more measurements would leave about {wrong:.1} wrong calls and {undecided:.0} undecided candidates");
    assert!(text.contains(&format!("\nrest       {line}, by 16 simulated campaigns\n")), "{text}");
    assert!(said.contains(&format!("\nRest: {line}, by 16 simulated campaigns.\n")), "{said}");
    assert!(text.contains("\nmodel      adapts: the mixed model learns what a line does not explain"), "{text}");
    assert!(said.contains("\nModel: adapts: the mixed model learns what a line does not explain"), "{said}");
    let csv = place.good(&["report", "screen.db", "--format", "csv"]).stdout;
    let header = csv.lines().next().unwrap();
    assert!(
        header.starts_with(
            "campaign,sentence,threshold,precision,model,algorithm,n_arms,above,above_proved,at_threshold,"
        ),
        "{csv}"
    );
    assert!(header.ends_with(",rewards_per_hour,budget_used_at,rest_wrong_calls,rest_undecided,events"), "{csv}");
    assert_eq!(place.good(&["status", "screen.db", "--format", "csv"]).stdout.lines().next(), Some(header));
}

/// Once every arm is decided, it says so.
#[test]
fn a_decided_campaign_may_stop() {
    let place = screen(&["--budget", "40", "--model", "independent", "--noise", "0.01"]);
    place.good(&["ask", "screen.db", "-n", "6"]);
    for ticket in 1..=6 {
        let text = place.good(&["status", "screen.db"]).stdout;
        assert!(!text.contains("you may stop"), "{text}");
        place.good(&["tell", "screen.db", &ticket.to_string(), "3"]);
    }
    let stop = "every candidate is decided: you may stop";
    assert!(place.good(&["status", "screen.db"]).stdout.contains(&format!("\nstop       {stop}\n")));
    assert_eq!(place.json(&["status", "screen.db"])["may_stop"], true);
    assert!(place.good(&["report", "screen.db"]).stdout.contains("\nEvery candidate is decided: you may stop.\n"));
    assert!(place.text("report.html").contains("Every candidate is decided: you may stop."));
}

/// A campaign whose rest takes long to simulate names the command that does it.
#[test]
fn a_long_rest_is_left_to_plan() {
    let place = screen(&["--budget", "1e6"]);
    place.good(&["ask", "screen.db", "-n", "10"]);
    for ticket in 1..=10 {
        let text = place.good(&["status", "screen.db"]).stdout;
        assert!(!text.contains("\nrest ") && !text.contains("\nexpected "), "fewer than ten rewards: {text}");
        place.good(&["tell", "screen.db", &ticket.to_string(), &format!("0.{ticket}")]);
    }
    let text = place.good(&["status", "screen.db"]).stdout;
    let rest = "\nrest       `cutline plan STORE` simulates what 999990 more measurements would bring\n";
    assert!(text.contains(rest), "{text}");
    assert_eq!(place.json(&["status", "screen.db"])["rest"], serde_json::Value::Null);
}

/// A campaign ends once few enough wrong calls are expected, and every text calls that an expectation.
#[test]
fn a_campaign_ends_by_expected_errors() {
    let place = screen(&["--budget", "400", "--until-sure", "expected-errors 0.5"]);
    let new = place.good(&["status", "screen.db"]).stdout;
    let words = "once at most 0.5 wrong calls are expected, which is an expectation and not a guarantee";
    assert!(new.contains(&format!("\nends       {words}\n")), "{new}");
    assert_eq!(place.json(&["status", "screen.db"])["until_sure"], "expected-errors 0.5");
    let mut number = 0;
    while let Some(tickets) = place.json(&["ask", "screen.db", "-n", "20"]).as_array().filter(|all| !all.is_empty()) {
        let rewards: Vec<String> = tickets
            .iter()
            .flat_map(|ticket| {
                number += 1;
                let side = if ticket["index"].as_u64().unwrap() < 3 { 0.8 } else { 0.2 };
                [ticket["ticket"].to_string(), (side + f64::from(number % 7) / 50.0).to_string()]
            })
            .collect();
        let rewards: Vec<&str> = rewards.iter().map(String::as_str).collect();
        place.good(&[&["tell", "screen.db"], &rewards[..]].concat());
    }
    let status = place.json(&["status", "screen.db"]);
    assert_eq!(status["ending"], "expected-errors");
    assert!((50..400).contains(&status["told"].as_u64().unwrap()), "{status}");
    assert!(status["wrong_calls"].as_f64().unwrap() <= 0.5);
    let reason = "few enough wrong calls are expected, which is not a guarantee";
    assert!(place.good(&["status", "screen.db"]).stdout.contains(&format!("\nended      {reason}\n")));
    assert!(place.good(&["ask", "screen.db"]).stderr.contains(reason));
    place.good(&["report", "screen.db"]);
    let page = place.text("report.html");
    assert!(page.contains(&format!("The campaign has ended: {reason}.")) && page.contains(words));
}

/// The other models have nothing to say about shares and expectations.
#[test]
fn other_models_are_named() {
    for (options, algorithm) in [
        (["--model", "linear"], "pivot, linear model"),
        (["--model", "independent"], "apt, independent model"),
        (["--algorithm", "linear-apt"], "linear-apt, linear model"),
    ] {
        let place = screen(&[&["--budget", "20"][..], &options].concat());
        let status = place.json(&["status", "screen.db"]);
        for key in ["explained", "wrong_calls", "finding"] {
            assert_eq!(status[key], serde_json::Value::Null, "{key}");
        }
        let text = place.good(&["status", "screen.db"]).stdout;
        assert!(text.contains(&format!("\nalgorithm  {algorithm}\n")), "{text}");
    }
}

#[test]
fn noise_is_shown_with_its_source() {
    let given = screen(&["--budget", "9", "--noise", "0.125"]);
    assert!(given.good(&["status", "screen.db"]).stdout.contains("\nnoise      0.125, as given\n"));
    let unknown = screen(&["--budget", "9"]);
    let text = unknown.good(&["status", "screen.db"]).stdout;
    assert!(text.contains("\nnoise      not known yet\n") && text.contains("|  -inf |   inf |"), "{text}");
    assert_eq!(unknown.json(&["status", "screen.db"])["rewards_per_hour"], serde_json::Value::Null);
}

/// If stdout is not a terminal: one line at once, one line per change, and an end when the campaign ends.
#[test]
fn watching_prints_one_line_per_change() {
    let place = screen(&["--budget", "2"]);
    let mut watching = place.cutline(&["status", "screen.db", "--watch"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut next = || lines.next().unwrap().split_once(' ').unwrap().1.to_owned();
    assert_eq!(next(), "0 of 2 rewards, 0 open tickets, 0 failed; 0 above, 0 below, 6 undecided");
    place.good(&["ask", "screen.db", "-n", "2"]);
    assert_eq!(next(), "0 of 2 rewards, 2 open tickets, 0 failed; 0 above, 0 below, 6 undecided");
    place.good(&["tell", "screen.db", "1", "0.5", "2", "0.6"]);
    let last = next();
    assert!(
        last.starts_with("2 of 2 rewards, 0 open tickets, 0 failed; ") && last.ends_with("; ended: budget"),
        "{last}"
    );
    let ran = Ran::from(watching.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(0));
    assert_eq!(place.good(&["status", "screen.db", "--watch"]).stdout.lines().count(), 1, "it has ended");
}
