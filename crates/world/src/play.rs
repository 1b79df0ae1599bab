//! Plays the story in one scene, from an empty home folder to a look at what became of the repository.

use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::judge::{self, Before};
use crate::scene::{Outcome, Scene};
use crate::shell::{Shell, fetch};
use crate::story::PROJECT;
use crate::user::User;

/// Seconds that a story may take, with the tests of the project in it six times.
const STORY_SECONDS: &str = "1500";
/// Lines of the log that are shown when a story failed.
const LOG_LINES: &str = "60";

/// The program that is tried, and where.
#[derive(Debug, Clone)]
pub struct Program {
    /// `mxd`.
    pub mxd: PathBuf,
    /// A folder for the homes of users.
    pub ground: PathBuf,
    /// A folder for what is fetched, which is kept.
    pub packages: PathBuf,
    /// Where programs are found. Those of the machine without it.
    pub path: Option<OsString>,
}

/// Plays a scene. The second text is for whoever looks for the cause of a failure.
///
/// # Errors
///
/// When the home folder cannot be made or removed, or the daemon does not start.
pub fn play(program: &Program, scene: &Scene) -> Result<(Outcome, String), String> {
    let home = TempDir::new_in(&program.ground).map_err(|error| format!("a home folder: {error}"))?;
    let real = fs::canonicalize(home.path()).map_err(|error| format!("a home folder: {error}"))?;
    let path = program.path.clone().or_else(|| std::env::var_os("PATH")).unwrap_or_default();
    let package = program.packages.join(scene.id);
    if let Err(why) = fetch(&package, scene.fetch) {
        return Ok((Outcome::NotMade { why: one_line(&why) }, String::new()));
    }
    let shell = Shell { repository: real.join(PROJECT), home: real, path, package };
    let outcome = play_in(program, &shell, scene);
    // Some scenes leave folders that cannot be written to.
    let _writable = shell.run(&shell.home, "chmod -R u+rwX . || true");
    home.close().map_err(|error| format!("the home folder cannot be removed: {error}"))?;
    outcome
}

fn play_in(program: &Program, shell: &Shell, scene: &Scene) -> Result<(Outcome, String), String> {
    // A script that goes wrong, or `mxd init` in a folder without a repository, would change the one around it.
    if shell.run(&shell.home, "git rev-parse --git-dir").succeeded {
        return Err(format!(
            "{} is inside of a repository; scenes need a folder that is not",
            shell.home.display()
        ));
    }
    let made = shell.run(&shell.home, scene.prepare);
    if !made.succeeded {
        return Ok((Outcome::NotMade { why: one_line(&made.text) }, String::new()));
    }
    let home = shell.home.display().to_string();
    let user = User::start(&program.mxd, shell, scene)?;
    let before = Before::of(shell, scene);
    if let Some(said) = init(&user, shell, scene)? {
        return Ok((Outcome::RefusedAtInit { said: said.replace(&home, "~") }, String::new()));
    }
    let failed = story(&user, shell, scene).err().or_else(|| judge::problem(&user, shell, (scene, &before)));
    Ok(match failed {
        None => (Outcome::Worked, String::new()),
        Some(what) => {
            let evidence = evidence(&user, &what);
            let what = one_line(&first_failure(&evidence).unwrap_or(what)).replace(&home, "~");
            (Outcome::FailedLater { what }, evidence)
        }
    })
}

/// `mxd init`. What it says when the project cannot be used, which is also so when it names something that is missing.
fn init(user: &User<'_>, shell: &Shell, scene: &Scene) -> Result<Option<String>, String> {
    let set_up = if scene.set_up == "nothing" {
        "nothing".to_owned()
    } else {
        let path = shell.home.join("set-up.sh");
        write(&path, scene.set_up)?;
        path.display().to_string()
    };
    let flags = ["init", "--no-questions", "--name", PROJECT, "--hook", &set_up, "--check", scene.test];
    let said = user.mxd(&flags);
    if !said.succeeded {
        return Ok(Some(refusal(&said.text)));
    }
    if !said.text.contains(scene.told) {
        return Err(format!("mxd init does not say “{}”: {}", scene.told, said.text));
    }
    let overview = user.mxd(&["--json"]);
    let overview: Value = serde_json::from_str(&overview.text)
        .map_err(|error| format!("mxd --json: {error}: {}", overview.text))?;
    let items = overview["readiness"]["items"].as_array().cloned().unwrap_or_default();
    let missing = items.iter().find(|item| item["state"] == "missing");
    let words = |item: &Value, name: &str| item[name].as_str().unwrap_or_default().to_owned();
    Ok(missing.map(|item| format!("{}. {}", words(item, "says"), words(item, "nextStep"))))
}

/// The error and the hint, which are the last that is said.
fn refusal(text: &str) -> String {
    let begin = text.find("error:").unwrap_or_default();
    one_line(text[begin..].trim_start_matches("error:"))
}

/// From the first message to the end of all work.
fn story(user: &User<'_>, shell: &Shell, scene: &Scene) -> Result<(), String> {
    let before = shell.run(&shell.repository, scene.before);
    if !before.succeeded {
        return Err(format!("the user's own commands: {}", before.text));
    }
    for arguments in [&["send", "Please", "add", "two", "lines"][..], &["wait", "--seconds", STORY_SECONDS]] {
        let said = user.mxd(arguments);
        if !said.succeeded {
            return Err(format!("mxd {}: {}", arguments[0], said.text));
        }
    }
    Ok(())
}

/// What helps to find the cause.
fn evidence(user: &User<'_>, what: &str) -> String {
    let mut text = format!("{what}\n");
    for arguments in [&["tree"][..], &["needs"], &["logs", "--tail", LOG_LINES], &["daemon", "logs"]] {
        let said = user.mxd(arguments);
        text.push_str(&format!("$ mxd {}\n{}\n", arguments.join(" "), said.text));
    }
    text
}

/// What went wrong first, by the log: the rest follows from it. The conflict belongs to the story.
fn first_failure(evidence: &str) -> Option<String> {
    let log = evidence.split("$ mxd logs").nth(1)?;
    let failed = |line: &&str| line.contains("failed:") && !line.contains("there are conflicts");
    let (_, said) = log.lines().find(failed)?.split_once("failed:")?;
    Some(said.to_owned())
}

/// A text in one line.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let written = fs::File::create(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| format!("{}: {error}", path.display()))
}
