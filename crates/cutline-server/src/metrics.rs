//! Numbers about the server, in the text format of Prometheus.

use axum::http::{Method, StatusCode};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The upper ends of the intervals in which durations are counted, in seconds.
const BUCKETS: [f64; 9] = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0];

/// A method, a route such as `/v1/campaigns/{name}`, and a status code.
type Series = (String, String, u16);

/// Counts since the server began.
#[derive(Default)]
pub(crate) struct Metrics {
    requests: Mutex<BTreeMap<Series, u64>>,
    durations: [AtomicU64; BUCKETS.len()],
    n_durations: AtomicU64,
    /// In microseconds.
    total_duration: AtomicU64,
    pub(crate) tickets: AtomicU64,
    pub(crate) rewards: AtomicU64,
    pub(crate) streams: AtomicU64,
    pub(crate) connections: AtomicU64,
}

impl Metrics {
    /// Counts a request to a route.
    pub(crate) fn count(&self, method: &Method, route: Option<&str>, status: StatusCode, duration: Duration) {
        let series = (method.to_string(), route.unwrap_or("unknown").to_owned(), status.as_u16());
        *self.requests.lock().unwrap_or_else(PoisonError::into_inner).entry(series).or_default() += 1;
        let seconds = duration.as_secs_f64();
        for (bucket, end) in self.durations.iter().zip(BUCKETS) {
            if seconds <= end {
                bucket.fetch_add(1, Ordering::Relaxed);
            }
        }
        self.n_durations.fetch_add(1, Ordering::Relaxed);
        let microseconds = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        self.total_duration.fetch_add(microseconds, Ordering::Relaxed);
    }

    /// All numbers as text, with the number of open campaigns.
    pub(crate) fn text(&self, n_open: usize) -> String {
        let mut text = String::new();
        let mut write =
            |line: std::fmt::Arguments<'_>| writeln!(text, "{line}").expect("writing to a string does not fail");
        write(format_args!("# HELP cutline_http_requests_total Requests by method, route and status code."));
        write(format_args!("# TYPE cutline_http_requests_total counter"));
        for ((method, route, status), count) in &*self.requests.lock().unwrap_or_else(PoisonError::into_inner) {
            write(format_args!(
                "cutline_http_requests_total{{method=\"{method}\",route=\"{route}\",status=\"{status}\"}} {count}"
            ));
        }
        write(format_args!("# HELP cutline_http_request_seconds Time until the answer begins."));
        write(format_args!("# TYPE cutline_http_request_seconds histogram"));
        for (bucket, end) in self.durations.iter().zip(BUCKETS) {
            let count = bucket.load(Ordering::Relaxed);
            write(format_args!("cutline_http_request_seconds_bucket{{le=\"{end}\"}} {count}"));
        }
        let n_durations = self.n_durations.load(Ordering::Relaxed);
        let total = Duration::from_micros(self.total_duration.load(Ordering::Relaxed)).as_secs_f64();
        write(format_args!("cutline_http_request_seconds_bucket{{le=\"+Inf\"}} {n_durations}"));
        write(format_args!("cutline_http_request_seconds_sum {total}"));
        write(format_args!("cutline_http_request_seconds_count {n_durations}"));
        let numbers = [
            ("cutline_tickets_total", "counter", "Tickets that were handed out.", self.tickets.load(Ordering::Relaxed)),
            ("cutline_rewards_total", "counter", "Rewards that were recorded.", self.rewards.load(Ordering::Relaxed)),
            ("cutline_open_campaigns", "gauge", "Campaigns that are kept open.", n_open as u64),
            ("cutline_streams", "gauge", "Streams of events.", self.streams.load(Ordering::Relaxed)),
            ("cutline_connections", "gauge", "Open connections.", self.connections.load(Ordering::Relaxed)),
        ];
        for (name, kind, help, value) in numbers {
            write(format_args!("# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_route() {
        let metrics = Metrics::default();
        for milliseconds in [2, 700] {
            metrics.count(
                &Method::GET,
                Some("/v1/campaigns/{name}"),
                StatusCode::OK,
                Duration::from_millis(milliseconds),
            );
        }
        let text = metrics.text(3);
        let has = |line: &str| assert!(text.lines().any(|found| found == line), "{line} in {text}");
        has("cutline_http_requests_total{method=\"GET\",route=\"/v1/campaigns/{name}\",status=\"200\"} 2");
        has("cutline_http_request_seconds_bucket{le=\"0.005\"} 1");
        has("cutline_http_request_seconds_bucket{le=\"1\"} 2");
        has("cutline_http_request_seconds_sum 0.702");
        has("cutline_open_campaigns 3");
    }
}
