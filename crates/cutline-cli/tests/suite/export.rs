//! `cutline export`: events and verdicts in every format; files are written whole or not at all.

use crate::common::{NAMES, Place, screen};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use serde_json::Value;

fn under_way() -> Place {
    let place = screen(&["--budget", "20"]);
    place.good(&["ask", "screen.db", "-n", "3", "--worker", "w, \"1\""]);
    place.good(&["tell", "screen.db", "2", "0.30000000000000004"]);
    place.good(&["tell", "screen.db", "--fail", "3", "--reason", "lost"]);
    place
}

#[test]
fn all_events_are_exported() {
    let place = under_way();
    let events = place.json(&["export", "screen.db", "--events"]);
    let events = events.as_array().unwrap();
    let kinds: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["asked", "asked", "asked", "told", "failed"]);
    assert_eq!(events.iter().map(|event| &event["number"]).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    let index = |event: &Value| usize::try_from(event["index"].as_u64().unwrap()).unwrap();
    for event in events {
        assert_eq!(event["arm"], NAMES[index(event)]);
        assert!(event["at"].as_str() > Some("2020"));
    }
    let told = &events[3];
    assert_eq!(
        (&told["ticket"], &told["reward"], &told["counted"]),
        (&2.into(), &0.30000000000000004.into(), &1.into())
    );
    assert_eq!(told["arm"], events[1]["arm"], "the arm of its ticket");
    assert_eq!((&events[0]["worker"], &events[4]["reason"]), (&"w, \"1\"".into(), &"lost".into()));
    assert_eq!((&events[0]["reward"], &told["worker"], &told["until"]), (&Value::Null, &Value::Null, &Value::Null));
}

/// CSV and JSON agree in every row and column.
#[test]
fn csv_and_json_agree() {
    let place = under_way();
    for what in ["--events", "--verdicts"] {
        let json = place.json(&["export", "screen.db", what]);
        let csv = place.good(&["export", "screen.db", what, "--plain"]).stdout;
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        let header = reader.headers().unwrap().clone();
        let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        assert_eq!(records.len(), json.as_array().unwrap().len());
        for (record, object) in records.iter().zip(json.as_array().unwrap()) {
            assert_eq!(header.len(), object.as_object().unwrap().len());
            for (key, field) in header.iter().zip(record) {
                let is_same = match &object[key] {
                    Value::String(text) => text == field,
                    Value::Null => field.is_empty() || field.ends_with("inf"),
                    value => value.as_f64() == field.parse().ok(),
                };
                assert!(is_same, "{key}: {field} against {}", object[key]);
            }
        }
    }
}

#[test]
fn parquet_holds_the_same_verdicts() {
    let place = under_way();
    let json = place.json(&["export", "screen.db", "--verdicts"]);
    let ran = place.good(&["export", "screen.db", "--verdicts", "--format", "parquet", "--out", "v.parquet"]);
    assert_eq!(ran.stdout, "");
    let piped = place.shell("\"$@\" > piped.parquet", &["export", "screen.db", "--verdicts", "--format", "parquet"]);
    assert_eq!(piped.code, Some(0));
    assert_eq!(place.files("")["v.parquet"], place.files("")["piped.parquet"]);
    let reader = SerializedFileReader::new(std::fs::File::open(place.path("v.parquet")).unwrap()).unwrap();
    let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 6);
    for (row, verdict) in rows.iter().zip(json.as_array().unwrap()) {
        assert_eq!(row.get_string(0).unwrap(), verdict["arm"].as_str().unwrap());
        assert_eq!(row.get_string(2).unwrap(), verdict["side"].as_str().unwrap());
        assert_eq!(Some(row.get_double(3).unwrap()), verdict["mean"].as_f64());
        assert_eq!(Some(row.get_double(7).unwrap()), verdict["doubt"].as_f64());
        assert_eq!(Some(row.get_double(12).unwrap()), verdict["probability_above"].as_f64());
        assert_eq!(row.get_string(11).ok().map(String::as_str), verdict["basis"].as_str());
    }
}

#[test]
fn the_name_of_a_file_says_its_format() {
    let place = under_way();
    let plain = |format: &str| place.good(&["export", "screen.db", "--verdicts", "--format", format]).stdout;
    for (name, format) in [("v.json", "json"), ("v.JSON", "json"), ("v.csv", "csv"), ("v.txt", "csv"), ("v", "csv")] {
        place.good(&["export", "screen.db", "--verdicts", "--out", name]);
        assert_eq!(place.text(name), plain(format), "{name}");
    }
    place.good(&["export", "screen.db", "--verdicts", "--out", "v.parquet"]);
    assert!(place.files("")["v.parquet"].starts_with(b"PAR1"));
    place.good(&["export", "screen.db", "--verdicts", "--out", "csv.parquet", "--format", "csv"]);
    assert_eq!(place.text("csv.parquet"), plain("csv"), "what is said counts more");
    let before = place.names("");
    let line = place.run(&["export", "screen.db", "--verdicts", "--out", "v.xlsx"]).failed(2);
    assert!(line.starts_with("error: a .xlsx file cannot be written; write a .csv file"), "{line}");
    let ran = place.good(&["export", "screen.db", "--verdicts", "--out", "-"]);
    assert_eq!((ran.stdout, place.names("")), (plain("csv"), before), "`-` is stdout");
}

#[test]
fn files_are_written_whole_or_not_at_all() {
    let place = under_way();
    let export = |out: &str| place.run(&["export", "screen.db", "--events", "--out", out]);
    assert_eq!(export("events.csv").code, Some(0));
    place.good(&["tell", "screen.db", "1", "0.5"]);
    assert_eq!(export("events.csv").code, Some(0));
    assert_eq!(place.text("events.csv"), place.good(&["export", "screen.db", "--events"]).stdout);
    let line = export("no/such/events.csv").failed(1);
    assert!(
        line.starts_with("error: cannot write no/such/events.csv: there is no directory no/such; create it"),
        "{line}"
    );
    let line = export("/dev/full").failed(1);
    assert!(line.starts_with("error: cannot write /dev/full: No space left on device"), "{line}");
    assert_eq!(export("/dev/null").code, Some(0));
    assert!(!std::fs::metadata("/dev/null").unwrap().is_file(), "a device stays a device");
}
