//! A campaign that changes: `amend`, `withdraw`, `restore`, `add`, `predict`, `extend`, `set`, replicates, resumed tickets and `--give-up`.

use crate::common::process::wait_for;
use crate::common::{Place, screen};
use serde_json::Value;

/// Measures until nothing is left; the reward of an arm is its place among the names.
fn measure(place: &Place, n: u64) {
    for _ in 0..n {
        let tickets = place.json(&["ask", "screen.db"]);
        let ticket = &tickets[0];
        let reward = ticket["features"]["x"].as_f64().unwrap() - 3.0;
        place.good(&["tell", "screen.db", &ticket["ticket"].to_string(), &reward.to_string()]);
    }
}

fn events(place: &Place) -> Vec<Value> {
    let text = place.good(&["export", "screen.db", "--events", "--format", "json"]).stdout;
    serde_json::from_str::<Value>(&text).unwrap().as_array().unwrap().clone()
}

fn verdicts(place: &Place) -> Vec<Value> {
    let text = place.good(&["export", "screen.db", "--verdicts", "--format", "json"]).stdout;
    serde_json::from_str::<Value>(&text).unwrap().as_array().unwrap().clone()
}

#[test]
fn a_reward_is_corrected_and_both_values_stay() {
    let place = screen(&["--budget", "20"]);
    measure(&place, 6);
    let said = place.good(&["amend", "screen.db", "2", "7.5", "--reason", "digits swapped"]).stderr;
    assert_eq!(said, "1 reward corrected; 14 to go\n");
    assert_eq!(place.good(&["amend", "screen.db", "2", "7.5"]).stderr, "0 rewards corrected, 1 already so; 14 to go\n");
    let void = place.good(&["amend", "screen.db", "3", "--void", "--reason", "wrong sample"]).stderr;
    assert_eq!(void, "1 reward taken out; 15 to go\n");
    let events = events(&place);
    let amended: Vec<&Value> = events.iter().filter(|event| event["event"] == "amended").collect();
    assert_eq!((amended.len(), &amended[0]["reward"], &amended[0]["ticket"]), (1, &7.5.into(), &2.into()));
    assert_eq!(amended[0]["reason"], "digits swapped");
    assert_eq!(events.iter().filter(|event| event["event"] == "told").count(), 6, "the first values stay");
    let other = place.refuses(&["tell", "screen.db", "2", "99"]);
    assert_eq!(other, "error: ticket 2 already has the reward 7.5, so 99 is refused; correct it with `cutline amend`");
    assert!(place.refuses(&["amend", "screen.db", "9", "1"]).contains("there is no ticket 9"));
    place.good(&["ask", "screen.db"]);
    let early = place.refuses(&["amend", "screen.db", "7", "1"]);
    assert!(early.ends_with("nothing to correct; record its reward with `cutline tell`"), "{early}");
}

#[test]
fn a_withdrawn_candidate_is_not_asked_for() {
    let place = screen(&["--budget", "20"]);
    let said = place.good(&["withdraw", "screen.db", "a", "c, d", "--reason", "out of stock"]).stderr;
    assert_eq!(said, "2 candidates withdrawn; 2 withdrawn in all\n");
    let tickets = place.json(&["ask", "screen.db", "-n", "20"]);
    let asked: Vec<&str> = tickets.as_array().unwrap().iter().map(|ticket| ticket["arm"].as_str().unwrap()).collect();
    assert!(asked.len() == 20 && !asked.contains(&"a") && !asked.contains(&"c, d"), "{asked:?}");
    let withdrawn: Vec<bool> = verdicts(&place).iter().map(|verdict| verdict["withdrawn"] == 1).collect();
    assert_eq!(withdrawn, [true, false, true, false, false, false]);
    let said = place.good(&["restore", "screen.db", "a", "b"]).stderr;
    assert_eq!(said, "1 candidate restored, 1 were not withdrawn; 1 withdrawn in all\n");
    let unknown = place.refuses(&["withdraw", "screen.db", "A"]);
    assert_eq!(unknown, "error: there is no candidate `A`; did you mean `a`?");
    assert!(
        place
            .refuses(&["withdraw", "screen.db", "2"])
            .contains("there is no candidate `2`; candidates are given by name")
    );
}

