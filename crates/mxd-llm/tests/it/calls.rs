//! Calls over HTTP: what goes out, what is retried, what is told.

use std::time::Duration;

use futures_util::StreamExt;
use mxd_core::prompt::CacheTtl;
use mxd_llm::{
    Backoff, Breaker, BreakerSettings, Chunk, Class, EncodedRequest, Hints, LlmError, Provider,
    ProviderConfig, ResponseDecoder, Stop, Timeouts, Wire,
};
use secrecy::SecretString;
use tokio_util::sync::CancellationToken;

use crate::fixtures::{conversations, stream, streams};
use crate::server::{Seen, Server, Step, answer, streaming};

pub(crate) const KEY: &str = "sk-very-secret-0123456789";

/// A configuration for this server that waits for nothing.
pub(crate) fn config(wire: Wire, server: &Server) -> ProviderConfig {
    ProviderConfig {
        base_url: server.url().to_owned(),
        backoff: Backoff {
            attempts: 4,
            base: Duration::from_micros(10),
            cap: Duration::from_micros(100),
            longest_retry_after: Duration::from_secs(1),
        },
        roll: || 0.5,
        ..ProviderConfig::new(wire, Some(SecretString::from(KEY)))
    }
}

pub(crate) fn request(wire: Wire) -> EncodedRequest {
    let (_, request) = conversations().into_iter().find(|(name, _)| name == "hello").unwrap();
    EncodedRequest::new(wire, &request).unwrap()
}

/// Everything a call gives.
pub(crate) async fn collect(config: ProviderConfig) -> (Vec<Chunk>, Option<LlmError>) {
    let wire = config.wire;
    let provider = Provider::new(config).unwrap();
    let mut answer = provider.stream(request(wire), CancellationToken::new());
    let (mut chunks, mut error) = (Vec::new(), None);
    while let Some(chunk) = answer.next().await {
        assert_eq!(error, None, "something came after an error");
        match chunk {
            Ok(chunk) => chunks.push(chunk),
            Err(failed) => error = Some(failed),
        }
    }
    (chunks, error)
}

fn retried(chunks: &[Chunk]) -> Vec<(u32, Class)> {
    let classes = chunks.iter().filter_map(|chunk| match chunk {
        Chunk::Retrying(retrying) => Some((retrying.attempt, retrying.error.class)),
        _ => None,
    });
    classes.collect()
}

#[tokio::test]
async fn every_stream_comes_through_http_as_it_is_decoded() {
    for (wire, name, bytes) in streams() {
        let server = Server::start(vec![vec![streaming(), Step::Pieces(bytes.clone(), 37)]]).await;
        let mut one_attempt = config(wire, &server);
        one_attempt.backoff.attempts = 1;
        let (chunks, error) = collect(one_attempt).await;
        let mut expected = Vec::new();
        // The roll of the tests is known, and so is the salt that the provider makes of it.
        let hints = Hints { salt: (0.5_f64.to_bits() >> 4) ^ 1, ttl: CacheTtl::FiveMinutes };
        let mut decoder = ResponseDecoder::new(wire, hints);
        let failed = decoder.push(&bytes, &mut expected).and_then(|()| decoder.finish(&mut expected)).err();
        let error = error.map(|error| LlmError { answered_bytes: None, ..error });
        assert_eq!(error, failed, "{wire}/{name}");
        assert_eq!(chunks, expected, "{wire}/{name}");
    }
}

#[tokio::test]
async fn each_wire_asks_at_its_place_with_its_key() {
    let places = [
        (Wire::Anthropic, "post /prefix/v1/messages http/1.1", format!("x-api-key: {KEY}")),
        (Wire::Responses, "post /prefix/responses http/1.1", format!("authorization: bearer {KEY}")),
        (Wire::Chat, "post /prefix/chat/completions http/1.1", format!("authorization: bearer {KEY}")),
    ];
    for (wire, line, key) in places {
        let mut server = Server::start(vec![vec![streaming(), Step::Send(stream(wire, "text"))]]).await;
        let mut config = config(wire, &server);
        config.base_url = format!("{}/prefix/", server.url());
        let (chunks, error) = collect(config).await;
        assert_eq!(error, None, "{wire}");
        assert!(matches!(chunks.last(), Some(Chunk::End { stop: Stop::EndTurn, .. })), "{wire}");
        let (head, body) = server.request().await;
        assert!(head.starts_with(line), "{head}");
        assert!(head.contains(&key), "{head}");
        assert_eq!(head.contains("anthropic-version: 2023-06-01"), wire == Wire::Anthropic, "{head}");
        assert_eq!(body.as_bytes(), request(wire).body);
    }
}

