//! Nothing is sent twice, nothing is sent without a right, and nothing is called done that is not.

use serde_json::{Value, json};

use crate::node::{CHAIN, Node, Turn};
use crate::program::{Home, lines};

const TOKEN: &str = "a-token-nobody-can-guess";
const KEY: &str = "0x4f3edf983ac636a65a842ce7c78d9aa706d3b113bce9c46f30d7d21715b23b1d";

/// Everything a node needs to be used, and a policy that allows little.
pub(crate) fn config(node: &Node) -> Value {
    json!({
        "allow_private_rpc": true,
        "chains": [{ "id": "test", "name": "Test", "chain_id": CHAIN, "rpc_url": node.url }],
        "accounts": [{ "name": "payer", "key": "$env:PAYER_KEY" }],
        "policies": [{
            "name": "all", "token": "$env:TOKEN", "chains": ["test"], "accounts": ["payer"],
            "max_call_wei": "2000000", "max_total_wei": "100000000", "allow_deploy": true,
            "targets": [{ "address": "0x00000000000000000000000000000000000000aa", "methods": ["poke(uint256)"] }],
        }],
    })
}

/// The same for one who does not wait for what does not come.
fn impatient(node: &Node) -> Value {
    let mut config = config(node);
    config["receipt_seconds"] = json!(1);
    config
}

/// A home with a policy for the chain of this node.
pub(crate) fn home(node: &Node) -> Home {
    let home = Home::with(config(node)).variable("PAYER_KEY", KEY).variable("TOKEN", TOKEN);
    home.keep_artifacts();
    home
}

pub(crate) fn deploy(key: &str) -> Value {
    json!({ "idempotency_key": key, "chain_id": "test", "contract": "Answer", "capability_token": TOKEN })
}

/// What a node says instead of the truth.
type Lie = fn() -> Turn;

fn on_dev(key: &str) -> Value {
    json!({ "idempotency_key": key, "chain_id": "dev", "contract": "Answer" })
}

#[test]
fn a_hundred_deploys_with_one_key_are_one() {
    let home = Home::new();
    home.keep_artifacts();
    let mut mcp = home.mcp();
    let ids: Vec<u64> = (0..100).map(|_| mcp.begin("tachyon_deploy", &on_dev("once"))).collect();
    let mut addresses = Vec::new();
    let mut fresh = 0;
    while addresses.len() < ids.len() {
        let message = mcp.hear().unwrap();
        if message.get("id").is_none() {
            continue;
        }
        let data = &message["result"]["structuredContent"]["data"];
        fresh += usize::from(data["existing"] == false);
        addresses.push(data["address"].as_str().unwrap().to_owned());
    }
    addresses.dedup();
    assert_eq!((addresses.len(), fresh), (1, 1));
    assert_eq!(lines(&home.data().join("tenants/local/chain.jsonl")).len(), 1);
}

