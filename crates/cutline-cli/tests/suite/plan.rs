//! `cutline plan`: its output, its files and its errors.

use crate::common;

use crate::common::Place;
use serde_json::Value;

const ARMS: &str = "name,a,b\nx1,1,0\nx2,0.5,0.5\nx3,-1,0.25\nx4,0,-2\nx5,0.1,1\n";
const PILOT: &str = "arm,reward\nx1,0.9\nx4,-1.5\nx4,-2.25\nx5,0.75\n";
const PLAN: [&str; 8] = ["plan", "arms.csv", "--threshold", "0.25", "--precision", "0.1", "--runs", "40"];
const BUDGETS: [&str; 2] = ["--budgets", "2,10,40"];

fn place() -> Place {
    let place = Place::new();
    place.write("arms.csv", ARMS);
    place.write("pilot.csv", PILOT);
    place
}

fn run(place: &Place, more: &[&str]) -> common::Ran {
    place.good(&[&PLAN[..], &BUDGETS, more].concat())
}

fn plan_json(place: &Place, more: &[&str]) -> Value {
    serde_json::from_str(&run(place, &[more, &["--format", "json"]].concat()).stdout).unwrap()
}

#[test]
fn the_table_ends_with_the_answers() {
    let place = place();
    let ran = run(&place, &["--algorithms", "pivot,apt", "--wrong", "0.2", "--out", "out"]);
    let heading = "\narms: 40 runs, seed 0; estimator mixed, sample-mean; features explain 0.7 of the differences (0.7 of that \
                   linear), spread 1, 0.5 of the arms above; noise σ = 0.5\n";
    assert!(ran.stdout.starts_with(heading), "{}", ran.stdout);
    let rows: Vec<Vec<&str>> = ran.stdout.lines().filter(|line| line.starts_with("| ")).map(fields).collect();
    let header = ["algorithm", "T", "wrong calls (95 % interval)", "expected", "decided", "any wrong (95 % interval)"];
    assert_eq!(rows[0], header);
    let names: Vec<(&str, &str)> = rows[1..].iter().map(|row| (row[0], row[1])).collect();
    assert_eq!(names, [("pivot", "2"), ("pivot", "10"), ("pivot", "40"), ("apt", "10"), ("apt", "40")]);
    let left_out =
        "`apt` pulls each of the 5 arms once first: left out at T = 2\nA plan is only as good as what it expects";
    assert!(ran.stdout.contains(left_out), "{}", ran.stdout);
    let answers: Vec<&str> = ran.stdout.lines().rev().take(2).collect();
    assert!(answers[1].starts_with("`pivot` needs "), "{answers:?}");
    assert!(answers[1].contains(" for 20 % wrong calls (95 % interval: "), "{answers:?}");
    assert_eq!(ran.stderr, "wrote out/report.html and 3 more files beside it\n", "and no progress bar");
    assert_eq!(place.names("out"), ["arms.png", "arms.svg", "report.html", "results.csv"]);
}

/// By default a plan simulates what `cutline new` would begin: `pivot` on the mixed model with estimated noise; every option of `new`
/// that a plan takes has the same effect.
#[test]
fn the_campaign_is_that_of_new() {
    let place = place();
    let campaign = |more: &[&str]| {
        run(&place, more);
        let html = place.text("results/report.html");
        let settings = html.rsplit("</svg>").next().unwrap();
        let row = settings.split("<tr><td>").filter_map(|row| row.split_once("</td><td class=\"wrap\">"));
        let row = row.map(|(name, value)| (name.to_owned(), value.split("</td>").next().unwrap().to_owned())).last();
        row.expect("the campaign comes last")
    };
    let (name, settings) = campaign(&[]);
    assert_eq!(name, "pivot");
    assert!(settings.starts_with("mixed; ") && settings.ends_with("; σ is estimated"), "{settings}");
    assert!(settings.contains("explore = 1"), "{settings}");
    let (name, settings) = campaign(&["--model", "linear", "--noise", "2"]);
    assert_eq!(name, "pivot");
    assert!(settings.starts_with("ridge; ") && settings.ends_with("; σ = 2 is given"), "{settings}");
    let (name, settings) = campaign(&["--model", "independent"]);
    assert!(name == "apt" && settings.starts_with("sample-mean; "), "{name}: {settings}");
    let (name, settings) = campaign(&["--algorithms", "linear-apt"]);
    assert!(name == "linear-apt" && settings.starts_with("ridge; "), "{name}: {settings}");
    let line = place.run(&[&PLAN[..], &["--raw"]].concat()).failed(2);
    assert!(line.contains("does not apply to the mixed model") && line.contains("`--model linear`"), "{line}");
}

