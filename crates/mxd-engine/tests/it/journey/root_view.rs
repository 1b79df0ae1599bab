//! What the root reads: the base branch, and nothing of what lies beside it in the user's checkout.

use mxd_core::event::EventBody;
use mxd_core::event::body::RestReason;
use mxd_core::tree::Status;
use serde_json::{Value, json};

use super::stage::{Stage, calls, capturing, conversation, git, speaks, write};

const SECRET: &str = "of-the-user-alone";

fn bash(command: &str) -> Value {
    calls(&[("bash", json!({ "command": command }))])
}

/// What commands printed, all together.
fn printed(stage: &Stage) -> String {
    let results = stage.events().into_iter().filter_map(|event| match event.body {
        EventBody::ToolResult(result) => Some(format!("{:?}\n", result.content)),
        _ => None,
    });
    results.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn ignored_files_settings_with_tokens_and_uncommitted_changes_are_not_in_it() {
    let look = format!(
        "cat .env; cat file.txt; cat .git/config; git config --list --show-origin; git remote -v; ls -a; \
         find . -name '*.pem'; cat $repo/.env $repo/.git/config $repo/file.txt; grep -rs {SECRET} $repo; true"
    );
    let looks = capturing(bash(&look), r"The checkout is at (?<repo>\S+), look");
    let stage = Stage::set(json!([conversation("Title: Root", vec![looks, speaks("I see.")])])).await;
    let repo = stage.repo();
    write(repo.join(".gitignore"), ".env\n*.pem\n.worktrees\n");
    write(repo.join("file.txt"), "committed\n");
    git(&repo, &["add", "-A"]);
    git(&repo, &["commit", "-qm", "files"]);
    write(repo.join("file.txt"), &format!("{SECRET}\n"));
    write(repo.join(".env"), &format!("KEY={SECRET}\n"));
    write(repo.join("deploy.pem"), SECRET);
    git(&repo, &["remote", "add", "origin", &format!("https://user:{SECRET}@example.org/it.git")]);
    git(&repo, &["config", "http.https://example.org/.extraheader", &format!("Authorization: {SECRET}")]);
    let root = stage.root();
    stage.say(root, &format!("The checkout is at {}, look around.", repo.display())).await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    let printed = printed(&stage);
    assert!(printed.contains("committed"), "{printed}");
    assert!(printed.contains("https://example.org/it.git"), "{printed}");
    assert!(!printed.contains(SECRET), "{printed}");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn it_follows_the_base_branch_and_shows_branches_of_the_tasks_below() {
    let script = json!([
        conversation(
            "Title: Root",
            vec![
                calls(&[("create_task", json!({ "title": "Child", "description": "Work." }))]),
                capturing(
                    calls(&[(
                        "send_message",
                        json!({ "taskId": "$child", "title": "go", "message": "Begin." })
                    )]),
                    "Created the task (?<child>[0-9A-Z]{26})",
                ),
                calls(&[("yield", json!({}))]),
                bash("test ! -e work.txt && git log --format=%s mxd/$child/child | head -1 | tr a-z A-Z"),
                calls(&[("merge_task", json!({ "taskId": "$child" }))]),
                bash(
                    "cat work.txt; git status --short --branch; echo no > work.txt; git commit -q --allow-empty -m no"
                ),
                calls(&[("done", json!({ "status": "passed", "summary": "Merged." }))]),
            ]
        ),
        conversation(
            "Title: Child",
            vec![
                bash("echo the work > work.txt && git add work.txt && git commit -qm 'the commit'"),
                calls(&[("done", json!({ "status": "passed", "summary": "There." }))]),
            ]
        ),
    ]);
    let stage = Stage::set(script).await;
    let root = stage.root();
    stage.say(root, "Begin.").await;
    stage.until_status(root, Status::Passed).await;
    let printed = printed(&stage);
    assert!(printed.contains("THE COMMIT"), "{printed}");
    assert!(printed.contains("the work\\n## main\\n"), "{printed}");
    assert!(printed.contains("Read-only file system") || printed.contains("Permission denied"), "{printed}");
    assert_eq!(git(&stage.repo(), &["log", "-1", "--format=%s", "main"]).split(' ').next(), Some("Merge"));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ignored_files_that_the_user_includes_are_in_it() {
    let script = json!([conversation("Title: Root", vec![bash("cat .env"), speaks("I see.")])]);
    let stage = Stage::furnished(script, |ground| {
        let repo = ground.join("repo");
        write(repo.join(".gitignore"), ".env\n");
        write(repo.join(".env"), "PORT=included\n");
        git(&repo, &["add", "-A"]);
        git(&repo, &["commit", "-qm", "ignores"]);
        json!({ "include": [".env"] })
    })
    .await;
    let root = stage.root();
    stage.say(root, "Look.").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    assert!(printed(&stage).contains("PORT=included"));
    stage.end().await;
}
