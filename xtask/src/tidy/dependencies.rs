//! Which crate may know which: the table of the architecture, held.

use super::{DependencyKind, Package, Problem, Workspace};

/// A crate, and the crates of this workspace it may depend on.
struct Allowed {
    name: &'static str,
    may_use: &'static [&'static str],
}

/// A crate exists to forbid something; the comment says what its crate must not know.
const TABLE: &[Allowed] = &[
    // The domain: no IO, no async, no clock, no HTTP.
    Allowed { name: "mxd-core", may_use: &[] },
    // The log: not what events mean.
    Allowed { name: "mxd-store", may_use: &[] },
    // Providers: not tasks, configuration files or the log.
    Allowed { name: "mxd-llm", may_use: &["mxd-core"] },
    // The outside world for agents: not the task tree or the log.
    Allowed { name: "mxd-tools", may_use: &["mxd-core"] },
    // Where the four meet: not HTTP.
    Allowed { name: "mxd-engine", may_use: &["mxd-core", "mxd-store", "mxd-llm", "mxd-tools"] },
    // The HTTP interface: not the wires of the models.
    Allowed { name: "mxd-server", may_use: &["mxd-core", "mxd-store", "mxd-engine", "mxd-tools"] },
    // The scripted model stands alone: it must not share a mistake with what it tests.
    Allowed { name: "rehearse", may_use: &[] },
    // The story in real repositories: only the program from outside, and the scripted model.
    Allowed { name: "world", may_use: &["rehearse"] },
    // The program: not the rules of the domain. It proves logs itself, and its demo has the scripted model.
    Allowed {
        name: "mxd",
        may_use: &["mxd-core", "mxd-store", "mxd-engine", "mxd-server", "mxd-tools", "rehearse", "world"],
    },
    // The manifest inspector: not the engine or the server.
    Allowed { name: "mcl-tools", may_use: &["mxd-core", "mxd-tools"] },
    // The EVM toolbox stands alone.
    Allowed { name: "tachyon", may_use: &[] },
    // Developer tasks build before, and without, everything else.
    Allowed { name: "xtask", may_use: &[] },
];

/// Crates from outside that would break what a crate promises, and what to do instead.
struct Forbidden {
    name: &'static str,
    crates: &'static [&'static str],
    remedy: &'static str,
}

const FORBIDDEN: &[Forbidden] = &[
    Forbidden {
        name: "mxd-core",
        crates: &["async-std", "futures", "smol", "tokio"],
        remedy: "the core decides without waiting; await in the engine and hand the result in as an input",
    },
    Forbidden {
        name: "mxd-core",
        crates: &["fastrand", "getrandom", "rand"],
        remedy: "randomness arrives with the input; make the id or number at the edge",
    },
    Forbidden {
        name: "mxd-core",
        crates: &["axum", "hyper", "reqwest", "ureq"],
        remedy: "the core knows no network; do it in mxd-llm, mxd-tools or mxd-server",
    },
    Forbidden {
        name: "mxd-core",
        crates: &["fs-err", "libc", "nix", "rustix", "tempfile"],
        remedy: "the core knows no system; answer with an effect and let the engine act",
    },
    Forbidden {
        name: "mxd-core",
        crates: &["chrono", "jiff", "time"],
        remedy: "time arrives with the input as a number; format it at the edge",
    },
];

pub(super) fn check(workspace: &Workspace) -> Vec<Problem> {
    let ours: Vec<&str> = workspace.packages().iter().map(|package| package.name.as_str()).collect();
    let mut problems = Vec::new();
    for package in workspace.packages() {
        let Some(allowed) = TABLE.iter().find(|allowed| allowed.name == package.name) else {
            let what = format!("crate {} is missing from the dependency table", package.name);
            let remedy = "add it to TABLE in xtask/src/tidy/dependencies.rs with the reason it exists";
            problems.push(Problem::new(&package.manifest, 1, what, remedy));
            continue;
        };
        problems.extend(inside(workspace, package, allowed, &ours));
        problems.extend(outside(workspace, package));
    }
    problems
}

