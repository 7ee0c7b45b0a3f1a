//! Measurements that cost different amounts, from the file of candidates to the report.

use crate::common::Place;
use cutline_store::Store;

const TABLE: &str = "name,x,price\na,1,0.5\nb,2,4\nc,3,2.25\nd,4,1\ne,5,8\nf,6,0.75\n";
const NEW: [&str; 9] = ["new", "screen.db", "arms.csv", "--threshold", "3.5", "--budget", "20", "--cost", "price"];

fn place(table: &str) -> Place {
    let place = Place::new();
    place.write("arms.csv", table);
    place
}

/// Measures until nothing is handed out, ticket by ticket; returns what they cost.
fn measure(place: &Place) -> f64 {
    let mut spent = 0.0;
    loop {
        let tickets = place.json(&["ask", "screen.db"]);
        let Some(ticket) = tickets.as_array().unwrap().first() else { return spent };
        spent += ticket["cost"].as_f64().unwrap();
        let (number, reward) = (ticket["ticket"].to_string(), ticket["features"]["x"].to_string());
        place.good(&["tell", "screen.db", &number, &reward]);
    }
}

#[test]
fn every_surface_says_what_is_spent() {
    let place = place(TABLE);
    let said = place.good(&NEW).stderr;
    assert!(said.contains("  features   1: `x`\n"), "{said}");
    assert!(said.contains("  budget     20 in units of `price`\n"), "{said}");
    assert!(
        said.contains("  costs      0.5 to 8 per measurement, 2.750 on average; choices weigh information per cost\n"),
        "{said}"
    );
    let table = place.good(&["ask", "screen.db", "--worker", "w"]).stdout;
    assert!(table.starts_with("| ticket | arm | x | cost |"), "{table}");
    let csv = place.good(&["ask", "screen.db", "--resume", "--worker", "w", "--format", "csv"]).stdout;
    assert!(csv.starts_with("ticket,arm,index,until,cost,x\n"), "{csv}");
    place.good(&["tell", "screen.db", "--fail", "1", "--reason", "only a test"]);

    let spent = measure(&place);
    assert!(spent <= 20.0 && 20.0 - spent < 0.5, "{spent}");
    let status = place.json(&["status", "screen.db"]);
    assert_eq!((status["spent"].as_f64(), status["budget"].as_u64()), (Some(spent), Some(20)));
    assert_eq!((status["ending"].as_str(), status["remaining"].as_f64()), (Some("budget"), Some(20.0 - spent)));
    let told = &status["told"];
    let used = format!("{spent} of 20 spent on {told} measurements");
    assert!(place.good(&["status", "screen.db"]).stdout.contains(&format!("rewards    {used}\n")));
    assert!(place.good(&["list", "screen.db"]).stdout.contains(&used));
    let report = place.json(&["report", "screen.db"]);
    assert!(report["sentence"].as_str().unwrap().ends_with(&used), "{report}");
    assert!(place.text("report.html").contains(&format!("{told}; {spent} of 20 spent")));
    let show = place.good(&["show", "screen.db"]).stdout;
    assert!(show.contains("20 in units of cost\n") && show.contains("the column `price`: 0.5 to 8"), "{show}");
    let events = place.good(&["export", "screen.db", "--events"]).stdout;
    assert!(events.lines().next().unwrap().ends_with(",cost"), "{events}");
    let verdicts = place.good(&["export", "screen.db", "--verdicts"]).stdout;
    assert!(verdicts.lines().nth(5).unwrap().ends_with(",8.0"), "{verdicts}");
    assert_eq!(place.run(&["ask", "screen.db"]).stderr, "nothing to measure: the budget of 20 is used up\n");

    let said = place.good(&["extend", "screen.db", "--budget", "30"]).stderr;
    assert_eq!(said, format!("changed: budget = 30; {} to spend\n", 30.0 - spent));
    assert_eq!(
        place.refuses(&["extend", "screen.db", "--budget", "19"]),
        format!("error: the budget cannot be 19: {spent} of it are used, counting open tickets")
    );
    let more = measure(&place);
    assert!(30.0 - spent - more < 0.5);
}

/// A file with the given costs is refused in one line, and nothing is written.
#[test]
fn bad_costs_are_refused_with_their_row() {
    for (cost, expected) in [
        ("", "the cost is missing"),
        ("NA", "the cost is missing"),
        ("0", "a cost must be a number between 1e-6 and 1e9, not `0`"),
        ("-1", "a cost must be a number between 1e-6 and 1e9, not `-1`"),
        ("inf", "a cost must be a number between 1e-6 and 1e9, not `inf`"),
        ("cheap", "a cost must be a number between 1e-6 and 1e9, not `cheap`"),
    ] {
        let place = place(&TABLE.replace("2.25", cost));
        let line = place.refuses(&NEW);
        assert_eq!(line, format!("error: arms.csv: row 4, column `price`: {expected}"));
        // Missing costs are not filled in.
        assert_eq!(place.refuses(&[&NEW[..], &["--missing", "mean"]].concat()), line);
    }
    let place = place(TABLE);
    assert_eq!(
        place.refuses(&[&NEW[..8], &["Price"]].concat()),
        "error: arms.csv: there is no column `Price`; the columns are `x`, `price`"
    );
    assert_eq!(
        place.refuses(&[&NEW[..], &["--features", "x,price"]].concat()),
        "error: arms.csv: the column `price` holds the costs, and cannot be a feature"
    );
    let line = place.refuses(&[
        "new",
        "a.db",
        "arms.csv",
        "--threshold",
        "1",
        "--budget",
        "9",
        "--cost",
        "price",
        "--model",
        "independent",
    ]);
    assert!(
        line.contains("a budget of 9 is too small for 6 arms: every arm is measured once first, which costs 16.5"),
        "{line}"
    );
}

