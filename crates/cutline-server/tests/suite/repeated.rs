//! Requests that are repeated with the same Idempotency-Key, and servers that share a store.

use crate::common::{Api, Place, screen, wait_for};
use axum::http::Method;
use serde_json::{Value, json};

on_stores!(
    a_repeated_request_spends_nothing,
    a_repeated_beginning_is_one_campaign,
    servers_share_a_store,
    the_budget_holds_across_servers,
    a_renamed_campaign_is_noticed_by_other_servers,
    a_change_is_for_the_campaign_that_is_meant,
    clients_that_are_gone_spend_nothing,
);

async fn a_repeated_request_spends_nothing(place: Place) {
    let api = Api::new(&place).await;
    api.begin(9).await;
    let path = "/v1/campaigns/screen/asks";
    let body = json!({"count": 3, "worker": "w"});
    let first = api.post_with_key("k 1", path, body.clone()).await.ok();
    // After a restart, and twice at the same time.
    let restarted = Api::new(&place).await;
    let (second, third) =
        tokio::join!(restarted.post_with_key("k 1", path, body.clone()), restarted.post_with_key("k 1", path, body));
    assert_eq!((&second.ok(), &third.ok()), (&first, &first));
    assert_eq!(api.get("/v1/campaigns/screen").await.ok()["overview"]["open"], 3);
    let other = api.post_with_key("k 1", path, json!({"count": 4, "worker": "w"})).await;
    other.refused(422, "other-request", "use a new key");
    let tell = json!([{"ticket": first["tickets"][0]["ticket"], "reward": 0.5}]);
    let told = [0; 2].map(|_| api.post_with_key("k 2", "/v1/campaigns/screen/tells", tell.clone()));
    let [one, two] = told;
    assert_eq!((one.await.ok()["changed"].as_u64(), two.await.ok()["changed"].as_u64()), (Some(1), Some(1)));
    assert_eq!(api.get("/v1/campaigns/screen").await.ok()["overview"]["told"], 1);
    api.post_with_key("", path, json!({"worker": "w"})).await.refused(400, "bad-request", "1 to 1000 bytes");
}

/// Whatever the change, the header `Cutline-Campaign` keeps it from a campaign that has got the name of another.
async fn a_change_is_for_the_campaign_that_is_meant(place: Place) {
    let api = Api::new(&place).await;
    api.begin(9).await;
    let id = api.get("/v1/campaigns/screen").await.ok()["id"].as_i64().unwrap();
    let (own, other) = (id.to_string(), (id + 1).to_string());
    let send = |method: Method, path: &'static str, number: &str, body: Value| {
        let (api, number) = (api.clone(), number.to_owned());
        async move {
            let headers = [("content-type", "application/json"), ("cutline-campaign", number.as_str())];
            api.call(method, path, &headers, body.to_string()).await
        }
    };
    let arms = json!({"arms": [{"name": "new", "features": [1.0, 2.0]}]});
    for (path, body) in [
        ("/v1/campaigns/screen/asks", json!({"worker": "w"})),
        ("/v1/campaigns/screen/tells", json!([{"ticket": 1, "reward": 0.5}])),
        ("/v1/campaigns/screen/arms", arms),
    ] {
        send(Method::POST, path, &other, body.clone()).await.refused(410, "other-campaign", "has another name now");
        send(Method::POST, path, "first", body.clone()).await.refused(400, "bad-request", "the number of a campaign");
        send(Method::POST, path, &own, body).await.ok();
    }
    let change = json!({"budget": 12});
    send(Method::PATCH, "/v1/campaigns/screen", &other, change.clone()).await.refused(
        410,
        "other-campaign",
        "another name",
    );
    send(Method::PATCH, "/v1/campaigns/screen", &own, change).await.ok();
    let overview = &api.get("/v1/campaigns/screen").await.ok()["overview"];
    assert_eq!((&overview["told"], &overview["budget"], &overview["n_arms"]), (&json!(1), &json!(12), &json!(7)));
}

