//! A repository, a project and a model to play a story with.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use mxd_core::decide::{Actor, NewRoot, Op, Post};
use mxd_core::event::body::RestReason;
use mxd_core::event::{Event, split_events};
use mxd_core::id::{Fresh, ProjectId, TaskId, Ulid};
use mxd_core::state::State;
use mxd_core::tree::Status;
use mxd_engine::agents::{Neighbours, Surroundings};
use mxd_engine::config::{Config, Places};
use mxd_engine::git::{Git, Lanes, Repository};
use mxd_engine::project::{Opening, Project};
use mxd_tools::plane::{Plane, Registry};
use mxd_tools::sandbox::{Launcher, Mode, Sandbox, User};
use rehearse::{Rehearsal, Script, Wire};
use secrecy::SecretString;
use serde_json::{Value, json};
use tempfile::TempDir;

/// How long anything may take before the story counts as stuck.
const PATIENCE: Duration = Duration::from_secs(30);

/// Everything a story needs.
pub(crate) struct Stage {
    pub(crate) ground: TempDir,
    pub(crate) model: Rehearsal,
    project: Option<Project>,
}

impl Stage {
    /// Sets up a repository with one commit, a project on it and a model that follows the script.
    pub(crate) async fn set(conversations: Value) -> Self {
        Self::set_with(conversations, json!({})).await
    }

    pub(crate) async fn set_with(conversations: Value, settings: Value) -> Self {
        Self::furnished(conversations, |_| settings).await
    }

    /// The same with more on the ground: what is put there says the settings.
    pub(crate) async fn furnished(conversations: Value, furnish: impl FnOnce(&Path) -> Value) -> Self {
        let ground = TempDir::new().unwrap();
        make_repository(&ground.path().join("repo"));
        let settings = furnish(ground.path());
        let script = json!({ "conversations": conversations }).to_string();
        let script = Script::parse("story.json", &script).unwrap_or_else(|error| panic!("{error}"));
        let model = Rehearsal::start(script).unwrap();
        write_settings(ground.path(), &model.base_url(Wire::Anthropic), settings);
        let project = open(ground.path()).await;
        let stage = Self { ground, model, project: Some(project) };
        if stage.project().look(|state| state.tree().root().is_none()) {
            let root = NewRoot {
                title: "Root".into(),
                description: "The project.".into(),
                branch: Some("main".into()),
            };
            stage.project().wish(Actor::User, Op::CreateRoot(root)).await.unwrap();
        }
        stage
    }

    pub(crate) fn project(&self) -> &Project {
        self.project.as_ref().unwrap()
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.ground.path().join("repo")
    }

    pub(crate) fn root(&self) -> TaskId {
        self.project().look(|state| state.tree().root().unwrap().id)
    }

    /// The task with this title.
    pub(crate) fn task(&self, title: &str) -> TaskId {
        self.project().look(|state| {
            let node = state.tree().nodes().values().find(|node| node.title == title);
            node.unwrap_or_else(|| panic!("no task {title}")).id
        })
    }

    pub(crate) async fn say(&self, to: TaskId, words: &str) {
        let id = Fresh::from_seed(Ulid::from_parts(1, u128::from(fastrand::u64(..)))).issue();
        self.project().wish(Actor::User, Op::SendMessage { id, to, post: Post::text(words) }).await.unwrap();
    }

    /// Waits until the state is as wanted; looks whenever something has become durable.
    pub(crate) async fn until(&self, what: &str, wanted: impl Fn(&State) -> bool) {
        let mut moved = self.project().through();
        let waiting = async {
            while !self.project().look(&wanted) {
                moved.changed().await.unwrap();
            }
        };
        if tokio::time::timeout(PATIENCE, waiting).await.is_err() {
            panic!("{what} did not happen:\n{}\n{:?}", self.story(), self.model.report());
        }
    }

    pub(crate) async fn until_status(&self, task: TaskId, status: Status) {
        self.until(&format!("{status}"), |state| {
            state.tree().get(task).and_then(|node| node.status()) == Some(status)
        })
        .await;
    }

    /// Waits until the agent rests for this reason.
    pub(crate) async fn until_rest(&self, task: TaskId, why: &RestReason) {
        self.until(&format!("a rest: {why:?}"), |state| {
            let session = state.session(task);
            session.rest() == Some(why) && !session.is_busy() && !state.inbox(task).wants_agent()
        })
        .await;
    }

    /// Ends the program and starts it again. What runs is not waited for.
    pub(crate) async fn restart(&mut self) {
        // The log has one owner at a time: the old one has to be gone.
        if let Some(old) = self.project.take() {
            old.close().await;
        }
        self.project = Some(open(self.ground.path()).await);
    }

    /// Ends the story: the model was asked everything that was expected, and nothing else.
    pub(crate) async fn end(self) {
        self.project().close().await;
        self.model.finish().unwrap_or_else(|report| panic!("{report}"));
    }

