//! The documentation of the API as a page, made from the same document as `/openapi.json`.

use crate::problem::Problem;
use askama::Template;
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Template)]
#[template(path = "docs.html")]
struct Page {
    version: &'static str,
    description: Vec<String>,
    groups: Vec<(String, Vec<Operation>)>,
    schemas: Vec<Schema>,
    problems: Vec<(&'static str, &'static str, u16)>,
}

struct Operation {
    method: String,
    path: String,
    about: String,
    parameters: Vec<[String; 4]>,
    /// The types of a body, and their schemas.
    bodies: Vec<[String; 2]>,
    answers: Vec<[String; 2]>,
}

struct Schema {
    name: String,
    about: String,
    /// Name, type, and what it is for.
    fields: Vec<[String; 3]>,
}

/// The page about the API that a document describes.
pub(crate) fn docs_page(document: &utoipa::openapi::OpenApi) -> Result<String, askama::Error> {
    let document = serde_json::to_value(document).unwrap_or_default();
    let mut groups: BTreeMap<String, Vec<Operation>> = BTreeMap::new();
    for (path, item) in document["paths"].as_object().into_iter().flatten() {
        for (method, found) in item.as_object().into_iter().flatten() {
            let tag = text(&found["tags"][0]);
            groups.entry(tag).or_default().push(operation(method, path, found));
        }
    }
    let schemas = document["components"]["schemas"].as_object().into_iter().flatten();
    let page = Page {
        version: env!("CARGO_PKG_VERSION"),
        description: text(&document["info"]["description"]).split("\n\n").map(str::to_owned).collect(),
        groups: groups.into_iter().collect(),
        schemas: schemas.map(|(name, found)| schema(name, found, &document)).collect(),
        problems: problem_kinds(),
    };
    page.render()
}

/// The kinds of problems: name, title and status.
fn problem_kinds() -> Vec<(&'static str, &'static str, u16)> {
    let any = String::new;
    let all = [
        Problem::BadRequest(any()),
        Problem::NoToken,
        Problem::NotAllowed(any()),
        Problem::ForeignOrigin(""),
        Problem::NoCampaign(any()),
        Problem::NotFound(any()),
        Problem::Method,
        Problem::TooSlow,
        Problem::Conflict(any()),
        Problem::TooLarge(0),
        Problem::MediaType(any()),
        Problem::Refused(any()),
        Problem::OtherRequest,
        Problem::Busy,
        Problem::StoreFailed,
        Problem::ShuttingDown,
        Problem::Internal,
    ];
    all.iter().map(|problem| (problem.kind().0, problem.kind().1, problem.status().as_u16())).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().into()
}

fn operation(method: &str, path: &str, found: &Value) -> Operation {
    let parameters = found["parameters"].as_array().into_iter().flatten();
    let bodies = found["requestBody"]["content"].as_object().into_iter().flatten();
    let answers = found["responses"].as_object().into_iter().flatten();
    let of_answer = |(status, answer): (&String, &Value)| {
        let content = answer["content"].as_object().and_then(|content| content.iter().next());
        let body = content.map_or_else(String::new, |(kind, body)| match kind.as_str() {
            "application/json" | "application/problem+json" => kind_of(&body["schema"]),
            other => other.to_owned(),
        });
        [status.clone(), body]
    };
    let about = [text(&found["summary"]), text(&found["description"])];
    Operation {
        method: method.to_uppercase(),
        path: path.into(),
        about: about.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" "),
        parameters: parameters
            .map(|one| [text(&one["name"]), text(&one["in"]), kind_of(&one["schema"]), text(&one["description"])])
            .collect(),
        bodies: bodies.map(|(kind, body)| [kind.clone(), kind_of(&body["schema"])]).collect(),
        answers: answers.map(of_answer).collect(),
    }
}

fn schema(name: &str, found: &Value, document: &Value) -> Schema {
    // A flattened struct is a list of parts, some of them elsewhere in the document.
    let parts = found["allOf"].as_array().map_or_else(|| vec![found], |parts| parts.iter().collect());
    let there = |part: &Value| document.pointer(part["$ref"].as_str()?.trim_start_matches('#'));
    let parts: Vec<&Value> = parts.into_iter().map(|part| there(part).unwrap_or(part)).collect();
    let required = parts.iter().flat_map(|part| part["required"].as_array().into_iter().flatten());
    let required: Vec<&str> = required.filter_map(Value::as_str).collect();
    let fields = parts.iter().flat_map(|part| part["properties"].as_object().into_iter().flatten());
    let field = |(field, of): (&String, &Value)| {
        let optional = if required.contains(&field.as_str()) { "" } else { ", optional" };
        [field.clone(), format!("{}{optional}", kind_of(of)), text(&of["description"])]
    };
    Schema { name: name.into(), about: text(&found["description"]), fields: fields.map(field).collect() }
}

/// The type of a value in words.
fn kind_of(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str() {
        return name.rsplit('/').next().unwrap_or_default().into();
    }
    let either = ["oneOf", "anyOf", "allOf"].iter().find_map(|key| schema[key].as_array());
    if let Some(choices) = either {
        let choices: Vec<String> = choices.iter().map(kind_of).collect();
        return choices.join(" or ");
    }
    match &schema["type"] {
        Value::Array(kinds) => kinds.iter().map(text).collect::<Vec<_>>().join(" or "),
        Value::String(kind) if kind == "array" => format!("list of {}", kind_of(&schema["items"])),
        kind => text(kind),
    }
}
