//! A call ends when it is told to, wherever it is, and the server sees it.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use mxd_llm::{Backoff, Chunk, Class, Provider, Wire};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::calls::{config, request};
use crate::fixtures::stream;
use crate::server::{Seen, Server, Step, answer, streaming};

#[tokio::test]
async fn before_the_answer() {
    for wire in Wire::ALL {
        let mut server = Server::start(vec![vec![Step::Hang]]).await;
        let provider = Provider::new(config(wire, &server)).unwrap();
        let cancel = CancellationToken::new();
        let mut answer = provider.stream(request(wire), cancel.clone());
        let told = async {
            server.request().await;
            cancel.cancel();
            server.seen().await
        };
        let (chunk, seen) = tokio::join!(answer.next(), told);
        let error = chunk.unwrap().unwrap_err();
        assert_eq!((error.class, error.answered_bytes), (Class::Cancelled, Some(0)));
        assert_eq!(seen, Seen::HungUp);
        assert!(answer.next().await.is_none());
    }
}

#[tokio::test]
async fn in_the_middle_of_the_answer() {
    for wire in Wire::ALL {
        let begun = stream(wire, "text");
        let begun = begun[..begun.len() / 2].to_vec();
        let mut server = Server::start(vec![vec![streaming(), Step::Send(begun), Step::Hang]]).await;
        let provider = Provider::new(config(wire, &server)).unwrap();
        let cancel = CancellationToken::new();
        let mut answer = provider.stream(request(wire), cancel.clone());
        assert!(matches!(answer.next().await, Some(Ok(Chunk::Usage(_) | Chunk::TextDelta(_)))), "{wire}");
        cancel.cancel();
        let error = answer.next().await.unwrap().unwrap_err();
        assert_eq!(error.class, Class::Cancelled);
        assert!(error.answered_bytes.is_some(), "{wire}: it may be billed");
        server.request().await;
        assert_eq!(server.seen().await, Seen::HungUp);
        assert!(answer.next().await.is_none());
    }
}

#[tokio::test]
async fn with_chunks_that_nobody_has_taken() {
    // The usage and the text come in one piece; after the cancel the text is not given out any more.
    let begun = stream(Wire::Anthropic, "cut");
    let mut server = Server::start(vec![vec![streaming(), Step::Send(begun), Step::Hang]]).await;
    let provider = Provider::new(config(Wire::Anthropic, &server)).unwrap();
    let cancel = CancellationToken::new();
    let mut answer = provider.stream(request(Wire::Anthropic), cancel.clone());
    assert!(matches!(answer.next().await, Some(Ok(Chunk::Usage(_)))));
    cancel.cancel();
    assert_eq!(answer.next().await.unwrap().unwrap_err().class, Class::Cancelled);
    server.request().await;
    assert_eq!(server.seen().await, Seen::HungUp);
}

#[tokio::test]
async fn while_waiting_for_more_of_the_answer() {
    let gate = Arc::new(Semaphore::new(0));
    let script = vec![streaming(), Step::Gate(Arc::clone(&gate)), Step::Hang];
    let mut server = Server::start(vec![script]).await;
    let provider = Provider::new(config(Wire::Anthropic, &server)).unwrap();
    let cancel = CancellationToken::new();
    let mut answer = provider.stream(request(Wire::Anthropic), cancel.clone());
    let told = async {
        server.request().await;
        gate.add_permits(1);
        cancel.cancel();
        server.seen().await
    };
    let (chunk, seen) = tokio::join!(answer.next(), told);
    assert_eq!(chunk.unwrap().unwrap_err().class, Class::Cancelled);
    assert_eq!(seen, Seen::HungUp);
}

#[tokio::test]
async fn while_waiting_to_ask_again() {
    let server = Server::start(vec![answer(529, "", "{}")]).await;
    let hour = Duration::from_secs(3_600);
    let mut config = config(Wire::Anthropic, &server);
    config.backoff = Backoff { attempts: 9, base: hour, cap: hour, longest_retry_after: hour };
    let provider = Provider::new(config).unwrap();
    let cancel = CancellationToken::new();
    let mut answer = provider.stream(request(Wire::Anthropic), cancel.clone());
    let Some(Ok(Chunk::Retrying(retrying))) = answer.next().await else { panic!("no retry") };
    assert!(retrying.delay >= hour / 2);
    let (chunk, ()) = tokio::join!(answer.next(), async { cancel.cancel() });
    let error = chunk.unwrap().unwrap_err();
    assert_eq!((error.class, error.answered_bytes), (Class::Cancelled, None), "no request was under way");
    assert_eq!(server.requests(), 1);
}

#[tokio::test]
async fn before_it_begins() {
    let server = Server::start(vec![vec![Step::Hang]]).await;
    let provider = Provider::new(config(Wire::Chat, &server)).unwrap();
    let cancel = CancellationToken::new();
    cancel.cancel();
    let mut answer = provider.stream(request(Wire::Chat), cancel);
    assert_eq!(answer.next().await.unwrap().unwrap_err().class, Class::Cancelled);
    assert_eq!(server.requests(), 0);
}

#[tokio::test]
async fn by_dropping_it() {
    let begun = stream(Wire::Chat, "cut");
    let mut server = Server::start(vec![vec![streaming(), Step::Send(begun), Step::Hang]]).await;
    let provider = Provider::new(config(Wire::Chat, &server)).unwrap();
    let mut answer = provider.stream(request(Wire::Chat), CancellationToken::new());
    assert_eq!(answer.next().await, Some(Ok(Chunk::TextDelta("Ha".to_owned()))));
    drop(answer);
    server.request().await;
    assert_eq!(server.seen().await, Seen::HungUp);
}

#[tokio::test]
async fn counting_and_listing_too() {
    let mut server = Server::start(vec![vec![Step::Hang]]).await;
    let provider = Provider::new(config(Wire::Anthropic, &server)).unwrap();
    let cancel = CancellationToken::new();
    let told = async {
        server.request().await;
        cancel.cancel();
        server.seen().await
    };
    let (models, seen) = tokio::join!(provider.models(&cancel), told);
    assert_eq!(models.unwrap_err().class, Class::Cancelled);
    assert_eq!(seen, Seen::HungUp);
}
