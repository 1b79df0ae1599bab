//! Loading what agents are told.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;

use mxd_core::prompt::text::Memory;
use mxd_engine::prompt::load_memory;

fn write(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::File::create(path).unwrap().write_all(bytes).unwrap();
}

fn unreadable(memory: &Memory) -> &str {
    match memory {
        Memory::Unreadable(why) => why,
        Memory::Missing | Memory::Text(_) => panic!("{memory:?}"),
    }
}

#[test]
fn memory_is_loaded_from_the_worktree_or_missing() {
    let worktree = tempfile::tempdir().unwrap();
    assert_eq!(load_memory(worktree.path()), Memory::Missing);
    assert_eq!(load_memory(&worktree.path().join("gone")), Memory::Missing);
    let file = worktree.path().join(".mxd/memory.md");
    write(&file, "* é\n".as_bytes());
    assert_eq!(load_memory(worktree.path()), Memory::Text("* é\n".to_owned()));
    write(&file, &[0xff]);
    assert_eq!(unreadable(&load_memory(worktree.path())), "it is not UTF-8");
    write(&file, &vec![b'x'; (1 << 20) + 1]);
    assert_eq!(unreadable(&load_memory(worktree.path())), "it has more than 1048576 bytes");
}

#[test]
fn memory_is_never_read_through_a_link_or_from_anything_but_a_file() {
    let (worktree, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (file, secret) = (worktree.path().join(".mxd/memory.md"), outside.path().join("memory.md"));
    write(&secret, b"secret");
    fs::create_dir_all(&file).unwrap();
    assert_eq!(unreadable(&load_memory(worktree.path())), "it is no plain file");
    fs::remove_dir(&file).unwrap();
    symlink(&secret, &file).unwrap();
    assert!(unreadable(&load_memory(worktree.path())).contains("link"));
    fs::remove_file(&file).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    assert_eq!(unreadable(&load_memory(worktree.path())), "it is no plain file");
    fs::remove_dir_all(worktree.path().join(".mxd")).unwrap();
    symlink(outside.path(), worktree.path().join(".mxd")).unwrap();
    assert!(unreadable(&load_memory(worktree.path())).contains("link"));
}