#[test]
fn later_candidates_need_the_same_column() {
    let place = place(TABLE);
    place.good(&NEW);
    place.write("more.csv", "price,name,x\n3.5,g,7\n");
    place.write("bare.csv", "name,x\nh,7\n");
    let line = place.refuses(&["add", "screen.db", "bare.csv"]);
    assert_eq!(line, "error: bare.csv: there is no column `price`; the columns are `x`");
    assert!(place.good(&["add", "screen.db", "more.csv"]).stderr.starts_with("1 candidate added: "));
    assert!(place.good(&["predict", "screen.db", "bare.csv"]).stdout.contains("| h "));
    place.write("more.csv", "price,name,x\n4.5,g,7\n");
    let line = place.refuses(&["add", "screen.db", "more.csv"]);
    assert!(line.contains("the campaign has a candidate `g` already, at another cost"), "{line}");
    let mut campaign = Store::open(place.path("screen.db").to_str().unwrap()).unwrap().campaign(None).unwrap();
    assert_eq!(campaign.candidates().unwrap().costs(), Some(&[0.5, 4.0, 2.25, 1.0, 8.0, 0.75, 3.5][..]));
}

/// Files without other features, with categories and with decimal commas; and an algorithm that does not weigh costs says so.
#[test]
fn costs_are_read_from_every_kind_of_table() {
    let place = place("name,price\na,0.5\nb,4\nc,2\n");
    let said = place.good(&NEW).stderr;
    assert!(said.contains("  features   none"), "{said}");
    assert!(said.contains("they only count towards the budget\n"), "{said}");
    place.write("arms.csv", "price;kind;x\n0,5;red;1,5\n4;blue;2\n2;red;0,25\n");
    let said = place.good(&[&["new", "two.db"], &NEW[2..], &["--decimal", ","]].concat()).stderr;
    assert!(said.contains("  features   3: `kind=blue`, `kind=red`, `x`\n"), "{said}");
    assert!(said.contains("  costs      0.5 to 4 per measurement"), "{said}");
    let ticket = &place.json(&["ask", "two.db", "-n", "3"])[0];
    assert_eq!(ticket["features"].as_object().unwrap().len(), 3);
}

#[test]
fn plans_are_in_units_of_cost() {
    let rows: Vec<String> = (0..30).map(|arm| format!("{arm},{},{}\n", arm % 7, 1 + arm % 5)).collect();
    let place = place(&format!("x,y,price\n{}", rows.concat()));
    let plan = ["plan", "arms.csv", "--threshold", "0", "--cost", "price", "--runs", "8", "--out", "plan"];
    let plan = place.json(&[&plan[..], &["--budgets", "20,60,180"]].concat());
    assert_eq!(plan["mean_cost"].as_f64(), Some(3.0));
    let wrong: Vec<f64> =
        plan["prospects"].as_array().unwrap().iter().map(|row| row["mean_errors"].as_f64().unwrap()).collect();
    assert!(wrong.len() == 3 && wrong[2] < wrong[0], "{wrong:?}");
    assert!(place.text("plan/report.html").contains("budgets in units of cost, 3 per measurement on average"));
}

/// A hundred million measurements of the cheapest candidate would be within the budget, and are not simulated to print a line of `status`.
#[test]
fn a_candidate_that_costs_next_to_nothing_holds_nobody_up() {
    let place = place("name,x,price\na,1,0.000001\nb,2,30\nc,3,10\nd,4,5\n");
    place.write("before.csv", format!("arm,reward\n{}", "a,2.1\nb,1.9\nc,2.2\nd,1.7\na,1.8\n".repeat(2)));
    let new = ["new", "screen.db", "arms.csv", "--threshold", "2", "--budget", "100", "--cost", "price"];
    place.good(&[&new[..], &["--observed", "before.csv"]].concat());
    let said = place.good(&["status", "screen.db"]).stdout;
    assert!(said.contains("`cutline plan STORE` simulates what spending 100 more would bring"), "{said}");
}

/// Withdrawn candidates are no reason to go on, however cheap they are.
#[test]
fn what_is_left_is_compared_with_the_candidates_that_can_be_measured() {
    let place = place("name,x,price\na,1,4\nb,2,5\nc,3,6\nd,4,0.5\ne,5,0.5\n");
    place.good(&["new", "screen.db", "arms.csv", "--threshold", "3", "--budget", "22", "--cost", "price"]);
    place.good(&["withdraw", "screen.db", "d", "e"]);
    let asked = place.good(&["ask", "screen.db", "-n", "10", "--format", "csv"]);
    assert!(asked.stderr.contains("less than a measurement costs"), "{}", asked.stderr);
    for ticket in asked.stdout.lines().skip(1).map(|line| line.split(',').next().unwrap()) {
        place.good(&["tell", "screen.db", ticket, "1"]);
    }
    let status = place.json(&["status", "screen.db"]);
    assert_eq!((status["ending"].as_str(), &status["rest"]), (Some("budget"), &serde_json::Value::Null), "{status}");
    assert!(!place.good(&["status", "screen.db"]).stdout.contains("more would"), "{status}");
}
