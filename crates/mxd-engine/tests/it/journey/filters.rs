//! A repository with files that go through a filter of the user's, as with LFS.

use mxd_core::tree::Status;
use serde_json::json;

use super::stage::{Stage, calls, capturing, conversation, expecting, git, write};

#[tokio::test(flavor = "multi_thread")]
async fn work_beside_filtered_files_is_merged_and_work_on_them_is_refused_with_the_way_out() {
    let refused = json!({ "tool_results": [{ "call": "mcp__mxd__done", "contains": ["logo.big", "a filter such as LFS", "git checkout"] }] });
    let bash = |command: &str| calls(&[("bash", json!({ "command": command }))]);
    let done = || calls(&[("done", json!({ "status": "passed", "summary": "There." }))]);
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
                calls(&[("merge_task", json!({ "taskId": "$child" }))]),
                expecting(
                    done(),
                    json!({ "tool_results": [{ "call": "mcp__mxd__merge_task", "contains": "Merged", "is_error": false }] }),
                ),
            ]
        ),
        conversation(
            "Title: Child",
            vec![
                bash(
                    "cat logo.big; echo changed > logo.big; echo text > work.txt; git add -A; git commit -qm work"
                ),
                expecting(
                    done(),
                    json!({ "tool_results": [{ "call": "mcp__mxd__bash", "contains": "stored" }] }),
                ),
                expecting(bash("git checkout -q HEAD~1 -- logo.big && git commit -qm back"), refused),
                done(),
            ]
        ),
    ]);
    let stage = Stage::furnished(script, |ground| {
        let repo = ground.join("repo");
        git(&repo, &["config", "filter.big.clean", "sed s/shown/stored/"]);
        git(&repo, &["config", "filter.big.smudge", "sed s/stored/shown/"]);
        write(repo.join(".gitattributes"), "*.big filter=big\n");
        write(repo.join("logo.big"), "shown\n");
        git(&repo, &["add", "-A"]);
        git(&repo, &["commit", "-qm", "a file with a filter"]);
        assert_eq!(git(&repo, &["show", "HEAD:logo.big"]), "stored");
        // As after a checkout: git has to read it again to know that it did not change.
        let file = std::fs::File::options().append(true).open(repo.join("logo.big")).unwrap();
        file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
        json!({})
    })
    .await;
    let root = stage.root();
    stage.say(root, "Begin.").await;
    stage.until_status(root, Status::Passed).await;
    assert_eq!(git(&stage.repo(), &["show", "main:work.txt"]), "text");
    assert_eq!(std::fs::read_to_string(stage.repo().join("logo.big")).unwrap(), "shown\n");
    assert_eq!(std::fs::read_to_string(stage.repo().join("work.txt")).unwrap(), "text\n");
    assert_eq!(git(&stage.repo(), &["status", "--porcelain"]), "");
    stage.end().await;
}
