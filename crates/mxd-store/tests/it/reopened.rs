//! One fault after another, with the log opened again in between: what each of them leaves for the next.

use std::path::Path;
use std::sync::Arc;

use mxd_store::disk::Disk;
use mxd_store::{Log, OpenError, Options, Prune, ReadError, verify};

use crate::common::{Listed, draft, manual, open, open_on, segments};
use crate::dice::Dice;
use crate::hooks::{HookedDisk, When};
use crate::sim::SimDisk;

const ROOT: &str = "/project";

fn on(disk: &SimDisk, options: Options) -> (Log, Listed) {
    open_on(Arc::new(disk.clone()), Path::new(ROOT), options).unwrap()
}

fn forget(task: &str, through: u64) -> Prune<'_> {
    Prune { task, through, types: &["note"], why: "asked for", at: 99 }
}

fn text(replayed: &Listed) -> String {
    replayed.0.iter().map(|(seq, events)| format!("{seq}:{events}\n")).collect()
}

fn path(name: &str) -> std::path::PathBuf {
    Path::new(ROOT).join(name)
}

/// Closed segments of about three commits each.
fn several_segments(log: &Log) {
    for count in 0..12 {
        log.append(draft("T", &format!("{count} {}", "x".repeat(50)))).unwrap();
    }
}

#[test]
fn a_segment_whose_name_was_not_durable_when_its_maker_died_is_made_durable() {
    for seed in 0..50 {
        let disk = SimDisk::default();
        let (log, _) = on(&disk, manual(300));
        log.append(draft("T", &"x".repeat(300))).unwrap();
        disk.set_glitch(4, 1); // The rename of the new segment works, the sync of its folder does not.
        log.append(draft("T", "refused")).unwrap_err();
        drop(log);
        let disk = disk.after_kill();
        let (log, _) = on(&disk, manual(3_000));
        log.append(draft("T", "acknowledged")).unwrap();
        drop(log);
        let (_, replayed) = on(&disk.after_power_cut(&mut Dice::new(seed)), manual(3_000));
        assert!(text(&replayed).contains("acknowledged"), "seed {seed}");
    }
}

#[test]
fn what_a_boot_shows_is_durable_from_then_on() {
    for seed in 0..50 {
        let disk = SimDisk::default();
        let (log, _) = on(&disk, manual(u64::MAX));
        log.append(draft("T", "one")).unwrap();
        disk.set_glitch(1, 2); // Written, not synced, not taken back.
        log.append(draft("T", "two")).unwrap_err();
        let disk = disk.after_kill();
        drop(log);
        let (log, replayed) = on(&disk, manual(u64::MAX));
        assert_eq!((replayed.0.len(), *log.head().borrow()), (2, 2));
        drop(log);
        let (_, replayed) = on(&disk.after_power_cut(&mut Dice::new(seed)), manual(u64::MAX));
        assert_eq!(replayed.0.len(), 2, "seed {seed}");
    }
}

#[test]
fn a_snapshot_of_a_commit_that_was_cut_off_is_never_believed_again() {
    let disk = SimDisk::default();
    let (log, _) = on(&disk, manual(u64::MAX));
    for count in 1..=5 {
        log.append(draft("T", &format!("old{count}"))).unwrap();
    }
    drop(log);
    let (log, state) = on(&disk, manual(u64::MAX));
    log.save_snapshot(5, state.save()).unwrap();
    drop(log);
    let mut bytes = disk.bytes(&path("log/000001.jsonl"));
    let near_end = bytes.len() - 5;
    bytes[near_end] ^= 1;
    disk.put(&path("log/000001.jsonl"), bytes);
    let (log, replayed) = on(&disk, manual(u64::MAX));
    assert_eq!(replayed.0.len(), 4);
    assert_eq!(log.append(draft("T", "new5")).unwrap(), 5);
    drop(log);
    let (_, replayed) = on(&disk, manual(u64::MAX));
    assert!(text(&replayed).contains("new5"), "{}", text(&replayed));
}

