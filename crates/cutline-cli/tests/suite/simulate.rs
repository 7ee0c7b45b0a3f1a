//! `cutline simulate`: its output and its files.

use crate::common::{Place, SMALL};
use serde_json::Value;

const ROW: [&str; 9] =
    ["experiment", "algorithm", "budget", "runs", "failures", "failure_rate", "low", "high", "mean_errors"];
const COMPARISON: [&str; 4] = ["baseline", "difference", "difference_low", "difference_high"];
const FILES: [&str; 4] = ["report.html", "results.csv", "small.png", "small.svg"];

/// The keys of the first object of pretty JSON, in their order.
fn first_keys(json: &str) -> Vec<&str> {
    let object = json.split('}').next().unwrap();
    object.lines().filter_map(|line| line.trim().strip_prefix('"')?.split('"').next()).collect()
}

fn rows(json: &str) -> Vec<Value> {
    serde_json::from_str(json).expect("one array")
}

#[test]
fn json_has_the_promised_keys() {
    let place = Place::new();
    let ran = place.good(&["simulate", "small.toml", "--format", "json"]);
    assert_eq!(first_keys(&ran.stdout), [&ROW[..], &COMPARISON].concat());
    let rows = rows(&ran.stdout);
    let of = |row: &Value| (row["algorithm"].as_str().unwrap().to_owned(), row["budget"].as_u64().unwrap());
    let expected = ["linear-apt", "ucbe(-1)", "pivot"].map(|name| [(name.to_owned(), 12), (name.to_owned(), 30)]);
    assert_eq!(rows.iter().map(of).collect::<Vec<_>>(), expected.as_flattened());
    for row in &rows {
        assert_eq!(row.as_object().unwrap().len(), 13);
        assert_eq!((row["experiment"].as_str(), row["runs"].as_u64()), (Some("small"), Some(40)));
        let rate = row["failures"].as_f64().unwrap() / 40.0;
        assert_eq!(row["failure_rate"].as_f64(), Some(rate));
        assert!(row["low"].as_f64().unwrap() <= rate && rate <= row["high"].as_f64().unwrap());
        assert!(row["mean_errors"].as_f64().unwrap() >= rate);
        assert_eq!(row["baseline"], "linear-apt");
    }
    assert_eq!(rows[0]["difference"].as_f64(), Some(0.0));
}

#[test]
fn without_a_baseline_there_are_no_differences() {
    let place = Place::new();
    place.write("plain.toml", SMALL.replace("baseline = \"linear-apt\"\n", ""));
    let ran = place.good(&["simulate", "plain.toml", "--format", "json"]);
    assert_eq!(first_keys(&ran.stdout), ROW);
    assert!(rows(&ran.stdout).iter().all(|row| row.as_object().unwrap().len() == 9));
}

#[test]
fn csv_has_the_same_columns_and_numbers() {
    let place = Place::new();
    let csv = place.good(&["simulate", "small.toml", "--format", "csv"]).stdout;
    let json = rows(&place.good(&["simulate", "small.toml", "--format", "json"]).stdout);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header = [&ROW[..], &COMPARISON].concat();
    assert_eq!(reader.headers().unwrap(), header);
    let records: Vec<_> = reader.records().map(Result::unwrap).collect();
    assert_eq!(records.len(), json.len());
    for (record, row) in records.iter().zip(&json) {
        for (field, key) in record.iter().zip(&header) {
            match &row[key] {
                Value::String(text) => assert_eq!(field, text),
                number => {
                    let (csv, json): (f64, f64) = (field.parse().unwrap(), number.as_f64().unwrap());
                    assert!((csv - json).abs() < 1e-15, "{key}: {csv} and {json}");
                }
            }
        }
    }
    let written = place.text("results/results.csv");
    assert!(written.starts_with(&format!("{},curve,published,z,metric,ours\n", header.join(","))));
    assert_eq!(written.lines().count(), 7);
}

