//! Tools as clients see them, and how arguments become requests. Schemas of arguments come from the `OpenAPI` document.

use super::specs::{SPECS, Spec};
use crate::routes::escaped;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, header};
use cutline_store::Role;
use serde_json::{Map, Value, json};
use std::fmt::Write;
use tower::ServiceExt;

/// A tool with the schema of its arguments.
pub(super) struct Tool {
    spec: Spec,
    /// The arguments by name, with their schemas.
    arguments: Map<String, Value>,
    required: Vec<String>,
}

/// All tools, with schemas from the document.
pub(super) fn all(document: &Value) -> Vec<Tool> {
    SPECS.into_iter().map(|spec| Tool::new(spec, document)).collect()
}

/// What a parameter of a route is called as an argument.
fn argument_name(parameter: &str) -> &str {
    if parameter == "name" { "campaign" } else { parameter }
}

/// A schema without references.
fn resolved(schema: &Value, document: &Value) -> Value {
    match schema {
        Value::Object(object) => match object.get("$ref").and_then(Value::as_str) {
            Some(reference) => {
                let found = document.pointer(reference.trim_start_matches('#')).unwrap_or(&Value::Null);
                resolved(found, document)
            }
            None => object.iter().map(|(key, value)| (key.clone(), resolved(value, document))).collect(),
        },
        Value::Array(items) => items.iter().map(|item| resolved(item, document)).collect(),
        other => other.clone(),
    }
}

impl Tool {
    fn new(spec: Spec, document: &Value) -> Self {
        let route = &document["paths"][spec.path][spec.method.as_str().to_ascii_lowercase()];
        let (mut arguments, mut required) = (Map::new(), Vec::new());
        for parameter in route["parameters"].as_array().into_iter().flatten() {
            // A route with a body has its arguments there.
            let is_in_path = parameter["in"] == "path";
            let is_used = is_in_path || (spec.method == Method::GET && parameter["in"] == "query");
            let (Some(name), true) = (parameter["name"].as_str(), is_used) else { continue };
            let mut schema = resolved(&parameter["schema"], document);
            schema["description"] = parameter["description"].clone();
            arguments.insert(argument_name(name).into(), schema);
            required.extend(is_in_path.then(|| argument_name(name).to_owned()));
        }
        let body = resolved(&route["requestBody"]["content"]["application/json"]["schema"], document);
        if let Some(list) = spec.list {
            arguments.insert(list.into(), body);
            required.push(list.into());
        } else {
            // A flattened struct is a list of parts.
            let parts = body["allOf"].as_array().map_or_else(|| vec![&body], |parts| parts.iter().collect());
            for part in parts {
                arguments.extend(part["properties"].as_object().cloned().unwrap_or_default());
                let names = part["required"].as_array().into_iter().flatten();
                required.extend(names.filter_map(|name| Some(name.as_str()?.to_owned())));
            }
        }
        Self { spec, arguments, required }
    }

    pub(super) fn name(&self) -> &'static str {
        self.spec.name
    }

    pub(super) fn role(&self) -> Role {
        self.spec.role
    }

    /// How it is offered to clients.
    pub(super) fn description(&self) -> Value {
        let is_reading = self.spec.method == Method::GET;
        json!({
            "name": self.spec.name,
            "title": self.spec.title,
            "description": self.spec.description,
            "inputSchema": {
                "type": "object", "properties": self.arguments, "required": self.required, "additionalProperties": false
            },
            "annotations": {
                "title": self.spec.title, "readOnlyHint": is_reading, "destructiveHint": false, "openWorldHint": false
            },
        })
    }

    /// The request of a call; an error says what is wrong with its arguments.
    pub(super) fn request(&self, given: &Map<String, Value>) -> Result<Request<Body>, String> {
        if let Some(missing) = self.required.iter().find(|name| !given.contains_key(*name)) {
            return Err(format!("the argument `{missing}` is missing"));
        }
        if let Some(unknown) = given.keys().find(|name| !self.arguments.contains_key(*name)) {
            let known: Vec<&str> = self.arguments.keys().map(String::as_str).collect();
            return Err(format!("`{}` has no argument `{unknown}`; it takes {}", self.name(), known.join(", ")));
        }
        let mut rest = given.clone();
        let mut target = String::new();
        for part in self.spec.path.split_inclusive('}') {
            match part.strip_suffix('}').and_then(|part| part.split_once('{')) {
                Some((before, parameter)) => {
                    let argument = argument_name(parameter);
                    let value = single(argument, &rest.remove(argument).unwrap_or_default())?;
                    if value.is_empty() {
                        return Err(format!("`{argument}` is empty"));
                    }
                    target += before;
                    target += &escaped(&value).to_string();
                }
                None => target += part,
            }
        }
        let mut request = Request::builder().method(self.spec.method.clone());
        let body = if self.spec.method == Method::GET {
            let given = rest.iter().filter(|(_, value)| !value.is_null());
            for ((name, value), sign) in given.zip(std::iter::once('?').chain(std::iter::repeat('&'))) {
                write!(target, "{sign}{name}={}", escaped(&single(name, value)?))
                    .expect("writing to a text does not fail");
            }
            Body::empty()
        } else {
            request = request.header(header::CONTENT_TYPE, "application/json");
            let body = self.spec.list.map_or_else(|| Value::Object(rest.clone()), |list| rest[list].clone());
            Body::from(body.to_string())
        };
        request.uri(target).body(body).map_err(|error| format!("the arguments make no request: {error}"))
    }
}

/// An argument that goes into an address.
fn single(name: &str, value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
        _ => Err(format!("`{name}` must be a text, a number, true or false")),
    }
}

/// The answer of a route; an error says why there is none.
pub(super) async fn send(router: Router, request: Request<Body>) -> Result<Value, String> {
    let Ok(response) = router.oneshot(request).await;
    let (parts, body) = response.into_parts();
    let bytes = to_bytes(body, usize::MAX).await.map_err(|error| format!("the answer broke off: {error}"))?;
    let answer: Value = serde_json::from_slice(&bytes).map_err(|error| format!("the answer is not JSON: {error}"))?;
    if parts.status.is_success() {
        return Ok(answer);
    }
    Err(answer["detail"].as_str().map_or_else(|| parts.status.to_string(), str::to_owned))
}
