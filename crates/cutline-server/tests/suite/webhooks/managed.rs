//! Who may see and change webhooks, and the page for it.

use super::{Receiver, Running, assert_genuine, quick};
use crate::common::Place;
use cutline_store::Role;
use serde_json::json;
use std::time::Duration;

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
async fn webhooks_are_managed_on_the_page() {
    let place = Place::sqlite();
    let server = Running::start(&place, quick()).await;
    let receiver = Receiver::start();
    server.api.begin(9).await;
    let form = async |path: &str, form: &str| {
        let headers = [("content-type", "application/x-www-form-urlencoded"), ("origin", "http://localhost:8080")];
        server.api.call(axum::http::Method::POST, path, &headers, form.to_owned()).await
    };
    let fields = |url: &str| format!("url={url}&ended=yes&silent=yes&minutes=5&key=k1");
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
