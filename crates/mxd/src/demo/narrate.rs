//! What the demo says while it goes on: one line for everything that an agent does.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use anstyle::{AnsiColor, Style};
use mxd_core::show::{AgentState, one_line};

use crate::client::Happening;
use crate::client::view::{Clarification, Event};
use crate::command::scope::Tree;
use crate::say::{self, DIM};
use crate::tree_text::readable;

/// One colour per agent.
const COLOURS: [AnsiColor; 6] = [
    AnsiColor::Cyan,
    AnsiColor::Yellow,
    AnsiColor::Green,
    AnsiColor::Magenta,
    AnsiColor::Blue,
    AnsiColor::Red,
];

/// What is not worth a line in a story.
const QUIET: &[&str] = &[
    "task_created",
    "agent_rested",
    "worktree_removed",
    "task_status_changed",
    "done_notified",
    "clarification_answered",
];
/// Tools whose calls and results say what other lines say better.
const MACHINERY: &[&str] =
    &["mcp__mxd__yield", "mcp__mxd__done", "mcp__mxd__clarify", "mcp__mxd__send_message"];
/// Tools whose results say no more than their calls.
const SAID_BY_THE_CALL: &[&str] = &["mcp__mxd__create_task", "mcp__mxd__write_file", "mcp__mxd__read_file"];

/// What somebody has to act on.
#[derive(Debug, Clone)]
pub(super) enum Heard {
    /// An agent asks.
    Question(Clarification),
    /// A good moment to die: what goes on.
    Moment(&'static str),
}

/// Listens and tells.
#[derive(Debug)]
pub(super) struct Narrator {
    silent: bool,
    begun: Instant,
    pub(super) tree: Tree,
    colours: BTreeMap<String, Style>,
    /// The last commit that was told.
    told: u64,
    answered: BTreeSet<String>,
    moments: BTreeSet<&'static str>,
    pub(super) kills: usize,
    /// How often each kind of event was told.
    pub(super) seen: BTreeMap<String, usize>,
    pub(super) conflicts: usize,
    /// Tasks that have worked in a worktree of their own.
    pub(super) workplaces: BTreeSet<String>,
}

impl Narrator {
    pub(super) fn new(begun: Instant, silent: bool) -> Self {
        Self {
            silent,
            begun,
            tree: Tree::default(),
            colours: BTreeMap::new(),
            told: 0,
            answered: BTreeSet::new(),
            moments: BTreeSet::new(),
            kills: 0,
            seen: BTreeMap::new(),
            conflicts: 0,
            workplaces: BTreeSet::new(),
        }
    }

    pub(super) fn killed(&mut self) {
        self.kills += 1;
    }

    /// Whether the root has reported the end.
    pub(super) fn is_over(&self) -> bool {
        let root = self.tree.root.as_deref().and_then(|root| self.tree.get(root));
        root.is_some_and(|root| matches!(root.status.as_deref(), Some("passed" | "failed")))
    }

    /// Whether somebody has stopped it, and nobody works any more.
    pub(super) fn is_stopped(&self) -> bool {
        let mut states =
            self.tree.tasks.iter().filter_map(|task| task.agent.as_ref()).map(|agent| agent.state);
        let is_stopped = states.clone().any(|state| state == AgentState::Stopped);
        is_stopped && !states.any(AgentState::is_active)
    }

    /// Takes in what happened, tells it, and says what has to be acted on.
    pub(super) fn hear(&mut self, happening: &Happening) -> Vec<Heard> {
        let mut heard = Vec::new();
        match happening {
            Happening::Snapshot(snapshot) => {
                self.tree = Tree { tasks: snapshot.tasks.clone(), root: snapshot.root_id.clone() };
                heard.extend(self.questions(&snapshot.needs.clarifications));
            }
            Happening::Commit(commit) => {
                self.tree.update(&commit.tasks, &commit.removed);
                let told = self.told;
                for event in commit.events.iter().filter(|event| event.seq > told) {
                    self.tell(event);
                    heard.extend(self.moment(event));
                }
                self.told = commit.events.last().map_or(self.told, |event| event.seq.max(self.told));
                if let Some(needs) = &commit.needs {
                    heard.extend(self.questions(&needs.clarifications));
                }
            }
            Happening::Delta(_) | Happening::Heartbeat => {}
        }
        heard
    }

    fn questions(&mut self, open: &[Clarification]) -> Vec<Heard> {
        let fresh = open.iter().filter(|question| self.answered.insert(question.clarification_id.clone()));
        fresh.cloned().map(Heard::Question).collect()
    }

    /// The moments at which the daemon is killed: while agents start, while one asks, while a conflict is resolved.
    fn moment(&mut self, event: &Event) -> Option<Heard> {
        let count = |kind: &str| self.seen.get(kind).copied().unwrap_or(0);
        let what = match event.kind.as_str() {
            "worktree_created" if count("worktree_created") == 3 => "while its agents start to work",
            "clarification_requested" => "while a question is open",
            "tool_result" if self.conflicts == 1 => "while a conflict is being resolved",
            _ => return None,
        };
        self.moments.insert(what).then_some(Heard::Moment(what))
    }

    fn tell(&mut self, event: &Event) {
        *self.seen.entry(event.kind.clone()).or_default() += 1;
        if event.kind == "worktree_created" {
            self.workplaces.insert(event.task.clone());
        }
        let is_conflict = event.kind == "tool_result"
            && event.rest.get("tool").and_then(|tool| tool.as_str()) == Some("mcp__mxd__merge_task")
            && event.rest.get("isError").and_then(serde_json::Value::as_bool) == Some(true);
        self.conflicts += usize::from(is_conflict);
        let Some(line) = &event.line else { return };
        if self.silent || is_quiet(event) {
            return;
        }
        let line = readable(&self.tree, line);
        let title = self.tree.get(&event.task).map_or("", |task| task.title.as_str()).to_owned();
        let next = Style::new().fg_color(Some(COLOURS[self.colours.len() % COLOURS.len()].into()));
        let style = *self.colours.entry(event.task.clone()).or_insert(next);
        let seconds = self.begun.elapsed().as_secs_f32();
        let room = say::width().saturating_sub(40).max(30);
        let (title, line) = (one_line(&title, 26), one_line(&line, room));
        say::line(format!("{DIM}{seconds:>6.1}s{DIM:#}  {style}{title:<26}{style:#}  {line}"));
    }
}

/// Whether an event is part of the machinery and not of the story.
fn is_quiet(event: &Event) -> bool {
    let tool = event.rest.get("tool").and_then(|tool| tool.as_str()).unwrap_or_default();
    let failed = event.rest.get("isError").and_then(serde_json::Value::as_bool) == Some(true);
    let said = event.kind == "tool_result" && SAID_BY_THE_CALL.contains(&tool);
    let machinery = QUIET.contains(&event.kind.as_str()) || MACHINERY.contains(&tool) || said;
    machinery && !failed
}