async fn a_repeated_beginning_is_one_campaign(place: Place) {
    let api = Api::new(&place).await;
    let first = api.post_with_key("k", "/v1/campaigns", screen("screen", 9)).await.ok();
    assert_eq!(api.post_with_key("k", "/v1/campaigns", screen("screen", 9)).await.ok(), first);
    api.post_with_key("k", "/v1/campaigns", screen("screen", 10)).await.refused(422, "other-request", "");
    api.post("/v1/campaigns", screen("screen", 9)).await.refused(409, "conflict", "already a campaign");
    let arms = json!({"arms": [{"name": "new", "features": [1.0, 2.0]}]});
    for _ in 0..2 {
        let added = api.post_with_key("a", "/v1/campaigns/screen/arms", arms.clone()).await.ok();
        assert_eq!(added["added"], 1, "the answer of the first time");
    }
    assert_eq!(api.get("/v1/campaigns/screen").await.ok()["overview"]["n_arms"], 7);
}

async fn servers_share_a_store(place: Place) {
    let (one, two) = (Api::new(&place).await, Api::new(&place).await);
    one.begin(9).await;
    let tickets = one.ask(2).await;
    let tell = json!([{"ticket": tickets[1], "reward": 0.25}]);
    assert_eq!(two.post("/v1/campaigns/screen/tells", tell).await.ok()["changed"], 1);
    assert_eq!(one.get("/v1/campaigns/screen/report").await.ok()["told"], 1);
    two.patch("/v1/campaigns/screen", json!({"threshold": 0.2})).await.ok();
    assert_eq!(one.get("/v1/campaigns/screen/report").await.ok()["threshold"], 0.2);
}

async fn the_budget_holds_across_servers(place: Place) {
    let servers = [Api::new(&place).await, Api::new(&place).await];
    servers[0].begin(40).await;
    let worker = |worker: usize| {
        let api = servers[worker % 2].clone();
        async move {
            let mut told = 0;
            loop {
                let ask = json!({"count": 1 + worker % 3, "worker": format!("w {worker}")});
                let asked = api.post("/v1/campaigns/screen/asks", ask).await.ok();
                let tickets = asked["tickets"].as_array().unwrap();
                if tickets.is_empty() && !asked["ending"].is_null() {
                    return told;
                }
                for ticket in tickets {
                    let tell = json!([{"ticket": ticket["ticket"], "reward": 0.5}]);
                    told += api.post("/v1/campaigns/screen/tells", tell).await.ok()["changed"].as_u64().unwrap();
                }
            }
        }
    };
    let told = futures_util::future::join_all((0..8).map(worker)).await;
    assert_eq!(told.iter().sum::<u64>(), 40);
    let events = servers[1].get("/v1/campaigns/screen/events?limit=1000").await.ok();
    let count = |kind: &str| events["events"].as_array().unwrap().iter().filter(|event| event["event"] == kind).count();
    assert_eq!((count("asked"), count("told")), (40, 40));
}

async fn a_renamed_campaign_is_noticed_by_other_servers(place: Place) {
    let (one, two) = (Api::new(&place).await, Api::new(&place).await);
    one.begin(9).await;
    two.get("/v1/campaigns/screen").await.ok();
    one.patch("/v1/campaigns/screen", json!({"name": "old"})).await.ok();
    one.post("/v1/campaigns", screen("screen", 77)).await.ok();
    let budget = |answer: Value| answer["overview"]["budget"].clone();
    assert_eq!(budget(two.get("/v1/campaigns/screen").await.ok()), 77);
    assert_eq!(budget(two.get("/v1/campaigns/old").await.ok()), 9);
    one.delete("/v1/campaigns/old?confirm=old").await;
    two.post("/v1/campaigns/old/asks", json!({"worker": "w"})).await.refused(404, "no-campaign", "old");
}

/// Requests that are dropped while they wait leave no open tickets.
async fn clients_that_are_gone_spend_nothing(place: Place) {
    let api = Api::new(&place).await;
    api.begin(90).await;
    for wait in 0..30 {
        let asking = api.post("/v1/campaigns/screen/asks", json!({"worker": "w"}));
        drop(tokio::time::timeout(std::time::Duration::from_micros(wait * 200), asking).await);
    }
    // What was answered in time is still open; what was not is expired or was never handed out.
    wait_for("end of the leases", async || {
        let open = api.get("/v1/campaigns/screen").await.ok()["overview"]["open"].as_u64();
        open == Some(api.state_metric("cutline_tickets_total").await)
    })
    .await;
}