#[test]
fn the_budget_is_extended() {
    let place = screen(&["--budget", "6"]);
    measure(&place, 6);
    assert_eq!(place.good(&["ask", "screen.db"]).stderr, "nothing to measure: the budget of 6 is used up\n");
    assert_eq!(place.good(&["extend", "screen.db", "--budget", "9"]).stderr, "changed: budget = 9; 3 to go\n");
    assert!(place.good(&["extend", "screen.db", "--budget", "9"]).stderr.starts_with("nothing to change"));
    measure(&place, 3);
    let below = place.refuses(&["extend", "screen.db", "--budget", "5"]);
    assert_eq!(below, "error: the budget cannot be 5: 9 of it are used, counting open tickets");
}

#[test]
fn the_question_and_the_method_change() {
    let place = screen(&["--budget", "40"]);
    measure(&place, 12);
    let above = |place: &Place| verdicts(place).iter().filter(|verdict| verdict["side"] == "above").count();
    let before = above(&place);
    let said =
        place.good(&["set", "screen.db", "--threshold", "2.5", "--noise", "0.5", "--until-sure", "evidence"]).stderr;
    assert_eq!(said, "changed: noise = 0.5, threshold = 2.5, until sure = evidence; 28 to go\n");
    assert!(above(&place) < before, "the bar is higher");
    let said = place.good(&["set", "screen.db", "--until-sure", "never", "--noise", "estimated"]).stderr;
    assert!(said.starts_with("changed: noise = none, until sure = none;"), "{said}");
    place.good(&["set", "screen.db", "--model", "linear"]);
    let status = place.json(&["status", "screen.db"]);
    assert_eq!(status["algorithm"], "pivot");
    measure(&place, 1);
    let refused = place.refuses(&["set", "screen.db", "--until-sure", "intervals"]);
    assert!(refused.contains("new campaigns have no stop `intervals`: use `proved`"), "{refused}");
    let usage = place.run(&["set", "screen.db"]);
    assert_eq!(usage.code, Some(2), "{}", usage.stderr);
    let report = place.good(&["report", "screen.db", "--out", "report.html"]);
    assert!(report.stderr.contains("report.html"), "{}", report.stderr);
    let page = place.text("report.html");
    assert!(page.contains("changed: noise = 0.5, threshold = 2.5, until sure = evidence"));
}

#[test]
fn candidates_are_added_and_predicted() {
    let place = screen(&["--budget", "30"]);
    measure(&place, 20);
    place.write("more.csv", "name,y,x\nnew 1,0.1,9\nnew 2,0.1,-9\n");
    let predicted = place.json(&["predict", "screen.db", "more.csv"]);
    assert_eq!((&predicted[0]["arm"], &predicted[0]["side"]), (&"new 1".into(), &"above".into()));
    assert_eq!(predicted[1]["side"], "below");
    assert_eq!(verdicts(&place).len(), 6, "the campaign has not changed");
    let csv = place.good(&["predict", "screen.db", "more.csv", "--format", "csv"]).stdout;
    assert!(
        csv.starts_with("arm,side,mean,lower,upper,doubt,at_threshold,basis,probability_above\nnew 1,above,"),
        "{csv}"
    );
    assert_eq!(place.good(&["predict", "screen.db", "more.csv"]).stderr, "");
    place.write("known.csv", "name,y,x\nnew 1,0.1,9\na,0.1,-9\n");
    let said = place.good(&["predict", "screen.db", "known.csv"]).stderr;
    assert!(
        said.starts_with("1 of them is in the campaign; what is predicted follows from the features, without its"),
        "{said}"
    );
    let said = place.good(&["add", "screen.db", "more.csv"]).stderr;
    assert_eq!(said, "2 candidates added: 1 above, 1 below, 0 undecided; 8 candidates in all\n");
    let added = events(&place).into_iter().find(|event| event["event"] == "added").unwrap();
    assert_eq!((&added["arm"], &added["n_arms"]), (&"new 1".into(), &2.into()), "the first, and how many");
    let again = place.good(&["add", "screen.db", "more.csv"]).stderr;
    assert_eq!(again, "0 candidates added, 2 known already; 8 candidates in all\n");
    let all = verdicts(&place);
    assert_eq!((all.len(), &all[6]["arm"], &all[6]["pulls"]), (8, &"new 1".into(), &0.into()));
    assert_eq!(all[6]["mean"], predicted[0]["mean"], "as predicted");
    place.write("other.csv", "name,y,x\nnew 1,0.1,8\n");
    let other = place.refuses(&["add", "screen.db", "other.csv"]);
    assert_eq!(other, "error: the campaign has a candidate `new 1` already, with other features");
    place.write("unnamed.csv", "id,y,x\nnew 9,0.1,8\n");
    let line = place.run(&["add", "screen.db", "unnamed.csv"]).failed(2);
    assert!(line.contains("there is no column `name`") && line.contains("`--id`"), "{line}");
    for option in [["--features", "x"], ["--category", "x"], ["--missing", "mean"]] {
        for command in ["add", "predict"] {
            let line = place.run(&[&[command, "screen.db", "more.csv"], &option[..]].concat()).failed(2);
            assert!(line.ends_with(&format!("leave out `{}`", option[0])), "{line}");
        }
    }
    place.write("columns.csv", "name,x\nnew 3,1\n");
    assert!(place.refuses(&["add", "screen.db", "columns.csv"]).contains('y'));
    place.good(&["new", "all.db", "arms.csv", "--threshold", "0.5", "--budget", "6", "--algorithm", "apt"]);
    assert_eq!(
        place.refuses(&["add", "all.db", "more.csv"]),
        "error: a budget of 6 is too small for 8 arms: every arm is pulled once first; raise it first with `cutline extend`"
    );
    measure(&place, 5);
}

