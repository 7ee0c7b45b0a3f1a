//! Notices, with real servers that post and real receivers.

use crate::common::{Api, PATIENCE, Place};
use crate::listener::fetch;
use cutline_server::{AddressError, Limits, Notify, serve};
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

on_stores!(each_change_is_posted_once);

const SECRET: &str = "a secret of this test";

/// Something that was posted.
#[derive(Clone, Debug)]
struct Posted {
    headers: HashMap<String, String>,
    body: String,
}

impl Posted {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    fn kind(&self) -> String {
        self.json()["type"].as_str().unwrap().to_owned()
    }
}

/// Starts a program that receives notices, and answers with these status lines, then with `200`. Returns its URL, and what it received.
fn receiver(answers: &[&str]) -> (String, Receiver<Posted>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let answers: Mutex<VecDeque<String>> = Mutex::new(answers.iter().map(|&answer| answer.to_owned()).collect());
    let (sender, posted) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = answers.lock().unwrap().pop_front().unwrap_or_else(|| "200 OK".into());
            receive(stream, &answer, &sender);
        }
    });
    (url, posted)
}

fn receive(mut stream: TcpStream, answer: &str, posted: &Sender<Posted>) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    assert!(line.starts_with("POST /hook HTTP/1.1"), "{line}");
    let mut headers = HashMap::new();
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim().split_once(": ") else { break };
        headers.insert(name.to_lowercase(), value.to_owned());
    }
    let mut body = vec![0; headers["content-length"].parse().unwrap()];
    reader.read_exact(&mut body).ok()?;
    posted.send(Posted { headers, body: String::from_utf8(body).unwrap() }).ok()?;
    write!(stream, "HTTP/1.1 {answer}\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok").ok()
}

/// The next notice of this kind; those of other kinds before it are collected in `others`.
async fn next(posted: &Arc<Mutex<Receiver<Posted>>>, kind: &str, others: &mut Vec<Posted>) -> Posted {
    loop {
        let posted = Arc::clone(posted);
        let wait = move || posted.lock().unwrap().recv_timeout(PATIENCE);
        let found = tokio::task::spawn_blocking(wait).await.unwrap();
        let found = found.unwrap_or_else(|_| panic!("no notice `{kind}` after {others:?}"));
        if found.kind() == kind {
            return found;
        }
        others.push(found);
    }
}

/// Notices to this URL, with short pauses.
fn quick(url: &str) -> Notify {
    let mut notify = Notify::new(url, SECRET, true).unwrap();
    (notify.pauses, notify.poll) = (vec![Duration::from_millis(10); 3], Duration::from_millis(20));
    notify
}

/// A server that listens and posts; the API is called without its socket.
struct Running {
    api: Api,
    end: Arc<tokio::sync::Notify>,
    task: JoinHandle<()>,
}

impl Running {
    async fn start(place: &Place, notify: Notify) -> Self {
        let api = Api::with(place, Limits { notify: Some(notify), ..Limits::default() }, true).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let end = Arc::new(tokio::sync::Notify::new());
        let (state, ended) = (api.state.clone(), Arc::clone(&end));
        let task =
            tokio::spawn(async move { serve(listener, state, None, async move { ended.notified().await }).await });
        // Once it serves connections, it knows which campaigns were there before.
        assert!(fetch(address, "GET", "/healthz", "").await.starts_with("HTTP/1.1 200"));
        Self { api, end, task }
    }

    async fn stop(self) {
        self.end.notify_one();
        self.task.await.unwrap();
    }

    /// A campaign on a line that does not fit: rewards of a parabola.
    async fn parabola(&self, name: &str) {
        let arms: Vec<Value> =
            (0..8).map(|arm| json!({"name": format!("<b>{arm}</b>"), "features": [f64::from(arm)]})).collect();
        let mut settings =
            json!({"name": name, "threshold": 6.0, "budget": 8, "columns": ["x"], "model": "linear", "arms": arms});
        // With a given σ the rewards of each arm prove its side; a linear model that does not fit decides nothing.
        settings["noise"] = json!(0.02);
        self.api.post("/v1/campaigns", settings).await.ok();
    }