#[test]
fn a_snapshot_goes_with_what_was_pruned() {
    let disk = SimDisk::default();
    let (log, _) = on(&disk, manual(u64::MAX));
    log.append(draft("S", "secret")).unwrap();
    log.save_snapshot(1, b"1 secret\n".to_vec()).unwrap();
    assert_eq!(log.prune(&forget("S", 1)).unwrap().events, 1);
    drop(log);
    let (_, replayed) = on(&disk, manual(u64::MAX));
    assert!(!text(&replayed).contains("secret"), "{}", text(&replayed));
}

#[test]
fn a_prune_that_is_tried_again_after_any_failure_removes_for_good() {
    for operation in 0..40 {
        let disk = SimDisk::default();
        let (log, _) = on(&disk, manual(u64::MAX));
        log.append(draft("S", "secret")).unwrap();
        disk.set_glitch(operation, 1);
        let first = log.prune(&forget("S", 1));
        disk.set_glitch(0, 0);
        if first.is_err() {
            log.prune(&forget("S", 1)).unwrap();
        }
        drop(log);
        let (_, replayed) = on(&disk, manual(u64::MAX));
        assert!(!text(&replayed).contains("secret"), "operation {operation}: {:?}", disk.list(&path("log")));
    }
}

#[test]
fn a_plain_form_that_was_left_behind_does_not_confuse_a_later_prune() {
    for operation in 0..30 {
        for fuse in 0..40 {
            let disk = SimDisk::default();
            let (log, _) = on(&disk, manual(u64::MAX));
            for task in ["X", "S", "P"] {
                log.append(draft(task, &format!("of {task}"))).unwrap();
            }
            disk.set_glitch(operation, 1);
            if log.prune(&forget("X", 9)).is_ok() {
                continue;
            }
            disk.set_glitch(0, 0);
            disk.set_fuse(fuse);
            let done = log.prune(&forget("S", 3)).is_ok();
            drop(log);
            let (log, replayed) = on(&disk.copy(), manual(u64::MAX));
            assert!(text(&replayed).contains("of P"), "{operation}, {fuse}: {:?}", log.report());
            assert_eq!(log.report().damages, [], "{operation}, {fuse}");
            if done {
                break;
            }
        }
    }
}

#[test]
fn a_recorded_removal_is_finished_by_the_next_one() {
    for operation in 0..60 {
        let disk = SimDisk::default();
        let (log, _) = on(&disk, manual(u64::MAX));
        log.append(draft("A", "secretA")).unwrap();
        log.append(draft("B", "secretB")).unwrap();
        disk.set_glitch(operation, 1);
        if log.prune(&forget("A", 2)).is_ok() {
            break;
        }
        disk.set_glitch(0, 0);
        let recorded = log.read(0, 99).unwrap().iter().any(|commit| commit.events.contains("log_pruned"));
        log.prune(&forget("B", 2)).unwrap();
        drop(log);
        let (_, replayed) = on(&disk, manual(u64::MAX));
        assert!(!recorded || !text(&replayed).contains("secretA"), "operation {operation}");
    }
}

#[test]
fn blobs_of_a_prune_that_was_cut_off_go_when_it_is_finished() {
    let (mut finished, mut cut) = (0, 0);
    for operations in 0..90 {
        let disk = SimDisk::default();
        let (log, _) = on(&disk, manual(u64::MAX));
        let pin = log.blobs().put(b"body").unwrap();
        let id = pin.id();
        log.append(draft("S", &id.to_string())).unwrap();
        drop(pin);
        disk.set_fuse(operations);
        let done = log.prune(&forget("S", 1)).is_ok();
        drop(log);
        let (log, replayed) = on(&disk.copy(), manual(u64::MAX));
        let named = text(&replayed).contains(&id.to_string());
        assert_eq!(log.blobs().get(id).is_ok(), named, "after {operations} operations");
        cut += u32::from(named);
        if done {
            finished = operations;
            break;
        }
    }
    assert!(finished > 20 && cut > 5, "{finished}, {cut}");
}

