//! Who may do what.

use crate::common::{Api, Place, screen, wait_for};
use axum::http::Method;
use cutline_server::Limits;
use cutline_store::{Role, Store};
use serde_json::json;

on_stores!(
    nobody_may_do_anything_without_a_token,
    roles_allow_what_they_say,
    tokens_are_for_their_campaigns,
    revoked_tokens_stop_working,
    a_single_user_is_safe_from_other_sites,
    changes_say_who_made_them,
);

/// Every method and path of the API, with a body that would do something.
fn requests() -> Vec<(Method, &'static str, Role)> {
    use Role::{Admin, Viewer, Worker};
    vec![
        (Method::GET, "/v1/campaigns", Viewer),
        (Method::POST, "/v1/campaigns", Admin),
        (Method::GET, "/v1/campaigns/screen", Viewer),
        (Method::PATCH, "/v1/campaigns/screen", Admin),
        (Method::DELETE, "/v1/campaigns/screen?confirm=screen", Admin),
        (Method::POST, "/v1/campaigns/screen/copies", Admin),
        (Method::POST, "/v1/campaigns/screen/arms", Admin),
        (Method::POST, "/v1/campaigns/screen/predict", Viewer),
        (Method::POST, "/v1/campaigns/screen/withdrawals", Admin),
        (Method::POST, "/v1/campaigns/screen/restorations", Admin),
        (Method::POST, "/v1/campaigns/screen/asks", Worker),
        (Method::POST, "/v1/campaigns/screen/tells", Worker),
        (Method::POST, "/v1/campaigns/screen/failures", Worker),
        (Method::POST, "/v1/campaigns/screen/returns", Worker),
        (Method::GET, "/v1/campaigns/screen/availability", Viewer),
        (Method::GET, "/v1/campaigns/screen/ticket-status?numbers=1", Viewer),
        (Method::GET, "/v1/campaigns/screen/identity", Viewer),
        (Method::GET, "/v1/campaigns/screen/arms", Viewer),
        (Method::POST, "/v1/campaigns/screen/tickets/1/lease", Worker),
        (Method::POST, "/v1/campaigns/screen/observations", Admin),
        (Method::POST, "/v1/campaigns/screen/amendments", Admin),
        (Method::GET, "/v1/campaigns/screen/report", Viewer),
        (Method::GET, "/v1/campaigns/screen/report.html", Viewer),
        (Method::GET, "/v1/campaigns/screen/plan", Viewer),
        (Method::GET, "/v1/campaigns/screen/figure.svg", Viewer),
        (Method::GET, "/v1/campaigns/screen/tickets", Viewer),
        (Method::GET, "/v1/campaigns/screen/verdicts", Viewer),
        (Method::GET, "/v1/campaigns/screen/diagnosis", Viewer),
        (Method::GET, "/v1/campaigns/screen/events", Viewer),
        (Method::GET, "/v1/campaigns/screen/stream", Viewer),
        (Method::GET, "/metrics", Viewer),
    ]
}

/// The routes of the document, so that none is forgotten here.
async fn routes(api: &Api) -> Vec<(String, String)> {
    let document = api.get("/openapi.json").await.ok();
    let paths = document["paths"].as_object().unwrap().clone();
    let methods = paths.iter().flat_map(|(path, item)| {
        item.as_object().unwrap().keys().map(|method| (method.to_uppercase(), path.clone())).collect::<Vec<_>>()
    });
    methods.filter(|(_, path)| !path.ends_with('z')).collect()
}

async fn nobody_may_do_anything_without_a_token(place: Place) {
    let api = Api::with(&place, Limits::default(), false).await;
    let listed: Vec<(String, String)> = requests()
        .iter()
        .map(|(method, path, _)| {
            let path = path.replace("screen", "{name}").replace("tickets/1/", "tickets/{ticket}/");
            (method.to_string(), path.split('?').next().unwrap().into())
        })
        .collect();
    for route in routes(&api).await {
        assert!(listed.contains(&route), "{route:?} is not tested");
    }
    let wrong = api.with_secret(&format!("cutline_{}", "0".repeat(64)));
    for (method, path, _) in requests() {
        for api in [&api, &wrong] {
            let answer = api.call(method.clone(), path, &[("content-type", "application/json")], "{}").await;
            answer.refused(401, "no-token", "Authorization");
            assert_eq!(answer.headers["www-authenticate"], "Bearer");
        }
    }
    assert_eq!(api.get("/healthz").await.status, 200);
    assert_eq!(api.get("/docs").await.status, 200);
}