/// Every option of `cutline new` that says how a campaign learns is an option of a plan, with the same default and the same effect.
#[test]
fn the_options_are_those_of_new() {
    let place = place();
    let base = plan_json(&place, &[]);
    for more in [
        &["--parameter", "explore=0"][..],
        &["--interval", "anytime"],
        &["--confidence", "0.5"],
        &["--features", "a"],
        &["--kernel", "rbf", "--length", "1"],
        &["--model", "linear", "--prepare", "standardise"],
    ] {
        let json = plan_json(&place, more);
        assert_ne!(json["prospects"], base["prospects"], "{more:?}");
    }
}

/// 333 animals, body masses around 4,500 as rewards: precision and spread are in the units of the rewards. Where nobody says how far the
/// means are apart, a precision of 100 leaves nothing to decide with the spread of 1, and that is no plan of one measurement.
#[test]
fn a_precision_that_decides_everything_is_refused() {
    let place = Place::new();
    let rows: Vec<String> = (0..333).map(|i| format!("p{i},{},{}", 35 + i % 23, 170 + (i * 7) % 61)).collect();
    place.write("animals.csv", format!("name,bill,flipper\n{}\n", rows.join("\n")));
    let plan = ["plan", "animals.csv", "--threshold", "4500", "--precision", "100", "--runs", "10"];
    let line = place.run(&plan).failed(1);
    assert!(
        line.starts_with("error: the precision 100 leaves nothing to decide: with a spread of 1, 100 % of the arms")
    );
    assert!(line.ends_with("give `--spread` or `--noise`, or earlier rewards with `--pilot`"), "{line}");
    for more in [["--spread", "800"], ["--noise", "300"]] {
        let args = [&plan[..], &more, &["--budgets", "1,40,160", "--format", "json"]].concat();
        let json: Value = serde_json::from_str(&place.good(&args).stdout).unwrap();
        assert!(json["prospects"][0]["mean_errors"].as_f64().unwrap() > 50.0, "one measurement is not enough: {json}");
    }
    // In units of the spread, the same question needs no spread.
    place.good(&["plan", "animals.csv", "--threshold", "0", "--precision", "0.1", "--runs", "2", "--budgets", "9"]);
}

/// On a store a plan is for the rest of the campaign: its settings, its rewards, its remaining budget.
#[test]
fn the_rest_of_a_campaign_is_planned() {
    let place = place();
    place.good(&[
        "new",
        "s.db",
        "arms.csv",
        "--threshold",
        "0.25",
        "--budget",
        "24",
        "--model",
        "linear",
        "--noise",
        "0.5",
        "--observed",
        "pilot.csv",
        "--count-observed",
    ]);
    place.good(&["ask", "s.db", "-n", "2"]);
    let json = place.json(&["plan", "s.db", "--runs", "30"]);
    assert_eq!((&json["experiment"], &json["pilot"], &json["noise"]), (&"arms".into(), &4.into(), &0.5.into()));
    assert_eq!((&json["remaining"], &json["rest"]["measurements"]), (&20.into(), &20.into()));
    let budgets: Vec<u64> =
        json["prospects"].as_array().unwrap().iter().map(|p| p["budget"].as_u64().unwrap()).collect();
    assert_eq!(budgets, [5, 10, 20, 40]);
    let text = place.good(&["plan", "s.db", "--runs", "30"]).stdout;
    assert!(text.contains("estimator ridge; the posterior given a pilot of 4: "), "{text}");
    let wrong = json["rest"]["wrong_calls"].as_f64().unwrap();
    let said = format!("\nThe rest of the budget: 20 more measurements would leave about {wrong:.1} wrong calls and ");
    assert!(text.contains(&said), "{text}");
    for option in [&["--model", "mixed"][..], &["--threshold", "1"], &["--explained", "0.5"], &["--pilot", "pilot.csv"]]
    {
        let line = place.run(&[&["plan", "s.db"], option].concat()).failed(2);
        let expected = format!("error: `{}` is for candidates in a file; on a STORE the settings", option[0]);
        assert!(line.starts_with(&expected), "{line}");
    }
    // Before the first reward it is the plan of the same settings on the file.
    place.good(&[
        "new",
        "s.db",
        "arms.csv",
        "--threshold",
        "0.25",
        "--budget",
        "40",
        "--precision",
        "0.1",
        "--name",
        "new",
    ]);
    let stored = place.json(&["plan", "s.db", "--name", "new", "--runs", "40", "--budgets", "2,10,40"]);
    assert_eq!(stored["prospects"], plan_json(&place, &[])["prospects"]);
    assert!(place.run(&["plan", "s.db"]).failed(1).contains("choose one with `--name`"));
}

