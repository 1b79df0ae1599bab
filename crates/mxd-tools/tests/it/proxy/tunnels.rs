//! Tunnels: exact bytes, closed one side at a time.

use std::time::Duration;

use mxd_tools::proxy::{HostRules, Limits, Method, Verdict};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};

use super::{Fixture, SITE, read_head, status};

/// A listener at the other end, and a proxy that leads there.
async fn far_end(limits: Limits) -> (Fixture, TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let site = format!("{SITE}:{}", listener.local_addr().unwrap().port());
    let rules = HostRules::default().allow_private(&site).unwrap();
    (Fixture::with(rules, |options| options.limits = limits).await, listener, site)
}

/// Opens a tunnel; both of its ends.
async fn open(fixture: &Fixture, listener: &TcpListener, site: &str) -> (UnixStream, TcpStream) {
    let mut client = fixture.connect().await;
    client.write_all(format!("CONNECT {site} HTTP/1.1\r\nHost: {site}\r\n\r\n").as_bytes()).await.unwrap();
    let (host, _) = listener.accept().await.unwrap();
    assert_eq!(status(&read_head(&mut client).await), 200);
    (client, host)
}

fn pattern(length: usize, seed: usize) -> Vec<u8> {
    (0..length).map(|index| ((index + seed) * 7 % 253) as u8).collect()
}

#[tokio::test]
async fn bytes_pass_exactly_and_each_side_closes_for_itself() {
    let (mut fixture, listener, site) = far_end(Limits::default()).await;
    let (mut client, mut host) = open(&fixture, &listener, &site).await;
    let (up, down) = (pattern(100_000, 1), pattern(50_000, 2));

    client.write_all(&up).await.unwrap();
    client.shutdown().await.unwrap();
    let mut arrived = Vec::new();
    host.read_to_end(&mut arrived).await.unwrap();
    assert!(arrived == up);

    // The client is done, but still hears.
    host.write_all(&down).await.unwrap();
    host.shutdown().await.unwrap();
    let mut arrived = Vec::new();
    client.read_to_end(&mut arrived).await.unwrap();
    assert!(arrived == down);

    let visit = fixture.visit().await;
    assert_eq!((visit.method, visit.verdict, visit.status), (Method::Connect, Verdict::Allowed, 200));
    assert_eq!((visit.bytes_up, visit.bytes_down), (100_000, 50_000));
    assert_eq!(visit.to.unwrap().to_string(), site);
}

#[tokio::test]
async fn the_host_may_close_first() {
    let (fixture, listener, site) = far_end(Limits::default()).await;
    let (mut client, mut host) = open(&fixture, &listener, &site).await;
    host.write_all(b"bye").await.unwrap();
    host.shutdown().await.unwrap();
    let mut arrived = Vec::new();
    client.read_to_end(&mut arrived).await.unwrap();
    assert_eq!(arrived, b"bye");
    client.write_all(b"more").await.unwrap();
    client.shutdown().await.unwrap();
    arrived.clear();
    host.read_to_end(&mut arrived).await.unwrap();
    assert_eq!(arrived, b"more");
}

#[tokio::test]
async fn what_is_sent_with_the_request_is_not_lost() {
    let (fixture, listener, site) = far_end(Limits::default()).await;
    let mut client = fixture.connect().await;
    client.write_all(format!("CONNECT {site} HTTP/1.1\r\n\r\nearly").as_bytes()).await.unwrap();
    client.shutdown().await.unwrap();
    let (mut host, _) = listener.accept().await.unwrap();
    let mut arrived = Vec::new();
    host.read_to_end(&mut arrived).await.unwrap();
    assert_eq!(arrived, b"early");
}

