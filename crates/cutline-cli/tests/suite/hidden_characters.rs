//! Names with direction overrides, zero-width characters and line separators are shown escaped, on terminals, in messages and on pages;
//! programs get them as they are. Long names are cut in messages.

use crate::common::Place;

const NAMES: [&str; 4] = ["gpj\u{202e}.exe", "zero\u{200b}width", "two\u{2028}lines", "\u{2066}iso\u{2069}"];
const SHOWN: [&str; 4] = ["gpj\\u{202e}.exe", "zero\\u{200b}width", "two\\u{2028}lines", "\\u{2066}iso\\u{2069}"];

fn place() -> Place {
    let place = Place::new();
    let rows: Vec<String> = NAMES.iter().zip(1..).map(|(name, x)| format!("{name},{x}\n")).collect();
    place.write("arms.csv", format!("name,x\u{202e}y\n{}", rows.concat()));
    place.good(&["new", "s.db", "arms.csv", "--threshold", "0.5", "--budget", "20", "--name", "scr\u{202e}een"]);
    place
}

fn has_hidden(text: &str) -> bool {
    text.contains(cutline::is_hidden)
}

#[test]
fn people_see_what_is_there() {
    let place = place();
    for args in [
        &["ask", "s.db", "-n", "4", "--worker", "w\u{202e}"][..],
        &["status", "s.db"],
        &["list", "s.db"],
        &["show", "s.db"],
        &["check", "s.db"],
        &["report", "s.db"],
        &["withdraw", "s.db", NAMES[0], "--reason", "be\u{202e}cause"],
        &["diagnose", "s.db"],
    ] {
        let ran = place.good(args);
        assert!(!has_hidden(&ran.stdout) && !has_hidden(&ran.stderr), "{args:?}: {}{}", ran.stdout, ran.stderr);
    }
    let checked = place.good(&["check", "s.db"]).stdout;
    assert!(SHOWN.iter().all(|name| checked.contains(name)), "{checked}");
    place.good(&["report", "s.db"]);
    let page = place.text("report.html");
    assert!(!has_hidden(&page) && SHOWN.iter().all(|name| page.contains(name)));
    for name in NAMES {
        let line = place.run(&["withdraw", "s.db", &format!("{name}?")]).failed(1);
        assert!(!has_hidden(&line), "{line}");
    }
    let json = place.json(&["export", "s.db", "--verdicts"]);
    assert_eq!(json[0]["arm"], NAMES[0], "programs get the name itself");
}

#[test]
fn long_names_are_cut_in_errors() {
    let place = place();
    let name = "x".repeat(500);
    let line = place.run(&["withdraw", "s.db", &name]).failed(1);
    assert!(line.starts_with(&format!("error: there is no candidate `{}…`; ", "x".repeat(80))), "{line}");
    let line = place.run(&["status", "s.db", "--name", &name]).failed(1);
    assert!(line.starts_with(&format!("error: there is no campaign `{}…`; ", "x".repeat(80))), "{line}");
}