    /// All events so far.
    pub(crate) fn events(&self) -> Vec<Event> {
        let mut events = Vec::new();
        let mut after = 0;
        loop {
            let commits = self.project().log().read(after, 1_000).unwrap();
            let Some(last) = commits.last() else { return events };
            after = last.seq;
            for commit in &commits {
                let texts = split_events(&commit.events).unwrap();
                events.extend(texts.iter().map(|text| Event::decode(text).unwrap()));
            }
        }
    }

    /// The log as short lines, for people who look for what went wrong.
    pub(crate) fn story(&self) -> String {
        let line = |event: &Event| {
            let text = event.to_json().unwrap();
            let shown: String = text.chars().skip(43).take(220).collect();
            format!("{} {shown}", &event.task.to_string()[20..])
        };
        self.events().iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

pub(crate) async fn open(ground: &Path) -> Project {
    let (data, repo) = (ground.join("data"), ground.join("repo"));
    let places = Places { data: data.clone(), repository: Some(repo.clone()), project: None };
    let config = Config::load(&places).unwrap_or_else(|problems| panic!("{problems}"));
    let repository = Repository::open(Git::from_environment(), &Lanes::new(), &repo).await.unwrap();
    let launcher = Launcher { program: env!("CARGO_BIN_EXE_mxd-headless").into(), args: Vec::new() };
    let sandbox = Sandbox::probe(launcher, Mode::On).await.unwrap();
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let user = User {
        name: variable("USER"),
        home: variable("HOME").into(),
        path: variable("PATH"),
        variables: std::env::vars().chain([packages(ground)]).collect(),
        committer: Some(("Agent".into(), "agent@example.org".into())),
    };
    let plane = Plane::new(Registry::built_in().unwrap());
    let neighbours = Neighbours::default();
    let surroundings = Surroundings { config, repository, plane, sandbox, user, lookup, neighbours };
    let id = ProjectId::from(Ulid::from_parts(1, 1));
    let opening = Opening { id, data: data.join("project"), surroundings };
    Project::open(opening).await.unwrap()
}

fn lookup(name: &str) -> Option<SecretString> {
    (name == "STAGE_KEY").then(|| SecretString::from("a key of the stage"))
}

/// Verified packages are kept on the ground, too.
fn packages(ground: &Path) -> (String, String) {
    ("MXD_PACKAGES".to_owned(), ground.join("packages").display().to_string())
}

fn make_repository(folder: &Path) {
    std::fs::create_dir_all(folder.join(".mxd/hooks")).unwrap();
    write(folder.join("README.md"), "A small program.\n");
    write(folder.join(".mxd/hooks/setup_worktree.sh"), "#!/bin/bash\ntrue\n");
    write(folder.join(".gitignore"), ".worktrees\n");
    git(folder, &["init", "-q", "-b", "main"]);
    git(folder, &["add", "-A"]);
    git(folder, &["commit", "-q", "-m", "first"]);
}

fn write_settings(ground: &Path, url: &str, more: Value) {
    let mut settings = json!({
        "authGroups": { "main": { "provider": "anthropic", "anthropicBaseUrl": url, "anthropicApiKey": "$env:STAGE_KEY" } },
        "defaultAuth": "main",
    });
    for (name, value) in more.as_object().unwrap() {
        settings[name] = value.clone();
    }
    std::fs::create_dir_all(ground.join("data")).unwrap();
    write(ground.join("data/config.json"), &settings.to_string());
}

/// A file as a user makes it.
#[expect(clippy::disallowed_methods, reason = "nothing of a test has to outlive a power cut")]
pub(crate) fn write(path: PathBuf, text: &str) {
    std::fs::write(path, text).unwrap();
}

/// Git as a user has it.
pub(crate) fn git(folder: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=User", "-c", "user.email=user@example.org"])
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A turn that calls tools.
pub(crate) fn calls(calls: &[(&str, Value)]) -> Value {
    let blocks: Vec<Value> = calls
        .iter()
        .map(|(name, input)| json!({ "tool_call": { "name": format!("mcp__mxd__{name}"), "input": input } }))
        .collect();
    json!({ "reply": { "blocks": blocks } })
}

/// A turn that only speaks.
pub(crate) fn speaks(words: &str) -> Value {
    json!({ "reply": { "blocks": [{ "text": words }] } })
}

/// The same turn with what its request must say.
pub(crate) fn expecting(mut turn: Value, expect: Value) -> Value {
    turn["expect"] = expect;
    turn
}

/// The same turn, which takes something from its request.
pub(crate) fn capturing(mut turn: Value, pattern: &str) -> Value {
    turn["capture"] = json!([pattern]);
    turn
}

/// The same turn, which says half of it and then waits at a gate.
pub(crate) fn gated(mut turn: Value, gate: &str) -> Value {
    turn["gate"] = json!({ "name": gate, "after_chunks": 3 });
    turn
}

/// A conversation that begins with these words.
pub(crate) fn conversation(first: &str, turns: Vec<Value>) -> Value {
    json!({ "first_message": { "contains": first }, "turns": turns })
}
