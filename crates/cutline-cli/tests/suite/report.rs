//! `cutline report`: the content of the page, for all kinds of campaigns.

use crate::common::{ARMS, NAMES, Place, screen};
use cutline_campaign::AnyCampaign;
use cutline_store::Store;
use std::fmt::Write;

/// Plays the whole budget with rewards from `reward`.
fn measure(place: &Place, reward: impl Fn(&str, u64) -> f64) {
    let mut campaign = Store::open(place.path("screen.db").to_str().unwrap()).unwrap().campaign(None).unwrap();
    loop {
        let tickets = campaign.ask(7, "w", std::time::Duration::from_hours(1)).unwrap();
        if tickets.is_empty() {
            break;
        }
        let rewards: Vec<_> = tickets.iter().map(|t| (t.number, reward(&t.name, t.number))).collect();
        campaign.tell(&rewards).unwrap();
    }
}

/// The page of the campaign in `screen.db`.
fn page(place: &Place) -> String {
    place.good(&["report", "screen.db"]);
    place.text("report.html")
}

/// The names in the table of a side, in their order.
fn named<'a>(page: &'a str, side: &str) -> Vec<&'a str> {
    let Some((_, table)) = page.split_once(&format!("<h3 id=\"{side}\"")) else { return Vec::new() };
    let table = table.split("</table>").next().unwrap();
    table.split("<tr><td>").skip(1).map(|row| row.split("</td>").next().unwrap()).collect()
}

fn escaped(name: &str) -> String {
    let replaced = name.replace('&', "&#38;").replace('<', "&#60;").replace('>', "&#62;");
    replaced.replace('"', "&#34;").replace('\'', "&#39;")
}

#[test]
fn the_page_agrees_with_status_and_export() {
    let place = screen(&["--budget", "60", "--precision", "0.1", "--noise", "0.4"]);
    measure(&place, |name, number| {
        let arm = NAMES.iter().position(|other| *other == name).unwrap();
        [1.5, 0.9, 0.55, 0.45, 0.2, -0.8][arm] + if number.is_multiple_of(2) { 0.3 } else { -0.3 }
    });
    let ran = place.good(&["report", "screen.db"]);
    let page = place.text("report.html");
    let status = place.json(&["status", "screen.db"]);
    let number = |key: &str| status[key].as_u64().unwrap();
    let [above, below, undecided] = ["above", "below", "undecided"].map(number);
    let [above_proved, below_proved] = ["above_proved", "below_proved"].map(number);
    assert!(above > 0 && below > 0, "{status}");
    let lie = if above == 1 { "lies" } else { "lie" };
    let sentence = format!(
        "{above} of 6 candidates {lie} above 0.5 ({above_proved} proved), {below} below ({below_proved} proved), {undecided} undecided; \
         60 of 60 measurements used."
    );
    let mut said = ran.stdout.lines();
    assert_eq!((said.next(), ran.stderr.as_str()), (Some(sentence.as_str()), "wrote report.html\n"));
    let found = status["finding"].as_str().unwrap();
    assert_eq!(said.next().unwrap(), format!("F{}.", &found[1..]));
    let expected = format!("Expected: {:.1} wrong calls if ", status["wrong_calls"].as_f64().unwrap());
    let last = said.next().unwrap();
    assert!(last.starts_with(&expected) && last.ends_with("by the model, not guaranteed."));
    let fit = said.next().unwrap();
    assert!(fit.starts_with("Model: adapts: the ") && said.next().is_none(), "{}", ran.stdout);
    assert!(page.contains(last) && page.contains(fit) && page.contains(&format!("F{}.", &found[1..])));
    assert!(page.contains(&format!("<p class=\"answer\">{sentence}</p>")), "{sentence}");
    assert!(page.contains("the budget is used up"));
    let verdicts = place.json(&["export", "screen.db", "--verdicts"]);
    let mut campaign = Store::open(place.path("screen.db").to_str().unwrap()).unwrap().campaign(None).unwrap();
    let rewards: Vec<(usize, f64)> = campaign.state().unwrap().rewards().collect();
    for side in ["above", "below", "undecided"] {
        let mut expected: Vec<_> = verdicts.as_array().unwrap().iter().filter(|v| v["side"] == side).collect();
        expected.sort_by(|a, b| b["mean"].as_f64().unwrap().total_cmp(&a["mean"].as_f64().unwrap()));
        let names: Vec<String> = expected.iter().map(|v| escaped(v["arm"].as_str().unwrap())).collect();
        assert_eq!(named(&page, side), names, "{side}, highest mean first");
        for verdict in expected {
            let [mean, lower, upper] = ["mean", "lower", "upper"].map(|key| verdict[key].as_f64().unwrap());
            let own = rewards.iter().filter(|(arm, _)| verdict["index"] == *arm).map(|(_, reward)| reward);
            let own = own.sum::<f64>() / verdict["pulls"].as_f64().unwrap();
            let row = format!(
                "<td class=\"number\">{mean:.2}</td><td class=\"number\">{lower:.2} to {upper:.2}</td><td class=\"number\">{own:.2}</td>\
                 <td>{}</td>",
                verdict["pulls"]
            );
            assert!(page.contains(&row.replace('-', "−")), "{row}");
            let basis = verdict["basis"].as_str().unwrap_or("");
            let arm = escaped(verdict["arm"].as_str().unwrap());
            assert!(page.contains(&format!("<tr><td>{arm}</td><td class=\"text\">{basis}</td>")), "{verdict}");
            let (doubt, probability) = (verdict["doubt"].as_f64(), verdict["probability_above"].as_f64());
            let of_doubt = if mean >= 0.5 { 1.0 - doubt.unwrap() } else { doubt.unwrap() };
            assert!((probability.unwrap() - of_doubt).abs() < 1e-12 && verdict["own_mean"].is_number(), "{verdict}");
        }
    }
    assert!(place.good(&["report", "screen.db"]).stderr.starts_with("replaced report.html"));
}

