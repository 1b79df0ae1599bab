//! Who is let in, and who is not.

use std::os::unix::fs::PermissionsExt as _;

use aws_lc_rs::encoding::{AsDer as _, PublicKeyX509Der};
use aws_lc_rs::rsa::{KeySize, OAEP_SHA256_MGF1SHA256, OaepPrivateDecryptingKey, PrivateDecryptingKey};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mxd_server::{Contact, Policy, StartError, serve};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use crate::events::Stream;
use crate::stage::{Stage, options, reply, text, with, write};

/// A browser with its key.
pub(crate) struct Browser {
    key: OaepPrivateDecryptingKey,
    public: String,
}

impl Browser {
    pub(crate) fn new() -> Self {
        let key = PrivateDecryptingKey::generate(KeySize::Rsa2048).unwrap();
        let spki: PublicKeyX509Der<'_> = key.public_key().as_der().unwrap();
        let public = STANDARD.encode(spki.as_ref());
        Self { key: OaepPrivateDecryptingKey::new(key).unwrap(), public }
    }

    fn decrypt(&self, sealed: &str) -> String {
        let sealed = STANDARD.decode(sealed).unwrap();
        let mut room = vec![0; self.key.min_output_size()];
        let plain = self.key.decrypt(&OAEP_SHA256_MGF1SHA256, &sealed, &mut room, None).unwrap();
        String::from_utf8(plain.to_vec()).unwrap()
    }

    /// Logs in as a user does: challenge, `mxd auth`, answer.
    pub(crate) async fn log_in(&self, stage: &Stage) -> String {
        let (id, answer) = self.answer(stage).await;
        let (status, session) = log_in(stage, &id, &answer).await;
        assert_eq!(status, 200, "{session}");
        text(&session["token"])
    }

    async fn answer(&self, stage: &Stage) -> (String, String) {
        let (status, challenge) = reply(with(
            stranger(stage, Method::POST, "/auth/challenge"),
            &json!({ "publicKey": self.public }),
        ))
        .await;
        assert_eq!(status, 200, "{challenge}");
        assert_eq!(challenge["command"], json!(format!("mxd auth {}", self.public)));
        let (status, granted) =
            stage.post("/auth/grant", json!({ "publicKey": self.public, "label": "laptop" })).await;
        assert_eq!(status, 200, "{granted}");
        (text(&challenge["challengeId"]), self.decrypt(&text(&granted["answer"])))
    }
}

pub(crate) fn stranger(stage: &Stage, method: Method, path: &str) -> RequestBuilder {
    stage.client.request(method, stage.url(path))
}

async fn log_in(stage: &Stage, id: &str, answer: &str) -> (u16, Value) {
    let body = json!({ "challengeId": id, "answer": answer });
    reply(with(stranger(stage, Method::POST, "/auth/login"), &body)).await
}

pub(crate) async fn refused(request: RequestBuilder) -> (u16, String) {
    let (status, body) = reply(request).await;
    (status, body["error"]["code"].as_str().unwrap_or("no code").to_owned())
}

