//! A repository, a project and a model to play a story with.

use std::path::{Path, PathBuf};
use std::time::Duration;

use mxd_core::decide::{Actor, Op, Post};
use mxd_core::event::body::RestReason;
use mxd_core::event::{Event, split_events};
use mxd_core::id::{Fresh, ProjectId, TaskId, Ulid};
use mxd_core::state::State;
use mxd_core::tree::Status;
use mxd_engine::agents::Neighbours;
use mxd_engine::git::{Git, Inspector, Lanes, Repository};
use mxd_engine::project::Project;
use mxd_tools::tether::{Earlier, Tether};
use rehearse::{Options, Rehearsal, Script, Wire};
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) use crate::ground::repository::{git, write};
use crate::ground::repository::{make_repository, write_settings};
use crate::ground::{create_root, open, open_beside, opening};

/// How long anything may take before the story counts as stuck.
const PATIENCE: Duration = Duration::from_secs(120);

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
        let (ground, model) = Self::ground(conversations, furnish);
        let project = open(ground.path()).await;
        create_root(&project).await;
        Self { ground, model, project: Some(project) }
    }

    /// The same for one of several projects.
    pub(crate) async fn set_beside(conversations: Value, beside: (ProjectId, Neighbours)) -> Self {
        let (ground, model) = Self::ground(conversations, |_| json!({}));
        let project = open_beside(ground.path(), beside).await;
        create_root(&project).await;
        Self { ground, model, project: Some(project) }
    }

    fn ground(conversations: Value, furnish: impl FnOnce(&Path) -> Value) -> (TempDir, Rehearsal) {
        let ground = TempDir::new().unwrap();
        make_repository(&ground.path().join("repo"));
        let settings = furnish(ground.path());
        let script = json!({ "conversations": conversations }).to_string();
        let script = Script::parse("story.json", &script).unwrap_or_else(|error| panic!("{error}"));
        let options = Options { keep_bodies: true, ..Options::default() };
        let model = Rehearsal::start_with(script, options).unwrap();
        write_settings(ground.path(), &model.base_url(Wire::Anthropic), settings);
        (ground, model)
    }

    pub(crate) fn project(&self) -> &Project {
        self.project.as_ref().unwrap()
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.ground.path().join("repo")
    }

    /// Where the root reads.
    pub(crate) fn view(&self) -> PathBuf {
        self.ground.path().join("data/project/view")
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
        self.restart_after(|_| {}).await;
    }

    /// Ends the program and starts it again with another git.
    pub(crate) async fn restart_with_git(&mut self, git: impl FnOnce(Git) -> Git) {
        if let Some(old) = self.project.take() {
            old.close().await;
        }
        let ground = self.ground.path();
        let (tether, earlier) = Tether::take(&ground.join("data/living"), PATIENCE).unwrap();
        assert_eq!(earlier, Earlier::Gone, "what a killed program had started ends by itself");
        let beside = (ProjectId::from(Ulid::from_parts(1, 1)), Neighbours::default());
        let mut opening = opening(ground, beside, tether.clone()).await;
        let git = git(Git::from_environment().tied_by(tether));
        let repository = Repository::open(git, &Lanes::new(), &self.repo()).await.unwrap();
        let inspector = Inspector::new(opening.surroundings.sandbox.clone());
        opening.surroundings.repository = repository.inspected_by(inspector);
        self.project = Some(Project::open(opening).await.unwrap());
    }

    /// Ends the program, has something happen to the ground, and starts it again.
    pub(crate) async fn restart_after(&mut self, happens: impl FnOnce(&Path) + Send + 'static) {
        // The log has one owner at a time: the old one has to be gone.
        if let Some(old) = self.project.take() {
            old.close().await;
        }
        let ground = self.ground.path().to_owned();
        tokio::task::spawn_blocking(move || happens(&ground)).await.unwrap();
        self.project = Some(open(self.ground.path()).await);
    }

    /// Has the program die right after the last commit with such an event, and starts it again: what came later has
    /// never been written.
    pub(crate) async fn die_after(&mut self, last: impl Fn(&Event) -> bool) {
        let mut kept = 0;
        for commit in self.project().log().read(0, 100_000).unwrap() {
            let texts = split_events(&commit.events).unwrap();
            if texts.iter().any(|text| last(&Event::decode(text).unwrap())) {
                kept = commit.seq;
            }
        }
        let is_kept = |line: &&str| {
            let line: Value = serde_json::from_str(line).unwrap();
            line["seq"].as_u64().is_none_or(|seq| seq <= kept)
        };
        let cut = |text: &str| text.lines().filter(is_kept).flat_map(|line| [line, "\n"]).collect();
        self.restart_with(cut).await;
    }

    /// Ends the program, changes what it wrote, and starts it again.
    pub(crate) async fn restart_with(&mut self, change: impl FnOnce(&str) -> String) {
        let old = self.project.take().unwrap();
        old.close().await;
        drop(old);
        let segment = self.ground.path().join("data/project/log/log/000001.jsonl");
        let text = std::fs::read_to_string(&segment).unwrap();
        write(segment, &change(&text));
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

/// Does what waits for the disk on a thread that may wait.
pub(crate) fn apart<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| scope.spawn(work).join().unwrap())
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

/// The same turn, whose request may differ from the ones before.
pub(crate) fn breaking(mut turn: Value) -> Value {
    turn["breaks_prefix"] = json!(true);
    turn
}

/// A conversation that begins with these words.
pub(crate) fn conversation(first: &str, turns: Vec<Value>) -> Value {
    json!({ "first_message": { "contains": first }, "turns": turns })
}