/// Dependencies on crates of this workspace.
fn inside(workspace: &Workspace, package: &Package, allowed: &Allowed, ours: &[&str]) -> Vec<Problem> {
    let used = package.dependencies.iter().filter(|used| ours.contains(&used.name.as_str()));
    let refused = used.filter(|used| match used.kind {
        DependencyKind::Normal | DependencyKind::Build => !allowed.may_use.contains(&used.name.as_str()),
        // Tests may look around, but the core must be testable alone.
        DependencyKind::Dev => package.name == "mxd-core",
    });
    let problem = |name: &str| {
        let what = format!("{} may not depend on {name}", package.name);
        let remedy =
            "move the shared part down, or pass it in; the table is in xtask/src/tidy/dependencies.rs";
        Problem::new(&package.manifest, line_of(workspace, package, name), what, remedy)
    };
    refused.map(|used| problem(&used.name)).collect()
}

/// Dependencies on crates from outside; tests may use what they like.
fn outside(workspace: &Workspace, package: &Package) -> Vec<Problem> {
    let mut problems = Vec::new();
    for used in package.dependencies.iter().filter(|used| used.kind != DependencyKind::Dev) {
        let rules = FORBIDDEN.iter().filter(|rule| rule.name == package.name);
        for rule in rules.filter(|rule| rule.crates.contains(&used.name.as_str())) {
            let what = format!("{} may not depend on {}", package.name, used.name);
            let line = line_of(workspace, package, &used.name);
            problems.push(Problem::new(&package.manifest, line, what, rule.remedy));
        }
    }
    problems
}

fn line_of(workspace: &Workspace, package: &Package, dependency: &str) -> usize {
    let manifest = workspace.text(&package.manifest).unwrap_or_default();
    let names_it = |line: &str| {
        let rest = line.trim_start().strip_prefix(dependency);
        rest.is_some_and(|rest| rest.starts_with(['.', ' ', '=']))
    };
    manifest.lines().position(names_it).map_or(1, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::super::workspace::example::{files, with_package};
    use super::DependencyKind::{Build, Dev, Normal};
    use super::*;

    fn problems(name: &str, uses: &[(&str, DependencyKind)]) -> Vec<Problem> {
        let manifest = "[dependencies]\nserde = \"1\"\nmxd-store.workspace = true\ntokio = \"1\"\n";
        let path = format!("crates/{name}/Cargo.toml");
        let mut workspace = with_package(files(&[(&path, manifest)]), name, uses);
        for other in ["mxd-core", "mxd-store"].into_iter().filter(|other| *other != name) {
            workspace = with_package(workspace, other, &[]);
        }
        check(&workspace)
    }

    #[test]
    fn a_dependency_the_table_does_not_allow_is_found_with_its_line() {
        for kind in [Normal, Build] {
            let found = problems("mxd-llm", &[("mxd-core", kind), ("mxd-store", kind)]);
            assert_eq!(found.len(), 1);
            assert_eq!((found[0].file.as_str(), found[0].line), ("crates/mxd-llm/Cargo.toml", 3));
            assert_eq!(found[0].what, "mxd-llm may not depend on mxd-store");
        }
    }

    #[test]
    fn tests_may_look_around_except_those_of_the_core() {
        assert_eq!(problems("mxd-store", &[("mxd-core", Dev)]), []);
        assert_eq!(problems("mxd-core", &[("mxd-store", Dev)]).len(), 1);
        assert_eq!(problems("mxd-core", &[("proptest", Dev), ("tokio", Dev)]), []);
    }

    #[test]
    fn the_core_may_not_use_a_runtime() {
        let found = problems("mxd-core", &[("serde", Normal), ("tokio", Normal), ("rand", Build)]);
        let lines: Vec<_> = found.iter().map(|problem| problem.line).collect();
        assert_eq!(lines, [4, 1]);
        assert!(found[0].remedy.contains("without waiting"));
    }

    #[test]
    fn a_crate_nobody_entered_is_found() {
        let found = problems("mxd-utils", &[]);
        assert_eq!(found.len(), 1);
        assert!(found[0].remedy.contains("with the reason it exists"));
    }

    #[test]
    fn the_table_points_one_way() {
        for (index, allowed) in TABLE.iter().enumerate() {
            for name in allowed.may_use {
                let position = TABLE.iter().position(|other| other.name == *name);
                assert!(position.is_some_and(|position| position < index), "{} uses {name}", allowed.name);
            }
        }
    }
}
