//! The core decides and does not act: it may not even name the file system, the network or the clock.
//!
//! The dependency table keeps crates out; this rule keeps the standard library's doors shut. It reads tokens,
//! so that a grouped import is seen and a comment is not.

use super::tokens::{PathUse, paths};
use super::{Problem, Workspace};

const CORE: &str = "crates/mxd-core/src/";

/// Modules of `std`, each with what to do instead.
const MODULES: &[(&str, &str)] = &[
    ("env", "configuration arrives as values; read the environment in the engine"),
    ("fs", "answer with an effect and let mxd-store or the engine touch the disk"),
    ("net", "answer with an effect and let mxd-llm, mxd-tools or mxd-server use the network"),
    ("process", "answer with an effect and let mxd-tools start the process"),
    ("thread", "the core runs where it is called; threads belong to the engine"),
];

/// Names nobody needs for anything innocent.
const NAMES: &[(&str, &str)] = &[("Instant", TIME), ("SystemTime", TIME)];
const TIME: &str = "time arrives with the input; ask the clock at the edge";

/// Crates, as the first part of a path.
const CRATES: &[(&str, &str)] = &[
    ("rand", "randomness arrives with the input; make it at the edge"),
    ("tokio", "the core never waits; await in the engine and hand the result in as an input"),
];

pub(super) fn check(workspace: &Workspace) -> Vec<Problem> {
    let sources = workspace.texts("rs").filter(|(path, _)| path.starts_with(CORE));
    sources.flat_map(|(path, source)| check_source(path, source)).collect()
}

fn check_source(file: &str, source: &str) -> Vec<Problem> {
    let paths = match paths(source) {
        Ok(paths) => paths,
        Err(error) => {
            return vec![Problem::new(file, 1, format!("not Rust: {error}"), "make it compile")];
        }
    };
    let problem = |path: &PathUse| {
        let remedy = judge(path)?;
        let what = format!("mxd-core may not use `{}`", path.segments.join("::"));
        Some(Problem::new(file, path.line, what, remedy))
    };
    paths.iter().filter_map(problem).collect()
}

/// What to do instead, when the path is forbidden.
fn judge(path: &PathUse) -> Option<&'static str> {
    let segments: Vec<&str> = path.segments.iter().map(String::as_str).collect();
    let (&first, rest) = segments.split_first()?;
    if first == "std" {
        match rest {
            ["*", ..] => return Some("import by name, so that this rule can see what is used"),
            [] | ["self"] if path.renamed => {
                return Some("call std by its name, so that this rule can see it");
            }
            [module, ..] => return find(MODULES, module).or_else(|| find_any(NAMES, rest)),
            [] => return None,
        }
    }
    // Alone, such a word is a local name; at the head of a path or in an import it is the crate.
    let crate_name = (path.imported || !rest.is_empty()).then(|| find(CRATES, first)).flatten();
    crate_name.or_else(|| find_any(NAMES, &segments))
}

fn find(table: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    table.iter().find(|(banned, _)| *banned == name).map(|(_, remedy)| *remedy)
}

fn find_any(table: &[(&str, &'static str)], names: &[&str]) -> Option<&'static str> {
    names.iter().find_map(|name| find(table, name))
}

#[cfg(test)]
mod tests {
    use super::super::workspace::example::files;
    use super::*;

    fn found(source: &str) -> Vec<String> {
        let workspace = files(&[("crates/mxd-core/src/lib.rs", source)]);
        check(&workspace).into_iter().map(|problem| format!("{}: {}", problem.line, problem.what)).collect()
    }

    #[test]
    fn a_grouped_import_is_seen() {
        let source = "use std::{\n    collections::BTreeMap,\n    fs,\n    net::{TcpStream},\n};\n";
        assert_eq!(
            found(source),
            ["3: mxd-core may not use `std::fs`", "4: mxd-core may not use `std::net::TcpStream`"]
        );
    }

    #[test]
    fn every_banned_name_is_seen_wherever_it_stands() {
        let bad = [
            "fn f() { std::fs::read(p); }",
            "fn f(x: std::net::IpAddr) {}",
            "fn f() { ::std::process::abort() }",
            "fn f() { g!(std::env::var(x)) }",
            "use std::thread::spawn as go;",
            "use tokio::sync::watch;",
            "async fn f() { tokio::spawn(g()); }",
            "use std::time::SystemTime;",
            "use std::time; fn f() { time::Instant::now() }",
            "use rand;",
            "use {rand::random};",
            "extern crate rand;",
            "use std as s;",
            "use std::{self as s};",
            "use std::*;",
            "#[cfg(test)] mod tests { use std::{time::{Duration, Instant}}; }",
        ];
        for source in bad {
            assert_eq!(found(source).len(), 1, "{source}: {:?}", found(source));
        }
    }

    #[test]
    fn words_that_are_no_paths_are_left_alone() {
        let good = "//! std::fs, SystemTime and tokio are not for us.\n\
                    use std::collections::BTreeMap;\nuse std::time::Duration;\n\
                    /// No Instant here.\nfn f(rand: u64) -> &'static str { let tokio = rand; \"std::fs\" }\n";
        assert_eq!(found(good), [""; 0]);
    }

    #[test]
    fn other_crates_may() {
        let workspace = files(&[("crates/mxd-store/src/lib.rs", "use std::fs;")]);
        assert_eq!(check(&workspace), []);
    }
}