#[test]
fn categories_and_missing_values_are_read_as_before() {
    let place = Place::new();
    let row = |i: usize| {
        let mass = if i.is_multiple_of(7) { String::new() } else { (i * 3 % 11).to_string() };
        format!("arm {i},{},{mass}\n", ["red", "blue"][i % 2])
    };
    let rows: String = (0..30).map(row).collect();
    place.write("arms.csv", format!("name,colour,mass\n{rows}"));
    place.good(&["new", "screen.db", "arms.csv", "--threshold", "0", "--budget", "30", "--missing", "mean"]);
    place.write("more.csv", "name,mass,colour\nlate 1,4,blue\nlate 2,,green\n");
    let ran = place.good(&["add", "screen.db", "more.csv"]);
    assert!(ran.stderr.contains("green") && ran.stderr.contains("2 candidates added"), "{}", ran.stderr);
}

#[test]
fn replicates_and_resumed_tickets() {
    let place = screen(&["--budget", "20"]);
    let tickets = place.json(&["ask", "screen.db", "-n", "2", "--replicates", "3", "--worker", "bench 1"]);
    assert_eq!((&tickets[0]["ticket"], &tickets[0]["replicates"]), (&1.into(), &3.into()));
    assert_eq!((&tickets[1]["ticket"], &tickets[1]["replicates"]), (&4.into(), &3.into()));
    assert_eq!(
        place.good(&["tell", "screen.db", "1", "0.1", "0.2", "0.3"]).stderr,
        "3 rewards recorded (ticket 1: 0.1, 0.2, 0.3); 17 to go\n"
    );
    // After a crash.
    let again = place.json(&["ask", "screen.db", "--resume", "--worker", "bench 1"]);
    assert_eq!(
        (again.as_array().unwrap().len(), &again[0]["ticket"], &again[0]["replicates"]),
        (1, &4.into(), &3.into())
    );
    place.write("rewards.csv", "ticket,reward\n4,1\n4,2\n4,3\n");
    assert_eq!(place.good(&["tell", "screen.db", "--file", "rewards.csv"]).stderr, "3 rewards recorded; 14 to go\n");
    let told: Vec<Value> =
        events(&place).iter().filter(|event| event["event"] == "told").map(|event| event["reward"].clone()).collect();
    assert_eq!(told, [0.1, 0.2, 0.3, 1.0, 2.0, 3.0].map(Value::from));
    place.good(&["ask", "screen.db", "--replicates", "2"]);
    place.good(&["tell", "screen.db", "--fail", "7"]);
    assert_eq!(place.json(&["status", "screen.db"])["tickets"], Value::Array(Vec::new()));
}

/// Late rewards that a budget left out count again where it is raised, and the page of the report shows it.
#[test]
fn a_budget_is_raised_after_late_rewards() {
    let place = screen(&["--budget", "4"]);
    place.good(&["ask", "screen.db", "-n", "4", "--lease", "1s"]);
    let is_overdue = |ticket: &Value| ticket["is_overdue"] == true;
    wait_for("end of the leases", || {
        place.json(&["status", "screen.db"])["tickets"].as_array().unwrap().iter().all(is_overdue)
    });
    place.good(&["ask", "screen.db", "-n", "4"]);
    place.good(&["tell", "screen.db", "5", "1", "6", "2", "7", "3", "8", "4"]);
    place.good(&["tell", "screen.db", "1", "1", "2", "2", "3", "3", "4", "4"]);
    let said = place.good(&["extend", "screen.db", "--budget", "6"]).stderr;
    assert_eq!(said, "changed: budget = 6; the budget of 6 is used up\n");
    place.good(&["report", "screen.db"]);
    place.good(&["extend", "screen.db", "--budget", "10"]);
    place.good(&["report", "screen.db"]);
}

