//! Persistent tasks are files of the repository: written, tracked, and found again in a clone.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::user::{User, write};

fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git").args(arguments).current_dir(folder).output().unwrap();
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(output.status.success(), "git {}: {said}", arguments.join(" "));
    said.trim_end().to_owned()
}

/// A user with a registered repository.
fn user() -> User {
    let user = User::new(&json!([]));
    assert_eq!(user.run(&["init"]).0, 0);
    user
}

fn makes_task(user: &User, title: &str) -> String {
    let (code, said) = user.run(&[
        "task",
        "create",
        title,
        "-d",
        "Look for tests that cannot fail.",
        "--persistent",
        "reset",
    ]);
    assert_eq!(code, 0, "{said}");
    said.trim().to_owned()
}

fn path(id: &str) -> String {
    format!(".mxd/tasks/{id}.json")
}

/// The file as the branch has it; nothing when it has none.
fn committed(user: &User, id: &str) -> Option<Value> {
    let shown = Command::new("git")
        .args(["show", &format!("HEAD:{}", path(id))])
        .current_dir(user.repo())
        .output()
        .unwrap();
    shown.status.success().then(|| serde_json::from_slice(&shown.stdout).unwrap())
}

fn task(user: &User, id: &str) -> Option<Value> {
    let tree: Value = serde_json::from_str(&user.run(&["tree", "--json"]).1).ok()?;
    tree["tasks"].as_array()?.iter().find(|task| task["id"] == id).cloned()
}

#[test]
fn files_follow_their_tasks_and_leave_the_changes_of_the_user_alone() {
    let user = user();
    let repo = user.repo();
    write(&repo.join("README.md"), "Changed by the user, and not committed.\n");
    write(&repo.join("staged.txt"), "Staged by the user.\n");
    git(&repo, &["add", "staged.txt"]);
    let before = git(&repo, &["status", "--porcelain"]);
    let id = makes_task(&user, "Weekly audit");
    user.until("the file is committed", |user| committed(user, &id).is_some());
    let said = json!({
        "title": "Weekly audit", "description": "Look for tests that cannot fail.", "persistent": "reset"
    });
    assert_eq!(committed(&user, &id), Some(said));
    assert!(repo.join(path(&id)).is_file(), "the checkout follows");
    assert_eq!(git(&repo, &["status", "--porcelain"]), before);
    assert_eq!(git(&repo, &["show", "--name-only", "--format=", "HEAD"]), path(&id));
    let author = git(&repo, &["log", "-1", "--format=%an <%ae>"]);
    assert_eq!(author, git(&repo, &["log", "--reverse", "--format=%an <%ae>"]).lines().next().unwrap());

    assert_eq!(user.run(&["task", "edit", &id, "-d", "Look twice."]).0, 0);
    user.until("the file has changed", |user| {
        committed(user, &id).is_some_and(|file| file["description"] == "Look twice.")
    });
    assert_eq!(user.run(&["task", "edit", &id, "--persistent", "none"]).0, 0);
    user.until("the file is gone", |user| committed(user, &id).is_none());
    assert_eq!(git(&repo, &["status", "--porcelain"]), before);
}

#[test]
fn a_clone_has_the_task_as_a_draft_until_the_user_makes_it_ready() {
    let first = user();
    let id = makes_task(&first, "Weekly audit");
    first.until("the file is committed", |user| committed(user, &id).is_some());
    let second = User::new(&json!([]));
    fs::remove_dir_all(second.repo()).unwrap();
    git(&first.repo(), &["clone", "-q", ".", second.repo().to_str().unwrap()]);
    for (key, value) in [("user.name", "Second"), ("user.email", "second@example.org")] {
        git(&second.repo(), &["config", key, value]);
    }
    assert_eq!(second.run(&["init"]).0, 0);
    second.until("the task is there", |user| task(user, &id).is_some());
    let found = task(&second, &id).unwrap();
    let shown = (&found["title"], &found["status"], &found["persistent"]);
    assert_eq!(shown, (&json!("Weekly audit"), &json!("draft"), &json!("reset")));
    let (code, said) = second.run(&["send", "-t", &id, "Begin."]);
    assert!(code != 0 && said.contains("draft"), "{said}");
    assert_eq!(second.run(&["task", "edit", &id, "--status", "pending"]).0, 0);
    assert_eq!(task(&second, &id).unwrap()["status"], "pending");
    assert_eq!(git(&second.repo(), &["status", "--porcelain"]), "");
}

