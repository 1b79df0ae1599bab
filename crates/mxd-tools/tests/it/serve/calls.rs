//! Calls: what they return, while they run, at once, cancelled, and after their client has gone.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mxd_tools::outcome::{Outcome, Part};
use mxd_tools::plane::Function;
use mxd_tools::sandbox::Mode;
use mxd_tools::serve::{Offer, Server};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::client::{Client, Tool, meta, permissions, plane, text};
use crate::scene::Scene;

#[tokio::test]
async fn files_are_written_read_and_found_and_failures_are_results() {
    let scene = Scene::new().await;
    let mut client = Client::of(&scene).await;
    let written = client.call("write_file", json!({ "path": "a.txt", "content": "one\ntwo\n" })).await;
    assert_eq!(written["result"]["isError"], false, "{written}");
    assert!(text(&client.call("read_file", json!({ "path": "a.txt" })).await).contains("two"));
    assert!(text(&client.call("search", json!({ "pattern": "tw." })).await).contains("a.txt"));
    let missing = client.call("read_file", json!({ "path": "b.txt" })).await;
    assert_eq!(missing["result"]["isError"], true, "{missing}");
    let misfit = client.call("bash", json!({ "command": 7 })).await;
    assert_eq!(misfit["result"]["isError"], true);
    assert!(text(&misfit).contains("`/command` is a number, expected string"), "{misfit}");
    let none = client.ask("tools/call", json!({ "name": "bash" })).await;
    assert!(text(&none).contains("`/command` is required"), "{none}");
    assert_eq!(client.call("no_such_tool", json!({})).await["error"]["code"], -32602);
    assert_eq!(client.call("mcp__mxd__bash", json!({ "command": "true" })).await["error"]["code"], -32602);
}

#[tokio::test]
async fn structured_content_and_pictures_come_through() {
    let scene = Scene::new().await;
    let schema = json!({ "type": "object", "properties": { "sum": { "type": "integer" } } });
    let structured = |value: Value| {
        Function::new(move |_, _| {
            let outcome = Outcome { structured: Some(value.clone()), ..Outcome::text("see the data") };
            Box::pin(async move { outcome })
        })
    };
    let picture = Function::new(|_, _| {
        let picture = Part::Image { media_type: "image/png".to_owned(), data: "iVBORw0KGgo=".to_owned() };
        Box::pin(async move { Outcome { parts: vec![picture], ..Outcome::default() } })
    });
    let tools = vec![
        Tool { name: "sum", output_schema: Some(schema.clone()), run: structured(json!({ "sum": 5 })) },
        Tool { name: "list", output_schema: None, run: structured(json!([1, 2])) },
        Tool { name: "picture", output_schema: None, run: picture },
    ];
    let server = Server::new(Offer {
        plane: plane(tools),
        scope: scene.scope.clone(),
        permissions: permissions(),
        instructions: "",
    });
    let mut client = Client::legacy(server, json!({})).await;
    let listed = client.ask("tools/list", json!({})).await;
    let listed = listed["result"]["tools"].as_array().unwrap().clone();
    let sum = listed.iter().find(|tool| tool["name"] == "mcp__test__sum").unwrap();
    assert_eq!((&sum["outputSchema"], &sum["title"]), (&schema, &json!("A tool of a test")));
    let told = client.call("mcp__test__sum", json!({})).await;
    assert_eq!(told["result"]["structuredContent"], json!({ "sum": 5 }), "{told}");
    let told = client.call("mcp__test__picture", json!({})).await;
    let block = &told["result"]["content"][0];
    assert_eq!(
        (&block["type"], &block["mimeType"], &block["data"]),
        (&json!("image"), &json!("image/png"), &json!("iVBORw0KGgo="))
    );
    // Anything but an object is data only since the stateless era.
    let told = client.call("mcp__test__list", json!({})).await;
    assert_eq!(told["result"].get("structuredContent"), None, "{told}");
    let params = json!({ "name": "mcp__test__list", "arguments": {}, "_meta": meta(json!({})) });
    assert_eq!(client.ask("tools/call", params).await["result"]["structuredContent"], json!([1, 2]));
}

#[tokio::test]
async fn live_output_becomes_progress_before_the_answer() {
    let scene = Scene::new().await;
    let mut client = Client::of(&scene).await;
    let gate = scene.gate("gate");
    let command = r"printf 'one \033[31mred\033[0m\n'; read line < gate; echo two";
    let params =
        json!({ "name": "bash", "arguments": { "command": command }, "_meta": { "progressToken": "p" } });
    let id = client.send("tools/call", params).await;
    let first = client.next().await.unwrap();
    assert_eq!(
        (&first["method"], &first["params"]["progressToken"]),
        (&json!("notifications/progress"), &json!("p"))
    );
    assert_eq!(first["params"]["message"], "one red\n");
    gate.open().await;
    let answer = client.answer(id).await;
    assert!(text(&answer).contains("two"));
    let steps: Vec<f64> =
        client.aside.iter().map(|told| told["params"]["progress"].as_f64().unwrap()).collect();
    assert!(steps.iter().all(|step| *step > first["params"]["progress"].as_f64().unwrap()), "{steps:?}");
    client.aside.clear();
    client.call("bash", json!({ "command": "echo quiet" })).await;
    assert!(client.aside.is_empty(), "nobody asked for {:?}", client.aside);
}

