//! The script, the styles and the icon: parts of the program, so that no page needs anything from elsewhere.

use crate::state::AppState;
use axum::Router;
use axum::http::header;
use axum::routing::get;

/// The addresses have the version in them, so that browsers may keep the files.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(super) fn router() -> Router<AppState> {
    let file = |kind: &'static str, text: &'static str| {
        // Two builds may have one version, so browsers ask again from time to time.
        get(move || async move { ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "max-age=60")], text) })
    };
    Router::new()
        .route("/page.css", file("text/css; charset=utf-8", include_str!("../../templates/page/page.css")))
        .route("/page.js", file("text/javascript; charset=utf-8", include_str!("../../templates/page/page.js")))
        .route("/icon.svg", file("image/svg+xml", include_str!("../../templates/page/icon.svg")))
}
