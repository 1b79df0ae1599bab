//! Journeys over HTTP: agents at work, asked, stopped, paid, merged.

use serde_json::json;

use crate::stage::{Stage, calls, conversation, gated, git, speaks, text};

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_created_worked_on_looked_at_and_merged() {
    let stage = Stage::set(json!([
        conversation("Title: Root", vec![speaks("Good."), speaks("Fine.")]),
        conversation(
            "Title: Poem",
            vec![
                calls(&[(
                    "bash",
                    json!({ "command": "printf 'roses\\n' > poem.txt && git add -A && git commit -qm poem" })
                )]),
                calls(&[("write_file", json!({ "path": "note.txt", "content": "not committed\n" }))]),
                calls(&[("bash", json!({ "command": "git add -A && git commit -qm note" }))]),
                calls(&[("done", json!({ "status": "passed", "summary": "It rhymes." }))]),
            ]
        )
    ]))
    .await;
    let wish = json!({ "title": "Poem", "description": "A poem.", "checks": ["test -s poem.txt"] });
    let task = text(&stage.act("/tasks", wish).await["id"]);
    stage.act(&format!("/tasks/{task}/message"), json!({ "content": "Begin." })).await;
    let view = stage.until_status(&task, "passed").await;
    assert_eq!((&view["agent"]["state"], &view["life"]["toolCalls"]), (&json!("done"), &json!(4)));
    assert!(view["costUsd"].as_f64().unwrap() > 0.0);

    let log = stage.see(&format!("/tasks/{task}/gitlog")).await;
    let messages: Vec<_> =
        log["commits"].as_array().unwrap().iter().map(|commit| text(&commit["message"])).collect();
    assert_eq!(messages, ["note", "poem", "first"]);
    let diff = stage.see(&format!("/tasks/{task}/diff")).await;
    assert_eq!((&diff["dirty"], &diff["truncated"]), (&json!(false), &json!(false)));
    assert_eq!(diff["files"][1]["path"], "poem.txt");
    assert_eq!((&diff["files"][1]["status"], &diff["files"][1]["additions"]), (&json!("added"), &json!(1)));
    assert!(diff["files"][1]["patch"].as_str().unwrap().ends_with("+roses\n"), "{diff}");
    let evidence = stage.see(&format!("/tasks/{task}/evidence")).await;
    assert_eq!(
        (&evidence["checks"][0]["command"], &evidence["checks"][0]["exitCode"]),
        (&json!("test -s poem.txt"), &json!(0))
    );
    let ledger = stage.see(&format!("/tasks/{task}/ledger")).await;
    assert_eq!((&ledger["calls"][0]["verdict"], &ledger["calls"][0]["ok"]), (&json!("allow"), &json!(true)));
    assert!(ledger["calls"][0]["line"].as_str().unwrap().starts_with("bash printf"), "{ledger}");
    let money = stage.see("/money").await;
    assert!(
        money["totalUsd"].as_f64().unwrap() > 0.0 && money["series"].as_array().unwrap().len() == 1,
        "{money}"
    );

    let merged = stage.act(&format!("/tasks/{task}/merge"), json!({})).await;
    assert!(text(&merged["report"]).starts_with("Merged Poem"), "{merged}");
    assert_eq!(git(&stage.ground.path().join("repo"), &["show", "main:poem.txt"]), "roses");
    stage
        .until(&stage.root, "a rest", |view| {
            view["life"]["turns"] == 1 && view["agent"]["state"] == "waiting"
        })
        .await;
    stage.act(&format!("/tasks/{task}/close"), json!({})).await;
    stage.until_status(&task, "closed").await;
    // The root hears of it.
    stage
        .until(&stage.root, "a rest", |view| {
            view["life"]["turns"] == 2 && view["agent"]["state"] == "waiting"
        })
        .await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_asked_and_answered() {
    let stage = Stage::set(json!([conversation(
        "Title: Root",
        vec![
            calls(&[("clarify", json!({ "question": "Which colour?\nRed or blue." }))]),
            calls(&[("yield", json!({}))]),
            speaks("Blue it is."),
        ]
    )]))
    .await;
    let mut stream = stage.listen(None).await;
    stage.act(&format!("/tasks/{}/message", stage.root), json!({ "content": "Paint." })).await;
    let needs = loop {
        let commit = stream.commit().await;
        let asked = &commit.data["needs"]["clarifications"][0];
        if asked.is_object() {
            break asked.clone();
        }
    };
    assert_eq!(needs["question"], "Which colour?\nRed or blue.");
    stage.until(&stage.root, "asking", |view| view["agent"]["state"] == "asking").await;
    assert_eq!(stage.see("/needs").await["clarifications"][0]["clarificationId"], needs["clarificationId"]);
    let answer = json!({ "taskId": stage.root, "answer": "Blue." });
    stage.act("/clarify", answer.clone()).await;
    stage
        .until(&stage.root, "a rest", |view| {
            view["life"]["turns"] == 3 && view["agent"]["state"] == "waiting"
        })
        .await;
    let (status, late) = stage.post(&stage.of("/clarify"), answer).await;
    assert_eq!((status, &late["error"]["code"]), (409, &json!("late")));
    assert_eq!(stage.see("/needs").await["clarifications"], json!([]));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_waits_for_a_word_that_is_about_it_alone() {
    let rule = json!({ "name": "ask-shell", "effect": "shell", "ruling": "ask" });
    let stage = Stage::set_with(
        json!([conversation(
            "Title: Root",
            vec![
                calls(&[("bash", json!({ "command": "echo allowed" }))]),
                calls(&[("bash", json!({ "command": "echo denied" }))]),
                speaks("Over."),
            ]
        )]),
        json!({ "approvals": { "rules": [rule] } }),
    )
    .await;
    stage.act(&format!("/tasks/{}/message", stage.root), json!({ "content": "Go." })).await;
    stage.until(&stage.root, "asking", |view| view["agent"]["state"] == "asking").await;
    let waiting = stage.see("/needs").await["approvals"][0].clone();
    assert_eq!(
        (&waiting["tool"], &waiting["args"]),
        (&json!("mcp__mxd__bash"), &json!({ "command": "echo allowed" }))
    );
    let word = |decision: &str, digest: &serde_json::Value, id: &serde_json::Value| json!({ "taskId": stage.root, "approvalId": id, "decision": decision, "argsDigest": digest });
    let (status, other) =
        stage.post(&stage.of("/approve"), word("once", &json!("another"), &waiting["approvalId"])).await;
    assert_eq!((status, &other["error"]["code"]), (409, &json!("other_call")));
    let (status, _) = stage
        .post(&stage.of("/approve"), word("always", &waiting["argsDigest"], &waiting["approvalId"]))
        .await;
    assert_eq!(status, 422, "only a host is allowed for the project");
    stage.act("/approve", word("once", &waiting["argsDigest"], &waiting["approvalId"])).await;
    stage
        .until(&stage.root, "the next question", |view| {
            view["approvals"]
                .as_array()
                .is_some_and(|open| open.len() == 1 && open[0] != waiting["approvalId"])
        })
        .await;
    let next = stage.see("/needs").await["approvals"][0].clone();
    assert_ne!(next["approvalId"], waiting["approvalId"]);
    stage.act("/approve", word("deny", &next["argsDigest"], &next["approvalId"])).await;
    stage
        .until(&stage.root, "a rest", |view| {
            view["life"]["turns"] == 3 && view["agent"]["state"] == "waiting"
        })
        .await;
    let ledger = stage.see(&format!("/tasks/{}/ledger", stage.root)).await;
    assert_eq!(
        (&ledger["calls"][0]["ok"], &ledger["calls"][1]["ok"]),
        (&json!(true), &json!(false)),
        "{ledger}"
    );
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_is_broken_off_and_an_agent_stopped() {
    let stage = Stage::set(json!([conversation(
        "Title: Root",
        vec![
            gated(speaks("Something very long that nobody wants to hear."), "talk"),
            gated(speaks("Another thing that takes long."), "more"),
        ]
    )]))
    .await;
    let message = format!("/tasks/{}/message", stage.root);
    let idle = stage.act(&format!("/tasks/{}/interrupt", stage.root), json!({})).await;
    assert_eq!(idle, json!({ "interrupted": false }));
    stage.act(&message, json!({ "content": "Talk." })).await;
    stage.model.gate_reached("talk").await.unwrap();
    let broken = stage.act(&format!("/tasks/{}/interrupt", stage.root), json!({})).await;
    assert_eq!(broken, json!({ "interrupted": true }));
    stage.until(&stage.root, "interrupted", |view| view["agent"]["state"] == "interrupted").await;
    stage.act(&message, json!({ "content": "Again." })).await;
    stage.model.gate_reached("more").await.unwrap();
    assert_eq!(stage.see("/agent/status").await["active"], json!([stage.root]));
    stage.act("/stop", json!({})).await;
    stage.until(&stage.root, "stopped", |view| view["agent"]["state"] == "stopped").await;
    let (status, nothing) = stage.post(&stage.of(&format!("/tasks/{}/retry", stage.root)), json!({})).await;
    assert_eq!((status, &nothing["error"]["code"]), (409, &json!("late")));
    stage.model.open_gate("talk").unwrap();
    stage.model.open_gate("more").unwrap();
    stage.end().await;
}
