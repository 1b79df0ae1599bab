//! Blank lines at the end of the open segment: commits are written over them, and to everybody else they are nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mxd_store::disk::{Disk as _, OsDisk};
use mxd_store::limits::ROOM_BYTES;
use mxd_store::{Log, export, verify};

use crate::common::{Listed, draft, manual, open, open_on, read_everything, without_room};
use crate::hooks::{HookedDisk, When};
use crate::sim::SimDisk;

const ROOT: &str = "/project";

fn on(disk: &SimDisk, segment: u64) -> (Log, Listed) {
    open_on(Arc::new(disk.clone()), Path::new(ROOT), manual(segment)).unwrap()
}

fn first() -> PathBuf {
    Path::new(ROOT).join("log/000001.jsonl")
}

#[test]
fn commits_are_written_into_room_and_the_file_keeps_its_length() {
    let disk = SimDisk::default();
    let (log, _) = on(&disk, u64::MAX);
    log.append(draft("T", "the first makes room")).unwrap();
    let len = disk.len(&first()).unwrap();
    let text = without_room(disk.bytes(&first()));
    assert_eq!(len, (text.len() + ROOM_BYTES) as u64);
    assert!(disk.bytes(&first())[text.len()..].iter().all(|byte| *byte == b'\n'));
    for count in 0..20 {
        log.append(draft("T", &format!("number {count}"))).unwrap();
        assert_eq!(disk.len(&first()).unwrap(), len);
    }
    log.append(draft("T", &"x".repeat(ROOM_BYTES))).unwrap();
    assert!(disk.len(&first()).unwrap() > len + ROOM_BYTES as u64, "and again when it is used up");
    assert_eq!(read_everything(&log).len(), 22);
    drop(log);
    let text = disk.bytes(&first());
    assert_eq!(text, without_room(text.clone()), "whoever closes a log leaves none");
}

#[test]
fn whoever_reads_beside_the_owner_or_after_a_kill_finds_commits_and_nothing_else() {
    let disk = SimDisk::default();
    let (log, _) = on(&disk, u64::MAX);
    for count in 0..5 {
        log.append(draft("T", &format!("number {count}"))).unwrap();
    }
    let proof = verify(&disk, Path::new(ROOT)).unwrap();
    assert_eq!((proof.commits, proof.problems), (5, vec![]));
    let mut text = Vec::new();
    assert_eq!(export(&disk, Path::new(ROOT), &mut text).unwrap(), 5);
    assert_eq!(text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count(), 5);

    let disk = disk.after_kill();
    let (log, replayed) = on(&disk, u64::MAX);
    assert_eq!((log.report().torn.as_ref(), &log.report().damages[..]), (None, &[][..]));
    assert_eq!(replayed.seqs(), [1, 2, 3, 4, 5]);
    assert_eq!(log.append(draft("T", "and on it goes")).unwrap(), 6);
    assert_eq!(read_everything(&log).len(), 6);
}

#[test]
fn a_line_that_was_torn_over_room_is_cut_off_and_kept_without_the_room() {
    let disk = SimDisk::default();
    let (log, _) = on(&disk, u64::MAX);
    log.append(draft("T", "whole")).unwrap();
    let begin = without_room(disk.bytes(&first())).len();
    log.append(draft("T", "torn")).unwrap();
    let text = disk.bytes(&first());
    let end = without_room(text.clone()).len();
    drop(log);
    // Whichever piece of the line is missing, there are blank lines in its place.
    for (from, to) in (begin..end - 1).flat_map(|from| [(from, end), (begin, from + 1), (from, from + 1)]) {
        let mut torn = text.clone();
        torn[from..to].fill(b'\n');
        let disk = disk.copy();
        disk.put(&first(), torn.clone());
        assert_eq!(export(&disk, Path::new(ROOT), &mut Vec::new()).unwrap(), 1, "{from}..{to}");
        let (log, replayed) = on(&disk, u64::MAX);
        assert_eq!(replayed.seqs(), [1], "{from}..{to}");
        assert_eq!(log.report().damages, [], "{from}..{to}");
        let left = without_room(torn);
        match &log.report().torn {
            None => assert_eq!(left.len(), begin, "{from}..{to}"),
            Some(cut) => {
                assert_eq!(
                    (cut.offset, cut.bytes),
                    (begin as u64, (left.len() - begin) as u64),
                    "{from}..{to}"
                );
                assert_eq!(disk.bytes(&cut.kept), left[begin..], "{from}..{to}");
            }
        }
        assert_eq!(log.append(draft("T", "again")).unwrap(), 2, "{from}..{to}");
    }
}

