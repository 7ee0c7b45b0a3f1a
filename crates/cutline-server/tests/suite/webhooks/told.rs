//! What is told, and that it is told once.

use super::{Receiver, Running, assert_genuine, quick};
use crate::common::{Api, Place};
use cutline_server::WebhookLimits;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::{Duration, Instant};

on_stores!(each_event_is_told_once, servers_on_one_store_tell_once, a_restart_sends_what_waits_and_repeats_nothing);

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
    // Each decision is told once. An arm may be undecided in between, and then decided by other rewards.
    let mut told = std::collections::HashSet::new();
    for delivery in receiver.all().iter().filter(|received| received.kind() == "decided") {
        for arm in delivery.json()["data"]["arms"].as_array().unwrap() {
            assert_ne!(arm["before"], arm["side"], "{arm}");
            assert!(told.insert(arm.to_string()), "{arm}");
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
