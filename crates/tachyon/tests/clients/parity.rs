//! Third-party tests, judged by our runner and by forge, on contracts as they were published and on contracts we broke.
//!
//! The suite breaks one group in one way and compares every verdict. `cargo xtask chaos forge` first takes every group as it is,
//! then goes on breaking them at random. What the two do not agree on must be what `disagreements.txt` says, no more and no less.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::mutation::{self, Mutation};
use crate::rounds;
use crate::workshop::{Workshop, here, write};

/// A folder of contracts with their Foundry tests.
struct Group {
    folder: &'static str,
    solc: &'static str,
    /// At least so many tests are compared.
    tests: usize,
}

const GROUPS: [Group; 4] = [
    Group { folder: "data-feeds", solc: "0.8.26", tests: 100 },
    Group { folder: "keystone", solc: "0.8.24", tests: 120 },
    Group { folder: "shared", solc: "0.8.24", tests: 130 },
    Group { folder: "llo-feeds/v0.3.0", solc: "0.8.19", tests: 250 },
];

/// What breaks the group of the suite: enough for some of its tests to fail, not for most.
const IN_SUITE: u64 = 8;

/// Where both find what the tests import.
const REMAPPINGS: [&str; 2] =
    ["forge-std/=src/v0.8/vendor/forge-std/src/", "@openzeppelin/=node_modules/@openzeppelin/"];
const BLOCK: (u64, u64) = (12_345, 1_234_567_890);

/// What both say about a test, by file, contract and signature.
type Verdicts = BTreeMap<String, Verdict>;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Verdict {
    status: String,
    /// What a test without arguments used; random inputs differ.
    gas: Option<u64>,
    reason: String,
}

pub(crate) fn agrees(shop: &Workshop) {
    let whole = rounds::size(0, 1) == 1;
    if !whole {
        let told = compare(shop, &GROUPS[0], Some(IN_SUITE)).expect("the broken contracts compile");
        assert!(
            told.failed > 0 && told.passed > told.failed,
            "{} passed, {} failed",
            told.passed,
            told.failed
        );
        return;
    }
    for group in &GROUPS {
        compare(shop, group, None).expect("the contracts compile as they are");
    }
    let (mut broken, mut noticed) = (0, 0);
    for seed in rounds::seeds(1) {
        let group = &GROUPS[usize::try_from(seed % GROUPS.len() as u64).unwrap()];
        if let Some(told) = compare(shop, group, Some(seed)) {
            broken += 1;
            noticed += usize::from(told.failed > 0);
        }
    }
    println!("{broken} broken versions compiled, in {noticed} of them tests failed, in both the same");
}

struct Told {
    passed: usize,
    failed: usize,
}