#[test]
fn processes_share_registry_chain_and_nonces() {
    let home = Home::new();
    home.keep_artifacts();
    let start = |key: &str| {
        let mut command = home.command();
        let request = on_dev(key).to_string();
        command.args(["run", "deploy", &request]).stdout(std::process::Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<_> = (0..12).map(|index| start(if index < 6 { "same" } else { "other" })).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    assert_eq!(lines(&home.data().join("tenants/local/chain.jsonl")).len(), 2);
    let found = home.done("registry_lookup", json!({ "idempotency_key": "same", "chain_id": 31337 }));
    assert_eq!((&found["found"], &found["confirmed"]), (&json!(true), &json!(true)));
}

#[test]
fn a_key_belongs_to_what_it_was_used_for() {
    let home = Home::new();
    home.keep_artifacts();
    let first = home.done("deploy", on_dev("k"));
    assert_eq!(first["existing"], false);
    let again = home.done("deploy", on_dev("k"));
    assert_eq!((&again["existing"], &again["address"]), (&json!(true), &first["address"]));
    let taking = |x: u8, from: &str| json!({ "idempotency_key": "k2", "chain_id": "dev", "contract": "Taking", "constructor_args": [x], "from": from });
    home.done("deploy", taking(1, "dev0"));
    home.refused("deploy", taking(2, "dev0"), "DEPLOY_IDEMPOTENT_HIT");
    home.refused("deploy", taking(1, "dev1"), "DEPLOY_IDEMPOTENT_HIT");
    assert_eq!(home.done("deploy", taking(1, "dev0"))["existing"], true);
    assert_eq!(lines(&home.data().join("tenants/local/chain.jsonl")).len(), 2);
}

#[test]
fn what_would_fail_is_not_sent() {
    let home = Home::new();
    home.keep_artifacts();
    let on_dev = |contract: &str, extra: Value| {
        let mut request = json!({ "idempotency_key": "k", "chain_id": "dev", "contract": contract });
        request.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        request
    };
    let told = home.refused("deploy", on_dev("Refusing", json!({})), "DEPLOY_FAILED");
    assert_eq!(told["details"]["revert"]["kind"], "empty");
    home.refused("deploy", on_dev("Abstract", json!({})), "DEPLOY_FAILED");
    home.refused("deploy", on_dev("Answer", json!({ "value": "1" })), "INVALID_REQUEST");
    for wrong in [json!([]), json!([256]), json!(["-1"]), json!([1, 2]), json!([1.5]), json!(["x"])] {
        home.refused("deploy", on_dev("Taking", json!({ "constructor_args": wrong })), "INVALID_REQUEST");
    }
    home.refused("deploy", on_dev("Answer", json!({ "spend_cap_wei": "1" })), "WALLET_POLICY_DENIED");
    home.refused("deploy", on_dev("Nothing", json!({})), "ARTIFACT_NOT_FOUND");
    home.refused("deploy", on_dev("Answer", json!({ "idempotency_key": "" })), "INVALID_REQUEST");
    assert_eq!(lines(&home.data().join("tenants/local/chain.jsonl")).len(), 0);
    let looked = home.done("registry_lookup", json!({ "idempotency_key": "k", "chain_id": "dev" }));
    assert_eq!(looked, json!({ "found": false }));
}

#[test]
fn an_honest_node_gets_one_transaction_per_key() {
    let node = Node::start();
    let home = home(&node);
    let first = home.done("deploy", deploy("a"));
    assert_eq!(first["existing"], false);
    assert_eq!(home.done("deploy", deploy("a"))["existing"], true);
    home.done("deploy", deploy("b"));
    let nonces: Vec<u64> = node.ledger.lock().unwrap().mined.iter().map(|(_, _, nonce, _)| *nonce).collect();
    assert_eq!(nonces, [0, 1]);
    let everything = walk(home.folder.path());
    assert!(!everything.contains("secret-path") || !everything.contains(KEY));
    assert!(!everything.contains(&KEY[2..]), "the key is in no file");
    let shown = home.run("chain_list", json!({})).to_string();
    assert!(!shown.contains("secret-path"), "{shown}");
}

/// All text below a folder.
fn walk(folder: &std::path::Path) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => text.push_str(&walk(&entry.path())),
            false => text.push_str(&std::fs::read_to_string(entry.path()).unwrap_or_default()),
        }
    }
    text
}

