//! A key is in the header of a request and nowhere else.

use mxd_llm::{Chunk, Class, Provider, ProviderConfig, Wire};
use secrecy::SecretString;
use tokio_util::sync::CancellationToken;

use crate::calls::{KEY, collect, config, request};
use crate::server::{Server, Step, answer, streaming};

#[tokio::test]
async fn a_server_that_repeats_the_key_is_not_quoted() {
    let body = format!(r#"{{"error":{{"message":"Incorrect API key: {KEY}.","code":"invalid_api_key"}}}}"#);
    let event = format!("data: {{\"error\":{{\"message\":\"bad {KEY}\",\"code\":\"server_error\"}}}}\n\n");
    let nonsense = format!("data: <{KEY}>\n\n");
    // Cut in the middle of the key, where messages and excerpts end.
    let long = format!("{}{KEY}", "x".repeat(2_000 - "the provider answered 500: ".len() - 10));
    let excerpt = format!("data: {}{KEY}\n\n", "y".repeat(190));
    let scripts = [
        answer(401, "", &body),
        answer(500, "", &format!("oops {KEY}")),
        vec![streaming(), Step::Send(event.into_bytes())],
        vec![streaming(), Step::Send(nonsense.into_bytes())],
        answer(500, "", &long),
        vec![streaming(), Step::Send(excerpt.into_bytes())],
    ];
    for script in scripts {
        let server = Server::start(vec![script]).await;
        let (chunks, error) = collect(config(Wire::Chat, &server)).await;
        let error = error.unwrap();
        let told: Vec<_> = chunks
            .iter()
            .filter_map(|chunk| match chunk {
                Chunk::Retrying(retrying) => Some(format!("{retrying:?}")),
                _ => None,
            })
            .chain([format!("{error:?}"), error.to_string()])
            .collect();
        for words in told {
            assert!(!words.contains(&KEY[..6]), "{words}");
        }
        assert!(error.message.contains("[key]"), "{error}");
    }
}

#[tokio::test]
async fn counting_and_listing_do_not_quote_it_either() {
    let server = Server::start(vec![answer(401, "", &format!("no {KEY}"))]).await;
    let provider = Provider::new(config(Wire::Anthropic, &server)).unwrap();
    let error = provider.models(&CancellationToken::new()).await.unwrap_err();
    assert_eq!(error.class, Class::Auth);
    assert!(!format!("{error:?}").contains(KEY), "{error:?}");
}

#[tokio::test]
async fn nothing_that_is_printed_shows_it() {
    let server = Server::start(vec![answer(401, "", "{}")]).await;
    for wire in Wire::ALL {
        let mut config = config(wire, &server);
        config.proxy = Some(SecretString::from("http://user:hunter2@127.0.0.1:1"));
        let shown = format!("{config:?} {config:#?}");
        let provider = Provider::new(config).unwrap();
        let shown = format!("{shown} {provider:?} {provider:#?}");
        assert!(!shown.contains(KEY) && !shown.contains("hunter2"), "{shown}");
        assert!(!format!("{:?}", request(wire)).contains(KEY));
    }
}

#[test]
fn a_key_that_no_header_can_hold_is_not_shown() {
    let mut config = ProviderConfig::new(Wire::Chat, Some(SecretString::from("line\nbreak-key")));
    config.base_url = "http://127.0.0.1:9".to_owned();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let error = runtime.block_on(collect(config)).1.unwrap();
    assert_eq!(error.class, Class::Config);
    assert!(!format!("{error:?}").contains("break-key"), "{error:?}");
}

#[test]
fn an_address_with_a_password_is_refused_and_not_shown() {
    for address in
        ["https://user:hunter2@example.org", "https://hunter2@example.org", "hunter2", "ftp://hunter2/"]
    {
        let mut config = ProviderConfig::new(Wire::Chat, None);
        config.base_url = address.to_owned();
        let error = Provider::new(config).unwrap_err();
        assert_eq!(error.class, Class::Config, "{address}");
        assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
    }
}
