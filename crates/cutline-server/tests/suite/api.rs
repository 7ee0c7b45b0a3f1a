//! Every endpoint: what it does, and what it refuses.

use crate::common::{Api, Place, screen};
use axum::http::Method;
use serde_json::json;

on_stores!(
    a_campaign_from_beginning_to_end,
    campaigns_are_listed_in_pages,
    campaigns_change_and_are_renamed_and_deleted,
    campaigns_are_copied_and_begun_with_all_settings,
    tables_are_uploaded,
    arms_are_added_withdrawn_and_predicted,
    measurements_cost_different_amounts,
    arms_and_events_are_complete,
    rewards_are_corrected,
    tickets_are_renewed_resumed_and_failed,
    verdicts_are_filtered_and_sorted,
    bad_requests_are_problems,
);

async fn a_campaign_from_beginning_to_end(place: Place) {
    let api = Api::new(&place).await;
    let begun = api.post("/v1/campaigns", screen("screen", 12)).await;
    assert_eq!((begun.status.as_u16(), &begun.headers["location"]), (201, &"/v1/campaigns/screen".parse().unwrap()));
    assert_eq!(begun.json()["n_arms"], 6);
    let mut told = 0;
    loop {
        let asked =
            api.post("/v1/campaigns/screen/asks", json!({"count": 5, "worker": "w 1", "lease_seconds": 60})).await.ok();
        let tickets = asked["tickets"].as_array().unwrap();
        if tickets.is_empty() {
            assert_eq!(asked["ending"], "budget");
            break;
        }
        assert_eq!(tickets[0]["features"].as_array().unwrap().len(), 2);
        let x = |ticket: &serde_json::Value| ticket["features"][0].as_f64().unwrap();
        let tells: Vec<_> = tickets.iter().map(|t| json!({"ticket": t["ticket"], "reward": x(t) / 5.0})).collect();
        let changed = api.post("/v1/campaigns/screen/tells", json!(tells)).await.ok();
        assert_eq!(changed["changed"], tells.len());
        told += tells.len();
        // The same once more changes nothing.
        assert_eq!(api.post("/v1/campaigns/screen/tells", json!(tells)).await.ok()["changed"], 0);
    }
    assert_eq!(told, 12);
    let report = api.get("/v1/campaigns/screen/report").await.ok();
    assert_eq!((&report["told"], &report["ending"], &report["remaining"]), (&json!(12), &json!("budget"), &json!(0)));
    assert_eq!(
        report["above"].as_u64().unwrap() + report["below"].as_u64().unwrap() + report["undecided"].as_u64().unwrap(),
        6
    );
    let details = api.get("/v1/campaigns/screen").await.ok();
    assert_eq!((&details["settings"]["threshold"], &details["columns"]), (&json!(0.5), &json!(["x", "y"])));
    let figure = api.get("/v1/campaigns/screen/figure.svg").await;
    assert_eq!(figure.headers["content-type"], "image/svg+xml");
    assert!(figure.text.starts_with("<svg") && figure.text.contains("arm 5"));
    assert!(figure.text.contains("intervals: by the model"), "the note of the report's figure");
    let events = api.get("/v1/campaigns/screen/events?after=20&limit=3").await.ok();
    assert_eq!((events["events"][0]["number"].as_u64(), events["next"].as_u64()), (Some(21), Some(23)));
    let last = api.get("/v1/campaigns/screen/events?after=23").await.ok();
    assert_eq!((last["events"][0]["event"].as_str(), &last["next"]), (Some("told"), &json!(null)));
    assert!(last["events"][0]["arm"].as_str().unwrap().starts_with("arm "));
}

