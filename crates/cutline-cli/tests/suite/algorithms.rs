//! `cutline algorithms` lists the algorithms of the engine, and the oracle of simulations.

use crate::common::Place;
use cutline::ALGORITHMS;
use serde_json::Value;

fn list(format: &str) -> String {
    let ran = Place::new().good(&["algorithms", "--format", format]);
    assert_eq!(ran.stderr, "");
    ran.stdout
}

#[test]
fn tables_describe_every_algorithm() {
    let stdout = list("table");
    assert_eq!(stdout, Place::new().good(&["algorithms"]).stdout, "tables are the default");
    let paragraphs: Vec<&str> = stdout.trim().split("\n\n").collect();
    assert_eq!(paragraphs.len(), ALGORITHMS.len() + 1);
    assert!(paragraphs[ALGORITHMS.len()].starts_with("oracle\n"), "{stdout}");
    for (paragraph, algorithm) in paragraphs.iter().zip(ALGORITHMS) {
        let parts = format!("rule: {}, estimator: {}, stop: budget", algorithm.rule, algorithm.estimator.name());
        assert_eq!(paragraph.lines().next(), Some(algorithm.name));
        assert!(paragraph.contains(algorithm.about) && paragraph.contains(algorithm.paper), "{paragraph}");
        assert!(paragraph.contains(&parts), "{paragraph}");
        for parameter in algorithm.parameters() {
            let line = paragraph.lines().find(|line| line.contains(&format!("`{}`", parameter.name))).unwrap();
            assert!(line.contains(parameter.about) && line.contains(&parameter.range.to_string()), "{line}");
        }
    }
    assert!(
        stdout.contains("`lambda`: λ, the regularisation of ridge; a number of at least 1e-12, default 1"),
        "{stdout}"
    );
    assert!(stdout.contains("no default"), "{stdout}");
}

#[test]
fn json_has_all() {
    let listed: Vec<Value> = serde_json::from_str(&list("json")).unwrap();
    assert_eq!(listed.len(), ALGORITHMS.len() + 1);
    assert_eq!(listed[ALGORITHMS.len()]["name"], "oracle");
    for (value, algorithm) in listed.iter().zip(ALGORITHMS) {
        assert_eq!(
            ["name", "about", "rule", "estimator", "stop", "paper"].map(|key| value[key].as_str().unwrap()),
            [algorithm.name, algorithm.about, algorithm.rule, algorithm.estimator.name(), "budget", algorithm.paper]
        );
        let parameters = value["parameters"].as_array().unwrap();
        let names: Vec<&str> = parameters.iter().map(|parameter| parameter["name"].as_str().unwrap()).collect();
        assert_eq!(names, algorithm.parameters().map(|parameter| parameter.name).collect::<Vec<_>>());
        for (value, parameter) in parameters.iter().zip(algorithm.parameters()) {
            assert_eq!(value["default"].as_f64(), parameter.default);
        }
    }
}

#[test]
fn csv_has_one_row_per_algorithm() {
    let stdout = list("csv");
    let mut reader = csv::Reader::from_reader(stdout.as_bytes());
    assert_eq!(reader.headers().unwrap(), vec!["name", "about", "rule", "estimator", "stop", "parameters", "paper"]);
    let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(records.len(), ALGORITHMS.len() + 1);
    for (record, algorithm) in records.iter().zip(ALGORITHMS) {
        assert_eq!((&record[0], &record[6]), (algorithm.name, algorithm.paper));
        let names: Vec<&str> = algorithm.parameters().map(|parameter| parameter.name).collect();
        assert_eq!(record[5].split_whitespace().collect::<Vec<_>>(), names);
    }
}