/// `--sort` changes the order of the sides and of the arms on each; an arm without rewards says so.
#[test]
fn verdicts_are_sorted() {
    let place = screen(&["--budget", "5", "--noise", "3"]);
    measure(&place, |_, number| number as f64 / 10.0);
    let page = |sort: &str| {
        place.good(&["report", "screen.db", "--sort", sort]);
        place.text("report.html")
    };
    let order = |page: &str, sides: [&str; 2]| {
        page.find(&format!("<h3 id=\"{}\"", sides[0])) < page.find(&format!("<h3 id=\"{}\"", sides[1]))
    };
    let by_name = page("name");
    let names = named(&by_name, "undecided");
    assert!(names.len() > 3 && names.is_sorted(), "{names:?}");
    assert!(by_name.contains("<td class=\"number\">never measured</td><td>0</td>"), "an arm has no reward");
    let column = |page: &str, column: usize| -> Vec<f64> {
        let table = page.split_once("<h3 id=\"undecided\"").unwrap().1.split("</table>").next().unwrap();
        let cells = table.split("<tr><td>").skip(1).map(|row| row.split("<td").nth(column).unwrap());
        let text = |cell: &str| cell.split_once('>').unwrap().1.split('<').next().unwrap().replace('−', "-");
        cells.map(|cell| text(cell).parse().unwrap()).collect()
    };
    assert!(column(&page("doubt"), 6).is_sorted_by(|a, b| a >= b));
    assert!(column(&page("mean"), 2).is_sorted_by(|a, b| a >= b));
    let place = screen(&["--budget", "60", "--noise", "0.4"]);
    measure(&place, |name, _| if name == "a" { 9.0 } else { 0.5 });
    place.good(&["report", "screen.db"]);
    assert!(order(&place.text("report.html"), ["above", "undecided"]));
    place.good(&["report", "screen.db", "--sort", "undecided"]);
    assert!(order(&place.text("report.html"), ["undecided", "above"]));
    assert_eq!(place.run(&["report", "screen.db", "--sort", "size"]).code, Some(2));
}