#[test]
fn a_blob_that_is_named_while_unnamed_ones_are_looked_for_stays() {
    let dir = tempfile::tempdir().unwrap();
    let disk = HookedDisk::new(When::Read);
    let (log, _) = open_on(Arc::new(disk.clone()), dir.path(), manual(u64::MAX)).unwrap();
    let log = Arc::new(log);
    let pin = log.blobs().put(b"body").unwrap();
    let id = pin.id();
    log.append(draft("S", &id.to_string())).unwrap();
    drop(pin);
    let other = Arc::clone(&log);
    disk.hook(dir.path().join("log/000002.jsonl"), move || {
        let pin = other.blobs().put(b"body").unwrap();
        other.append(draft("P", &pin.id().to_string())).unwrap();
    });
    let pruned = log.prune(&forget("S", 1)).unwrap();
    assert!(disk.is_done());
    assert_eq!(log.blobs().get(id).unwrap(), b"body", "{pruned:?}");
}

#[test]
fn the_same_blob_from_many_threads_is_whole() {
    let dir = tempfile::tempdir().unwrap();
    let (log, _) = open(dir.path(), manual(u64::MAX)).unwrap();
    for round in 0..40 {
        let body = format!("{round}{}", "x".repeat(200_000));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let pin = log.blobs().put(body.as_bytes()).unwrap();
                    assert_eq!(log.blobs().get(pin.id()).unwrap(), body.as_bytes());
                });
            }
        });
    }
}

#[test]
fn a_blob_put_again_is_durable_although_the_first_time_failed() {
    for seed in 0..50 {
        let disk = SimDisk::default();
        let (log, _) = on(&disk, manual(u64::MAX));
        disk.set_glitch(5, 1); // Everything works but the last sync of the folder.
        log.blobs().put(b"body").unwrap_err();
        let pin = log.blobs().put(b"body").unwrap();
        log.append(draft("T", &pin.id().to_string())).unwrap();
        let id = pin.id();
        drop((pin, log));
        let (log, _) = on(&disk.after_power_cut(&mut Dice::new(seed)), manual(u64::MAX));
        assert!(log.blobs().get(id).is_ok(), "seed {seed}");
    }
}

#[test]
fn putting_the_bytes_of_a_damaged_blob_heals_it() {
    let dir = tempfile::tempdir().unwrap();
    let (log, _) = open(dir.path(), manual(u64::MAX)).unwrap();
    let id = log.blobs().put(b"body").unwrap().id();
    let digits = id.to_string().replace("sha256:", "");
    std::fs::write(dir.path().join("blobs").join(&digits[..2]).join(&digits), b"bodY").unwrap();
    log.blobs().put(b"body").unwrap();
    assert_eq!(log.blobs().get(id).unwrap(), b"body");
}

#[test]
fn a_newer_vocabulary_begins_a_segment_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let of = |vocabulary| Options { vocabulary, ..manual(u64::MAX) };
    open(dir.path(), of(1)).unwrap().0.append(draft("T", "old")).unwrap();
    open(dir.path(), of(2)).unwrap();
    open(dir.path(), of(1)).expect("nothing new was written yet");
    open(dir.path(), of(2)).unwrap().0.append(draft("T", "new")).unwrap();
    assert!(matches!(open(dir.path(), of(1)), Err(OpenError::NewerVersion { .. })));
    assert_eq!(open(dir.path(), of(2)).unwrap().1.0.len(), 2);
}

#[test]
fn a_line_end_damaged_at_the_end_of_a_block_loses_nothing() {
    let disk = SimDisk::default();
    let (log, _) = on(&disk, manual(u64::MAX));
    for body in ["x".repeat(70_000).as_str(), "two", "three"] {
        log.append(draft("T", body)).unwrap();
    }
    log.append(draft("X", "goes")).unwrap();
    drop(log);
    let mut bytes = disk.bytes(&path("log/000001.jsonl"));
    let second = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(1).unwrap().0;
    bytes[second] ^= 1;
    disk.put(&path("log/000001.jsonl"), bytes);
    let (log, replayed) = on(&disk, manual(u64::MAX));
    assert_eq!(replayed.seqs(), [1, 2, 3, 4]);
    let seqs = |log: &Log| log.read(0, 9).unwrap().iter().map(|commit| commit.seq).collect::<Vec<_>>();
    assert_eq!(seqs(&log), [1, 2, 3, 4]);
    log.prune(&forget("X", 9)).unwrap();
    assert_eq!(seqs(&log), [1, 2, 3, 4, 5], "packed");
    drop(log);
    assert_eq!(on(&disk, manual(u64::MAX)).1.seqs(), [1, 2, 3, 4, 5]);
}