async fn roles_allow_what_they_say(place: Place) {
    let open = Api::new(&place).await;
    open.begin(9).await;
    let api = Api::with(&place, Limits::default(), false).await;
    for role in [Role::Viewer, Role::Worker] {
        let api = api.token(&place, role.name(), role, None).await;
        // Servers read tokens again from time to time.
        wait_for("access", async || api.get("/v1/campaigns/screen/report").await.status == 200).await;
        for (method, path, needed) in requests() {
            if needed > role {
                let answer = api.call(method, path, &[("content-type", "application/json")], "{}").await;
                let (status, _, detail) = answer.problem();
                // What is refused before the role is looked at is refused to everybody.
                assert!(status == 403 || status == 422, "{path}: {status} {detail}");
            }
        }
        let body = json!({"arms": ["arm 1"]});
        api.post("/v1/campaigns/screen/withdrawals", body).await.refused(403, "not-allowed", "the role `admin`");
        api.get("/v1/campaigns/screen/report").await.ok();
        let ask = api.post("/v1/campaigns/screen/asks", json!({"worker": "w"})).await;
        assert_eq!(ask.status.as_u16(), if role == Role::Worker { 200 } else { 403 });
    }
}

async fn tokens_are_for_their_campaigns(place: Place) {
    let open = Api::new(&place).await;
    for name in ["screen", "secret"] {
        open.post("/v1/campaigns", screen(name, 9)).await.ok();
    }
    let ada = open.token(&place, "ada", Role::Admin, Some(&["screen", "mine"])).await;
    let ada = refreshed(&place, &ada).await;
    ada.get("/v1/campaigns/secret").await.refused(403, "not-allowed", "for other campaigns");
    ada.get("/v1/campaigns/nothing").await.refused(403, "not-allowed", "for other campaigns");
    assert_eq!(ada.get("/v1/campaigns").await.ok()["total"], 1);
    ada.post("/v1/campaigns", screen("other", 9)).await.refused(403, "not-allowed", "for other campaigns");
    ada.post("/v1/campaigns", screen("mine", 9)).await.ok();
    ada.patch("/v1/campaigns/mine", json!({"name": "yours"})).await.refused(403, "not-allowed", "for other campaigns");
}

/// The same client of a new server, which knows all tokens.
async fn refreshed(place: &Place, api: &Api) -> Api {
    api.at(Api::new(place).await)
}

async fn revoked_tokens_stop_working(place: Place) {
    let open = Api::new(&place).await;
    open.begin(9).await;
    let bob = refreshed(&place, &open.token(&place, "bob", Role::Viewer, None).await).await;
    bob.get("/v1/campaigns/screen").await.ok();
    let address = place.address.clone();
    tokio::task::spawn_blocking(move || Store::open(&address).unwrap().revoke_token("bob").unwrap()).await.unwrap();
    wait_for("refusal", async || bob.get("/v1/campaigns/screen").await.status == 401).await;
    bob.get("/v1/campaigns/screen").await.refused(401, "no-token", "");
    // A store whose only token was revoked does not become open to everybody.
    refreshed(&place, &open).await.get("/v1/campaigns/screen").await.refused(401, "no-token", "");
}

async fn a_single_user_is_safe_from_other_sites(place: Place) {
    let api = Api::new(&place).await;
    api.begin(9).await;
    let get = async |host: &str| api.call(Method::GET, "/v1/campaigns", &[("host", host)], "").await;
    assert_eq!(get("127.0.0.1:8080").await.status, 200);
    assert_eq!(get("[::1]:8080").await.status, 200);
    get("evil.example.org").await.refused(403, "foreign-origin", "only to `localhost`");
    let post = async |headers: &[(&str, &str)]| {
        let headers = [&[("content-type", "application/json")], headers].concat();
        api.call(Method::POST, "/v1/campaigns/screen/asks", &headers, "{\"worker\": \"w\"}").await
    };
    post(&[("origin", "https://evil.example.org")]).await.refused(403, "foreign-origin", "another site");
    post(&[("sec-fetch-site", "cross-site")]).await.refused(403, "foreign-origin", "another site");
    post(&[("x-forwarded-for", "10.1.2.3")]).await.refused(403, "foreign-origin", "proxy");
    assert_eq!(post(&[("origin", "http://localhost:8080")]).await.status, 200);
    // A form of another site cannot send JSON.
    let form = [("content-type", "text/plain")];
    let answer = api.call(Method::POST, "/v1/campaigns/screen/asks", &form, "{\"worker\": \"w\"}").await;
    answer.refused(415, "media-type", "text/plain");
}

async fn changes_say_who_made_them(place: Place) {
    let open = Api::new(&place).await;
    open.begin(9).await;
    open.ask(1).await;
    let ada = refreshed(&place, &open.token(&place, "ada", Role::Admin, None).await).await;
    ada.ask(1).await;
    ada.patch("/v1/campaigns/screen", json!({"budget": 12})).await.ok();
    let events = ada.get("/v1/campaigns/screen/events").await.ok();
    let by: Vec<_> = events["events"].as_array().unwrap().iter().map(|event| event["by"].as_str()).collect();
    assert_eq!(by, [None, Some("ada"), Some("ada")]);
}