#[test]
fn formats_agree() {
    let place = screen(&["--budget", "20", "--until-sure", "proved", "--noise", "0.1"]);
    measure(&place, |name, number| if name < "b" { 9.0 } else { -9.0 } + (number % 3) as f64 / 1e3);
    let json = place.json(&["report", "screen.db", "--out", "a b.html"]);
    assert!(place.text("a b.html").contains("every verdict is proved"));
    let sentence = format!("{}.\n", json["sentence"].as_str().unwrap());
    assert!(place.good(&["report", "screen.db"]).stdout.starts_with(&sentence));
    assert_eq!((&json["campaign"], &json["n_arms"], &json["budget"]), (&"arms".into(), &6.into(), &20.into()));
    assert_eq!((&json["ending"], &json["undecided"]), (&"proved".into(), &0.into()));
    let csv = place.good(&["report", "screen.db", "--format", "csv"]).stdout;
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header = reader.headers().unwrap().clone();
    let row = reader.records().next().unwrap().unwrap();
    assert_eq!(header.len(), json.as_object().unwrap().len() + 3, "the rest has two columns, the shares have three");
    for (key, field) in header.iter().zip(&row) {
        let value = match key.split_once('_') {
            Some((whole @ ("explained" | "rest"), part)) => &json[whole][part],
            _ => &json[key],
        };
        // They change from one moment to the next.
        if !["rewards_per_hour", "budget_used_at"].contains(&key) {
            assert!(value.as_str() == Some(field) || value.as_f64() == field.parse().ok(), "{key}: {value}, {field}");
        }
    }
}

/// Names, workers, reasons and columns are escaped, and the page loads nothing from elsewhere.
#[test]
fn names_are_escaped() {
    let hostile = "<script>alert(1)</script>";
    let place = Place::new();
    let names = [hostile, "\"><img src=x onerror=alert(1)>", "{{ name }}", "&lt;b&gt;", "a\u{202e}b", "' onload='x"];
    let mut csv = format!("name,\"{hostile}\"\n");
    for (number, name) in names.iter().enumerate() {
        writeln!(csv, "\"{}\",{number}", name.replace('"', "\"\"")).unwrap();
    }
    place.write("arms.csv", csv);
    place.good(&["new", "screen.db", "arms.csv", "--threshold", "0", "--budget", "30", "--name", hostile]);
    place.good(&["ask", "screen.db", "-n", "9", "--worker", hostile]);
    place.good(&["tell", "screen.db", "1", "2", "2", "-3"]);
    place.good(&["tell", "screen.db", "--fail", "3", "--reason", hostile]);
    let page = page(&place);
    for tag in ["<script", "<img", "<link", "<iframe", "src=", "@import", "url(", "href=\"http", "javascript:"] {
        let is_there = if tag == "src=" { page.contains("<img src=") } else { page.contains(tag) };
        assert!(!is_there, "{tag}");
    }
    // In the title, the heading, the export command, both tables, the settings and the drawing.
    assert!(page.matches("script&#62;").count() + page.matches("script&gt;").count() >= 12);
    for name in names.iter().filter(|name| !name.contains('\u{202e}')) {
        assert!(page.contains(&escaped(name)), "{name}");
    }
    assert!(page.contains("a\\u{202e}b") && !page.contains('\u{202e}'));
}

/// A mean that is the threshold itself, by measurements without noise, counts as above, and is said to be there, on every surface.
#[test]
fn a_mean_at_the_threshold() {
    let place = Place::new();
    place.write("arms.csv", "name\na\nb\nc\n");
    place.write("rewards.csv", format!("arm,reward\n{}", "a,0.5\nb,0.5\nc,0.5\n".repeat(4)));
    let new = ["new", "screen.db", "arms.csv", "--threshold", "0.5", "--budget", "9", "--model", "independent"];
    place.good(&[&new[..], &["--observed", "rewards.csv", "--noise", "1e-30"]].concat());
    let sentence = "3 of 3 candidates lie above 0.5 (0 proved, 3 exactly at the threshold), 0 below, 0 undecided; 0 of 9 measurements used";
    assert_eq!(place.json(&["report", "screen.db"])["sentence"], sentence);
    let page = place.text("report.html");
    assert_eq!(page.matches(", at the threshold</td>").count(), 3);
    assert!(page.contains("a (at the threshold)</text>"), "the figure");
    let status = place.good(&["status", "screen.db"]).stdout;
    assert!(
        status.contains("\nverdicts   3 above (0 proved, 3 exactly at the threshold), 0 below, 0 undecided\n"),
        "{status}"
    );
    assert_eq!(status.matches("| at the threshold |").count(), 3, "{status}");
    let status = place.json(&["status", "screen.db"]);
    assert_eq!((&status["at_threshold"], &status["doubtful"][0]["at_threshold"]), (&3.into(), &true.into()));
    let verdicts = place.json(&["export", "screen.db", "--verdicts"]);
    assert_eq!((&verdicts[0]["side"], &verdicts[0]["at_threshold"]), (&"above".into(), &1.into()));
    let checked = place.good(&["check", "screen.db", "--below"]).stdout;
    assert!(checked.starts_with("a: at the threshold, likely, mean 0.5000, "), "{checked}");
}

