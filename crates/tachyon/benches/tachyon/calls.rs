//! Calls and transactions per second: the embedded chain against a node, through the same verb.

use serde_json::{Value, json};
use tachyon::{CallContext, Config, Engine, TenantName};

use crate::others::{Others, write};
use crate::row::Row;

const KEY: &str = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b786911";
const FRIEND: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
/// A contract that returns 42 to everybody, with the code that creates it.
const CREATION: &str = "0x61000a80600c6000396000f3602a60005260206000f3";

struct Desk {
    engine: Engine,
    runtime: tokio::runtime::Runtime,
    context: CallContext,
}

impl Desk {
    fn done(&self, tool: &str, request: &Value) -> Value {
        let answer = self.runtime.block_on(self.engine.call(tool, request.clone(), &self.context));
        let told = answer.to_json();
        assert!(answer.is_ok(), "{told}");
        told["data"].clone()
    }

    /// How often a second something can be done, one after the other.
    fn rate(&self, times: usize, tool: &str, request: &Value) -> f64 {
        let took = crate::milliseconds(|| {
            for _ in 0..times {
                self.done(tool, request);
            }
        });
        times as f64 * 1_000.0 / took
    }
}

pub(crate) fn run(others: &Others, times: usize) {
    let (_anvil, url) = others.anvil();
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.json");
    for (name, secret) in [("key", KEY), ("token", "a-token-nobody-can-guess")] {
        write(&folder.path().join(name), secret);
    }
    let place = |name: &str| format!("file:{}", folder.path().join(name).display());
    let much = "1000000000000000000000";
    write(&config, &json!({
        "allow_private_rpc": true,
        "chains": [{ "id": "anvil", "name": "anvil", "chain_id": 777, "rpc_url": url }],
        "accounts": [{ "name": "payer", "key": place("key") }],
        "policies": [{
            "name": "bench", "token": place("token"), "chains": ["anvil"], "accounts": ["payer"], "max_call_wei": much,
            "max_total_wei": much, "targets": [{ "address": FRIEND, "methods": [] }],
        }],
    }).to_string());
    let config = Config::load(Some(&config)).unwrap().with_data(folder.path().join("data"));
    let desk = Desk {
        engine: Engine::new(config),
        runtime: tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap(),
        context: CallContext::of(TenantName::new("bench").unwrap()),
    };
    // Both chains answer what creating a contract would give: no account, no state, the same work.
    let on = |chain: &str| json!({ "chain_id": chain, "data": CREATION });
    for chain in ["dev", "anvil"] {
        assert_eq!(desk.done("tachyon_simulate", &on(chain))["result"], "0x602a60005260206000f3");
    }
    let node = desk.rate(times, "tachyon_simulate", &on("anvil"));
    let ours = desk.rate(times, "tachyon_simulate", &on("dev"));
    tell("simulations on the embedded chain, beside a node", ours, node, Some(">= 2"));
    fund(&desk, &url);
    let pay = |chain: &str| {
        json!({
            "chain_id": chain, "to": FRIEND, "value": "1", "capability_token": "a-token-nobody-can-guess",
        })
    };
    let node = desk.rate(times / 20, "tachyon_call", &pay("anvil"));
    let ours = desk.rate(times / 20, "tachyon_call", &pay("dev"));
    tell("durable transactions on the embedded chain, beside a node", ours, node, Some(">= 1"));
}

fn tell(metric: &str, value: f64, baseline: f64, bar: Option<&'static str>) {
    Row { metric: metric.into(), unit: "per second", value, baseline: Some(baseline), bar }.tell();
}

/// Anvil funds accounts on request.
fn fund(desk: &Desk, url: &str) {
    let params = json!(["0x", "0x3635c9adc5dea00000"]);
    let address = {
        let key = k256::ecdsa::SigningKey::from_slice(&hex::decode(&KEY[2..]).unwrap()).unwrap();
        alloy_primitives::Address::from_public_key(key.verifying_key())
    };
    let mut request = json!({ "jsonrpc": "2.0", "id": 1, "method": "anvil_setBalance", "params": params });
    request["params"][0] = json!(address);
    let post =
        reqwest::Client::new().post(url).header("content-type", "application/json").body(request.to_string());
    let told = desk.runtime.block_on(async { post.send().await?.text().await }).unwrap();
    assert!(told.contains("result"), "{told}");
}
