//! Appending, reading and opening again, when nothing goes wrong.

use std::os::unix::fs::PermissionsExt;

use mxd_store::disk::OsDisk;
use mxd_store::{AppendError, Draft, export, verify};

use crate::common::{draft, manual, open, read_everything, segments};

#[test]
fn what_was_appended_is_read_and_replayed_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let (log, replayed) = open(dir.path(), manual(u64::MAX)).unwrap();
    assert!(replayed.0.is_empty());
    for count in 1..=20 {
        assert_eq!(log.append(draft("T1", &format!("number {count}"))).unwrap(), count);
    }
    assert_eq!(*log.head().borrow(), 20);
    let read = read_everything(&log);
    assert_eq!(read.iter().map(|commit| commit.seq).collect::<Vec<_>>(), (1..=20).collect::<Vec<_>>());
    assert_eq!(read[4].events, r#"[{"task":"T1","type":"note","text":"number 5"}]"#);
    assert_eq!(read[4].at, 1_763_240_000_000);
    drop(log);

    let (log, replayed) = open(dir.path(), manual(u64::MAX)).unwrap();
    assert_eq!(replayed.0, read.into_iter().map(|commit| (commit.seq, commit.events)).collect::<Vec<_>>());
    assert_eq!(log.append(draft("T1", "one more")).unwrap(), 21);
    assert_eq!(log.report().torn, None);
}

#[test]
fn the_last_commits_are_at_hand_and_the_same_as_on_disk() {
    let dir = tempfile::tempdir().unwrap();
    let (log, _) = open(dir.path(), manual(20_000)).unwrap();
    assert!(log.recent(0).is_none(), "nothing was written yet");
    for count in 1..=400 {
        log.append(draft("T1", &format!("number {count}"))).unwrap();
    }
    let first = (0..400).find(|after| log.recent(*after).is_some()).unwrap();
    assert!(first > 0, "there is a limit");
    for after in [first, 399, 400] {
        assert_eq!(log.recent(after).unwrap(), log.read(after, 1_000).unwrap(), "after {after}");
    }
    log.append(draft("T1", &"x".repeat(300_000))).unwrap();
    assert!(log.recent(400).is_none(), "what is large is on disk alone");
    drop(log);
    let (log, _) = open(dir.path(), manual(20_000)).unwrap();
    assert!(log.recent(400).is_none(), "and so is what an earlier one wrote");
}

#[test]
fn segments_are_closed_packed_and_chained() {
    let dir = tempfile::tempdir().unwrap();
    let (log, _) = open(dir.path(), manual(2_000)).unwrap();
    for count in 0..100 {
        log.append(draft(if count % 10 == 3 { "rare" } else { "common" }, &format!("number {count}")))
            .unwrap();
    }
    let plain = read_everything(&log);
    let rare = log.read_task("rare", 0, 100).unwrap();
    assert_eq!(
        rare.iter().map(|commit| commit.seq).collect::<Vec<_>>(),
        [4, 14, 24, 34, 44, 54, 64, 74, 84, 94]
    );
    assert!(segments(dir.path()).iter().all(|name| name.ends_with(".jsonl")));
    log.upkeep().unwrap();
    let names = segments(dir.path());
    assert!(names.len() > 5, "{names:?}");
    assert!(names[..names.len() - 1].iter().all(|name| name.ends_with(".jsonl.zst")), "{names:?}");
    assert_eq!(read_everything(&log), plain);
    assert_eq!(log.read_task("rare", 0, 100).unwrap(), rare);
    assert_eq!(log.read_task("rare", 50, 2).unwrap(), rare[5..7]);
    assert_eq!(log.read_task("nobody", 0, 2).unwrap(), []);
    let proof = verify(&OsDisk, dir.path()).unwrap();
    assert_eq!((proof.commits, proof.head, proof.segments, proof.problems), (100, 100, names.len(), vec![]));
    let mut text = Vec::new();
    assert_eq!(export(&OsDisk, dir.path(), &mut text).unwrap(), 100);
    let text = String::from_utf8(text).unwrap();
    for (line, commit) in text.lines().zip(&plain) {
        assert!(
            line.starts_with(&format!("{{\"seq\":{},", commit.seq)) && line.contains(&commit.events),
            "{line}"
        );
    }
    assert_eq!(text.lines().count(), plain.len());
    drop(log);

    // With the catalog nothing is scanned, without it everything; both know the same.
    for (scanned, remove) in [(0, false), (names.len() - 1, true)] {
        if remove {
            std::fs::remove_dir_all(dir.path().join("cache")).unwrap();
        }
        let (log, replayed) = open(dir.path(), manual(2_000)).unwrap();
        assert_eq!(read_everything(&log), plain);
        assert_eq!(log.read_task("rare", 0, 100).unwrap(), rare);
        assert_eq!(log.report().damages, []);
        assert!(log.report().scanned == scanned || !remove, "{:?}", log.report());
        assert_eq!(replayed.seqs().len(), 100);
    }
}

