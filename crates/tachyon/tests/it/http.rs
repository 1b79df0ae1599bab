//! The HTTP interface.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::program::Home;

const TOKEN: &str = "a-token-nobody-can-guess";

struct Server {
    child: Child,
    address: String,
    _home: Home,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn serve() -> Server {
    serve_with(json!({}))
}

fn serve_with(mut config: Value) -> Server {
    let tenants = json!([{ "name": "one", "token": "$env:TOKEN" }, { "name": "two", "token": "$env:OTHER" }]);
    config["tenants"] = tenants;
    let home =
        Home::with(config).variable("TOKEN", TOKEN).variable("OTHER", "another-token-nobody-can-guess");
    let mut command = home.command();
    let mut child =
        command.args(["serve", "--listen", "127.0.0.1:0"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("http://").unwrap().to_owned();
    Server { child, address, _home: home }
}

impl Server {
    fn ask(&self, method: &str, path: &str, token: &str, body: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer {token}\r\ncontent-length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        // A server that has seen enough may close before it has read everything.
        let _ = stream.write_all(body.as_bytes());
        let mut text = String::new();
        let _ = stream.read_to_string(&mut text);
        let status = text.split(' ').nth(1).unwrap_or("0").parse().unwrap();
        let json =
            text.split_once("\r\n\r\n").map(|(_, body)| serde_json::from_str(body).unwrap_or_default());
        (status, json.unwrap_or_default())
    }
}

#[test]
fn nobody_without_a_token_gets_in() {
    let server = serve();
    for (path, method) in [("/rpc", "POST"), ("/v1/chains", "GET"), ("/v1/deploy", "POST")] {
        for token in ["", "one", "wrong-token-of-somebody"] {
            let (status, told) = server.ask(method, path, token, "{}");
            assert_eq!((status, &told["ok"]), (401, &json!(false)), "{path}");
        }
    }
    let (status, told) = server.ask("GET", "/healthz", "", "");
    assert_eq!((status, told["data"]["tools"].as_array().unwrap().len()), (200, 9));
    let (status, told) = server.ask("GET", "/nothing", "", "");
    assert_eq!((status, &told["ok"]), (404, &json!(false)));
    let output = Home::new().command().arg("serve").output().unwrap();
    assert_eq!(output.status.code(), Some(1), "without tenants nothing is served");
}

#[test]
fn verbs_answer_over_rest_and_rpc_each_for_its_tenant() {
    let server = serve();
    let payment = json!({ "to": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", "value": "1" });
    let (status, told) = server.ask("POST", "/v1/call", TOKEN, &payment.to_string());
    assert_eq!((status, &told["data"]["sent"]), (200, &json!(true)), "{told}");
    let rpc = |method: &str, params: Value| {
        let request = json!({ "jsonrpc": "2.0", "id": 5, "method": method, "params": params });
        server.ask("POST", "/rpc", TOKEN, &request.to_string()).1
    };
    assert_eq!(rpc("tachyon_chain_list", json!({}))["result"]["data"]["embedded_block"], 1);
    assert_eq!(rpc("tachyon_simulate", json!({ "to": 5 }))["result"]["error"]["code"], "INVALID_REQUEST");
    assert_eq!(rpc("tachyon_nothing", json!({}))["error"]["code"], -32601);
    assert_eq!(rpc("tachyon_chain_list", json!([]))["error"]["code"], -32602);
    assert_eq!(server.ask("POST", "/rpc", TOKEN, "{").1["error"]["code"], -32700);
    assert_eq!(server.ask("POST", "/rpc", TOKEN, "[]").1["error"]["code"], -32600);
    let (_, told) = server.ask("GET", "/v1/chains", "another-token-nobody-can-guess", "");
    assert_eq!(told["data"]["embedded_block"], 0, "the other tenant has a chain of its own");
    for (method, path, body, status) in [
        ("POST", "/v1/simulate", "{", 400),
        ("POST", "/v1/simulate", "{\"to\":1}", 400),
        ("GET", "/v1/artifacts/Nothing", "", 404),
        ("GET", "/v1/registry/deployments?key=k&chain_id=dev", "", 200),
        ("GET", "/v1/registry/deployments?key=k&chain_id=nowhere", "", 404),
    ] {
        assert_eq!(server.ask(method, path, TOKEN, body).0, status, "{path}");
    }
    let (status, _) = server.ask("POST", "/v1/compile", TOKEN, &"x".repeat(33 << 20));
    assert!(status == 413 || status == 0, "{status}");
}

#[test]
fn clients_that_stall_are_sent_away_and_others_are_served() {
    let server = serve_with(json!({ "client_seconds": 2 }));
    let begin = |text: &str| {
        let mut stream = TcpStream::connect(&server.address).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        stream
    };
    let head = format!("POST /v1/call HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {TOKEN}\r\n");
    let silent: Vec<TcpStream> = ["", "POST", &head].into_iter().map(begin).collect();
    let mut slow = begin(&format!("{head}content-length: 100\r\n\r\n{{\"to\""));
    let (status, _) = server.ask("GET", "/v1/chains", TOKEN, "");
    assert_eq!(status, 200, "meanwhile others are served");
    for mut stream in silent {
        let mut text = String::new();
        let _ = stream.read_to_string(&mut text);
        assert!(text.is_empty() || text.starts_with("HTTP/1.1 408"), "{text}");
    }
    let mut text = [0; 12];
    slow.read_exact(&mut text).unwrap();
    assert_eq!(&text, b"HTTP/1.1 408");
    let many = "x".repeat(100_000);
    let mut stream = begin(&format!("GET /healthz HTTP/1.1\r\nhost: x\r\nlong: {many}"));
    let mut text = String::new();
    let _ = stream.read_to_string(&mut text);
    assert!(text.is_empty() || text.starts_with("HTTP/1.1 431"), "{text}");
}