#[test]
fn a_full_segment_has_no_room_and_neither_has_a_closed_one() {
    let disk = SimDisk::default();
    let (log, _) = on(&disk, 2_000);
    for count in 0..40 {
        log.append(draft("T", &format!("number {count}"))).unwrap();
    }
    let folder = Path::new(ROOT).join("log");
    let names = disk.list(&folder).unwrap();
    assert!(names.len() > 2, "{names:?}");
    for name in &names {
        let text = disk.bytes(&folder.join(name));
        assert!(text.len() < 2_400, "{name}: {}", text.len());
        assert!(Some(name) == names.last() || text == without_room(text.clone()), "{name}");
    }
    assert_eq!(verify(&disk, Path::new(ROOT)).unwrap().problems, []);
}

#[test]
fn a_disk_that_has_no_place_for_room_has_one_for_commits() {
    let disk = SimDisk::default();
    let (log, _) = on(&disk, u64::MAX);
    // Also where the room alone would fit.
    for (space, most) in [(3_000, 10), (ROOM_BYTES as u64 + 20, 200)] {
        disk.set_space(Some(space));
        let head = *log.head().borrow();
        for count in 1..=most {
            assert_eq!(log.append(draft("T", &"x".repeat(100))).unwrap(), head + count);
        }
        let text = disk.bytes(&first());
        assert_eq!(text, without_room(text.clone()), "what could not be had whole is given back");
        log.append(draft("T", &"x".repeat(2 * ROOM_BYTES))).unwrap_err();
    }
    assert_eq!(read_everything(&log).len(), 210);
    disk.set_space(None);
    log.append(draft("T", "there is place again")).unwrap();
    assert!(disk.bytes(&first()).ends_with(&[b'\n'; ROOM_BYTES]));
}

#[test]
fn after_a_write_that_failed_there_is_room_again() {
    let disk = SimDisk::default();
    let (log, _) = on(&disk, u64::MAX);
    log.append(draft("T", "one")).unwrap();
    disk.set_glitch(1, 1); // Written, not synced.
    log.append(draft("T", "refused")).unwrap_err();
    let text = disk.bytes(&first());
    assert_eq!(text, without_room(text.clone()), "what was refused is taken back, with everything behind it");
    assert_eq!(log.append(draft("T", "two")).unwrap(), 2);
    assert!(disk.bytes(&first()).ends_with(&[b'\n'; ROOM_BYTES]));
}

#[test]
fn blank_lines_before_a_commit_are_damage() {
    let disk = SimDisk::default();
    let (log, _) = on(&disk, u64::MAX);
    let ends: Vec<usize> = (0..3)
        .map(|count| {
            log.append(draft("T", &format!("number {count}"))).unwrap();
            without_room(disk.bytes(&first())).len()
        })
        .collect();
    drop(log);
    let mut text = disk.bytes(&first());
    text[ends[0]..ends[1]].fill(b'\n');
    disk.put(&first(), text);
    let (log, replayed) = on(&disk, u64::MAX);
    assert_eq!(replayed.seqs(), [1, 3]);
    let [damage] = &log.report().damages[..] else { panic!("{:?}", log.report()) };
    assert_eq!((damage.offset, damage.bytes), (ends[0] as u64, (ends[1] - ends[0]) as u64));
    assert_eq!((damage.lost, log.report().torn.as_ref()), (Some((2, 2)), None));
}

#[test]
fn what_is_written_over_room_while_somebody_reads_costs_the_reader_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (log, _) = open(dir.path(), manual(u64::MAX)).unwrap();
    let path = dir.path().join("log/000001.jsonl");
    // Room goes on where the reader's first step ends.
    let step = 1 << 20;
    while without_room(std::fs::read(&path).unwrap()).len() < step - 2_000 {
        log.append(draft("T", &"x".repeat(1_000))).unwrap();
    }
    let before = *log.head().borrow();
    assert!(OsDisk.len(&path).unwrap() > step as u64);
    let disk = HookedDisk::new(When::Read);
    let (again, next) = (disk.clone(), path.clone());
    disk.hook(path, move || {
        again.hook(next, move || {
            (0..10).for_each(|_| {
                log.append(draft("T", &"y".repeat(777))).unwrap();
            });
            std::mem::forget(log);
        });
    });
    let mut text = Vec::new();
    let commits = export(&disk, dir.path(), &mut text).unwrap();
    assert!(disk.is_done());
    assert!((before..=before + 10).contains(&commits), "{commits} of {before}");
    for (seq, line) in (1..).zip(String::from_utf8(text).unwrap().lines()) {
        assert!(line.starts_with(&format!("{{\"seq\":{seq},")), "{seq}: {line}");
    }
}