#[test]
fn whatever_a_node_does_a_retry_ends_with_one_deployment() {
    let lies: Vec<(&str, Lie)> = vec![
        ("eth_sendRawTransaction", || Turn::Silence),
        ("eth_sendRawTransaction", || Turn::Hang),
        ("eth_sendRawTransaction", || Turn::Say(json!({ "result": format!("0x{}", "11".repeat(32)) }))),
        ("eth_sendRawTransaction", || {
            Turn::Say(json!({ "error": { "code": -32000, "message": "txpool is full" } }))
        }),
        ("eth_sendRawTransaction", || Turn::Bytes(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"res".to_vec())),
        ("eth_getTransactionReceipt", || Turn::Hang),
        ("eth_getTransactionReceipt", || Turn::Say(json!({ "result": null }))),
        ("eth_getTransactionReceipt", || Turn::Say(json!({ "result": { "status": "0x1" } }))),
        ("eth_getTransactionReceipt", || Turn::Bytes(b"<html>".to_vec())),
        ("eth_getCode", || Turn::Say(json!({ "result": "0x" }))),
        ("eth_getCode", || Turn::Hang),
        ("eth_estimateGas", || Turn::Hang),
        ("eth_call", || Turn::Bytes(vec![0xff; 10])),
        ("eth_getTransactionCount", || Turn::Say(json!({ "result": "0xffffffffffffffffff" }))),
        ("eth_getBlockByNumber", || Turn::Say(json!({ "result": "junk" }))),
        ("eth_blockNumber", || Turn::Hang),
        ("eth_sendRawTransaction", || Turn::Stall),
        ("eth_sendRawTransaction", || Turn::Half),
        ("eth_getTransactionReceipt", || Turn::Stall),
        ("eth_getTransactionReceipt", || Turn::Half),
        ("eth_estimateGas", || Turn::Say(json!({ "result": "0xffffffffffffffff" }))),
        ("eth_getBlockByNumber", || {
            Turn::Say(json!({ "result": { "baseFeePerGas": format!("0x{}", "f".repeat(32)) } }))
        }),
    ];
    for (method, lie) in lies {
        let node = Node::start();
        let home = home(&node);
        let mut config = impatient(&node);
        if let Turn::Stall = lie() {
            config["rpc_seconds"] = json!(1);
        }
        home.configure(config);
        node.behave(move |asked, _| if asked == method { lie() } else { Turn::Honest });
        let told = home.run("deploy", deploy("k"));
        assert_eq!(told["ok"], false, "{method}: {told}");
        let looked = home.done("registry_lookup", json!({ "idempotency_key": "k", "chain_id": "test" }));
        assert_ne!(looked["confirmed"], true, "{method}: nothing is done that is not known to be: {looked}");
        node.behave(|_, _| Turn::Honest);
        home.configure(self::config(&node));
        let told = home.done("deploy", deploy("k"));
        assert_eq!(node.mined(), 1, "{method}: {told}");
        let looked = home.done("registry_lookup", json!({ "idempotency_key": "k", "chain_id": "test" }));
        assert_eq!(looked["confirmed"], true, "{method}");
    }
}

#[test]
fn a_node_of_another_chain_gets_nothing() {
    let node = Node::start();
    let home = home(&node);
    node.behave(|asked, _| match asked {
        "eth_chainId" => Turn::Say(json!({ "result": "0x1" })),
        _ => Turn::Honest,
    });
    let told = home.refused("deploy", deploy("k"), "CHAIN_RPC_FAILED");
    assert!(told["message"].as_str().unwrap().contains("is of chain 1"), "{told}");
    // One that turns coat after the first question.
    node.behave(|asked, count| match (asked, count) {
        ("eth_chainId", count) if count > 3 => Turn::Say(json!({ "result": "0x1" })),
        _ => Turn::Honest,
    });
    node.ledger.lock().unwrap().calls.clear();
    let mut mcp = home.mcp();
    for key in ["a", "b", "c", "d", "e"] {
        let id = mcp.begin("tachyon_deploy", &deploy(key));
        let told = mcp.answer(id);
        let ok = told["result"]["structuredContent"]["ok"] == true;
        assert_eq!(ok, key < "c" || (key == "c" && node.mined() == 3), "{key}: {told}");
    }
    assert!(node.mined() <= 3);
}

/// The address of the key these tests use.
const PAYER: &str = "0x90F8bf6A479f320ead074411a4B0e7944Ea8c9C1";

#[test]
fn a_transaction_whose_nonce_was_taken_frees_its_key_when_that_is_settled() {
    let node = Node::start();
    let home = home(&node);
    home.configure(impatient(&node));
    node.ledger.lock().unwrap().holding = true;
    let told = home.refused("deploy", deploy("stuck"), "DEPLOY_FAILED");
    assert_eq!(told["retry"], true, "{told}");
    assert_eq!(node.mined(), 0);
    let mine = |sender: &str| {
        let mut ledger = node.ledger.lock().unwrap();
        ledger.mined.push((Default::default(), sender.parse().unwrap(), 0, None));
        ledger.holding = false;
    };
    // Somebody else used the account: the held transaction can never be mined. But only one node says so, and only now.
    mine(PAYER);
    home.refused("deploy", deploy("stuck"), "DEPLOY_FAILED");
    assert_eq!(node.mined(), 1);
    home.configure(config(&node));
    for _ in 0..12 {
        mine("0x00000000000000000000000000000000000000aa");
    }
    let told = home.done("deploy", deploy("stuck"));
    assert_eq!(told["existing"], false, "{told}");
    assert_eq!(node.mined(), 14);
}

