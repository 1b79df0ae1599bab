//! Requests and their answers: what is changed by them, and what is said about those that are wrong.

use mxd_core::id::Ulid;
use reqwest::Method;
use serde_json::{Value, json};

use crate::stage::{Stage, git, make_repository, reply, text};

fn code((status, body): (u16, Value)) -> (u16, String) {
    let error = &body["error"];
    assert!(status < 400 || error["message"].is_string(), "{status} {body}");
    (status, error["code"].as_str().unwrap_or("no code").to_owned())
}

fn no(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn projects_are_registered_renamed_and_taken_out() {
    let stage = Stage::set(json!([])).await;
    let (_, listed) = stage.get("/projects").await;
    let project = &listed["projects"][0];
    assert_eq!(
        (
            &project["name"],
            &project["state"],
            &project["pathExists"],
            &project["baseBranch"],
            &project["counts"]
        ),
        (&json!("Root"), &json!("open"), &json!(true), &json!("main"), &json!({ "pending": 1 }))
    );
    let path = stage.ground.path().join("repo");
    assert_eq!(code(stage.post("/projects", json!({ "path": path })).await), no(409, "already_registered"));
    let missing = stage.ground.path().join("missing");
    assert_eq!(code(stage.post("/projects", json!({ "path": missing })).await), no(400, "no_folder"));
    let (status, made) = stage.post("/projects", json!({ "path": missing, "init": true })).await;
    assert_eq!((status, &made["name"]), (201, &json!("missing")));
    let other = format!("/projects/{}", text(&made["id"]));
    assert_eq!(stage.patch(&other, json!({ "name": "Second" })).await.1["name"], "Second");
    assert_eq!(code(stage.patch(&other, json!({ "name": "" })).await), no(400, "bad_name"));
    let (status, gone) = stage.delete(&other).await;
    assert_eq!(status, 200);
    assert!(std::path::Path::new(&text(&gone["kept"])).join("log").is_dir());
    assert_eq!(code(stage.get(&other).await), no(404, "unknown_project"));
    assert_eq!(code(stage.get("/projects/nonsense").await), no(404, "unknown_project"));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tree_is_shaped_and_ids_may_be_shortened() {
    let stage = Stage::set(json!([])).await;
    let wish =
        json!({ "title": "One", "description": "d", "budgetUsd": 1.5, "checks": ["true"], "color": "red" });
    let (status, one) = stage.post(&stage.of("/tasks"), wish).await;
    assert_eq!(
        (status, &one["budgetUsd"], &one["remainingUsd"], &one["parentId"]),
        (201, &json!(1.5), &json!(1.5), &json!(stage.root))
    );
    let id = text(&one["id"]);
    let two = stage.act("/tasks", json!({ "title": "Two", "after": [id], "draft": true, "index": 0 })).await;
    assert_eq!((&two["status"], &two["after"]), (&json!("draft"), &json!([id])));
    let tree = stage.see("/tasks").await;
    let root = tree["tasks"].as_array().unwrap().iter().find(|task| task["id"] == json!(stage.root)).unwrap();
    assert_eq!(root["children"], json!([two["id"], one["id"]]));

    let at = stage.of(&format!("/tasks/{id}"));
    let patch = json!({ "title": "First", "color": null, "budgetUsd": null, "index": 0 });
    let (status, patched) = stage.patch(&at, patch.clone()).await;
    assert_eq!(
        (status, &patched["title"], patched.get("color"), patched.get("budgetUsd")),
        (200, &json!("First"), None, None)
    );
    assert_eq!(stage.patch(&at, patch).await.0, 200, "what is so already is no error");
    assert_eq!(code(stage.patch(&at, json!({ "status": "passed" })).await), no(409, "illegal_transition"));
    assert_eq!(code(stage.patch(&at, json!({ "status": "gone" })).await), no(422, "schema"));
    assert_eq!(code(stage.patch(&at, json!({ "titel": "x" })).await), no(422, "schema"));
    let reorder = stage.of(&format!("/tasks/{}/reorder", stage.root));
    assert_eq!(code(stage.patch(&reorder, json!({ "children": [id] })).await), no(409, "not_a_permutation"));
    assert_eq!(stage.patch(&reorder, json!({ "children": [two["id"], id] })).await.0, 200);

    assert_eq!(code(stage.get(&stage.of("/tasks/0000")).await), no(404, "not_an_id"));
    assert_eq!(code(stage.get(&stage.of("/tasks/7ZZZZZZZZZ")).await), no(404, "unknown_task"));
    assert_eq!(stage.see(&format!("/tasks/{}", id.to_lowercase())).await["id"], json!(id));
    assert_eq!(code(stage.delete(&stage.of(&format!("/tasks/{}", stage.root))).await), no(409, "is_root"));
    assert_eq!(stage.delete(&at).await.0, 200);
    assert_eq!(code(stage.get(&at).await), no(404, "unknown_task"));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_is_sent_twice_is_delivered_once() {
    let mut stage = Stage::set(json!([])).await;
    let first = stage.task("First").await;
    let wish = json!({ "title": "Waits", "after": [first] });
    let task = text(&stage.act("/tasks", wish).await["id"]);
    let id = Ulid::from_parts(1_800_000_000_000, 7).to_string();
    let path = stage.of(&format!("/tasks/{task}/message"));
    let (status, posted) = stage.post(&path, json!({ "id": id, "content": "Hello" })).await;
    assert_eq!((status, &posted["messageId"], &posted["taskId"]), (202, &json!(id), &json!(task)));
    let (again, repeated) = stage.post(&path, json!({ "id": id, "content": "Hello" })).await;
    assert_eq!((again, &repeated), (202, &posted));
    stage.restart().await;
    let (again, repeated) = stage.post(&path, json!({ "id": id, "content": "Hello" })).await;
    assert_eq!((again, &repeated["seq"]), (202, &posted["seq"]));
    let other = stage.post(&path, json!({ "id": id, "content": "Something else" })).await;
    assert_eq!(code(other), no(409, "duplicate_message"), "it would be lost");
    assert_eq!(stage.see(&format!("/tasks/{task}")).await["inbox"], 1);

    assert_eq!(code(stage.post(&path, json!({})).await), no(422, "schema"));
    assert_eq!(code(stage.post(&path, json!({ "content": " " })).await), no(409, "empty"));
    assert_eq!(code(stage.post(&path, json!({ "id": "x", "content": "a" })).await), no(422, "schema"));
    let picture =
        |kind: &str, data: &str| json!({ "content": "a", "images": [{ "base64": data, "mediaType": kind }] });
    assert_eq!(
        code(stage.post(&path, picture("image/png", "aGVsbG8=")).await),
        no(422, "schema"),
        "no picture"
    );
    assert_eq!(code(stage.post(&path, picture("text/html", "aGVsbG8=")).await), no(422, "schema"));
    let png =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    assert_eq!(stage.post(&path, picture("image/png", png)).await.0, 202);
    let events = stage.see(&format!("/tasks/{task}/events")).await;
    let image =
        events["events"].as_array().unwrap().iter().find_map(|event| event["body"]["images"][0].as_object());
    let blob = text(&image.unwrap()["blob"]);
    let given = stage.ask(Method::GET, &stage.of(&format!("/blobs/{blob}"))).send().await.unwrap();
    assert_eq!(given.headers()["content-type"], "image/png");
    assert!(given.headers()["content-security-policy"].to_str().unwrap().contains("sandbox"));
    assert_eq!(code(stage.get(&stage.of("/blobs/sha256:00")).await), no(404, "no_such_blob"));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_events_fit_together() {
    let stage = Stage::set(json!([])).await;
    let task = stage.task("Busy").await;
    for number in 0..30 {
        let (status, _) =
            stage.patch(&stage.of(&format!("/tasks/{task}")), json!({ "title": format!("T{number}") })).await;
        assert_eq!(status, 200);
    }
    // A change of a task is also told to its agent, in the same commit.
    let titles_of = |page: &Value| -> Vec<String> {
        let events = page["events"].as_array().unwrap();
        events.iter().filter_map(|event| event["title"].as_str()).map(str::to_owned).collect()
    };
    let (mut before, mut titles) = (String::new(), Vec::new());
    loop {
        let page = stage.see(&format!("/tasks/{task}/events?limit=7{before}")).await;
        let events = page["events"].as_array().unwrap();
        assert!((1..=8).contains(&events.len()), "{}", events.len());
        titles.splice(0..0, titles_of(&page));
        if page["hasMore"] == json!(false) {
            break;
        }
        before = format!("&before={}", events[0]["seq"]);
    }
    let expected: Vec<String> =
        ["Busy".to_owned()].into_iter().chain((0..30).map(|number| format!("T{number}"))).collect();
    assert_eq!(titles, expected);
    let older = stage.see(&format!("/events/older?session={task}&before=5")).await;
    assert_eq!(titles_of(&older), ["Busy", "T0", "T1"]);
    let last = stage.see("/events?limit=5").await;
    assert_eq!(titles_of(&last).last().map(String::as_str), Some("T29"));
    let found = stage.see("/search?q=t29").await;
    assert_eq!(found["tasks"][0]["taskId"], json!(task));
    assert_eq!(found["log"][0]["line"], "renamed: T29");
    assert_eq!(code(stage.get(&stage.of("/search?q=")).await), no(400, "invalid"));
    assert_eq!(code(stage.get(&stage.of("/search")).await), no(400, "invalid"));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_are_changed_in_one_layer_and_secrets_stay() {
    let stage = Stage::set(json!([])).await;
    let key = "sk-ant-REDACTED";
    let group = json!({ "authGroups": { "spare": { "provider": "anthropic", "anthropicApiKey": key } } });
    let (status, changed) = stage.patch("/config/global", group).await;
    assert_eq!(status, 200, "{changed}");
    assert_eq!(changed["restarted"], json!([stage.project]));
    assert_eq!(changed["config"]["authGroups"]["spare"]["anthropicApiKey"], json!({ "set": true }));
    assert_eq!(changed["config"]["authGroups"]["main"]["anthropicApiKey"], "$env:STAGE_KEY");
    let echo = changed["config"].clone();
    assert_eq!(stage.patch("/config/global", echo).await.0, 200);
    let file = std::fs::read_to_string(stage.ground.path().join("data/config.json")).unwrap();
    assert!(file.contains(key), "what came back as a mark stays as it is");

    let (status, _) = stage.patch(&stage.of("/config"), json!({ "maxDepth": 2 })).await;
    assert_eq!(status, 200);
    let all = stage.see("/config/all").await;
    assert_eq!((&all["local"], &all["resolved"]["maxDepth"]), (&json!({ "maxDepth": 2 }), &json!(2)));
    assert_eq!(all["origins"]["maxDepth"]["layer"], "project");
    assert!(!all.to_string().contains(key));
    assert_eq!(
        code(stage.patch(&stage.of("/config"), json!({ "maxDepht": 2 })).await),
        no(422, "configuration")
    );
    assert_eq!(
        code(stage.patch(&stage.of("/config/repo"), json!({ "model": "m" })).await),
        no(422, "configuration")
    );
    assert_eq!(stage.patch(&stage.of("/config"), json!({ "maxDepth": null })).await.0, 200);
    assert_eq!(stage.see("/config").await, json!({}));
    assert_eq!(stage.get("/config/schema").await.1["type"], "object");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_project_that_is_broken_says_so_and_can_be_mended() {
    let mut stage = Stage::set(json!([])).await;
    let (repo, elsewhere) = (stage.ground.path().join("repo"), stage.ground.path().join("elsewhere"));
    std::fs::rename(&repo, &elsewhere).unwrap();
    stage.restart().await;
    let (_, shown) = stage.get(&stage.of("")).await;
    assert_eq!((&shown["state"], &shown["pathExists"]), (&json!("broken"), &json!(false)));
    assert_eq!(code(stage.get(&stage.of("/tasks")).await), no(503, "project_broken"));
    let (status, mended) = stage.patch(&stage.of(""), json!({ "path": elsewhere })).await;
    assert_eq!((status, &mended["state"]), (200, &json!("open")), "{mended}");
    assert_eq!(stage.see("/tasks").await["tasks"].as_array().unwrap().len(), 1);
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_read_is_refused_with_a_reason() {
    let stage = Stage::set(json!([])).await;
    let raw = |body: &'static str| {
        stage.ask(Method::POST, &stage.of("/tasks")).header("content-type", "application/json").body(body)
    };
    assert_eq!(code(reply(raw("{")).await), no(400, "invalid"));
    assert_eq!(code(reply(raw(r#"{"title":"a"} {}"#)).await), no(400, "invalid"));
    assert_eq!(code(reply(raw("[]")).await), no(422, "schema"));
    assert_eq!(code(reply(raw("")).await), no(422, "schema"));
    let (_, wrong) = reply(raw(r#"{"title":"a","budgetUsd":-1}"#)).await;
    assert!(wrong["error"]["message"].as_str().unwrap().starts_with("budgetUsd: "), "{wrong}");
    assert_eq!(code(stage.get("/nowhere").await), no(404, "no_such_route"));
    assert_eq!(code(stage.delete("/health").await), no(405, "method_not_allowed"));
    assert_eq!(stage.get("/health").await.1["status"], "ok");
    assert_eq!(stage.get("/stats").await.1["counts"], json!({ "pending": 1 }));
    let metrics = stage.ask(Method::GET, "/metrics").send().await.unwrap().text().await.unwrap();
    assert!(metrics.contains("mxd_tasks{status=\"pending\"} 1"), "{metrics}");
    let second = stage.ground.path().join("second");
    make_repository(&second);
    assert_eq!(git(&second, &["branch", "--show-current"]), "main");
    stage.end().await;
}

fn states(readiness: &Value) -> Vec<(String, String)> {
    let items = readiness["items"].as_array().unwrap().iter();
    items.map(|item| (text(&item["name"]), text(&item["state"]))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_project_says_what_it_needs_and_a_set_up_script_is_written_once() {
    let stage = Stage::set(json!([])).await;
    let readiness = stage.get(&stage.of("/readiness")).await.1;
    let names: Vec<String> = states(&readiness).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["model", "budget", "git", "setupHook", "checks"]);
    let state = |readiness: &Value, name: &str| {
        states(readiness).into_iter().find(|(item, _)| item == name).map(|(_, state)| state).unwrap()
    };
    assert_eq!(state(&readiness, "model"), "ready", "{readiness}");
    assert_eq!(
        (state(&readiness, "setupHook"), state(&readiness, "checks")),
        ("ready".into(), "optional".into())
    );
    // Another repository, without a script.
    let other = stage.ground.path().join("other");
    make_repository(&other);
    git(&other, &["rm", "-q", "-r", ".mxd"]);
    git(&other, &["commit", "-q", "-m", "without"]);
    git(&other, &["config", "user.name", "Ada"]);
    git(&other, &["config", "user.email", "ada@example.org"]);
    let made = stage.post("/projects", json!({ "path": other })).await.1;
    let project = format!("/projects/{}", text(&made["id"]));
    let readiness = stage.get(&format!("{project}/readiness")).await.1;
    assert_eq!((state(&readiness, "setupHook"), &readiness["ready"]), ("missing".into(), &json!(false)));
    let hook = format!("{project}/setup-hook");
    assert_eq!(code(stage.post(&hook, json!({ "choice": "text" })).await), no(422, "schema"));
    let done = stage.post(&hook, json!({ "choice": "nothing" })).await;
    assert_eq!(done, (200, json!({ "committed": true })));
    assert_eq!(stage.post(&hook, json!({ "choice": "example" })).await.1, json!({ "committed": false }));
    let committed = git(&other, &["log", "-1", "--format=%an", "--name-only"]);
    assert_eq!(committed, "Ada\n\n.mxd/hooks/setup_worktree.sh");
    let ran =
        std::process::Command::new("bash").arg(other.join(".mxd/hooks/setup_worktree.sh")).status().unwrap();
    assert!(ran.success());
    let readiness = stage.get(&format!("{project}/readiness")).await.1;
    assert_eq!(state(&readiness, "setupHook"), "ready");
    stage.end().await;
}
