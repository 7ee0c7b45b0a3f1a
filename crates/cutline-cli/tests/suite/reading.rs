//! How `cutline new`, `plan` and `diagnose` read tables as people have them, and what they say about them.

use crate::common;

use crate::common::Place;
use std::io::Write;
use std::process::Stdio;

const PENGUINS: &str = "name,species,mass,sex\nann,Adelie,3750,f\nbob,Gentoo,NA,m\ncid,Adelie,3800,\ndot,Gentoo,5000,f\n\
                        eve,Chinstrap,,f\nfay,Adelie,3450,m\n";

const NEW: [&str; 7] = ["new", "screen.db", "birds.csv", "--threshold", "0.5", "--budget", "40"];

fn place(table: &str) -> Place {
    let place = Place::new();
    place.write("birds.csv", table);
    place
}

#[test]
fn categories_and_missing_values() {
    let place = place(PENGUINS);
    assert_eq!(
        place.refuses(&NEW),
        "error: birds.csv: 3 values are missing, in 3 rows and 2 columns: row 3, column `mass`, row 4, column `sex`, row 6, column \
         `mass`; fill them in, or use `--missing mean`"
    );
    let said = place.good(&[&NEW[..], &["--missing", "mean"]].concat()).stderr;
    let expected = "\
        note: column `species` is text: a category with the levels `Adelie`, `Chinstrap`, `Gentoo`\n\
        note: 2 missing values in column `mass` became its mean, 4000; `mass missing` marks where\n\
        note: column `sex` is text: a category with the levels `f`, `m`\n\
        note: 1 missing value in column `sex` became a level of its own, `sex missing`\n\
        began the campaign `birds`\n";
    assert!(said.starts_with(expected), "{said}");
    assert!(
        said.contains(
            "  features   8: `species=Adelie`, `species=Chinstrap`, `species=Gentoo`, `mass`, `mass missing`, …\n"
        ),
        "{said}"
    );
    let ticket = &place.json(&["ask", "screen.db"])[0];
    assert_eq!(ticket["features"].as_object().unwrap().len(), 8);
}

/// One line that says what to do.
#[test]
fn hints() {
    for (table, options, expected) in [
        (
            "name,mass\na,1\nb,Adelie\n",
            &[][..],
            "row 3, column `mass`: `Adelie` is not a finite number; use `--category mass` if the column is a category",
        ),
        (
            "smiles,mass\nCCO,1\nCC,2\n",
            &[],
            "column `smiles` is text, with a different value in every row; the first is `CCO`; use `--id smiles` if it names the \
             candidates, `--category smiles` if it is a category, or choose other columns with `--features`",
        ),
        (
            "x;y\n1,5;2\n",
            &[],
            "row 2, column `x`: `1,5` is not a finite number; use `--decimal ,` for numbers with a decimal comma",
        ),
        (
            "x;y\n1,500;2\n",
            &[],
            "row 2, column `x`: `1,500` is not a finite number; write numbers without separators of thousands; or use `--decimal ,` if \
             it is a decimal comma",
        ),
        (
            "x;y\n1.5;2\n",
            &["--decimal", ","],
            "row 2, column `x`: `1.5` is not a finite number; leave out `--decimal ,` if numbers are written with a decimal point",
        ),
        (
            "name,id,x\na,1,1\na,2,2\n",
            &[],
            "rows 2 and 3 have the same name, `a`; names must differ; name them by another column with `--id id`",
        ),
        ("name,x,y\na,,1\nb,,2\n", &[], "column `x` has no values; leave it out with `--features`"),
        ("name,x\na,1\n", &["--id", "nr"], "there is no column `nr`; the columns are `x`"),
        (
            "name,x\na,Adelie\nb,1\nc,Gentoo\n",
            &[],
            "not finite numbers: `Adelie` in row 2, column `x`, `Gentoo` in row 4, column `x`; use `--category x` if the column is a \
             category",
        ),
        (
            "%PDF-1.4\n",
            &[],
            "this is a PDF file, not a table; candidates are read from CSV, Excel (.xlsx) and Parquet files",
        ),
    ] {
        let line = place(table).refuses(&[&NEW[..], options].concat());
        assert_eq!(line, format!("error: birds.csv: {expected}"));
    }
    let said = place("id,x\n10,1\n20,2\n").good(&NEW).stderr;
    let note = "note: column `id` differs between all rows and is used as a feature, not as names; use `--id id` if it names the candidates\n";
    assert!(said.starts_with(note), "{said}");
}

#[test]
fn names_by_another_column() {
    let place = place("code,name,x\nA1,any,1\nA2,any,2\n");
    place.good(&[&NEW[..], &["--id", "code"]].concat());
    let ticket = &place.json(&["ask", "screen.db"])[0];
    assert!(["A1", "A2"].contains(&ticket["arm"].as_str().unwrap_or_default()), "{ticket}");
}

#[test]
fn a_table_on_stdin() {
    let place = Place::new();
    let mut command =
        place.cutline(&["new", "screen.db", "-", "--threshold", "0.5", "--budget", "4", "--decimal", ","]);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"name;x\na;1,5\nb;2,5\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && said.starts_with("began the campaign `campaign`\n"), "{said}");
}

/// `plan` and `diagnose` take the same options, and read the same columns as `new`.
#[test]
fn plan_and_diagnose_read_the_same() {
    let place = place(PENGUINS);
    place.write("rewards.csv", "arm;reward\nann;1\nbob;2\ncid;1.5\ndot;3\neve;2\nfay;1\n");
    let options = ["--missing", "mean", "--features", "species,mass"];
    let diagnosed = place.good(&[&["diagnose", "birds.csv", "rewards.csv", "--format", "json"], &options[..]].concat());
    assert!(diagnosed.stdout.contains("\"dimension\": "), "{}", diagnosed.stdout);
    assert!(diagnosed.stderr.starts_with("note: column `species` is text"), "{}", diagnosed.stderr);
    let plan = ["plan", "birds.csv", "--threshold", "0", "--budgets", "4", "--runs", "2", "--out", "plan"];
    let planned = place.good(&[&plan[..], &options].concat()).stderr;
    assert!(planned.contains("note: 2 missing values in column `mass`"), "{planned}");
}

/// What `export --events` writes can begin another campaign and be diagnosed.
#[test]
fn exported_events_are_read_back() {
    let place = common::screen(&["--budget", "9"]);
    place.write("rewards.csv", "arm,reward\na,0.5\n");
    for reward in ["0.25", "0.75", "-1"] {
        let ticket = place.json(&["ask", "screen.db"])[0]["ticket"].to_string();
        place.good(&["tell", "screen.db", &ticket, reward]);
    }
    place.good(&["ask", "screen.db"]);
    for format in ["csv", "json"] {
        let file = format!("events.{format}");
        place.good(&["export", "screen.db", "--events", "--format", format, "--out", &file]);
        let store = format!("{format}.db");
        place.good(&["new", &store, "arms.csv", "--threshold", "0.5", "--budget", "9", "--observed", &file]);
        assert_eq!(place.json(&["status", &store])["uncounted"], 3, "{format}");
        let pulls = |store: &str| -> Vec<_> {
            let verdicts = place.json(&["export", store, "--verdicts"]);
            verdicts.as_array().unwrap().iter().map(|verdict| verdict["pulls"].clone()).collect()
        };
        assert_eq!(pulls(&store), pulls("screen.db"), "{format}");
        assert_eq!(place.json(&["diagnose", "arms.csv", &file])["pulls"], 3, "{format}");
    }
}
