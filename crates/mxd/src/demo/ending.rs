//! The end of the demo: whether every step of the story happened, and what it came to.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use mxd_store::disk::OsDisk;
use serde_json::{Value, json};

use super::narrate::Narrator;
use super::stage::Stage;
use super::{repository, story};
use crate::client::Failure;
use crate::client::view::Project;
use crate::say::{self, BAD, DIM, GOOD};
use crate::tree_text;

/// One step of the story.
struct Step {
    what: &'static str,
    happened: bool,
}

/// What this run has to show besides the story.
#[derive(Debug, Clone, Copy)]
pub(super) struct Promises {
    /// How often the daemon is killed.
    pub(super) kills: usize,
}

/// What the run came to.
struct Sums {
    commits: usize,
    tests: usize,
    cost: f64,
    hit_rate: Option<f64>,
}

impl Sums {
    /// All of it in two lines.
    fn told(&self, narrator: &Narrator, took: Duration) -> String {
        let kills = match narrator.kills {
            0 => String::new(),
            kills => format!(" · killed {}", counted(kills, "time")),
        };
        let rate = self.hit_rate.map(|rate| format!(" · {:.0} % of the prompt from the cache", rate * 100.0));
        format!(
            "\n{} · {} · {} passed · {:.1} s{kills}\nwould have cost ${:.2}{}",
            counted(narrator.tree.tasks.len(), "task"),
            counted(self.commits, "commit"),
            counted(self.tests, "test"),
            took.as_secs_f32(),
            self.cost,
            rate.unwrap_or_default(),
        )
    }
}

/// Looks at everything again, from outside, and tells it. Says whether every step happened.
pub(super) async fn tell(
    stage: &Stage,
    project: &Project,
    narrator: &Narrator,
    promises: Promises,
    (took, as_json): (Duration, bool),
) -> Result<bool, Failure> {
    let folder = stage.repository();
    let money: Value = stage.daemon.get(&format!("/projects/{}/money", project.id)).await?;
    let (tests_pass, tests) = run_tests(&folder);
    let commits = repository::git(&folder, &["rev-list", "--count", "main"])?.parse().unwrap_or(0);
    let sums = Sums {
        commits,
        tests,
        cost: money["totalUsd"].as_f64().unwrap_or(0.0),
        hit_rate: money["cache"]["hitRate"].as_f64(),
    };
    let log = stage.data().join("projects").join(&project.id).join("log");
    let proof =
        mxd_store::verify(&OsDisk, &log).map_err(|error| Failure::new(format!("the log: {error}")))?;
    let mut steps = steps(
        narrator,
        &folder,
        Facts {
            tests_pass,
            log_whole: proof.problems.is_empty(),
            proof: proof.commits,
            hit_rate: sums.hit_rate,
        },
    )?;
    if promises.kills > 0 {
        let happened = narrator.kills == promises.kills;
        steps.push(Step { what: "the daemon was killed three times, and nothing was lost", happened });
    }
    let report = stage.model.report();
    let sound = steps.iter().all(|step| step.happened) && report.violations.is_empty();
    if as_json {
        let told: Vec<Value> =
            steps.iter().map(|step| json!({ "step": step.what, "happened": step.happened })).collect();
        say::line(
            json!({
                "ok": sound, "steps": told, "tasks": narrator.tree.tasks.len(), "commits": sums.commits,
                "tests": sums.tests, "seconds": took.as_secs_f32(), "costUsd": sums.cost,
                "cacheHitRate": sums.hit_rate, "kills": narrator.kills, "repository": folder,
            })
            .to_string(),
        );
        return Ok(sound);
    }
    say::line("");
    let width = say::width();
    tree_text::lines(&narrator.tree, true).iter().for_each(|line| say::line(line.fit(width)));
    say::line("");
    for step in &steps {
        let (style, sign) = if step.happened { (GOOD, "✓") } else { (BAD, "✗") };
        say::line(format!("{style}{sign}{style:#} {}", step.what));
    }
    if !report.violations.is_empty() {
        say::line(format!("{BAD}✗{BAD:#} the model was asked what it did not expect: {report}"));
    }
    say::line(sums.told(narrator, took));
    say::line(format!("{DIM}Look at it: git -C {} log --graph --oneline{DIM:#}", folder.display()));
    Ok(sound)
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// What was looked at outside of the daemon.
struct Facts {
    tests_pass: bool,
    log_whole: bool,
    proof: u64,
    hit_rate: Option<f64>,
}

/// The part of what models read that has to come from the cache. It cannot when requests do not begin as those before.
const LEAST_FROM_CACHE: f64 = 0.8;

fn steps(narrator: &Narrator, folder: &Path, facts: Facts) -> Result<Vec<Step>, Failure> {
    let tree = &narrator.tree;
    let passed = |title: &str| {
        tree.tasks.iter().any(|task| task.title == title && task.status.as_deref() == Some("passed"))
    };
    let depth = tree.tasks.iter().map(|task| above(narrator, task.parent_id.as_deref())).max().unwrap_or(0);
    let root_passed =
        narrator.is_over() && tree.find("root").is_ok_and(|root| root.status.as_deref() == Some("passed"));
    let seen = |kind: &str| narrator.seen.get(kind).copied().unwrap_or(0);
    let clean = repository::git(folder, &["status", "--porcelain"])?.is_empty();
    let subjects = repository::git(folder, &["log", "--format=%s", "main"])?;
    let merges: usize =
        repository::git(folder, &["rev-list", "--count", "--merges", "main"])?.parse().unwrap_or(0);
    Ok(vec![
        Step {
            what: "seven agents on three levels; those that write, each in a worktree of its own",
            happened: tree.tasks.len() >= 7 && depth == 2 && narrator.workplaces.len() >= 6,
        },
        Step { what: "a question was asked and answered", happened: seen("clarification_answered") == 1 },
        Step {
            what: "a conflict was met and resolved by its owner",
            happened: narrator.conflicts >= 1 && subjects.lines().any(|subject| subject == story::RESOLVING),
        },
        Step {
            what: "every task passed its checks on what it committed",
            happened: story::TASKS.iter().all(|title| passed(title)),
        },
        Step {
            what: "the work was merged into main, and the checkout is clean",
            happened: root_passed && merges >= 3 && clean,
        },
        Step { what: "the tests of the program pass", happened: facts.tests_pass },
        Step {
            what: "requests to the model began as those before, so that its cache could be used",
            happened: facts.hit_rate.is_some_and(|rate| rate >= LEAST_FROM_CACHE),
        },
        Step {
            what: "the log is whole, from its first commit to its last",
            happened: facts.log_whole && facts.proof > 0,
        },
    ])
}

/// How many tasks are above.
fn above(narrator: &Narrator, parent: Option<&str>) -> usize {
    let Some(task) = parent.and_then(|parent| narrator.tree.get(parent)) else { return 0 };
    1 + above(narrator, task.parent_id.as_deref())
}

/// Runs the program's own tests where the user would: in the checkout.
fn run_tests(folder: &Path) -> (bool, usize) {
    match Command::new("sh").arg("tests/run.sh").current_dir(folder).output() {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stdout);
            (output.status.success(), said.lines().filter(|line| line.starts_with("ok")).count())
        }
        Err(_) => (false, 0),
    }
}
