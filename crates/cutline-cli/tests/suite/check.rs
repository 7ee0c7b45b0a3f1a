//! `cutline check`: a gate for continuous integration.

use crate::common::{ARMS, NAMES, Place, screen};

/// Six arms of which the first is far below the bar at 0.5 and the others are far above it.
fn decided() -> Place {
    let place = screen(&["--budget", "60", "--model", "independent", "--noise", "0.1"]);
    while let Some(tickets) = place.json(&["ask", "screen.db", "-n", "20"]).as_array().filter(|all| !all.is_empty()) {
        let reward = |ticket: &serde_json::Value| if ticket["index"] == 0 { "-3" } else { "4" };
        let words: Vec<String> = tickets.iter().flat_map(|t| [t["ticket"].to_string(), reward(t).to_owned()]).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        place.good(&[&["tell", "screen.db"], &words[..]].concat());
    }
    place
}

fn code(place: &Place, more: &[&str]) -> (Option<i32>, String) {
    let ran = place.run(&[&["check", "screen.db"], more].concat());
    assert_eq!(ran.stderr, "");
    (ran.code, ran.stdout)
}

#[test]
fn the_exit_code_says_what_is_below_and_what_is_undecided() {
    let place = screen(&["--budget", "60"]);
    let (exit, out) = code(&place, &["--exit-code"]);
    assert_eq!(exit, Some(3), "nothing is known yet: {out}");
    assert_eq!(out.lines().count(), 7);
    assert!(out.starts_with("a: undecided, mean 0.5000, interval -inf to inf, never measured\n"), "{out}");
    assert!(out.ends_with("0 of 6 candidates above 0.5, 0 below, 6 undecided\n"), "{out}");
    assert_eq!(code(&place, &[]).0, Some(0), "without --exit-code");

    let place = decided();
    let (exit, out) = code(&place, &["--exit-code"]);
    assert_eq!(exit, Some(1), "{out}");
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines.len() == 2 && lines[0].starts_with("a: below, proved, mean -3.000, interval -3."), "{out}");
    assert_eq!(lines[1], "5 of 6 candidates above 0.5 (5 proved), 1 below (1 proved), 0 undecided");
    place.good(&["withdraw", "screen.db", "a"]);
    assert!(code(&place, &[]).1.lines().next().unwrap().ends_with(" measurements, withdrawn"));
    place.good(&["restore", "screen.db", "a"]);
    let only = [&["--exit-code", "--only"], &NAMES[1..3]].concat();
    assert_eq!(code(&place, &only), (Some(0), "2 of 2 candidates above 0.5 (2 proved), 0 below, 0 undecided\n".into()));
    assert_eq!(code(&place, &["--exit-code", "--below", "--only", "a"]).0, Some(0));
    let (exit, out) = code(&place, &["--exit-code", "--below"]);
    assert_eq!((exit, out.lines().count()), (Some(1), 6), "{out}");
    let line = place.run(&["check", "screen.db", "--only", "nobody"]).failed(2);
    assert_eq!(line, "error: there is no candidate `nobody` in the campaign `arms`");
}

/// Within the precision both sides count as right, and the answer says so.
#[test]
fn the_precision_is_part_of_the_answer() {
    let place = Place::new();
    place.write("arms.csv", ARMS);
    let observed: String = (0..NAMES.len()).map(|arm| format!("{arm},0.51\n").repeat(40)).collect();
    place.write("observed.csv", format!("arm,reward\n{observed}"));
    let options = ["--threshold", "0.5", "--precision", "0.5", "--noise", "1", "--model", "independent"];
    let more = ["--budget", "60", "--observed", "observed.csv"];
    place.good(&[&["new", "screen.db", "arms.csv"][..], &options, &more].concat());
    let (exit, out) = code(&place, &["--exit-code", "--likely"]);
    assert_eq!(exit, Some(0));
    assert!(
        out.starts_with("6 of 6 candidates above 0.5, give or take 0.5 (") && out.ends_with(", 0 below, 0 undecided\n")
    );
}

