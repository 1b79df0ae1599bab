//! A port of this machine is open to its other users: only who knows the token is served.

use std::process::Stdio;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mxd_tools::proxy::{Address, Listen, Proxy, Verdict};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{Origin, SITE, body, options, rules_for, status};

/// The proxy, its URL in the environment, and the token in it.
async fn start(origin: &Origin) -> (Proxy, String, String) {
    let proxy = Proxy::start(options(rules_for(origin), Listen::Loopback)).await.unwrap();
    let url = proxy.env().into_iter().find(|(name, _)| name == "HTTP_PROXY").unwrap().1;
    let credentials = url.strip_prefix("http://").unwrap().split_once('@').unwrap().0.to_owned();
    (proxy, url, credentials)
}

async fn ask(proxy: &Proxy, request: &str) -> String {
    let Address::Loopback(address) = proxy.address() else { panic!("{:?}", proxy.address()) };
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn without_the_token_nobody_is_served() {
    let mut origin = Origin::hello().await;
    let (proxy, _, credentials) = start(&origin).await;
    let site = format!("{SITE}:{}", origin.port);
    let right = STANDARD.encode(&credentials);
    let mut almost = right.clone().into_bytes();
    almost[20] ^= 1;
    let line = |value: &str| format!("Proxy-Authorization: {value}\r\n");
    let wrong = [
        String::new(),
        line(""),
        line("Basic"),
        line("Basic "),
        line(&format!("Basic {}", STANDARD.encode("mxd:guess"))),
        line(&format!("Basic {}", String::from_utf8(almost).unwrap())),
        line(&format!("Basic {right}=")),
        line(&format!("Basic {}", &right[..right.len() - 1])),
        line(&format!("Bearer {right}")),
        line(&format!("Token {right}")),
        line(&credentials),
        format!("Authorization: Basic {right}\r\n"),
        format!("{}{}", line("Basic eA=="), line(&format!("Basic {right}"))),
    ];
    for headers in wrong {
        for target in [format!("GET http://{site}/"), format!("CONNECT {site}"), "GET /".to_owned()] {
            let answer = ask(&proxy, &format!("{target} HTTP/1.1\r\nHost: {site}\r\n{headers}\r\n")).await;
            assert_eq!(status(&answer), 407, "{target} {headers}");
            assert!(answer.contains("proxy-authenticate: Basic realm=\"mxd\""), "{answer}");
            assert!(body(&answer).contains("HTTP_PROXY") && !answer.contains(&credentials[4..]), "{answer}");
        }
    }
    assert_eq!(origin.visitors(), 0);
    assert!(proxy.visits().iter().all(|visit| visit.verdict == Verdict::Unasked && visit.status == 407));

    let request =
        format!("GET http://{site}/ HTTP/1.1\r\nHost: {site}\r\nproxy-authorization: bAsIc {right}\r\n\r\n");
    let answer = ask(&proxy, &request).await;
    assert_eq!((status(&answer), body(&answer)), (200, "hello"));
    assert!(!origin.request().await.to_ascii_lowercase().contains("authorization"));
}

#[tokio::test]
async fn tokens_differ_and_are_not_shown() {
    let origin = Origin::hello().await;
    let (one, _, first) = start(&origin).await;
    let (_two, _, second) = start(&origin).await;
    assert_ne!(first, second);
    assert!(first.len() >= 36, "{first}");
    let shown = format!("{one:?}");
    assert!(!shown.contains(&first[4..]) && !shown.contains(&STANDARD.encode(&first)), "{shown}");
}

#[tokio::test]
async fn the_environment_is_what_programs_look_for() {
    let origin = Origin::hello().await;
    let (proxy, url, _) = start(&origin).await;
    let Address::Loopback(address) = proxy.address() else { panic!("{:?}", proxy.address()) };
    assert!(address.ip().is_loopback() && url.ends_with(&format!("@127.0.0.1:{}", address.port())), "{url}");
    let env = proxy.env();
    let value = |name: &str| env.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
        assert_eq!(value(name), Some(url.as_str()), "{name}");
    }
    for name in ["NO_PROXY", "no_proxy"] {
        assert_eq!(value(name), Some("localhost,127.0.0.1,::1"));
    }
}

#[tokio::test]
async fn curl_finds_its_way_by_the_environment() {
    let mut origin = Origin::hello().await;
    let (proxy, _, _) = start(&origin).await;
    let curl = |args: &[&str], host: &str| {
        let mut command = tokio::process::Command::new("curl");
        command.args(["--silent", "--show-error", "--max-time", "60"]).args(args);
        command.arg(format!("http://{host}:{}/path", origin.port));
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).envs(proxy.env());
        command.stdin(Stdio::null()).output()
    };
    // Once sent on, once through a tunnel.
    for args in [&[][..], &["--proxytunnel"][..]] {
        let output = curl(args, SITE).await.unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "hello", "{output:?}");
    }
    let output = curl(&[], "denied.test").await.unwrap();
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("Ask the user to add `denied.test"),
        "{output:?}"
    );
    assert!(origin.request().await.starts_with("GET /path HTTP/1.1\r\n"));
    assert!(origin.request().await.starts_with("GET /path HTTP/1.1\r\n"));
}