#[test]
fn open_and_lost_tickets_are_listed_with_their_reasons() {
    let place = screen(&["--budget", "40"]);
    place.good(&["ask", "screen.db", "-n", "20", "--worker", "lab 3", "--lease", "3h"]);
    for ticket in 1..=12 {
        let reason = format!("spilt {ticket}");
        place.good(&["tell", "screen.db", "--fail", &ticket.to_string(), "--reason", &reason]);
    }
    let mut campaign = Store::open(place.path("screen.db").to_str().unwrap()).unwrap().campaign(None).unwrap();
    campaign.expire(&[13, 14]).unwrap();
    campaign.tell(&[(14, 0.3)]).unwrap();
    let page = page(&place);
    let (_, section) = page.split_once("id=\"measurements\"").unwrap();
    let section = section.split("<h2").next().unwrap();
    assert!(section.contains("the last 10 of 13"), "12 failed and one expired; the other came late");
    let of_lost: Vec<&str> = section.split("Lost tickets").nth(1).unwrap().split("<tr><td>").skip(1).collect();
    assert!(of_lost[0].starts_with("13</td>") && of_lost[0].contains("expired"), "{}", of_lost[0]);
    assert!(of_lost[1].starts_with("12</td>") && of_lost[1].contains("spilt 12"), "the latest first: {}", of_lost[1]);
    assert_eq!(of_lost.len(), 10);
    let of_open: Vec<&str> = section
        .split(">Open tickets<")
        .nth(1)
        .unwrap()
        .split("Lost tickets")
        .next()
        .unwrap()
        .split("<tr><td>")
        .collect();
    assert_eq!(of_open.len() - 1, 6, "15 to 20");
    assert!(of_open[1].starts_with("15</td>") && of_open[1].contains("lab 3") && of_open[1].contains(">until 20"));
    assert!(section.contains("<td>rewards counted</td><td>1 of 40</td>"));
}

#[test]
fn a_model_that_rewards_contradict_is_a_warning() {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/diagnostics/");
    let (arms, warning) = (format!("{docs}catalysts.csv"), "Check the model");
    for (rewards, model, is_believed, warns) in [
        ("linear.csv", "linear", true, false),
        ("curved.csv", "linear", false, true),
        ("linear.csv", "mixed", true, false),
        ("curved.csv", "mixed", false, false),
        ("curved.csv", "independent", false, false),
    ] {
        let place = Place::new();
        let observed = format!("{docs}{rewards}");
        let new = ["new", "screen.db", &arms, "--threshold", "2", "--budget", "90", "--observed", &observed];
        place.good(&[&new[..], &["--model", model]].concat());
        let page = page(&place);
        assert_eq!(page.contains("The linear model is believable"), is_believed, "{rewards} {model}");
        assert_eq!(page.contains("The linear model is not believable"), !is_believed, "{rewards} {model}");
        assert_eq!(page.contains(warning), warns, "{rewards} {model}");
        assert_eq!(page.contains("<code>apt</code> treats every arm separately"), model == "independent");
        assert!(page.contains("<td>lack of fit</td><td>F = "), "the numbers of `diagnose`");
        assert_eq!(page.contains("estimated from candidates measured more than once"), model != "mixed");
        let is_mixed = model == "mixed";
        assert_eq!(page.contains("The mixed model found: features explain "), is_mixed);
        assert_eq!(page.contains("by the model, each holds its mean with this probability"), is_mixed);
        assert_eq!(page.contains("Doubt: by the model, the probability that the call is wrong"), is_mixed);
        assert_eq!(
            page.contains(" wrong calls if every candidate gets the side of its mean: by the model, not guaranteed."),
            is_mixed
        );
        let answer = place.json(&["report", "screen.db"]);
        assert_eq!(answer["model"], model);
        assert!(answer["wrong_calls"].is_number());
        assert_eq!(answer["explained"].is_object(), is_mixed);
    }
}