/// A line whose slope is expected to be small, because of one candidate far from the others, contradicts the rewards: no gate passes by it.
#[test]
fn verdicts_that_the_rewards_contradict_pass_no_gate() {
    let place = Place::new();
    let x = |arm: u32| (f64::from(arm) - 15.0) / 7.0;
    let reward = |arm: u32, repeat: u32| 1.0 + x(arm) + f64::from((arm * 7 + repeat * 5) % 11) / 20.0 - 0.25;
    let table: Vec<String> = (0..30).map(|arm| format!("c{arm},{}\n", x(arm))).collect();
    let three = |arm: u32| (0..3).map(move |repeat| format!("c{arm},{}\n", reward(arm, repeat)));
    place.write("table.csv", format!("name,x\n{}far,999\n", table.concat()));
    place.write("rewards.csv", format!("arm,reward\n{}", (0..30).flat_map(three).collect::<String>()));
    let options = ["--model", "linear", "--threshold", "0.3", "--budget", "30", "--observed", "rewards.csv"];
    place.good(&[&["new", "screen.db", "table.csv"][..], &options].concat());
    let ran = place.run(&["check", "screen.db", "--exit-code", "--likely"]);
    assert_eq!((ran.code, ran.stdout.lines().count()), (Some(3), 1), "{}", ran.stdout);
    assert!(ran.stdout.starts_with("31 of 31 candidates above 0.3 ("), "{}", ran.stdout);
    assert!(ran.stderr.starts_with("misfit: the verdicts on ") && ran.stderr.contains("own rewards"), "{}", ran.stderr);
}

/// Passes alone say little about a bar close to 1: no gate passes by a few of them.
#[test]
fn a_few_passes_pass_no_strict_gate() {
    let place = Place::new();
    place.write("one.csv", "name,x\na,1\n");
    let options = ["--rewards", "bernoulli", "--threshold", "0.99", "--budget", "3"];
    place.good(&[&["new", "screen.db", "one.csv"][..], &options].concat());
    place.good(&["run", "screen.db", "--measure", "echo 1"]);
    let (exit, out) = code(&place, &["--exit-code"]);
    assert_eq!(exit, Some(3), "{out}");
    assert!(out.starts_with("a: undecided, mean ") && out.contains(" to 1.000, 3 measurements"), "{out}");
}

/// Rewards that equal the bar say nothing about the noise: no gate passes by them, whatever the model.
#[test]
fn rewards_at_the_bar_pass_no_gate() {
    for model in ["independent", "linear", "mixed"] {
        let place = screen(&["--budget", "60", "--model", model]);
        for _ in 0..3 {
            let tickets = place.json(&["ask", "screen.db", "-n", "6"]);
            let numbers: Vec<String> = tickets.as_array().unwrap().iter().map(|t| t["ticket"].to_string()).collect();
            let words: Vec<&str> = numbers.iter().flat_map(|number| [number.as_str(), "0.5"]).collect();
            place.good(&[&["tell", "screen.db"], &words[..]].concat());
            let (exit, out) = code(&place, &["--exit-code"]);
            assert_eq!(exit, Some(3), "{model}: {out}");
            assert!(out.ends_with("0 of 6 candidates above 0.5, 0 below, 6 undecided\n"), "{model}: {out}");
        }
        let status = place.json(&["status", "screen.db"]);
        assert_eq!((&status["may_stop"], &status["ended"]), (&false.into(), &serde_json::Value::Null), "{model}");
    }
}

/// The same rewards decide an arm at a low confidence and not at a high one, and the campaign's own confidence is the default.
#[test]
fn the_confidence_matters() {
    let place = screen(&["--budget", "6", "--model", "independent", "--noise", "1", "--confidence", "0.9"]);
    for (ticket, reward) in (1..=6).zip(["2.5"; 6]) {
        place.good(&["ask", "screen.db"]);
        place.good(&["tell", "screen.db", &ticket.to_string(), reward]);
    }
    let exit = |more: &[&str]| code(&place, &[&["--exit-code", "--likely"], more].concat()).0;
    assert_eq!((exit(&["--confidence", "0.9"]), exit(&["--confidence", "0.999"])), (Some(0), Some(3)));
    assert_eq!(exit(&[]), exit(&["--confidence", "0.9"]));
    for bad in ["0", "1", "95", "x"] {
        assert_eq!(place.run(&["check", "screen.db", "--confidence", bad]).code, Some(2), "{bad}");
    }
}

