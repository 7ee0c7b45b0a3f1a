//! Campaigns on a server: the commands work on `http://…/v1/campaigns/NAME` as on a store.

use crate::common::process::{happens_within, wait_for};
use crate::common::{Place, Ran, screen};
use crate::serve::Server;
use cutline_campaign::Change;
use cutline_store::{OpenOptions, StoreError};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// The address of the campaign `arms`.
fn url(server: &Server) -> String {
    format!("http://{}/v1/campaigns/arms", server.address())
}

/// What the command prints on the server's address and on its store, which must be the same.
#[track_caller]
fn same(place: &Place, url: &str, command: &str, args: &[&str]) -> String {
    let [remote, local] = [url, "screen.db"].map(|store| place.good(&[&[command, store], args].concat()));
    assert_eq!(remote.stdout, local.stdout, "{command} {args:?}");
    let stderr = |ran: &Ran| ran.stderr.replace(url, "screen.db");
    // The second report replaces the first.
    assert_eq!(stderr(&remote).replace("wrote", "replaced"), stderr(&local), "{command} {args:?}");
    remote.stdout
}

/// A handle is for a campaign and not for its name: it goes on after a rename, and after a deletion nothing reaches the campaign that gets
/// the name.
#[test]
fn nothing_is_written_to_another_campaign_of_the_same_name() {
    let place = screen(&["--budget", "9", "--noise", "0.1"]);
    let server = Server::start(&place, &[]);
    let lease = Duration::from_mins(1);
    let open = || OpenOptions::new().host(&url(&server)).unwrap().campaign(None).unwrap();
    let rewards =
        |name: &str| place.good(&["export", "screen.db", "--name", name, "--events"]).stdout.matches(",told,").count();
    let begin_another = |name: &str| {
        place.good(&["new", "screen.db", "arms.csv", "--threshold", "1", "--budget", "9", "--name", name]);
        // It has a ticket of the same number.
        place.good(&["ask", "screen.db", "--name", name]);
    };
    let (mut renamed, mut read_first) = (open(), open());
    let ticket = renamed.ask(1, "w", lease).unwrap()[0].number;
    place.good(&["rename", "screen.db", "first", "--name", "arms"]);
    begin_another("arms");
    assert_eq!(renamed.tell(&[(ticket, 0.5)]).unwrap(), 1);
    assert_eq!((rewards("first"), rewards("arms")), (1, 0));
    assert_eq!(read_first.progress().unwrap().counted, 1);
    assert_eq!(renamed.ask(1, "w", lease).unwrap()[0].number, ticket + 1);
    assert!(renamed.change(&Change::new().with("budget", 10)).unwrap());

    let mut deleted = open();
    let ticket = deleted.ask(1, "w", lease).unwrap()[0].number;
    place.good(&["delete", "screen.db", "--name", "arms", "--yes", "arms"]);
    begin_another("arms");
    place.good(&["ask", "screen.db", "--name", "arms"]);
    assert!(matches!(deleted.tell(&[(ticket, 0.5)]), Err(StoreError::Deleted)));
    assert!(matches!(deleted.ask(1, "w", lease), Err(StoreError::Deleted)));
    assert!(matches!(deleted.observe(&[(0, 0.5)], false), Err(StoreError::Deleted)));
    assert!(matches!(deleted.withdraw(&[0], ""), Err(StoreError::Deleted)));
    assert!(matches!(deleted.change(&Change::new().with("budget", 10)), Err(StoreError::Deleted)));
    assert_eq!(rewards("arms"), 0);
}

