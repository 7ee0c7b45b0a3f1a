//! Streams of events, and operations that share a commit.

use crate::common::{Answer, Api, PATIENCE, Place, wait_for};
use axum::body::Body;
use axum::http::{Request, StatusCode};
use cutline_campaign::{AnyCampaign, Candidates, Event, Settings};
use cutline_server::Limits;
use cutline_store::{Campaign, Store};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::mpsc::{Receiver, channel};
use std::task::Poll;

on_stores!(
    a_stream_sees_what_other_servers_write,
    a_stream_resumes_where_it_broke_off,
    a_stream_ends_with_the_campaign_and_the_server,
    waiting_tells_share_a_commit,
    too_many_waiting_requests_are_refused,
);

/// The numbers and names of events that a stream sends.
struct Stream {
    body: Body,
    text: String,
}

impl Stream {
    async fn open(api: &Api, query: &str, headers: &[(&str, &str)]) -> Self {
        let path = format!("/v1/campaigns/screen/stream{query}");
        let mut request = Request::builder().uri(path).header("host", "localhost");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = api.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { body: response.into_body(), text: String::new() }
    }

    /// The next event; `None` if the stream ends.
    async fn next(&mut self) -> Option<(u64, String, Value)> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.text = rest;
                let field = |name: &str| {
                    let line = event.lines().find(|line| line.starts_with(name))?;
                    Some(line[name.len() + 1..].trim().to_owned())
                };
                if let (Some(id), Some(name), Some(data)) = (field("id"), field("event"), field("data")) {
                    return Some((id.parse().unwrap(), name, serde_json::from_str(&data).unwrap()));
                }
                continue;
            }
            let frame = tokio::time::timeout(PATIENCE, self.body.frame()).await.expect("an event");
            let data = frame?.unwrap().into_data().unwrap();
            self.text.push_str(std::str::from_utf8(&data).unwrap());
        }
    }
}

async fn a_stream_sees_what_other_servers_write(place: Place) {
    let (one, two) = (Api::new(&place).await, Api::new(&place).await);
    one.begin(9).await;
    one.ask(1).await;
    let mut stream = Stream::open(&one, "", &[]).await;
    let ticket = two.ask(1).await[0];
    let (number, name, data) = stream.next().await.unwrap();
    assert_eq!((number, name.as_str(), &data["ticket"]), (2, "asked", &json!(ticket)));
    one.post("/v1/campaigns/screen/tells", json!([{"ticket": ticket, "reward": 0.5}])).await.ok();
    let (number, name, data) = stream.next().await.unwrap();
    assert_eq!((number, name.as_str(), &data["reward"]), (3, "told", &json!(0.5)));
}

async fn a_stream_resumes_where_it_broke_off(place: Place) {
    let api = Api::new(&place).await;
    api.begin(9).await;
    api.ask(5).await;
    let mut stream = Stream::open(&api, "?after=1", &[("last-event-id", "3")]).await;
    assert_eq!([stream.next().await.unwrap().0, stream.next().await.unwrap().0], [4, 5]);
    let mut stream = Stream::open(&api, "?after=1", &[]).await;
    assert_eq!(stream.next().await.unwrap().0, 2);
    api.get("/v1/campaigns/none/stream").await.refused(404, "no-campaign", "none");
    let headers = [("last-event-id", "x")];
    let path = "/v1/campaigns/screen/stream";
    api.call(axum::http::Method::GET, path, &headers, "").await.refused(400, "bad-request", "Last-Event-ID");
}

async fn a_stream_ends_with_the_campaign_and_the_server(place: Place) {
    let (api, other) = (Api::new(&place).await, Api::new(&place).await);
    api.begin(9).await;
    let mut stream = Stream::open(&api, "", &[]).await;
    assert_eq!(api.state_metric("cutline_streams").await, 1);
    other.delete("/v1/campaigns/screen?confirm=screen").await;
    assert!(stream.next().await.is_none());
    drop(stream);
    assert_eq!(api.state_metric("cutline_streams").await, 0);
    api.begin(9).await;
    let mut stream = Stream::open(&api, "", &[]).await;
    api.state.end();
    assert!(stream.next().await.is_none());
    api.get("/readyz").await.refused(503, "shutting-down", "");
}

/// While another process holds the lock of the campaign, tells wait; then one commit, or two, has all of them. Events of one commit have one
/// time.
async fn waiting_tells_share_a_commit(place: Place) {
    let api = Api::new(&place).await;
    api.begin(100).await;
    let told: Vec<Value> = tell_while_locked(&api, &place, 64).await.iter().map(Answer::ok).collect();
    assert!(told.iter().all(|answer| answer["changed"] == 1));
    let events = api.get("/v1/campaigns/screen/events?after=64&limit=1000").await.ok();
    let times: BTreeSet<&str> =
        events["events"].as_array().unwrap().iter().map(|event| event["at"].as_str().unwrap()).collect();
    assert!(times.len() <= 3, "{} commits for 64 tells", times.len());
}

