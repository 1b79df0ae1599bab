//! Every invariant of `ARCHITECTURE.md` names a test that exists.
//!
//! An invariant is a list item that begins with `**I7**` and contains at least one reference of the form
//! `` `crates/mxd-store/tests/it/damage.rs::every_offset` ``; it may go on over indented lines.

use super::tokens::defines;
use super::{Problem, Workspace};

const FILE: &str = "ARCHITECTURE.md";
const FORM: &str = "write it as `path/to/file.rs::test_name`, the path from the root of the repository";

struct Invariant {
    number: u32,
    line: usize,
    text: String,
}

pub(super) fn check(workspace: &Workspace) -> Vec<Problem> {
    let Some(text) = workspace.text(FILE) else {
        return vec![Problem::new(FILE, 1, "missing", "write the code map and the numbered invariants")];
    };
    let invariants = invariants(text);
    if invariants.is_empty() {
        let remedy = "begin each with `* **I1**` and name its test: `path/to/file.rs::test_name`";
        return vec![Problem::new(FILE, 1, "no invariants", remedy)];
    }
    let mut problems = check_numbers(&invariants);
    for invariant in &invariants {
        problems.extend(check_tests(workspace, invariant));
    }
    problems
}

fn check_numbers(invariants: &[Invariant]) -> Vec<Problem> {
    let out_of_order = invariants.windows(2).filter(|pair| pair[0].number >= pair[1].number);
    let problem = |pair: &[Invariant]| {
        let what = format!("I{} comes after I{}", pair[1].number, pair[0].number);
        Problem::new(FILE, pair[1].line, what, "number the invariants once each, ascending")
    };
    out_of_order.map(problem).collect()
}

fn check_tests(workspace: &Workspace, invariant: &Invariant) -> Vec<Problem> {
    let number = invariant.number;
    let references: Vec<_> = references(&invariant.text).collect();
    if references.is_empty() {
        return vec![Problem::new(FILE, invariant.line, format!("I{number} names no test"), FORM)];
    }
    let mut problems = Vec::new();
    for (path, test) in references {
        let what = match workspace.text(path).map(|source| defines(source, test)) {
            Some(Ok(true)) => continue,
            Some(Ok(false)) => format!("I{number} names `{test}`, which is not in {path}"),
            Some(Err(error)) => format!("I{number} names {path}, which is not Rust: {error}"),
            None => format!("I{number} names {path}, which does not exist"),
        };
        problems.push(Problem::new(
            FILE,
            invariant.line,
            what,
            format!("name the test that holds it; {FORM}"),
        ));
    }
    problems
}

fn invariants(text: &str) -> Vec<Invariant> {
    let mut found: Vec<Invariant> = Vec::new();
    let mut open = false;
    for (index, line) in text.lines().enumerate() {
        if let Some(number) = number(line) {
            found.push(Invariant { number, line: index + 1, text: line.to_owned() });
            open = true;
        } else if open && line.starts_with(' ') && !line.trim().is_empty() {
            if let Some(invariant) = found.last_mut() {
                invariant.text = format!("{} {}", invariant.text, line.trim());
            }
        } else {
            open = false;
        }
    }
    found
}

fn number(line: &str) -> Option<u32> {
    let item = line.trim_start().strip_prefix(['*', '-'])?.trim_start();
    let (number, _) = item.strip_prefix("**I")?.split_once("**")?;
    number.trim_end_matches(['.', ':']).parse().ok()
}

/// The references in backticks, as path and test name.
fn references(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let code = text.split('`').skip(1).step_by(2);
    code.filter_map(|code| {
        let (path, test) = code.split_once(".rs::")?;
        // The path ends where the test's name begins; the extension belongs to it.
        Some((&code[..path.len() + 3], test))
    })
}

#[cfg(test)]
mod tests {
    use super::super::workspace::example::files;
    use super::*;

    const TEST: (&str, &str) = ("a/tests/it.rs", "#[test]\nfn holds() {}\n// fn commented() {}\n");

    fn found(architecture: &str) -> Vec<(usize, String)> {
        let workspace = files(&[TEST, (FILE, architecture)]);
        check(&workspace).into_iter().map(|problem| (problem.line, problem.what)).collect()
    }

    #[test]
    fn invariants_with_their_tests_pass() {
        let good = "# Map\n\n* **I1** It holds:\n  `a/tests/it.rs::holds`.\n- **I3** Still, `x`, `a/tests/it.rs::holds`\n";
        assert_eq!(found(good), []);
    }

    #[test]
    fn an_invariant_without_a_test_is_found() {
        let expected = [(3, "I1 names no test".to_owned())];
        assert_eq!(found("# Map\n\n* **I1** It holds, we are sure.\n\n`a/tests/it.rs::holds`\n"), expected);
    }

    #[test]
    fn a_test_that_does_not_exist_is_found() {
        let what = |text| found(text).remove(0).1;
        assert_eq!(
            what("* **I1** `a/tests/it.rs::gone`\n"),
            "I1 names `gone`, which is not in a/tests/it.rs"
        );
        assert_eq!(
            what("* **I1** `a/tests/it.rs::commented`\n"),
            "I1 names `commented`, which is not in a/tests/it.rs"
        );
        assert_eq!(what("* **I1** `a/tests/no.rs::holds`\n"), "I1 names a/tests/no.rs, which does not exist");
    }

    #[test]
    fn numbers_ascend_and_are_unique() {
        let item = |number| format!("* **I{number}** `a/tests/it.rs::holds`\n");
        assert_eq!(found(&[item(1), item(1)].concat()), [(2, "I1 comes after I1".to_owned())]);
        assert_eq!(found(&[item(2), item(1)].concat()), [(2, "I1 comes after I2".to_owned())]);
    }

    #[test]
    fn a_missing_or_empty_document_is_a_problem() {
        assert_eq!(check(&files(&[])).len(), 1);
        assert_eq!(found("# Map\n"), [(1, "no invariants".to_owned())]);
    }
}
