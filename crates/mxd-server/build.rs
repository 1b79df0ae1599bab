//! Builds the page into the program, when there is one.
//!
//! `MXD_WEB_DIST` names the folder of a built page; without it, `web/dist` of this repository is taken if it is there.
//! Without either the program is built all the same, and says how to get the page. Nothing is fetched and no other
//! program is run.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Files of a page at most; more is a wrong folder.
const MOST_FILES: usize = 2_000;

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-env-changed=MXD_WEB_DIST");
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let mut files = Vec::new();
    if let Some(folder) = page() {
        // Only a folder that is there can be watched; a missing one would have everything built anew each time.
        println!("cargo::rerun-if-changed={}", folder.display());
        collect(&folder, &folder, &mut files)?;
    }
    files.sort();
    let mut table = String::from("&[\n");
    for (number, (name, path)) in files.iter().enumerate() {
        let packed = packed(path, &out.join(format!("{number}.gz")))?;
        let brotli = sibling(path, "br");
        let bytes = |path: &Option<PathBuf>| match path {
            Some(path) => format!("Some(include_bytes!({path:?}))"),
            None => "None".to_owned(),
        };
        let (gzip, brotli) = (bytes(&packed), bytes(&brotli));
        let _infallible = writeln!(
            table,
            "    Asset {{ name: {name:?}, bytes: include_bytes!({path:?}), gzip: {gzip}, brotli: {brotli} }},"
        );
    }
    table.push_str("]\n");
    fs::File::create(out.join("assets.rs"))?.write_all(table.as_bytes())
}

fn page() -> Option<PathBuf> {
    let folder = match env::var_os("MXD_WEB_DIST") {
        Some(named) => PathBuf::from(named),
        None => Path::new(&env::var_os("CARGO_MANIFEST_DIR")?).join("../../web/dist"),
    };
    let folder = fs::canonicalize(folder).ok()?;
    folder.join("index.html").is_file().then_some(folder)
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(root, &path, files)?;
            continue;
        }
        let is_packed = path.extension().is_some_and(|extension| extension == "gz" || extension == "br");
        let name = path.strip_prefix(root).map_err(io::Error::other)?.to_string_lossy().into_owned();
        if !is_packed && !name.ends_with(".map") {
            files.push((name, path));
        }
        if files.len() > MOST_FILES {
            return Err(io::Error::other(format!("{} holds more than {MOST_FILES} files", root.display())));
        }
    }
    Ok(())
}

/// The file in a packed form, when that is worth it.
fn packed(path: &Path, target: &Path) -> io::Result<Option<PathBuf>> {
    if let Some(there) = sibling(path, "gz") {
        return Ok(Some(there));
    }
    let bytes = fs::read(path)?;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(&bytes)?;
    let small = encoder.finish()?;
    if small.len() * 10 > bytes.len() * 9 {
        return Ok(None);
    }
    fs::File::create(target)?.write_all(&small)?;
    Ok(Some(target.to_owned()))
}

fn sibling(path: &Path, extension: &str) -> Option<PathBuf> {
    let mut name = path.file_name()?.to_owned();
    name.push(format!(".{extension}"));
    let there = path.with_file_name(name);
    there.is_file().then_some(there)
}