#[test]
fn the_table_has_the_theory_below() {
    let place = Place::new();
    let ran = place.good(&["simulate", "small.toml"]);
    assert!(ran.stdout.starts_with("\nsmall: 40 runs, seed 3, one instance\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("not applicable (needs ‖θ‖ < √(T/16H))"), "{}", ran.stdout);
    assert!(ran.stdout.contains("ucbe(-1)") && ran.stdout.contains("Δ vs linear-apt"));
    place.write("means.toml", "runs = 5\nbudgets = [9]\nthreshold = 0\n[instance]\nkind = \"means\"\nmeans = [0.5, -1]\n[[algorithm]]\nname = \"apt\"\n");
    let not_linear = "Theorem 1 assumes means that are linear in features; these are not.\n";
    assert!(place.good(&["simulate", "means.toml"]).stdout.ends_with(&format!("H = 5.00. {not_linear}")));
    place.write("raised.toml", SMALL.replace("redraw = false", "redraw = false\noffset = 3"));
    assert!(place.good(&["simulate", "raised.toml"]).stdout.ends_with(not_linear), "features do not make means linear");
    place.write("redrawn.toml", SMALL.replace("redraw = false", ""));
    assert!(place.good(&["simulate", "redrawn.toml"]).stdout.contains("so there is no single H"));
}

/// In units of σ = 10: θ = 5, H = 2/25, L = 1, K = 2, d = 1, so that √((T − K)/16H) is 0, 5.45 and 12.44 at T = 2, 40 and 200, and
/// √(T/16H) 1.25, 5.59 and 12.5. The bounds are 41·exp(−0.45²/2) and 201·exp(−7.44²/2), as printed 41·exp(−0.59²) and 201·exp(−7.5²); at
/// T = 4000 they underflow.
#[test]
fn a_bound_is_printed_only_where_there_is_one() {
    let place = Place::new();
    place.write("arms.csv", "a\n1\n-1\n");
    let head = "runs = 1\nbudgets = [2, 40, 200, 4000]\nthreshold = 0\nnoise = 10.0\n";
    let instance = "[instance]\nkind = \"csv\"\nfile = \"arms.csv\"\ntheta = [50]\n";
    place.write("easy.toml", format!("{head}{instance}[[algorithm]]\nname = \"linear-apt\"\n"));
    let stdout = place.good(&["simulate", "easy.toml"]).stdout;
    let theory = "H = 8.000e-4, L = 1.0000, ‖θ‖ = 50.0000; the theorem measures rewards in units of σ
Theorem 1 at T = 2: not applicable (needs ‖θ‖ < √((T − K)/16H)); as the paper prints it: not applicable (needs ‖θ‖ < √(T/16H))
Theorem 1 at T = 40: no guarantee (the bound is 3.707e1); as the paper prints it: no guarantee (the bound is 2.894e1)
Theorem 1 at T = 200: failure probability at most 1.958e-10; as the paper prints it: failure probability at most 7.484e-23
Theorem 1 at T = 4000: failure probability at most 2.225e-308; as the paper prints it: failure probability at most 2.225e-308
The paper's statement is false, with a counterexample in docs/errata.md; the first one is corrected.
";
    assert!(stdout.ends_with(theory), "{stdout}");
    for other in ["name = \"pivot\"", "name = \"linear-apt\"\nlambda = 2", "name = \"linear-apt\"\ncentre = 1"] {
        place.write("other.toml", format!("{head}{instance}[[algorithm]]\n{other}\n"));
        let stdout = place.good(&["simulate", "other.toml"]).stdout;
        let line = "Theorem 1 is about `linear-apt` with lambda = 1, without centre and intercept, and stopping at the budget; no algorithm here is that.\n";
        assert!(stdout.ends_with(line), "{stdout}");
    }
}

/// Variants are simulated in the file's order, into one table, with a figure each.
#[test]
fn every_variant_is_simulated() {
    let place = Place::new();
    let variants = "\n[[variant]]\nname = \"b\"\n\n[[variant]]\nname = \"a\"\nseed = 5\nbudgets = [20]\n";
    place.write("two.toml", format!("{SMALL}{variants}"));
    let ran = place.good(&["simulate", "two.toml", "--format", "json"]);
    let names: Vec<String> = rows(&ran.stdout).iter().map(|row| row["experiment"].as_str().unwrap().into()).collect();
    assert_eq!(names, [vec!["b"; 6], vec!["a"; 3]].concat());
    assert_eq!(place.names("results"), ["a.png", "a.svg", "b.png", "b.svg", "report.html", "results.csv"]);
}

#[test]
fn threads_change_nothing() {
    for format in ["table", "json", "csv"] {
        let place = Place::new();
        let one = place.good(&["simulate", "small.toml", "--format", format, "--threads", "1", "--out", "one"]);
        let two = place.good(&["simulate", "small.toml", "--format", format, "--threads", "2", "--out", "two"]);
        assert_eq!(one.stdout, two.stdout);
        assert_eq!(place.names("one"), FILES);
        assert!(place.files("one") == place.files("two"), "the files differ");
    }
}

#[test]
fn options_override_the_file() {
    let place = Place::new();
    let run = |args: &[&str]| place.good(&[&["simulate", "small.toml", "--format", "json"], args].concat()).stdout;
    assert_eq!(rows(&run(&["--runs", "7"]))[0]["runs"].as_u64(), Some(7));
    assert_eq!(run(&["--seed", "3"]), run(&[]));
    assert_ne!(run(&["--seed", "4"]), run(&[]));
    assert_eq!(place.names("results"), FILES, "the default place");
    run(&["--out", "some/where/else"]);
    assert_eq!(place.names("some/where/else"), FILES);
}

#[test]
fn stderr_has_everything_but_data() {
    let place = Place::new();
    let ran = place.good(&["simulate", "small.toml", "--out", "out"]);
    assert_eq!(ran.stderr, "wrote out/report.html and 3 more files beside it\n", "and no progress bar");
}

#[test]
fn the_report_names_the_estimator_in_use() {
    let place = Place::new();
    place.write(
        "mean.toml",
        SMALL.replace("name = \"pivot\"", "name = \"linear-apt\"\nlabel = \"own\"\nestimator = \"sample-mean\""),
    );
    place.good(&["simulate", "mean.toml"]);
    let html = place.text("results/report.html");
    assert!(html.contains("<td>own</td><td class=\"wrap\">apt × sample-mean × budget</td>"));
    assert!(html.contains(
        "<td>linear-apt</td><td class=\"wrap\">apt × ridge × budget; lambda = 1; centre = 0; intercept = 0</td>"
    ));
}

#[test]
fn names_cannot_break_the_page_or_the_files() {
    let place = Place::new();
    let text = SMALL.replace("\"small\"", "\"<script>alert(1)</script>/../x\"");
    place.write("odd.toml", text.replace("name = \"pivot\"", "name = \"pivot\"\nlabel = \"<img src=x>&\""));
    place.good(&["simulate", "odd.toml", "--out", "out"]);
    let name = "-script-alert-1---script--..-x";
    assert_eq!(place.names("out"), [&format!("{name}.png"), &format!("{name}.svg"), "report.html", "results.csv"]);
    for file in ["out/report.html", &format!("out/{name}.svg")] {
        let text = place.text(file);
        assert!(!text.contains("<script") && !text.contains("<img"), "{file}");
        assert!(text.contains("&lt;script&gt;") || text.contains("&#60;script&#62;"), "{file}");
    }
}

#[test]
fn the_report_describes_features_and_means() {
    let place = Place::new();
    place.write("arms.csv", "a,b,y\n1,0,7\n0,1,9\n2,1,12\n1,5,14\n");
    let file = "budgets = [9]\nruns = 4\nthreshold = \"median\"\n[instance]\nkind = \"csv\"\nfile = \"arms.csv\"\nmeans = \"y\"\nstandardise = true\n[[algorithm]]\nname = \"pivot\"\n";
    place.write("mine.toml", file);
    place.good(&["simulate", "mine.toml"]);
    let report = place.text("results/report.html");
    assert!(report.contains("features and means given; features standardised"), "{report}");
    assert!(report.contains("10.5, the median of the means"), "{report}");

    place.write("mine.toml", file.replace("median", "mean").replace("standardise = true\n", ""));
    place.good(&["simulate", "mine.toml"]);
    let report = place.text("results/report.html");
    assert!(!report.contains("standardised") && report.contains("10.5, the mean of the means"), "{report}");
}
