//! A campaign on a PostgreSQL server, through the program.

mod common;

use common::{ARMS, Place};

#[test]
fn a_campaign_on_a_server() {
    let server = std::env::var("CUTLINE_TEST_POSTGRES").expect(
        "CUTLINE_TEST_POSTGRES must be the URL of a PostgreSQL server; `checks/with-postgres cargo test` starts one",
    );
    let store = format!("{server}/postgres");
    let name = format!("--name=cli, {} ü", std::process::id());
    let place = Place::new();
    place.write("arms.csv", ARMS);
    let ran = place.good(&["new", &store, "arms.csv", "--threshold", "0.5", "--budget", "3", &name]);
    assert!(ran.stderr.contains(&format!("next: cutline ask {store}")), "{}", ran.stderr);
    let tickets = place.json(&["ask", &store, &name, "-n", "4"]);
    assert_eq!(tickets.as_array().unwrap().len(), 3);
    let ran = place.good(&["tell", &store, &name, "1", "-0.5", "2", "0.1", "3", "0.75"]);
    assert_eq!(ran.stderr, "3 rewards recorded; the budget of 3 is used up\n");
    assert_eq!(place.json(&["status", &store, &name])["ending"], "budget");
    let events = place.json(&["export", &store, &name, "--events"]);
    assert_eq!((events.as_array().unwrap().len(), &events[3]["reward"]), (6, &(-0.5).into()));
    let line = place.run(&["new", &store, "arms.csv", "--threshold", "0.5", "--budget", "3", &name]).failed(1);
    assert!(line.starts_with("error: there is already a campaign `cli, "), "{line}");
    let line = place.run(&["ask", "postgresql://nobody:secret@127.0.0.1:1/none"]).failed(1);
    assert!(line.starts_with("error: postgresql://nobody@127.0.0.1:1/none: ") && !line.contains("secret"), "{line}");
}
