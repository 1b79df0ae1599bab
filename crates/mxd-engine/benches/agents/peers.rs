//! The same work done by other programs, installed for this from npm, each with a home of its own, without telemetry, and
//! with this model as its only provider. One that cannot be installed or does not run is named and left out.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::model::Model;
use crate::row::{Row, median};
use crate::turns::overheads;

/// What each of them is asked to do.
const TASK: &str = "You are agent-0000. Run the commands you are told to run.";

/// A program and how it is run.
struct Peer {
    name: &'static str,
    package: &'static str,
    program: &'static str,
    prepare: fn(&Path, &str),
    run: fn(&mut Command, &str),
}

const PEERS: &[Peer] = &[
    Peer {
        name: "codex",
        package: "@openai/codex@0.166.0",
        program: "codex",
        prepare: |home, url| {
            let config = format!(
                "model = \"m\"\nmodel_provider = \"bench\"\ncheck_for_update_on_startup = false\n\n[analytics]\nenabled = \
                 false\n\n[model_providers.bench]\nname = \"bench\"\nbase_url = \"{url}/v1\"\nenv_key = \
                 \"BENCH_KEY\"\nwire_api = \"responses\"\n"
            );
            write(&home.join("config.toml"), &config);
        },
        run: |command, _url| {
            command.args([
                "exec",
                "--skip-git-repo-check",
                "--dangerously-bypass-approvals-and-sandbox",
                TASK,
            ]);
        },
    },
    Peer {
        name: "claude-code",
        package: "@anthropic-ai/claude-code@2.1.325",
        program: "claude",
        prepare: |_home, _url| {},
        run: |command, url| {
            command.env("ANTHROPIC_BASE_URL", url).env("ANTHROPIC_API_KEY", "sk-bench");
            command.envs([
                ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
                ("DISABLE_AUTOUPDATER", "1"),
                ("DISABLE_TELEMETRY", "1"),
            ]);
            command.args(["-p", "--model", "claude-sonnet-4-6", "--allowedTools", "Bash", "--", TASK]);
        },
    },
    Peer {
        name: "pi",
        // Newer ones want a newer Node, and of some not all dependencies can be had.
        package: "@earendil-works/pi-coding-agent@0.74.0",
        program: "pi",
        prepare: |home, url| {
            let model = serde_json::json!({ "providers": { "bench": {
                "baseUrl": format!("{url}/v1"), "api": "openai-completions", "apiKey": "bench",
                "models": [{ "id": "m" }],
            } } });
            write(&home.join(".pi/agent/models.json"), &model.to_string());
        },
        run: |command, _url| {
            command.env("PI_OFFLINE", "1");
            command.args(["-p", "--offline", "--provider", "bench", "--model", "m", TASK]);
        },
    },
];

/// Measures those that run, beside what a turn of ours took in the same run.
pub(crate) fn run(turns: usize, ours: f64) {
    for peer in PEERS {
        match measure(peer, turns) {
            Ok(theirs) => {
                let metric = format!("turn of one agent, {turns} turns, against {}", peer.name);
                Row { metric, unit: "ms", value: ours, baseline: Some(theirs), bar: Some("<= 1") }.tell();
            }
            Err(why) => eprintln!("{} was not measured: {why}", peer.name),
        }
    }
}

fn measure(peer: &Peer, turns: usize) -> Result<f64, String> {
    let program = install(peer)?;
    let model = Model::start(turns);
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    (peer.prepare)(home.path(), &model.url());
    let work = home.path().join("work");
    std::fs::create_dir_all(&work).unwrap();
    let mut command = Command::new("timeout");
    command.arg("300").arg(program).current_dir(&work).stdin(Stdio::null());
    command.env("HOME", home.path()).env("CODEX_HOME", home.path()).env("BENCH_KEY", "bench");
    (peer.run)(&mut command, &model.url());
    let output = command.output().map_err(|error| error.to_string())?;
    // Some ask other things besides, which name no agent.
    let talks: Vec<_> = model.talks().into_iter().filter(|talk| talk.asked.len() > turns).collect();
    if talks.is_empty() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("it did not make {turns} turns ({}): {}", output.status, said.trim()));
    }
    Ok(median(overheads(&talks, turns)))
}

/// Installs a program below the build folder, once.
fn install(peer: &Peer) -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("agents-peers").join(peer.name);
    let program = folder.join("node_modules/.bin").join(peer.program);
    if program.exists() {
        return Ok(program);
    }
    write(&folder.join("package.json"), "{\"private\":true}\n");
    let mut npm = Command::new("npm");
    npm.args(["install", "--loglevel=error", "--no-audit", "--no-fund", "--no-package-lock", peer.package]);
    let output = npm.current_dir(&folder).output().map_err(|error| format!("npm: {error}"))?;
    match output.status.success() && program.exists() {
        true => Ok(program),
        false => Err(format!("npm: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}
