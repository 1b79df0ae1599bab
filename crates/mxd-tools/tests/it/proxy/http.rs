//! Plain HTTP: what is sent on, and what stays here.

use mxd_tools::proxy::{HostRules, Method, Verdict};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::{Fixture, Origin, SITE, body, get, read_head, rules_for, status};

#[tokio::test]
async fn a_request_to_an_allowed_host_is_sent_on_and_remembered() {
    let mut origin = Origin::hello().await;
    let mut fixture = Fixture::new(rules_for(&origin)).await;
    let site = format!("{SITE}:{}", origin.port);
    let answer = fixture.ask(&get(&site)).await;
    assert_eq!((status(&answer), body(&answer)), (200, "hello"));
    let request = origin.request().await;
    assert_eq!(request, format!("GET / HTTP/1.1\r\nhost: {site}\r\nconnection: close\r\n\r\n"));

    let visit = fixture.visit().await;
    assert_eq!(visit.to.as_ref().map(ToString::to_string), Some(site));
    assert_eq!(
        (visit.at.0, visit.method, &visit.verdict, visit.status),
        (42, Method::Http, &Verdict::Allowed, 200)
    );
    assert_eq!(visit.bytes_up, request.len() as u64);
    assert_eq!(visit.bytes_down, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello".len() as u64);
    assert_eq!(fixture.proxy.visits(), [visit]);
}

#[tokio::test]
async fn headers_between_neighbours_go_no_further() {
    let mut origin = Origin::answering(
        "HTTP/1.1 200 OK\r\nConnection: x-mine\r\nX-Mine: 1\r\nKeep-Alive: timeout=9\r\nProxy-Authenticate: x\r\n\
         Set-Cookie: a=b\r\nContent-Length: 0\r\n\r\n",
    )
    .await;
    let fixture = Fixture::new(rules_for(&origin)).await;
    let site = format!("{SITE}:{}", origin.port);
    let answer = fixture
        .ask(&format!(
            "GET http://{site}/ HTTP/1.1\r\nHost: {site}\r\nProxy-Authorization: Basic c2VjcmV0\r\n\
             Proxy-Connection: keep-alive\r\nConnection: x-hop, host, close\r\nX-Hop: 1\r\nKeep-Alive: 1\r\n\
             TE: trailers\r\nUpgrade: websocket\r\nAuthorization: Bearer mine\r\nCookie: c=d\r\n\r\n"
        ))
        .await;
    assert_eq!(
        origin.request().await,
        format!(
            "GET / HTTP/1.1\r\nauthorization: Bearer mine\r\ncookie: c=d\r\nhost: {site}\r\n\
             connection: close\r\n\r\n"
        )
    );
    let head = answer.to_ascii_lowercase();
    assert!(head.contains("set-cookie: a=b"), "{answer}");
    for gone in ["x-mine", "keep-alive", "proxy-authenticate"] {
        assert!(!head.contains(gone), "{gone}: {answer}");
    }
}

#[tokio::test]
async fn every_request_of_a_connection_is_judged() {
    let origin = Origin::hello().await;
    let fixture = Fixture::new(rules_for(&origin)).await;
    let site = format!("{SITE}:{}", origin.port);
    let first = format!("GET http://{site}/ HTTP/1.1\r\nHost: {site}\r\n\r\n");
    let answers = fixture.ask(&format!("{first}{}", get("other.test"))).await;
    assert!(answers.starts_with("HTTP/1.1 200"), "{answers}");
    assert_eq!(answers.matches("HTTP/1.1 403").count(), 1, "{answers}");
    assert_eq!(origin.visitors(), 1);
}

#[tokio::test]
async fn a_client_of_http_1_0_is_served_without_a_host_header() {
    let mut origin =
        Origin::answering("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
            .await;
    let fixture = Fixture::new(rules_for(&origin)).await;
    let site = format!("{SITE}:{}", origin.port);
    let answer = fixture.ask(&format!("GET http://{site}/a?b HTTP/1.0\r\n\r\n")).await;
    assert_eq!((status(&answer), body(&answer)), (200, "hello"), "{answer}");
    assert!(!answer.to_ascii_lowercase().contains("transfer-encoding"), "{answer}");
    assert!(origin.request().await.starts_with(&format!("GET /a?b HTTP/1.1\r\nhost: {site}\r\n")));
}

#[tokio::test]
async fn the_host_header_must_name_the_host_of_the_url() {
    let origin = Origin::hello().await;
    let fixture = Fixture::new(rules_for(&origin).allow_private("other.test").unwrap()).await;
    let site = format!("{SITE}:{}", origin.port);
    for headers in [
        String::new(),
        "Host: other.test\r\n".to_owned(),
        format!("Host: {SITE}\r\n"),
        format!("Host: {SITE}:1\r\n"),
        format!("Host: {site}\r\nHost: {site}\r\n"),
        format!("Host: {site}\r\nHost: other.test\r\n"),
        format!("Host: {site}, other.test\r\n"),
        format!("Host: user@{site}\r\n"),
        "Host:\r\n".to_owned(),
    ] {
        let answer = fixture.ask(&format!("GET http://{site}/ HTTP/1.1\r\n{headers}\r\n")).await;
        assert_eq!(status(&answer), 400, "{headers:?}");
        assert!(body(&answer).contains("Host header"), "{answer}");
    }
    assert_eq!(origin.visitors(), 0);
    let upper = site.to_ascii_uppercase();
    let answer = fixture.ask(&format!("GET http://{site}/ HTTP/1.1\r\nHost: {upper}\r\n\r\n")).await;
    assert_eq!(status(&answer), 200, "{answer}");
}

#[tokio::test]
async fn credentials_in_a_url_are_refused_and_repeated_nowhere() {
    let origin = Origin::hello().await;
    let mut fixture = Fixture::new(rules_for(&origin)).await;
    let site = format!("{SITE}:{}", origin.port);
    for request in [
        format!("GET http://me:hunter2@{site}/ HTTP/1.1\r\nHost: {site}\r\n\r\n"),
        format!("CONNECT me:hunter2@{site} HTTP/1.1\r\nHost: {site}\r\n\r\n"),
    ] {
        let answer = fixture.ask(&request).await;
        assert_eq!(status(&answer), 400, "{answer}");
        assert!(body(&answer).contains("Authorization header") && !answer.contains("hunter2"), "{answer}");
        let visit = fixture.visit().await;
        assert_eq!((visit.verdict, visit.to), (Verdict::Unasked, None));
    }
    assert_eq!(origin.visitors(), 0);
}

#[tokio::test]
async fn nothing_of_a_request_is_remembered_but_where_it_went() {
    let origin = Origin::hello().await;
    let mut fixture = Fixture::new(rules_for(&origin)).await;
    for site in [format!("{SITE}:{}", origin.port), "denied.test".to_owned()] {
        let request = format!(
            "POST http://{site}/hunter2?key=hunter2#hunter2 HTTP/1.1\r\nHost: {site}\r\nCookie: hunter2\r\n\
             Authorization: hunter2\r\nX-hunter2: 1\r\nContent-Length: 7\r\n\r\nhunter2"
        );
        let answer = fixture.ask(&request).await;
        assert!(!answer.contains("hunter2"), "{answer}");
        fixture.visit().await;
    }
    assert_eq!(fixture.proxy.visits().len(), 2);
    assert!(!format!("{:?}", fixture.proxy).contains("hunter2"));
}

#[tokio::test]
async fn what_is_not_for_a_proxy_is_refused_with_the_reason() {
    let origin = Origin::hello().await;
    let fixture = Fixture::new(rules_for(&origin)).await;
    let site = format!("{SITE}:{}", origin.port);
    for (request, why) in [
        (format!("GET / HTTP/1.1\r\nHost: {site}\r\n\r\n"), "this is a proxy"),
        (format!("OPTIONS * HTTP/1.1\r\nHost: {site}\r\n\r\n"), "this is a proxy"),
        (format!("GET https://{site}/ HTTP/1.1\r\nHost: {site}\r\n\r\n"), "use CONNECT"),
        (format!("GET ftp://{site}/ HTTP/1.1\r\nHost: {site}\r\n\r\n"), "use CONNECT"),
        (format!("CONNECT {SITE} HTTP/1.1\r\nHost: {SITE}\r\n\r\n"), "a port is a number"),
        (format!("CONNECT {SITE}:0 HTTP/1.1\r\nHost: {SITE}\r\n\r\n"), "a port is a number"),
        (format!("CONNECT http://{site}/ HTTP/1.1\r\nHost: {site}\r\n\r\n"), "this is a proxy"),
        (format!("CONNECT {site} HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"), "no body"),
        (get("127.1"), "IPv4 address"),
        (get("0x7f000001"), "IPv4 address"),
        (get("a..b"), "empty"),
    ] {
        let answer = fixture.ask(&request).await;
        assert_eq!(status(&answer), 400, "{request}: {answer}");
        assert!(body(&answer).contains(why), "{request}: {answer}");
    }
    assert_eq!(origin.visitors(), 0);
}

/// hyper does not refuse a request with both lengths: it believes the chunks, forgets the other and closes the
/// connection after it. What goes on has one length, so that the next server cannot read it otherwise.
#[tokio::test]
async fn a_request_with_two_lengths_goes_on_with_one() {
    let mut origin = Origin::hello().await;
    let fixture = Fixture::new(rules_for(&origin)).await;
    let site = format!("{SITE}:{}", origin.port);
    let smuggled = format!("0\r\n\r\nGET http://{site}/smuggled HTTP/1.1\r\nHost: {site}\r\n\r\n");
    let chunked = "Transfer-Encoding: chunked\r\n".to_owned();
    let length = format!("Content-Length: {}\r\n", smuggled.len());
    for lengths in [format!("{chunked}{length}"), format!("{length}{chunked}")] {
        let request = format!("POST http://{site}/ HTTP/1.1\r\nHost: {site}\r\n{lengths}\r\n{smuggled}");
        let answer = fixture.ask(&request).await;
        assert_eq!(answer.matches("HTTP/1.1").count(), 1, "{answer}");
        let request = origin.request().await.to_ascii_lowercase();
        assert!(request.contains("transfer-encoding: chunked"), "{request}");
        assert!(!request.contains("content-length") && !request.contains("smuggled"), "{request}");
    }
    assert_eq!(origin.visitors(), 2);
}

#[tokio::test]
async fn an_answer_with_two_lengths_comes_back_with_one() {
    let origin = Origin::answering(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    )
    .await;
    let fixture = Fixture::new(rules_for(&origin)).await;
    let answer = fixture.ask(&get(&format!("{SITE}:{}", origin.port))).await;
    assert!(body(&answer).contains("hello"), "{answer}");
    assert!(!answer.to_ascii_lowercase().contains("content-length"), "{answer}");
}

#[tokio::test]
async fn unsound_lengths_and_header_lines_reach_nobody() {
    let origin = Origin::hello().await;
    let fixture = Fixture::new(rules_for(&origin)).await;
    let site = format!("{SITE}:{}", origin.port);
    for headers in [
        "Content-Length: 1\r\nContent-Length: 2\r\n",
        "Content-Length: +1\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "X-A: 1\r\n folded: 2\r\n",
        "X-A : 1\r\n",
        "X-A: 1\rX-B: 2\r\n",
        "X-A: \0\r\n",
    ] {
        let answer =
            fixture.ask(&format!("POST http://{site}/ HTTP/1.1\r\nHost: {site}\r\n{headers}\r\nab")).await;
        assert_eq!(status(&answer), 400, "{headers:?}: {answer}");
    }
    for target in [format!("http://{site}/a b"), format!("http://{site}/\tX"), format!("http://{site} X: 1")]
    {
        let answer = fixture.ask(&format!("GET {target} HTTP/1.1\r\nHost: {site}\r\n\r\n")).await;
        assert_eq!(status(&answer), 400, "{target:?}: {answer}");
    }
    assert_eq!(origin.visitors(), 0);
}

#[tokio::test]
async fn an_encoded_line_break_stays_encoded() {
    let mut origin = Origin::hello().await;
    let fixture = Fixture::new(rules_for(&origin)).await;
    let site = format!("{SITE}:{}", origin.port);
    let path = "/a%0d%0aX-Injected:%201";
    fixture.ask(&format!("GET http://{site}{path} HTTP/1.1\r\nHost: {site}\r\n\r\n")).await;
    assert!(origin.request().await.starts_with(&format!("GET {path} HTTP/1.1\r\n")));
}

#[tokio::test]
async fn the_length_of_an_answer_without_body_is_kept() {
    let origin = Origin::answering("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n").await;
    let fixture = Fixture::new(rules_for(&origin)).await;
    let site = format!("{SITE}:{}", origin.port);
    let answer = fixture.ask(&format!("HEAD http://{site}/ HTTP/1.1\r\nHost: {site}\r\n\r\n")).await;
    assert_eq!((status(&answer), body(&answer)), (200, ""));
    assert!(answer.to_ascii_lowercase().contains("content-length: 1000"), "{answer}");
}

#[tokio::test]
async fn unsound_answers_are_a_bad_gateway() {
    for unsound in
        ["", "SSH-2.0-x\r\n", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"]
    {
        let origin = Origin::answering(unsound).await;
        let fixture = Fixture::new(rules_for(&origin)).await;
        let answer = fixture.ask(&get(&format!("{SITE}:{}", origin.port))).await;
        assert_eq!(status(&answer), 502, "{unsound:?}: {answer}");
        assert!(body(&answer).contains(SITE), "{answer}");
    }
}

#[tokio::test]
async fn large_bodies_pass_unchanged_both_ways() {
    const SIZE: usize = 8 << 20;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let echo = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_head(&mut stream).await;
        let mut data = vec![0; SIZE];
        stream.read_exact(&mut data).await.unwrap();
        stream
            .write_all(format!("HTTP/1.1 200 OK\r\nContent-Length: {SIZE}\r\n\r\n").as_bytes())
            .await
            .unwrap();
        stream.write_all(&data).await.unwrap();
    });
    let site = format!("{SITE}:{port}");
    let mut fixture = Fixture::new(HostRules::default().allow_private(&site).unwrap()).await;
    let data: Vec<u8> = (0..SIZE).map(|index| (index * 31 % 251) as u8).collect();
    let mut client = fixture.connect().await;
    let head = format!("PUT http://{site}/ HTTP/1.1\r\nHost: {site}\r\nContent-Length: {SIZE}\r\n\r\n");
    client.write_all(head.as_bytes()).await.unwrap();
    client.write_all(&data).await.unwrap();
    read_head(&mut client).await;
    let mut back = vec![0; SIZE];
    client.read_exact(&mut back).await.unwrap();
    assert!(back == data);
    echo.await.unwrap();
    let visit = fixture.visit().await;
    assert!(visit.bytes_up > SIZE as u64 && visit.bytes_down > SIZE as u64, "{visit:?}");
}
