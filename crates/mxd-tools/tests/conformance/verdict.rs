//! What the suite found, against the list of what does not apply.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;

/// Which end is tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Role {
    Server,
    Client,
}

/// What does not apply to us.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Exception {
    role: Role,
    /// The revisions for which it is so.
    revisions: BTreeSet<String>,
    scenarios: BTreeSet<String>,
    /// The checks that fail; all of them together when none is named.
    #[serde(default)]
    checks: BTreeSet<String>,
    why: String,
}

/// One finding of the suite.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Check {
    id: String,
    status: String,
    #[serde(default)]
    error_message: Option<String>,
}

/// What the suite found: the scenarios, and what failed in each.
pub(crate) struct Verdict {
    scenarios: BTreeMap<String, BTreeMap<String, String>>,
    passed: usize,
    said: String,
}

impl Verdict {
    /// Runs the suite.
    pub(crate) fn of(suite: &mut Command, results: &Path) -> Self {
        let output = suite.output().unwrap_or_else(|error| panic!("{suite:?}: {error}"));
        let said =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        let folders = fs::read_dir(results).unwrap_or_else(|error| panic!("no results: {error}\n{said}"));
        let (mut scenarios, mut passed) = (BTreeMap::new(), 0);
        for folder in folders.map(|entry| entry.unwrap().path()) {
            for (name, path) in checks(results, &folder) {
                let found: Vec<Check> = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
                passed += found.iter().filter(|check| check.status == "SUCCESS").count();
                let failed = found.into_iter().filter(|check| check.status == "FAILURE");
                let failed =
                    failed.map(|check| (check.id, check.error_message.unwrap_or_default())).collect();
                scenarios.insert(name, failed);
            }
        }
        Self { scenarios, passed, said }
    }

    /// Holds it against the list.
    pub(crate) fn check(&self, role: Role, revision: &str) {
        let list: Vec<Exception> = serde_json::from_str(include_str!("not-applicable.json")).unwrap();
        let list = list.into_iter().filter(|entry| entry.role == role && entry.revisions.contains(revision));
        let mut excused: BTreeSet<(String, String)> = BTreeSet::new();
        let mut problems = Vec::new();
        for entry in list {
            assert!(!entry.why.is_empty());
            for scenario in entry.scenarios {
                let failed = self.scenarios.get(&scenario).cloned().unwrap_or_default();
                let names: BTreeSet<String> = if entry.checks.is_empty() {
                    failed.keys().cloned().collect()
                } else {
                    entry.checks.clone()
                };
                if names.is_empty() {
                    problems.push(format!("{scenario} is listed as not applicable, and nothing of it fails"));
                }
                for name in names {
                    if !failed.contains_key(&name) {
                        problems.push(format!("{name} of {scenario} is listed, and does not fail"));
                    }
                    excused.insert((scenario.clone(), name));
                }
            }
        }
        for (scenario, failed) in &self.scenarios {
            for (name, why) in
                failed.iter().filter(|(name, _)| !excused.contains(&(scenario.clone(), (*name).clone())))
            {
                problems.push(format!("{name} of {scenario} fails: {why}"));
            }
        }
        println!(
            "{} scenarios, {} checks passed, {} not applicable",
            self.scenarios.len(),
            self.passed,
            excused.len()
        );
        assert!(self.scenarios.len() > 20 && self.passed > 10, "the suite did not run:\n{}", self.said);
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }
}

/// The files of findings below a folder of results, each with its scenario.
fn checks(results: &Path, folder: &Path) -> Vec<(String, std::path::PathBuf)> {
    let file = folder.join("checks.json");
    if file.exists() {
        return vec![(scenario(results, folder), file)];
    }
    let Ok(below) = fs::read_dir(folder) else { return vec![] };
    below.flat_map(|entry| checks(results, &entry.unwrap().path())).collect()
}

/// A folder is named after its role, its scenario and the time, such as `-2026-11-16T04-11-38-439Z`.
fn scenario(results: &Path, folder: &Path) -> String {
    let name = folder.strip_prefix(results).unwrap().to_string_lossy().into_owned();
    let name = name[..name.len() - "-2026-11-16T04-11-38-439Z".len()].to_owned();
    match name.strip_prefix("server-") {
        Some(of_server) if results.to_string_lossy().contains("conformance-server-") => of_server.to_owned(),
        _ => name,
    }
}
