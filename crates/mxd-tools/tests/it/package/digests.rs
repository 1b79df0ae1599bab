//! Properties of digests.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

use mxd_core::tool::Digest;
use proptest::prelude::*;
use sha2::{Digest as _, Sha256};

use super::ground::{Ground, write};

/// Paths with contents and whether they can be executed.
type Files = BTreeMap<String, (Vec<u8>, bool)>;

fn files() -> impl Strategy<Value = Files> {
    let path = "[a-c]{1,2}/[a-d .é]{1,3}x|[a-d]{1,2}\\.[a-z]{1,2}";
    prop::collection::btree_map(path, (prop::collection::vec(any::<u8>(), 0..40), any::<bool>()), 1..8)
}

/// Lays files out, and measures them.
fn measured(ground: &Ground, files: &Files) -> Digest {
    let folder = ground.path("near/tree");
    let _none_yet = fs::remove_dir_all(&folder);
    for (path, (bytes, executable)) in files {
        write(&folder.join(path), bytes, *executable);
    }
    ground.packages.measure_path(&folder).unwrap().digest
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_change_of_bytes_names_or_modes_changes_the_digest(files in files(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let ground = Ground::new();
        let before = measured(&ground, &files);
        let (path, (bytes, executable)) = files.iter().nth(at.index(files.len())).unwrap();
        let (path, bytes, executable) = (path.clone(), bytes.clone(), *executable);
        let mut changed = Vec::new();
        let with = |path: &str, bytes: Vec<u8>, executable| {
            let mut other = files.clone();
            other.insert(path.to_owned(), (bytes, executable));
            other
        };
        changed.push(with(&path, [&bytes[..], &[byte]].concat(), executable));
        changed.push(with(&path, bytes.clone(), !executable));
        changed.push(with("new", Vec::new(), false));
        if let Some(first) = bytes.first() {
            changed.push(with(&path, [&[first ^ 1], &bytes[1..]].concat(), executable));
            changed.push(with(&path, bytes[1..].to_vec(), executable));
        }
        let mut renamed = files.clone();
        renamed.remove(&path);
        if !renamed.is_empty() {
            changed.push(renamed.clone());
        }
        renamed.insert(format!("{path}.moved"), (bytes, executable));
        changed.push(renamed);
        for other in changed {
            prop_assert_ne!(measured(&ground, &other), before, "{:?}", other);
        }
        prop_assert_eq!(measured(&ground, &files), before);
    }

    #[test]
    fn times_order_place_and_other_modes_do_not_matter(files in files(), seconds in 1_u64..1_000_000_000) {
        let ground = Ground::new();
        let before = measured(&ground, &files);
        let elsewhere = ground.path("near/other/place");
        for (path, (bytes, executable)) in files.iter().rev() {
            let path = elsewhere.join(path);
            write(&path, bytes, *executable);
            let mode = if *executable { 0o711 } else { 0o640 };
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let then = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            fs::File::options().append(true).open(&path).unwrap().set_modified(then).unwrap();
        }
        fs::create_dir_all(elsewhere.join("an empty folder")).unwrap();
        prop_assert_eq!(ground.packages.measure_path(&elsewhere).unwrap().digest, before);
    }
}

/// The algorithm of the documentation, by hand.
#[test]
fn the_digest_is_that_of_the_documented_list() {
    let ground = Ground::new();
    ground.write("near/tree/b.txt", "two");
    ground.program("near/tree/a/run", "one");
    symlink("../b.txt", ground.path("near/tree/a/there")).unwrap();
    let hash = |bytes: &str| hex::encode(Sha256::digest(bytes));
    let list = format!(
        "mxd package 1 tree\nexec {} tree/a/run\nlink {} tree/a/there\nfile {} tree/b.txt\n",
        hash("one"),
        hash("../b.txt"),
        hash("two"),
    );
    let measured = ground.packages.measure_path(&ground.path("near/tree")).unwrap();
    assert_eq!(measured.digest, Digest::of(list.as_bytes()));
    assert_eq!((measured.files, measured.kind.name()), (3, "tree"));
    assert!(include_str!("../../../../../docs/manifests.md").contains("mxd package 1 "));
}

#[test]
fn what_cannot_be_part_of_a_package_is_refused() {
    let refused = |make: &dyn Fn(&Path)| {
        let ground = Ground::new();
        ground.write("near/tree/good", "x");
        make(&ground.path("near/tree"));
        ground.packages.measure_path(&ground.path("near/tree")).unwrap_err().to_string()
    };
    let link = |target: &'static str| refused(&move |folder| symlink(target, folder.join("link")).unwrap());
    for target in ["/etc/passwd", "../../home", "a/../../x"] {
        assert!(link(target).contains("leads out of its package"), "{target}");
    }
    let fifo = refused(&|folder| {
        let mode = rustix::fs::Mode::RUSR;
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, folder.join("pipe"), kind, mode, 0).unwrap();
    });
    assert!(fifo.contains("neither a file nor a folder nor a link"), "{fifo}");
    let control = refused(&|folder| write(&folder.join("a\nfile 00 b"), b"x", false));
    assert!(control.contains("cannot be part of a digest"), "{control}");
}