fn fields(line: &str) -> Vec<&str> {
    line.trim_matches('|').split('|').map(str::trim).collect()
}

#[test]
fn json_has_all_and_csv_the_same_numbers() {
    let place = place();
    let json = plan_json(&place, &["--seed", "5", "--target", "0.6"]);
    assert_eq!((&json["experiment"], &json["runs"], &json["seed"]), (&"arms".into(), &40.into(), &5.into()));
    assert_eq!((&json["goal"], &json["target"]), (&"failure-probability".into(), &0.6.into()));
    assert_eq!((&json["pilot"], &json["noise"]), (&0.into(), &0.5.into()));
    assert_eq!(plan_json(&place, &[])["goal"], "wrong-share");
    let answer = &json["answers"][0];
    assert_eq!(
        (&answer["algorithm"], &answer["tried_from"], &answer["tried_to"]),
        (&"pivot".into(), &2.into(), &40.into())
    );
    let [budget, high] = ["budget", "high"].map(|key| answer[key].as_u64().unwrap());
    assert!(2 <= budget && budget <= high && high <= 40, "{answer}");

    let csv = run(&place, &["--seed", "5", "--target", "0.6", "--format", "csv"]).stdout;
    assert_eq!(csv, place.text("results/results.csv"));
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header = reader.headers().unwrap().clone();
    let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let prospects = json["prospects"].as_array().unwrap();
    assert_eq!(records.len(), prospects.len());
    for (record, prospect) in records.iter().zip(prospects) {
        for (key, value) in prospect.as_object().unwrap() {
            let field = &record[header.iter().position(|name| name == key).unwrap()];
            match value {
                Value::String(text) => assert_eq!(field, text),
                number => {
                    let (csv, json): (f64, f64) = (field.parse().unwrap(), number.as_f64().unwrap());
                    assert!((csv - json).abs() < 1e-12, "{key}: {csv} and {json}");
                }
            }
        }
        assert!(prospect["low"].as_f64() <= prospect["failure_rate"].as_f64());
        assert!(prospect["errors_low"].as_f64() <= prospect["mean_errors"].as_f64());
    }
    let planned = header.iter().position(|name| name == "planned").unwrap();
    assert_eq!(records[0][planned], budget.to_string());
}

#[test]
fn threads_change_nothing() {
    for more in [&[][..], &["--pilot", "pilot.csv"]] {
        let place = place();
        let on = |threads| {
            let args = [&PLAN[..], &BUDGETS, more, &["--threads", threads, "--out", threads]].concat();
            place.good(&args).stdout
        };
        assert_eq!(on("1"), on("2"));
        assert!(place.files("1") == place.files("2"), "the files differ");
    }
}

