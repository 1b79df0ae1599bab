//! What the program puts into its data folder is for its user alone.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use serde_json::json;
use tempfile::TempDir;

use crate::user::User;
use crate::{mxd, text};

/// Folders of a sandbox that the commands in it write to, with whatever modes they choose, and in which it mounts what
/// they see. The folders themselves are closed, so nobody else reaches what is in them.
const WRITTEN_BY_COMMANDS: [&str; 4] = ["caches", "git", "home", "tmp"];

/// Everything in a folder, without what the commands of agents wrote.
fn everything_in(folder: &Path, found: &mut Vec<PathBuf>) {
    found.push(folder.to_owned());
    // What the root reads has the modes of the repository, in a folder that is closed.
    if folder.file_name().is_some_and(|name| name == "view") {
        return;
    }
    let is_agent = folder.parent().is_some_and(|parent| parent.ends_with("agents"));
    let is_scratch = folder.file_name().is_some_and(|name| name.to_string_lossy().ends_with("scratch"));
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name();
        let is_folder = entry.file_type().unwrap().is_dir();
        if is_folder
            && !((is_agent || is_scratch) && WRITTEN_BY_COMMANDS.iter().any(|written| *written == name))
        {
            everything_in(&entry.path(), found);
        } else {
            found.push(entry.path());
        }
    }
}

fn open_to_others(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    everything_in(folder, &mut found);
    let mode = |path: &Path| fs::symlink_metadata(path).unwrap();
    found.retain(|path| !mode(path).is_symlink() && mode(path).mode() & 0o077 != 0);
    found.iter().map(|path| format!("{:o} {}", mode(path).mode(), path.display())).collect()
}

fn mode_of(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

#[test]
fn data_folder_after_demo_is_private() {
    let ground = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let folder = ground.path().join("demo");
    let played =
        mxd(&["demo", "--json", "--no-open", "--pace", "quick", "--folder", folder.to_str().unwrap()]);
    assert!(played.status.success(), "{}", text(&played.stderr));
    let data = folder.join("data");
    assert!(data.join("projects").is_dir());
    assert_eq!(open_to_others(&data), Vec::<String>::new());
}

#[test]
fn config_set_closes_open_data_folder() {
    let user = User::alone();
    let data = user.ground.path().join("data");
    fs::set_permissions(&data, fs::Permissions::from_mode(0o755)).unwrap();
    let (code, said) = user.run(&["config", "set", "budgetUsd", "20", "--global"]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(open_to_others(&data), Vec::<String>::new());
}

#[test]
fn config_set_for_project_closes_open_data_folder() {
    let user = User::new(&json!([]));
    let data = user.ground.path().join("data");
    assert_eq!(mode_of(&data), 0o700, "the daemon closes it when it starts");
    assert_eq!(user.run(&["init"]).0, 0);
    fs::set_permissions(&data, fs::Permissions::from_mode(0o755)).unwrap();
    let (code, said) = user.run(&["config", "set", "budgetUsd", "20"]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(mode_of(&data), 0o700);
}
