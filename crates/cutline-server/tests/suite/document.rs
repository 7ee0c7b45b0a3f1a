//! The document about the API, and the page made from it.

use crate::common::{Api, Place};
use serde_json::Value;

/// All references in a document.
fn references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                match value {
                    Value::String(target) if key == "$ref" => found.push(target.clone()),
                    value => references(value, found),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| references(value, found)),
        _ => (),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_document_is_complete() {
    let api = Api::new(&Place::sqlite()).await;
    let document = api.get("/openapi.json").await.ok();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"), "{}", document["openapi"]);
    let mut found = Vec::new();
    references(&document, &mut found);
    assert!(found.len() > 50);
    for reference in found {
        let target = document.pointer(reference.strip_prefix('#').unwrap());
        assert!(target.is_some(), "{reference} leads nowhere");
    }
    let paths = document["paths"].as_object().unwrap();
    assert!(paths.len() >= 20);
    let page = api.get("/docs").await.text;
    for (path, item) in paths {
        for (method, operation) in item.as_object().unwrap() {
            let heading = format!("<code>{} {path}</code>", method.to_uppercase());
            assert!(page.contains(&heading), "{heading}");
            let about = [&operation["summary"], &operation["description"]];
            assert!(about.iter().any(|about| about.as_str().is_some_and(|about| about.len() > 10)), "{heading}");
            let refusal = &operation["responses"]["4XX"]["content"]["application/problem+json"];
            assert!(refusal.is_object() || path == "/healthz", "{heading}");
        }
    }
    let refused = api.get("/v1/campaigns/none").await;
    let kind = refused.problem().1;
    assert!(page.contains(&format!("id=\"{kind}\"")), "problems are described on the page");
    assert!(!page.contains("<script") && !page.contains("http://") && !page.contains("//cdn"));
    assert_eq!(api.get("/docs.css").await.headers["content-type"], "text/css");
}
