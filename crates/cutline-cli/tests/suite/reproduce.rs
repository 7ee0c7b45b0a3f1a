//! `cutline reproduce` with few runs.

use crate::common;

use crate::common::Place;
use serde_json::Value;

const FEW: [&str; 4] = ["reproduce", "uniform-d5", "--runs", "20"];

fn reproduce(place: &Place, more: &[&str]) -> common::Ran {
    place.good(&[&FEW[..], more].concat())
}

#[test]
fn it_compares_with_the_published_numbers() {
    let place = Place::new();
    let ran = reproduce(&place, &["--format", "json"]);
    let rows: Vec<Value> = serde_json::from_str(&ran.stdout).unwrap();
    let published: Vec<&Value> = rows.iter().filter(|row| row.get("published").is_some()).collect();
    assert_eq!(published.len(), 30, "six curves at five budgets");
    let compared = |curve: &str| {
        let of_curve = |row: &&&Value| row["curve"] == curve;
        let algorithms: Vec<&str> =
            published.iter().filter(of_curve).map(|row| row["algorithm"].as_str().unwrap()).collect();
        assert_eq!(algorithms.len(), 5, "{curve}");
        algorithms[0].to_owned()
    };
    for curve in ["random", "apt", "linear-apt"] {
        assert_eq!(compared(curve), curve);
    }
    for curve in ["ucbe(-1)", "ucbe(0)", "ucbe(4)"] {
        assert_eq!(compared(curve), "ucbe(as-published)");
    }
    let last = published.iter().find(|row| row["curve"] == "linear-apt" && row["budget"] == 200).unwrap();
    assert!((last["published"].as_f64().unwrap() - 0.7904).abs() < 1e-12, "failure, not success: {last}");
    let names: Vec<&str> = rows.iter().map(|row| row["algorithm"].as_str().unwrap()).collect();
    for own in ["ucbe(-1)", "ucbe(0)", "ucbe(4)", "pivot"] {
        assert_eq!(names.iter().filter(|name| **name == own).count(), 5, "{own} as specified");
    }
}

#[test]
fn the_long_table_shows_everything() {
    let place = Place::new();
    let stdout = reproduce(&place, &["--verbose"]).stdout;
    let summary = stdout.lines().last().unwrap();
    assert!(summary.ends_with(" of 30 published cells lie within their 99.9 % band"), "{summary}");
    assert!(stdout.starts_with("\nuniform-d5: 20 runs, seed 0, the published instance\n"), "{stdout}");
    let header = stdout.lines().find(|line| line.starts_with("| algorithm")).unwrap();
    let columns: Vec<&str> = header.split('|').map(str::trim).filter(|column| !column.is_empty()).collect();
    let expected = [
        "algorithm",
        "T",
        "failure rate",
        "95 % interval",
        "wrong arms",
        "Δ vs linear-apt",
        "published as",
        "published",
        "z",
    ];
    assert_eq!(columns, expected);
    assert!(stdout.contains("Theorem 1: not applicable (needs ‖θ‖ < √(T/16H)) at any of these budgets"));
}

/// The cells of a row of the table, by its first cell.
fn cells<'a>(stdout: &'a str, algorithm: &str) -> Vec<&'a str> {
    let line = stdout.lines().find(|line| line.starts_with(&format!("| {algorithm} "))).unwrap();
    line.split('|').map(str::trim).filter(|cell| !cell.is_empty()).collect()
}

#[test]
fn the_short_table_has_our_and_the_published_numbers_side_by_side() {
    let place = Place::new();
    let stdout = reproduce(&place, &[]).stdout;
    let heading = "\nuniform-d5: 20 runs, seed 0, the published instance; failure rate, ours (published)\n";
    assert!(stdout.starts_with(heading), "{stdout}");
    let budgets = ["T = 40", "T = 80", "T = 120", "T = 160", "T = 200"];
    assert_eq!(cells(&stdout, "algorithm"), [&["algorithm", "published as"], &budgets[..]].concat());
    let linear_apt = cells(&stdout, "linear-apt");
    assert!(linear_apt[2].ends_with(" (0.9481)") && linear_apt[6].ends_with(" (0.7904)"), "{linear_apt:?}");
    assert_eq!(cells(&stdout, "pivot").len(), 6, "nothing was published about it");
    assert!(!stdout.contains("Theorem 1"));
}

/// Four variants in one file, each with failure rates and pulls; CSAR uses 49 of 50 and 493 of 500 pulls in every run.
#[test]
fn experiments_of_other_papers() {
    let place = Place::new();
    let stdout = place.good(&["reproduce", "csar", "--runs", "50"]).stdout;
    for name in ["csar-normal", "csar-l1", "csar-l2", "csar-l3"] {
        assert!(
            stdout.contains(&format!("\n{name}: 50 runs, seed 0, one instance; means, ours (published)\n")),
            "{stdout}"
        );
    }
    assert!(stdout.contains("49.00 (49.00)") && stdout.contains("493.0 (493.0)"), "{stdout}");
    assert!(stdout.ends_with("16 of 16 published cells lie within their 99.9 % band\n"), "{stdout}");
    let rows = place.good(&["reproduce", "csar", "--runs", "50", "--format", "json"]).stdout;
    let rows: Vec<Value> = serde_json::from_str(&rows).unwrap();
    assert_eq!((rows.len(), &rows[1]["metric"], &rows[1]["ours"]), (16, &"pulls".into(), &49.0.into()));
}

