//! Files with what goes in and what has to come out.
//!
//! `MXD_UPDATE_GOLDEN=1 cargo test -p mxd-llm` writes what came out; look at the difference before you commit it.

use std::fs;
use std::path::{Path, PathBuf};

use mxd_core::prompt::Request;
use mxd_llm::Wire;

/// A folder of the fixtures.
pub(crate) fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// The files of a folder with this extension, by name.
pub(crate) fn files(folder: &Path, extension: &str) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap()))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no .{extension} in {}", folder.display());
    files
}

/// All conversations.
pub(crate) fn conversations() -> Vec<(String, Request)> {
    let files = files(&folder("conversations"), "json");
    files.into_iter().map(|(name, text)| (name, serde_json::from_slice(&text).unwrap())).collect()
}

/// All response streams.
pub(crate) fn streams() -> Vec<(Wire, String, Vec<u8>)> {
    let of = |wire: Wire| {
        let files = files(&folder("streams").join(wire.name()), "sse");
        files.into_iter().map(move |(name, bytes)| (wire, name, bytes))
    };
    Wire::ALL.into_iter().flat_map(of).collect()
}

/// One response stream.
pub(crate) fn stream(wire: Wire, name: &str) -> Vec<u8> {
    fs::read(folder("streams").join(wire.name()).join(format!("{name}.sse"))).unwrap()
}

/// Compares with a golden file, or writes it when that is asked for.
#[expect(clippy::disallowed_methods, reason = "a golden file is written by hand of a developer")]
pub(crate) fn golden(path: &Path, actual: &str) {
    if std::env::var_os("MXD_UPDATE_GOLDEN").is_some() {
        fs::write(path, actual).unwrap();
        return;
    }
    let expected = fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("{}: {error}; MXD_UPDATE_GOLDEN=1 writes it", path.display()));
    assert_eq!(expected, actual, "{} (MXD_UPDATE_GOLDEN=1 writes it)", path.display());
}
