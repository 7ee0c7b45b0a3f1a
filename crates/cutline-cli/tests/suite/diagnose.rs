//! `cutline diagnose`: its output, its errors, and the examples of its documentation.

use crate::common::{Place, Ran};
use serde_json::Value;
use std::path::Path;

const FEATURES: &str = "name,one,x\na,1,0\nb,1,1\nc,1,2\nd,1,3\n";
const REWARDS: &str = "arm,reward\na,1\na,2\nb,3\nb,2\nc,9\nc,8\nd,4\nd,5\n";

fn place() -> Place {
    let place = Place::new();
    place.write("features.csv", FEATURES);
    place.write("rewards.csv", REWARDS);
    place
}

fn json(place: &Place) -> Value {
    let ran = place.good(&["diagnose", "features.csv", "rewards.csv", "--format", "json"]);
    assert_eq!(ran.stderr, "");
    serde_json::from_str(&ran.stdout).unwrap()
}

/// Runs every command of the page and compares the output with the one below it.
#[test]
fn the_output_is_as_documented() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/diagnostics.md")).unwrap();
    let mut shown = 0;
    for example in page.split("```sh\ncutline diagnose docs/").skip(1) {
        let (command, rest) = example.split_once("\n```\n\n```text\n").expect("output below the command");
        let expected = rest.split_once("```").unwrap().0;
        let args = format!("diagnose docs/{command}");
        let args: Vec<&str> = args.split_whitespace().collect();
        let ran = Ran::from(Place::new().cutline(&args).current_dir(&root).output().unwrap());
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), expected, ""), "{command}");
        shown += 1;
    }
    assert_eq!(shown, 3);
}

#[test]
fn formats_agree() {
    let place = place();
    let report = json(&place);
    assert_eq!((&report["conclusion"], &report["model"]), (&"not-believable".into(), &"mixed".into()));
    let shares = ["linear", "smooth", "own"].map(|part| report["explained"][part].as_f64().unwrap());
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12 && report["noise"].as_f64() > Some(0.0), "{report}");
    let (sentence, finding) = (report["sentence"].as_str().unwrap(), report["finding"].as_str().unwrap());
    assert!(sentence.starts_with("Features explain ") && sentence[1..].starts_with(&finding[1..]), "{sentence}");
    let table = place.good(&["diagnose", "features.csv", "rewards.csv"]).stdout;
    assert!(table.ends_with(&format!("\n\n{}\n", report["sentence"].as_str().unwrap())), "{table}");
    assert!(table.contains("noise from replicates  0.7071 on 4 degrees of freedom"), "{table}");

    let ran = place.good(&["diagnose", "features.csv", "rewards.csv", "--format", "csv"]);
    assert_eq!(ran.stderr.trim_end(), report["sentence"].as_str().unwrap());
    let mut reader = csv::Reader::from_reader(ran.stdout.as_bytes());
    let header = reader.headers().unwrap().clone();
    let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let arms = report["arms"].as_array().unwrap();
    assert_eq!(records.len(), arms.len());
    for (record, arm) in records.iter().zip(arms) {
        assert_eq!(header.len(), arm.as_object().unwrap().len());
        for (key, field) in header.iter().zip(record) {
            let value = &arm[key];
            let is_same = match value {
                Value::Number(number) => field.parse().ok() == number.as_f64(),
                Value::String(text) => field == text,
                value => field == format!("{value}"),
            };
            assert!(is_same, "{key}: {field} against {value}");
        }
    }
}

/// Arms by number, in another order, with an extra column: the same rewards.
#[test]
fn rewards_may_come_in_any_form() {
    let place = place();
    let named = json(&place);
    let mut rows: Vec<String> = REWARDS.lines().skip(1).map(str::to_owned).collect();
    rows.reverse();
    let rows: Vec<String> = rows.iter().map(|row| row.split_once(',').unwrap()).map(numbered).collect();
    place.write("rewards.csv", format!("worker,Reward,ARM\r\n{}\r\n", rows.join("\r\n")));
    let numbered = json(&place);
    for key in ["conclusion", "sentence", "design", "n_pulled", "pulls"] {
        assert_eq!(named[key], numbered[key], "{key}");
    }
}

fn numbered((name, reward): (&str, &str)) -> String {
    format!("me,{reward},{}", "abcd".find(name).unwrap())
}

/// The linear model has an intercept, so that a column of ones changes nothing; with `--raw` it has none.
#[test]
fn the_linear_model_has_an_intercept_unless_raw() {
    let place = place();
    let fit = |place: &Place, more: &[&str]| {
        let ran = place.good(&[&["diagnose", "features.csv", "rewards.csv", "--format", "json"], more].concat());
        serde_json::from_str::<Value>(&ran.stdout).unwrap()
    };
    let (with, raw) = (fit(&place, &[]), fit(&place, &["--raw"]));
    assert_eq!((&with["features"]["rank"], &raw["features"]["rank"]), (&2.into(), &2.into()));
    place.write("features.csv", FEATURES.replace("one,", "").replace(",1,", ","));
    let (without_ones, raw_without) = (fit(&place, &[]), fit(&place, &["--raw"]));
    let f = |report: &Value| report["lack_of_fit"]["f"].as_f64().unwrap();
    assert!((f(&with) - f(&without_ones)).abs() < 1e-9 && (f(&with) - f(&raw)).abs() < 1e-9);
    assert_eq!(raw_without["features"]["dimension"], 1);
    assert!((f(&raw_without) - f(&with)).abs() > 0.1, "no intercept");
    assert_eq!(raw_without["explained"], without_ones["explained"]);
}