#[tokio::test]
async fn a_token_of_a_subscription_goes_as_a_bearer_and_not_as_a_key() {
    let mut server =
        Server::start(vec![vec![streaming(), Step::Send(stream(Wire::Anthropic, "text"))]]).await;
    let mut config = config(Wire::Anthropic, &server);
    config.is_bearer = true;
    let (_, error) = collect(config).await;
    assert_eq!(error, None);
    let (head, _) = server.request().await;
    assert!(head.contains(&format!("authorization: bearer {KEY}")), "{head}");
    assert!(head.contains("anthropic-beta: oauth-2025-04-20"), "{head}");
    assert!(!head.contains("x-api-key"), "{head}");
}

#[tokio::test]
async fn what_can_pass_is_asked_again_and_told() {
    let overloaded = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    let scripts = vec![
        answer(529, "", overloaded),
        answer(429, "retry-after-ms: 0\r\n", "{}"),
        vec![streaming(), Step::Send(stream(Wire::Anthropic, "error"))],
        vec![streaming(), Step::Send(stream(Wire::Anthropic, "text"))],
    ];
    let mut server = Server::start(scripts).await;
    let (chunks, error) = collect(config(Wire::Anthropic, &server)).await;
    assert_eq!(error, None);
    assert_eq!(retried(&chunks), [(1, Class::Overloaded), (2, Class::RateLimit), (3, Class::Overloaded)]);
    assert!(matches!(chunks.last(), Some(Chunk::End { stop: Stop::EndTurn, .. })));
    assert_eq!(server.requests(), 4);
    let (first, _) = (server.request().await, server.request().await);
    assert_eq!(server.request().await.1, first.1, "every attempt asks the same");
}

/// What the failed attempts of a call had been answered, in bytes.
async fn answered(wire: Wire, script: Vec<Step>) -> Vec<Option<u64>> {
    let server = Server::start(vec![script]).await;
    let (chunks, error) = collect(config(wire, &server)).await;
    let retried = chunks.iter().filter_map(|chunk| match chunk {
        Chunk::Retrying(retrying) => Some(retrying.error.answered_bytes),
        _ => None,
    });
    retried.chain(error.map(|error| error.answered_bytes)).collect()
}

#[tokio::test]
async fn only_what_was_not_answered_at_all_is_known_to_cost_nothing() {
    let overloaded = b"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"no\"}}\n\n";
    for wire in Wire::ALL {
        assert_eq!(answered(wire, answer(529, "", "{}")).await, [None; 4], "{wire}: refused");
        assert_eq!(answered(wire, vec![streaming()]).await, [Some(0); 4], "{wire}: cut at once");
        let json = answer(200, "content-type: application/json\r\n", "{}");
        assert_eq!(answered(wire, json).await, [Some(0); 4], "{wire}: not streamed");
        let garbage = vec![streaming(), Step::Send(b"data: {\n\n".to_vec())];
        assert_eq!(answered(wire, garbage).await, [Some(0); 4], "{wire}: garbage");
    }
    let refused = vec![streaming(), Step::Send(overloaded.to_vec())];
    assert_eq!(answered(Wire::Anthropic, refused).await, [None; 4], "refused in a stream");
}

#[tokio::test]
async fn what_had_come_of_a_cut_answer_is_counted() {
    for wire in [Wire::Anthropic, Wire::Chat] {
        let cut = vec![streaming(), Step::Send(stream(wire, "cut"))];
        let bytes = answered(wire, cut).await;
        assert!(
            bytes.len() == 4 && bytes.iter().all(|bytes| bytes.is_some_and(|bytes| bytes > 0)),
            "{bytes:?}"
        );
    }
}

#[tokio::test]
async fn attempts_are_counted() {
    // A chunked body that is cut off: the connection fails, not only the answer.
    let cut = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n5\r\ndata:\r\n";
    let server = Server::start(vec![vec![Step::Send(cut.to_vec())]]).await;
    let (chunks, error) = collect(config(Wire::Chat, &server)).await;
    assert_eq!(error.unwrap().class, Class::Network);
    assert_eq!(retried(&chunks).len(), 3);
    assert_eq!(server.requests(), 4);
}

