//! The table of what became of every scene, as a page.

use std::collections::BTreeMap;

use crate::scene::{Outcome, Scene};
use crate::{conditions, projects};

const BEGIN: &str = "\
# The world

One story, played with the real program by `cargo xtask world` in many repositories. A root splits the work into two tasks; each
agent edits, runs the project's own tests inside of its sandbox and commits; checks run; both are merged; the second merge is a
conflict, which its agent resolves; the tasks are put away. Then the repository is looked at from outside: both changes are in
the base branch, every commit is the user's, the user's files and worktrees are as before, nothing is left behind.

✔ means all of that. *Refused at init* means that `mxd init` says so before anything begins, with the reason and the way out.
*Fails later* means what it says, and is a defect. This page is written by the program; a row is of the last run that played it.
";

/// The page, from what became of each scene by its id. A scene that was never played says so.
#[must_use]
pub fn page(outcomes: &BTreeMap<String, String>) -> String {
    let mut text = BEGIN.to_owned();
    text.push_str("\n## Conditions, on one small program\n\n");
    text.push_str(&rows("condition", &conditions::all(), outcomes));
    text.push_str("\n## Published packages, with their own tests\n\n");
    text.push_str(&rows("project", &projects::all(), outcomes));
    text
}

fn rows(what: &str, scenes: &[Scene], outcomes: &BTreeMap<String, String>) -> String {
    let mut text = format!("| {what} | outcome |\n|---|---|\n");
    for scene in scenes {
        let outcome = outcomes.get(scene.id).map_or("not played yet", String::as_str);
        let note = if outcome == Outcome::Worked.to_string() { scene.note } else { "" };
        text.push_str(&format!(
            "| {} | {} |\n",
            cell(scene.title),
            cell(format!("{outcome} {note}").trim_end())
        ));
    }
    text
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
