//! Names the code that makes a state of a log, so that a state which other code has made is known as such.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Where that code is. More of it counts than has to: what is made anew for nothing costs a moment, and what is kept
/// although it no longer fits would be believed.
const CODE: &str = "../mxd-core/src";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed={CODE}");
    println!("cargo::rerun-if-changed=build.rs");
    let mut files = BTreeSet::new();
    collect(Path::new(CODE), &mut files)?;
    let mut hasher = DefaultHasher::new();
    for file in files {
        file.hash(&mut hasher);
        fs::read(&file)?.hash(&mut hasher);
    }
    println!("cargo::rustc-env=MXD_FOLD={:016x}", hasher.finish());
    Ok(())
}

fn collect(folder: &Path, files: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), files)?;
        } else {
            files.insert(entry.path());
        }
    }
    Ok(())
}
