//! What people do to a data directory: each a clear error that says what to do, and nothing is changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mxd_store::{OpenError, Options};

use crate::common::{draft, manual, open};

/// A log of several segments, closed.
fn some_log(dir: &Path) {
    let (log, _) = open(dir, manual(1_000)).unwrap();
    for count in 0..20 {
        log.append(draft("T1", &format!("number {count}"))).unwrap();
    }
}

/// Every file of the log folder with its bytes.
fn contents(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = std::fs::read_dir(dir.join("log")).unwrap().map(|entry| entry.unwrap().path());
    files.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

/// Opening must fail, leave everything as it is, and name the file and the way out.
fn refused(dir: &Path, options: Options) -> (OpenError, String) {
    let before = contents(dir);
    let error = open(dir, options).unwrap_err();
    assert_eq!(contents(dir), before, "nothing was changed");
    let told = format!("{error}; {}", error.hint());
    (error, told)
}

#[test]
fn a_log_of_a_newer_major_version() {
    let dir = tempfile::tempdir().unwrap();
    some_log(dir.path());
    let last = dir.path().join("log").join(crate::common::segments(dir.path()).pop().unwrap());
    let text = std::fs::read_to_string(&last).unwrap();
    let (header, rest) = text.split_once('\n').unwrap();
    let body = header[..header.len() - 18].replace("\"format\":1", "\"format\":2");
    let newer = format!(
        "{body},\"crc\":\"{:08x}\"}}\n{rest}half a line of a new kind",
        crc32fast::hash(body.as_bytes())
    );
    std::fs::write(&last, newer).unwrap();
    let (error, told) = refused(dir.path(), manual(1_000));
    assert!(
        matches!(error, OpenError::NewerVersion { what: "log format", found: 2, supported: 1, .. }),
        "{told}"
    );
    assert!(told.contains("use the newer program"), "{told}");
}

#[test]
fn events_of_a_newer_major_vocabulary() {
    let dir = tempfile::tempdir().unwrap();
    let (log, _) = open(dir.path(), Options { vocabulary: 3, ..manual(1_000) }).unwrap();
    log.append(draft("T1", "from the future")).unwrap();
    drop(log);
    let (error, told) = refused(dir.path(), Options { vocabulary: 2, ..manual(1_000) });
    assert!(
        matches!(error, OpenError::NewerVersion { what: "vocabulary", found: 3, supported: 2, .. }),
        "{told}"
    );
    open(dir.path(), Options { vocabulary: 4, ..manual(1_000) }).unwrap();
}

#[test]
fn a_foreign_file_in_the_log_folder() {
    let dir = tempfile::tempdir().unwrap();
    some_log(dir.path());
    for name in ["notes.txt", "000001.jsonl.bak", ".DS_Store", "7.jsonl"] {
        let path = dir.path().join("log").join(name);
        std::fs::write(&path, "mine").unwrap();
        let (error, told) = refused(dir.path(), manual(1_000));
        assert!(matches!(&error, OpenError::ForeignFile { path: named } if *named == path), "{told}");
        assert!(told.contains("move it out of the folder"), "{told}");
        std::fs::remove_file(path).unwrap();
    }
    open(dir.path(), manual(1_000)).unwrap();
}

#[test]
fn a_missing_segment() {
    let dir = tempfile::tempdir().unwrap();
    some_log(dir.path());
    let (path, away) = (dir.path().join("log/000002.jsonl"), dir.path().join("away"));
    std::fs::rename(&path, &away).unwrap();
    let (error, told) = refused(dir.path(), manual(1_000));
    assert!(matches!(error, OpenError::MissingSegment { missing: 2, .. }), "{told}");
    assert!(told.contains("backup"), "{told}");
    std::fs::rename(&away, &path).unwrap();
    let (_, replayed) = open(dir.path(), manual(1_000)).unwrap();
    assert_eq!(replayed.0.len(), 20);
}

#[test]
fn a_folder_or_a_file_where_the_other_should_be() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, "mine").unwrap();
    let error = open(&file, manual(1_000)).unwrap_err();
    assert!(matches!(error, OpenError::Io { .. }), "{error}");
    assert!(error.to_string().contains(file.to_str().unwrap()), "{error}");
    some_log(dir.path());
    std::fs::create_dir(dir.path().join("log/000099.jsonl")).unwrap();
    assert!(open(dir.path(), manual(1_000)).is_err());
}

#[test]
fn a_log_whose_last_segment_was_lost() {
    let dir = tempfile::tempdir().unwrap();
    some_log(dir.path());
    let (log, _) = open(dir.path(), manual(1_000)).unwrap();
    log.upkeep().unwrap();
    drop(log);
    let last = crate::common::segments(dir.path()).pop().unwrap();
    std::fs::remove_file(dir.path().join("log").join(last)).unwrap();
    let (error, told) = refused(dir.path(), manual(1_000));
    assert!(matches!(error, OpenError::MissingSegment { .. }), "{told}");
}
