//! Every source file says on its first line what it is.

use super::{Problem, Workspace};

pub(super) fn check(workspace: &Workspace) -> Vec<Problem> {
    let sources = workspace.texts("rs").filter(|(path, _)| is_source(path));
    let silent = sources.filter(|(_, source)| !begins_with_doc(source));
    let remedy = "begin the file with a `//!` sentence: what it is for, and what is not obvious";
    silent.map(|(path, _)| Problem::new(path, 1, "no module doc", remedy)).collect()
}

fn is_source(path: &str) -> bool {
    path.contains("/src/")
}

fn begins_with_doc(source: &str) -> bool {
    let first = source.lines().next().and_then(|line| line.strip_prefix("//!"));
    first.is_some_and(|words| !words.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::workspace::example::files;
    use super::*;

    fn count(path: &str, source: &str) -> usize {
        check(&files(&[(path, source)])).len()
    }

    #[test]
    fn a_file_without_a_module_doc_is_found() {
        for silent in ["", "use std::fmt;\n", "// A remark.\n", "//!\n", "\n//! Late.\n"] {
            assert_eq!(count("crates/a/src/lib.rs", silent), 1, "{silent:?}");
        }
        assert_eq!(count("crates/a/src/lib.rs", "//! The thing.\n"), 0);
    }

    #[test]
    fn only_sources_are_asked() {
        assert_eq!(count("crates/a/tests/it.rs", "use std::fmt;\n"), 0);
        assert_eq!(count("xtask/src/a/b.rs", "use std::fmt;\n"), 1);
    }
}
