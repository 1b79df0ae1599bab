//! The skills of a project: files in folders of the repository, read without following links.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mxd_core::tool::{Skill, SkillErrors, SkillName, parse_md, parse_mtx};

use crate::config::beneath;

/// Files that are looked at.
const MOST: usize = 500;
/// Bytes of one.
const BYTES: usize = 256 << 10;
/// What a skill in a folder of its own is called.
const NAMES: [&str; 2] = ["SKILL.mtx", "SKILL.md"];

/// The skills of a project.
#[derive(Debug, Default)]
pub(crate) struct Skills {
    /// By name; the first of a name counts.
    pub(crate) known: BTreeMap<SkillName, Skill>,
    /// What is wrong with files that are no skill.
    pub(crate) problems: Vec<String>,
}

impl Skills {
    /// Reads the skills in these folders of a checkout.
    pub(crate) fn load(checkout: &Path, folders: &[String]) -> Self {
        let mut skills = Self::default();
        for path in folders.iter().flat_map(|folder| files(checkout, Path::new(folder))).take(MOST) {
            match skill(checkout, &path) {
                Ok(Some(skill)) => drop(skills.known.entry(skill.name.clone()).or_insert(skill)),
                Ok(None) => {}
                Err(why) => skills.problems.push(format!("{}: {why}", path.display())),
            }
        }
        skills
    }
}

/// The files of a folder that may be skills, sorted.
fn files(checkout: &Path, folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = beneath::list(checkout, folder, MOST) else { return Vec::new() };
    let inside = |name: String| {
        let path = folder.join(&name);
        let is_file = [".mtx", ".md"].iter().any(|ending| name.ends_with(ending));
        if is_file { vec![path] } else { NAMES.iter().map(|name| path.join(name)).collect() }
    };
    entries.into_iter().flat_map(inside).collect()
}

fn skill(checkout: &Path, path: &Path) -> Result<Option<Skill>, String> {
    let bytes = match beneath::read(checkout, path, BYTES) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    let is_mtx = path.extension().is_some_and(|ending| ending == "mtx");
    let parsed = if is_mtx { parse_mtx(&text) } else { parse_md(&text) };
    parsed.map(Some).map_err(|errors: SkillErrors| errors.to_string())
}
