//! Webhooks, with real servers that tell and real receivers that are told.

mod managed;
mod sent;
mod told;

use crate::common::{Api, Place};
use cutline_server::{Limits, WebhookLimits, serve};
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// Something that was delivered.
#[derive(Clone, Debug)]
struct Received {
    headers: HashMap<String, String>,
    body: String,
}

impl Received {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    fn kind(&self) -> String {
        self.json()["type"].as_str().unwrap().to_owned()
    }
}

/// A program that receives deliveries, on a port of its own.
#[derive(Clone)]
struct Receiver {
    address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
    /// What to answer to the next deliveries, and after which pause; then `200`.
    answers: Arc<Mutex<VecDeque<(Duration, String)>>>,
}

impl Receiver {
    fn start() -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let receiver = Self { address, received: Arc::default(), answers: Arc::default() };
        let serving = receiver.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let serving = serving.clone();
                std::thread::spawn(move || serving.answer(stream));
            }
        });
        receiver
    }

    fn answer(&self, mut stream: TcpStream) -> Option<()> {
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
        let body = String::from_utf8(body).unwrap();
        self.received.lock().unwrap().push(Received { headers, body });
        let answer = self.answers.lock().unwrap().pop_front();
        let (pause, head) = answer.unwrap_or((Duration::ZERO, "200 OK".into()));
        std::thread::sleep(pause);
        write!(stream, "HTTP/1.1 {head}\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok").ok()
    }

    fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    fn will_answer(&self, answers: &[&str]) {
        self.answers.lock().unwrap().extend(answers.iter().map(|answer| (Duration::ZERO, (*answer).to_owned())));
    }

    fn all(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// What was received, once there is this much.
    async fn wait(&self, n: usize) -> Vec<Received> {
        let begun = Instant::now();
        while self.all().len() < n {
            let kinds: Vec<_> = self.all().iter().map(Received::kind).collect();
            assert!(begun.elapsed() < Duration::from_secs(20), "{n} deliveries instead of {kinds:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        self.all()
    }

    /// How often each kind of event was received, after a time in which more would have come.
    async fn counts(&self) -> HashMap<String, usize> {
        tokio::time::sleep(Duration::from_millis(800)).await;
        let mut counts = HashMap::new();
        for received in self.all() {
            *counts.entry(received.kind()).or_default() += 1;
        }
        counts
    }
}

/// Quick pauses, and receivers on this machine.
fn quick() -> WebhookLimits {
    WebhookLimits {
        allow_private: true,
        pauses: [60, 120, 200].map(Duration::from_millis).to_vec(),
        poll: Duration::from_millis(50),
        answer: Duration::from_secs(3),
        claim: Duration::from_secs(5),
    }
}

/// A server that listens, watches and sends; the API is called without its socket.
struct Running {
    api: Api,
    end: Arc<Notify>,
    task: JoinHandle<()>,
}

impl Running {
    async fn start(place: &Place, webhooks: WebhookLimits) -> Self {
        let api = Api::with(place, Limits { webhooks, ..Limits::default() }, true).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let end = Arc::new(Notify::new());
        let (state, ended) = (api.state.clone(), Arc::clone(&end));
        let task =
            tokio::spawn(async move { serve(listener, state, None, async move { ended.notified().await }).await });
        Self { api, end, task }
    }

    async fn stop(self) {
        self.end.notify_one();
        self.task.await.unwrap();
    }

    async fn add(&self, receiver: &Receiver, mut more: Value) -> Value {
        more["url"] = receiver.url().into();
        self.api.post("/v1/campaigns/screen/webhooks", more).await.ok()
    }

    async fn test(&self, webhook: u64) -> Value {
        self.api.post(&format!("/v1/campaigns/screen/webhooks/{webhook}/test"), json!({})).await.ok()
    }

    /// The deliveries of the first webhook, once one has this state.
    async fn delivery(&self, state: &str) -> Value {
        let begun = Instant::now();
        loop {
            let found = self.api.get("/v1/campaigns/screen/webhooks/1/deliveries").await.ok();
            if let Some(delivery) = found["deliveries"].as_array().unwrap().iter().find(|one| one["state"] == state) {
                return delivery.clone();
            }
            assert!(begun.elapsed() < Duration::from_secs(20), "no delivery is {state}: {found}");
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
    }

    /// Waits until the last delivery of a webhook is delivered.
    async fn delivered_to(&self, webhook: u64) {
        let begun = Instant::now();
        loop {
            let found = self.api.get(&format!("/v1/campaigns/screen/webhooks/{webhook}/deliveries")).await.ok();
            if found["deliveries"][0]["state"] == "delivered" {
                return;
            }
            assert!(begun.elapsed() < Duration::from_secs(20), "{found}");
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
    }

    /// Tells rewards for the tickets of a worker until there are none.
    async fn measure(&self, n: u32) {
        for _ in 0..n {
            for ticket in self.api.ask(1).await {
                let tell = json!([{"ticket": ticket, "reward": 0.75}]);
                self.api.post("/v1/campaigns/screen/tells", tell).await.ok();
            }
        }
    }
}

/// Checks a signature with the Python code of docs/service.md.
fn assert_genuine(secret: &str, received: &Received) {
    let docs = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/service.md")).unwrap();
    let snippet = docs.split("```python\n").find(|block| block.contains("def is_genuine")).unwrap();
    let snippet = snippet.split("```").next().unwrap();
    let check = "import sys\nsecret, signature = sys.argv[1:]\nbody = sys.stdin.buffer.read()\n\
                 print(is_genuine(secret, signature, body), is_genuine(secret, signature, body + b' '), \
                 is_genuine(secret + 'x', signature, body), is_genuine(secret, signature, body, tolerance=-1))\n";
    let signature = &received.headers["cutline-signature"];
    let mut python = Command::new("python3")
        .args(["-c", &format!("{snippet}\n{check}"), secret, signature])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    python.stdin.take().unwrap().write_all(received.body.as_bytes()).unwrap();
    let output = python.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "True False False False\n", "{signature}");
}