#[test]
fn a_segment_without_a_readable_line_stops_neither_upkeep_nor_prune() {
    let disk = SimDisk::default();
    let (log, _) = on(&disk, manual(300));
    several_segments(&log);
    drop(log);
    let length = disk.bytes(&path("log/000002.jsonl")).len();
    disk.put(&path("log/000002.jsonl"), vec![0; length]);
    let (log, _) = on(&disk, manual(300));
    assert_eq!(log.report().damages.len(), 1);
    log.upkeep().unwrap();
    log.prune(&forget("T", 1)).unwrap();
    drop(log);
    assert_eq!(on(&disk, manual(300)).0.report().damages.len(), 1, "and it is still told");
}

#[test]
fn verifying_beside_an_owner_who_packs_and_prunes_raises_no_false_alarm() {
    let dir = tempfile::tempdir().unwrap();
    let (log, _) = open(dir.path(), manual(300)).unwrap();
    let log = Arc::new(log);
    several_segments(&log);
    let disk = HookedDisk::new(When::Opened);
    let owner = Arc::clone(&log);
    disk.hook(dir.path().join("log/000001.jsonl"), move || owner.upkeep().unwrap());
    assert_eq!(verify(&disk, dir.path()).unwrap().problems, []);
    assert!(disk.is_done());
    let last = dir.path().join("log").join(segments(dir.path()).pop().unwrap());
    disk.hook(last, move || {
        log.prune(&forget("T", 2)).unwrap();
    });
    assert_eq!(verify(&disk, dir.path()).unwrap().problems, []);
    assert!(disk.is_done());
}

#[test]
fn damage_found_by_a_reader_is_told_at_the_next_boot() {
    let disk = SimDisk::default();
    let (log, _) = on(&disk, manual(300));
    several_segments(&log);
    log.upkeep().unwrap();
    let mut bytes = disk.bytes(&path("log/000001.jsonl.zst"));
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    disk.put(&path("log/000001.jsonl.zst"), bytes);
    log.save_snapshot(12, vec![]).unwrap();
    assert!(matches!(log.read(0, 9), Err(ReadError::Damaged { .. })));
    log.upkeep().unwrap();
    drop(log);
    assert_eq!(on(&disk, manual(300)).0.report().damages.len(), 1);
}

#[test]
fn new_damage_beside_known_damage_is_an_error() {
    let disk = SimDisk::default();
    let (log, _) = on(&disk, manual(u64::MAX));
    for count in 0..5 {
        log.append(draft("T", &format!("c{count}"))).unwrap();
    }
    drop(log);
    let flip = |line: usize| {
        let mut bytes = disk.bytes(&path("log/000001.jsonl"));
        let end = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(line).unwrap().0;
        bytes[end + 40] ^= 1;
        disk.put(&path("log/000001.jsonl"), bytes);
    };
    flip(0);
    let (log, replayed) = on(&disk, manual(u64::MAX));
    assert_eq!(replayed.seqs(), [2, 3, 4, 5]);
    assert_eq!(log.read(0, 9).unwrap().len(), 4, "known damage is passed over");
    flip(2);
    assert!(matches!(log.read(0, 9), Err(ReadError::Damaged { .. })));
}

#[test]
fn a_lost_number_is_not_given_out_again_and_a_forgery_is_not_blessed() {
    for forge in [false, true] {
        let disk = SimDisk::default();
        let (log, _) = on(&disk, manual(300));
        log.append(draft("T", "honest")).unwrap();
        log.append(draft("T", &"x".repeat(300))).unwrap();
        disk.set_glitch(5, 1); // The next segment is begun, and its first commit fails.
        log.append(draft("T", "refused")).unwrap_err();
        drop(log);
        let text = String::from_utf8(disk.bytes(&path("log/000001.jsonl"))).unwrap();
        let changed: String = text
            .split_inclusive('\n')
            .map(|line| match line.strip_suffix('\n').filter(|line| forge && line.contains("honest")) {
                Some(line) => {
                    let body = line[..line.len() - 18].replace("honest", "forged");
                    format!("{body},\"crc\":\"{:08x}\"}}\n", crc32fast::hash(body.as_bytes()))
                }
                None if !forge => line.replace("xxxxx\"}", "xxxxy\"}"),
                None => line.to_owned(),
            })
            .collect();
        assert_ne!(changed, text);
        disk.put(&path("log/000001.jsonl"), changed.into_bytes());
        let problems = verify(&disk, Path::new(ROOT)).unwrap().problems.len();
        let (log, _) = on(&disk, manual(300));
        assert_eq!(
            verify(&disk, Path::new(ROOT)).unwrap().problems.len(),
            problems,
            "opening changes nothing"
        );
        assert_eq!(log.append(draft("T", "next")).unwrap(), 3);
        assert!(forge || log.report().damages[0].lost == Some((2, 2)), "{:?}", log.report());
    }
}

