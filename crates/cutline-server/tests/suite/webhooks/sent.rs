//! How deliveries are sent: again after failures, to allowed addresses only, and without holding anybody up.

use super::{Receiver, Running, quick};
use crate::common::{Place, screen};
use cutline_server::WebhookLimits;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::{Duration, Instant};

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
    receiver.wait(1).await;
    other.wait(1).await;
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