/// With room for two waiting requests, others are told to come back later; whatever is acknowledged is recorded.
async fn too_many_waiting_requests_are_refused(place: Place) {
    let api = Api::with(&place, Limits { waiting: 2, ..Limits::default() }, true).await;
    api.begin(100).await;
    let answers = tell_while_locked(&api, &place, 40).await;
    let told = answers.iter().filter(|answer| answer.status == StatusCode::OK).count();
    let busy = answers.iter().find(|answer| answer.status != StatusCode::OK).unwrap();
    busy.refused(503, "busy", "try again");
    assert_eq!(busy.headers["retry-after"], "1");
    assert!(told >= 2, "{told}");
    assert_eq!(api.get("/v1/campaigns/screen/report").await.ok()["told"], told);
}

/// Among 100,000 arms, a long ask is carried out in parts: rewards that are told to the server and to the store meanwhile are recorded before its last
/// ticket.
#[tokio::test(flavor = "multi_thread")]
async fn a_long_ask_holds_nobody_up() {
    const N_ARMS: u32 = 100_000;
    let place = Place::sqlite();
    let api = Api::new(&place).await;
    let store = Store::open(&place.address).unwrap();
    let names = (0..N_ARMS).map(|arm| format!("arm {arm}")).collect();
    let columns = (0..8).map(|column| format!("x{column}")).collect();
    let features = (0..N_ARMS * 8).map(|i| f64::from((i % 9973) * 7919 % 9973) / 9973.0).collect();
    let candidates = Candidates::new(names, columns, features).unwrap();
    let mut teller = store.begin("screen", &Settings::new(0.5, N_ARMS), candidates).unwrap();
    for ticket in api.ask(20).await {
        teller.tell(&[(ticket, 0.5)]).unwrap();
    }
    // Where an ask has ended before all rewards were told, the next one is longer.
    for count in [500, 1000, 2000, 4000, 8000] {
        if tell_during_ask(&api, &mut teller, count).await {
            return;
        }
    }
    panic!("every ask was too short, or held the rewards up");
}

/// Tells twenty rewards while an ask is carried out; whether all of them were recorded before its last ticket.
async fn tell_during_ask(api: &Api, teller: &mut Campaign, count: u32) -> bool {
    let tickets = api.ask(20).await;
    let before = teller.state().unwrap().n_events();
    let asker = api.clone();
    let ask = tokio::spawn(async move { asker.ask(count).await });
    wait_for("ticket", async || teller.state().unwrap().n_events() > before).await;
    for pair in tickets.chunks(2) {
        teller.tell(&[(pair[0], 0.25)]).unwrap();
        api.post("/v1/campaigns/screen/tells", json!([{"ticket": pair[1], "reward": 0.5}])).await.ok();
    }
    assert_eq!(ask.await.unwrap().len(), count as usize);
    let events = teller.events(before).unwrap();
    let last = events.iter().rposition(|record| matches!(record.event, Event::Asked { .. })).unwrap();
    let told = events[..last].iter().filter(|record| matches!(record.event, Event::Told { .. })).count();
    told == 20
}

/// The answers to tells that are sent at the same time, while another process holds the lock that they need.
async fn tell_while_locked(api: &Api, place: &Place, n: u32) -> Vec<Answer> {
    let tickets = api.ask(n).await;
    let ((locked, is_locked), (release, released)) = (tokio::sync::oneshot::channel(), channel());
    let address = place.address.clone();
    let holder = tokio::task::spawn_blocking(move || hold_lock(&address, locked, &released));
    is_locked.await.unwrap();
    let tell = |ticket: &u64| {
        let (api, body) = (api.clone(), json!([{"ticket": ticket, "reward": 0.5}]));
        async move { api.post("/v1/campaigns/screen/tells", body).await }
    };
    let mut answers = pin!(futures_util::future::join_all(tickets.iter().map(tell)));
    // Each request is in the queue of the campaign, or was refused, once it was polled.
    for _ in 0..3 {
        assert!(poll_fn(|context| Poll::Ready(answers.as_mut().poll(context).is_pending())).await, "nobody waited");
        tokio::task::yield_now().await;
    }
    release.send(()).unwrap();
    let answers = answers.await;
    holder.await.unwrap();
    answers
}

/// Holds the lock that writers of the campaign need until it is released.
fn hold_lock(address: &str, locked: tokio::sync::oneshot::Sender<()>, released: &Receiver<()>) {
    if address.starts_with("postgres") {
        let mut client = ::postgres::Client::connect(address, ::postgres::NoTls).unwrap();
        let mut transaction = client.transaction().unwrap();
        transaction.execute("SELECT id FROM cutline_campaigns FOR UPDATE", &[]).unwrap();
        locked.send(()).unwrap();
        released.recv().unwrap();
        transaction.commit().unwrap();
    } else {
        let connection = rusqlite::Connection::open(address).unwrap();
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        locked.send(()).unwrap();
        released.recv().unwrap();
        connection.execute_batch("COMMIT").unwrap();
    }
}
