//! Removing what the user deleted: it is gone for good, the rest is untouched, and the chain says so.

use std::path::Path;
use std::sync::Arc;

use mxd_store::disk::OsDisk;
use mxd_store::{Draft, Log, Prune, PruneError, Pruned, verify};

use crate::common::{draft, manual, open, open_on, read_everything};
use crate::sim::SimDisk;

fn forget<'a>(task: &'a str, through: u64) -> Prune<'a> {
    Prune { task, through, types: &["note"], why: "the user cleared the conversation", at: 99 }
}

fn fill(log: &Log, commits: u64) {
    for count in 0..commits {
        let task = if count % 3 == 0 { "secret" } else { "public" };
        log.append(draft(task, &format!("{task}-{count}-"))).unwrap();
    }
}

/// Every byte below the log's folder, unpacked.
fn all_text(dir: &Path) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(dir.join("log")).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let plain =
            if path.extension().unwrap() == "zst" { zstd::decode_all(&bytes[..]).unwrap() } else { bytes };
        text.push_str(&String::from_utf8(plain).unwrap());
    }
    text
}

#[test]
fn pruned_events_are_gone_and_everything_else_is_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let (log, _) = open(dir.path(), manual(2_000)).unwrap();
    fill(&log, 90);
    let before = read_everything(&log);
    let pruned = log.prune(&forget("secret", 60)).unwrap();
    assert_eq!((pruned.events, pruned.blobs), (20, 0));
    assert!(pruned.segments.len() > 3);
    let after = read_everything(&log);
    assert_eq!(after.len(), 91, "one commit more: the record");
    assert!(log.recent(0).is_none(), "nor is it in memory");
    for (old, new) in before.iter().zip(&after) {
        let gone = old.seq <= 60 && old.events.contains("secret-");
        assert_eq!(new.events, if gone { "[]" } else { &old.events }, "commit {}", old.seq);
        assert_eq!((new.seq, new.at), (old.seq, old.at));
    }
    assert!(
        after[90].events.contains(r#""type":"log_pruned""#)
            && after[90].events.contains("cleared the conversation")
    );
    let text = all_text(dir.path());
    assert!(!text.contains("secret-0-") && !text.contains("secret-57-"), "nothing of it is on disk");
    assert!(text.contains("secret-60-") && text.contains("public-1-"));
    assert_eq!(log.read_task("secret", 0, 100).unwrap().len(), 11);
    let proof = verify(&OsDisk, dir.path()).unwrap();
    assert_eq!((proof.problems, proof.pruned), (vec![], pruned.segments.len()));
    drop(log);
    let (log, replayed) = open(dir.path(), manual(2_000)).unwrap();
    assert_eq!(replayed.0, after.into_iter().map(|commit| (commit.seq, commit.events)).collect::<Vec<_>>());
    assert_eq!(log.prune(&forget("secret", 60)).unwrap(), Pruned::default(), "nothing is left to remove");
    // A second removal in the same segments: the chain follows both.
    assert_eq!(log.prune(&forget("secret", 91)).unwrap().events, 10);
    assert_eq!(log.prune(&forget("public", 91)).unwrap().events, 60);
    assert_eq!(verify(&OsDisk, dir.path()).unwrap().problems, []);
}

#[test]
fn only_the_named_types_of_the_named_task_go() {
    let dir = tempfile::tempdir().unwrap();
    let (log, _) = open(dir.path(), manual(u64::MAX)).unwrap();
    let note = r#"{"task":"A","type":"note","text":"goes"}"#;
    let fact = r#"{"task":"A","type":"task_created","text":"stays"}"#;
    let other = r#"{"task":"B","type":"note","text":"stays too"}"#;
    log.append(Draft::of(1, [note, fact, other, note]).unwrap()).unwrap();
    assert_eq!(log.prune(&forget("A", 1)).unwrap().events, 2);
    assert_eq!(read_everything(&log)[0].events, format!("[{fact},{other}]"));
}

