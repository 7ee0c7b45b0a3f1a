//! `cutline simulate --per-run` and `--figure`.

use crate::common::{Place, SMALL};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};

const COLUMNS: [&str; 15] = [
    "experiment",
    "run",
    "algorithm",
    "budget",
    "errors",
    "is_failure",
    "pulls",
    "stop",
    "threshold",
    "true_means",
    "arm_pulls",
    "means",
    "above",
    "settled_arms",
    "settled_after",
];

fn records(csv: &str) -> Vec<csv::StringRecord> {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    assert_eq!(reader.headers().unwrap(), &COLUMNS[..]);
    reader.records().map(Result::unwrap).collect()
}

fn rows(place: &Place, file: &str) -> Vec<Row> {
    let reader = SerializedFileReader::new(std::fs::File::open(place.path(file)).unwrap()).unwrap();
    reader.get_row_iter(None).unwrap().map(Result::unwrap).collect()
}

/// A value of Parquet as the CSV file has it.
fn text(field: &Field) -> String {
    match field {
        Field::Str(text) => text.clone(),
        Field::Bool(value) => value.to_string(),
        Field::Int(value) => value.to_string(),
        Field::Long(value) => value.to_string(),
        Field::Double(value) => format!("{value:?}"),
        Field::ListInternal(list) => {
            let values: Vec<String> = list.elements().iter().map(text).collect();
            format!("[{}]", values.join(", "))
        }
        other => panic!("{other:?}"),
    }
}

/// The counts of the results follow from the rows, and CSV and Parquet hold the same, to the last digit.
#[test]
fn every_run_is_in_the_file() {
    let place = Place::new();
    place.write("small.toml", format!("{SMALL}\n[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\nnoise = 0.01\nstop = {{ confidence = 0.1, by = \"evidence\" }}\n"));
    let plain = place.good(&["simulate", "small.toml", "--format", "json"]);
    let csv = place.good(&["simulate", "small.toml", "--format", "json", "--per-run", "runs.csv"]);
    let parquet =
        place.good(&["simulate", "small.toml", "--format", "json", "--per-run", "runs.parquet", "--threads", "1"]);
    assert_eq!((&csv.stdout, &parquet.stdout), (&plain.stdout, &plain.stdout));
    let records = records(&place.text("runs.csv"));
    assert_eq!(records.len(), 2 * 40 * 3 * 2);
    let rows = rows(&place, "runs.parquet");
    assert_eq!(rows.len(), records.len());
    for (row, record) in rows.iter().zip(&records) {
        let fields: Vec<String> = row.get_column_iter().map(|(_, field)| text(field)).collect();
        assert_eq!(fields, record.iter().collect::<Vec<_>>());
    }
    let results: Vec<serde_json::Value> = serde_json::from_str(&plain.stdout).unwrap();
    for result in &results {
        let is_of = |record: &&csv::StringRecord| {
            (&record[0], &record[2], &record[3])
                == (
                    result["experiment"].as_str().unwrap(),
                    result["algorithm"].as_str().unwrap(),
                    &*result["budget"].to_string(),
                )
        };
        let failures = records.iter().filter(is_of).filter(|record| &record[5] == "true").count();
        assert_eq!(Some(failures as u64), result["failures"].as_u64());
        let errors: u32 = records.iter().filter(is_of).map(|record| record[4].parse::<u32>().unwrap()).sum();
        assert_eq!(f64::from(errors) / 40.0, result["mean_errors"].as_f64().unwrap());
    }
    assert!(records.iter().any(|record| &record[7] == "confidence"), "some runs stop early");
    for record in &records {
        let pulls: Vec<u64> = serde_json::from_str(&record[10]).unwrap();
        assert_eq!((pulls.len(), pulls.iter().sum::<u64>().to_string()), (6, record[6].to_owned()));
    }
}

#[test]
fn other_endings_are_refused() {
    let place = Place::new();
    for (flag, file, line) in [
        ("--per-run", "runs.xlsx", "error: `--per-run` writes `.parquet` or `.csv`, not `runs.xlsx`"),
        ("--figure", "small.gif", "error: `--figure` draws `.pdf`, `.svg` or `.png`, not `small.gif`"),
    ] {
        assert_eq!(place.run(&["simulate", "small.toml", flag, file]).failed(2), line);
    }
    let line = place.run(&["simulate", "small.toml", "--per-run", "none/runs.csv"]).failed(1);
    assert!(line.starts_with("error: cannot write none/runs.csv: "), "{line}");
    assert!(line.ends_with("; choose another place with `--per-run`"), "{line}");
    let line = place.run(&["simulate", "small.toml", "--figure", "none/x.pdf"]).failed(1);
    assert!(line.ends_with("; choose another place with `--figure`"), "{line}");
    assert_eq!(place.names(""), ["small.toml"]);
}

#[test]
fn figures_have_the_format_of_their_ending() {
    let place = Place::new();
    for (file, start) in [("x.pdf", &b"%PDF-1"[..]), ("x.svg", b"<svg"), ("x.PNG", b"\x89PNG")] {
        place.good(&["simulate", "small.toml", "--figure", file]);
        assert!(std::fs::read(place.path(file)).unwrap().starts_with(start), "{file}");
    }
    place.write("small.toml", format!("{SMALL}\n[[variant]]\nname = \"a b\"\n[[variant]]\nname = \"c\"\nseed = 8\n"));
    place.good(&["simulate", "small.toml", "--figure", "both.pdf"]);
    assert!(["both-a-b.pdf", "both-c.pdf"].iter().all(|name| place.path(name).exists()));
}