#[test]
fn a_log_goes_on_after_a_rotation_that_failed_and_a_power_cut() {
    for seed in 0..200 {
        let disk = SimDisk::default();
        let (log, _) = on(&disk, manual(u64::MAX));
        log.append(draft("T", "one")).unwrap();
        disk.set_glitch(4, 1); // The next segment has its name, and then the sync of the folder fails.
        log.prune(&forget("T", 9)).unwrap_err();
        disk.set_glitch(0, 0);
        log.append(draft("T", "two")).unwrap();
        disk.set_fuse(1);
        log.append_all((0..6).map(|count| draft("T", &format!("doubt{count}{}", "y".repeat(300))))).unwrap();
        drop(log);
        let (log, replayed) = on(&disk.after_power_cut(&mut Dice::new(seed)), manual(u64::MAX));
        assert_eq!(log.report().damages, [], "seed {seed}");
        assert_eq!(replayed.seqs(), (1..=replayed.0.len() as u64).collect::<Vec<_>>(), "seed {seed}");
        assert!(text(&replayed).contains("two"), "seed {seed}");
    }
}

#[test]
fn what_was_on_its_way_when_the_owner_stopped_is_cleared() {
    let disk = SimDisk::default();
    let (log, _) = on(&disk, manual(300));
    several_segments(&log);
    log.upkeep().unwrap();
    disk.set_space(Some(10_000));
    for count in 0..5 {
        log.blobs().put(format!("{count}{}", "x".repeat(20_000)).as_bytes()).unwrap_err();
    }
    assert_eq!(disk.list(&path("tmp")).unwrap(), [""; 0], "a full disk is not filled with drafts");
    disk.set_space(None);
    drop(log);
    disk.put(&path("tmp/000009.jsonl.5"), b"a draft".to_vec());
    disk.put(&path("tmp/pruned-000001.jsonl.zst"), b"damaged".to_vec());
    on(&disk, manual(300));
    assert_eq!(disk.list(&path("tmp")).unwrap(), [""; 0]);
}

#[test]
fn new_folders_are_durable_with_all_that_is_above_them() {
    let dir = tempfile::tempdir().unwrap();
    let disk = HookedDisk::new(When::Opened);
    let root = dir.path().join("data/projects/p1");
    open_on(Arc::new(disk.clone()), &root, manual(u64::MAX)).unwrap();
    for folder in [dir.path().to_owned(), dir.path().join("data"), dir.path().join("data/projects"), root] {
        assert!(disk.synced().contains(&folder), "{}", folder.display());
    }
}

#[test]
fn numbers_at_the_edge_are_damage_and_no_panic() {
    let sealed = |body: &str| format!("{body},\"crc\":\"{:08x}\"}}\n", crc32fast::hash(body.as_bytes()));
    let header = |first| {
        sealed(&format!(r#"{{"format":1,"vocabulary":1,"segment":1,"first":{first},"previous":null"#))
    };
    let line = sealed(
        r#"{"seq":18446744073709551615,"durable":18446744073709551614,"at":1,"tasks":["T"],"events":[{"task":"T"}]"#,
    );
    for text in [header(0), header(1) + &line, header(u64::MAX), header(u64::MAX) + &line] {
        let disk = SimDisk::default();
        disk.put(&path("log/000001.jsonl"), text.into_bytes());
        let (log, replayed) = on(&disk, manual(300));
        assert_eq!(replayed.0.len(), 0);
        drop(log);
    }
}