#[tokio::test]
async fn the_end_of_a_background_command_comes_with_the_next_result() {
    let scene = Scene::new().await;
    let mut client = Client::of(&scene).await;
    let gate = scene.gate("gate");
    let started = json!({ "command": "read line < gate; echo finished", "run_in_background": true });
    assert!(text(&client.call("bash", started).await).contains("bg-1"));
    gate.open().await;
    let mut told = text(&client.call("background", json!({ "action": "await", "id": "bg-1" })).await);
    for _call in 0..2 {
        told += &text(&client.call("list_files", json!({})).await);
    }
    assert_eq!(told.matches("[bg-1 ended: exit code: 0; its output is in ").count(), 1, "{told}");
    // Nobody has to ask about commands for others to be started.
    for _command in 0..40 {
        let started = json!({ "command": "true", "run_in_background": true });
        let answer = client.call("bash", started).await;
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        let id =
            text(&answer).split(&[' ', ';'][..]).find(|word| word.starts_with("bg-")).unwrap().to_owned();
        client.call("background", json!({ "action": "await", "id": id })).await;
    }
}

#[tokio::test]
async fn a_cancelled_call_ends_with_what_it_started_and_is_not_answered() {
    for mode in [Mode::Off, Mode::Full] {
        let scene = Scene::with(mode, &[]).await;
        let mut client = Client::of(&scene).await;
        let mut ear = scene.ear("pipe");
        let command = "exec 3>pipe; echo held >&3; exec tail -f /dev/null";
        let args = json!({ "command": command });
        let id = client.send("tools/call", json!({ "name": "bash", "arguments": args })).await;
        assert_eq!(ear.line().await, "held");
        client.cancel(json!(id)).await;
        ear.silence().await;
        assert!(text(&client.call("bash", json!({ "command": "echo next" })).await).contains("next"));
        assert!(client.aside.is_empty(), "{:?}", client.aside);
    }
}

#[tokio::test]
async fn two_calls_run_at_once() {
    let scene = Scene::new().await;
    let mut client = Client::of(&scene).await;
    let gate = scene.gate("gate");
    let first = client
        .send(
            "tools/call",
            json!({ "name": "bash", "arguments": { "command": "read x < gate; echo first" } }),
        )
        .await;
    assert!(text(&client.call("bash", json!({ "command": "echo second" })).await).contains("second"));
    gate.open().await;
    assert!(text(&client.answer(first).await).contains("first"));
}

#[tokio::test]
async fn a_thousand_calls_at_once_are_answered_a_few_at_a_time() {
    let scene = Scene::new().await;
    let (now, most, go) =
        (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)), Arc::new(Semaphore::new(0)));
    let run = {
        let (now, most, go) = (now.clone(), most.clone(), go.clone());
        Function::new(move |_, _| {
            let (now, most, go) = (now.clone(), most.clone(), go.clone());
            Box::pin(async move {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                drop(go.acquire().await);
                now.fetch_sub(1, Ordering::SeqCst);
                Outcome::text("done")
            })
        })
    };
    let tools = vec![Tool { name: "wait", output_schema: None, run }];
    let server = Server::new(Offer {
        plane: plane(tools),
        scope: scene.scope.clone(),
        permissions: permissions(),
        instructions: "",
    });
    let mut client = Client::legacy(server, json!({})).await;
    let mut ids = Vec::new();
    for _call in 0..1_000 {
        ids.push(client.send("tools/call", json!({ "name": "mcp__test__wait", "arguments": {} })).await);
    }
    // The line is not blocked by those who wait.
    assert_eq!(client.ask("ping", json!({})).await["result"], json!({}));
    for excess in 0..100 {
        ids.push(
            client
                .send("tools/call", json!({ "name": "mcp__test__wait", "arguments": { "n": excess } }))
                .await,
        );
    }
    // The answer to what is one too many comes when everything before it was read.
    assert!(client.ask("ping", json!({})).await.get("error").is_some());
    client.cancel(json!(ids[500])).await;
    go.add_permits(1);
    let (mut done, mut refused) = (0, 0);
    for (index, id) in ids.iter().enumerate().filter(|(index, _)| *index != 500) {
        let answer = client.answer(*id).await;
        if answer.get("error").is_some() {
            refused += 1
        } else {
            done += 1
        }
        assert!(answer.get("error").is_none() || index > 1_000, "{index}: {answer}");
    }
    assert_eq!((done + refused, refused), (1_099, 1_100 - 1_024));
    assert_eq!(most.load(Ordering::SeqCst), 16);
}

#[tokio::test]
async fn when_the_client_is_gone_everything_has_ended() {
    for mode in [Mode::Off, Mode::Full] {
        let scene = Scene::with(mode, &[]).await;
        let mut client = Client::of(&scene).await;
        let mut ear = scene.ear("pipe");
        let hold = "exec 3>pipe; echo held >&3; exec tail -f /dev/null";
        let background = json!({ "command": hold, "run_in_background": true });
        client.call("bash", background).await;
        assert_eq!(ear.line().await, "held");
        client.send("tools/call", json!({ "name": "bash", "arguments": { "command": hold } })).await;
        assert_eq!(ear.line().await, "held");
        client.hang_up().await;
        ear.silence().await;
    }
}

#[tokio::test]
async fn what_was_asked_in_one_breath_is_answered_before_the_end() {
    let scene = Scene::new().await;
    let mut client = Client::of(&scene).await;
    for number in 0..5 {
        let args = json!({ "command": format!("echo {number}") });
        client.send("tools/call", json!({ "name": "bash", "arguments": args })).await;
    }
    let answers = client.hang_up().await;
    let mut told: Vec<String> = answers.iter().map(text).collect();
    told.sort_unstable();
    let expected: Vec<String> = (0..5).map(|number| format!("{number}\n[exit code: 0]")).collect();
    assert_eq!(told, expected);
}