async fn campaigns_are_listed_in_pages(place: Place) {
    let api = Api::new(&place).await;
    for name in ["a", "b", "a/c?", "d"] {
        api.post("/v1/campaigns", screen(name, 9)).await.ok();
    }
    api.post("/v1/campaigns/a%2Fc%3F/asks", json!({"count": 2, "worker": "w"})).await.ok();
    let list = api.get("/v1/campaigns?limit=2&offset=1").await.ok();
    let names: Vec<_> = list["campaigns"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!((names, &list["total"]), (vec!["a/c?", "b"], &json!(4)));
    let first = &list["campaigns"][0];
    assert_eq!((&first["overview"]["open"], &first["events"]), (&json!(2), &json!(2)));
    assert!(first["last_event"].as_str().unwrap().ends_with('Z') && list["campaigns"][1]["last_event"].is_null());
    assert_eq!(api.get("/v1/campaigns?search=a").await.ok()["total"], 2);
    let plain = api.get("/v1/campaigns?overview=false").await.ok();
    assert!(plain["campaigns"][0]["overview"].is_null() && plain["campaigns"][0]["id"].is_number(), "{plain}");
    api.get("/v1/campaigns?limit=0").await.refused(422, "refused", "`limit` must be 1 to 100");
    api.get("/v1/campaigns?offset=x").await.refused(400, "bad-request", "offset");
    api.post("/v1/campaigns", screen("a", 9)).await.refused(409, "conflict", "already a campaign `a`");
    api.get("/v1/campaigns/e").await.refused(404, "no-campaign", "there is no campaign `e`");
}

async fn campaigns_change_and_are_renamed_and_deleted(place: Place) {
    let api = Api::new(&place).await;
    api.begin(9).await;
    let changed =
        api.patch("/v1/campaigns/screen", json!({"budget": 20, "threshold": 0.7, "name": "other"})).await.ok();
    assert_eq!(changed["location"], "/v1/campaigns/other");
    api.get("/v1/campaigns/screen").await.refused(404, "no-campaign", "screen");
    let details = api.get("/v1/campaigns/other").await.ok();
    assert_eq!((&details["overview"]["budget"], &details["settings"]["threshold"]), (&json!(20), &json!(0.7)));
    api.patch("/v1/campaigns/other", json!({"noise": 0.25})).await.ok();
    api.patch("/v1/campaigns/other", json!({"noise": null})).await.ok();
    assert!(api.get("/v1/campaigns/other").await.ok()["settings"]["noise"].is_null());
    api.patch("/v1/campaigns/other", json!({"budget": 0})).await.refused(422, "refused", "");
    api.patch("/v1/campaigns/other", json!({"colour": 1})).await.refused(422, "refused", "colour");
    api.patch("/v1/campaigns/other", json!({"model": "magic"})).await.refused(422, "refused", "unknown model");
    api.delete("/v1/campaigns/other").await.refused(422, "refused", "give its name once more");
    assert_eq!(api.delete("/v1/campaigns/other?confirm=other").await.status, 204);
    api.get("/v1/campaigns/other").await.refused(404, "no-campaign", "other");
    api.post("/v1/campaigns/other/asks", json!({"worker": "w"})).await.refused(404, "no-campaign", "other");
    api.delete("/v1/campaigns/other?confirm=other").await.refused(404, "no-campaign", "other");
}

async fn campaigns_are_copied_and_begun_with_all_settings(place: Place) {
    let api = Api::new(&place).await;
    api.begin(9).await;
    let path = "/v1/campaigns/screen";
    let asked = api.post(&format!("{path}/asks"), json!({"count": 2, "worker": "w"})).await.ok();
    let ticket = &asked["tickets"][0]["ticket"];
    api.post(&format!("{path}/tells"), json!([{"ticket": ticket, "reward": 0.1}])).await.ok();
    assert_eq!(api.patch(path, json!({"delta": 0.07, "noise": 0.3})).await.ok()["changed"], true);
    assert_eq!(api.patch(path, json!({"delta": 0.07})).await.ok()["changed"], false);
    api.patch(path, json!({"delta": 0.1, "confidence": 0.9})).await.refused(422, "refused", "give one of them");
    let copied = api.post(&format!("{path}/copies"), json!({"name": "copy"})).await;
    assert_eq!((copied.status.as_u16(), &copied.headers["location"]), (201, &"/v1/campaigns/copy".parse().unwrap()));
    api.post(&format!("{path}/copies"), json!({"name": "copy"})).await.refused(409, "conflict", "already a campaign");
    api.post("/v1/campaigns/none/copies", json!({"name": "d"})).await.refused(404, "no-campaign", "none");
    // What the API says of a campaign is enough to make it again.
    let details = api.get(path).await.ok();
    let arms = api.get(&format!("{path}/arms")).await.ok();
    let events = api.get(&format!("{path}/events")).await.ok()["events"].clone();
    let body = |name: &str| {
        let (settings, columns) = (&details["first_settings"], &details["columns"]);
        json!({"name": name, "settings": settings, "columns": columns, "arms": arms["arms"], "events": events})
    };
    api.post("/v1/campaigns", body("made")).await.json();
    for copy in ["copy", "made"] {
        let mut other = api.get(&format!("/v1/campaigns/{copy}")).await.ok();
        other["overview"]["campaign"] = json!("screen");
        for key in ["settings", "first_settings", "first_n_arms", "overview"] {
            assert_eq!(other[key], details[key], "{copy} {key}");
        }
        let plain = |events: &serde_json::Value| events.to_string().replace(",\"by\":\"ada\"", "");
        assert_eq!(plain(&api.get(&format!("/v1/campaigns/{copy}/events")).await.ok()["events"]), plain(&events));
        assert_eq!(
            api.get(&format!("/v1/campaigns/{copy}/verdicts")).await.ok(),
            api.get(&format!("{path}/verdicts")).await.ok()
        );
    }
    let with = |key: &str, value: serde_json::Value| {
        let mut body = body("bad");
        body[key] = value;
        body
    };
    for (body, words) in [
        (with("threshold", json!(0.5)), "`threshold` is a part of `settings`"),
        (with("settings", json!({"threshold": 1})), "`settings` cannot be understood: missing field"),
        (with("settings", json!(null)), "`events` need `settings`"),
        (with("observed", json!([{"arm": "arm 0", "reward": 1}])), "`events` and `observed` exclude each other"),
        (with("events", json!([{"number": 1, "at": "now", "event": "told"}])), "event 1, `told`, cannot be understood"),
        (with("events", json!([events[2]])), "the events do not fit together"),
    ] {
        api.post("/v1/campaigns", body).await.refused(422, "refused", words);
    }
    let mut encoded = details["first_settings"].clone();
    encoded["encoding"] = json!({"columns": [{"name": "z", "values": "number"}]});
    api.post("/v1/campaigns", with("settings", encoded)).await.refused(422, "refused", "one of other columns");
    api.post("/v1/campaigns", json!({"name": "e", "budget": 3, "arms": [{"name": "a"}]})).await.refused(
        422,
        "refused",
        "`threshold` is missing",
    );
}

async fn tables_are_uploaded(place: Place) {
    let api = Api::new(&place).await;
    let csv = "name,mass,kind\na,1.5,salt\nb,2,acid\nc,3,salt\n";
    let headers = [("content-type", "text/csv")];
    let begun = api.call(Method::POST, "/v1/campaigns?name=t&threshold=0.5&budget=9", &headers, csv).await.ok();
    assert_eq!((&begun["n_arms"], begun["notes"].as_array().unwrap().len()), (&json!(3), 1));
    assert_eq!(api.get("/v1/campaigns/t").await.ok()["columns"], json!(["mass", "kind=acid", "kind=salt"]));
    let more =
        api.call(Method::POST, "/v1/campaigns/t/arms", &headers, "kind,mass,name\nacid,7,d\nacid,2,b\n").await.ok();
    assert_eq!(more["added"], 1);
    let path = "/v1/campaigns?name=u&threshold=0.5&budget=9&decimal=,";
    api.call(Method::POST, path, &headers, "name;x\na;1,5\nb;2\n").await.ok();
    let missing = api.call(Method::POST, "/v1/campaigns?name=v&budget=9", &headers, csv).await;
    missing.refused(422, "refused", "`threshold` is missing");
    let bad = api.call(Method::POST, "/v1/campaigns?name=v&threshold=1&budget=9", &headers, "name,x\na,\nb,2\n").await;
    bad.refused(422, "refused", "row 2, column `x`");
    let kind = api.call(Method::POST, "/v1/campaigns", &[("content-type", "image/png")], "x").await;
    kind.refused(415, "media-type", "`image/png` is not understood");
    api.call(Method::POST, "/v1/campaigns", &[], "x").await.refused(415, "media-type", "`Content-Type` is missing");
}

async fn arms_are_added_withdrawn_and_predicted(place: Place) {
    let api = Api::new(&place).await;
    api.begin(9).await;
    let arms = json!({"arms": [{"name": "new", "features": [9.0, 1.0]}]});
    assert_eq!(api.post("/v1/campaigns/screen/arms", arms.clone()).await.ok()["added"], 1);
    assert_eq!(api.post("/v1/campaigns/screen/arms", arms).await.ok()["added"], 0);
    let other = json!({"arms": [{"name": "new", "features": [8.0, 1.0]}]});
    api.post("/v1/campaigns/screen/arms", other.clone()).await.refused(409, "conflict", "with other features");
    let short = json!({"arms": [{"name": "x", "features": [8.0]}]});
    api.post("/v1/campaigns/screen/arms", short).await.refused(422, "refused", "1 features, and there are 2 columns");
    let predicted = api.post("/v1/campaigns/screen/predict", other).await.ok();
    assert_eq!((&predicted[0]["arm"], &predicted[0]["side"]), (&json!("new"), &json!("undecided")));
    let body = json!({"arms": ["arm 1", "new"], "reason": "out of stock"});
    assert_eq!(api.post("/v1/campaigns/screen/withdrawals", body).await.ok()["changed"], 2);
    let unknown = json!({"arms": ["arm 1", "nobody"]});
    api.post("/v1/campaigns/screen/withdrawals", unknown).await.refused(422, "refused", "there is no arm `nobody`");
    assert_eq!(api.get("/v1/campaigns/screen").await.ok()["overview"]["withdrawn"], 2);
    assert_eq!(api.post("/v1/campaigns/screen/restorations", json!({"arms": ["new"]})).await.ok()["changed"], 1);
    let reason = json!({"arms": ["new"], "reason": "x".repeat(1001)});
    api.post("/v1/campaigns/screen/withdrawals", reason).await.refused(422, "refused", "1001 bytes");
}

async fn measurements_cost_different_amounts(place: Place) {
    let api = Api::new(&place).await;
    let csv = "name,x,price\na,1,1\nb,2,2.5\nc,3,4\n";
    let headers = [("content-type", "text/csv")];
    let path = "/v1/campaigns?name=t&threshold=0.5&budget=20&cost=price";
    assert_eq!(api.call(Method::POST, path, &headers, csv).await.ok()["n_arms"], 3);
    let details = api.get("/v1/campaigns/t").await.ok();
    assert_eq!((&details["columns"], &details["settings"]["cost"]), (&json!(["x"]), &json!("price")));
    assert_eq!((&details["overview"]["budget"], &details["overview"]["spent"]), (&json!(20), &json!(0.0)));
    let asked = api.post("/v1/campaigns/t/asks", json!({"count": 3, "worker": "w"})).await.ok();
    let costs: Vec<f64> = asked["tickets"].as_array().unwrap().iter().map(|t| t["cost"].as_f64().unwrap()).collect();
    assert_eq!(costs.iter().sum::<f64>(), 7.5, "each arm once");
    api.post("/v1/campaigns/t/tells", json!([{"ticket": 1, "reward": 0.3}])).await.ok();
    let report = api.get("/v1/campaigns/t/report").await.ok();
    assert_eq!((&report["spent"], report["remaining"].as_f64()), (&json!(costs[0]), Some(20.0 - costs[0])));
    assert_eq!(api.get("/v1/campaigns/t/verdicts").await.ok()["verdicts"][1]["cost"], 2.5);
    // Later arms have costs, too.
    let more = api.call(Method::POST, "/v1/campaigns/t/arms", &headers, "name,x,price\nd,4,3\n").await.ok();
    assert_eq!(more["added"], 1);
    let arm = |cost: Option<f64>| json!({"arms": [{"name": "e", "features": [5.0], "cost": cost}]});
    api.post("/v1/campaigns/t/arms", arm(None)).await.refused(422, "refused", "cost");
    assert_eq!(api.post("/v1/campaigns/t/arms", arm(Some(2.0))).await.ok()["added"], 1);
    api.post("/v1/campaigns/t/arms", arm(Some(3.0))).await.refused(409, "conflict", "at another cost");
    assert_eq!(api.post("/v1/campaigns/t/predict", arm(None)).await.ok()[0]["arm"], "e");
    let plan = api.get("/v1/campaigns/t/plan?runs=2").await.ok();
    assert_eq!(plan["mean_cost"], 2.5);
    // As JSON: all arms or none.
    let mut body = screen("u", 12);
    body["arms"][0]["cost"] = json!(2.0);
    api.post("/v1/campaigns", body.clone()).await.refused(422, "refused", "1 of 6 arms have a `cost`");
    (0..6).for_each(|arm| body["arms"][arm]["cost"] = json!(1.5));
    api.post("/v1/campaigns", body.clone()).await.ok();
    body["arms"][0]["cost"] = json!(0.0);
    api.post("/v1/campaigns", body).await.refused(422, "refused", "cost");
}

/// What a client needs to compute everything else itself, and tickets that are given back.
async fn arms_and_events_are_complete(place: Place) {
    let api = Api::new(&place).await;
    api.begin(9).await;
    let page = api.get("/v1/campaigns/screen/arms?offset=4&limit=1").await.ok();
    assert_eq!((&page["total"], &page["columns"]), (&6.into(), &json!(["x", "y"])));
    assert_eq!(page["arms"], json!([{"name": "arm 4", "features": [4.0, 4.0]}]));
    api.post("/v1/campaigns/screen/asks", json!({"worker": "w", "replicates": 2})).await.ok();
    api.patch("/v1/campaigns/screen", json!({"budget": 12})).await.ok();
    let details = api.get("/v1/campaigns/screen").await.ok();
    assert_eq!((&details["first_settings"]["budget"], &details["settings"]["budget"]), (&9.into(), &12.into()));
    assert_eq!(details["first_n_arms"], 6);
    let page = api.get("/v1/campaigns/screen/events").await.ok();
    let events = &page["events"];
    assert_eq!(page["campaign_id"], details["id"]);
    assert_eq!(events[0]["arm"], format!("arm {}", events[0]["index"]));
    assert_eq!((&events[0]["replicate_of"], &events[1]["replicate_of"]), (&1.into(), &1.into()));
    assert_eq!((&events[2]["event"], &events[2]["budget"]), (&"changed".into(), &12.into()));
    let given_back = api.post("/v1/campaigns/screen/returns", json!({"tickets": [1, 2, 1]})).await.ok();
    assert_eq!(given_back["changed"], 2);
    assert_eq!(api.get("/v1/campaigns/screen/report").await.ok()["expired"], 2);
    api.post("/v1/campaigns/screen/returns", json!({"tickets": [77]})).await.refused(422, "refused", "77");
}

async fn rewards_are_corrected(place: Place) {
    let api = Api::new(&place).await;
    api.begin(9).await;
    let tickets = api.ask(2).await;
    let tell = |ticket: u64, reward: f64| json!([{"ticket": ticket, "reward": reward}]);
    api.post("/v1/campaigns/screen/tells", tell(tickets[0], 0.7)).await.ok();
    let other = api.post("/v1/campaigns/screen/tells", tell(tickets[0], 0.8)).await;
    other.refused(409, "conflict", "already has the reward 0.7");
    api.post("/v1/campaigns/screen/tells", tell(99, 0.8)).await.refused(422, "refused", "there is no ticket 99");
    let amend = json!({"amendments": [{"ticket": tickets[0], "reward": 0.17}], "reason": "digits swapped"});
    assert_eq!(api.post("/v1/campaigns/screen/amendments", amend).await.ok()["changed"], 1);
    let early = json!({"amendments": [{"ticket": tickets[1], "reward": 0.17}]});
    api.post("/v1/campaigns/screen/amendments", early).await.refused(409, "conflict", "no reward yet");
    let void = json!({"amendments": [{"ticket": tickets[0], "reward": null}], "reason": "wrong sample"});
    assert_eq!(api.post("/v1/campaigns/screen/amendments", void).await.ok()["changed"], 1);
    assert_eq!(api.get("/v1/campaigns/screen/report").await.ok()["voided"], 1);
    let observed = json!({"rewards": [{"arm": "arm 3", "reward": 0.6}, {"arm": "arm 4", "reward": 0.9}]});
    assert_eq!(api.post("/v1/campaigns/screen/observations", observed).await.ok()["changed"], 2);
    let report = api.get("/v1/campaigns/screen/report").await.ok();
    assert_eq!((&report["told"], &report["uncounted"]), (&json!(0), &json!(2)));
    api.post("/v1/campaigns/screen/tells", json!([])).await.refused(422, "refused", "there are no rewards");
    let neither = json!([{"ticket": tickets[1]}]);
    api.post("/v1/campaigns/screen/tells", neither).await.refused(422, "refused", "either a `reward` or `rewards`");
}

async fn tickets_are_renewed_resumed_and_failed(place: Place) {
    let api = Api::new(&place).await;
    api.begin(9).await;
    let ask = json!({"count": 1, "replicates": 3, "worker": "w", "lease_seconds": 0.001});
    let asked = api.post("/v1/campaigns/screen/asks", ask).await.ok();
    let ticket = &asked["tickets"][0];
    assert_eq!(ticket["replicates"], 3);
    let open = api.get("/v1/campaigns/screen/tickets").await.ok();
    assert_eq!((&open["total"], &open["tickets"][0]["worker"]), (&json!(3), &json!("w")));
    let path = format!("/v1/campaigns/screen/tickets/{}/lease", ticket["ticket"]);
    let renewed = api.post(&path, json!({"lease_seconds": 600})).await.ok();
    assert!(renewed["tickets"][0]["until"].as_str() > ticket["until"].as_str());
    let again = json!({"count": 2, "worker": "w", "resume": true});
    let resumed = api.post("/v1/campaigns/screen/asks", again).await.ok();
    let tickets = resumed["tickets"].as_array().unwrap();
    assert_eq!((&tickets[0]["ticket"], &tickets[0]["replicates"], tickets.len()), (&ticket["ticket"], &json!(3), 2));
    let rewards = json!([{"ticket": ticket["ticket"], "rewards": [0.1, 0.2]}]);
    assert_eq!(api.post("/v1/campaigns/screen/tells", rewards).await.ok()["changed"], 2);
    let fail = json!([{"ticket": tickets[1]["ticket"], "reason": "sample lost"}]);
    assert_eq!(api.post("/v1/campaigns/screen/failures", fail).await.ok()["changed"], 1);
    let told = json!([{"ticket": ticket["ticket"], "reason": "x"}]);
    api.post("/v1/campaigns/screen/failures", told).await.refused(409, "conflict", "cannot fail");
    api.post("/v1/campaigns/screen/tickets/99/lease", json!({})).await.refused(422, "refused", "no ticket 99");
    api.post("/v1/campaigns/screen/tickets/x/lease", json!({})).await.refused(404, "not-found", "");
    let bad = json!({"worker": "w", "lease_seconds": -1});
    api.post("/v1/campaigns/screen/asks", bad).await.refused(422, "refused", "a lease must be above 0");
    let many = json!({"worker": "w", "count": 100_000});
    api.post("/v1/campaigns/screen/asks", many).await.refused(422, "refused", "at most 10000");
    let control = json!({"worker": "w\u{1b}[31m"});
    api.post("/v1/campaigns/screen/asks", control).await.refused(422, "refused", "control character");
}

async fn verdicts_are_filtered_and_sorted(place: Place) {
    let api = Api::new(&place).await;
    api.begin(99).await;
    let rewards = (0..4).flat_map(|arm| {
        [0.01, -0.01].map(|noise| json!({"arm": format!("arm {arm}"), "reward": f64::from(arm) / 5.0 + noise}))
    });
    let rewards: Vec<_> = rewards.collect();
    api.post("/v1/campaigns/screen/observations", json!({"rewards": rewards})).await.ok();
    let names = |answer: &serde_json::Value| -> Vec<String> {
        let verdicts = answer["verdicts"].as_array().unwrap();
        verdicts.iter().map(|one| one["arm"].as_str().unwrap().to_owned()).collect()
    };
    let get = async |query: &str| api.get(&format!("/v1/campaigns/screen/verdicts{query}")).await;
    let all = get("").await.ok();
    assert_eq!((names(&all).len(), &all["total"], &all["events"]), (6, &json!(6), &json!(8)));
    let width = |answer: &serde_json::Value| {
        let first = &answer["verdicts"][0];
        first["upper"].as_f64().unwrap() - first["lower"].as_f64().unwrap()
    };
    assert_eq!(get("?confidence=0.95").await.ok()["verdicts"], all["verdicts"], "that of the campaign");
    assert!(width(&get("?confidence=0.5").await.ok()) < width(&all));
    get("?confidence=1").await.refused(422, "refused", "`confidence` must be a number above 0 and below 1");
    let diagnosis = api.get("/v1/campaigns/screen/diagnosis").await.ok();
    assert_eq!(
        (&diagnosis["pulls"], &diagnosis["n_pulled"], &diagnosis["arms"][0]["name"]),
        (&json!(8), &json!(4), &json!("arm 0"))
    );
    assert!(!diagnosis["sentence"].as_str().unwrap().is_empty(), "{diagnosis}");
    let raw = api.get("/v1/campaigns/screen/diagnosis?raw=true").await.ok();
    assert_ne!(raw["design"], diagnosis["design"], "without an intercept");
    assert!(all["verdicts"][5]["own_mean"].is_null() && all["verdicts"][1]["own_mean"].as_f64() == Some(0.2));
    let measured = get("?measured=true&sort=-mean&limit=2").await.ok();
    assert_eq!((names(&measured), &measured["total"]), (vec!["arm 3".to_owned(), "arm 2".into()], &json!(4)));
    assert_eq!(names(&get("?search=ARM%203").await.ok()), ["arm 3"]);
    assert_eq!(names(&get("?sort=-index&offset=4").await.ok()), ["arm 1", "arm 0"]);
    let mut total = 0;
    for side in ["above", "below", "undecided"] {
        let page = get(&format!("?side={side}")).await.ok();
        assert!(page["verdicts"].as_array().unwrap().iter().all(|one| one["side"] == side));
        total += page["total"].as_u64().unwrap();
    }
    assert_eq!(total, 6);
    get("?side=left").await.refused(422, "refused", "`side` must be");
    get("?sort=colour").await.refused(422, "refused", "`sort` must be");
    get("?limit=100000").await.refused(422, "refused", "`limit` must be");
}

async fn bad_requests_are_problems(place: Place) {
    let api = Api::new(&place).await;
    api.begin(9).await;
    let json = [("content-type", "application/json")];
    let call = async |body: &'static str| api.call(Method::POST, "/v1/campaigns/screen/asks", &json, body).await;
    call("{").await.refused(400, "bad-request", "the body is not JSON");
    call("{\"worker\": 7}").await.refused(422, "refused", "the body does not fit");
    call("{\"worker\": \"w\", \"colour\": 1}").await.refused(422, "refused", "unknown field `colour`");
    api.get("/nothing").await.refused(404, "not-found", "`/docs` lists");
    api.call(Method::PUT, "/v1/campaigns", &[], "").await.refused(405, "method", "");
    let large = "x".repeat((4 << 20) + 1);
    api.call(Method::POST, "/v1/campaigns/screen/asks", &json, large).await.refused(413, "too-large", "4194304");
    let stream = futures_util::stream::iter((0..6).map(|_| Ok::<_, std::io::Error>(vec![b' '; 1 << 20])));
    let body = axum::body::Body::from_stream(stream);
    let without_length = api.call(Method::POST, "/v1/campaigns/screen/asks", &json, body).await;
    without_length.refused(413, "too-large", "4194304");
    let name = screen("bad\u{7}name", 9);
    api.post("/v1/campaigns", name).await.refused(422, "refused", "cannot be a name");
    let mut twice = screen("twice", 9);
    twice["arms"][1]["name"] = json!("arm 0");
    api.post("/v1/campaigns", twice).await.refused(422, "refused", "both called `arm 0`");
    // Each of these would take minutes.
    for (budget, batch) in [(40_000_000, 1), (200_000, 57_821)] {
        let name = format!("budget-{budget}");
        api.post("/v1/campaigns", screen(&name, budget)).await.ok();
        let long = api.get(&format!("/v1/campaigns/{name}/plan?batch={batch}")).await;
        long.refused(422, "refused", "this would take too long here");
    }
    let answer = api.get("/healthz").await;
    assert_eq!((answer.status.as_u16(), answer.text.as_str()), (200, "ok\n"));
    assert_eq!(answer.headers["x-content-type-options"], "nosniff");
    assert!(answer.headers["content-security-policy"].to_str().unwrap().starts_with("default-src 'none'"));
    assert_eq!(api.get("/readyz").await.text, "ready\n");
    let metrics = api.get("/metrics").await.text;
    assert!(metrics.contains("route=\"/v1/campaigns/{name}/asks\",status=\"422\"} 2"), "{metrics}");
}