/// Compares all verdicts on a group; nothing when it does not compile, for both.
fn compare(shop: &Workshop, group: &Group, seed: Option<u64>) -> Option<Told> {
    let sources = Sources::read(shop, group, seed);
    println!("{}: {}", group.folder, sources.shown());
    let theirs = forge(shop, group, &sources);
    let ours = ours(shop, group, &sources);
    assert_eq!(ours.is_some(), theirs.is_some(), "both compile it, or none: {}", sources.shown());
    let (ours, mut theirs) = (ours?, theirs?);
    spread(&mut theirs, &ours);
    let tests = |verdicts: &Verdicts| verdicts.keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(tests(&ours), tests(&theirs), "both find the same tests");
    assert!(ours.len() >= group.tests, "{} tests are too few", ours.len());
    let known = known();
    let mut told = Told { passed: 0, failed: 0 };
    let mut wrong = Vec::new();
    for (test, our) in &ours {
        let their = &theirs[test];
        told.passed += usize::from(their.status == "passed");
        told.failed += usize::from(their.status == "failed");
        let agreed = our.status == their.status && our.gas == their.gas;
        // A broken contract may hide a disagreement, but none may be new.
        let expected = !known.contains(test) || (seed.is_some() && agreed);
        if agreed != expected {
            wrong.push(format!("{test}\n    ours   {our:?}\n    theirs {their:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", sources.shown(), wrong.join("\n"));
    println!("  {} tests, {} passed, {} failed, all as forge says", ours.len(), told.passed, told.failed);
    Some(told)
}

/// Where a contract cannot be set up forge says so once, and we say it of each of its tests.
fn spread(theirs: &mut Verdicts, ours: &Verdicts) {
    let is_set_up = |name: &String, _: &mut Verdict| name.ends_with(":setUp()");
    let failed: Vec<(String, Verdict)> = theirs.extract_if(.., is_set_up).collect();
    for (name, verdict) in failed {
        let contract = name.trim_end_matches("setUp()");
        let tests = ours.keys().filter(|test| test.starts_with(contract));
        theirs.extend(tests.map(|test| (test.clone(), verdict.clone())));
    }
}

/// The tests on which the two are known not to agree, one per line, reasons behind a `#`.
fn known() -> BTreeSet<String> {
    let text = fs::read_to_string(here().join("disagreements.txt")).unwrap();
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// The files of a group, broken in one place where there is a seed.
struct Sources {
    files: BTreeMap<String, String>,
    mutation: Option<Mutation>,
}

impl Sources {
    fn read(shop: &Workshop, group: &Group, seed: Option<u64>) -> Self {
        let package = shop.suites();
        let mut files = BTreeMap::new();
        let mut folders = vec![package.join("src/v0.8").join(group.folder)];
        while let Some(folder) = folders.pop() {
            for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "sol") {
                    let name = path.strip_prefix(&package).unwrap().to_string_lossy().into_owned();
                    files.insert(name, fs::read_to_string(&path).unwrap());
                }
            }
        }
        let mutation = seed.map(|seed| mutation::choose(&files, seed));
        if let Some(mutation) = &mutation {
            mutation.apply(&mut files);
        }
        Self { files, mutation }
    }

    fn shown(&self) -> String {
        self.mutation.as_ref().map_or("as published".into(), Mutation::shown)
    }
}

fn ours(shop: &Workshop, group: &Group, sources: &Sources) -> Option<Verdicts> {
    let data = shop.data();
    let config = data.path().join("config.json");
    // No forge: this is about our own verdicts.
    write(
        &config,
        &json!({
            "solc": shop.compiler(group.solc), "libraries": [shop.suites()], "forge": "/no/such/program",
            "compile_seconds": 1_800,
        })
        .to_string(),
    );
    let request = json!({
        "sources": sources.files, "remappings": REMAPPINGS, "evm_version": "paris", "optimize": false, "block_number": BLOCK.0,
        "block_timestamp": BLOCK.1,
    });
    let mut command = Command::new(env!("CARGO_BIN_EXE_tachyon"));
    command.arg("--data").arg(data.path()).arg("--config").arg(&config).args(["run", "test", "-"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), request.to_string().as_bytes()).unwrap();
    let told: Value = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
    if told["error"]["code"] == "COMPILER_SOLC_FAILED" {
        return None;
    }
    let mut verdicts = Verdicts::new();
    for suite in told["data"]["suites"].as_array().unwrap_or_else(|| panic!("{told:#}")) {
        for case in suite["cases"].as_array().unwrap() {
            let name =
                format!("{}:{}:{}", text(&suite["file"]), text(&suite["contract"]), text(&case["name"]));
            let gas = case["runs"].is_null().then(|| case["gas"].as_u64().unwrap());
            let verdict = Verdict { status: text(&case["status"]), gas, reason: text(&case["reason"]) };
            verdicts.insert(name, verdict.settled());
        }
    }
    Some(verdicts)
}

fn forge(shop: &Workshop, group: &Group, sources: &Sources) -> Option<Verdicts> {
    let project = Project::open(shop, group);
    project.fill(&sources.files);
    let mut command = Command::new(shop.program("forge"));
    command.args(["test", "--json"]).current_dir(&project.root).env("FOUNDRY_DISABLE_NIGHTLY_WARNING", "1");
    let output = command.output().unwrap();
    let Ok(told) = serde_json::from_slice::<Value>(&output.stdout) else {
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("Compiler run failed"), "{said}");
        return None;
    };
    let mut verdicts = Verdicts::new();
    for (suite, told) in told.as_object().unwrap() {
        for (test, told) in told["test_results"].as_object().unwrap() {
            let status = match text(&told["status"]).as_str() {
                "Success" => "passed",
                "Failure" => "failed",
                _ => "skipped",
            };
            let gas = told["kind"]["Unit"]["gas"].as_u64();
            let verdict = Verdict { status: status.into(), gas, reason: text(&told["reason"]) };
            verdicts.insert(format!("{suite}:{test}"), verdict.settled());
        }
    }
    Some(verdicts)
}

impl Verdict {
    /// Gas tells nothing where a test did not come to its end.
    fn settled(mut self) -> Self {
        self.gas = self.gas.filter(|_| self.status == "passed");
        self
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// A folder for forge, kept from run to run so that what did not change is not compiled again.
struct Project {
    root: PathBuf,
    /// No other test works in it meanwhile.
    _turn: fs::File,
}

impl Project {
    fn open(shop: &Workshop, group: &Group) -> Self {
        let root = shop.folder().join("forge").join(group.folder.replace('/', "-"));
        fs::create_dir_all(&root).unwrap();
        let turn = fs::File::create(root.join("lock")).unwrap();
        turn.lock().unwrap();
        for name in ["node_modules", "src"] {
            copy(&shop.suites().join(name), &root.join(name));
        }
        let folder = group.folder;
        let remappings: Vec<String> = REMAPPINGS.iter().map(|one| format!("'{one}'")).collect();
        write(
            &root.join("foundry.toml"),
            &format!(
                "[profile.default]\nsrc = 'src/v0.8/{folder}'\ntest = 'src/v0.8/{folder}'\nlibs = []\nsolc = '{}'\noffline = true\n\
             optimizer = false\nevm_version = 'paris'\nauto_detect_remappings = false\n\
             remappings = [{}]\nblock_number = {}\nblock_timestamp = {}\n[lint]\nlint_on_build = false\n",
                shop.compiler_program(group.solc).display(),
                remappings.join(", "),
                BLOCK.0,
                BLOCK.1,
            ),
        );
        Self { root, _turn: turn }
    }

    fn fill(&self, files: &BTreeMap<String, String>) {
        for (name, text) in files {
            put(&self.root.join(name), text.as_bytes());
        }
    }
}

/// Copies what is not there yet, or is not the same.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => put(&target, &fs::read(entry.path()).unwrap()),
        }
    }
}

fn put(path: &Path, bytes: &[u8]) {
    if fs::read(path).is_ok_and(|there| there == bytes) {
        return;
    }
    let mut file = fs::File::create(path).unwrap();
    std::io::Write::write_all(&mut file, bytes).unwrap();
}
