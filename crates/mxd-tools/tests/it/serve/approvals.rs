//! Calls that need the user's word, in both eras, and with clients that cannot ask.

use mxd_tools::serve::Server;
use serde_json::{Value, json};

use super::client::{Client, meta, ruled, server, text};
use crate::scene::Scene;

fn careful(scene: &Scene) -> Server {
    server(&scene.scope, ruled(json!([{ "name": "ask-shell", "effect": "shell", "ruling": "ask" }])))
}

fn touch(name: &str) -> Value {
    json!({ "name": "bash", "arguments": { "command": format!("touch {name}") } })
}

#[tokio::test]
async fn the_user_is_asked_through_the_client() {
    let scene = Scene::new().await;
    for (action, runs) in [("accept", true), ("decline", false), ("cancel", false), ("nonsense", false)] {
        let mut client = Client::legacy(careful(&scene), json!({ "elicitation": {} })).await;
        let id = client.send("tools/call", touch(action)).await;
        let question = client.next().await.unwrap();
        assert_eq!(question["method"], "elicitation/create");
        let message = question["params"]["message"].as_str().unwrap();
        assert!(message.contains("`bash`") && message.contains(&format!("touch {action}")), "{message}");
        assert!(!scene.path(action).exists(), "not before the answer");
        let word =
            json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": action, "content": {} } });
        client.write(&word.to_string()).await;
        let answer = client.answer(id).await;
        assert_eq!(answer["result"]["isError"], !runs, "{answer}");
        assert_eq!(scene.path(action).exists(), runs);
    }
}

#[tokio::test]
async fn a_client_that_cannot_ask_is_told_so() {
    let scene = Scene::new().await;
    let mut client = Client::legacy(careful(&scene), json!({})).await;
    let answer = client.ask("tools/call", touch("ran")).await;
    assert_eq!(answer["result"]["isError"], true);
    assert!(text(&answer).contains("elicitation"), "{answer}");
    let params = json!({ "name": "bash", "arguments": { "command": "touch ran" }, "_meta": meta(json!({})) });
    assert_eq!(client.ask("tools/call", params).await["result"]["isError"], true);
    let url_only = json!({ "elicitation": { "url": {} } });
    let params = json!({ "name": "bash", "arguments": { "command": "touch ran" }, "_meta": meta(url_only) });
    assert_eq!(client.ask("tools/call", params).await["result"]["isError"], true);
    assert!(!scene.path("ran").exists());
    assert_eq!(
        client.call("list_files", json!({})).await["result"]["isError"],
        false,
        "others are not asked about"
    );
}

#[tokio::test]
async fn a_question_withdrawn_runs_nothing() {
    let scene = Scene::new().await;
    let mut client = Client::legacy(careful(&scene), json!({ "elicitation": {} })).await;
    let id = client.send("tools/call", touch("ran")).await;
    let question = client.next().await.unwrap();
    client.cancel(json!(id)).await;
    let word =
        json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "accept", "content": {} } });
    client.write(&word.to_string()).await;
    assert_eq!(client.ask("ping", json!({})).await["result"], json!({}));
    client.hang_up().await;
    assert!(!scene.path("ran").exists());
}

#[tokio::test]
async fn in_the_stateless_era_the_word_is_for_one_call_and_no_other() {
    let scene = Scene::new().await;
    let mut client = Client::silent(careful(&scene));
    let call = |file: &str, answers: Option<Value>| {
        let mut params = touch(file);
        params["_meta"] = meta(json!({ "elicitation": { "form": {} } }));
        if let Some(answers) = answers {
            params["inputResponses"] = answers;
        }
        params
    };
    let asked = client.ask("tools/call", call("one", None)).await;
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let requests = asked["result"]["inputRequests"].as_object().unwrap();
    let (name, request) = requests.iter().next().unwrap();
    assert_eq!(request["method"], "elicitation/create");
    let yes = json!({ name.clone(): { "action": "accept", "content": {} } });
    // The word for one call opens no other: it is asked about anew.
    let other = client.ask("tools/call", call("two", Some(yes.clone()))).await;
    assert_eq!(other["result"]["resultType"], "input_required");
    let no = json!({ name.clone(): { "action": "decline" } });
    assert_eq!(client.ask("tools/call", call("one", Some(no))).await["result"]["isError"], true);
    let odd = json!({ name.clone(): "yes" });
    assert_eq!(client.ask("tools/call", call("one", Some(odd))).await["result"]["isError"], true);
    assert!(!scene.path("one").exists() && !scene.path("two").exists());
    assert_eq!(client.ask("tools/call", call("one", Some(yes))).await["result"]["isError"], false);
    assert!(scene.path("one").exists() && !scene.path("two").exists());
}
