//! Folders that are swapped for links while tools are at work.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use mxd_tools::builtin::{read_file, search, write_file};
use mxd_tools::outcome::Outcome;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use tokio_util::sync::CancellationToken;

use crate::ground::{Ground, good, put};

const ROUNDS: usize = 20_000;

fn swap(one: &Path, other: &Path) {
    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
}

fn shown(outcome: &Outcome) -> String {
    format!("{outcome:?}")
}

/// Swaps two names while `work` is done, and says how often.
fn while_swapping(one: &Path, other: &Path, work: impl FnOnce()) -> u64 {
    let (stop, swaps) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                swap(one, other);
                swaps.fetch_add(1, Ordering::Relaxed);
            }
        });
        let _stop = Stop(&stop);
        work();
    });
    swaps.into_inner()
}

/// Ends the swapping, also when the work failed.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_folder_swapped_for_a_link_never_leads_out() {
    let ground = Ground::new();
    put(&ground.out("f"), "the secret\n");
    ground.put("deep/d/f", "inside\n");
    symlink(ground.top().join("out"), ground.work("deep/l")).unwrap();
    let read = read_file::Args { path: "deep/d/f".to_owned(), offset: None, limit: None };
    let write = write_file::Args { path: "deep/d/new/w".to_owned(), content: "written".to_owned() };
    let (mut inside, mut refused) = (0, 0);
    let swaps = while_swapping(&ground.work("deep/d"), &ground.work("deep/l"), || {
        for round in 0..ROUNDS {
            let outcome = match round % 2 {
                0 => read_file::run(&read, &ground.scope),
                _ => write_file::run(&write, &ground.scope),
            };
            assert!(!shown(&outcome).contains("secret"), "{outcome:?}");
            *(if outcome.is_error { &mut refused } else { &mut inside }) += 1;
        }
    });
    assert!(swaps > 1_000 && inside > 0 && refused > 0, "{swaps} swaps, {inside} inside, {refused} refused");
    let left: Vec<_> =
        fs::read_dir(ground.out("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["f"]);
    assert_eq!(fs::read(ground.out("f")).unwrap(), b"the secret\n");
}

#[test]
fn a_file_swapped_for_a_link_is_never_read_or_written_through() {
    let ground = Ground::new();
    put(&ground.out("f"), "the secret\n");
    ground.put("f", "inside\n");
    symlink(ground.out("f"), ground.work("l")).unwrap();
    let read = read_file::Args { path: "f".to_owned(), offset: None, limit: None };
    let write = write_file::Args { path: "f".to_owned(), content: "inside\n".to_owned() };
    while_swapping(&ground.work("f"), &ground.work("l"), || {
        for _round in 0..ROUNDS / 4 {
            let outcome = read_file::run(&read, &ground.scope);
            assert!(!shown(&outcome).contains("secret"), "{outcome:?}");
            drop(write_file::run(&write, &ground.scope));
        }
    });
    assert_eq!(fs::read(ground.out("f")).unwrap(), b"the secret\n");
    assert_eq!(fs::read_dir(ground.out("")).unwrap().count(), 1);
}

#[test]
fn a_search_never_follows_a_folder_that_became_a_link() {
    let ground = Ground::new();
    for index in 0..20 {
        put(&ground.out(&format!("sub/f{index}")), "needle of the outside\n");
        ground.put(&format!("deep/d/sub/f{index}"), "needle\n");
    }
    symlink(ground.top().join("out"), ground.work("deep/l")).unwrap();
    let args = search::Args { pattern: "needle".to_owned(), ..search::Args::default() };
    while_swapping(&ground.work("deep/d"), &ground.work("deep/l"), || {
        for _round in 0..ROUNDS / 20 {
            let text = good(&search::run(&args, &ground.scope, &CancellationToken::new()));
            assert!(!text.contains("outside"), "{text}");
        }
    });
}