/// A campaign that has ended early has no rest, and changes say that it has ended.
#[test]
fn nothing_is_to_go_once_a_campaign_has_ended() {
    let place = screen(&["--budget", "90", "--until-sure", "expected-errors 3"]);
    place.good(&["run", "screen.db", "--measure", "echo {index}"]);
    let status = place.json(&["status", "screen.db"]);
    assert_eq!((&status["ending"], &status["rest"]), (&"expected-errors".into(), &Value::Null), "{status}");
    assert!(!place.good(&["status", "screen.db"]).stdout.contains("more measurements"));
    let said = place.good(&["extend", "screen.db", "--budget", "99"]).stderr;
    assert_eq!(said, "changed: budget = 99; few enough wrong calls are expected, which is not a guarantee\n");
    let plan = place.good(&["plan", "screen.db", "--runs", "10"]);
    assert!(plan.stderr.contains("the campaign has ended: few enough wrong calls"), "{}", plan.stderr);
    place.good(&["set", "screen.db", "--until-sure", "never"]);
    assert_ne!(place.json(&["status", "screen.db"])["rest"], Value::Null);
}

/// The first ticket of replicates stands for all of them in `ask` and `tell`, and for its own reward in `amend`, which says so.
#[test]
fn a_correction_says_which_replicates_stay() {
    let place = screen(&["--budget", "20"]);
    place.good(&["ask", "screen.db", "-n", "2", "--replicates", "3"]);
    let told = place.good(&["tell", "screen.db", "1", "5", "4", "6", "4", "7"]).stderr;
    assert_eq!(told, "4 rewards recorded (ticket 1: 5, 4, 6); 16 to go\n");
    let said = |args: &[&str]| place.good(&[&["amend", "screen.db"], args].concat()).stderr;
    assert_eq!(
        said(&["--void", "1"]),
        "1 reward taken out (the other replicates, tickets 2, 3, stay as they are); 17 to go\n"
    );
    assert_eq!(said(&["2", "4.5"]), "1 reward corrected; 17 to go\n");
    assert_eq!(said(&["4", "8"]), "1 reward corrected; 17 to go\n", "the others of ticket 4 have no rewards");
    place.good(&["tell", "screen.db", "5", "7"]);
    assert_eq!(said(&["4", "9"]), "1 reward corrected (the other replicate, ticket 5, stays as it is); 16 to go\n");
    assert_eq!(said(&["4", "9.5", "7.5"]), "2 rewards corrected; 16 to go\n");
    assert_eq!(said(&["--void", "4", "5"]), "2 rewards taken out; 18 to go\n");
}

#[cfg(unix)]
#[test]
fn run_withdraws_a_candidate_that_fails_again_and_again() {
    let place = screen(&["--budget", "12"]);
    let script = r#"if [ "$CUTLINE_NAME" = b ]; then echo broken >&2; exit 1; fi; echo "$CUTLINE_TICKET""#;
    let ran = place.good(&["run", "screen.db", "--shell", "--retries", "0", "--measure", script]);
    assert!(ran.stderr.contains("`b` is withdrawn after 3 failed tickets; the last one: "), "{}", ran.stderr);
    assert_eq!(place.json(&["status", "screen.db"])["told"], 12);
    let withdrawn: Vec<Value> = events(&place).into_iter().filter(|event| event["event"] == "withdrawn").collect();
    assert_eq!((withdrawn.len(), &withdrawn[0]["arm"]), (1, &"b".into()));
    assert!(withdrawn[0]["reason"].as_str().unwrap().contains("broken"));
    // A command that never works withdraws nothing.
    let place = screen(&["--budget", "12"]);
    let said = place.refuses(&["run", "screen.db", "--shell", "--retries", "0", "--measure", "exit 1"]);
    assert!(said.starts_with("error: 5 tickets failed in a row"), "{said}");
    assert!(verdicts(&place).iter().all(|verdict| verdict["withdrawn"] == 0));
}