#[test]
fn odd_files_are_shown_and_not_taken_over() {
    let user = User::new(&json!([]));
    let folder = user.repo().join(".mxd/tasks");
    fs::create_dir_all(&folder).unwrap();
    let id = |last: char| format!("01ARZ3NDEKTSV4RRFFQ69G5FA{last}");
    let good = json!({ "title": "T", "description": "D", "persistent": "continue" });
    let with = |key: &str, value: Value| {
        let mut file = good.clone();
        file[key] = value;
        file.to_string()
    };
    write(&folder.join("notes.json"), &good.to_string());
    write(&folder.join(format!("{}.json", id('0'))), "{ not JSON");
    write(&folder.join(format!("{}.json", id('1'))), &with("status", json!("in_progress")));
    write(&folder.join(format!("{}.json", id('2'))), &with("persistent", json!("always")));
    write(&folder.join(format!("{}.json", id('3'))), &with("description", json!("x".repeat(40_000))));
    write(&folder.join(format!("{}.json", id('4'))), &with("title", json!("two\nlines")));
    write(&folder.join(format!("{}.json", id('5'))), &"x".repeat(300_000));
    std::os::unix::fs::symlink("/etc/passwd", folder.join(format!("{}.json", id('6')))).unwrap();
    write(&folder.join(format!("{}.json", id('7'))), &with("color", json!("red; rm -rf")));
    write(&folder.join(format!("{}.json", id('8'))), &good.to_string());
    git(&user.repo(), &["add", "-A"]);
    git(&user.repo(), &["-c", "user.name=u", "-c", "user.email=u@e.org", "commit", "-qm", "files"]);
    assert_eq!(user.run(&["init"]).0, 0);
    user.until("the good one is there", |user| task(user, &id('8')).is_some());
    user.until("the others are told", |user| user.run(&["task", "files"]).1.contains(&id('7')));
    let told = user.run(&["task", "files"]).1;
    assert_eq!(task(&user, &id('8')).unwrap()["status"], "draft");
    for last in '0'..='7' {
        assert!(told.contains(&id(last)) && task(&user, &id(last)).is_none(), "{last}: {told}");
    }
    for why in ["notes.json: its name", "is not a plain file", "is too large", "unknown field `status`"] {
        assert!(told.contains(why), "{why}: {told}");
    }
}

#[test]
fn a_file_of_the_users_own_is_not_written_over() {
    let user = user();
    let id = makes_task(&user, "Weekly audit");
    user.until("the file is committed", |user| committed(user, &id).is_some());
    let file = user.repo().join(path(&id));
    write(&file, "The user is writing here.\n");
    assert_eq!(user.run(&["task", "edit", &id, "--title", "Daily audit"]).0, 0);
    user.until("it is told", |user| user.run(&["task", "files"]).1.contains("not written"));
    assert_eq!(fs::read_to_string(&file).unwrap(), "The user is writing here.\n");
    assert_eq!(committed(&user, &id).unwrap()["title"], "Weekly audit");
    git(&user.repo(), &["checkout", "-q", "--", &path(&id)]);
    assert_eq!(user.run(&["task", "edit", &id, "--title", "Hourly audit"]).0, 0);
    user.until("it is written", |user| committed(user, &id).unwrap()["title"] == "Hourly audit");
}