#[test]
fn altering_a_segment_without_a_record_is_found_out() {
    let dir = tempfile::tempdir().unwrap();
    let (log, _) = open(dir.path(), manual(1_000)).unwrap();
    fill(&log, 30);
    drop(log);
    // Somebody who knows the format rewrites a commit, checksum and all.
    let path = dir.path().join("log/000002.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let forged: String = text
        .split_inclusive('\n')
        .map(|line| match line.strip_suffix('\n').filter(|line| line.contains("public-")) {
            Some(line) => {
                let body = line[..line.len() - 18].replace("public-", "forged-");
                format!("{body},\"crc\":\"{:08x}\"}}\n", crc32fast::hash(body.as_bytes()))
            }
            None => line.to_owned(),
        })
        .collect();
    assert_ne!(forged, text);
    std::fs::write(&path, forged).unwrap();
    let proof = verify(&OsDisk, dir.path()).unwrap();
    assert_eq!(proof.problems.len(), 1, "{proof:?}");
    assert_eq!(proof.problems[0].path, path);
    assert!(proof.problems[0].what.contains("another hash"));
}

#[test]
fn blobs_go_when_nothing_names_them_and_nobody_holds_them() {
    let dir = tempfile::tempdir().unwrap();
    let (log, _) = open(dir.path(), manual(u64::MAX)).unwrap();
    let [gone, shared, held] =
        ["gone", "shared", "held"].map(|body| log.blobs().put(body.as_bytes()).unwrap());
    for pin in [&gone, &shared, &held] {
        log.append(draft("secret", &pin.id().to_string())).unwrap();
    }
    log.append(draft("public", &shared.id().to_string())).unwrap();
    let ids = [gone.id(), shared.id(), held.id()];
    drop((gone, shared));
    assert_eq!(log.prune(&forget("secret", 9)).unwrap().blobs, 1);
    assert!(log.blobs().get(ids[0]).is_err());
    assert_eq!(log.blobs().get(ids[1]).unwrap(), b"shared");
    assert_eq!(log.blobs().get(ids[2]).unwrap(), b"held");
}

#[test]
fn a_prune_needs_a_reason_and_spares_the_records() {
    let dir = tempfile::tempdir().unwrap();
    let (log, _) = open(dir.path(), manual(u64::MAX)).unwrap();
    fill(&log, 3);
    assert!(matches!(log.prune(&Prune { why: "", ..forget("secret", 3) }), Err(PruneError::Invalid(_))));
    assert!(matches!(
        log.prune(&Prune { types: &["log_pruned"], ..forget("secret", 3) }),
        Err(PruneError::Invalid(_))
    ));
    assert_eq!(log.prune(&forget("nobody", 3)).unwrap(), Pruned::default());
    assert_eq!(read_everything(&log).len(), 3, "a prune that finds nothing leaves no trace");
}

/// Stops the disk at every operation of a prune, one after another.
#[test]
fn a_prune_cut_off_anywhere_is_done_or_not_begun() {
    let root = Path::new("/project");
    let (mut done, mut undone) = (0, 0);
    for operations in 0.. {
        let disk = SimDisk::default();
        let (log, _) = open_on(Arc::new(disk.clone()), root, manual(1_000)).unwrap();
        fill(&log, 30);
        log.upkeep().unwrap();
        let before = read_everything(&log);
        disk.set_fuse(operations);
        let finished = log.prune(&forget("secret", 30)).is_ok();
        drop(log);
        // Everything that was done is on disk; what comes after the cut is the next boot's business.
        let (log, _) = open_on(Arc::new(disk.copy()), root, manual(1_000)).unwrap();
        let after = read_everything(&log);
        let gone = after.iter().filter(|commit| commit.events == "[]").count();
        match gone {
            0 => {
                assert_eq!(after, before, "{operations}");
                undone += 1;
            }
            10 => {
                assert_eq!(after.len(), 31, "{operations}");
                done += 1;
            }
            part => panic!("{part} of 10 events are gone after {operations} operations"),
        }
        assert_eq!(log.report().damages, []);
        if finished {
            break;
        }
    }
    assert!(done > 2 && undone > 2, "{done} done, {undone} undone");
}

/// A failed prune may have begun a segment that is not used: the log goes on in the old one, and then comes a crash.
#[test]
fn a_prune_that_fails_once_anywhere_leaves_a_log_that_goes_on() {
    let root = Path::new("/project");
    for operation in 0..60 {
        let disk = SimDisk::default();
        let (log, _) = open_on(Arc::new(disk.clone()), root, manual(100_000)).unwrap();
        fill(&log, 12);
        disk.set_glitch(operation, 1);
        let done = log.prune(&forget("secret", 12));
        disk.set_glitch(0, 0);
        fill(&log, 3);
        let expected = read_everything(&log);
        assert_eq!(
            expected.len(),
            if done.is_ok() { 16 } else { *log.head().borrow() as usize },
            "{operation}"
        );
        let found = disk.copy();
        let (log, replayed) = open_on(Arc::new(found.clone()), root, manual(100_000)).unwrap();
        assert_eq!(log.report().damages, [], "{operation}");
        assert_eq!(replayed.seqs(), (1..=expected.len() as u64).collect::<Vec<_>>(), "{operation}");
        assert_eq!(log.append(draft("public", "on")).unwrap(), expected.len() as u64 + 1, "{operation}");
        assert_eq!(verify(&found, root).unwrap().problems, [], "{operation}");
    }
}

/// A write that failed and could not be taken back leaves bytes behind; closing the segment must not keep them.
#[test]
fn a_prune_after_a_write_that_could_not_be_taken_back() {
    let root = Path::new("/project");
    let disk = SimDisk::default();
    let (log, _) = open_on(Arc::new(disk.clone()), root, manual(100_000)).unwrap();
    fill(&log, 6);
    disk.set_glitch(1, 2);
    assert!(log.append(draft("public", "refused")).is_err());
    assert_eq!(log.prune(&forget("secret", 6)).unwrap().events, 2);
    let (log, replayed) = open_on(Arc::new(disk.copy()), root, manual(100_000)).unwrap();
    assert_eq!((log.report().damages.len(), replayed.0.len()), (0, 7));
    assert_eq!(verify(&disk, root).unwrap().problems, []);
}
