//! CSV for people: names and other text of users that a spreadsheet would take for formulas are quoted, numbers are not; `--plain` writes
//! them as they are, and both are read back.

use crate::common::Place;

const NAMES: [&str; 6] = ["=1+1", "+cmd|'/C calc'!A0", "-e", "@SUM(A1)", "'=x", "plain"];

/// A campaign over candidates, and with features, campaign, worker and reasons, whose names are formulas.
fn place() -> Place {
    let place = Place::new();
    let rows: Vec<String> = NAMES.iter().zip(1..).map(|(name, x)| format!("{name},{x}\n")).collect();
    place.write("arms.csv", format!("name,=feature\n{}", rows.concat()));
    place.good(&["new", "s.db", "arms.csv", "--threshold", "0.5", "--budget", "20", "--name", "=campaign"]);
    for number in 0..6 {
        place.good(&["ask", "s.db", "--worker", "@worker"]);
        let (ticket, reward) = ((number + 1).to_string(), (-1.5 + f64::from(number)).to_string());
        place.good(&["tell", "s.db", &ticket, &reward]);
    }
    place.good(&["ask", "s.db"]);
    place.good(&["tell", "s.db", "--fail", "7", "--reason", "=HYPERLINK(1)"]);
    place
}

/// The cells of CSV, without the header's if `skip` is 1.
fn cells(csv: &str) -> Vec<String> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(csv.as_bytes());
    reader.records().flat_map(|record| record.unwrap().iter().map(str::to_owned).collect::<Vec<_>>()).collect()
}

const COMMANDS: [&[&str]; 8] = [
    &["export", "s.db", "--verdicts"],
    &["export", "s.db", "--events"],
    &["list", "s.db", "--format", "csv"],
    &["status", "s.db", "--format", "csv"],
    &["show", "s.db", "--format", "csv"],
    &["diagnose", "s.db", "--format", "csv"],
    &["report", "s.db", "--format", "csv"],
    &["predict", "s.db", "more.csv", "--format", "csv"],
];

#[test]
fn no_cell_is_a_formula_unless_it_is_plain() {
    let place = place();
    place.write("more.csv", "name,=feature\n=new,7\n");
    for command in COMMANDS {
        let csv = place.good(command).stdout;
        let is_formula = |cell: &&String| cell.starts_with(['=', '+', '-', '@']) && cell.parse::<f64>().is_err();
        assert_eq!(cells(&csv).iter().find(is_formula), None, "{command:?}");
        let plain = place.good(&[command, &["--plain"]].concat()).stdout;
        let unquoted: Vec<String> =
            cells(&csv).iter().map(|cell| cutline_data::spreadsheet::unquoted(cell).to_owned()).collect();
        // The pace of a campaign changes from one call to the next.
        let is_steady =
            |cells: Vec<String>| cells.into_iter().filter(|cell| !cell.contains(['T', '.'])).collect::<Vec<_>>();
        assert_eq!(is_steady(unquoted), is_steady(cells(&plain)), "{command:?}");
    }
    let verdicts = place.good(&["export", "s.db", "--verdicts"]).stdout;
    let first: Vec<String> = verdicts.lines().skip(1).map(|line| line.split(',').next().unwrap().to_owned()).collect();
    assert_eq!(first, ["'=1+1", "'+cmd|'/C calc'!A0", "'-e", "'@SUM(A1)", "''=x", "plain"]);
    assert!(
        cells(&verdicts).iter().any(|cell| cell.starts_with('-') && cell.parse::<f64>().is_ok()),
        "numbers: {verdicts}"
    );
    let asked = place.good(&["ask", "s.db", "--format", "csv"]).stdout;
    assert!(asked.starts_with("ticket,arm,index,until,'=feature\n"), "{asked}");
    assert!(place.refuses(&["withdraw", "s.db", "'=1+1"]).ends_with("; did you mean `=1+1`?"));
    // The other formats are for programs.
    let json = place.json(&["export", "s.db", "--verdicts"]);
    assert_eq!(json[0]["arm"], "=1+1");
}

/// What was exported is read back, quoted or plain, and gives the same campaign.
#[test]
fn exports_are_read_back() {
    let place = place();
    let verdicts = |store: &str| place.good(&["export", store, "--verdicts"]).stdout;
    place.good(&["export", "s.db", "--events", "--out", "quoted.csv"]);
    place.good(&["export", "s.db", "--events", "--plain", "--out", "plain.csv"]);
    assert_ne!(place.text("quoted.csv"), place.text("plain.csv"));
    for file in ["quoted", "plain"] {
        let (store, events) = (format!("{file}.db"), format!("{file}.csv"));
        let settings = ["--threshold", "0.5", "--budget", "20", "--observed", &events];
        place.good(&[&["new", &store, "arms.csv"][..], &settings].concat());
        assert_eq!(verdicts(&store), verdicts("s.db"), "{file}");
        place.good(&["diagnose", "arms.csv", &events]);
    }
}

/// Where a name is another one quoted, a file of rewards may mean either, and is refused.
#[test]
fn a_name_that_may_be_two_is_refused() {
    let place = Place::new();
    place.write("arms.csv", "name,x\n=x,1\n'=x,2\n");
    place.write("rewards.csv", "arm,reward\n'=x,1\n");
    let line = place.run(&["diagnose", "arms.csv", "rewards.csv"]).failed(1);
    assert!(line.contains("`'=x` is the name of 2 arms"), "{line}");
}