/// Numbers that follow from the instance have all digits that were published.
#[test]
fn exact_numbers_have_all_digits() {
    let place = Place::new();
    for more in [&[][..], &["--verbose"]] {
        let stdout = place.good(&[&["reproduce", "grapl-cliques", "--runs", "1"], more].concat()).stdout;
        for number in ["130.731121549", "17286.7600093"] {
            assert_eq!(stdout.matches(number).count(), 2, "{stdout}");
        }
        assert!(stdout.ends_with("2 of 2 published cells lie within their 99.9 % band\n"), "{stdout}");
    }
}

#[test]
fn the_report_needs_no_other_file() {
    let place = Place::new();
    reproduce(&place, &["--out", "out"]);
    assert_eq!(place.names("out"), ["report.html", "results.csv", "uniform-d5.png", "uniform-d5.svg"]);
    let html = place.text("out/report.html");
    let without_namespaces = html.replace("http://www.w3.org/", "");
    for outside in ["http://", "https://", "src=", "<link", "<script", "@import", "url("] {
        assert!(!without_namespaces.contains(outside), "{outside}");
    }
    for link in html.match_indices("href=\"").map(|(start, link)| &html[start + link.len()..]) {
        assert!(link.starts_with('#'), "{}", &link[..40]);
    }
    assert!(html.contains(&place.text("out/uniform-d5.svg").trim().to_owned()), "the figure is inside");
    assert!(place.files("out")["uniform-d5.png"].starts_with(b"\x89PNG\r\n"));
}

#[test]
fn the_report_explains_and_lists_everything() {
    let place = Place::new();
    reproduce(&place, &["--out", "out", "--seed", "11", "--instances", "both"]);
    let html = place.text("out/report.html");
    assert!(html.contains("About the UCBE curves") && html.contains("ignores i and computes H′"), "the erratum");
    assert!(html.contains("of 30 published cells lie within their 99.9 % band"));
    let setting = |name: &str, value: &str| {
        let row = format!("<tr><td>{name}</td><td class=\"wrap\">{value}</td></tr>");
        html.matches(&row).count()
    };
    for (name, value) in [
        ("runs", "20"),
        ("seed", "11"),
        ("budgets", "40, 80, 120, 160, 200"),
        ("noise", "gaussian, σ = 1"),
        ("instances", "features and θ uniform on [−1, 1]"),
        ("threshold τ", "0"),
        ("precision ε", "0.01"),
        ("arms", "20"),
        ("features", "5"),
        ("baseline", "linear-apt"),
        ("linear-apt", "apt × ridge × budget; lambda = 1; centre = 0; intercept = 0"),
        ("pivot", "pivot × ridge × budget; noise = 1; lambda = 1; centre = 0; intercept = 0"),
    ] {
        assert_eq!(setting(name, value), 2, "{name} of the published and of the redrawn instances");
    }
}

/// The output before the summary.
fn tables(stdout: &str) -> &str {
    stdout.rsplit_once("\n\n").unwrap().0
}

#[test]
fn instances_can_be_redrawn() {
    let place = Place::new();
    let ran = reproduce(&place, &["--instances", "redrawn", "--out", "out"]);
    let heading = "\nuniform-d5-redrawn: 20 runs, seed 0, instances redrawn in every run; failure rate\n";
    assert!(ran.stdout.starts_with(heading));
    assert!(!ran.stdout.contains("published as"));
    assert_eq!(ran.stdout.lines().last(), Some("redrawn instances have no published numbers to compare with"));
    let both = reproduce(&place, &["--instances", "both", "--out", "both"]).stdout;
    assert!(tables(&both).ends_with(tables(&ran.stdout)), "the same as alone");
    assert!(both.starts_with(tables(&reproduce(&place, &[]).stdout)));
    let figures = ["uniform-d5-redrawn.png", "uniform-d5-redrawn.svg", "uniform-d5.png", "uniform-d5.svg"];
    assert_eq!(place.names("both"), [&["report.html", "results.csv"], &figures[..]].concat());
}

/// Experiments are in the paper's order and each comes once, whatever the order of the arguments.
#[test]
fn experiments_come_in_the_papers_order() {
    let place = Place::new();
    let args = ["reproduce", "wine", "uniform-d20", "uniform-d5", "wine", "--runs", "1", "--format", "csv"];
    let stdout = place.good(&args).stdout;
    let mut names: Vec<&str> = stdout.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
    names.dedup();
    assert_eq!(names, ["uniform-d5", "uniform-d20", "wine"]);
}
