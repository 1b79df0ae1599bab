//! What agents do, told to a collector in the words of OpenTelemetry and its conventions for generative AI.
//!
//! Everything is derived from the durable events, so nothing else in the program knows of it. Without a collector none of
//! this exists. With one that is slow, or gone, spans are dropped and counted, and nobody waits.
//!
//! The wire is OTLP over HTTP in its JSON form, which is stable and small enough to be written here.

mod measure;
mod otlp;
mod send;
mod trace;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mxd_core::id::ProjectId;
use mxd_core::time::Millis;
use mxd_engine::config::TelemetrySettings;
use mxd_tools::secrets::Vault;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use self::trace::{Content, Span};
pub(crate) use self::trace::{Moment, Tracer};
use crate::{clock, limits};

/// The variables that every program with OpenTelemetry listens to.
const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";
const PROTOCOL: &str = "OTEL_EXPORTER_OTLP_PROTOCOL";
const DISABLED: &str = "OTEL_SDK_DISABLED";

/// Who is told what agents do.
#[derive(Clone)]
pub struct Collector {
    traces: Url,
    metrics: Url,
    headers: HeaderMap,
    content: Content,
}

impl fmt::Debug for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collector").field("traces", &self.traces.as_str()).finish_non_exhaustive()
    }
}

/// Why nobody is told although somebody was named.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CollectorError {
    /// The address cannot be used.
    #[error("the address of the collector, in {source_name}, is none with http:// or https://")]
    Address {
        /// Where it stands.
        source_name: &'static str,
    },
    /// Another protocol is asked for.
    #[error("{PROTOCOL} asks for a protocol that is not spoken here")]
    Protocol,
    /// The headers cannot be used.
    #[error("{HEADERS} is no list of name=value")]
    Headers,
}

impl CollectorError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Address { .. } => "Write an address such as http://127.0.0.1:4318.",
            Self::Protocol => {
                "Set it to http/json, and the address to the one for HTTP, which usually has port 4318."
            }
            Self::Headers => "Write it such as authorization=Bearer%20abc,tenant=mine.",
        }
    }
}

impl Collector {
    /// The collector of the settings, or of the variables that every program listens to; none when neither names one.
    /// What stands in the headers is made known to the vault.
    ///
    /// # Errors
    ///
    /// When one is named that cannot be told anything.
    pub fn find(
        settings: &TelemetrySettings,
        variable: impl Fn(&str) -> Option<String>,
        vault: &Vault,
    ) -> Result<Option<Self>, CollectorError> {
        let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        if set(DISABLED).is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        let named = settings.endpoint.clone().map(|endpoint| (endpoint, "telemetry.endpoint"));
        let Some((endpoint, source_name)) = named.or_else(|| set(ENDPOINT).map(|value| (value, ENDPOINT)))
        else {
            return Ok(None);
        };
        if set(PROTOCOL).is_some_and(|protocol| !protocol.starts_with("http/")) {
            return Err(CollectorError::Protocol);
        }
        let at = |path: &str| {
            let url = Url::parse(&format!("{}/{path}", endpoint.trim_end_matches('/'))).ok();
            url.filter(|url| matches!(url.scheme(), "http" | "https"))
                .ok_or(CollectorError::Address { source_name })
        };
        let headers = headers(&set(HEADERS).unwrap_or_default(), vault)?;
        let content = if settings.content { Content::Told } else { Content::Withheld };
        Ok(Some(Self { traces: at("v1/traces")?, metrics: at("v1/metrics")?, headers, content }))
    }
}

/// Headers as the variable has them: `name=value`, separated by commas, values percent-encoded.
fn headers(text: &str, vault: &Vault) -> Result<HeaderMap, CollectorError> {
    let mut headers = HeaderMap::new();
    for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').ok_or(CollectorError::Headers)?;
        let value = percent_decoded(value.trim());
        vault.learn(&value);
        let name: HeaderName = name.trim().parse().map_err(|_| CollectorError::Headers)?;
        let mut value = HeaderValue::from_str(&value).map_err(|_| CollectorError::Headers)?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

fn percent_decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((&first, after)) = rest.split_first() {
        let pair = after.get(..2).and_then(|pair| str::from_utf8(pair).ok());
        match pair.and_then(|pair| u8::from_str_radix(pair, 16).ok()).filter(|_| first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What became of the spans so far.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) sent: AtomicU64,
    pub(crate) dropped: AtomicU64,
}

/// The way to the collector. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Telemetry {
    queue: mpsc::Sender<Span>,
    counts: Arc<Counts>,
    content: Content,
    since: Millis,
}

