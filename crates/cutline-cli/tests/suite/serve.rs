//! `cutline serve` and `cutline token`.

use crate::common::process::wait_for;
use crate::common::{Place, screen};
use rustix::process::{Flock, FlockOffsetType, FlockType, Pid, Signal, fcntl_getlk, kill_process};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// A server, and its address.
pub struct Server {
    pub child: Child,
    pub address: String,
}

impl Server {
    pub fn start(place: &Place, args: &[&str]) -> Self {
        Self::start_at(place, "127.0.0.1:0", args)
    }

    pub fn start_at(place: &Place, bind: &str, args: &[&str]) -> Self {
        Self::spawn(&mut place.cutline(&[&["serve", "screen.db", "--bind", bind], args].concat()))
    }

    /// Runs a command that serves.
    pub fn spawn(command: &mut Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let line = lines.by_ref().find(|line| line.as_ref().unwrap().starts_with("serving on ")).unwrap().unwrap();
        // So that the server can go on writing.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, address: line.rsplit("//").next().unwrap().to_owned() }
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    /// Ends it at once, as a crash would.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// The status line and the body of an answer.
    fn fetch(&self, method: &str, path: &str, headers: &str, body: &str) -> (String, String) {
        fetch(&self.address, method, path, headers, body).unwrap()
    }

    /// Ends it with a signal; its exit code.
    pub fn end(mut self) -> Option<i32> {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A failed test leaves no server behind.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The status line and the body of a whole answer.
pub fn fetch(address: &str, method: &str, path: &str, headers: &str, body: &str) -> std::io::Result<(String, String)> {
    let mut stream = TcpStream::connect(address)?;
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\n{headers}\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").ok_or(ErrorKind::UnexpectedEof)?;
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    if length != Some(body.len().to_string().as_str()) {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    Ok((head.lines().next().unwrap().to_owned(), body.to_owned()))
}

#[test]
fn a_campaign_of_the_command_line_is_served() {
    let place = screen(&["--budget", "9"]);
    let server = Server::start(&place, &[]);
    let (status, asked) = server.fetch("POST", "/v1/campaigns/arms/asks", "", r#"{"worker": "w", "count": 2}"#);
    assert_eq!(status, "HTTP/1.1 200 OK", "{asked}");
    place.good(&["tell", "screen.db", "1", "0.5"]);
    let (_, report) = server.fetch("GET", "/v1/campaigns/arms/report", "", "");
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!((&report["told"], &report["open"]), (&1.into(), &1.into()));
    let (status, page) = server.fetch("GET", "/v1/campaigns/arms/report.html", "", "");
    assert!(status.contains("200") && page.contains("1 of 9 measurements used"), "{status} {page}");
    assert_eq!(server.end(), Some(0));
    assert_eq!(place.json(&["status", "screen.db"])["told"], 1);
}

/// A server opens the store several times and keeps its lock, by which SQLite in other programs sees that the database is in use. Without it,
/// `sqlite3` deletes the log after a back-up, as if nobody else used it.
#[test]
fn a_server_keeps_its_lock() {
    let place = screen(&["--budget", "9"]);
    let server = Server::start(&place, &[]);
    let store = std::fs::File::open(place.path("screen.db")).unwrap();
    // Whoever uses a database has a lock for reading on these bytes.
    let (start, length, typ) = (0x4000_0002, 510, FlockType::WriteLock);
    let lock = Flock { start, length, pid: None, typ, offset_type: FlockOffsetType::Set };
    for path in ["", "/arms/report", "/arms/report.html", "/arms/plan?runs=1"] {
        let (status, answer) = server.fetch("GET", &format!("/v1/campaigns{path}"), "", "");
        assert_eq!(status, "HTTP/1.1 200 OK", "{answer}");
        let holder = fcntl_getlk(&store, &lock).unwrap().and_then(|held| held.pid);
        assert_eq!(holder, Some(Pid::from_child(&server.child)), "after {path}");
    }
    assert_eq!(server.end(), Some(0));
}

#[test]
fn tokens_are_made_listed_and_revoked() {
    let place = screen(&["--budget", "9"]);
    let made = place.good(&["token", "create", "screen.db", "--name", "ada", "--role", "admin"]);
    let secret = made.stdout.trim();
    assert!(secret.starts_with("cutline_") && made.stderr.contains("cannot be shown again"), "{}", made.stderr);
    place.good(&["token", "create", "screen.db", "--name", "w", "--campaign", "arms"]);
    let list = place.json(&["token", "list", "screen.db"]);
    assert_eq!(
        (&list[0]["role"], &list[1]["role"], &list[1]["campaigns"][0]),
        (&"admin".into(), &"worker".into(), &"arms".into())
    );
    assert!(!list.to_string().contains(secret));
    let table = place.good(&["token", "list", "screen.db"]).stdout;
    assert!(table.contains("| ada ") && table.contains(" all "), "{table}");
    let server = Server::start(&place, &[]);
    assert!(server.fetch("GET", "/v1/campaigns", "", "").0.contains("401"));
    let header = format!("authorization: Bearer {secret}\r\n");
    assert!(server.fetch("GET", "/v1/campaigns", &header, "").0.contains("200"));
    place.good(&["token", "revoke", "screen.db", "ada"]);
    wait_for("end of the token", || server.fetch("GET", "/v1/campaigns", &header, "").0.contains("401"));
    assert_eq!(server.end(), Some(0));
    assert!(place.refuses(&["token", "create", "screen.db", "--name", "ada"]).contains("already a token `ada`"));
    assert!(place.refuses(&["token", "revoke", "screen.db", "eve"]).contains("there is no token `eve`"));
}

#[test]
fn others_are_not_served_without_tokens() {
    let place = screen(&["--budget", "9"]);
    let refused = place.run(&["serve", "screen.db", "--bind", "0.0.0.0:0"]).failed(1);
    assert!(refused.contains("can be reached by others") && refused.contains("`cutline token create`"), "{refused}");
    let usage = place.run(&["serve", "--tls-cert", "a.pem"]);
    assert!(usage.code == Some(2) && usage.stderr.contains("--tls-key"), "{}", usage.stderr);
    let server = Server::start(&place, &["--token-file", "admin.token"]);
    let secret = std::fs::read_to_string(place.path("admin.token")).unwrap();
    assert!(server.fetch("GET", "/v1/campaigns", "", "").0.contains("401"));
    let header = format!("authorization: Bearer {}\r\n", secret.trim());
    assert!(server.fetch("GET", "/v1/campaigns", &header, "").0.contains("200"));
    assert_eq!(server.end(), Some(0));
}
