//! Files that hold what a test expects to come out, written anew on demand.
//!
//! `MXD_UPDATE_GOLDEN=1` writes what came out; look at the difference before you commit it.

use std::fs;
use std::io::Write as _;
use std::path::Path;

/// Compares a text with the file that holds it.
pub(crate) fn check(path: &Path, actual: &str) {
    if std::env::var_os("MXD_UPDATE_GOLDEN").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::File::create(path).unwrap().write_all(actual.as_bytes()).unwrap();
    }
    let expected = fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("{}: {error}; MXD_UPDATE_GOLDEN=1 writes it", path.display()));
    let differs = expected.lines().zip(actual.lines()).position(|(expected, actual)| expected != actual);
    assert!(
        expected == actual,
        "{} is not what came out, first in line {} (MXD_UPDATE_GOLDEN=1 writes it)\n{actual}",
        path.display(),
        differs.unwrap_or_else(|| expected.lines().count().min(actual.lines().count())) + 1,
    );
}