/// One measurement that lies two σ above the bar makes a candidate likely to be above. Nothing is proved by it: no bet can win more than the
/// likelihood ratio e² = 7.4, and 20 are needed. A gate says that this is not known yet, and what to do.
#[test]
fn likely_verdicts_pass_no_gate_unless_asked_for() {
    let place = screen(&["--budget", "6", "--model", "independent", "--noise", "1"]);
    place.good(&["ask", "screen.db", "-n", "6"]);
    (1..=6).for_each(|ticket| drop(place.good(&["tell", "screen.db", &ticket.to_string(), "2.5"])));
    let ran = place.run(&["check", "screen.db", "--exit-code"]);
    assert_eq!(ran.code, Some(3), "{}", ran.stdout);
    assert_eq!(ran.stderr, "6 verdicts are likely but not proved: measure more, or count them with `--likely`\n");
    assert!(ran.stdout.starts_with("a: above, likely, mean 2.500, "), "{}", ran.stdout);
    let summary = "6 of 6 candidates above 0.5 (0 proved), 0 below, 0 undecided\n";
    assert!(ran.stdout.ends_with(summary), "{}", ran.stdout);
    assert_eq!(code(&place, &["--exit-code", "--likely"]), (Some(0), summary.into()));
    assert_eq!(place.run(&["check", "screen.db", "--exit-code", "--below"]).code, Some(3), "nothing is proved");
    assert_eq!(code(&place, &["--exit-code", "--below", "--likely"]).0, Some(1));
}

/// Twelve passes of twelve against a bar of ½. By a mixture over the rates p from ½ to 1 with the density 12p(1 − p), the e-value is
/// 2¹² ∫ p¹² 12p(1 − p) dp = 12·2¹²·(1/14 − 1/15 − 2⁻¹⁴(1/14 − 1/30)) = 233.9: more than 20, for a confidence of 0.95. No bet can win more
/// than 2¹² = 4,096.
#[test]
fn passes_prove_what_they_can() {
    let place = Place::new();
    place.write("one.csv", "name\na\n");
    let options = ["--rewards", "bernoulli", "--threshold", "0.5", "--budget", "12"];
    place.good(&[&["new", "screen.db", "one.csv"][..], &options].concat());
    place.good(&["run", "screen.db", "--measure", "echo 1"]);
    let (exit, out) = code(&place, &["--exit-code"]);
    assert_eq!((exit, &*out), (Some(0), "1 of 1 candidate above 0.5 (1 proved), 0 below, 0 undecided\n"));
    assert_eq!(place.run(&["check", "screen.db", "--exit-code", "--confidence", "0.9999"]).code, Some(3));
    let verdict = &place.json(&["export", "screen.db", "--verdicts"])[0];
    assert_eq!((&verdict["basis"], &verdict["own_mean"]), (&"proved".into(), &1.0.into()));
    let evidence = 12.0 * 4096.0 * (1.0 / 14.0 - 1.0 / 15.0 - (1.0 / 14.0 - 1.0 / 30.0) / 16384.0);
    assert!((verdict["evidence"].as_f64().unwrap() / evidence - 1.0).abs() < 1e-9, "{verdict}");
    let status = place.json(&["status", "screen.db"]);
    assert_eq!((&status["above"], &status["above_proved"], &status["below_proved"]), (&1.into(), &1.into(), &0.into()));
    assert!(
        place.good(&["status", "screen.db"]).stdout.contains("\nverdicts   1 above (1 proved), 0 below, 0 undecided\n")
    );
}
