//! Every relative link of a Markdown file leads to a file of the repository.

use super::{Problem, Workspace};

pub(super) fn check(workspace: &Workspace) -> Vec<Problem> {
    workspace.texts("md").flat_map(|(path, text)| check_document(workspace, path, text)).collect()
}

fn check_document(workspace: &Workspace, document: &str, text: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut fenced = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        let line = without_code(line);
        let dead = targets(&line)
            .filter_map(relative)
            .filter(|target| !leads_somewhere(workspace, document, target));
        problems.extend(dead.map(|target| {
            let what = format!("the link to `{target}` leads nowhere");
            Problem::new(
                document,
                index + 1,
                what,
                "correct the path, relative to this file, or remove the link",
            )
        }));
    }
    problems
}

/// The line without its `inline code`, in which brackets are no links.
fn without_code(line: &str) -> String {
    let parts: Vec<&str> = line.split('`').collect();
    let closed = parts.len() % 2 == 1;
    let keep = |(index, part): (usize, &&str)| (index % 2 == 0 || !closed).then(|| (*part).to_owned());
    parts.iter().enumerate().filter_map(keep).collect()
}

/// What `[words](target)` and `[name]: target` point to.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    let inline = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let definition = line.trim_start().strip_prefix('[').and_then(|rest| rest.split_once("]: "));
    inline.chain(definition.map(|(_, target)| target))
}

/// The path of a link into the repository; none for another host or a place in the same file.
fn relative(target: &str) -> Option<&str> {
    let target = target.trim();
    let target = match target.strip_prefix('<') {
        Some(rest) => rest.split('>').next()?,
        None => target.split_whitespace().next()?,
    };
    let path = target.split('#').next()?;
    let scheme = path.split_once(':').is_some_and(|(scheme, _)| !scheme.contains('/'));
    (!path.is_empty() && !scheme && !path.starts_with("//")).then_some(path)
}

fn leads_somewhere(workspace: &Workspace, document: &str, target: &str) -> bool {
    let (start, target) = match target.strip_prefix('/') {
        Some(from_root) => ("", from_root),
        None => (document.rsplit_once('/').map_or("", |(folder, _)| folder), target),
    };
    let mut path: Vec<&str> = start.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if path.pop().is_none() {
                    return false;
                }
            }
            part => path.push(part),
        }
    }
    workspace.has(&path.join("/"))
}

#[cfg(test)]
mod tests {
    use super::super::workspace::example::files;
    use super::*;

    fn found(text: &str) -> Vec<(usize, String)> {
        let workspace =
            files(&[("README.md", "# Read\n"), ("docs/decisions/0001.md", ""), ("docs/here.md", text)]);
        check(&workspace).into_iter().map(|problem| (problem.line, problem.what)).collect()
    }

    #[test]
    fn a_dead_link_is_found_with_its_line() {
        let expected = [(2, "the link to `gone.md` leads nowhere".to_owned())];
        assert_eq!(found("# Here\nSee [this](gone.md#part) and [that](../README.md).\n"), expected);
        assert_eq!(found("[name]: gone.md\n").len(), 1);
        assert_eq!(found("![picture](<gone picture.png> \"title\")\n").len(), 1);
        assert_eq!(found("[outside](../../README.md)\n").len(), 1);
    }

    #[test]
    fn living_links_pass() {
        let good = "[a](decisions/0001.md \"title\") [b](decisions/) [c](/README.md) [d](./here.md#x) [e](..)\n\
                    [f](#below) [g](https://example.org/gone.md) [h](mailto:a@example.org)\n\n[i]: ../README.md\n";
        assert_eq!(found(good), []);
    }

    #[test]
    fn code_holds_no_links() {
        assert_eq!(found("`[a](gone.md)` and\n```text\n[b](gone.md)\n```\n"), []);
        assert_eq!(found("`code` then [a](gone.md)\n").len(), 1);
    }
}