#[test]
fn a_node_that_is_late_with_receipts_gets_no_second_transaction() {
    let node = Node::start();
    let home = home(&node);
    home.configure(impatient(&node));
    node.behave(|asked, _| match asked {
        "eth_getTransactionReceipt" => Turn::Say(json!({ "result": null })),
        _ => Turn::Honest,
    });
    for _ in 0..3 {
        let told = home.refused("deploy", deploy("k"), "DEPLOY_FAILED");
        assert_eq!((&told["retry"], node.mined()), (&json!(true), 1), "{told}");
    }
    node.behave(|_, _| Turn::Honest);
    home.configure(config(&node));
    assert_eq!(home.done("deploy", deploy("k"))["existing"], true);
    assert_eq!(node.mined(), 1);
}

#[test]
fn tenants_share_the_nonces_of_an_account_and_the_purse_of_a_policy() {
    let node = Node::start();
    let home = home(&node);
    let poke = |tenant: &str| {
        let request = json!({
            "chain_id": "test", "to": "0x00000000000000000000000000000000000000aa", "method": "poke(uint256)", "args": [1],
            "capability_token": TOKEN,
        });
        let mut command = home.command();
        command.args(["--tenant", tenant, "run", "call", &request.to_string()]);
        command.stdout(std::process::Stdio::piped()).spawn().unwrap()
    };
    let ended = |child: std::process::Child| -> Value {
        serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap()
    };
    let children: Vec<_> = ["one", "two", "three", "four"].into_iter().map(poke).collect();
    for told in children.into_iter().map(ended) {
        assert_eq!(told["ok"], true, "{told}");
    }
    let mut nonces: Vec<u64> =
        node.ledger.lock().unwrap().mined.iter().map(|(_, _, nonce, _)| *nonce).collect();
    nonces.sort_unstable();
    assert_eq!(nonces, [0, 1, 2, 3]);
    // Each has cost 400,000 wei, and one more can cost 1,080,000.
    let mut config = config(&node);
    config["policies"][0]["max_total_wei"] = json!("2679999");
    home.configure(config.clone());
    assert_eq!(ended(poke("five"))["error"]["code"], "WALLET_POLICY_DENIED");
    config["policies"][0]["max_total_wei"] = json!("2680000");
    home.configure(config);
    assert_eq!(ended(poke("five"))["ok"], true);
}

#[test]
fn another_deployer_is_a_target_like_any_other() {
    let node = Node::start();
    let home = home(&node);
    let mut request = deploy("k");
    let salt = format!("0x{}", "a9059cbb".repeat(8));
    request["create2"] = json!({ "salt": salt, "deployer": "0x00000000000000000000000000000000000000bb" });
    home.refused("deploy", request, "WALLET_POLICY_DENIED");
    assert_eq!(node.mined(), 0);
}

#[test]
fn policies_fail_closed() {
    let node = Node::start();
    let home = home(&node);
    let call = |extra: Value| {
        let mut request = json!({
            "chain_id": "test", "to": "0x00000000000000000000000000000000000000aa", "method": "poke(uint256)", "args": [1],
            "capability_token": TOKEN,
        });
        request.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        request
    };
    let denied = "WALLET_POLICY_DENIED";
    home.refused("call", call(json!({ "capability_token": "all" })), denied);
    home.refused("call", call(json!({ "capability_token": null })), denied);
    home.refused("call", call(json!({ "to": "0x00000000000000000000000000000000000000bb" })), denied);
    home.refused("call", call(json!({ "method": "drain(uint256)" })), denied);
    home.refused("call", call(json!({ "method": null, "args": null, "data": "0x1234" })), denied);
    home.refused("call", call(json!({ "spend_cap_wei": "0" })), denied);
    home.refused("call", call(json!({ "value": "2000000" })), denied);
    home.refused("call", call(json!({ "spend_cap_wei": "lots" })), "INVALID_REQUEST");
    assert_eq!(node.mined(), 0);
    let told = home.done("call", call(json!({ "value": "0x10" })));
    assert_eq!((&told["sent"], node.mined()), (&json!(true), 1));
    // 60,000 gas and a fifth more, at 15 wei at most, is 1,080,000 wei; when it is over it was 400,000.
    let mut config = config(&node);
    config["policies"][0]["max_total_wei"] = json!("1500000");
    home.configure(config.clone());
    home.done("call", call(json!({})));
    let told = home.refused("call", call(json!({})), denied);
    assert!(told["message"].as_str().unwrap().contains("spent before"), "{told}");
    config["policies"] = json!([]);
    home.configure(config.clone());
    home.refused("call", call(json!({})), denied);
    config["accounts"] = json!([]);
    home.configure(config);
    home.refused("call", call(json!({})), "WALLET_NOT_CONFIGURED");
    assert_eq!(node.mined(), 2);
}