/// Every option changes the numbers.
#[test]
fn options_matter() {
    let place = place();
    let base = plan_json(&place, &[]);
    for more in [
        &["--noise", "2", "--spread", "1"][..],
        &["--explained", "0.1"],
        &["--linear-share", "0.1"],
        &["--noise-ratio", "2"],
        &["--spread", "0.3"],
        &["--above", "0.2"],
        &["--prior", "normal:3"],
        &["--prior", "uniform"],
        &["--pilot", "pilot.csv"],
        &["--model", "linear"],
        &["--seed", "1"],
    ] {
        assert_ne!(plan_json(&place, more)["prospects"], base["prospects"], "{more:?}");
    }
    for more in [&["--wrong", "0.2"][..], &["--target", "0.2"]] {
        assert_ne!(plan_json(&place, more)["answers"], base["answers"], "{more:?}");
    }
    for (option, value) in [("--precision", "0.6"), ("--runs", "20")] {
        let position = PLAN.iter().position(|arg| *arg == option).unwrap() + 1;
        let mut args = [&PLAN[..], &BUDGETS, &["--format", "json"]].concat();
        args[position] = value;
        let other: Value = serde_json::from_str(&place.good(&args).stdout).unwrap();
        assert_ne!(other["prospects"], base["prospects"], "{option}");
    }
    let algorithms = plan_json(&place, &["--algorithms", "apt,pivot"]);
    let names: Vec<&str> =
        algorithms["answers"].as_array().unwrap().iter().map(|a| a["algorithm"].as_str().unwrap()).collect();
    assert_eq!(names, ["apt", "pivot"]);
}

/// Budgets count new measurements only.
#[test]
fn a_pilot_by_name_or_by_number() {
    let place = place();
    let by_name = run(&place, &["--pilot", "pilot.csv", "--format", "csv"]).stdout;
    place.write(
        "arms.csv",
        ARMS.replace("name,", "")
            .replace("x1,", "")
            .replace("x2,", "")
            .replace("x3,", "")
            .replace("x4,", "")
            .replace("x5,", ""),
    );
    place.write("pilot.csv", "arm,reward\n0,0.9\n3,-1.5\n3,-2.25\n4,0.75\n");
    assert_eq!(by_name, run(&place, &["--pilot", "pilot.csv", "--format", "csv"]).stdout);
    let table = run(&place, &["--pilot", "pilot.csv", "--wrong", "0.4"]).stdout;
    assert!(table.contains("; the posterior given a pilot of 4: features explain 0."), "{table}");
    assert!(table.contains(" more measurement") && table.contains(" for 40 % wrong calls"), "{table}");
    let json = plan_json(&place, &["--pilot", "pilot.csv", "--noise", "0.3"]);
    assert_eq!((&json["pilot"], &json["noise"]), (&4.into(), &0.3.into()));
}

#[test]
fn budgets_are_found_if_none_are_given() {
    let place = place();
    let stdout = place.good(&[&PLAN[..], &["--wrong", "0.1", "--format", "json"]].concat()).stdout;
    let json: Value = serde_json::from_str(&stdout).unwrap();
    let answer = &json["answers"][0];
    let [from, budget, to] = ["tried_from", "budget", "tried_to"].map(|key| answer[key].as_u64().unwrap());
    assert!(from < budget && budget < to, "{answer}");
}

#[test]
fn budgets_that_are_too_small() {
    let place = place();
    let args = [&PLAN[..], &["--budgets", "1,2,3"]].concat();
    let stdout = place.good(&args).stdout;
    assert!(stdout.contains("`pivot` does not reach 5 % wrong calls: at T = 3 it is "), "{stdout}");
    assert!(stdout.ends_with("No budget is enough: try larger budgets, a larger precision or a larger target\n"));
    assert!(!place.text("results/arms.svg").contains("planned budget"));
    let stdout = place.good(&[&args[..], &["--target", "0.05"]].concat()).stdout;
    assert!(stdout.contains("`pivot` does not reach a failure probability of 0.05: at T = 3 it is "), "{stdout}");
    let stdout = place.good(&[&args[..], &["--wrong", "0.99"]].concat()).stdout;
    assert!(stdout.ends_with("`pivot` needs at most 1 measurement, the smallest budget tried, for 99 % wrong calls (95 % interval: up to 1)\n"), "{stdout}");
}

#[test]
fn the_report_has_figure_table_and_settings() {
    let place = place();
    run(&place, &["--prior", "normal:0.5"]);
    let html = place.text("results/report.html");
    assert!(html.contains("<h1>Plan: arms</h1>") && html.contains("class=\"summary\"><code>pivot</code> "));
    let text = html.split("<svg").next().unwrap().to_owned() + html.rsplit("</svg>").next().unwrap();
    assert!(!text.contains('`') && text.matches("<code>").count() >= 1, "code is marked up: {text}");
    assert!(text.contains("max-width: 64rem"), "as wide as the report of a campaign");
    assert!(html.contains(&place.text("results/arms.svg").trim().to_owned()), "the figure is inside");
    for (name, value) in [
        ("target", "5 % wrong calls"),
        ("runs", "40"),
        ("budgets", "2, 10, 40"),
        ("noise", "Gaussian, σ = 1"),
        ("true means", "θ from N(0, 0.5² I)"),
        ("threshold", "0.25"),
        ("precision", "0.1"),
    ] {
        assert!(html.contains(&format!("<tr><td>{name}</td><td class=\"wrap\">{value}</td></tr>")), "{name}");
    }
}

