//! What was perhaps meant by a name that is not there.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{Dir, Mode, openat};

use super::error::ConfineError;
use super::resolve::{Place, What};
use super::tree::READ_FOLDER;

/// The most names of a folder that are compared.
const COMPARED: usize = 2_000;
const SHOWN: usize = 3;
/// How alike names must be, from 0 to 1.
const ALIKE: f32 = 0.6;

impl Place {
    /// That there is nothing here, and what was perhaps meant.
    pub(super) fn missing(&self) -> ConfineError {
        let near = match &self.what() {
            What::Missing(names) if names.len() > 1 => {
                let folder = self.prefix().join(self.below()).join(&names[0]);
                format!("; there is no folder {}", folder.display())
            }
            What::Missing(names) => self.suggestions(&names[0]),
            What::Folder | What::Entry(_) => String::new(),
        };
        ConfineError::Missing { path: self.asked().to_owned(), near }
    }

    fn suggestions(&self, name: &OsStr) -> String {
        let names = self.names();
        let near = nearest(&name.to_string_lossy(), &names);
        let folder = self.prefix().join(self.below());
        let shown: Vec<String> = near.iter().map(|name| folder.join(name).display().to_string()).collect();
        match shown.as_slice() {
            [] => "; list_files shows what is there".to_owned(),
            shown => format!("; did you mean {}?", shown.join(" or ")),
        }
    }

    /// Names in the last folder walked, as far as they can be read.
    fn names(&self) -> Vec<String> {
        let Ok(fd) = openat(self.folder(), ".", READ_FOLDER, Mode::empty()) else { return Vec::new() };
        let Ok(dir) = Dir::new(fd) else { return Vec::new() };
        let names = dir.filter_map(Result::ok).take(COMPARED);
        let names =
            names.map(|entry| OsStr::from_bytes(entry.file_name().to_bytes()).to_string_lossy().into_owned());
        names.filter(|name| name != "." && name != "..").collect()
    }
}

/// The nearest names, best first.
fn nearest<'a>(name: &str, names: &'a [String]) -> Vec<&'a str> {
    let wanted = name.to_lowercase();
    let lower: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
    let candidates: Vec<&str> = lower.iter().map(String::as_str).collect();
    let mut found: Vec<&str> = Vec::new();
    for close in similar::get_close_matches(wanted.as_str(), &candidates, SHOWN, ALIKE) {
        let originals = names.iter().zip(&lower).filter(|(_, lower)| *lower == close);
        for (original, _) in originals {
            if found.len() < SHOWN && !found.contains(&original.as_str()) {
                found.push(original);
            }
        }
    }
    found
}
