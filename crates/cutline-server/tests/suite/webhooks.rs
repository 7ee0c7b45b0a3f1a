//! Webhooks, with real servers that tell and real receivers that are told.

use crate::common::{Api, Place, screen};
use cutline_server::{Limits, WebhookLimits, serve};
use cutline_store::Role;
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

on_stores!(each_event_is_told_once, servers_on_one_store_tell_once, a_restart_sends_what_waits_and_repeats_nothing);

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

/// A campaign on a line that does not fit: rewards of a parabola.
async fn parabola(api: &Api, budget: u32) {
    let arms: Vec<Value> =
        (0..8).map(|arm| json!({"name": format!("<b>{arm}</b>"), "features": [f64::from(arm)]})).collect();
    let settings = json!({"name": "screen", "threshold": 6.0, "budget": budget, "columns": ["x"], "model": "linear", "arms": arms});
    api.post("/v1/campaigns", settings).await.ok();
}

async fn each_event_is_told_once(place: Place) {
    let server = Running::start(&place, quick()).await;
    let receiver = Receiver::start();
    parabola(&server.api, 8).await;
    let created = server.add(&receiver, json!({"silence_seconds": 1})).await;
    let secret = created["secret"].as_str().unwrap().to_owned();
    assert_eq!(created["events"], json!(["ended", "decided", "misfit", "silent"]));
    server.test(1).await;
    let first = receiver.wait(1).await.remove(0);
    assert_eq!(first.kind(), "test");
    assert_genuine(&secret, &first);
    assert_eq!(first.headers["cutline-delivery"], first.json()["id"].as_str().unwrap());
    assert_eq!((&first.headers["cutline-event"][..], &first.json()["campaign"]), ("test", &json!("screen")));
    // Silence.
    receiver.wait(2).await;
    assert_eq!(receiver.counts().await, HashMap::from([("test".into(), 1), ("silent".into(), 1)]));
    // Rewards that are no line.
    let rewards: Vec<Value> = (0..32)
        .map(|n| {
            let (arm, noise) = (n % 8, [0.01, -0.01, 0.02, -0.02][usize::try_from(n).unwrap() / 8]);
            json!({"arm": format!("<b>{arm}</b>"), "reward": (f64::from(arm) - 3.5).powi(2) + noise})
        })
        .collect();
    server.api.post("/v1/campaigns/screen/observations", json!({"rewards": rewards})).await.ok();
    let begun = Instant::now();
    let find = |kind: &str| receiver.all().into_iter().find(|received| received.kind() == kind);
    while find("misfit").is_none() || find("decided").is_none() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", receiver.all());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let decided = find("decided").unwrap();
    assert_genuine(&secret, &decided);
    let (decided, verdicts) = (decided.json(), server.api.get("/v1/campaigns/screen/verdicts").await.ok());
    let side = |name: &Value| {
        let all = verdicts["verdicts"].as_array().unwrap();
        all.iter().find(|verdict| verdict["arm"] == *name).unwrap()["side"].clone()
    };
    let arms = decided["data"]["arms"].as_array().unwrap();
    assert!(!arms.is_empty() && decided["data"]["n_arms"] == arms.len(), "{decided}");
    for arm in arms {
        assert_eq!((side(&arm["name"]), &arm["before"]), (arm["side"].clone(), &json!("undecided")), "{arm}");
    }
    assert!(find("misfit").unwrap().json()["data"]["advice"].as_str().unwrap().len() > 10);
    // The end.
    server.measure(8).await;
    let begun = Instant::now();
    while find("ended").is_none() {
        assert!(begun.elapsed() < Duration::from_secs(20));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(find("ended").unwrap().json()["data"]["reason"], "budget");
    let counts = receiver.counts().await;
    assert_eq!((counts["ended"], counts["misfit"], counts["test"]), (1, 1, 1), "{counts:?}");
    // Each arm is told once per side.
    let mut told = HashMap::new();
    for delivery in receiver.all().iter().filter(|received| received.kind() == "decided") {
        for arm in delivery.json()["data"]["arms"].as_array().unwrap() {
            let before = told.insert(arm["name"].to_string(), arm["side"].to_string());
            assert_ne!(before, Some(arm["side"].to_string()), "{arm}");
        }
    }
    let ids: std::collections::HashSet<_> =
        receiver.all().iter().map(|received| received.headers["cutline-delivery"].clone()).collect();
    assert_eq!(ids.len(), receiver.all().len(), "every delivery has its own id");
    server.stop().await;
}

async fn servers_on_one_store_tell_once(place: Place) {
    let (one, two) = (Running::start(&place, quick()).await, Running::start(&place, quick()).await);
    let receiver = Receiver::start();
    one.api.begin(12).await;
    one.add(&receiver, json!({"events": ["ended", "decided"]})).await;
    // Both servers notice what either of them writes.
    for n in 0..6 {
        let server = if n % 2 == 0 { &one } else { &two };
        server.measure(2).await;
    }
    let begun = Instant::now();
    while !receiver.all().iter().any(|received| received.kind() == "ended") {
        assert!(begun.elapsed() < Duration::from_secs(20));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let counts = receiver.counts().await;
    assert_eq!(counts["ended"], 1, "{counts:?}");
    let mut sides: HashMap<String, String> = HashMap::new();
    for received in receiver.all().iter().filter(|received| received.kind() == "decided") {
        for arm in received.json()["data"]["arms"].as_array().unwrap() {
            assert_ne!(sides.insert(arm["name"].to_string(), arm["side"].to_string()), Some(arm["side"].to_string()));
        }
    }
    for _ in 0..20 {
        one.test(1).await;
    }
    receiver.wait(counts.values().sum::<usize>() + 20).await;
    assert_eq!(receiver.counts().await["test"], 20, "no delivery is sent by both");
    one.stop().await;
    two.stop().await;
}

async fn a_restart_sends_what_waits_and_repeats_nothing(place: Place) {
    let receiver = Receiver::start();
    receiver.will_answer(&["500 Oh"; 40]);
    let slow = WebhookLimits { pauses: vec![Duration::from_secs(1); 40], ..quick() };
    let server = Running::start(&place, slow.clone()).await;
    server.api.begin(6).await;
    server.add(&receiver, json!({"events": ["ended"]})).await;
    server.measure(6).await;
    receiver.wait(1).await;
    let waiting = server.delivery("waiting").await;
    assert_eq!(waiting["event"], "ended");
    // Killed: nothing is tidied up.
    server.task.abort();
    drop(server);
    receiver.answers.lock().unwrap().clear();
    let server = Running::start(&place, slow).await;
    let delivered = server.delivery("delivered").await;
    assert_eq!(delivered["id"], waiting["id"]);
    let all = receiver.all();
    assert!(all.iter().all(|received| received.body == all[0].body && received.kind() == "ended"), "{all:?}");
    let n = all.len();
    assert_eq!(receiver.counts().await["ended"], n, "nothing is sent again");
    server.stop().await;
    let server = Running::start(&place, quick()).await;
    assert_eq!(receiver.counts().await["ended"], n, "nothing is noticed again");
    // What happens while no server runs is told by the next one.
    server.api.patch("/v1/campaigns/screen", json!({"budget": 7})).await.ok();
    tokio::time::sleep(Duration::from_millis(600)).await;
    server.stop().await;
    let unwatched = Api::new(&place).await;
    for ticket in unwatched.ask(1).await {
        let tell = json!([{"ticket": ticket, "reward": 0.5}]);
        unwatched.post("/v1/campaigns/screen/tells", tell).await.ok();
    }
    let server = Running::start(&place, quick()).await;
    receiver.wait(n + 1).await;
    assert_eq!(receiver.counts().await["ended"], n + 1);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_are_tried_again_with_growing_pauses() {
    let place = Place::sqlite();
    let server = Running::start(&place, quick()).await;
    let receiver = Receiver::start();
    server.api.begin(9).await;
    server.add(&receiver, json!({})).await;
    receiver.will_answer(&["500 Oh", "503 Busy"]);
    server.test(1).await;
    let delivered = server.delivery("delivered").await;
    assert_eq!(
        (&delivered["attempts"], &delivered["status"], &delivered["error"]),
        (&json!(3), &json!(200), &Value::Null)
    );
    let all = receiver.all();
    assert_eq!(all.len(), 3);
    assert!(all.iter().all(|received| received.body == all[0].body), "every attempt says the same");
    assert!(all.iter().all(|received| received.headers["cutline-delivery"] == delivered["id"].as_str().unwrap()));
    // After the last pause it is given up.
    receiver.will_answer(&["404 None"; 9]);
    server.test(1).await;
    let failed = server.delivery("failed").await;
    assert_eq!((&failed["attempts"], &failed["status"]), (&json!(4), &json!(404)));
    assert_eq!(failed["error"], "the answer has the status 404");
    assert_eq!(receiver.all().len(), 7);
    let metrics = server.api.get("/metrics").await.text;
    for line in [
        "cutline_webhook_deliveries_total{outcome=\"delivered\"} 1",
        "cutline_webhook_deliveries_total{outcome=\"given up\"} 1",
        "cutline_webhook_failed_attempts_total 6",
        "cutline_webhook_deliveries_waiting 0",
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line} in {metrics}");
    }
    // A receiver that asks for more time gets it.
    receiver.answers.lock().unwrap().clear();
    receiver.will_answer(&["429 Slow down\r\nretry-after: 2"]);
    let begun = Instant::now();
    server.test(1).await;
    receiver.wait(9).await;
    assert!(begun.elapsed() >= Duration::from_secs(2), "{:?}", begun.elapsed());
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_are_not_followed_and_gone_receivers_are_left_alone() {
    let place = Place::sqlite();
    let server = Running::start(&place, quick()).await;
    let (receiver, other) = (Receiver::start(), Receiver::start());
    server.api.begin(9).await;
    server.add(&receiver, json!({})).await;
    receiver.will_answer(&[format!("302 Found\r\nlocation: {}", other.url()).as_str(); 4]);
    server.test(1).await;
    let failed = server.delivery("failed").await;
    assert_eq!(failed["error"], "the answer has the status 302; redirects are not followed");
    assert!(other.all().is_empty());
    receiver.will_answer(&["410 Gone"]);
    server.test(1).await;
    receiver.wait(5).await;
    let off = async || server.api.get("/v1/campaigns/screen/webhooks").await.ok()["webhooks"][0]["turned_off"].clone();
    let begun = Instant::now();
    while off().await.is_null() {
        assert!(begun.elapsed() < Duration::from_secs(10));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(off().await, "the receiver answered 410 Gone");
    let refused = server.api.post("/v1/campaigns/screen/webhooks/1/test", json!({})).await;
    refused.refused(409, "conflict", "nothing is sent to this webhook any more: the receiver answered 410 Gone");
    server.measure(9).await;
    assert_eq!(receiver.counts().await, HashMap::from([("test".into(), 5)]), "it is not told that the campaign ended");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn private_addresses_are_refused() {
    let place = Place::sqlite();
    let receiver = Receiver::start();
    let server = Running::start(&place, quick()).await;
    server.api.begin(9).await;
    let local = format!("http://localhost:{}/hook", receiver.address.port());
    server.api.post("/v1/campaigns/screen/webhooks", json!({"url": local})).await.ok();
    server.stop().await;
    // The same webhook, by a server that does not allow it: a name that leads to this machine.
    let server = Running::start(&place, WebhookLimits { allow_private: false, ..quick() }).await;
    server.test(1).await;
    let failed = server.delivery("failed").await;
    let error = failed["error"].as_str().unwrap();
    assert!(error.contains("is not a public address") && failed["status"].is_null(), "{failed}");
    assert!(receiver.all().is_empty());
    let port = receiver.address.port();
    for host in
        ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0177.0.0.1", "0x7f000001", "10.1.2.3"]
    {
        let refused = server
            .api
            .post("/v1/campaigns/screen/webhooks", json!({"url": format!("http://{host}:{port}/hook")}))
            .await;
        refused.refused(422, "refused", "not a public address; start the server with `--allow-private-webhooks`");
    }
    for (url, why) in [
        ("ftp://example.org/", "`https://` or `http://`"),
        ("https://ada:pw@example.org/", "user or a password"),
        ("https://exa mple.org/", "not valid"),
    ] {
        server.api.post("/v1/campaigns/screen/webhooks", json!({"url": url})).await.refused(422, "refused", why);
    }
    let long = format!("https://example.org/{}", "a".repeat(2000));
    server.api.post("/v1/campaigns/screen/webhooks", json!({"url": long})).await.refused(422, "refused", "2000");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn webhooks_are_for_administrators_and_secrets_are_shown_once() {
    let place = Place::sqlite();
    let open = Running::start(&place, quick()).await;
    let receiver = Receiver::start();
    open.api.begin(9).await;
    let path = "/v1/campaigns/screen/webhooks";
    let new = json!({"url": receiver.url(), "events": ["ended", "silent"], "silence_seconds": 90});
    let created = open.api.post_with_key("k", path, new.clone()).await;
    assert_eq!(created.status, 201);
    let secret = created.json()["secret"].as_str().unwrap().to_owned();
    assert!(secret.len() == 80 && secret.starts_with("cutline_webhook_"), "{secret}");
    assert_eq!(open.api.post_with_key("k", path, new).await.ok(), created.json(), "the answer of the first time");
    open.api.post_with_key("k", path, json!({"url": "http://1.1.1.1/"})).await.refused(422, "other-request", "");
    let sent = open.api.post_with_key("t", &format!("{path}/1/test"), json!({})).await.ok();
    let again = open.api.post_with_key("t", &format!("{path}/1/test"), json!({})).await.ok();
    assert_eq!((&sent["id"], receiver.counts().await["test"]), (&again["id"], 1), "one test");
    for path in [path.to_owned(), format!("{path}/1/deliveries"), "/campaigns/screen".into(), "/metrics".into()] {
        let answer = open.api.get(&path).await;
        assert!(answer.status == 200 && !answer.text.contains(&secret[16..]), "{path}: {}", answer.text);
    }
    let listed = open.api.get(path).await.ok();
    assert_eq!(
        (&listed["webhooks"][0]["url"], &listed["webhooks"][0]["silence_seconds"]),
        (&json!(receiver.url()), &json!(90))
    );
    for (bad, why) in [
        (json!({"url": receiver.url(), "events": []}), "`events` is empty"),
        (json!({"url": receiver.url(), "events": ["begun"]}), "unknown variant"),
        (json!({"url": receiver.url(), "events": ["ended"], "silence_seconds": 5}), "needs `silent`"),
        (json!({"url": receiver.url(), "silence_seconds": 0}), "must be 1 to 31622400, not 0"),
    ] {
        open.api.post(path, bad).await.refused(422, "refused", why);
    }
    open.api.post("/v1/campaigns/none/webhooks", json!({"url": receiver.url()})).await.refused(
        404,
        "no-campaign",
        "none",
    );
    open.api.delete(&format!("{path}/7")).await.refused(404, "not-found", "no webhook 7");
    open.api.post(&format!("{path}/7/test"), json!({})).await.refused(404, "not-found", "no webhook 7");
    for _ in 0..9 {
        open.api.post(path, json!({"url": receiver.url()})).await.ok();
    }
    open.api.post(path, json!({"url": receiver.url()})).await.refused(409, "conflict", "at most 10 webhooks");
    assert_eq!(open.api.delete(&format!("{path}/2")).await.status, 204);

    let roles = [Role::Viewer, Role::Worker];
    let mut others = Vec::new();
    for role in roles {
        others.push(open.api.token(&place, role.name(), role, None).await);
    }
    others.push(open.api.token(&place, "other", Role::Admin, Some(&["elsewhere"])).await);
    let ada = open.api.token(&place, "ada", Role::Admin, None).await;
    // Servers read tokens again from time to time.
    tokio::time::sleep(Duration::from_millis(2200)).await;
    for api in others {
        api.get(path).await.refused(403, "not-allowed", "");
        api.post(path, json!({"url": receiver.url()})).await.refused(403, "not-allowed", "");
        api.get(&format!("{path}/1/deliveries")).await.refused(403, "not-allowed", "");
        api.post(&format!("{path}/1/test"), json!({})).await.refused(403, "not-allowed", "");
        api.delete(&format!("{path}/1")).await.refused(403, "not-allowed", "");
        let page = api.get("/campaigns/screen").await;
        assert!(!page.text.contains(&receiver.address.to_string()), "{}", page.text);
    }
    assert_eq!(ada.post(path, json!({"url": receiver.url()})).await.ok()["by"], "ada");
    open.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_receivers_delay_nobody() {
    let place = Place::sqlite();
    let server = Running::start(&place, quick()).await;
    let (slow, fast) = (Receiver::start(), Receiver::start());
    server.api.begin(60).await;
    server.add(&slow, json!({})).await;
    server.add(&fast, json!({})).await;
    let pause = (Duration::from_secs(2), "200 OK".to_owned());
    slow.answers.lock().unwrap().extend([pause.clone(), pause.clone(), pause]);
    let begun = Instant::now();
    for _ in 0..3 {
        server.test(1).await;
    }
    slow.wait(1).await;
    server.test(2).await;
    fast.wait(1).await;
    server.measure(10).await;
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    assert_eq!(slow.all().len(), 1, "one after the other");
    // The end does not wait for it either.
    let begun = Instant::now();
    server.stop().await;
    assert!(begun.elapsed() < Duration::from_millis(1900), "{:?}", begun.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_sent_for_deleted_campaigns_and_webhooks() {
    let place = Place::sqlite();
    let limits = WebhookLimits { pauses: vec![Duration::from_millis(400); 20], ..quick() };
    let server = Running::start(&place, limits).await;
    let (receiver, other) = (Receiver::start(), Receiver::start());
    server.api.begin(9).await;
    server.add(&receiver, json!({})).await;
    server.add(&other, json!({})).await;
    receiver.will_answer(&["500 Oh"; 30]);
    other.will_answer(&["500 Oh"; 30]);
    server.test(1).await;
    server.test(2).await;
    (receiver.wait(1).await, other.wait(1).await);
    assert_eq!(server.api.delete("/v1/campaigns/screen/webhooks/2").await.status, 204);
    server.api.patch("/v1/campaigns/screen", json!({"name": "renamed"})).await.ok();
    receiver.wait(2).await;
    let n = other.all().len();
    assert_eq!(server.api.delete("/v1/campaigns/renamed?confirm=renamed").await.status, 204);
    tokio::time::sleep(Duration::from_millis(300)).await;
    let (first, second) = (receiver.all().len(), other.all().len());
    tokio::time::sleep(Duration::from_millis(1200)).await;
    assert_eq!((receiver.all().len(), other.all().len()), (first, second));
    assert!(second <= n, "not after the webhook was deleted");
    // A new campaign of that name has none of it.
    server.api.post("/v1/campaigns", screen("screen", 9)).await.ok();
    assert_eq!(server.api.get("/v1/campaigns/screen/webhooks").await.ok()["webhooks"], json!([]));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn webhooks_are_managed_on_the_page() {
    let place = Place::sqlite();
    let server = Running::start(&place, quick()).await;
    let receiver = Receiver::start();
    server.api.begin(9).await;
    let form = async |path: &str, form: &str| {
        let headers = [("content-type", "application/x-www-form-urlencoded"), ("origin", "http://localhost:8080")];
        server.api.call(axum::http::Method::POST, path, &headers, form.to_owned()).await
    };
    let fields = |url: &str| format!("url={}&ended=yes&silent=yes&minutes=5&key=k1", url);
    let page = "/campaigns/screen/webhooks";
    let refused = form(page, &fields("javascript:alert(1)")).await;
    assert!(refused.status == 422 && refused.text.contains("the URL "), "{}", refused.text);
    let refused = form(page, "url=http://127.0.0.1/").await;
    assert!(refused.status == 422 && refused.text.contains("choose what the webhook is told"), "{}", refused.text);
    let refused = form(page, "url=http://127.0.0.1/&silent=yes&minutes=x").await;
    assert!(refused.text.contains("the minutes must be a whole number above 0, not `x`"), "{}", refused.text);
    let hostile = format!("{}/\"'&onclick=alert(1)", receiver.url());
    server.api.post("/v1/campaigns/screen/webhooks", json!({"url": hostile})).await.ok();
    let shown = server.api.get("/campaigns/screen").await.text;
    assert!(
        shown.contains("/hook/&#34;&#39;&#38;onclick=alert(1)</code>") && !shown.contains("\"'&onclick"),
        "{shown}"
    );
    assert_eq!(server.api.delete("/v1/campaigns/screen/webhooks/1").await.status, 204);
    let added = form(page, &fields(&receiver.url())).await;
    assert_eq!(added.status, 200, "{}", added.text);
    let secret = added.text.split("<code id=\"secret\">").nth(1).unwrap().split('<').next().unwrap().to_owned();
    assert!(secret.starts_with("cutline_webhook_"), "{secret}");
    let repeated = form(page, &fields(&receiver.url())).await;
    assert!(repeated.text.contains(&secret), "a form that is sent twice adds one webhook");
    assert_eq!(server.api.get("/v1/campaigns/screen/webhooks").await.ok()["webhooks"].as_array().unwrap().len(), 1);
    let sent = form("/campaigns/screen/webhooks/2/test", "").await;
    assert_eq!(sent.headers["location"], "/campaigns/screen?notice=webhook-test#webhooks");
    assert_genuine(&secret, &receiver.wait(1).await[0]);
    server.delivered_to(2).await;
    let shown = server.api.get("/campaigns/screen?notice=webhook-test").await.text;
    for text in ["A test is being sent", "Told: ended, after 300 s without a reward.", "<td>delivered</td><td>200</td>"]
    {
        assert!(shown.contains(text), "{text} in {shown}");
    }
    assert!(!shown.contains(&secret));
    let deleted = form("/campaigns/screen/webhooks/2/delete", "").await;
    assert_eq!(deleted.headers["location"], "/campaigns/screen?notice=webhook-deleted#webhooks");
    assert_eq!(form("/campaigns/screen/webhooks/2/delete", "").await.status, 404);
    assert_eq!(form("/campaigns/screen/webhooks/2/other", "").await.status, 404);
    let back = server.api.get(page).await;
    assert_eq!(back.headers["location"], "/campaigns/screen#webhooks");
    server.stop().await;
}
