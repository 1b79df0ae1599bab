//! What is too much, too slow or too late.

use std::time::Duration;

use mxd_tools::proxy::{HostRules, Limits, Verdict};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::timeout;

use super::{Fixture, Origin, SITE, body, get, read_head, rules_for, status};

const SHORT: Duration = Duration::from_millis(100);

async fn limited(rules: HostRules, limits: Limits) -> Fixture {
    Fixture::with(rules, |options| options.limits = limits).await
}

#[tokio::test]
async fn a_head_that_does_not_end_is_not_waited_for() {
    let fixture = limited(HostRules::default(), Limits { head: SHORT, ..Limits::default() }).await;
    for beginning in ["", "GET http://site.te", "GET http://site.test/ HTTP/1.1\r\nX-Slow: "] {
        let mut client = fixture.connect().await;
        client.write_all(beginning.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).await.unwrap();
        assert!(!answer.starts_with(b"HTTP/1.1 2"), "{beginning:?}");
    }
}

#[tokio::test]
async fn a_head_that_is_too_large_is_refused() {
    let origin = Origin::hello().await;
    let fixture = limited(rules_for(&origin), Limits { head_bytes: 10_000, ..Limits::default() }).await;
    let site = format!("{SITE}:{}", origin.port);
    let with = |header: &str| format!("GET http://{site}/ HTTP/1.1\r\nHost: {site}\r\n{header}\r\n");
    assert_eq!(status(&fixture.ask(&with(&format!("X: {}\r\n", "x".repeat(9_000)))).await), 200);
    let answer = fixture.ask(&with(&format!("X: {}\r\n", "x".repeat(11_000)))).await;
    assert_eq!(status(&answer), 431, "{answer}");
    let answer = fixture.ask(&with(&"X: y\r\n".repeat(200))).await;
    assert_eq!(status(&answer), 431, "{answer}");
    assert_eq!(origin.visitors(), 1);
}

#[tokio::test]
async fn there_are_only_so_many_connections() {
    let origin = Origin::hello().await;
    let mut fixture = limited(rules_for(&origin), Limits { connections: 2, ..Limits::default() }).await;
    let request = get(&format!("{SITE}:{}", origin.port));
    let mut first = fixture.connect().await;
    let second = fixture.connect().await;
    // Connections are accepted in order: when the third is answered, the first two are in.
    let answer = fixture.ask(&request).await;
    assert_eq!(status(&answer), 503, "{answer}");
    assert!(body(&answer).contains("Too many connections: 2 are open"), "{answer}");
    let visit = fixture.visit().await;
    assert_eq!((visit.verdict, visit.status), (Verdict::Unasked, 503));
    first.write_all(request.as_bytes()).await.unwrap();
    assert_eq!(status(&read_head(&mut first).await), 200);
    drop((first, second));
    while status(&fixture.ask(&request).await) == 503 {}
}

#[tokio::test]
async fn beyond_the_door_there_is_silence() {
    let fixture = limited(HostRules::default(), Limits { connections: 0, ..Limits::default() }).await;
    let mut waiting = Vec::new();
    for _ in 0..8 {
        waiting.push(fixture.connect().await);
    }
    let mut client = fixture.connect().await;
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).await.unwrap();
    assert_eq!(answer, b"");
}

#[tokio::test]
async fn a_host_that_does_not_answer_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let site = format!("{SITE}:{}", listener.local_addr().unwrap().port());
    let rules = HostRules::default().allow_private(&site).unwrap();
    let mut fixture = limited(rules, Limits { idle: SHORT, ..Limits::default() }).await;
    let answer = fixture.ask(&get(&site)).await;
    assert_eq!(status(&answer), 504, "{answer}");
    assert!(body(&answer).contains(&format!("{site} was silent for too long")), "{answer}");
    assert_eq!(fixture.visit().await.status, 504);
}

#[tokio::test]
async fn an_answer_that_stops_is_cut() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let site = format!("{SITE}:{}", listener.local_addr().unwrap().port());
    let rules = HostRules::default().allow_private(&site).unwrap();
    let mut fixture = limited(rules, Limits { idle: SHORT, ..Limits::default() }).await;
    let host = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_head(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf").await.unwrap();
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest).await;
    };
    let request = get(&site);
    let (answer, ()) = tokio::join!(fixture.ask(&request), host);
    assert_eq!((status(&answer), body(&answer)), (200, "half"));
    assert_eq!(fixture.visit().await.status, 200);
}

#[tokio::test]
async fn a_client_that_does_not_read_is_hung_up_on() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let site = format!("{SITE}:{}", listener.local_addr().unwrap().port());
    let rules = HostRules::default().allow_private(&site).unwrap();
    let mut fixture = limited(rules, Limits { idle: SHORT, ..Limits::default() }).await;
    let mut client = fixture.connect().await;
    client.write_all(get(&site).as_bytes()).await.unwrap();
    let (mut host, _) = listener.accept().await.unwrap();
    host.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
    // More than all buffers between here and there hold, until somebody gives up.
    while host.write_all(&[0; 1 << 16]).await.is_ok() {}
    assert_eq!(fixture.visit().await.status, 200);
    drop(client);
}

#[tokio::test]
async fn a_connection_that_does_not_come_about_is_given_up() {
    // Linux drops connections to a full queue, so whoever comes next waits as for a dead host.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut queue = Vec::new();
    while let Ok(stream) = timeout(SHORT, TcpStream::connect(address)).await {
        queue.push(stream.unwrap());
    }
    let site = format!("{SITE}:{}", address.port());
    let rules = HostRules::default().allow_private(&site).unwrap();
    let mut fixture = limited(rules, Limits { connect: SHORT, ..Limits::default() }).await;
    for request in [get(&site), format!("CONNECT {site} HTTP/1.1\r\nHost: {site}\r\n\r\n")] {
        let answer = fixture.ask(&request).await;
        assert_eq!(status(&answer), 504, "{answer}");
        assert!(body(&answer).contains(&format!("No connection to {site} in time")), "{answer}");
        let visit = fixture.visit().await;
        assert_eq!((visit.verdict, visit.status), (Verdict::Allowed, 504));
    }
}

#[tokio::test]
async fn only_the_latest_visits_are_remembered_and_full_channels_do_not_block() {
    let (sender, mut reports) = tokio::sync::mpsc::channel(1);
    let fixture = Fixture::with(HostRules::default(), |options| {
        options.limits.visits = 2;
        options.reports = Some(sender);
    })
    .await;
    for host in ["a.test", "b.test", "c.test"] {
        assert_eq!(status(&fixture.ask(&get(host)).await), 403);
    }
    // A visit is remembered before its client can see the end of the answer.
    let latest: Vec<_> =
        fixture.proxy.visits().into_iter().map(|visit| visit.to.unwrap().to_string()).collect();
    assert_eq!(latest, ["b.test:80", "c.test:80"]);
    assert_eq!(fixture.proxy.unreported(), 2);
    assert_eq!(reports.recv().await.unwrap().to.unwrap().to_string(), "a.test:80");
}
