//! What a run came to, in words that do not depend on ids, times and folders: the tree, the branches, what every agent
//! did and read, and which traces it left outside.

use std::collections::BTreeMap;
use std::path::Path;

use mxd_core::event::body::ToolCallId;
use mxd_core::event::{Event, EventBody, split_events};
use mxd_core::id::TaskId;
use mxd_core::state::State;
use mxd_core::time::Millis;
use mxd_store::disk::OsDisk;
use mxd_store::{Log, Options, verify};
use regex::Regex;

use crate::ground::repository::git;
use crate::tale::{TRACES, UNKNOWN};

/// A call of a tool and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Deed {
    /// The tool and its arguments.
    pub(crate) call: String,
    /// The result; none when an earlier call of the same had an unknown outcome, which changes what this one finds.
    pub(crate) result: Option<String>,
}

/// What one agent did and was told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Life {
    /// Its calls in order, without those of unknown outcome and with a row of waits as one.
    pub(crate) deeds: Vec<Deed>,
    /// The messages it got, sorted: tasks that work at the same time report in any order.
    pub(crate) messages: Vec<String>,
}

/// What a run came to.
#[derive(Debug)]
pub(crate) struct Story {
    /// Title, title of the task above, status.
    pub(crate) tree: Vec<String>,
    /// The files of every branch, by title; those of the base branch under `main`.
    pub(crate) files: BTreeMap<String, String>,
    pub(crate) lives: BTreeMap<String, Life>,
    /// How often each line should be outside, at least and at most: a call of unknown outcome may have come to it.
    pub(crate) owed_traces: BTreeMap<String, (usize, usize)>,
    /// How often it is.
    pub(crate) traces: BTreeMap<String, usize>,
    /// Calls of unknown outcome.
    pub(crate) unknown: usize,
}

impl Story {
    /// Reads what is on this ground after the program has ended.
    pub(crate) fn of(ground: &Path) -> Self {
        let folder = ground.join("data/project/log");
        assert_eq!(verify(&OsDisk, &folder).unwrap().problems, [], "the log is sound");
        let events = events(&folder);
        let mut state = State::default();
        events.iter().for_each(|event| state.apply(event, Millis(0)));
        let title = |task: TaskId| state.tree().get(task).map_or("?", |node| node.title.as_str()).to_owned();
        let tell = |node: &mxd_core::tree::Node| {
            let above = state.tree().task_above(node.id).map_or("nobody", |above| &above.title);
            format!("{} below {above}: {:?}", node.title, node.status())
        };
        let mut tree: Vec<String> = state.tree().nodes().values().map(tell).collect();
        tree.sort();
        let mut story = Self {
            tree,
            files: files(ground, &state),
            lives: BTreeMap::new(),
            owed_traces: BTreeMap::new(),
            traces: BTreeMap::new(),
            unknown: 0,
        };
        let plain = Plain::of(ground);
        for node in state.tree().nodes().values() {
            let own: Vec<&Event> = events.iter().filter(|event| event.task == node.id).collect();
            let life = story.life(&own, &plain);
            story.lives.insert(title(node.id), life);
        }
        let traces = std::fs::read_to_string(ground.join(TRACES)).unwrap();
        for line in traces.lines() {
            *story.traces.entry(line.to_owned()).or_default() += 1;
        }
        story
    }

    fn life(&mut self, events: &[&Event], plain: &Plain) -> Life {
        let mut life = Life::default();
        let mut open: BTreeMap<&ToolCallId, String> = BTreeMap::new();
        let mut doubtful = None;
        for event in events {
            match &event.body {
                EventBody::ToolCall(call) => {
                    let text = format!("{} {}", call.tool, plain.text(call.input.get()));
                    open.insert(&call.tool_call_id, text);
                }
                EventBody::ToolResult(result) => {
                    let call = open.remove(&result.tool_call_id).expect("a result has its call");
                    let known = !result.content.contains(UNKNOWN);
                    self.note_trace(&call, known);
                    let waits = call.starts_with("mcp__mxd__yield");
                    if !known {
                        let by_daemon = call.starts_with("mcp__mxd__merge_task");
                        assert!(!by_daemon, "what the daemon does itself is found out: {call}");
                        self.unknown += 1;
                        doubtful = Some(call);
                    } else if !(waits && life.deeds.last().is_some_and(|deed| deed.call == call)) {
                        let same = waits || doubtful.as_ref() == Some(&call);
                        let result = (!same).then(|| plain.text(&result.content));
                        life.deeds.push(Deed { call, result });
                    }
                }
                EventBody::Message(posted) => {
                    life.messages.push(plain.text(&serde_json::to_string(&posted.body).unwrap()));
                }
                _ => {}
            }
        }
        life.messages.sort();
        life
    }

    /// A command that appends to the file outside owes a line.
    fn note_trace(&mut self, call: &str, known: bool) {
        let Some((_, rest)) = call.split_once("\"command\":\"echo ") else { return };
        let line = rest.split(" >> ").next().unwrap().to_owned();
        let (least, most) = self.owed_traces.entry(line).or_default();
        *least += usize::from(known);
        *most += 1;
    }
}

/// Everything that the log in a folder has.
pub(crate) fn events(folder: &Path) -> Vec<Event> {
    let log = Log::open(folder, Options::default(), &mut ()).unwrap();
    let commits = log.read(0, 1_000_000).unwrap();
    let decode = |text: &str| Event::decode(text).unwrap();
    commits
        .iter()
        .flat_map(|commit| split_events(&commit.events).unwrap().into_iter().map(decode).collect::<Vec<_>>())
        .collect()
}

fn files(ground: &Path, state: &State) -> BTreeMap<String, String> {
    let repo = ground.join("repo");
    let tree = |branch: &str| git(&repo, &["rev-parse", &format!("{branch}^{{tree}}")]);
    let mut files = BTreeMap::from([("main".to_owned(), tree("main"))]);
    for node in state.tree().nodes().values() {
        if let Some(branch) = node.task().and_then(|task| task.branch.as_deref()) {
            files.insert(node.title.clone(), tree(branch));
        }
    }
    assert_eq!(git(&repo, &["status", "--porcelain"]), "", "the user's checkout follows");
    files
}

/// Texts without what differs from run to run.
struct Plain {
    ground: String,
    ids: Regex,
    hashes: Regex,
}

impl Plain {
    fn of(ground: &Path) -> Self {
        Self {
            ground: ground.display().to_string(),
            ids: Regex::new("[0-9A-HJKMNP-TV-Z]{26}").unwrap(),
            hashes: Regex::new("[0-9a-f]{40}").unwrap(),
        }
    }

    fn text(&self, text: &str) -> String {
        let text = text.replace(&self.ground, "(ground)");
        let text = self.ids.replace_all(&text, "(id)");
        self.hashes.replace_all(&text, "(hash)").into_owned()
    }
}
