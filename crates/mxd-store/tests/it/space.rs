//! A full or failing disk: the caller is told, nothing is spoilt, and it goes on when it can.

use std::path::Path;
use std::sync::Arc;

use mxd_store::{AppendError, OpenError};

use crate::common::{draft, manual, open_on, read_everything};
use crate::dice::Dice;
use crate::rounds::seeds;
use crate::sim::SimDisk;

const ROOT: &str = "/project";

#[test]
fn a_full_disk_is_told_and_appending_goes_on_when_there_is_space() {
    for seed in seeds(300) {
        let mut dice = Dice::new(seed);
        let disk = SimDisk::default();
        let (log, _) = open_on(Arc::new(disk.clone()), Path::new(ROOT), manual(2_000)).unwrap();
        let mut kept = Vec::new();
        for round in 0..6 {
            disk.set_space(Some(dice.below(3_000)));
            for count in 0..20 {
                let text = format!("round {round} count {count} {}", "x".repeat(dice.below(300) as usize));
                match log.append(draft("T1", &text)) {
                    Ok(seq) => {
                        kept.push(text);
                        assert_eq!(seq as usize, kept.len(), "seed {seed}");
                    }
                    Err(AppendError::Full { .. }) => {}
                    Err(error) => panic!("seed {seed}: {error}"),
                }
                let read = read_everything(&log);
                assert_eq!(read.len(), kept.len(), "seed {seed}: the log stays readable");
            }
            disk.set_space(None);
            let text = format!("round {round} has space again");
            assert_eq!(log.append(draft("T1", &text)).unwrap() as usize, kept.len() + 1, "seed {seed}");
            kept.push(text);
        }
        drop(log);
        let (log, replayed) = open_on(Arc::new(disk.clone()), Path::new(ROOT), manual(2_000)).unwrap();
        assert_eq!((&log.report().damages[..], &log.report().torn), (&[][..], &None), "seed {seed}");
        assert!(
            replayed.0.iter().zip(&kept).all(|((_, events), text)| events.contains(text.as_str())),
            "seed {seed}"
        );
        assert_eq!(replayed.0.len(), kept.len(), "seed {seed}");
        let proof = mxd_store::verify(&disk, Path::new(ROOT)).unwrap();
        assert_eq!(proof.problems, [], "seed {seed}");
    }
}

#[test]
fn a_log_on_a_full_disk_opens_and_a_new_one_says_why_not() {
    let disk = SimDisk::default();
    let (log, _) = open_on(Arc::new(disk.clone()), Path::new(ROOT), manual(500)).unwrap();
    for count in 0..20 {
        log.append(draft("T1", &format!("number {count}"))).unwrap();
    }
    drop(log);
    disk.set_space(Some(0));
    let (log, replayed) = open_on(Arc::new(disk.clone()), Path::new(ROOT), manual(500)).unwrap();
    assert_eq!(replayed.0.len(), 20);
    assert!(matches!(log.append(draft("T1", "no")).unwrap_err(), AppendError::Full { .. }));
    drop(log);
    let error = open_on(Arc::new(disk), Path::new("/another"), manual(500)).unwrap_err();
    assert!(matches!(error, OpenError::Full { .. }), "{error}");
    assert!(error.hint().contains("free some space"), "{}", error.hint());
}

#[test]
fn a_torn_end_on_a_full_disk_waits_for_space_instead_of_being_dropped() {
    let disk = SimDisk::default();
    let (log, _) = open_on(Arc::new(disk.clone()), Path::new(ROOT), manual(u64::MAX)).unwrap();
    log.append(draft("T1", "whole")).unwrap();
    drop(log);
    let path = Path::new(ROOT).join("log/000001.jsonl");
    let mut text = disk.bytes(&path);
    text.extend_from_slice(b"{\"seq\":2,\"dur");
    disk.put(&path, text.clone());
    disk.set_space(Some(5));
    let error = open_on(Arc::new(disk.clone()), Path::new(ROOT), manual(u64::MAX)).unwrap_err();
    assert!(matches!(error, OpenError::Full { .. }), "{error}");
    assert_eq!(disk.bytes(&path), text, "nothing was changed");
    disk.set_space(None);
    let (log, replayed) = open_on(Arc::new(disk.clone()), Path::new(ROOT), manual(u64::MAX)).unwrap();
    assert_eq!(replayed.0.len(), 1);
    assert_eq!(disk.bytes(&log.report().torn.as_ref().unwrap().kept), b"{\"seq\":2,\"dur");
}

/// Lets each single operation fail once, with more appends after it, and a crash at the end.
#[test]
fn a_disk_that_fails_once_at_any_moment_spoils_nothing() {
    let (mut told, root) = (0, Path::new(ROOT));
    for operation in 0..120 {
        let disk = SimDisk::default();
        let (log, _) = open_on(Arc::new(disk.clone()), root, manual(600)).unwrap();
        disk.set_glitch(operation, 1);
        let mut kept = Vec::new();
        for count in 0..20 {
            let text = format!("number {count}");
            match log.append(draft("T1", &text)) {
                Ok(seq) => {
                    kept.push(text);
                    assert_eq!(seq as usize, kept.len(), "operation {operation}");
                }
                Err(AppendError::Io { .. }) => told += 1,
                Err(error) => panic!("operation {operation}: {error}"),
            }
            // Whenever the process dies, what it was told is there, and what it was refused is not.
            let (found, replayed) = open_on(Arc::new(disk.copy()), root, manual(600)).unwrap();
            assert_eq!(replayed.0.len(), kept.len(), "operation {operation}, {:?}", found.report());
            assert!(replayed.0.iter().zip(&kept).all(|((_, events), text)| events.contains(text.as_str())));
            assert_eq!(
                found.append(draft("T1", "on")).unwrap() as usize,
                kept.len() + 1,
                "operation {operation}"
            );
        }
        drop(log);
        assert_eq!(mxd_store::verify(&disk, root).unwrap().problems, [], "operation {operation}");
    }
    assert!(told > 30, "{told}");
}