/// On a store, the settings and the rewards are those of the campaign.
#[test]
fn a_campaign_is_diagnosed() {
    let place = place();
    place.good(&[
        "new",
        "s.db",
        "features.csv",
        "--threshold",
        "1",
        "--budget",
        "99",
        "--observed",
        "rewards.csv",
        "--model",
        "linear",
    ]);
    let stored = place.json(&["diagnose", "s.db"]);
    let read = ["diagnose", "features.csv", "rewards.csv", "--model", "linear", "--threshold", "1"];
    assert_eq!(stored, place.json(&read));
    assert_eq!(stored["explained"], Value::Null, "the linear model learns no shares");
    assert_ne!(stored, json(&place), "a file is diagnosed with the defaults of `new`");
    let line = place.run(&["diagnose", "s.db", "rewards.csv"]).failed(2);
    assert!(line.contains("leave out the second file"), "{line}");
    let line = place.run(&["diagnose", "s.db", "--model", "mixed"]).failed(2);
    assert!(line.starts_with("error: `--model` is for candidates in a file"), "{line}");
}

#[test]
fn arms_without_features() {
    let place = place();
    place.write("features.csv", "name\na\nb\nc\nd\n");
    let report = json(&place);
    assert_eq!(report["conclusion"], "no-features");
    assert!((report["replicates"]["sigma"].as_f64().unwrap() - 0.5_f64.sqrt()).abs() < 1e-15);
    assert_eq!((&report["features"], &report["arms"][0]["fit"]), (&Value::Null, &Value::Null));
    let table = place.good(&["diagnose", "features.csv", "rewards.csv"]).stdout;
    assert!(table.contains("lack of fit            -\n"), "{table}");
}

/// A name with a line break stays in its cell.
#[test]
fn names_with_line_breaks() {
    let place = place();
    place.write("features.csv", "name,x\n\"a\nb\",1\nc,2\n");
    place.write("rewards.csv", "arm,reward\n\"a\nb\",1\nc,1\n");
    assert!(place.good(&["diagnose", "features.csv", "rewards.csv"]).stdout.contains("\n| a b |"));
    assert_eq!(json(&place)["arms"][0]["name"], "a\nb");
}

#[test]
fn an_error_is_one_line_with_its_position() {
    let cases: [(&str, &[u8], &str); 12] = [
        ("rewards.csv", b"arm,reward\na,x\n", "rewards.csv: row 2, column `reward`: `x` is not a finite number"),
        (
            "rewards.csv",
            b"arm,reward\na,1\ne,1\n",
            "rewards.csv: row 3, column `arm`: there is no arm `e`; give one of the names in the features file, or a row \
             number from 0 to 3",
        ),
        ("rewards.csv", b"arm,reward\na,1,2\n", "rewards.csv: row 2 has 3 fields, but the header has 2"),
        (
            "rewards.csv",
            b"arm,reward\n",
            "rewards.csv: there are no rewards: the file needs a header and one row per reward",
        ),
        ("rewards.csv", b"", "rewards.csv: there is no header; it must have a column `arm`"),
        ("rewards.csv", b"arm|reward\na|1\n", "rewards.csv: there is no column `arm` in the header `arm|reward`"),
        ("rewards.csv", b"arm,reward\na,\xff\n", "rewards.csv: row 2, column `reward`: the field is not UTF-8"),
        ("features.csv", b"name,x\na,1\nb,inf\n", "features.csv: row 3, column `x`: `inf` is not a finite number"),
        ("features.csv", b"name,x\na,1\nb\n", "features.csv: row 3 has 1 fields, but the header has 2"),
        ("features.csv", b"name,x\n", "features.csv: there are no arms: the file needs a header and one row per arm"),
        ("features.csv", b"1,2\n3,4\n", "features.csv: row 1 must be a header, and it is all numbers"),
        (
            "features.csv",
            b"name,x\na,1\na,2\n",
            "rewards.csv: row 2, column `arm`: `a` is the name of 2 arms; use row numbers, or names that differ",
        ),
    ];
    for (file, bytes, expected) in cases {
        let place = place();
        place.write(file, bytes);
        for format in ["table", "json", "csv"] {
            let line = place.run(&["diagnose", "features.csv", "rewards.csv", "--format", format]).failed(1);
            assert!(line.starts_with(&format!("error: {expected}")), "{line}");
        }
    }
    let place = place();
    let line = place.run(&["diagnose", "features.csv", "no.csv"]).failed(1);
    assert_eq!(line, "error: cannot read no.csv: No such file or directory (os error 2)");
    let line = place.run(&["diagnose", "/", "rewards.csv"]).failed(1);
    assert_eq!(line, "error: cannot read /: Is a directory (os error 21)");
}

#[test]
fn wrong_usage() {
    let place = place();
    for args in [&["diagnose"][..], &["diagnose", "features.csv", "rewards.csv", "x"]] {
        let ran = place.run(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{args:?}");
        assert!(ran.stderr.contains("Usage: cutline diagnose"), "{}", ran.stderr);
    }
    let line = place.run(&["diagnose", "features.csv"]).failed(2);
    assert!(line.starts_with("error: rewards are missing: give a CSV file of `arm,reward`"), "{line}");
}
