//! Counting tokens, listing models, and requests for the wrong wire.

use mxd_llm::{Class, EncodedRequest, ListedModel, Provider, Wire};
use tokio_util::sync::CancellationToken;

use crate::calls::{config, request};
use crate::fixtures::conversations;
use crate::server::{Server, Step, answer};

#[tokio::test]
async fn tokens_are_counted_of_what_would_be_sent() {
    let (_, tools) = conversations().into_iter().find(|(name, _)| name == "tools").unwrap();
    let mut server = Server::start(vec![answer(200, "", r#"{"input_tokens":14321}"#)]).await;
    let provider = Provider::new(config(Wire::Anthropic, &server)).unwrap();
    let counted = provider.count_tokens(&tools, &CancellationToken::new()).await.unwrap();
    assert_eq!(counted, 14_321);
    let (head, body) = server.request().await;
    assert!(head.starts_with("post /v1/messages/count_tokens "), "{head}");
    let body: serde_json::Value = serde_json::from_str(&body).unwrap();
    let sent = EncodedRequest::new(Wire::Anthropic, &tools).unwrap().body;
    let mut sent: serde_json::Value = serde_json::from_slice(&sent).unwrap();
    for field in ["stream", "max_tokens"] {
        assert!(sent.as_object_mut().unwrap().shift_remove(field).is_some());
    }
    assert_eq!(body, sent);
}

#[tokio::test]
async fn a_wire_that_cannot_count_says_so() {
    let server = Server::start(vec![vec![Step::Hang]]).await;
    let (_, hello) = conversations().into_iter().find(|(name, _)| name == "hello").unwrap();
    for wire in [Wire::Responses, Wire::Chat] {
        let provider = Provider::new(config(wire, &server)).unwrap();
        let error = provider.count_tokens(&hello, &CancellationToken::new()).await.unwrap_err();
        assert_eq!(error.class, Class::Config);
    }
    assert_eq!(server.requests(), 0);
}

#[tokio::test]
async fn models_are_listed_page_by_page() {
    let first = r#"{"data":[{"type":"model","id":"a b","max_input_tokens":1000000,"max_tokens":128000}],"has_more":true,"last_id":"a b"}"#;
    let second = r#"{"data":[{"id":"c"}],"has_more":false,"last_id":"c"}"#;
    let mut server = Server::start(vec![answer(200, "", first), answer(200, "", second)]).await;
    let provider = Provider::new(config(Wire::Anthropic, &server)).unwrap();
    let models = provider.models(&CancellationToken::new()).await.unwrap();
    let entry = |name: &str, context_window, max_output_tokens| ListedModel {
        name: name.to_owned(),
        context_window,
        max_output_tokens,
    };
    assert_eq!(models, [entry("a b", Some(1_000_000), Some(128_000)), entry("c", None, None)]);
    assert!(server.request().await.0.starts_with("get /v1/models http"));
    assert!(server.request().await.0.starts_with("get /v1/models?after_id=a+b http"));
}

#[tokio::test]
async fn servers_of_ones_own_tell_the_window_under_their_names() {
    let body =
        r#"{"object":"list","data":[{"id":"x","max_model_len":32768},{"id":"y","context_length":8192}]}"#;
    let server = Server::start(vec![answer(200, "", body)]).await;
    let provider = Provider::new(config(Wire::Chat, &server)).unwrap();
    let windows: Vec<_> = provider
        .models(&CancellationToken::new())
        .await
        .unwrap()
        .into_iter()
        .map(|model| model.context_window)
        .collect();
    assert_eq!(windows, [Some(32_768), Some(8_192)]);
}

#[tokio::test]
async fn a_request_for_another_wire_does_not_go_out() {
    use futures_util::StreamExt;
    let server = Server::start(vec![vec![Step::Hang]]).await;
    let provider = Provider::new(config(Wire::Chat, &server)).unwrap();
    let mut answer = provider.stream(request(Wire::Anthropic), CancellationToken::new());
    assert_eq!(answer.next().await.unwrap().unwrap_err().class, Class::Config);
    assert_eq!(server.requests(), 0);
}