#[test]
fn a_key_everybody_knows_signs_for_no_real_chain() {
    let node = Node::start();
    let public = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
    let home = home(&node).variable("PAYER_KEY", public);
    home.refused("deploy", deploy("k"), "WALLET_POLICY_DENIED");
    assert_eq!(node.mined(), 0);
}

#[test]
fn configurations_that_cannot_work_are_refused_without_telling_secrets() {
    let node = Node::start();
    for (place, value) in [
        ("/policies/0/token", json!("the-secret-itself-in-the-file")),
        ("/policies/0/max_call_wei", json!("plenty")),
        ("/policies/0/max_total_wei", json!(1.5)),
        ("/accounts/0/key", json!(KEY)),
        ("/policies/0/token", json!("$env:SHORT")),
        ("/policies/0/token", json!("$env:UNSET")),
    ] {
        let mut config = config(&node);
        *config.pointer_mut(place).unwrap() = value;
        let home = Home::with(config)
            .variable("PAYER_KEY", KEY)
            .variable("TOKEN", TOKEN)
            .variable("SHORT", "short-secret");
        let output = home.command().args(["run", "chain_list"]).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{place}");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !told.contains("the-secret-itself")
                && !told.contains("short-secret")
                && !told.contains(&KEY[2..]),
            "{told}"
        );
    }
}

#[test]
fn chains_are_registered_only_when_they_are_what_they_say_and_where_they_may_be() {
    let node = Node::start();
    let chain = |id: &str, chain_id: u64| json!({ "id": id, "name": "Mine", "rpc_url": node.url, "chain_id": chain_id });
    let strict = Home::new();
    let told = strict.refused("chain_register", chain("mine", CHAIN), "CHAIN_NOT_FOUND");
    assert!(!told.to_string().contains("secret-path"), "{told}");
    let open = Home::with(json!({ "allow_private_rpc": true }));
    open.refused("chain_register", chain("mine", 1), "CHAIN_RPC_FAILED");
    open.refused("chain_register", chain("dev", CHAIN), "INVALID_REQUEST");
    open.refused("chain_register", chain("1234", CHAIN), "INVALID_REQUEST");
    open.refused("chain_register", chain("../x", CHAIN), "INVALID_REQUEST");
    let told = open.done("chain_register", chain("mine", CHAIN));
    assert!(!told.to_string().contains("secret-path"), "{told}");
    // Another process knows it too.
    let told = open
        .done("simulate", json!({ "chain_id": CHAIN, "to": "0x00000000000000000000000000000000000000aa" }));
    assert_eq!(told["gas_estimate"], 60_000);
    // A node can be asked without being registered, from where it may be, and is sent nothing.
    let asked = |extra: Value| {
        let mut request = json!({ "rpc_url": node.url, "to": "0x00000000000000000000000000000000000000aa" });
        request.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        request
    };
    assert_eq!(open.done("simulate", asked(json!({ "chain_id": CHAIN })))["gas_estimate"], 60_000);
    open.done("call", asked(json!({ "simulate_only": true })));
    open.refused("simulate", asked(json!({ "chain_id": 1 })), "INVALID_REQUEST");
    open.refused("call", asked(json!({})), "INVALID_REQUEST");
    let told = strict.refused("simulate", asked(json!({})), "CHAIN_NOT_FOUND");
    assert!(!told.to_string().contains("secret-path"), "{told}");
    assert_eq!(node.mined(), 0);
    let secret = json!({ "id": "thief", "rpc_url": "$env:PATH", "chain_id": 1 });
    open.refused("chain_register", secret, "CHAIN_NOT_FOUND");
}
