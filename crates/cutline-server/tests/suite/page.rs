//! The pages, without a browser: who sees them, what their forms do, and what they never contain. `checks/page` uses them in a browser.

use crate::common::{Answer, Api, Place, wait_for};
use axum::http::Method;
use cutline_server::Limits;
use cutline_store::Role;
use serde_json::json;

const HOSTILE: &str = "<img src=x onerror=alert(1)>\"'&";

/// A form that is posted from a page of this server.
async fn post(api: &Api, path: &str, cookie: Option<&str>, form: &str) -> Answer {
    let cookie = cookie.map(|secret| format!("cutline_session={secret}"));
    let mut headers = vec![("content-type", "application/x-www-form-urlencoded"), ("origin", "http://localhost:8080")];
    headers.extend(cookie.as_ref().map(|cookie| ("cookie", cookie.as_str())));
    api.call(Method::POST, path, &headers, form.to_owned()).await
}

async fn with_cookie(api: &Api, method: Method, path: &str, secret: &str, more: &[(&str, &str)]) -> Answer {
    let cookie = format!("cutline_session={secret}");
    let mut headers = vec![("content-type", "application/x-www-form-urlencoded"), ("cookie", cookie.as_str())];
    headers.extend(more);
    api.call(method, path, &headers, "budget=30").await
}

fn redirect(answer: &Answer) -> &str {
    assert_eq!(answer.status, 303, "{}", answer.text);
    answer.headers["location"].to_str().unwrap()
}

/// A server with the campaign `screen`, whose first arm, worker and reason are hostile.
async fn hostile(place: &Place) -> Api {
    let api = Api::new(place).await;
    let arms = json!([{"name": HOSTILE}, {"name": "other"}]);
    api.post("/v1/campaigns", json!({"name": "screen", "threshold": 0.5, "budget": 20, "arms": arms})).await.ok();
    api.post("/v1/campaigns/screen/asks", json!({"worker": HOSTILE, "count": 2})).await.ok();
    api.post("/v1/campaigns/screen/failures", json!([{"ticket": 1, "reason": HOSTILE}])).await.ok();
    api
}

const PAGES: [&str; 6] = [
    "/",
    "/new",
    "/campaigns/screen",
    "/campaigns/screen/arms/0",
    "/campaigns/screen/events",
    "/campaigns/screen/verdicts.csv",
];

