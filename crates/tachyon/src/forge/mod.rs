//! Tests that need what the built-in runner lacks, handed over to `forge` where it is installed.
//!
//! It is given a folder of its own with the same files, a configuration we wrote, the compiler we chose, no variables and no
//! network. What it could only do with more than that is not tried: such tests stay unsupported.

mod project;
mod verdicts;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::child::{self, Bounds, Child};
use crate::compile::Kit;
use crate::limits;
use crate::runner::{Plan, Report, Status};
use verdicts::Verdicts;

/// Cheatcodes that reach outside of the machine. Nobody may have them, so a test that needs one is not handed over.
const OUTSIDE: [&str; 22] = [
    "ffi",
    "tryFfi",
    "env",
    "setEnv",
    "resolveEnv",
    "read",
    "write",
    "remove",
    "copyFile",
    "createDir",
    "exists",
    "isDir",
    "isFile",
    "fsMetadata",
    "closeFile",
    "dumpState",
    "loadAllocs",
    "prompt",
    "createFork",
    "createSelectFork",
    "rpc",
    "eth_getLogs",
];

/// The program, where there is one: what the operator says, or what is on the path.
pub(crate) fn find(configured: Option<&Path>) -> Option<PathBuf> {
    configured.map(Path::to_owned).or_else(|| child::found(Path::new("forge")))
}

/// Has the unsupported tests of a report judged, and says in each case who judged it or why nobody did.
pub(crate) async fn judge(forge: Option<&Path>, kit: &Kit, plan: &Plan, report: &mut Report) {
    let wanted = wanted(report);
    let verdicts = match forge {
        _ if wanted.is_empty() => Err("nothing was handed over".to_owned()),
        None => Err("forge, which might have it, is not installed".to_owned()),
        Some(forge) => run(forge, kit, plan, &wanted).await,
    };
    for suite in &mut report.suites {
        for case in suite.cases.iter_mut().filter(|case| case.status == Status::Unsupported) {
            let needs = case.reason.take().unwrap_or_default();
            if is_outside(&needs) {
                case.reason = Some(format!("{needs}, and nothing here lets a test reach outside"));
                continue;
            }
            let found = match &verdicts {
                Ok(verdicts) => verdicts.of(&suite.file, &suite.contract, &case.name),
                Err(why) => Err(why.clone()),
            };
            match found {
                Ok(verdict) => verdict.put_into(case),
                Err(why) => case.reason = Some(format!("{needs}; {why}")),
            }
        }
    }
    report.count_again();
}

/// The contracts and tests that are to be handed over.
fn wanted(report: &Report) -> BTreeSet<(String, String)> {
    let mut wanted = BTreeSet::new();
    for suite in &report.suites {
        let cases = suite.cases.iter().filter(|case| case.status == Status::Unsupported);
        for case in cases.filter(|case| !is_outside(case.reason.as_deref().unwrap_or_default())) {
            let name = case.name.split('(').next().unwrap_or_default();
            wanted.insert((suite.contract.clone(), name.to_owned()));
        }
    }
    wanted
}

/// Whether words about a cheatcode name one that reaches outside.
fn is_outside(words: &str) -> bool {
    let name = words.split("the cheatcode ").nth(1).unwrap_or_default();
    let name = name.split('(').next().unwrap_or_default();
    OUTSIDE.iter().any(|prefix| name.starts_with(prefix))
}

async fn run(
    forge: &Path,
    kit: &Kit,
    plan: &Plan,
    wanted: &BTreeSet<(String, String)>,
) -> Result<Verdicts, String> {
    let folder = tempfile::tempdir().map_err(|error| format!("there is no room for forge: {error}"))?;
    project::write(folder.path(), kit, plan).map_err(|error| format!("forge's project: {error}"))?;
    let any_of = |names: BTreeSet<&str>| names.into_iter().collect::<Vec<_>>().join("|");
    let contracts = any_of(wanted.iter().map(|(contract, _)| contract.as_str()).collect());
    let contracts = format!("^({contracts})$");
    // Tests are matched with their arguments.
    let tests = any_of(wanted.iter().map(|(_, test)| test.as_str()).collect());
    let tests = format!(r"^({tests})\(");
    let root = folder.path().join(project::ROOT);
    // Without a network of its own nothing in it can be reached, and nothing it starts outlives it.
    let mut arguments: Vec<OsString> =
        ["--user", "--map-root-user", "--net", "--pid", "--fork", "--kill-child", "--"]
            .map(Into::into)
            .into();
    arguments.extend([forge.as_os_str().to_owned(), "test".into(), "--json".into(), "--root".into()]);
    arguments.extend([root.clone().into_os_string(), "--match-contract".into(), contracts.into()]);
    arguments.extend(["--match-test".into(), tests.into()]);
    let bounds = Bounds {
        time: limits::FORGE_TIME,
        output_bytes: limits::FORGE_OUTPUT_BYTES,
        file_bytes: limits::FORGE_FILE_BYTES,
        memory_bytes: None,
    };
    let child = Child { program: Path::new("unshare"), arguments, input: "", folder: folder.path(), bounds };
    let ended = child.run().await.map_err(|error| format!("forge could not judge it: {error}"))?;
    // Its exit code says whether all passed; whether it ran at all is seen from what it printed.
    Verdicts::parse(&ended.output).ok_or_else(|| {
        let said: String = ended.complaint.chars().take(500).collect();
        format!("forge could not judge it ({}): {said}", ended.status)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reaches_outside_is_known_by_its_name() {
        for name in
            ["ffi(string[])", "envString(string)", "envOr(string,uint256)", "readFile(string)", "rpc(string)"]
        {
            assert!(is_outside(&format!("the cheatcode {name} is not supported")), "{name}");
        }
        for name in ["toLowercase(string)", "parseJsonUint(string,string)", "snapshotState()", "0x12345678"] {
            assert!(!is_outside(&format!("the cheatcode {name} is not supported")), "{name}");
        }
    }
}