/// As `cutline new`, `cutline plan` takes candidates that have names only: nothing is expected of features then.
#[test]
fn candidates_without_features() {
    let place = place();
    place.write("names.csv", "name\nx1\nx2\nx3\nx4\nx5\n");
    let plan = ["plan", "names.csv", "--threshold", "0.25", "--runs", "20", "--budgets", "5,50"];
    let line = place.refuses(&[&plan[..], &["--prior", "uniform"]].concat());
    assert_eq!(line, "error: the arms have no features, so there is no θ to draw; leave out `--prior`");
    let line = place.run(&[&plan[..], &["--explained", "0.5"]].concat()).failed(2);
    assert!(line.contains("leave out `--explained`"), "{line}");
    let said = place.good(&plan).stdout;
    assert!(said.contains("; features explain 0 of the differences"), "{said}");
    let forecast = place.json(&plan);
    let wrong = [0, 1].map(|budget| forecast["prospects"][budget]["mean_errors"].as_f64().unwrap());
    assert!(wrong[1] < wrong[0], "{wrong:?}");
    place.good(&[&plan[..], &["--pilot", "pilot.csv"]].concat());
    place.good(&["new", "names.db", "names.csv", "--threshold", "0.25", "--budget", "50"]);
    let of_store = place.good(&["plan", "names.db", "--runs", "20", "--budgets", "5,50"]).stdout;
    assert!(of_store.contains("; features explain 0 of the differences"), "{of_store}");
}

#[test]
fn features_that_are_rejected() {
    let place = place();
    for (text, expected) in [
        (&b""[..], "there are no arms: the file needs a header and one row per arm"),
        (b"name,a\n", "there are no arms: the file needs a header and one row per arm"),
        (b"1,2\n3,4\n", "row 1 must be a header, and it is all numbers"),
        (b"a|b\n1|2\n", "the header is one field, `a|b`; fields must be separated by commas"),
        (b"name,a,b\nx,1,2\ny,3\n", "row 3 has 2 fields, but the header has 3"),
        (
            b"name,a\nx,1\ny,one\n",
            "row 3, column `a`: `one` is not a finite number; use `--category a` if the column is a category",
        ),
        (b"name,a\nx,NaN\n", "column `a` has no values; leave it out with `--features`"),
    ] {
        place.write("bad.csv", text);
        let line = place.refuses(&["plan", "bad.csv", "--threshold", "0"]);
        assert_eq!(line, format!("error: bad.csv: {expected}"));
    }
    place.write("bad.csv", b"a\n1\n\xff\n");
    assert!(place.refuses(&["plan", "bad.csv", "--threshold", "0"]).contains("UTF-8"));
    place.write("bad.csv", "a\n1e9\n");
    let line = place.refuses(&["plan", "bad.csv", "--threshold", "0", "--model", "linear", "--raw"]);
    assert!(line.contains("the features are too large for this lambda"), "{line}");
    let line = place.refuses(&["plan", "no.csv", "--threshold", "0"]);
    assert_eq!(line, "error: cannot read no.csv: No such file or directory (os error 2)");
    assert_eq!(place.refuses(&["plan", "/", "--threshold", "0"]), "error: cannot read /: Is a directory (os error 21)");
}