#[test]
fn a_campaign_on_a_server_is_used_as_one_in_a_file() {
    let place = screen(&["--budget", "9", "--noise", "0.1"]);
    let server = Server::start(&place, &[]);
    let url = url(&server);
    let asked = place.json(&["ask", &url, "-n", "2", "--worker", "anna"]);
    assert_eq!((&asked[0]["ticket"], &asked[0]["features"]["x"].is_number()), (&1.into(), &true), "{asked}");
    let three = place.json(&["ask", &url, "--replicates", "3"]);
    assert_eq!((&three[0]["ticket"], &three[0]["replicates"]), (&3.into(), &3.into()));
    let told = place.good(&["tell", &url, "1", "0.1", "3", "0.7", "0.69", "0.74"]);
    assert_eq!(told.stderr, "4 rewards recorded (ticket 3: 0.7, 0.69, 0.74); 5 to go\n");
    let again = place.good(&["tell", &url, "1", "0.1"]);
    assert_eq!(again.stderr, "0 rewards recorded, 1 already known; 5 to go\n");
    let failed = place.good(&["tell", &url, "--fail", "2", "--reason", "sample lost"]);
    assert_eq!(failed.stderr, "ticket 2 recorded as failed; 5 to go\n");
    let tickets = |args: &[&str]| {
        let asked = place.json(&[&["ask", &url, "-n", "9", "--worker", "anna"], args].concat());
        asked.as_array().unwrap().iter().map(|ticket| ticket["ticket"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(tickets(&[]), [6, 7, 8, 9, 10]);
    assert_eq!(tickets(&["--resume"]), [6, 7, 8, 9, 10]);
    let nothing = place.run(&["ask", &url, "--exit-code"]);
    assert_eq!(nothing.code, Some(4), "{}", nothing.stderr);
    assert!(nothing.stderr.contains("the remaining budget is assigned to 5 open tickets"), "{}", nothing.stderr);
    // What is computed here from the events is what the store says, to the last digit.
    for args in [&["--verdicts"][..], &["--events"]] {
        same(&place, &url, "export", args);
    }
    let statuses = [url.as_str(), "screen.db"].map(|store| {
        let mut status = place.json(&["status", store]);
        // They depend on the time.
        for key in ["rewards_per_hour", "budget_used_at"] {
            status.as_object_mut().unwrap().remove(key);
        }
        status
    });
    assert_eq!(statuses[0], statuses[1]);
    assert!(same(&place, &url, "report", &["--format", "json"]).contains("\"above\""));
    assert!(place.text("report.html").contains("4 of 9 measurements used"));
    same(&place, &url, "check", &[]);
    same(&place, &url, "show", &[]);
    assert_eq!(server.end(), Some(0));
}

#[test]
fn refusals_are_those_of_a_store() {
    let place = screen(&["--budget", "9"]);
    let server = Server::start(&place, &[]);
    let url = url(&server);
    place.good(&["ask", &url, "-n", "3"]);
    place.good(&["tell", &url, "1", "0.5"]);
    place.write("rewards.csv", "ticket,reward\n2,0.1\n77,0.2\n");
    for args in [&["1", "0.6"][..], &["77", "0.6"], &["2", "0.1", "3"], &["--fail", "1"], &["--file", "rewards.csv"]] {
        let [remote, local] = [url.as_str(), "screen.db"].map(|store| {
            let ran = place.run(&[&["tell", store], args].concat());
            (ran.code, ran.stderr)
        });
        assert_eq!(remote, local, "{args:?}");
        assert!(remote.0.is_some_and(|code| code > 0));
    }
    assert_eq!(place.json(&["status", "screen.db"])["told"], 1, "all or none");
    // Corrections and withdrawals are requests too.
    place.good(&["amend", &url, "1", "0.4", "--reason", "swapped"]);
    place.good(&["withdraw", &url, "a", "--reason", "gone"]);
    let status = place.json(&["status", "screen.db"]);
    assert_eq!(status["withdrawn"], 1);
    assert_eq!(server.end(), Some(0));
}

#[test]
fn wrong_addresses_and_tokens_are_one_line() {
    let place = screen(&["--budget", "9"]);
    let secret = place.good(&["token", "create", "screen.db", "--name", "w", "--role", "worker"]).stdout;
    place.write("good.token", &secret);
    place.write("bad.token", "cutline_no");
    let server = Server::start(&place, &[]);
    let url = url(&server);
    let line = place.refuses(&["status", &url]);
    assert!(line.contains("the server asks for a token; give a token") && line.contains("`CUTLINE_TOKEN`"), "{line}");
    let line = place.refuses(&["ask", &url, "--token-file", "bad.token"]);
    assert!(line.contains("the server does not accept the token") && !line.contains("cutline_no"), "{line}");
    assert!(place.refuses(&["ask", &url, "--token-file", "none"]).contains("cannot read none"));
    place.good(&["ask", &url, "--token-file", "good.token"]);
    let with_variable = place.cutline(&["status", &url]).env("CUTLINE_TOKEN", &secret).output().unwrap();
    assert_eq!(with_variable.status.code(), Some(0));
    // A worker may not withdraw.
    let line = place.refuses(&["withdraw", &url, "a", "--token-file", "good.token"]);
    assert!(line.contains("the role `admin`"), "{line}");
    let other = url.replace("/arms", "/other%20one");
    let line = place.refuses(&["report", &other, "--token-file", "good.token"]);
    assert!(line.contains("there is no campaign `other one`"), "{line}");
    assert_eq!(server.end(), Some(0));
    // Nobody waits for a server that was never there; one that was is waited for, for 20 seconds.
    happens_within(Duration::from_secs(15), || {
        let begun = Instant::now();
        let line = place.refuses(&["status", &url, "--token-file", "good.token"]);
        assert!(line.contains("cannot connect to the server: connection refused"), "{line}");
        begun.elapsed()
    });
}

/// A worker's token does not allow to withdraw a candidate that always fails: `run` says so, and ends when nothing else comes.
#[test]
fn a_candidate_that_a_worker_cannot_withdraw_ends_the_run() {
    let place = screen(&["--budget", "40"]);
    let secret = place.good(&["token", "create", "screen.db", "--name", "w", "--role", "worker"]).stdout;
    place.write("worker.token", &secret);
    let server = Server::start(&place, &[]);
    let url = url(&server);
    let run = |script: &str| {
        place.run(&["run", &url, "--token-file", "worker.token", "--retries", "0", "--shell", "--measure", script])
    };
    let ran = run("echo no sample >&2; exit 1");
    let last = ran.stderr.lines().last().unwrap_or_default();
    assert!(
        last.starts_with("error: 5 tickets failed in a row; the last one: ") && last.contains("no sample"),
        "{last}"
    );
    let ran = run(r#"if [ "$CUTLINE_INDEX" = 2 ]; then exit 1; fi; echo "$CUTLINE_INDEX""#);
    assert!(ran.code == Some(0) || ran.stderr.contains("error: 5 tickets failed in a row"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("is withdrawn"), "{}", ran.stderr);
    assert_eq!(place.json(&["status", "screen.db"])["withdrawn"], 0);
    assert!(place.json(&["status", "screen.db"])["failed"].as_u64().unwrap() < 60);
    assert_eq!(server.end(), Some(0));
}

#[test]
fn run_measures_to_the_end_though_the_server_is_killed() {
    let place = screen(&["--budget", "30", "--noise", "0.1"]);
    // Nobody else uses this address, so that the port is still free when the server is started again.
    let mut server = Server::start_at(&place, "127.0.0.2:0", &[]);
    let (url, bind) = (url(&server), server.address().to_owned());
    let measure = "sleep 0.05; echo $CUTLINE_INDEX; echo $CUTLINE_TICKET >> measured";
    let run = place.cutline(&["run", &url, "--shell", "--measure", measure, "--jobs", "3"]);
    let mut run = { run }.stderr(std::process::Stdio::piped()).spawn().unwrap();
    let told = || place.json(&["status", "screen.db"])["told"].as_u64().unwrap();
    for least in [5, 15] {
        wait_for("rewards", || told() >= least);
        server.kill();
        server = Server::start_at(&place, &bind, &[]);
    }
    let mut notes = String::new();
    run.stderr.as_mut().unwrap().read_to_string(&mut notes).unwrap();
    assert_eq!(run.wait().unwrap().code(), Some(0), "{notes}");
    assert!(notes.contains("30 measurements made, 0 failed; 30 of 30 rewards in the store"), "{notes}");
    assert!(notes.contains(&format!("see the result with `cutline report {url}`")), "{notes}");
    let status = place.json(&["status", "screen.db"]);
    assert_eq!(
        (&status["told"], &status["uncounted"], &status["tickets"]),
        (&30.into(), &0.into(), &serde_json::json!([]))
    );
    assert_eq!(place.text("measured").lines().count(), 30, "nothing was measured twice");
    assert_eq!(server.end(), Some(0));
}

/// Reads a message of HTTP from a connection; empty at its end.
fn message(stream: &TcpStream) -> Vec<u8> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let from = head.len();
        if reader.read_line(&mut head).unwrap_or(0) == 0 {
            return Vec::new();
        }
        let line = head[from..].to_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    [head.into_bytes(), body].concat()
}

/// A proxy to a server, which loses the first answer to every request that begins with one of these lines. Its address.
pub fn lossy_proxy(server: &str, lines: &'static [&str]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, server) = (listener.local_addr().unwrap().to_string(), server.to_owned());
    std::thread::spawn(move || {
        let mut lost = Vec::new();
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let request = message(&client);
            let mut upstream = TcpStream::connect(&server).unwrap();
            upstream.write_all(&request).unwrap();
            let answer = message(&upstream);
            let line = String::from_utf8_lossy(&request);
            let known = lines.iter().find(|known| line.starts_with(**known));
            if known.is_some_and(|known| !lost.contains(known)) {
                lost.extend(known);
            } else {
                drop(client.write_all(&answer));
            }
        }
    });
    address
}

#[test]
fn a_lost_answer_spends_nothing_twice() {
    let place = screen(&["--budget", "9"]);
    let server = Server::start(&place, &[]);
    // To the server, the proxy is a client on this machine with another name.
    let lines =
        &["POST /v1/campaigns/arms/asks ", "POST /v1/campaigns/arms/tells ", "POST /v1/campaigns/arms/failures "];
    let proxy = lossy_proxy(server.address(), lines);
    let url = format!("http://{proxy}/v1/campaigns/arms");
    let asked = place.json(&["ask", &url, "-n", "3"]);
    let tickets: Vec<_> = asked.as_array().unwrap().iter().map(|ticket| ticket["ticket"].as_u64().unwrap()).collect();
    assert_eq!(tickets, [1, 2, 3]);
    assert_eq!(place.good(&["tell", &url, "1", "0.5"]).stderr, "1 reward recorded; 8 to go\n");
    let failed = place.good(&["tell", &url, "--fail", "2"]);
    assert_eq!(failed.stderr, "ticket 2 recorded as failed; 8 to go\n");
    let events = place.good(&["export", "screen.db", "--events"]).stdout;
    assert_eq!(events.lines().count(), 1 + 5, "{events}");
    assert_eq!(server.end(), Some(0));
}
