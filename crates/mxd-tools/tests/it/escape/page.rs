//! The page that says what each level stops, written from the table.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use super::FAMILIES;
use super::attempt::{Attempt, Full, Landlock};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/sandbox.md");

const INTRODUCTION: &str = "\
# What the sandbox stops

This page is written by a test from the table of attempts in `crates/mxd-tools/tests/it/escape`; do not change it by hand
(`MXD_UPDATE_GOLDEN=1 cargo test -p mxd-tools --test it page` writes it anew). Every attempt below is tried in every run of
the tests: at each level by an agent, and, where it does no harm, without a sandbox, where it has to succeed.

* **full**: namespaces, Landlock, seccomp, limits. What it does not stop is said, with the reason.
* **landlock**: Landlock and seccomp alone, for machines that forbid user namespaces. What it does not stop is said, with
  the reason. It needs Landlock 6 (Linux 6.12); an older kernel stops less: signals and abstract sockets are not held.
* **off**: nothing is stopped.

When the tests run as root, every attempt is tried a second time as an ordinary user.

The disk: without privileges no quota can be set, so the worktree, the home folder, the temporary files and the changes to caches
of an agent are measured while its commands run, once a second at most, and for no more than a twentieth of the time. Above
64 GiB or 8 million files, or when it has taken half of what was free, its commands are ended with a message that says so, and
further ones can remove files but neither make nor write any, until there is less. Two things are not held: between two
measurements an agent can write as fast as the disk takes it, and what it writes to the shared object store of the repository
is not counted.
";

#[test]
fn the_page_says_what_the_table_says() {
    let page = render();
    if std::env::var_os("MXD_UPDATE_GOLDEN").is_some() {
        fs::File::create(PAGE).unwrap().write_all(page.as_bytes()).unwrap();
    }
    let there = fs::read_to_string(Path::new(PAGE)).unwrap_or_default();
    assert!(
        there == page,
        "docs/sandbox.md is not what the table says; write it anew with MXD_UPDATE_GOLDEN=1"
    );
}

fn render() -> String {
    let mut page = INTRODUCTION.to_owned();
    let all: Vec<&Attempt> = FAMILIES.iter().flat_map(|family| family.attempts).collect();
    let past_full = all.iter().filter(|attempt| !matches!(attempt.full, Full::Stopped)).count();
    let past_landlock = all.iter().filter(|attempt| !matches!(attempt.landlock, Landlock::Stopped)).count();
    writeln!(
        page,
        "\n{} attempts. {past_full} are not, or not always, stopped by the top level, {past_landlock} not, or not always, by Landlock alone.",
        all.len()
    )
    .unwrap();
    for family in FAMILIES {
        writeln!(page, "\n## {}\n\n| attempt | full | landlock |\n|---|---|---|", family.name).unwrap();
        for attempt in family.attempts {
            writeln!(page, "| {} | {} | {} |", attempt.name, full(attempt), landlock(attempt)).unwrap();
        }
    }
    page
}

fn full(attempt: &Attempt) -> String {
    match attempt.full {
        Full::Stopped => "stopped".to_owned(),
        Full::NotStoppedWithoutGroups(why) => format!("**not stopped without control groups**: {why}"),
    }
}

fn landlock(attempt: &Attempt) -> String {
    match attempt.landlock {
        Landlock::Stopped => "stopped".to_owned(),
        Landlock::NotStopped(why) => format!("**not stopped**: {why}"),
        Landlock::NotStoppedForRoot(why) => format!("**not stopped for root**: {why}"),
        Landlock::NotStoppedForUsers(why) => format!("**not stopped for ordinary users**: {why}"),
        Landlock::NotStoppedWithoutGroups(why) => format!("**not stopped without control groups**: {why}"),
    }
}