/// Who carries it there.
#[derive(Debug)]
pub(crate) struct Carrier {
    end: CancellationToken,
    work: JoinHandle<()>,
}

impl Telemetry {
    /// Begins to tell a collector. None when no connection could ever be made.
    pub(crate) fn begin(collector: Collector) -> Option<(Self, Carrier)> {
        let (queue, waiting) = mpsc::channel(limits::SPANS);
        let (counts, since, content) = (Arc::new(Counts::default()), clock::now(), collector.content);
        let end = CancellationToken::new();
        let sender = send::Sender::new(collector, Arc::clone(&counts), since)?;
        let work = tokio::spawn(sender.run(waiting, end.clone()));
        Some((Self { queue, counts, content, since }, Carrier { end, work }))
    }

    /// Watches a project.
    pub(crate) fn tracer(&self, project: ProjectId) -> Tracer {
        Tracer::new(project, self.content)
    }

    /// Tells of a span, unless it ended before this daemon began, or too many wait already.
    pub(crate) fn tell(&self, span: Span) {
        if span.end >= self.since && self.queue.try_send(span).is_err() {
            self.counts.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn counts(&self) -> &Counts {
        &self.counts
    }
}

impl Carrier {
    /// Tells what is waiting, within a moment, and ends.
    pub(crate) async fn end(self) {
        self.end.cancel();
        // Whoever is slow now is not waited for.
        let _late = tokio::time::timeout(limits::TELEMETRY_FAREWELL, self.work).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(endpoint: Option<&str>, variables: &[(&str, &str)]) -> Result<Option<Collector>, CollectorError> {
        let settings = TelemetrySettings { endpoint: endpoint.map(str::to_owned), content: false };
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        Collector::find(&settings, variable, &Vault::default())
    }

    #[test]
    fn a_collector_is_found_in_the_settings_or_in_the_environment_or_not_at_all() {
        assert!(find(None, &[]).unwrap().is_none());
        assert!(find(Some("http://a"), &[(DISABLED, "TRUE")]).unwrap().is_none());
        let named = find(Some("http://a:4318/"), &[(ENDPOINT, "http://b")]).unwrap().unwrap();
        assert_eq!(named.traces.as_str(), "http://a:4318/v1/traces");
        let found = find(None, &[(ENDPOINT, "https://b/otlp"), (HEADERS, "authorization=Bearer%20x, t=1")]);
        let found = found.unwrap().unwrap();
        assert_eq!(found.metrics.as_str(), "https://b/otlp/v1/metrics");
        assert_eq!(
            (&found.headers["authorization"], &found.headers["t"]),
            (&"Bearer x".parse().unwrap(), &"1".parse().unwrap())
        );
    }

    #[test]
    fn one_that_cannot_be_told_anything_is_an_error() {
        let wrong = |variables: &[(&str, &str)]| find(None, variables).unwrap_err();
        assert_eq!(wrong(&[(ENDPOINT, "localhost:4317")]), CollectorError::Address { source_name: ENDPOINT });
        assert_eq!(wrong(&[(ENDPOINT, "http://a"), (PROTOCOL, "grpc")]), CollectorError::Protocol);
        assert_eq!(wrong(&[(ENDPOINT, "http://a"), (HEADERS, "nothing")]), CollectorError::Headers);
    }

    #[test]
    fn credentials_of_the_headers_are_known_as_such() {
        let vault = Vault::default();
        let settings = TelemetrySettings { endpoint: Some("http://a".to_owned()), content: false };
        let variable = |name: &str| (name == HEADERS).then(|| "key=very%2Dsecret".to_owned());
        Collector::find(&settings, variable, &vault).unwrap().unwrap();
        assert_eq!(vault.redact("it is very-secret"), "it is [redacted]");
    }
}
