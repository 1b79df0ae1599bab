//! Plain text habits: clean line ends, and nothing left for later in the sources.

use super::{Problem, Workspace};

/// Written in two parts, so that this file does not find itself.
const UNFINISHED: &[&str] =
    &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("to", "do!("), concat!("unimple", "mented!(")];

pub(super) fn check(workspace: &Workspace) -> Vec<Problem> {
    let mut problems = Vec::new();
    for extension in ["rs", "md", "toml"] {
        for (path, text) in workspace.texts(extension) {
            problems.extend(check_line_ends(path, text));
        }
    }
    for (path, text) in workspace.texts("rs") {
        problems.extend(check_finished(path, text));
    }
    problems
}

fn check_line_ends(path: &str, text: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (index, line) in text.split('\n').enumerate() {
        if line.ends_with(char::is_whitespace) {
            problems.push(Problem::new(path, index + 1, "white space at the end of the line", "remove it"));
        }
    }
    if !text.is_empty() && !text.ends_with('\n') {
        let last = text.lines().count();
        problems.push(Problem::new(path, last, "the file does not end with a newline", "add one"));
    }
    problems
}

fn check_finished(path: &str, text: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for mark in UNFINISHED.iter().filter(|mark| has_word(line, mark)) {
            let remedy = "do it now, or open an issue and say here why the code is right as it is";
            problems.push(Problem::new(path, index + 1, format!("`{mark}` in a source"), remedy));
        }
    }
    problems
}

fn has_word(line: &str, word: &str) -> bool {
    let part_of_name = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].ends_with(part_of_name);
        let after = word.ends_with(part_of_name) && line[at + word.len()..].starts_with(part_of_name);
        !before && !after
    })
}

#[cfg(test)]
mod tests {
    use super::super::workspace::example::files;
    use super::*;

    fn found(path: &str, text: &str) -> Vec<usize> {
        check(&files(&[(path, text)])).into_iter().map(|problem| problem.line).collect()
    }

    #[test]
    fn white_space_at_a_line_end_is_found() {
        for path in ["a.rs", "a.md", "a.toml"] {
            assert_eq!(found(path, "one\ntwo \nthree\t\n\u{a0}\n"), [2, 3, 4], "{path}");
            assert_eq!(found(path, "one\r\n"), [1], "{path}");
        }
    }

    #[test]
    fn a_missing_last_newline_is_found() {
        assert_eq!(found("a.toml", "one\ntwo"), [2]);
        assert_eq!(found("a.toml", ""), [0; 0]);
    }

    #[test]
    fn unfinished_work_is_found_in_sources_only() {
        for mark in UNFINISHED {
            let text = format!("fn f() {{}}\n// {mark}\n");
            assert_eq!(found("a.rs", &text), [2], "{mark}");
            assert_eq!(found("a.md", &text), [0; 0], "{mark}");
        }
    }

    #[test]
    fn a_mark_inside_another_word_is_no_mark() {
        let text = format!("const AU{}WN: u8 = 0;\nlet {}_LIST = 1;\n", UNFINISHED[0], UNFINISHED[0]);
        assert_eq!(found("a.rs", &text), [0; 0]);
    }
}
