//! Every crate takes part in the workspace's lints and says what it is for.

use super::{Problem, Workspace};

pub(super) fn check(workspace: &Workspace) -> Vec<Problem> {
    let mut problems = Vec::new();
    for package in workspace.packages() {
        let manifest = workspace.text(&package.manifest).unwrap_or_default();
        if !takes_part_in_lints(manifest) {
            let what = format!("crate {} does not use the workspace's lints", package.name);
            problems.push(Problem::new(&package.manifest, 1, what, "add `[lints]` with `workspace = true`"));
        }
        if package.description.as_deref().is_none_or(|words| words.trim().is_empty()) {
            let what = format!("crate {} has no description", package.name);
            problems.push(Problem::new(
                &package.manifest,
                1,
                what,
                "add `description`: one line, what it is for",
            ));
        }
    }
    problems
}

fn takes_part_in_lints(manifest: &str) -> bool {
    let mut section = "";
    for line in manifest.lines() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.starts_with('[') {
            section = line;
        }
        let words: String = line.split_whitespace().collect();
        if (section == "[lints]" && words == "workspace=true")
            || (section.is_empty() && words == "lints.workspace=true")
        {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::workspace::example::{files, undescribed, with_package};
    use super::*;

    fn workspace(manifest: &str) -> Workspace {
        with_package(files(&[("crates/a/Cargo.toml", manifest)]), "a", &[])
    }

    #[test]
    fn a_crate_outside_the_lints_is_found() {
        for outside in [
            "[package]\nname = \"a\"\n",
            "[lints]\nworkspace = false\n",
            "[lints]\n# workspace = true\n",
            "[lints]\n\n[other]\nworkspace = true\n",
        ] {
            assert_eq!(check(&workspace(outside)).len(), 1, "{outside}");
        }
        assert_eq!(check(&workspace("[package]\n\n[lints]\nworkspace = true # all of them\n")), []);
        assert_eq!(check(&workspace("lints.workspace = true\n")), []);
    }

    #[test]
    fn a_crate_without_a_description_is_found() {
        let workspace = undescribed(workspace("[lints]\nworkspace = true\n"));
        let problems = check(&workspace);
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].what, "crate a has no description");
    }
}
