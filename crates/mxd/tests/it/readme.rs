//! The README's commands, word by word, on a machine where git knows the user by the global settings and nothing else is
//! set up. They end in a merged commit whose author is the user.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use rehearse::{Rehearsal, Script, Wire};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::text;
use crate::user::write;

const README: &str = include_str!("../../../../README.md");

/// The lines of the block of commands that begins with this one.
fn commands_from(first: &str) -> Vec<&'static str> {
    let blocks = README.split("```sh\n").skip(1).filter_map(|block| block.split_once("```"));
    let block =
        blocks.map(|(block, _)| block).find(|block| block.lines().any(|line| line.starts_with(first)));
    let lines = block.unwrap().lines().skip_while(|line| !line.starts_with(first));
    lines.take_while(|line| !line.trim_start().starts_with("# or")).filter(|line| !line.is_empty()).collect()
}

/// A root that has one task do the work, and merges it.
fn script() -> Value {
    let call = |name: &str, input: Value| json!({ "tool_call": { "name": format!("mcp__mxd__{name}"), "input": input } });
    let turn = |calls: &[Value]| json!({ "reply": { "blocks": calls } });
    let create =
        call("create_task", json!({ "title": "Version", "description": "Add it.", "checks": ["true"] }));
    let start =
        call("send_message", json!({ "taskId": "$task", "title": "Begin", "message": "Please begin." }));
    let mut begin = turn(&[start]);
    begin["capture"] = json!(["Created the task (?<task>[0-9A-Z]{26})"]);
    let mut wait = turn(&[call("yield", json!({}))]);
    wait["until"] = json!({ "ever": { "contains": ["The flag is there."] } });
    let merge = turn(&[call("merge_task", json!({ "taskId": "$task" }))]);
    let done = |summary: &str| turn(&[call("done", json!({ "status": "passed", "summary": summary }))]);
    let edit = "echo 1.0 > version && git add -A && git commit -q -m 'Add a version'";
    let work = turn(&[call("bash", json!({ "command": edit }))]);
    json!({
        "conversations": [
            {
                "first_message": { "contains": "Title: thing\n" },
                "turns": [turn(&[create]), begin, wait, merge, done("It is merged.")],
            },
            { "first_message": { "contains": "Title: Version\n" }, "turns": [work, done("The flag is there.")] },
        ],
        "default_reply": { "blocks": [{ "text": "Noted." }] },
    })
}

/// A shell for a script in a home folder.
fn shell_command(home: &Path, script: &str) -> Command {
    let mxd = Path::new(env!("CARGO_BIN_EXE_mxd")).parent().unwrap();
    let path = format!("{}:{}", mxd.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("bash");
    command.args(["-c", script]).current_dir(home).env_clear().env("HOME", home).env("PATH", path);
    command
}

/// What a shell says, and whether it ended well.
fn shell(home: &Path, script: &str) -> (bool, String) {
    let output = shell_command(home, script).output().unwrap();
    (output.status.success(), text(&[output.stdout, output.stderr].concat()))
}

/// The same on a terminal, where somebody types these answers.
fn shell_on_terminal(home: &Path, (script, answers): (&str, &str)) -> (bool, String) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let terminal = OpenOptions::new().read(true).write(true).open(name).unwrap();
    let mut master = File::from(master);
    master.write_all(answers.as_bytes()).unwrap();
    // A terminal that nobody reads is full after a while, and then whoever writes to it waits.
    std::thread::spawn(move || std::io::copy(&mut master, &mut std::io::sink()));
    let mut command = shell_command(home, script);
    command.stdin(terminal.try_clone().unwrap()).stderr(terminal);
    let output = command.output().unwrap();
    (output.status.success(), text(&output.stdout))
}

#[test]
fn the_commands_of_the_readme_end_in_a_merged_commit_of_the_users() {
    let home = TempDir::new().unwrap();
    let model = Rehearsal::start(Script::parse("readme", &script().to_string()).unwrap()).unwrap();
    write(&home.path().join(".gitconfig"), "[user]\n\tname = User\n\temail = user@example.org\n");
    fs::create_dir_all(home.path().join("code/thing")).unwrap();
    let made = shell(
        home.path(),
        "cd code/thing && git init -q -b main && echo A thing. > README.md && git add -A && git commit -q -m First",
    );
    assert!(made.0, "{}", made.1);
    // What differs from a user's machine: where the provider is, a port that is free, and that there is no browser.
    let url = model.base_url(Wire::Anthropic);
    let account = commands_from("export ANTHROPIC_API_KEY");
    assert_eq!(account.len(), 2, "{account:?}");
    let account = account.join("\n").replace("--default", &format!("--default --base-url {url}"));
    let work = commands_from("mxd config set budgetUsd");
    let (watch, work) = work.split_last().unwrap();
    assert!(watch.starts_with("mxd watch"), "{watch}");
    let work = work.join("\n");
    for step in ["mxd doctor --reach", "mxd up", "cd ~/code/thing", "mxd init", "mxd send"] {
        assert!(work.lines().any(|line| line.starts_with(step)), "{step} is not in {work}");
    }
    let work = work.replace("mxd up ", "mxd config set port 0 --global\nmxd up --no-open ");
    let all = format!("set -ex\n{account}\n{work}\nmxd wait --seconds 240\nmxd needs");
    // What `mxd init` asks: whether the script that it shows is to be used.
    let (succeeded, said) = shell_on_terminal(home.path(), (&all, "use\n"));
    let log = shell(
        home.path(),
        "cd code/thing && git log --format='%an <%ae> %s' main && git status --short && cat version",
    );
    let stopped = shell(home.path(), "mxd daemon stop");
    assert!(succeeded && stopped.0, "{said}");
    let expected = "User <user@example.org> Merge Version";
    assert!(log.1.starts_with(expected), "{}\n{said}", log.1);
    assert!(
        log.1.lines().all(|line| line.starts_with("User <user@example.org>") || line == "1.0"),
        "{}",
        log.1
    );
    assert!(log.1.ends_with("1.0\n"), "{}", log.1);
}