#[test]
fn a_packed_segment_is_ordinary_zstd_of_ordinary_lines() {
    let dir = tempfile::tempdir().unwrap();
    let (log, _) = open(dir.path(), manual(1_000)).unwrap();
    for count in 0..20 {
        log.append(draft("T1", &format!("number {count}"))).unwrap();
    }
    log.upkeep().unwrap();
    let packed = std::fs::File::open(dir.path().join("log/000001.jsonl.zst")).unwrap();
    let text = String::from_utf8(zstd::decode_all(packed).unwrap()).unwrap();
    let values: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(values[0]["format"], 1);
    assert_eq!(values[1]["events"][0]["text"], "number 0");
}

#[test]
fn a_snapshot_spares_the_replay_of_what_is_in_it() {
    let dir = tempfile::tempdir().unwrap();
    let (log, mut state) = open(dir.path(), manual(1_000)).unwrap();
    for count in 1..=40 {
        let seq = log.append(draft("T1", &format!("number {count}"))).unwrap();
        state.0.push((seq, log.read(seq - 1, 1).unwrap().remove(0).events));
    }
    log.upkeep().unwrap();
    log.save_snapshot(40, state.save()).unwrap();
    assert!(log.save_snapshot(41, vec![]).is_err());
    for count in 41..=60 {
        let seq = log.append(draft("T1", &format!("number {count}"))).unwrap();
        state.0.push((seq, log.read(seq - 1, 1).unwrap().remove(0).events));
    }
    log.upkeep().unwrap();
    drop(log);
    let (log, replayed) = open(dir.path(), manual(1_000)).unwrap();
    assert!(log.report().from_snapshot);
    assert!(log.report().scanned < 10, "{:?}", log.report());
    assert_eq!(replayed, state);
    drop(log);
    // A damaged snapshot is none.
    let path = dir.path().join("cache/snapshot");
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let (log, replayed) = open(dir.path(), manual(1_000)).unwrap();
    assert!(!log.report().from_snapshot);
    assert_eq!(replayed, state);
}

#[test]
fn a_snapshot_ahead_of_the_log_is_not_believed() {
    let dir = tempfile::tempdir().unwrap();
    let (log, _) = open(dir.path(), manual(u64::MAX)).unwrap();
    for count in 0..5 {
        log.append(draft("T1", &format!("number {count}"))).unwrap();
    }
    log.save_snapshot(5, b"9 from the future\n".to_vec()).unwrap();
    drop(log);
    // Somebody brings back an older copy of the log, but not of the cache.
    let path = dir.path().join("log/000001.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let older: String = text.split_inclusive('\n').take(4).collect();
    std::fs::write(&path, older).unwrap();
    let (log, replayed) = open(dir.path(), manual(u64::MAX)).unwrap();
    assert_eq!(replayed.seqs(), [1, 2, 3]);
    assert_eq!(log.append(draft("T1", "on")).unwrap(), 4);
}

#[test]
fn everything_is_private_to_its_owner() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("project");
    let (log, _) = open(&root, manual(300)).unwrap();
    for _ in 0..5 {
        log.append(draft("T1", "secret")).unwrap();
    }
    log.blobs().put(b"secret").unwrap();
    log.save_snapshot(1, b"secret".to_vec()).unwrap();
    log.upkeep().unwrap();
    let mut seen = 0;
    let mut folders = vec![root];
    while let Some(folder) = folders.pop() {
        assert_eq!(
            std::fs::metadata(&folder).unwrap().permissions().mode() & 0o777,
            0o700,
            "{}",
            folder.display()
        );
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let mode = std::fs::metadata(&path).unwrap().permissions().mode();
                assert_eq!(mode & 0o777, 0o600, "{}", path.display());
                seen += 1;
            }
        }
    }
    assert!(seen > 8, "{seen}");
}

#[test]
fn oversized_and_empty_commits_are_refused_and_change_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (log, _) = open(dir.path(), manual(u64::MAX)).unwrap();
    let large = log.append(draft("T1", &"x".repeat(5_000_000))).unwrap_err();
    assert!(matches!(large, AppendError::TooLarge { .. }), "{large}");
    assert!(matches!(log.append(Draft::new(1)).unwrap_err(), AppendError::Invalid { .. }));
    assert_eq!(log.append(draft("T1", &"x".repeat(4_000_000))).unwrap(), 1);
    assert_eq!(log.read(0, 10).unwrap().len(), 1);
}

#[test]
fn a_second_opener_is_told_who_has_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let (log, _) = open(dir.path(), manual(u64::MAX)).unwrap();
    let error = open(dir.path(), manual(u64::MAX)).unwrap_err();
    assert!(error.to_string().contains(&format!("in use by pid {}", std::process::id())), "{error}");
    drop(log);
    // The lock file stays, with a pid that is alive; it is no obstacle.
    open(dir.path(), manual(u64::MAX)).unwrap();
}
