//! Random rules against a simple model, and random bytes against the proxy.

use std::sync::atomic::{AtomicUsize, Ordering};

use mxd_tools::proxy::{HostRules, Verdict};
use proptest::collection::vec;
use proptest::prelude::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::runtime::{Builder, Runtime};

use super::{Fixture, Origin, SITE, get, status};

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// A rule as its parts.
#[derive(Debug, Clone)]
struct Part {
    star: bool,
    labels: Vec<&'static str>,
    port: Option<u16>,
}

impl Part {
    fn text(&self) -> String {
        let star = if self.star { "*." } else { "" };
        let port = self.port.map(|port| format!(":{port}")).unwrap_or_default();
        format!("{star}{}{port}", self.labels.join("."))
    }

    /// The definition, said with labels from the end.
    fn names(&self, host: &[&str]) -> bool {
        let tail = host.iter().rev().zip(self.labels.iter().rev()).all(|(a, b)| a.eq_ignore_ascii_case(b));
        let longer = host.len() > self.labels.len();
        tail && (if self.star { longer } else { host.len() == self.labels.len() })
    }
}

fn labels() -> impl Strategy<Value = Vec<&'static str>> {
    vec(prop::sample::select(vec!["a", "A", "b", "ab", "com", "COM"]), 1..4)
}

fn part() -> impl Strategy<Value = Part> {
    let port = prop::option::of(prop::sample::select(vec![80_u16, 443, 8080]));
    (any::<bool>(), labels(), port).prop_map(|(star, labels, port)| Part { star, labels, port })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn rules_say_what_their_definition_says(
        allow in vec(part(), 0..4),
        deny in vec(part(), 0..3),
        host in labels(),
        port in prop::sample::select(vec![80_u16, 443, 8080, 22]),
        dot in any::<bool>(),
    ) {
        let denied = deny.iter().any(|rule| rule.names(&host) && rule.port.is_none_or(|p| p == port));
        let allowed = allow.iter().any(|rule| {
            rule.names(&host) && rule.port.map_or(port == 80 || port == 443, |p| p == port)
        });
        let rules = allow.iter().try_fold(HostRules::default(), |rules, rule| rules.allow(&rule.text())).unwrap();
        let rules = deny.iter().try_fold(rules, |rules, rule| rules.deny(&rule.text())).unwrap();
        let authority = format!("{}{}:{port}", host.join("."), if dot { "." } else { "" });
        let answer = runtime().block_on(async {
            Fixture::new(rules).await.ask(&get(&authority)).await
        });
        // What the rules allow cannot be found, because nobody knows its address.
        prop_assert_eq!(status(&answer), if allowed && !denied { 502 } else { 403 }, "{}", answer);
    }
}

static PANICS: AtomicUsize = AtomicUsize::new(0);

/// Counts panics, because those of a connection's task are seen by nobody else.
fn count_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        PANICS.fetch_add(1, Ordering::SeqCst);
        before(info);
    }));
}

/// Pieces of requests, so that randomness gets further than the first byte.
fn piece(site: String) -> impl Strategy<Value = Vec<u8>> {
    let words = [
        "GET ",
        "CONNECT ",
        "POST ",
        "http://",
        "https://",
        "/",
        " HTTP/1.1",
        " HTTP/1.0",
        "\r\n",
        "\r\n\r\n",
        "Host: ",
        "Content-Length: ",
        "Transfer-Encoding: chunked",
        "Connection: upgrade",
        "Upgrade: x",
        "5",
        "0",
        "@",
        ":",
        "[::1]",
        "*",
        "127.0.0.1",
        "\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ];
    let words: Vec<Vec<u8>> = words
        .iter()
        .map(|word| word.as_bytes().to_vec())
        .chain([site.clone().into_bytes(), get(&site).into_bytes()])
        .collect();
    prop_oneof![3 => prop::sample::select(words), 1 => vec(any::<u8>(), 0..20)]
}

async fn throw(fixture: &Fixture, pieces: &[Vec<u8>]) {
    let mut stream: UnixStream = fixture.connect().await;
    for piece in pieces {
        // It may have closed already.
        let _ = stream.write_all(piece).await;
    }
    let _ = stream.shutdown().await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    assert!(!answer.starts_with(b"HTTP/1.1 2"), "{}", String::from_utf8_lossy(&answer));
}

#[test]
fn random_bytes_open_no_connection_and_break_nothing() {
    count_panics();
    let runtime = runtime();
    let (origin, mut fixture) = runtime.block_on(async {
        let origin = Origin::hello().await;
        // Allowed is one host that no random piece names.
        let rules = HostRules::default().allow_private(&format!("{SITE}:{}", origin.port)).unwrap();
        (origin, Fixture::new(rules).await)
    });
    let canary = format!("127.0.0.1:{}", origin.port);
    let config = ProptestConfig::with_cases(500);
    proptest!(config, |(pieces in vec(piece(canary), 0..24))| {
        runtime.block_on(throw(&fixture, &pieces));
    });
    assert_eq!(PANICS.load(Ordering::SeqCst), 0);
    assert_eq!(origin.visitors(), 0);
    runtime.block_on(async {
        let answer = fixture.ask(&get(&format!("{SITE}:{}", origin.port))).await;
        assert_eq!(status(&answer), 200, "the proxy still serves");
        let allowed = loop {
            let visit = fixture.visit().await;
            if visit.verdict == Verdict::Allowed {
                break visit;
            }
        };
        assert_eq!(allowed.to.unwrap().to_string(), format!("{SITE}:{}", origin.port));
    });
}