pub(crate) fn no(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_way_in_that_is_none_is_refused() {
    let stage = Stage::set(json!([])).await;
    let ask = || stranger(&stage, Method::GET, "/projects");
    let token = stage.running().contact().token.clone();
    let unknown = no(401, "unauthenticated");

    assert_eq!(refused(ask()).await, unknown, "no token");
    assert_eq!(refused(ask().bearer_auth("guess")).await, unknown, "a wrong token");
    assert_eq!(
        refused(ask().header("authorization", format!("Basic {token}"))).await,
        unknown,
        "another scheme"
    );
    let in_url = stranger(&stage, Method::GET, &format!("/projects?token={token}"));
    assert_eq!(refused(in_url).await, unknown, "the token in the URL");
    let in_stream = format!("/events?projectId={}&token={token}", stage.project);
    assert_eq!(refused(stranger(&stage, Method::GET, &in_stream)).await, unknown, "also for a stream");
    assert_eq!(refused(ask().header("cookie", format!("mxd_session={token}"))).await, unknown, "as a cookie");

    let good = || ask().bearer_auth(&token);
    let host = |name: &str| good().header("host", name);
    assert_eq!(refused(host("evil.example")).await, no(403, "wrong_host"));
    assert_eq!(refused(host("localhost:1")).await, no(403, "wrong_host"));
    for origin in ["https://evil.example", "null", "http://localhost:1", "file://"] {
        assert_eq!(refused(good().header("origin", origin)).await, no(403, "wrong_origin"), "{origin}");
    }
    assert_eq!(refused(good().header("sec-fetch-site", "cross-site")).await, no(403, "wrong_origin"));
    let own = format!("http://{}", stage.running().address());
    assert_eq!(reply(good().header("origin", own)).await.0, 200);
    assert_eq!(reply(good()).await.0, 200);
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_logs_in_with_a_challenge_that_holds_once() {
    let stage = Stage::set(json!([])).await;
    let browser = Browser::new();
    let wrong = no(401, "wrong_answer");

    let begun =
        with(stranger(&stage, Method::POST, "/auth/challenge"), &json!({ "publicKey": browser.public }));
    let id = text(&reply(begun).await.1["challengeId"]);
    assert_eq!(code(log_in(&stage, &id, "guess").await), wrong, "nobody spoke for it");
    assert_eq!(code(log_in(&stage, &id, "guess").await), wrong, "and it is used up");

    let (id, answer) = browser.answer(&stage).await;
    assert_eq!(code(log_in(&stage, &id, &format!("{answer}x")).await), wrong);
    assert_eq!(code(log_in(&stage, &id, &answer).await), wrong, "a wrong answer ends the challenge");

    let (id, answer) = browser.answer(&stage).await;
    assert_eq!(log_in(&stage, &id, &answer).await.0, 200);
    assert_eq!(code(log_in(&stage, &id, &answer).await), wrong, "replayed");

    let other = Browser::new();
    let grant = stage.post("/auth/grant", json!({ "publicKey": other.public })).await;
    assert_eq!(code(grant), no(404, "no_challenge"));
    for bad in ["", "AAAA", "not base64!"] {
        let begun = with(stranger(&stage, Method::POST, "/auth/challenge"), &json!({ "publicKey": bad }));
        assert_eq!(refused(begun).await, no(422, "schema"), "{bad}");
    }
    stage.end().await;
}

fn code((status, body): (u16, Value)) -> (u16, String) {
    (status, body["error"]["code"].as_str().unwrap_or("no code").to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_ends_by_log_out_by_revocation_and_by_time() {
    let mut stage = Stage::set(json!([])).await;
    let (one, two) = (Browser::new().log_in(&stage).await, Browser::new().log_in(&stage).await);
    let ask = |stage: &Stage, token: &str| stranger(stage, Method::GET, "/projects").bearer_auth(token);
    assert_eq!(reply(ask(&stage, &one)).await.0, 200);

    let kept = std::fs::read_to_string(stage.ground.path().join("data/sessions.json")).unwrap();
    assert!(!kept.contains(&one) && !kept.contains(&two), "only hashes are kept");
    stage.restart().await;
    assert_eq!(reply(ask(&stage, &one)).await.0, 200, "a session outlives the daemon");

    let body = json!({ "publicKey": Browser::new().public });
    let grant = with(stranger(&stage, Method::POST, "/auth/grant").bearer_auth(&one), &body);
    assert_eq!(refused(grant).await, no(403, "local_only"), "a session lets nobody in");

    let out = with(stranger(&stage, Method::POST, "/auth/logout").bearer_auth(&one), &json!({}));
    assert_eq!(reply(out).await.1, json!({ "loggedOut": true }));
    assert_eq!(refused(ask(&stage, &one)).await, no(401, "unauthenticated"));

    let (_, listed) = stage.get("/auth/sessions").await;
    let id = text(&listed["sessions"][0]["id"]);
    assert_eq!(
        (listed["sessions"].as_array().unwrap().len(), &listed["sessions"][0]["label"]),
        (1, &json!("laptop"))
    );
    assert_eq!(stage.delete(&format!("/auth/sessions/{id}")).await.0, 200);
    assert_eq!(refused(ask(&stage, &two)).await, no(401, "unauthenticated"));
    assert_eq!(code(stage.delete(&format!("/auth/sessions/{id}")).await), no(404, "no_such_session"));

    // One whose time is over: as it would be on disk.
    let three = Browser::new().log_in(&stage).await;
    let path = stage.ground.path().join("data/sessions.json");
    let mut kept: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    kept[0]["expiresAt"] = json!(1);
    write(path, &kept.to_string());
    stage.restart().await;
    assert_eq!(refused(ask(&stage, &three)).await, no(401, "unauthenticated"), "expired");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cookie_needs_a_page_of_ours_to_change_anything() {
    let stage = Stage::set(json!([])).await;
    let browser = Browser::new();
    let (id, answer) = browser.answer(&stage).await;
    let body = json!({ "challengeId": id, "answer": answer });
    let answer = with(stranger(&stage, Method::POST, "/auth/login"), &body).send().await.unwrap();
    let cookie = answer.headers()["set-cookie"].to_str().unwrap().to_owned();
    for part in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age="] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let with_cookie = |method: Method| {
        stranger(&stage, method, "/projects")
            .header("cookie", &cookie)
            .header("content-type", "application/json")
    };
    let own = format!("http://{}", stage.running().address());
    assert_eq!(reply(with_cookie(Method::GET)).await.0, 200);
    assert_eq!(refused(with_cookie(Method::POST).body("{}")).await, no(403, "wrong_origin"));
    let evil = with_cookie(Method::POST).header("origin", "http://evil.example").body("{}");
    assert_eq!(refused(evil).await, no(403, "wrong_origin"));
    let page = with_cookie(Method::POST).header("origin", own).body("{}");
    assert_eq!(refused(page).await, no(422, "schema"), "let in, and then the body is looked at");
    let form =
        stage.ask(Method::POST, "/projects").header("content-type", "text/plain").body("{\"path\":\"/\"}");
    assert_eq!(refused(form).await, no(415, "not_json"));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_token_opens_one_stream_and_nothing_else() {
    let stage = Stage::set(json!([])).await;
    let (status, fresh) = stage.post("/auth/stream-token", json!({ "projectId": stage.project })).await;
    assert_eq!(status, 200, "{fresh}");
    let token = text(&fresh["token"]);
    let path = format!("/events?projectId={}&token={token}", stage.project);
    let answer = stranger(&stage, Method::GET, &path).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(Stream::new(answer).next().await.unwrap().name, "snapshot");
    let elsewhere = [
        format!("/projects?token={token}"),
        format!("/events?projectId=00000000000000000000000000&token={token}"),
    ];
    for path in elsewhere {
        assert_eq!(refused(stranger(&stage, Method::GET, &path)).await, no(401, "unauthenticated"), "{path}");
    }
    let as_bearer = stranger(&stage, Method::GET, "/projects").bearer_auth(&token);
    assert_eq!(refused(as_bearer).await, no(401, "unauthenticated"));
    stage.end().await;
}

/// Sends a request as it stands and reads the first line of the answer.
async fn first_line(stage: &Stage, request: String) -> String {
    let mut connection = tokio::net::TcpStream::connect(stage.running().address()).await.unwrap();
    connection.write_all(request.as_bytes()).await.unwrap();
    let mut lines = BufReader::new(connection).lines();
    lines.next_line().await.unwrap().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_host_headers_are_refused_everywhere() {
    let stage = Stage::set(json!([])).await;
    let own = stage.running().address();
    for path in ["/health", "/version", "/", "/projects", "/nowhere"] {
        for (one, other) in [(own.to_string(), "evil.example".to_owned()), (own.to_string(), own.to_string())]
        {
            let request =
                format!("GET {path} HTTP/1.1\r\nHost: {one}\r\nHost: {other}\r\nConnection: close\r\n\r\n");
            assert_eq!(first_line(&stage, request).await, "HTTP/1.1 403 Forbidden", "{path} {other}");
        }
        let named =
            format!("GET http://{own}{path} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
        assert_eq!(first_line(&stage, named).await, "HTTP/1.1 403 Forbidden", "{path} in the URL");
    }
    let sound = format!("GET /health HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\n\r\n");
    assert_eq!(first_line(&stage, sound).await, "HTTP/1.1 200 OK");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn health_says_nothing_about_the_settings_to_strangers() {
    let stage = Stage::set(json!([])).await;
    let asked = |path: &str| stranger(&stage, Method::GET, path);
    assert_eq!(reply(asked("/health")).await.0, 200);
    assert_eq!(reply(asked("/health?check_model=false")).await.0, 200);
    assert_eq!(refused(asked("/health?check_model=true")).await, no(401, "unauthenticated"));
    let (status, health) = stage.get("/health?check_model=true").await;
    assert_eq!((status, &health["model"]["ok"]), (200, &json!(true)));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn attempts_to_log_in_are_limited() {
    let stage = Stage::set(json!([])).await;
    let mut attempts = 0;
    while log_in(&stage, "none", "guess").await.0 == 401 {
        attempts += 1;
        assert!(attempts < 500, "nobody stops me");
    }
    assert!(attempts >= 10, "a few mistakes are human: {attempts}");
    assert_eq!(code(log_in(&stage, "none", "guess").await), no(429, "rate_limit"));
    assert_eq!(stage.get("/projects").await.0, 200, "nobody else is held up");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_file_with_the_token_is_the_users_alone() {
    let stage = Stage::set(json!([])).await;
    let data = stage.ground.path().join("data");
    let path = data.join("daemon.json");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(Contact::read(&data).unwrap(), *stage.running().contact());
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let exposed = Contact::read(&data).unwrap_err().to_string();
    assert!(exposed.contains("others can read it"), "{exposed}");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    // Only root can give a file away; elsewhere that part of the story cannot be told.
    if std::os::unix::fs::chown(&path, Some(65_534), None).is_ok() {
        let foreign = Contact::read(&data).unwrap_err().to_string();
        assert!(foreign.contains("belongs to another user"), "{foreign}");
        std::os::unix::fs::chown(&path, Some(rustix::process::geteuid().as_raw()), None).unwrap();
    }
    std::fs::rename(&path, data.join("elsewhere.json")).unwrap();
    std::os::unix::fs::symlink(data.join("elsewhere.json"), &path).unwrap();
    Contact::read(&data).unwrap_err();
    std::fs::remove_file(&path).unwrap();
    std::fs::rename(data.join("elsewhere.json"), &path).unwrap();
    stage.end().await;
    assert!(!path.exists(), "a daemon that has ended leaves no token behind");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_daemon_is_for_this_machine_only() {
    let ground = tempfile::TempDir::new().unwrap();
    let open = |bind: [u8; 4]| {
        let mut options = options(ground.path());
        (options.policy, options.bind) = (Policy::Open, (bind, 0).into());
        options
    };
    assert!(matches!(serve(open([0, 0, 0, 0])).await, Err(StartError::OpenToAll { .. })));
    let running = serve(open([127, 0, 0, 1])).await.unwrap();
    running.ready().await;
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let url = format!("http://{}/projects", running.address());
    assert_eq!(client.get(&url).send().await.unwrap().status(), 200);
    assert_eq!(client.get(&url).header("origin", "http://evil.example").send().await.unwrap().status(), 403);
    running.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_keep_browsers_from_being_helpful() {
    let stage = Stage::set(json!([])).await;
    for path in ["/health", "/projects", "/", "/nowhere"] {
        let answer = stage.ask(Method::GET, path).send().await.unwrap();
        let header = |name: &str| {
            answer.headers().get(name).unwrap_or_else(|| panic!("{path}: no {name}")).to_str().unwrap()
        };
        assert!(header("content-security-policy").contains("default-src 'none'"), "{path}");
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert!(header("content-security-policy").contains("frame-ancestors 'none'"), "{path}");
        assert_eq!(header("cross-origin-resource-policy"), "same-origin");
        if !["/health", "/projects"].contains(&path) {
            assert_eq!(header("x-frame-options"), "DENY");
            assert_eq!(header("referrer-policy"), "no-referrer");
        }
        assert_eq!(answer.headers().get("access-control-allow-origin"), None);
    }
    stage.end().await;
}
