//! The same contract on the embedded chain and on nodes that are not ours: the same gas, the same results.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::workshop::{Workshop, here};

/// A key only these tests use; each node is told to fund it.
const KEY: &str = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b786911";
const TOKEN: &str = "a-token-nobody-can-guess";
const FRIEND: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a node and waits until it says where it listens.
fn start(shop: &Workshop, name: &str) -> (Running, String) {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let mut command = shop.node(name);
    match name {
        "anvil" => command.args(["--port", &port, "--chain-id", "777"]),
        _ => {
            let account = format!("{KEY},1000000000000000000000");
            let network = ["--chain.chainId", "777", "--chain.networkId", "777", "--wallet.accounts"];
            command.args(["--server.port", &port]).args(network).arg(account)
        }
    };
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let output = child.stdout.take().unwrap();
    let mut lines = BufReader::new(output).lines();
    let running = Running(child);
    lines
        .find(|line| line.as_ref().unwrap().to_lowercase().contains("listening on"))
        .expect("the node did not start")
        .unwrap();
    // What it goes on to say must not fill the pipe.
    std::thread::spawn(move || lines.for_each(drop));
    (running, format!("http://127.0.0.1:{port}"))
}

struct Desk<'a> {
    shop: &'a Workshop,
    data: tempfile::TempDir,
}

impl Desk<'_> {
    fn run(&self, tool: &str, request: &Value) -> Value {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tachyon"));
        command.arg("--data").arg(self.data.path()).arg("--config").arg(self.data.path().join("config.json"));
        command.env("PAYER_KEY", KEY).env("TOKEN", TOKEN).args(["run", tool, "-"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(request.to_string().as_bytes()).unwrap();
        serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap()
    }

    fn done(&self, tool: &str, request: &Value) -> Value {
        let told = self.run(tool, request);
        assert_eq!(told["ok"], true, "{tool} {request}: {told:#}");
        told["data"].clone()
    }

    fn configure(&self, chains: &[(&str, String)]) {
        let path = self.shop.config(&self.data);
        let mut config: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let names: Vec<&str> = chains.iter().map(|(name, _)| *name).collect();
        let profile = |(name, url): &(&str, String)| json!({ "id": name, "name": name, "chain_id": 777, "rpc_url": url });
        config["chains"] = chains.iter().map(profile).collect();
        config["allow_private_rpc"] = true.into();
        config["accounts"] = json!([{ "name": "payer", "key": "$env:PAYER_KEY" }]);
        let wei = "1000000000000000000";
        config["policies"] = json!([{
            "name": "test", "token": "$env:TOKEN", "chains": names, "accounts": ["payer"], "allow_deploy": true,
            "max_call_wei": wei, "max_total_wei": wei, "targets": [],
        }]);
        std::fs::File::create(&path).unwrap().write_all(config.to_string().as_bytes()).unwrap();
    }
}

/// What a chain makes of the contract: gas of the deployment, a balance, and why somebody may not mint.
fn story(desk: &Desk<'_>, chain: &str) -> (Value, Value, Value) {
    let args = json!(["1000000000000000000000"]);
    // The node's chains have one number, so one key would be one deployment: each gets its own.
    let order = json!({
        "idempotency_key": format!("on {chain}"), "chain_id": chain, "contract": "Token", "constructor_args": args,
        "capability_token": TOKEN,
    });
    let deployed = desk.done("deploy", &order);
    assert_eq!(desk.done("deploy", &order)["existing"], true);
    let (to, from) = (&deployed["address"], &deployed["receipt"]);
    let held = desk
        .done("call", &json!({ "chain_id": chain, "to": to, "method": "totalSupply", "contract": "Token" }));
    let mint = json!({
        "chain_id": chain, "to": to, "method": "mint", "args": [FRIEND, 1], "contract": "Token", "simulate_only": true,
        "from": FRIEND,
    });
    let refused = desk.run("call", &mint)["error"]["details"]["revert"].clone();
    (from["gas_used"].clone(), held["decoded"].clone(), refused)
}

pub(crate) fn agree(shop: &Workshop) {
    let (_anvil, anvil) = start(shop, "anvil");
    let (_ganache, ganache) = start(shop, "ganache");
    let desk = Desk { shop, data: shop.data() };
    desk.configure(&[("anvil", anvil.clone()), ("ganache", ganache)]);
    fund(&anvil);
    let source = std::fs::read_to_string(here().join("contracts/Token.sol")).unwrap();
    // Ganache knows no rules after Shanghai.
    desk.done("compile", &json!({ "sources": { "Token.sol": source }, "evm_version": "paris" }));
    let ours = story(&desk, "dev");
    assert_eq!(ours.2["kind"], "custom", "{ours:?}");
    assert_eq!(story(&desk, "anvil"), ours);
    assert_eq!(story(&desk, "ganache"), ours);
}

/// Anvil funds accounts on request.
fn fund(url: &str) {
    let request = json!({
        "jsonrpc": "2.0", "id": 1, "method": "anvil_setBalance",
        "params": [address(), "0x3635c9adc5dea00000"],
    });
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let body = request.to_string();
    let head = format!(
        "POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let mut told = String::new();
    std::io::Read::read_to_string(&mut stream, &mut told).unwrap();
    assert!(told.contains("result"), "{told}");
}

fn address() -> alloy_primitives::Address {
    let key = k256::ecdsa::SigningKey::from_slice(&hex::decode(&KEY[2..]).unwrap()).unwrap();
    alloy_primitives::Address::from_public_key(key.verifying_key())
}
