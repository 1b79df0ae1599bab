//! A small project, compiled and tested from nothing, with the same compiler: ours against forge.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;

use crate::others::{Others, write};
use crate::row::{Row, median};

pub(crate) fn run(others: &Others, rounds: usize) {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    std::fs::create_dir(&project).unwrap();
    for name in ["Token.sol", "Token.t.sol"] {
        std::fs::copy(contracts().join(name), project.join(name)).unwrap();
    }
    let config = folder.path().join("config.json");
    write(
        &config,
        &json!({
            "solc": others.soljson(), "libraries": others.libraries(), "project_roots": [&project],
        })
        .to_string(),
    );
    let [modules, lib] = others.libraries();
    write(
        &project.join("foundry.toml"),
        &format!(
            "[profile.default]\nsrc = '.'\ntest = '.'\nlibs = []\nout = '../out'\ncache_path = '../cache'\nsolc = '{}'\noffline = true\n\
         optimizer = true\noptimizer_runs = 200\nauto_detect_remappings = false\n\
         remappings = ['@openzeppelin/={}/@openzeppelin/', 'forge-std/={}/forge-std/']\nallow_paths = ['{}']\n\
         [lint]\nlint_on_build = false\n[invariant]\nruns = 32\ndepth = 32\n",
            others.solc().display(),
            modules.display(),
            lib.display(),
            modules.display()
        ),
    );
    let request = json!({ "project_root": &project }).to_string();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        ours.push(crate::milliseconds(|| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_tachyon"));
            command.arg("--config").arg(&config).arg("--data").arg(folder.path().join("data"));
            passes(command.args(["run", "test", &request]));
        }));
        theirs.push(crate::milliseconds(|| {
            passes(Command::new(others.program("forge")).args(["test", "--force"]).current_dir(&project));
        }));
    }
    Row {
        metric: "compile and test a small project, beside forge".into(),
        unit: "ms",
        value: median(ours),
        baseline: Some(median(theirs)),
        bar: Some("<= 1.2"),
    }
    .tell();
}

fn contracts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/contracts")
}

fn passes(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
}
