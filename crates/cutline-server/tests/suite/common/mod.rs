//! Shared by the test suites: the real application on real stores, called without a socket.

#![allow(dead_code, reason = "each suite uses a part of it")]

#[path = "../../../../cutline-store/tests/common/mod.rs"]
mod stores;

pub use stores::{PATIENCE, Place};

use axum::body::Body;
use axum::http::{Method, Request, Response, StatusCode};
use cutline_server::{AppState, Limits, app, create_token};
use cutline_store::{Role, Store};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tower::ServiceExt;

/// Runs each test on SQLite and PostgreSQL.
macro_rules! on_stores {
    ($($test:ident),* $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread")] async fn $test() {
                super::$test($crate::common::Place::sqlite()).await;
            })*
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread")] async fn $test() {
                // The client of PostgreSQL waits, which a thread of the runtime must not.
                let place = tokio::task::spawn_blocking($crate::common::Place::postgres).await.unwrap();
                super::$test(place).await;
            })*
        }
    };
}

/// Waits for something that should happen soon.
pub async fn wait_for(what: &str, mut is_there: impl AsyncFnMut() -> bool) {
    let begun = Instant::now();
    while !is_there().await {
        assert!(begun.elapsed() < PATIENCE, "no {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A server, and who speaks to it.
#[derive(Clone)]
pub struct Api {
    pub state: AppState,
    router: axum::Router,
    token: Option<String>,
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: axum::http::HeaderMap,
    pub text: String,
}

impl Answer {
    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// The body of a success.
    #[track_caller]
    pub fn ok(&self) -> Value {
        assert!(self.status.is_success(), "{} {}", self.status, self.text);
        self.json()
    }

    /// The kind and the detail of the problem that the body is.
    #[track_caller]
    pub fn problem(&self) -> (u16, String, String) {
        assert_eq!(self.headers["content-type"], "application/problem+json", "{} {}", self.status, self.text);
        let problem = self.json();
        assert_eq!(problem["status"], self.status.as_u16());
        let text = |key: &str| problem[key].as_str().unwrap().to_owned();
        (self.status.as_u16(), text("type").replace("/docs#", ""), text("detail"))
    }

    /// Checks status and kind of a problem, and that the detail contains a text.
    #[track_caller]
    pub fn refused(&self, status: u16, kind: &str, detail: &str) {
        let found = self.problem();
        assert_eq!((found.0, found.1.as_str()), (status, kind), "{}", found.2);
        assert!(found.2.contains(detail), "{}", found.2);
    }
}

impl Api {
    /// A server of a single user.
    pub async fn new(place: &Place) -> Self {
        Self::with(place, Limits::default(), true).await
    }

    pub async fn with(place: &Place, limits: Limits, is_loopback: bool) -> Self {
        let address = place.address.clone();
        let state = tokio::task::spawn_blocking(move || {
            AppState::new(Store::create(&address).unwrap(), limits, is_loopback).unwrap()
        });
        let state = state.await.unwrap();
        Self { router: app(state.clone()), state, token: None }
    }

    /// The same with a new token.
    pub async fn token(&self, place: &Place, name: &str, role: Role, campaigns: Option<&[&str]>) -> Self {
        let (address, name) = (place.address.clone(), name.to_owned());
        let campaigns = campaigns.map(|names| names.iter().map(ToString::to_string).collect());
        let made = move || create_token(&Store::open(&address).unwrap(), &name, role, campaigns).unwrap();
        let token = Some(tokio::task::spawn_blocking(made).await.unwrap());
        Self { token, ..self.clone() }
    }

    pub fn with_secret(&self, secret: &str) -> Self {
        Self { token: Some(secret.into()), ..self.clone() }
    }

    pub fn secret(&self) -> &str {
        self.token.as_deref().unwrap()
    }

    /// The same client of another server.
    pub fn at(&self, server: Self) -> Self {
        Self { token: self.token.clone(), ..server }
    }

    pub async fn send(&self, request: Request<Body>) -> Response<Body> {
        self.router.clone().oneshot(request).await.unwrap()
    }

    /// A request with these headers, besides those that every client sends.
    pub async fn call(&self, method: Method, path: &str, headers: &[(&str, &str)], body: impl Into<Body>) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        if !headers.iter().any(|(name, _)| *name == "host") {
            request = request.header("host", "localhost:8080");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let (parts, body) = self.send(request.body(body.into()).unwrap()).await.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        Answer { status: parts.status, headers: parts.headers, text }
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.call(Method::GET, path, &[], Body::empty()).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.call(Method::DELETE, path, &[], Body::empty()).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.call(Method::POST, path, &[("content-type", "application/json")], body.to_string()).await
    }

    pub async fn patch(&self, path: &str, body: Value) -> Answer {
        self.call(Method::PATCH, path, &[("content-type", "application/json")], body.to_string()).await
    }

    /// A request that may be repeated.
    pub async fn post_with_key(&self, key: &str, path: &str, body: Value) -> Answer {
        let headers = [("content-type", "application/json"), ("idempotency-key", key)];
        self.call(Method::POST, path, &headers, body.to_string()).await
    }

    /// Begins the campaign `screen` with six arms and two features.
    pub async fn begin(&self, budget: u32) -> &Self {
        self.post("/v1/campaigns", screen("screen", budget)).await.ok();
        self
    }

    /// A number about the server.
    pub async fn state_metric(&self, name: &str) -> u64 {
        let metrics = self.get("/metrics").await.text;
        let line = metrics.lines().find(|line| line.starts_with(name)).unwrap();
        line.rsplit(' ').next().unwrap().parse().unwrap()
    }

    /// The tickets that a worker gets.
    pub async fn ask(&self, count: u32) -> Vec<u64> {
        let asked = self.post("/v1/campaigns/screen/asks", json!({"count": count, "worker": "w"})).await.ok();
        asked["tickets"].as_array().unwrap().iter().map(|ticket| ticket["ticket"].as_u64().unwrap()).collect()
    }
}

/// A new campaign with six arms and two features.
pub fn screen(name: &str, budget: u32) -> Value {
    let arm = |index: u32| {
        let x = f64::from(index);
        json!({"name": format!("arm {index}"), "features": [x, (x - 2.0).powi(2)]})
    };
    let arms: Vec<Value> = (0..6).map(arm).collect();
    json!({"name": name, "threshold": 0.5, "budget": budget, "columns": ["x", "y"], "arms": arms})
}