#[tokio::test]
async fn what_cannot_pass_is_told_at_once() {
    let quota = r#"{"error":{"message":"You exceeded your quota","type":"insufficient_quota","code":"insufficient_quota"}}"#;
    let long =
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 > 8"}}"#;
    let invalid = r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages: no"}}"#;
    let cases = [
        (400, invalid, Class::Invalid),
        (400, long, Class::ContextTooLong),
        (401, "{}", Class::Auth),
        (402, "{}", Class::Quota),
        (403, "no", Class::Permission),
        (404, r#"{"error":"no such model"}"#, Class::NotFound),
        (413, "", Class::TooLarge),
        (418, "teapot", Class::Invalid),
        (429, quota, Class::Quota),
        (302, "", Class::Invalid),
    ];
    for (status, body, class) in cases {
        let headers = "request-id: req_7\r\nlocation: /elsewhere\r\n";
        let server = Server::start(vec![answer(status, headers, body)]).await;
        let (chunks, error) = collect(config(Wire::Responses, &server)).await;
        let error = error.unwrap();
        assert_eq!((error.class, error.status), (class, Some(status)), "{error}");
        assert_eq!(error.request_id.as_deref(), Some("req_7"));
        assert!(!error.hint().is_empty());
        assert_eq!((chunks, server.requests()), (vec![], 1), "{status}");
    }
}

#[tokio::test]
async fn statuses_that_can_pass_are_retried() {
    let cases = [
        (408, Class::Timeout),
        (429, Class::RateLimit),
        (500, Class::Server),
        (502, Class::Server),
        (503, Class::Overloaded),
        (504, Class::Timeout),
        (529, Class::Overloaded),
    ];
    for (status, class) in cases {
        let good = vec![streaming(), Step::Send(stream(Wire::Chat, "text"))];
        let server = Server::start(vec![answer(status, "", "<html>"), good]).await;
        let (chunks, error) = collect(config(Wire::Chat, &server)).await;
        assert_eq!((retried(&chunks), error), (vec![(1, class)], None), "{status}");
    }
}

#[tokio::test]
async fn a_server_that_asks_for_too_much_patience_is_an_error() {
    let server = Server::start(vec![answer(429, "retry-after: 3600\r\n", "{}")]).await;
    let (_, error) = collect(config(Wire::Chat, &server)).await;
    let error = error.unwrap();
    assert_eq!((error.class, error.retry_after), (Class::RateLimit, Some(Duration::from_secs(3_600))));
    assert_eq!(server.requests(), 1);
}

#[test]
fn waits_double_are_spread_and_never_undercut_the_server() {
    let backoff = Backoff::default();
    let error = LlmError::new(Class::Overloaded, "x");
    let delays: Vec<_> =
        (1..8).map(|attempt| backoff.delay(attempt, &error, 1.0).unwrap().as_secs()).collect();
    assert_eq!(delays, [1, 2, 4, 8, 16, 32, 60]);
    assert_eq!(backoff.delay(3, &error, 0.0), Some(Duration::from_secs(2)));
    assert_eq!(backoff.delay(8, &error, 0.0), None);
    assert_eq!(backoff.delay(1, &LlmError::new(Class::Auth, "x"), 0.0), None);
    let asked = LlmError { retry_after: Some(Duration::from_secs(40)), ..error };
    assert_eq!(backoff.delay(1, &asked, 0.0), Some(Duration::from_secs(40)));
    assert_eq!(backoff.delay(1, &asked, 0.5), Some(Duration::from_millis(40_500)));
}

#[tokio::test]
async fn silence_before_and_within_an_answer_ends_it() {
    let tiny = Duration::from_millis(200);
    let long = Duration::from_secs(600);
    let begun = Step::Send(b": alive\n\n".to_vec());
    let cases = [
        (vec![Step::Hang], Timeouts { connect: long, first_byte: tiny, silence: long }, "did not begin"),
        (
            vec![streaming(), Step::Hang],
            Timeouts { connect: long, first_byte: tiny, silence: long },
            "did not begin",
        ),
        (
            vec![streaming(), begun, Step::Hang],
            Timeouts { connect: long, first_byte: long, silence: tiny },
            "stopped",
        ),
    ];
    for (script, timeouts, words) in cases {
        let mut server = Server::start(vec![script]).await;
        let mut config = config(Wire::Anthropic, &server);
        config.backoff.attempts = 1;
        config.timeouts = timeouts;
        let (_, error) = collect(config).await;
        let error = error.unwrap();
        assert_eq!(error.class, Class::Timeout, "{error}");
        assert!(error.message.contains(words), "{error}");
        server.request().await;
        assert_eq!(server.seen().await, Seen::HungUp, "the connection is given up");
    }
}

#[tokio::test]
async fn an_error_whose_body_does_not_come_is_known_by_its_status() {
    let head = b"HTTP/1.1 529 X\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{";
    let mut server = Server::start(vec![vec![Step::Send(head.to_vec()), Step::Hang]]).await;
    let mut config = config(Wire::Anthropic, &server);
    config.backoff.attempts = 1;
    config.timeouts.silence = Duration::from_millis(50);
    let error = collect(config).await.1.unwrap();
    assert_eq!((error.class, error.status), (Class::Overloaded, Some(529)));
    server.request().await;
    assert_eq!(server.seen().await, Seen::HungUp);
}

#[tokio::test]
async fn a_server_that_is_not_there_is_a_network_error() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let mut config = ProviderConfig::new(Wire::Chat, None);
    config.base_url = format!("http://{address}/v1");
    config.backoff.attempts = 1;
    let error = collect(config).await.1.unwrap();
    assert_eq!(error.class, Class::Network);
    assert!(error.message.contains("refused"), "{error}");
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_told_apart() {
    let server = Server::start(vec![answer(200, "", "{}")]).await;
    let mut config = config(Wire::Chat, &server);
    config.backoff.attempts = 1;
    let error = collect(config).await.1.unwrap();
    assert_eq!(error.class, Class::Protocol);
}

#[tokio::test]
async fn agents_of_a_provider_share_its_breaker() {
    let server = Server::start(vec![answer(503, "", "{}")]).await;
    let cooldown = Duration::from_secs(500);
    let breaker = Breaker::new(BreakerSettings { failures: 3, cooldown, max_cooldown: cooldown });
    let mut config = config(Wire::Chat, &server);
    config.breaker = breaker.clone();
    // The breaker opens at the third failure, and the fourth attempt does not go out.
    let error = collect(config.clone()).await.1.unwrap();
    assert_eq!((error.class, server.requests()), (Class::BreakerOpen, 3));
    let wait = error.retry_after.unwrap();
    assert!(wait <= cooldown && wait > cooldown / 2, "{wait:?}");
    // Another agent's provider with the same breaker is kept back as well.
    let error = collect(config).await.1.unwrap();
    assert_eq!((error.class, server.requests()), (Class::BreakerOpen, 3));
}

#[tokio::test]
async fn a_probe_lets_everybody_through_again() {
    let good = vec![streaming(), Step::Send(stream(Wire::Chat, "text"))];
    let server = Server::start(vec![answer(500, "", ""), answer(401, "", ""), good.clone(), good]).await;
    let mut config = config(Wire::Chat, &server);
    let cooldown = Duration::from_millis(1);
    config.breaker = Breaker::new(BreakerSettings { failures: 1, cooldown, max_cooldown: cooldown });
    // The failure opens it; the wait for it to open again is an attempt; the probe is answered, if not kindly.
    let error = collect(config.clone()).await.1.unwrap();
    assert_eq!((error.class, server.requests()), (Class::Auth, 2));
    let both = tokio::join!(collect(config.clone()), collect(config));
    assert_eq!((both.0.1, both.1.1, server.requests()), (None, None, 4));
}

/// A listener whose queue is full: the system answers nobody who wants to connect.
async fn deaf() -> (tokio::net::TcpListener, Vec<tokio::net::TcpStream>) {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut waiting = Vec::new();
    let patience = Duration::from_millis(200);
    while let Ok(connected) = tokio::time::timeout(patience, tokio::net::TcpStream::connect(address)).await {
        waiting.push(connected.unwrap());
        assert!(waiting.len() < 64, "the queue never fills");
    }
    (listener, waiting)
}

#[tokio::test]
async fn a_connection_that_is_not_made_in_time_is_given_up() {
    let (listener, _waiting) = deaf().await;
    let long = Duration::from_secs(20);
    let mut config = ProviderConfig::new(Wire::Chat, None);
    config.base_url = format!("http://{}", listener.local_addr().unwrap());
    config.timeouts = Timeouts { connect: Duration::from_millis(20), first_byte: long, silence: long };
    config.backoff.attempts = 1;
    let error = collect(config).await.1.unwrap();
    assert_eq!(error.class, Class::Timeout, "{error}");
    assert!(error.message.contains("cannot connect"), "{error}");
}

#[tokio::test]
async fn answers_that_break_off_open_the_breaker_and_rate_limits_do_not() {
    let broken = vec![streaming(), Step::Send(stream(Wire::Anthropic, "error"))];
    let cases = [(broken, Class::BreakerOpen, 2), (answer(429, "", "{}"), Class::RateLimit, 4)];
    for (script, class, requests) in cases {
        let server = Server::start(vec![script]).await;
        let cooldown = Duration::from_secs(500);
        let mut config = config(Wire::Anthropic, &server);
        config.breaker = Breaker::new(BreakerSettings { failures: 2, cooldown, max_cooldown: cooldown });
        let error = collect(config).await.1.unwrap();
        assert_eq!((error.class, server.requests()), (class, requests));
    }
}
