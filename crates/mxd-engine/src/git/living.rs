//! Who lives in a folder: processes that stand in it, run from it or hold something of it open.

use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::limits;

/// A process that would lose the ground it stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inhabitant {
    /// Its number.
    pub pid: u32,
    /// Its name.
    pub name: String,
    /// What ties it to the folder.
    pub by: &'static str,
}

impl fmt::Display for Inhabitant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {})", self.name, self.pid, self.by)
    }
}

/// Processes that live in a folder, as far as the system lets us see. A process in a view of its own has other names
/// for the same folders, so folders are known by their number on the disk as well.
#[must_use]
pub fn inhabitants(folder: &Path) -> Vec<Inhabitant> {
    let Ok(home) = fs::metadata(folder) else { return Vec::new() };
    let place = Place { path: folder.to_owned(), number: (home.dev(), home.ino()) };
    let Ok(listed) = fs::read_dir("/proc") else { return Vec::new() };
    let mut found = Vec::new();
    for entry in listed.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        if let Some(by) = tie(&entry.path(), &place) {
            let name = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
            found.push(Inhabitant { pid, name: name.trim().to_owned(), by });
        }
        if found.len() >= limits::PROCESSES_SHOWN {
            break;
        }
    }
    found
}

struct Place {
    path: PathBuf,
    number: (u64, u64),
}

fn tie(process: &Path, place: &Place) -> Option<&'static str> {
    for (link, by) in [("cwd", "works in it"), ("root", "has it as its root"), ("exe", "runs from it")] {
        if place.holds(&process.join(link)) {
            return Some(by);
        }
    }
    let open = fs::read_dir(process.join("fd")).ok()?;
    open.flatten().any(|entry| place.holds(&entry.path())).then_some("has a file of it open")
}

impl Place {
    fn holds(&self, link: &Path) -> bool {
        let Ok(target) = fs::read_link(link) else { return false };
        if target.starts_with(&self.path) {
            return true;
        }
        // Sockets and pipes have names without a slash.
        target.is_absolute() && self.is_above(link)
    }

    /// Whether going up from a folder leads to this one.
    fn is_above(&self, link: &Path) -> bool {
        let mut up = link.join(".");
        for _ in 0..limits::DEPTH {
            let Ok(found) = fs::metadata(&up) else { return false };
            let number = (found.dev(), found.ino());
            if number == self.number {
                return true;
            }
            up.push("..");
            if fs::metadata(&up).is_ok_and(|above| (above.dev(), above.ino()) == number) {
                return false;
            }
        }
        false
    }
}
