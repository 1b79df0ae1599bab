//! Content that attacks: files, refs, objects, settings, names, links, sizes that an agent leaves behind, looked at in every
//! moment in which the daemon looks at a worktree.
//!
//! Each attempt names a program. If the program runs outside of the sandbox, it leaves a marker; inside, it cannot reach the
//! place of the marker. Secrets lie where links and settings point to; none may be found in anything that comes out.
//! In the suite most attempts share a worktree, and of those that cannot share one only some are tried. With
//! `MXD_CONTENT_ALONE=1` each of them is tried in a worktree of its own, which takes an hour.

mod attempts;
mod files;
mod ground;
mod moments;
mod settings;
mod structure;

use std::collections::{BTreeMap, BTreeSet};

use attempts::{Attempt, Company};
use ground::Ground;

/// In the suite, one in so many of the attempts that cannot share a worktree is tried.
const SHARE: usize = 8;

/// All attempts, generated.
fn all() -> Vec<Attempt> {
    let mut all = settings::attempts();
    all.extend(structure::attempts());
    all.extend(files::attempts());
    all
}

/// Attempts that are tried in one worktree.
fn groups(of: impl Fn(&Attempt) -> bool) -> Vec<Vec<Attempt>> {
    let is_each_alone = std::env::var_os("MXD_CONTENT_ALONE").is_some();
    let (mut together, mut groups) = (BTreeMap::<&str, Vec<Attempt>>::new(), Vec::new());
    for attempt in all().into_iter().filter(of) {
        match attempt.company {
            Company::With(others) if !is_each_alone => together.entry(others).or_default().push(attempt),
            _ => groups.push(vec![attempt]),
        }
    }
    if !is_each_alone {
        groups = groups.into_iter().step_by(SHARE).collect();
    }
    groups.extend(together.into_values());
    groups
}

async fn try_groups(of: impl Fn(&Attempt) -> bool) {
    for group in groups(of) {
        let ground = Ground::with(group).await;
        moments::all(&ground).await;
    }
}

#[test]
fn there_are_many_attempts_and_each_has_a_name_of_its_own() {
    let names: BTreeSet<String> = all().into_iter().map(|attempt| attempt.name).collect();
    assert_eq!(names.len(), all().len());
    assert!(names.len() >= 200, "{}", names.len());
}

#[tokio::test]
async fn settings_and_attributes_run_nothing_and_show_nothing_at_any_moment() {
    try_groups(|attempt| attempt.kind == attempts::Kind::Settings).await;
}

#[tokio::test]
async fn files_names_links_and_sizes_run_nothing_and_show_nothing_at_any_moment() {
    try_groups(|attempt| attempt.kind == attempts::Kind::Files).await;
}

#[tokio::test]
async fn refs_and_notes_of_a_repository_run_nothing_and_show_nothing_at_any_moment() {
    try_groups(|attempt| attempt.kind == attempts::Kind::Structure(0)).await;
}

#[tokio::test]
async fn objects_and_indexes_run_nothing_and_show_nothing_at_any_moment() {
    try_groups(|attempt| attempt.kind == attempts::Kind::Structure(1)).await;
}

/// The attempts are real: git outside of a sandbox runs what they name.
#[tokio::test]
async fn without_a_sandbox_the_same_content_runs_programs() {
    let of = |attempt: &Attempt| matches!(attempt.company, Company::With("nested" | "private"));
    let ground = Ground::with(all().into_iter().filter(of).collect()).await;
    for args in [&["add", "--intent-to-add", "--all", "--", "."][..], &["status"], &["diff", "--ext-diff"]] {
        let mut git = ground.yard.command(&ground.worktree.folder, args);
        git.output().unwrap();
    }
    let ran = ground.markers();
    for wanted in ["filter clean", "include in", "includeIf"] {
        assert!(ran.iter().any(|name| name.contains(wanted)), "{wanted} did not run: {ran:?}");
    }
}