#[tokio::test(flavor = "multi_thread")]
async fn texts_of_users_are_never_markup() {
    let place = Place::sqlite();
    let api = hostile(&place).await;
    for path in PAGES.iter().filter(|path| !path.ends_with("csv")) {
        let page = api.get(path).await;
        assert_eq!(page.status, 200, "{path}: {}", page.text);
        assert!(!page.text.contains("<img src=x"), "{path}");
        for inline in ["<style", " style=", "javascript:", " onerror=", " onclick=", "<script>"] {
            assert!(!page.text.replace("src=x onerror=", "").contains(inline), "{path}: {inline}");
        }
        let policy = page.headers["content-security-policy"].to_str().unwrap();
        assert!(policy.contains("script-src 'self'") && !policy.contains("unsafe"), "{policy}");
    }
    let page = api.get("/campaigns/screen").await.text;
    let shown = page.matches("&#60;img src=x onerror=alert(1)&#62;&#34;&#39;&#38;").count();
    assert!(shown >= 3, "arm, worker and reason: {shown}");
    let found = api.get("/campaigns/screen?search=%3Cimg%20src=x%20onerror=alert(1)%3E").await.text;
    assert!(!found.contains("<img src=x") && found.contains("1 to 1 of 1"), "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_are_sent_to_the_login() {
    let place = Place::sqlite();
    let api = Api::with(&place, Limits::default(), false).await;
    for path in PAGES {
        assert!(redirect(&api.get(path).await).starts_with("/login?next=%2F"), "{path}");
    }
    assert_eq!(redirect(&post(&api, "/campaigns/screen/tell", None, "ticket=1&reward=1").await), "/login?next=%2F");
    assert_eq!(api.get("/login").await.status, 200);
    assert_eq!(api.get("/page.js").await.headers["content-type"], "text/javascript; charset=utf-8");
    let other = api.call(Method::GET, "/campaigns/screen", &[("sec-fetch-site", "cross-site")], "").await;
    assert_eq!(other.headers["refresh"], "0; url=/campaigns/screen", "the cookie is sent the second time");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cookie_works_for_pages_of_this_server_alone() {
    let place = Place::sqlite();
    let open = Api::new(&place).await;
    open.begin(20).await;
    let admin = open.token(&place, "ada", Role::Admin, None).await;
    let api = Api::with(&place, Limits::default(), false).await;
    let secret = admin.secret().to_owned();
    let wrong = post(&api, "/login", None, "token=cutline_0&next=/").await;
    assert!(wrong.status == 403 && !wrong.headers.contains_key("set-cookie"), "{}", wrong.text);
    let done = post(&api, "/login", None, &format!("token={secret}&next=%2Fcampaigns%2Fscreen")).await;
    assert_eq!(redirect(&done), "/campaigns/screen");
    let cookie = done.headers["set-cookie"].to_str().unwrap();
    assert!(cookie.contains("; HttpOnly; SameSite=Strict;") && !cookie.contains("Secure"), "{cookie}");
    let headers = [("content-type", "application/x-www-form-urlencoded"), ("origin", "https://localhost:8080")];
    let secure = api.call(Method::POST, "/login", &headers, format!("token={secret}")).await;
    assert!(secure.headers["set-cookie"].to_str().unwrap().ends_with("; Secure"));

    assert_eq!(with_cookie(&api, Method::GET, "/campaigns/screen", &secret, &[]).await.status, 200);
    assert_eq!(with_cookie(&api, Method::GET, "/v1/campaigns/screen/report", &secret, &[]).await.status, 200);
    let path = "/campaigns/screen/budget";
    let here = ("origin", "http://localhost:8080");
    for elsewhere in [vec![], vec![("origin", "http://example.org")], vec![here, ("sec-fetch-site", "cross-site")]] {
        assert_eq!(with_cookie(&api, Method::POST, path, &secret, &elsewhere).await.status, 403, "{elsewhere:?}");
    }
    assert_eq!(
        redirect(&with_cookie(&api, Method::POST, path, &secret, &[here]).await),
        "/campaigns/screen?notice=budget"
    );
    let out = with_cookie(&api, Method::POST, "/logout", &secret, &[here]).await;
    assert!(out.headers["set-cookie"].to_str().unwrap().contains("cutline_session=; ") && redirect(&out) == "/login");

    let viewer = open.token(&place, "vera", Role::Viewer, None).await.secret().to_owned();
    // Servers read tokens again from time to time.
    wait_for("login", async || with_cookie(&api, Method::GET, "/campaigns/screen", &viewer, &[]).await.status == 200)
        .await;
    assert_eq!(with_cookie(&api, Method::POST, path, &viewer, &[here]).await.status, 403);
    assert_eq!(with_cookie(&api, Method::GET, "/new", &viewer, &[]).await.status, 403);
    let page = with_cookie(&api, Method::GET, "/campaigns/screen", &viewer, &[]).await;
    assert!(page.status == 200 && !page.text.contains("data-post"), "{}", page.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn forms_do_what_they_say() {
    let place = Place::sqlite();
    let api = Api::new(&place).await;
    api.begin(20).await;
    let ask = "count=2&worker=ada&minutes=10&key=k1";
    for _ in 0..2 {
        assert_eq!(redirect(&post(&api, "/campaigns/screen/ask", None, ask).await), "/campaigns/screen?notice=asked");
    }
    let report = api.get("/v1/campaigns/screen/report").await.ok();
    assert_eq!(report["open"], 2, "a form that is sent twice asks once");
    assert_eq!(
        redirect(&post(&api, "/campaigns/screen/tell", None, "ticket=1&reward=+0.5+").await),
        "/campaigns/screen?notice=told"
    );
    assert_eq!(
        redirect(&post(&api, "/campaigns/screen/fail", None, "ticket=2&reason=lost").await),
        "/campaigns/screen?notice=failed"
    );
    let amend = "ticket=1&reward=0.75&reason=typo&from=3";
    assert_eq!(
        redirect(&post(&api, "/campaigns/screen/amend", None, amend).await),
        "/campaigns/screen/arms/3?notice=amended"
    );
    assert_eq!(
        redirect(&post(&api, "/campaigns/screen/withdraw", None, "arm=arm+4").await),
        "/campaigns/screen?notice=withdrawn"
    );
    assert_eq!(
        redirect(&post(&api, "/campaigns/screen/amend", None, "ticket=1&void=yes").await),
        "/campaigns/screen?notice=voided"
    );
    let report = api.get("/v1/campaigns/screen/report").await.ok();
    let counts = ["told", "open", "failed", "voided", "withdrawn"].map(|key| report[key].as_u64().unwrap());
    assert_eq!(counts, [0, 0, 1, 1, 1]);
    assert_eq!(
        redirect(&post(&api, "/campaigns/screen/restore", None, "arm=arm+4").await),
        "/campaigns/screen?notice=restored"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_forms_say_why_on_the_page() {
    let place = Place::sqlite();
    let api = Api::new(&place).await;
    api.begin(20).await;
    for (action, form, status, words) in [
        ("tell", "ticket=9&reward=1", 422, "ticket 9"),
        ("tell", "ticket=1&reward=0%2C5", 422, "the reward must be a number with a decimal point, not `0,5`"),
        ("tell", "ticket=1&reward=", 422, "the reward is missing"),
        ("withdraw", "arm=none", 422, "there is no arm `none`"),
        ("budget", "budget=-1", 422, "the budget must be a whole number of at least 1, not `-1`"),
        ("ask", "count=0&worker=w&minutes=1", 422, "the number of measurements must be 1 to 10000, not 0"),
        ("ask", "count=1&worker=%07&minutes=1", 422, "the worker&#39;s name contains a control character"),
        ("ask", "count=1&worker=w&minutes=0", 422, "a lease must be above 0"),
        ("dance", "", 404, "there is nothing at this address"),
    ] {
        let answer = post(&api, &format!("/campaigns/screen/{action}"), None, form).await;
        assert_eq!(answer.status, status, "{action} {form}: {}", answer.text);
        assert!(answer.text.contains(words), "{action} {form}: {}", answer.text);
    }
    for (path, status) in [
        ("/campaigns/none", 404),
        ("/campaigns/screen/arms/6", 404),
        ("/campaigns/screen?sort=size", 422),
        ("/campaigns/screen?page=x", 200),
    ] {
        let answer = api.get(path).await;
        assert_eq!(answer.status, status, "{path}");
        assert_eq!(answer.headers["content-type"], "text/html; charset=utf-8", "{path}");
    }
    let events = api.get("/v1/campaigns/screen/events").await.ok();
    assert_eq!(events["events"].as_array().unwrap().len(), 0, "nothing was written");
}

#[tokio::test(flavor = "multi_thread")]
async fn administrators_change_add_rename_and_delete() {
    let place = Place::sqlite();
    let api = Api::new(&place).await;
    api.begin(20).await;
    let page = api.get("/campaigns/screen").await.text;
    for action in ["settings", "add", "rename", "delete"] {
        assert!(page.contains(&format!("action=\"/campaigns/screen/{action}\"")), "{action}");
    }
    let settings = "/campaigns/screen/settings";
    let all =
        "threshold=0.7&precision=+0.05&noise=0.2&confidence=0.9&until_sure=proved&guarantee=fdr&model=&algorithm=apt";
    assert_eq!(redirect(&post(&api, settings, None, all).await), "/campaigns/screen?notice=changed");
    let stored = api.get("/v1/campaigns/screen").await.ok()["settings"].clone();
    let found =
        ["threshold", "precision", "noise", "until_sure", "guarantee", "algorithm"].map(|key| stored[key].clone());
    assert_eq!(found, [json!(0.7), json!(0.05), json!(0.2), json!("proved"), json!("fdr"), json!("apt")]);
    assert!((stored["delta"].as_f64().unwrap() - 0.1).abs() < 1e-12, "{stored}");
    assert_eq!(redirect(&post(&api, settings, None, "threshold=0.7").await), "/campaigns/screen?notice=unchanged");
    assert_eq!(
        redirect(&post(&api, settings, None, "noise=estimated&until_sure=never&model=linear").await),
        "/campaigns/screen?notice=changed"
    );
    let stored = api.get("/v1/campaigns/screen").await.ok()["settings"].clone();
    assert_eq!(
        (&stored["noise"], &stored["until_sure"], &stored["estimator"]),
        (&json!(null), &json!(null), &json!("ridge"))
    );
    let now = api.get("/campaigns/screen").await.text;
    assert!(
        now.contains("<dt>Threshold τ</dt><dd>0.7</dd>") && now.contains("<dt>Ends early</dt><dd>never</dd>"),
        "{now}"
    );
    let add = "/campaigns/screen/add";
    let table = "table=y,name,x%0A0.5,new,3%0A";
    assert_eq!(redirect(&post(&api, add, None, table).await), "/campaigns/screen?notice=added");
    assert_eq!(redirect(&post(&api, add, None, table).await), "/campaigns/screen?notice=known");
    let comma = "table=y;label;x%0A0,5;newer;3,5%0A&id=label&decimal=,";
    assert_eq!(redirect(&post(&api, add, None, comma).await), "/campaigns/screen?notice=added");
    assert_eq!(api.get("/v1/campaigns/screen").await.ok()["overview"]["n_arms"], 8);
    for (path, form, status, words) in [
        (settings, "threshold=", 422, "no setting is filled in"),
        (settings, "threshold=much", 422, "the threshold must be a number with a decimal point, not `much`"),
        (settings, "noise=-1", 422, "notice failure"),
        (settings, "confidence=2", 422, "`confidence` must be a number above 0 and below 1"),
        (settings, "until_sure=soon", 422, "notice failure"),
        (add, "table=", 422, "the table is missing"),
        (add, "table=name,x%0Aq,1%0A", 422, "notice failure"),
        ("/campaigns/screen/rename", "name=+", 422, "the new name is missing"),
        ("/campaigns/screen/rename", "name=a%07b", 422, "cannot be a name"),
        ("/campaigns/screen/delete", "confirm=scree", 422, "so nothing was deleted"),
        ("/campaigns/none/delete", "confirm=none", 404, "there is no campaign `none`"),
    ] {
        let answer = post(&api, path, None, form).await;
        assert_eq!(answer.status, status, "{path} {form}: {}", answer.text);
        assert!(answer.text.contains(words), "{path} {form}: {}", answer.text);
    }
    let renamed = post(&api, "/campaigns/screen/rename", None, "name=b%2Fc+d").await;
    assert_eq!(redirect(&renamed), "/campaigns/b%2Fc%20d?notice=renamed");
    assert_eq!(redirect(&post(&api, "/campaigns/b%2Fc%20d/delete", None, "confirm=b%2Fc+d").await), "/?notice=deleted");
    assert!(api.get("/?notice=deleted").await.text.contains("The campaign was deleted."));
    assert_eq!(api.get("/v1/campaigns").await.ok()["total"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_campaign_is_looked_at_before_it_begins() {
    let place = Place::sqlite();
    let api = Api::new(&place).await;
    let form = |what: &str, table: &str| {
        format!("do={what}&name=solvents&threshold=0.5&budget=30&precision=&model=&table={table}")
    };
    let good = "name%2Cmass%0Aa%2C1%0Ab%2C2%0Ac%2C3%0A";
    let looked = post(&api, "/new", None, &form("look", good)).await;
    assert!(
        looked.status == 200 && looked.text.contains("3 arms") && looked.text.contains("With this budget"),
        "{}",
        looked.text
    );
    assert!(looked.text.contains("src=\"data:image/svg+xml,%3Csvg"), "the planner's curve");
    let bad = post(&api, "/new", None, &form("begin", "name%2Cmass%0Aa%2Cx%0Ab%2C2%0A")).await;
    assert!(bad.status == 422 && bad.text.contains("The table cannot be used as it is"), "{}", bad.text);
    assert_eq!(api.get("/v1/campaigns").await.ok()["total"], 0);
    assert_eq!(redirect(&post(&api, "/new", None, &form("begin", good)).await), "/campaigns/solvents?notice=begun");
    assert_eq!(api.get("/v1/campaigns/solvents").await.ok()["overview"]["n_arms"], 3);
    let again = post(&api, "/new", None, &form("begin", good)).await;
    assert!(
        again.status == 409 && again.text.contains("value=\"solvents\""),
        "what was filled in is still there: {}",
        again.text
    );
    let csv = [("content-type", "application/octet-stream"), ("origin", "http://localhost:8080")];
    let part = api.call(Method::POST, "/new/preview", &csv, "name,mass\na,1\na,1\n").await;
    assert!(part.status == 200 && part.text.contains("The table cannot be used"), "{}", part.text);
    let part = api.call(Method::POST, "/new/plan?threshold=1", &csv, "name,mass\na,1\nb,1\n").await;
    assert!(part.status == 200 && part.text.contains("enter a threshold and a budget"), "{}", part.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_script_listens_to_every_event() {
    let place = Place::sqlite();
    let api = Api::new(&place).await;
    let document = api.get("/openapi.json").await.ok();
    let about = &document["components"]["schemas"]["EventBody"]["properties"]["event"]["description"];
    let names: Vec<&str> = about.as_str().unwrap().split('`').skip(1).step_by(2).collect();
    assert!(names.len() >= 12 && names.contains(&"told"), "{names:?}");
    let script = api.get("/page.js").await.text;
    for name in names {
        assert!(script.contains(&format!("\"{name}\"")), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn browsers_and_programs_get_their_kind_of_refusal() {
    let place = Place::sqlite();
    let api = Api::new(&place).await;
    api.get("/nothing").await.refused(404, "not-found", "/docs");
    let page = api.call(Method::GET, "/nothing", &[("accept", "text/html,*/*")], "").await;
    assert!(page.status == 404 && page.text.contains("<h1>There is nothing at this address</h1>"), "{}", page.text);
}