    async fn observe(&self, name: &str) {
        let reward = |n: u8| {
            let (arm, noise) = (n % 8, [0.01, -0.01, 0.02, -0.02][usize::from(n) / 8]);
            json!({"arm": format!("<b>{arm}</b>"), "reward": (f64::from(arm) - 3.5).powi(2) + noise})
        };
        let rewards: Vec<Value> = (0..32).map(reward).collect();
        self.api.post(&format!("/v1/campaigns/{name}/observations"), json!({"rewards": rewards})).await.ok();
    }
}

/// Checks a signature with the Python code of docs/service.md.
fn assert_genuine(posted: &Posted) {
    let docs = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/service.md")).unwrap();
    let snippet = docs.split("```python\n").find(|block| block.contains("def is_genuine")).unwrap();
    let snippet = snippet.split("```").next().unwrap();
    let check = "import sys\nsecret, signature = sys.argv[1:]\nbody = sys.stdin.buffer.read()\n\
                 print(is_genuine(secret, signature, body, tolerance=3600), is_genuine(secret, signature, body + b' '), \
                 is_genuine(secret + 'x', signature, body), is_genuine(secret, signature, body, tolerance=-1))\n";
    let signature = &posted.headers["cutline-signature"];
    let mut python = Command::new("python3")
        .args(["-c", &format!("{snippet}\n{check}"), SECRET, signature])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    python.stdin.take().unwrap().write_all(posted.body.as_bytes()).unwrap();
    let output = python.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "True False False False\n", "{signature}");
}

async fn each_change_is_posted_once(place: Place) {
    // What stood before the server started is not posted.
    let (nowhere, _unread) = receiver(&[]);
    let first = Running::start(&place, quick(&nowhere)).await;
    first.parabola("before").await;
    first.observe("before").await;
    first.stop().await;

    let (url, posted) = receiver(&["503 Service Unavailable", "302 Found"]);
    let posted = Arc::new(Mutex::new(posted));
    let mut notify = quick(&url);
    notify.silence = Duration::from_secs(1);
    let server = Running::start(&place, notify).await;
    server.parabola("screen").await;
    server.observe("screen").await;
    let mut others = Vec::new();
    let first = next(&posted, "decided", &mut others).await;
    assert_genuine(&first);
    assert_eq!(first.headers["cutline-delivery"], first.json()["id"].as_str().unwrap());
    assert_eq!((&first.headers["cutline-event"][..], &first.json()["campaign"]), ("decided", &json!("screen")));
    for _ in 0..2 {
        let again = next(&posted, "decided", &mut others).await;
        assert_eq!(again.body, first.body, "refused twice, so posted again");
    }
    let arms = first.json()["data"]["arms"].as_array().unwrap().clone();
    assert!(!arms.is_empty() && first.json()["data"]["n_arms"] == arms.len(), "{first:?}");
    assert!(arms.iter().all(|arm| arm["before"] == "undecided" && arm["side"] != "undecided"), "{arms:?}");
    let misfit = next(&posted, "misfit", &mut others).await;
    assert!(misfit.json()["data"]["advice"].as_str().unwrap().len() > 10);
    let silent = next(&posted, "silent", &mut others).await;
    assert_eq!(silent.json()["data"]["silence_seconds"], 1);
    for _ in 0..8 {
        for ticket in server.api.ask(1).await {
            let tell = json!([{"ticket": ticket, "reward": 0.75}]);
            server.api.post("/v1/campaigns/screen/tells", tell).await.ok();
        }
    }
    let ended = next(&posted, "ended", &mut others).await;
    assert_eq!(ended.json()["data"]["reason"], "budget");
    server.stop().await;
    // When the server has ended, everything that it posted was received.
    others.extend(posted.lock().unwrap().try_iter());
    let kinds: Vec<String> = others.iter().map(Posted::kind).collect();
    assert!(kinds.iter().all(|kind| ["decided", "silent"].contains(&&kind[..])), "{kinds:?}");
    let names: Vec<Value> = others.iter().map(|posted| posted.json()["campaign"].clone()).collect();
    assert!(names.iter().all(|name| name == "screen"), "{names:?}");
}

#[test]
fn private_addresses_have_to_be_allowed() {
    let refused = Notify::new("http://127.0.0.1:9/", SECRET, false);
    assert!(matches!(refused, Err(AddressError::Private(_))), "{refused:?}");
    let allowed = Notify::new("http://127.0.0.1:9/hidden", SECRET, true).unwrap();
    let shown = format!("{allowed:?}");
    assert!(!shown.contains(SECRET) && !shown.contains("hidden"), "{shown}");
}
