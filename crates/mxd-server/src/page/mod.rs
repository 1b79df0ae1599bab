//! The page, built into the program; and what is nowhere.
//!
//! The state of the page is its URL, so everything below `/ui/` is the same file. What it is made of is below `/web/`.

use std::sync::LazyLock;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use sha2::{Digest as _, Sha256};

use crate::app::fixed;
use crate::fault::Fault;

/// A file of the page.
#[derive(Debug)]
struct Asset {
    name: &'static str,
    bytes: &'static [u8],
    gzip: Option<&'static [u8]>,
    brotli: Option<&'static [u8]>,
}

/// The files, by name; none when the program was built without them.
const ASSETS: &[Asset] = include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// What is shown where no page was built in.
const INSTEAD: Asset =
    Asset { name: "index.html", bytes: include_bytes!("instead.html"), gzip: None, brotli: None };

/// What tells one version of each file from the next, in the same order.
static TAGS: LazyLock<Vec<String>> = LazyLock::new(|| ASSETS.iter().map(tag).collect());

fn tag(asset: &Asset) -> String {
    format!("\"{}\"", hex::encode(&Sha256::digest(asset.bytes)[..16]))
}

/// Answers what no route answers.
pub(crate) async fn answer(request: Request) -> Response {
    let path = request.uri().path();
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return nothing();
    }
    let name = match path {
        "/" | "/ui" => "index.html",
        path if path.starts_with("/ui/") => "index.html",
        path => match path.strip_prefix("/web/") {
            Some(name) => name,
            None => return nothing(),
        },
    };
    let place = ASSETS.iter().position(|asset| asset.name == name);
    match place.and_then(|place| Some((ASSETS.get(place)?, TAGS.get(place)?.as_str()))) {
        Some((asset, tag)) => give(asset, tag, request.headers()),
        None if name == INSTEAD.name => give(&INSTEAD, &tag(&INSTEAD), request.headers()),
        None => nothing(),
    }
}

/// Answers a method that a route does not have.
pub(crate) async fn wrong_method() -> Fault {
    Fault::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", "this path has no such method")
        .hint("/openapi.json lists what there is.")
}

fn nothing() -> Response {
    Fault::not_found("no_such_route", "there is nothing at this path")
        .hint("/openapi.json lists what there is.")
        .into_response()
}

fn give(asset: &Asset, tag: &str, asked: &HeaderMap) -> Response {
    let known = asked.get(header::IF_NONE_MATCH).and_then(|known| known.to_str().ok()).unwrap_or_default();
    let accepted =
        asked.get(header::ACCEPT_ENCODING).and_then(|known| known.to_str().ok()).unwrap_or_default();
    let takes = |name: &str| {
        accepted.split(',').any(|each| each.split(';').next().is_some_and(|each| each.trim() == name))
    };
    let (bytes, coding) = match (asset.brotli, asset.gzip) {
        (Some(bytes), _) if takes("br") => (bytes, Some("br")),
        (_, Some(bytes)) if takes("gzip") => (bytes, Some("gzip")),
        _ => (asset.bytes, None),
    };
    let is_known = known.split(',').any(|each| each.trim().trim_start_matches("W/") == tag);
    let mut response = Response::new(if is_known { Body::empty() } else { Body::from(bytes) });
    if is_known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, fixed(media_type(asset.name)));
    headers.insert(header::VARY, fixed("accept-encoding"));
    headers.extend(HeaderValue::from_str(tag).ok().map(|tag| (header::ETAG, tag)));
    if let Some(coding) = coding {
        headers.insert(header::CONTENT_ENCODING, fixed(coding));
    }
    // Files below `assets/` have their hash in their name; everything else is asked about each time.
    let keep =
        if asset.name.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" };
    headers.insert(header::CACHE_CONTROL, fixed(keep));
    response
}

fn media_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("json") => "application/json",
        Some("webmanifest") => "application/manifest+json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("webp") => "image/webp",
        Some("woff2") => "font/woff2",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRIPT: Asset = Asset { name: "assets/a.js", bytes: b"long", gzip: Some(b"g"), brotli: Some(b"b") };

    fn asked(headers: &[(&'static str, &'static str)]) -> Response {
        let headers = headers
            .iter()
            .map(|(name, value)| (header::HeaderName::from_static(name), HeaderValue::from_static(value)));
        give(&SCRIPT, "\"tag\"", &headers.collect())
    }

    #[test]
    fn the_smallest_form_that_is_understood_is_given() {
        let coding = |accepted: &'static str| {
            asked(&[("accept-encoding", accepted)]).headers().get(header::CONTENT_ENCODING).cloned()
        };
        assert_eq!(coding("gzip, br;q=0.5"), Some(HeaderValue::from_static("br")));
        assert_eq!(coding("gzip"), Some(HeaderValue::from_static("gzip")));
        assert_eq!(coding("brot"), None);
    }

    #[test]
    fn what_is_known_is_not_sent_again() {
        assert_eq!(asked(&[("if-none-match", "\"other\", W/\"tag\"")]).status(), StatusCode::NOT_MODIFIED);
        assert_eq!(asked(&[("if-none-match", "\"other\"")]).status(), StatusCode::OK);
    }
}
