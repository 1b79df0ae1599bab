//! Killed at every step of a deployment, and asked again: one deployment.

use serde_json::json;

use crate::node::{Node, Turn};
use crate::program::{Home, lines};

/// Kills the program when it tells its nth step; whether it got that far.
fn killed_at(home: &Home, request: &serde_json::Value, step: usize) -> bool {
    let mut mcp = home.mcp();
    let id = mcp.begin("tachyon_deploy", request);
    let mut steps = 0;
    loop {
        let message = mcp.hear().unwrap();
        if message["id"] == id {
            mcp.kill();
            return false;
        }
        steps += 1;
        if steps == step {
            mcp.kill();
            return true;
        }
    }
}

#[test]
fn killed_at_any_step_on_the_embedded_chain_a_retry_deploys_once() {
    let request = json!({ "idempotency_key": "k", "chain_id": "dev", "contract": "Answer" });
    for step in 1.. {
        let home = Home::new();
        home.keep_artifacts();
        let reached = killed_at(&home, &request, step);
        let told = home.done("deploy", request.clone());
        assert_eq!(told["address"], "0x5FbDB2315678afecb367f032d93F642f64180aa3", "step {step}");
        let blocks = lines(&home.data().join("tenants/local/chain.jsonl"));
        assert_eq!(blocks.len(), 1, "step {step}");
        if !reached {
            assert!(step > 4, "there are steps to be killed at");
            return;
        }
    }
}

#[test]
fn killed_at_any_question_to_a_node_a_retry_deploys_once() {
    let request = crate::money::deploy("k");
    for question in 1.. {
        let node = Node::start();
        let home = crate::money::home(&node);
        let mut mcp = home.mcp();
        let process = mcp.child.id().to_string();
        let asked = std::sync::atomic::AtomicUsize::new(0);
        // The node does what it was asked, and then its client is dead before it hears of it.
        node.behave(move |_, _| {
            let count = asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst) + 1;
            if count != question {
                return Turn::Honest;
            }
            assert!(std::process::Command::new("kill").args(["-9", &process]).status().unwrap().success());
            Turn::Silence
        });
        let id = mcp.begin("tachyon_deploy", &request);
        let mut answered = false;
        while let Some(message) = mcp.hear() {
            if message["id"] == id {
                answered = true;
                break;
            }
        }
        mcp.kill();
        node.behave(|_, _| Turn::Honest);
        let told = home.done("deploy", request.clone());
        assert_eq!(node.mined(), 1, "question {question}: {told}");
        if answered {
            assert!(question > 10, "there are questions to be killed at");
            return;
        }
    }
}
