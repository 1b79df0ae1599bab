//! What stories are played on: a repository with one commit, and settings with a scripted model as the provider.
//!
//! Included by the test binaries of several crates.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

/// A repository with one commit, in the home folder of its user. Who that is stands where almost everybody has it: in
/// the settings of the home folder, and not in the repository.
pub(crate) fn make_repository(folder: &Path) {
    std::fs::create_dir_all(folder.join(".mxd/hooks")).unwrap();
    let home = folder.parent().unwrap();
    write(home.join(".gitconfig"), "[user]\n\tname = User\n\temail = user@example.org\n");
    write(folder.join("README.md"), "A small program.\n");
    write(folder.join(".mxd/hooks/setup_worktree.sh"), "#!/bin/bash\ntrue\n");
    write(folder.join(".gitignore"), ".worktrees\n");
    git(folder, &["init", "-q", "-b", "main"]);
    git(folder, &["add", "-A"]);
    git(folder, &["commit", "-q", "-m", "first"]);
}

/// Settings with the scripted model as the provider.
pub(crate) fn write_settings(ground: &Path, url: &str, more: Value) {
    let mut settings = json!({
        "authGroups": { "main": { "provider": "anthropic", "anthropicBaseUrl": url, "anthropicApiKey": "$env:STAGE_KEY" } },
        "defaultAuth": "main",
    });
    for (name, value) in more.as_object().unwrap() {
        settings[name] = value.clone();
    }
    std::fs::create_dir_all(ground.join("data")).unwrap();
    write(ground.join("data/config.json"), &settings.to_string());
}

/// A file as a user makes it.
#[expect(clippy::disallowed_methods, reason = "nothing of a test has to outlive a power cut")]
pub(crate) fn write(path: PathBuf, text: &str) {
    std::fs::write(path, text).unwrap();
}

/// Git as a user has it.
pub(crate) fn git(folder: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=User", "-c", "user.email=user@example.org"])
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
