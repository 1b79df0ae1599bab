//! Clients that do everything wrong: the server answers what it can and goes on.

use mxd_tools::serve::limits::MAX_MESSAGE_BYTES;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::client::{Client, permissions, server, text};
use crate::scene::Scene;

/// What a client writes, and the code and the number of the error it is answered with.
type Case = (&'static str, String, Option<(i64, Value)>);

fn cases() -> Vec<Case> {
    let request = |id: &str, method: &str, params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
    };
    vec![
        ("an empty line", String::new(), None),
        ("blanks", " \t \r".into(), None),
        ("no JSON", "hello?".into(), Some((-32700, Value::Null))),
        ("half of a message", r#"{"jsonrpc":"2.0","id":1,"#.into(), Some((-32700, Value::Null))),
        ("two messages on one line", "{} {}".into(), Some((-32700, Value::Null))),
        ("a word", "\"ping\"".into(), Some((-32600, Value::Null))),
        ("a number", "7".into(), Some((-32600, Value::Null))),
        ("null", "null".into(), Some((-32600, Value::Null))),
        ("an empty object", "{}".into(), Some((-32600, Value::Null))),
        ("an empty batch", "[]".into(), Some((-32600, Value::Null))),
        ("a batch", format!("[{}]", request("1", "ping", "{}")), Some((-32600, Value::Null))),
        ("another JSON-RPC", r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#.into(), Some((-32600, json!(1)))),
        ("no JSON-RPC", r#"{"id":"x","method":"ping"}"#.into(), Some((-32600, json!("x")))),
        ("a method that is a number", r#"{"jsonrpc":"2.0","id":1,"method":7}"#.into(), Some((-32600, json!(1)))),
        ("an id that is null", request("null", "ping", "{}"), Some((-32600, Value::Null))),
        ("an id that is an object", request("{}", "ping", "{}"), Some((-32600, Value::Null))),
        ("an id that is a fraction", request("1.5", "ping", "{}"), Some((-32600, Value::Null))),
        ("an unknown method", request("1", "tools/destroy", "{}"), Some((-32601, json!(1)))),
        ("a method of nobody", request("1", "", "{}"), Some((-32601, json!(1)))),
        ("what we do not offer", request("1", "prompts/get", r#"{"name":"x"}"#), Some((-32601, json!(1)))),
        ("a resource", request("1", "resources/read", r#"{"uri":"file:///etc/passwd"}"#), Some((-32601, json!(1)))),
        ("completion", request("1", "completion/complete", r#"{"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"a","value":"b"}}"#), Some((-32601, json!(1)))),
        ("prompts", request("1", "prompts/list", "{}"), Some((-32601, json!(1)))),
        ("resources", request("1", "resources/list", "{}"), Some((-32601, json!(1)))),
        ("templates of resources", request("1", "resources/templates/list", "{}"), Some((-32601, json!(1)))),
        ("a task", request("1", "tasks/get", r#"{"taskId":"x"}"#), Some((-32601, json!(1)))),
        ("a level", request("1", "logging/setLevel", r#"{"level":"debug"}"#), Some((-32601, json!(1)))),
        ("params that are a list", request("1", "tools/call", "[1]"), Some((-32602, json!(1)))),
        ("params that are a word", request("1", "tools/call", "\"bash\""), Some((-32602, json!(1)))),
        ("a call of nothing", request("1", "tools/call", "{}"), Some((-32602, json!(1)))),
        ("a name that is a number", request("1", "tools/call", r#"{"name":7}"#), Some((-32602, json!(1)))),
        ("arguments that are a list", request("1", "tools/call", r#"{"name":"bash","arguments":[]}"#), Some((-32602, json!(1)))),
        ("initialize without anything", request("1", "initialize", "{}"), Some((-32602, json!(1)))),
        ("deep JSON", format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{}"#, "[".repeat(10_000)), Some((-32700, Value::Null))),
        ("an odd notification", r#"{"jsonrpc":"2.0","method":"notifications/nobody","params":{"x":1}}"#.into(), None),
        ("a notification that does not fit", r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}"#.into(), None),
        ("a cancel of nobody", r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nobody"}}"#.into(), None),
        ("a cancel without a number", r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}"#.into(), None),
        ("an answer to no question", r#"{"jsonrpc":"2.0","id":77,"result":{"action":"accept"}}"#.into(), None),
        ("an error to no question", r#"{"jsonrpc":"2.0","id":77,"error":{"code":1,"message":"x"}}"#.into(), None),
        ("progress of nothing", r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#.into(), None),
    ]
}

#[tokio::test]
async fn every_wrong_line_is_answered_as_json_rpc_says_and_the_next_one_works() {
    let scene = Scene::new().await;
    for greeted in [true, false] {
        let mut client = if greeted {
            Client::of(&scene).await
        } else {
            Client::silent(server(&scene.scope, permissions()))
        };
        for (what, line, expected) in cases() {
            client.write(&line).await;
            if let Some((code, id)) = expected {
                let answer = client.next().await.unwrap();
                assert_eq!(
                    (&answer["error"]["code"], &answer["id"]),
                    (&json!(code), &id),
                    "{what}: {answer}"
                );
                assert!(!answer["error"]["message"].as_str().unwrap().is_empty(), "{what}");
            }
            assert_eq!(client.ask("ping", json!({})).await["result"], json!({}), "after {what}");
            assert!(client.aside.is_empty(), "{what}: {:?}", client.aside);
        }
        client.hang_up().await;
    }
}

#[tokio::test]
async fn a_line_that_is_too_long_is_refused_by_its_number_and_costs_little() {
    let scene = Scene::new().await;
    let mut client = Client::of(&scene).await;
    let long = "x".repeat(MAX_MESSAGE_BYTES * 3);
    let (first, last) = (
        format!(
            r#"{{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{{"name":"bash","id":1,"x":"{long}"}}}}"#
        ),
        format!(r#"{{"method":"tools/call","params":{{"id":1,"x":"{long}"}},"jsonrpc":"2.0","id":"six"}}"#),
    );
    for (line, id) in [(first, json!(5)), (last, json!("six")), (long.clone(), Value::Null)] {
        let writing = async {
            client.write(&line).await;
            client.next().await.unwrap()
        };
        let answer = writing.await;
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32600), &id), "{answer}");
    }
    assert_eq!(client.ask("ping", json!({})).await["result"], json!({}));
    // As long as it may be, it is taken; that the arguments are too long is another matter.
    let args = "y".repeat(MAX_MESSAGE_BYTES - 200);
    let told = client.call("bash", json!({ "command": args })).await;
    assert!(text(&told).contains("bytes"), "{}", text(&told));
}

#[tokio::test]
async fn bytes_that_are_no_text_are_refused() {
    let scene = Scene::new().await;
    let mut client = Client::of(&scene).await;
    for bytes in
        [&b"\xff\xfe\x00\n"[..], b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xc3\x28\"}\n", b"\0\0\0\n"]
    {
        client.write_bytes(bytes).await;
        assert_eq!(client.next().await.unwrap()["error"]["code"], -32700);
    }
    // A number that is too large for the protocol's numbers is refused, not rounded.
    client.write(r#"{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}"#).await;
    assert_eq!(client.next().await.unwrap()["error"]["code"], -32600);
    assert_eq!(client.ask("ping", json!({})).await["result"], json!({}));
}

#[tokio::test]
async fn a_number_in_use_keeps_its_answer() {
    let scene = Scene::new().await;
    let mut client = Client::of(&scene).await;
    let gate = scene.gate("gate");
    let call = |command: &str| {
        let params = json!({ "name": "bash", "arguments": { "command": command } });
        json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params }).to_string()
    };
    client.write(&call("read x < gate; echo first")).await;
    client.write(&call("touch second")).await;
    let refused = client.next().await.unwrap();
    assert_eq!((&refused["error"]["code"], &refused["id"]), (&json!(-32600), &Value::Null), "{refused}");
    gate.open().await;
    assert!(text(&client.answer(7).await).contains("first"));
    assert!(!scene.path("second").exists());
    // Answered, it is free.
    for _again in 0..50 {
        client.write(&call("true")).await;
        assert_eq!(client.answer(7).await["result"]["isError"], false);
    }
    // A number that was cancelled does not come back either: its late answer would be taken for the new one.
    client.write(&call("read x < gate")).await;
    client.cancel(json!(7)).await;
    client.write(&call("touch third")).await;
    assert_eq!(client.next().await.unwrap()["id"], Value::Null);
    client.hang_up().await;
    assert!(!scene.path("third").exists());
}

#[tokio::test]
async fn a_message_in_pieces_and_a_last_one_without_an_end_are_read() {
    let scene = Scene::new().await;
    let mut client = Client::of(&scene).await;
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
    for byte in ping.bytes() {
        client.write_bytes(&[byte]).await;
        tokio::task::yield_now().await;
    }
    client.write_bytes(b"\r\n").await;
    assert_eq!(client.answer(1).await["result"], json!({}));
    client.write_bytes(ping.as_bytes()).await;
    assert_eq!(client.hang_up().await.last().unwrap()["result"], json!({}));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Whatever is written: every line gets at most one answer, and the conversation goes on.
    #[test]
    fn no_line_ends_the_conversation(lines in prop::collection::vec(any_line(), 0..12)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let scene = Scene::new().await;
            let mut client = Client::silent(server(&scene.scope, permissions()));
            for line in &lines {
                client.write_bytes(line).await;
                client.write_bytes(b"\n").await;
            }
            assert_eq!(client.ask("ping", json!({})).await["result"], json!({}));
            assert!(client.hang_up().await.len() <= lines.iter().map(|line| line.split(|b| *b == b'\n').count()).sum());
        });
    }
}

fn any_line() -> impl Strategy<Value = Vec<u8>> {
    let words = prop::sample::select(vec![
        "\"jsonrpc\":\"2.0\"",
        "\"id\":1",
        "\"id\":\"a\"",
        "\"id\":null",
        "\"method\":\"tools/list\"",
        "\"method\":\"ping\"",
        "\"method\":\"initialize\"",
        "\"method\":\"notifications/cancelled\"",
        "\"params\":{}",
        "\"params\":{\"requestId\":1}",
        "\"params\":[]",
        "\"result\":{}",
        "\"error\":{\"code\":1,\"message\":\"\"}",
        "\"x\":[[{}]]",
    ]);
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40),
        prop::collection::vec(words, 0..6).prop_map(|words| format!("{{{}}}", words.join(",")).into_bytes()),
    ]
}
