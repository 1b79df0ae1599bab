//! Details of routes that are easily got wrong: what happens at once, what is waited for, what is told of failures.

use serde_json::{Value, json};

use crate::stage::{PATIENCE, Stage, calls, conversation, gated, speaks, text};

#[tokio::test(flavor = "multi_thread")]
async fn a_patch_happens_as_a_whole_or_not_at_all() {
    let stage = Stage::set(json!([])).await;
    let (task, folder) = (stage.task("Old").await, stage.task("Above").await);
    let below = text(&stage.act("/tasks", json!({ "title": "Below", "parentId": task })).await["id"]);
    let path = stage.of(&format!("/tasks/{task}"));
    let before = stage.see("/tasks").await;
    for (wish, code) in [
        (json!({ "title": "New", "parentId": below }), "cycle"),
        (json!({ "title": "New", "parentId": folder, "status": "passed" }), "illegal_transition"),
        (json!({ "title": "New", "parentId": folder, "index": 7 }), "no_such_place"),
    ] {
        let (status, refused) = stage.patch(&path, wish.clone()).await;
        assert_eq!((status, &refused["error"]["code"]), (409, &json!(code)), "{wish}");
        let now = stage.see("/tasks").await;
        assert_eq!((&now["tasks"], &now["cursor"]), (&before["tasks"], &before["cursor"]), "{wish}");
    }
    let wish =
        json!({ "title": "New", "color": "#abcdef", "parentId": folder, "index": 0, "status": "draft" });
    let (status, changed) = stage.patch(&path, wish.clone()).await;
    assert_eq!(status, 200, "{changed}");
    let fields = ["title", "parentId", "status"].map(|name| changed[name].clone());
    assert_eq!(fields, [json!("New"), json!(folder), json!("draft")]);
    let seq = |cursor: &Value| text(cursor).rsplit_once('-').unwrap().1.parse::<u64>().unwrap();
    let after = stage.see("/tasks").await;
    assert_eq!(seq(&after["cursor"]), seq(&before["cursor"]) + 1, "one commit");
    assert_eq!(stage.patch(&path, wish).await.0, 200, "it is as it is to be");
    assert_eq!(stage.see("/tasks").await["cursor"], after["cursor"]);
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_created_with_its_manifest_and_its_skill() {
    let stage = Stage::set(json!([])).await;
    let wish = json!({ "title": "Narrow", "manifest": "agents/small.json", "skill": "dates" });
    let made = stage.act("/tasks", wish).await;
    assert_eq!((&made["manifest"], &made["skill"]), (&json!("agents/small.json"), &json!("dates")));
    let folder = json!({ "kind": "folder", "title": "Folder", "skill": "dates" });
    assert_eq!(stage.post(&stage.of("/tasks"), folder).await.0, 422);
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_agent_gave_up_waits_for_the_user_and_what_it_changed_is_told() {
    let stage = Stage::set(json!([
        conversation("Title: Root", vec![speaks("I see."), speaks("Again, then.")]),
        conversation(
            "Title: Hard",
            vec![
                calls(&[("write_file", json!({ "path": "try.txt", "content": "one\ntwo\n" }))]),
                calls(&[("done", json!({ "status": "failed", "summary": "It cannot be done." }))]),
            ]
        ),
    ]))
    .await;
    let task = stage.task("Hard").await;
    assert_eq!(stage.see("/needs").await["failed"], json!([]));
    let mut stream = stage.listen(None).await;
    stage.act(&format!("/tasks/{task}/message"), json!({ "content": "Begin." })).await;
    let told = async {
        loop {
            let delta = stream.named("delta").await.data;
            if delta["type"] == "diff" {
                return delta;
            }
        }
    };
    let told = tokio::time::timeout(PATIENCE, told).await.unwrap();
    let expected = json!({ "task": task, "type": "diff", "files": 1, "additions": 2, "deletions": 0 });
    assert_eq!(told, expected);
    let view = stage.until_status(&task, "failed").await;
    assert_eq!(view["diff"], json!({ "files": 1, "additions": 2, "deletions": 0 }));
    let failed = stage.see("/needs").await["failed"].clone();
    assert_eq!(failed.as_array().unwrap().len(), 1, "{failed}");
    assert_eq!((&failed[0]["taskId"], &failed[0]["why"]), (&json!(task), &json!("It cannot be done.")));
    stage
        .until(&stage.root, "a rest", |view| {
            view["life"]["turns"] == 1 && view["agent"]["state"] == "waiting"
        })
        .await;
    stage.act(&format!("/tasks/{task}/reset"), json!({})).await;
    let failed = stage.see("/needs").await["failed"].clone();
    assert!(failed.as_array().unwrap().iter().all(|trouble| trouble["taskId"] != task.as_str()), "{failed}");
    assert_eq!(stage.see(&format!("/tasks/{task}")).await.get("diff"), None);
    stage.leave().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_waits_for_a_command_is_let_go() {
    let stage = Stage::set(json!([conversation(
        "Title: Root",
        vec![
            calls(&[("bash", json!({ "command": "sleep 1000", "run_in_background": true }))]),
            calls(&[("background", json!({ "action": "await", "id": "bg-1" }))]),
            speaks("On I go."),
        ]
    )]))
    .await;
    let path = |name: &str| stage.of(&format!("/background/{name}/cancel-await"));
    let whose = json!({ "sessionId": stage.root });
    let (status, none) = stage.post(&path("bg-1"), whose.clone()).await;
    assert_eq!((status, &none["error"]["code"]), (404, &json!("no_such_command")));
    stage.act(&format!("/tasks/{}/message", stage.root), json!({ "content": "Go." })).await;
    stage.until(&stage.root, "a command", |view| view["background"] == json!(["bg-1"])).await;
    let let_go = async {
        loop {
            let (status, answer) = stage.post(&path("bg-1"), whose.clone()).await;
            match status {
                200 => return answer,
                // It does not wait yet.
                _ => assert_eq!((status, &answer["error"]["code"]), (409, &json!("not_awaited"))),
            }
        }
    };
    assert_eq!(tokio::time::timeout(PATIENCE, let_go).await.unwrap(), json!({ "cancelled": true }));
    stage.until(&stage.root, "a rest", |view| view["life"]["turns"] == 3).await;
    let view = stage.see(&format!("/tasks/{}", stage.root)).await;
    assert_eq!(view["background"], json!(["bg-1"]), "the command runs on");
    stage.leave().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_waits_hears_of_a_rest_of_a_question_and_of_time() {
    let asks = calls(&[("clarify", json!({ "question": "Red or blue?" }))]);
    let paints = vec![gated(asks, "ask"), calls(&[("yield", json!({}))]), gated(speaks("Blue."), "blue")];
    let stage = Stage::set(json!([conversation("Title: Paint", paints)])).await;
    let (root, task) = (stage.root.clone(), stage.task("Paint").await);
    let wait = |task: &str, seconds: u32| format!("/tasks/{task}/wait?seconds={seconds}");
    let idle = stage.see(&wait(&root, 300)).await;
    assert_eq!((&idle["rested"], &idle["needsYou"]), (&json!(true), &json!(false)), "{idle}");
    stage.act(&format!("/tasks/{task}/message"), json!({ "content": "Begin." })).await;
    let late = stage.see(&wait(&root, 0)).await;
    assert_eq!((&late["rested"], &late["working"]), (&json!(false), &json!([task])), "{late}");
    stage.model.open_gate("ask").unwrap();
    let asked = stage.see(&wait(&root, 300)).await;
    assert_eq!((&asked["needsYou"], &asked["asking"]), (&json!(true), &json!([task])), "{asked}");
    stage.act("/clarify", json!({ "taskId": task, "answer": "Blue" })).await;
    assert_eq!(stage.get(&stage.of("/tasks/01ARZ3NDEKTSV4RRFFQ69G5FAV/wait")).await.0, 404);
    // The model thinks about it for as long as the gate is closed, and nobody who waits keeps the daemon from ending.
    let requests = async || stage.get("/stats").await.1["requests"].as_u64().unwrap();
    let before = requests().await;
    let request = stage.ask(reqwest::Method::GET, &stage.of(&wait(&task, 300)));
    let waiting = tokio::spawn(crate::stage::reply(request));
    let mut asked = 1;
    while requests().await <= before + asked {
        asked += 1;
    }
    stage.until(&task, "a turn", |view| view["life"]["turns"] == 3).await;
    stage.leave().await;
    let (status, waited) = waiting.await.unwrap();
    assert_eq!((status, &waited["rested"]), (200, &json!(false)), "{waited}");
}
