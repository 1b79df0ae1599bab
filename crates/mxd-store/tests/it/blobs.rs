//! Blobs: durable, checked, kept once, and gone only when nothing names them.

use std::path::Path;
use std::sync::Arc;

use mxd_store::{AppendError, BlobId, ReadError};

use crate::common::{draft, manual, open, open_on};
use crate::dice::Dice;
use crate::rounds::seeds;
use crate::sim::SimDisk;

fn file_of(dir: &Path, id: BlobId) -> std::path::PathBuf {
    let digits = id.to_string()["sha256:".len()..].to_owned();
    dir.join("blobs").join(&digits[..2]).join(digits)
}

#[test]
fn a_blob_is_kept_under_its_hash_and_once() {
    let dir = tempfile::tempdir().unwrap();
    let (log, _) = open(dir.path(), manual(u64::MAX)).unwrap();
    let id = log.blobs().put(b"hello").unwrap().id();
    // printf hello | sha256sum
    assert_eq!(id.to_string(), "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
    assert_eq!(id.to_string().parse::<BlobId>().unwrap(), id);
    assert_eq!(log.blobs().put(b"hello").unwrap().id(), id);
    assert_eq!(log.blobs().get(id).unwrap(), b"hello");
    assert!("sha256:2CF2".parse::<BlobId>().is_err());
}

#[test]
fn a_truncated_altered_or_missing_blob_is_an_error_and_stays_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let (log, _) = open(dir.path(), manual(u64::MAX)).unwrap();
    let id = log.blobs().put(b"a body of some length").unwrap().id();
    let path = file_of(dir.path(), id);
    for bytes in [&b"a body of so"[..], b"", b"A body of some length"] {
        std::fs::write(&path, bytes).unwrap();
        let error = log.blobs().get(id).unwrap_err();
        assert!(
            matches!(&error, ReadError::BlobDamaged { path: named, found } if *named == path && *found == bytes.len() as u64)
        );
        assert!(error.hint().contains("backup"));
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
    }
    std::fs::remove_file(&path).unwrap();
    let error = log.blobs().get(id).unwrap_err();
    assert!(matches!(error, ReadError::BlobMissing { .. }), "{error}");
    // Putting the same bytes again repairs it.
    assert_eq!(log.blobs().put(b"a body of some length").unwrap().id(), id);
    assert_eq!(log.blobs().get(id).unwrap(), b"a body of some length");
}

#[test]
fn a_blob_over_the_limit_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (log, _) = open(dir.path(), manual(u64::MAX)).unwrap();
    let error = log.blobs().put(&vec![0; 64 * 1024 * 1024 + 1]).unwrap_err();
    assert!(matches!(error, AppendError::TooLarge { .. }), "{error}");
}

#[test]
fn a_blob_is_durable_before_the_commit_that_names_it() {
    for seed in seeds(500) {
        let mut dice = Dice::new(seed);
        let disk = SimDisk::default();
        let root = Path::new("/project");
        let mut acknowledged = Vec::new();
        let (log, _) = open_on(Arc::new(disk.clone()), root, manual(u64::MAX)).unwrap();
        disk.set_fuse(dice.below(60));
        for count in 0..10 {
            let body = format!("body {count} ").repeat(1 + dice.below(200) as usize);
            let Ok(pin) = log.blobs().put(body.as_bytes()) else {
                break;
            };
            if log.append(draft("T1", &pin.id().to_string())).is_err() {
                break;
            }
            acknowledged.push((pin.id(), body));
        }
        drop(log);
        let disk = disk.after_power_cut(&mut dice);
        let (log, _) = open_on(Arc::new(disk), root, manual(u64::MAX)).unwrap();
        for (id, body) in acknowledged {
            assert_eq!(log.blobs().get(id).unwrap(), body.as_bytes(), "seed {seed}");
        }
    }
}