#[tokio::test]
async fn large_transfers_pass_both_ways_at_once() {
    const SIZE: usize = 32 << 20;
    let (mut fixture, listener, site) = far_end(Limits::default()).await;
    let (mut client, mut host) = open(&fixture, &listener, &site).await;
    let host = tokio::spawn(async move {
        let (mut reader, mut writer) = host.split();
        // Everything comes back while it is still being sent.
        tokio::io::copy(&mut reader, &mut writer).await.unwrap();
        writer.shutdown().await.unwrap();
    });
    let data = pattern(SIZE, 3);
    let (mut reader, mut writer) = client.split();
    let mut back = Vec::with_capacity(SIZE);
    let (sent, read) = tokio::join!(
        async {
            writer.write_all(&data).await?;
            writer.shutdown().await
        },
        reader.read_to_end(&mut back),
    );
    sent.unwrap();
    read.unwrap();
    assert!(back == data);
    host.await.unwrap();
    let visit = fixture.visit().await;
    assert_eq!((visit.bytes_up, visit.bytes_down), (SIZE as u64, SIZE as u64));
}

#[tokio::test]
async fn a_silent_tunnel_is_closed() {
    let limits = Limits { idle: Duration::from_millis(100), ..Limits::default() };
    let (mut fixture, listener, site) = far_end(limits).await;
    let (mut client, mut host) = open(&fixture, &listener, &site).await;
    let mut rest = Vec::new();
    client.read_to_end(&mut rest).await.unwrap();
    host.read_to_end(&mut rest).await.unwrap();
    assert_eq!(rest, b"");
    assert_eq!(fixture.visit().await.status, 200);
}

#[tokio::test]
async fn a_tunnel_moves_no_more_bytes_than_it_may() {
    let limits = Limits { bytes: Some(100_000), ..Limits::default() };
    let (mut fixture, listener, site) = far_end(limits).await;
    let (mut client, mut host) = open(&fixture, &listener, &site).await;
    host.write_all(&pattern(60_000, 0)).await.unwrap();
    client.read_exact(&mut vec![0; 60_000]).await.unwrap();
    // It may be cut before everything is sent, and how a cut looks is the system's choice.
    let _ = client.write_all(&pattern(1 << 20, 0)).await;
    let visit = fixture.visit().await;
    assert_eq!(visit.bytes_down, 60_000);
    // One piece may pass the limit; then it is over.
    assert!(visit.bytes_up > 40_000 && visit.bytes_up < 1 << 20, "{visit:?}");
}

#[tokio::test]
async fn there_are_only_so_many_tunnels() {
    let limits = Limits { tunnels: 2, ..Limits::default() };
    let (mut fixture, listener, site) = far_end(limits).await;
    let first = open(&fixture, &listener, &site).await;
    let _second = open(&fixture, &listener, &site).await;
    let request = format!("CONNECT {site} HTTP/1.1\r\nHost: {site}\r\n\r\n");
    let answer = fixture.ask(&request).await;
    assert_eq!(status(&answer), 503, "{answer}");
    assert!(answer.contains(&site) && answer.contains("2 are open"), "{answer}");
    assert_eq!(fixture.visit().await.status, 503);
    drop(first);
    // The visit of the first is told when its place is free again, or a moment before.
    fixture.visit().await;
    loop {
        let mut client = fixture.connect().await;
        client.write_all(request.as_bytes()).await.unwrap();
        match status(&read_head(&mut client).await) {
            200 => break,
            other => assert_eq!(other, 503),
        }
    }
}

#[tokio::test]
async fn dropping_the_proxy_ends_everything() {
    let (fixture, listener, site) = far_end(Limits::default()).await;
    let (mut client, mut host) = open(&fixture, &listener, &site).await;
    let mut waiting = fixture.connect().await;
    let Fixture { proxy, mut reports, folder } = fixture;
    drop(proxy);
    let path = super::socket(&folder);
    assert!(!path.exists());
    let mut rest = Vec::new();
    client.read_to_end(&mut rest).await.unwrap();
    host.read_to_end(&mut rest).await.unwrap();
    // One that was not yet accepted is reset.
    let _ = waiting.read_to_end(&mut rest).await;
    assert_eq!(rest, b"");
    assert_eq!(reports.recv().await.unwrap().status, 200);
    // Whoever held a part of the proxy has let go of it.
    assert_eq!(reports.recv().await, None);
    assert!(UnixStream::connect(&path).await.is_err());
}