#[test]
fn pilots_that_are_rejected() {
    let place = place();
    let with = |pilot: &str| place.refuses(&[&PLAN[..], &["--pilot", pilot]].concat());
    for (text, expected) in [
        ("arm,reward\n", "there are no rewards: the file needs a header and one row per reward"),
        ("arm,value\nx1,2\n", "there is no column `reward` in the header `arm,value`"),
        (
            "arm,reward\nx1,2\nx9,2\n",
            "row 3, column `arm`: there is no arm `x9`; give one of the names in the features file, or a row number from 0 \
             to 4",
        ),
        ("arm,reward\nx1,inf\n", "row 2, column `reward`: `inf` is not a finite number"),
        ("arm,reward\nx1,1e200\n", "row 2, column `reward`: `1e200` must lie between -1e80 and 1e80"),
    ] {
        place.write("bad.csv", text);
        assert_eq!(with("bad.csv"), format!("error: bad.csv: {expected}"));
    }
    place.write("bad.csv", "arm,reward\nx1,0.25\nx2,0.25\n");
    assert_eq!(with("bad.csv"), "error: bad.csv: a pilot needs rewards, and some that differ from the threshold");
    let line = with("no.csv");
    assert!(line.starts_with("error: cannot read no.csv: No such file"), "{line}");
    assert!(line.ends_with("; `--pilot` takes a CSV file of `arm,reward`"), "{line}");
}

#[test]
fn plans_that_do_not_fit() {
    let place = place();
    let line = place.refuses(&[&PLAN[..], &["--budgets", "2,4", "--algorithms", "apt,random"]].concat());
    let expected = "error: algorithm `random`: a budget of 4 is too small for 5 arms: every arm is pulled once first; \
                    raise `--budgets` or use `--algorithms pivot`";
    assert_eq!(line, expected);
    let line = place.refuses(&[&PLAN[..], &["--algorithms", "apt,pivot,apt"]].concat());
    assert_eq!(line, "error: the algorithm `apt` is listed twice");
    let line = place.refuses(&[&PLAN[..], &["--noise", "1", "--noise-ratio", "1", "--spread", "1"]].concat());
    let expected = "error: noise, noise ratio and spread are all given, and two of them determine the third; leave one out; \
                    `--noise`, `--noise-ratio` or `--spread`";
    assert_eq!(line, expected);
}

#[test]
fn invalid_options() {
    let place = place();
    for (option, value) in [
        ("--threshold", "nan"),
        ("--threshold", "x"),
        ("--threshold", "1e200"),
        ("--precision", "-1"),
        ("--precision", "inf"),
        ("--noise", "0"),
        ("--noise", "-1"),
        ("--target", "0"),
        ("--target", "1"),
        ("--target", "-0.1"),
        ("--target", "nan"),
        ("--budgets", ""),
        ("--budgets", "0"),
        ("--budgets", "10,5"),
        ("--budgets", "10,10"),
        ("--budgets", "10,x"),
        ("--budgets", "100000001"),
        ("--wrong", "0"),
        ("--wrong", "1"),
        ("--explained", "1.1"),
        ("--explained", "-0.1"),
        ("--linear-share", "nan"),
        ("--noise-ratio", "0"),
        ("--spread", "-1"),
        ("--above", "2"),
        ("--model", "cubic"),
        ("--prior", "pilot.csv"),
        ("--prior", "normal"),
        ("--prior", "normal:"),
        ("--prior", "normal:0"),
        ("--prior", "normal:x"),
        ("--algorithms", "pivto"),
        ("--algorithms", "ucbe"),
        ("--algorithms", ""),
        ("--runs", "0"),
    ] {
        let args = match option {
            "--threshold" => vec!["plan", "arms.csv", option, value],
            _ => vec!["plan", "arms.csv", "--threshold", "0", option, value],
        };
        let ran = place.run(&args);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{option} {value}: {}", ran.stderr);
        assert!(ran.stderr.starts_with("error: ") && ran.stderr.contains(option), "{}", ran.stderr);
    }
    let ran = place.run(&["plan", "arms.csv", "--threshold", "0", "--prior", "pilot.csv"]);
    let hint = "it must be `uniform` or `normal:s`; a file of rewards is given with `--pilot`";
    assert!(ran.stderr.contains(hint), "{}", ran.stderr);
    for both in [["--prior", "uniform", "--pilot", "pilot.csv"], ["--pilot", "pilot.csv", "--explained", "0.5"]] {
        let ran = place.run(&[&PLAN[..], &both].concat());
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    }
    let line = place.run(&["plan", "arms.csv"]).failed(2);
    assert_eq!(line, "error: the threshold is missing: give it with `--threshold`");
    assert_eq!(place.names(""), ["arms.csv", "pilot.csv", "small.toml"]);
}