/// No rewards, one arm, no features, nothing decided: each has a page.
#[test]
fn every_campaign_has_a_page() {
    for (arms, options) in [
        (ARMS, &["--budget", "9"][..]),
        ("name\nonly\n", &["--budget", "1"]),
        ("name\na\nb\n", &["--budget", "9", "--noise", "1e9"]),
        ("x\n1\n", &["--budget", "2", "--interval", "anytime"]),
        ("x,y\n0,0\n0,0\n", &["--budget", "9", "--model", "linear", "--raw"]),
    ] {
        let place = Place::new();
        place.write("arms.csv", arms);
        place.good(&[&["new", "screen.db", "arms.csv", "--threshold", "0.5"], options].concat());
        let before = page(&place);
        assert!(before.contains("The campaign has no rewards yet."), "{options:?}");
        assert_eq!(before.contains("not known yet"), !options.contains(&"--noise"), "{options:?}");
        assert!(!before.contains("NaN") && !before.contains(">inf"), "{options:?}");
        let n_arms = arms.lines().count() - 1;
        let rows = ["above", "undecided", "below"].map(|side| named(&before, side).len());
        assert_eq!(rows, [0, n_arms, 0], "{options:?}"); // also where a linear model expects 0, which no reward has tested
        if !arms.contains("name,") && arms.starts_with("name") {
            assert!(before.contains("−∞ to ∞") && before.contains("The candidates have no features"));
        }
        measure(&place, |_, number| number as f64 / 7.0);
        let after = page(&place);
        assert!(after.contains("the budget is used up") && !after.contains("NaN"), "{options:?}");
    }
}

#[test]
fn long_tables_are_cut_and_name_the_command_that_exports_the_rest() {
    let place = Place::new();
    let names: String = (0..450).fold("name\n".into(), |csv, number| format!("{csv}arm {number}\n"));
    place.write("arms.csv", names);
    place.good(&[
        "new",
        "screen.db",
        "arms.csv",
        "--threshold",
        "0",
        "--budget",
        "900",
        "--noise",
        "0.1",
        "--name",
        "it's",
    ]);
    measure(&place, |name, _| name[4..].parse::<f64>().unwrap() - 210.5);
    let page = page(&place);
    assert!(page.contains("above: 200 of 239<") && page.contains("below: 200 of 211<"));
    let (above, below) = (named(&page, "above"), named(&page, "below"));
    assert_eq!((above.len(), above[0], above[199]), (200, "arm 449", "arm 250"));
    assert_eq!((below.len(), below[0]), (200, "arm 210"));
    let command = escaped("cutline export STORE --name 'it'\\''s' --verdicts");
    assert_eq!(page.matches(&command).count(), 2, "{command}");
}

#[test]
fn a_hundred_thousand_arms_make_a_small_page() {
    let place = Place::new();
    let mut csv = String::from("name,x,y\n");
    for number in 0..100_000 {
        let x = f64::from(number) / 5e4 - 1.0;
        writeln!(csv, "arm {number},{x},{}", (f64::from(number) * 0.7).sin()).unwrap();
    }
    place.write("arms.csv", csv);
    place.good(&["new", "screen.db", "arms.csv", "--threshold", "0", "--budget", "100"]);
    measure(&place, |name, number| name[4..].parse::<f64>().unwrap() / 5e4 - 1.0 + (number % 5) as f64 * 0.01);
    let page = page(&place);
    assert!(page.len() < 400_000, "{} bytes", page.len());
    assert!(page.contains(" of 100,000 candidates lie above 0 ("));
}

#[test]
fn an_error_is_one_line_and_changes_nothing() {
    let place = screen(&["--budget", "9"]);
    assert!(place.refuses(&["report", "none.db"]).contains("there is no store at none.db"));
    assert!(place.refuses(&["report", "screen.db", "--name", "x"]).contains("there is no campaign `x`"));
    let line = place.refuses(&["report", "screen.db", "--out", "nowhere/report.html"]);
    let expected = "error: cannot write nowhere/report.html: there is no directory nowhere; create it, or choose another place with `--out`";
    assert_eq!(line, expected);
    let line = place.refuses(&["report", "screen.db", "--out", "."]);
    assert!(line.contains("cannot write ."), "{line}");
    // A wrong `--out` must not destroy a campaign.
    let before = std::fs::read(place.path("screen.db")).unwrap();
    let line = place.run(&["report", "screen.db", "--out", "screen.db"]).failed(2);
    assert!(
        line.contains("screen.db is a store and would be overwritten; choose another place with `--out`"),
        "{line}"
    );
    assert_eq!(std::fs::read(place.path("screen.db")).unwrap(), before);
}
