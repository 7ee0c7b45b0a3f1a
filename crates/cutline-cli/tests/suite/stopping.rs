//! `cutline simulate` with runs that may stop before the budget is used up: its output and its files.

use crate::common::{Place, SMALL};
use serde_json::Value;

const STOPPING: [&str; 10] = [
    "by",
    "delta",
    "sure",
    "sure_and_wrong",
    "error_rate",
    "mean_pulls",
    "pulls_10",
    "pulls_50",
    "pulls_90",
    "fewest_pulls",
];

/// The small experiment, with precision to spare and larger budgets, and a stop for all but UCBE.
fn place() -> Place {
    let text = SMALL
        .replace(
            "budgets = [12, 30]",
            "budgets = [60, 2000]\nstop = { confidence = 0.1, by = \"intervals\" }\nnoise = 0.5",
        )
        .replace("precision = 0.02", "precision = 0.3")
        .replace("exponent = -1", "exponent = -1\nstop = \"budget\"");
    let place = Place::new();
    place.write("sure.toml", text);
    place
}

#[test]
fn json_and_csv_have_when_and_how_runs_ended() {
    let place = place();
    let rows: Vec<Value> =
        serde_json::from_str(&place.good(&["simulate", "sure.toml", "--format", "json"]).stdout).unwrap();
    let csv = place.good(&["simulate", "sure.toml", "--format", "csv"]).stdout;
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    assert_eq!(header[header.len() - 10..], STOPPING);
    for (record, row) in reader.records().map(Result::unwrap).zip(&rows) {
        let last = record.iter().skip(header.len() - 10);
        if row["algorithm"] == "ucbe(-1)" {
            assert!(STOPPING.iter().all(|key| row.get(key).is_none()) && last.clone().all(str::is_empty));
            continue;
        }
        assert_eq!((row["by"].as_str(), row["delta"].as_f64()), (Some("intervals"), Some(0.1)));
        for (field, key) in last.zip(STOPPING).skip(1) {
            assert_eq!(field.parse::<f64>().ok(), row[key].as_f64(), "{key}");
        }
        let number = |key: &str| row[key].as_f64().unwrap();
        assert!(number("sure") <= 40.0 && number("sure_and_wrong") <= number("sure"));
        assert_eq!(number("error_rate"), number("sure_and_wrong") / 40.0);
        assert!(number("pulls_10") <= number("pulls_50") && number("pulls_90") <= number("budget"));
        assert!(number("mean_pulls") <= number("budget") && number("fewest_pulls") > 0.0);
    }
    let sure: Vec<Option<u64>> = rows.iter().map(|row| row.get("sure").and_then(Value::as_u64)).collect();
    assert!(sure[1] > sure[0] && sure[1] == Some(40), "{sure:?}");
}

#[test]
fn tables_and_the_report_have_it_too() {
    let place = place();
    let stdout = place.good(&["simulate", "sure.toml"]).stdout;
    let (_, below) = stdout.split_once("\nPulls until a run was sure, or had used up its budget:\n").unwrap();
    assert_eq!(below.matches("intervals").count(), 4, "two algorithms at two budgets\n{stdout}");
    assert!(
        below.contains("| sure and wrong | mean pulls | 10 % – 50 % – 90 % | lower bound | mean/bound |"),
        "{below}"
    );
    assert!(
        stdout.contains("and stopping at the budget; no algorithm here is that"),
        "the theorem does not cover runs that may stop early"
    );
    let html = place.text("results/report.html");
    assert!(html.contains("<th>sure and wrong</th>") && html.contains("<td>intervals</td>"));
    let settings = "<td class=\"wrap\">apt × ridge × confidence or budget; lambda = 1; centre = 0; intercept = 0; sure by intervals, δ = 0.1, S = σ√(d/λ)</td>";
    assert!(html.contains(settings), "{html}");
    assert!(html.contains("<td class=\"wrap\">ucb-e × ridge × budget; lambda = 1;"));
    let written = place.text("results/results.csv");
    assert!(written.lines().next().unwrap().ends_with("fewest_pulls,curve,published,z,metric,ours"), "{written}");
}

#[test]
fn without_such_a_stop_there_is_no_such_table() {
    let place = Place::new();
    let stdout = place.good(&["simulate", "small.toml"]).stdout;
    assert!(!stdout.contains("sure") && !place.text("results/report.html").contains("sure and wrong"));
}

/// Redrawn instances have no single lower bound, and the bound for Gaussian rewards holds for no others.
#[test]
fn there_is_a_lower_bound_only_where_one_is_known() {
    let place = place();
    let text = place.text("sure.toml");
    place.write("redrawn.toml", text.replace("redraw = false", ""));
    place.write("uniform.toml", text.replace("noise = 0.5", "noise = { kind = \"uniform\", scale = 0.5 }"));
    for file in ["redrawn.toml", "uniform.toml"] {
        let json = place.good(&["simulate", file, "--format", "json"]).stdout;
        let rows: Vec<Value> = serde_json::from_str(&json).unwrap();
        assert!(rows[0]["mean_pulls"].is_number() && rows[0]["fewest_pulls"].is_null(), "{file}");
    }
}

#[test]
fn threads_change_nothing() {
    let place = place();
    let run =
        |threads: &str, out: &str| place.good(&["simulate", "sure.toml", "--threads", threads, "--out", out]).stdout;
    assert_eq!(run("1", "one"), run("3", "three"));
    assert!(place.files("one") == place.files("three"), "the files differ");
}
