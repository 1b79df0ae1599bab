//! What `mxd watch` knows: the tree, the lines of each task, what is chosen and what is being typed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::client::Happening;
use crate::client::view::{Event, Needs, Project, Task};
use crate::command::scope::Tree;
use crate::tree_text::{self, Line};

/// Lines that are kept of each task.
const KEPT: usize = 2_000;
/// How much of what is being written is shown.
const WRITING: usize = 4_000;

/// What is on the screen.
#[derive(Debug)]
pub(super) struct Model {
    pub(super) name: String,
    pub(super) tree: Tree,
    pub(super) needs: Needs,
    /// The chosen task.
    pub(super) chosen: Option<String>,
    said: BTreeMap<String, Said>,
    collapsed: BTreeSet<String>,
    /// What is being typed, and whom for.
    pub(super) typing: Option<Typing>,
    /// How far the lines are scrolled back.
    pub(super) back: usize,
    pub(super) note: String,
}

/// What is known of what a task said.
#[derive(Debug, Default)]
struct Said {
    lines: VecDeque<(u64, String)>,
    read: bool,
    /// What the model writes right now.
    writing: String,
}

/// A line that is being typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Typing {
    pub(super) text: String,
    pub(super) what: Wanted,
}

/// What the typed line is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wanted {
    /// A message to the chosen task.
    Message,
    /// The answer to a question.
    Answer { task: String, question: String },
}

impl Model {
    pub(super) fn new(project: &Project) -> Self {
        Self {
            name: project.name.clone(),
            tree: Tree::default(),
            needs: Needs::default(),
            chosen: project.root_id.clone(),
            said: BTreeMap::new(),
            collapsed: BTreeSet::new(),
            typing: None,
            back: 0,
            note: String::new(),
        }
    }

    /// Takes in what the daemon tells.
    pub(super) fn hear(&mut self, happening: &Happening) {
        match happening {
            Happening::Snapshot(snapshot) => {
                self.tree = Tree { tasks: snapshot.tasks.clone(), root: snapshot.root_id.clone() };
                self.needs = snapshot.needs.clone();
                // What happened while nobody listened is read again.
                self.said.clear();
            }
            Happening::Commit(commit) => {
                commit.tasks.iter().for_each(|task| self.take(task));
                self.tree.tasks.retain(|task| !commit.removed.contains(&task.id));
                commit.events.iter().for_each(|event| self.add(event));
                if let Some(needs) = &commit.needs {
                    self.needs = needs.clone();
                }
            }
            Happening::Delta(delta) if delta.kind == "text_delta" => {
                let writing = &mut self.said.entry(delta.task.clone()).or_default().writing;
                writing.push_str(&delta.content);
                let over = writing.len().saturating_sub(WRITING);
                writing.drain(..writing.floor_char_boundary(over));
            }
            Happening::Delta(_) | Happening::Heartbeat => {}
        }
        if self.chosen.as_ref().is_none_or(|chosen| self.tree.get(chosen).is_none()) {
            self.chosen.clone_from(&self.tree.root);
        }
    }

    fn take(&mut self, task: &Task) {
        match self.tree.tasks.iter_mut().find(|known| known.id == task.id) {
            Some(known) => *known = task.clone(),
            None => self.tree.tasks.push(task.clone()),
        }
    }

    fn add(&mut self, event: &Event) {
        let said = self.said.entry(event.task.clone()).or_default();
        // The finished item repairs whatever was lost of it while it was written.
        if event.kind == "assistant_text" || event.kind == "turn_ended" {
            said.writing.clear();
        }
        if let Some(line) = &event.line {
            said.lines.push_back((event.seq, line.clone()));
            if said.lines.len() > KEPT {
                said.lines.pop_front();
            }
        }
    }

    /// The chosen task, when its history was not read yet.
    pub(super) fn unread(&self) -> Option<String> {
        let chosen = self.chosen.clone()?;
        let known = self.said.get(&chosen).is_some_and(|said| said.read);
        (!known && self.tree.get(&chosen).is_some()).then_some(chosen)
    }

    /// What a task said before; what has come since stays behind it.
    pub(super) fn history(&mut self, task: &str, events: Vec<Event>) {
        let said = self.said.entry(task.to_owned()).or_default();
        said.read = true;
        let first = said.lines.front().map_or(u64::MAX, |(seq, _)| *seq);
        let older = events.into_iter().filter(|event| event.seq < first);
        let older: Vec<_> = older.filter_map(|event| event.line.map(|line| (event.seq, line))).collect();
        for line in older.into_iter().rev() {
            said.lines.push_front(line);
        }
    }

    /// The lines of the chosen task, oldest first, with what is being written behind them.
    pub(super) fn lines(&self) -> Vec<&str> {
        let said = self.chosen.as_ref().and_then(|chosen| self.said.get(chosen));
        let lines = said.iter().flat_map(|said| said.lines.iter().map(|(_, line)| line.as_str()));
        lines.chain(said.iter().flat_map(|said| said.writing.lines())).collect()
    }

    /// The tree as it is shown: without what is below a collapsed task.
    pub(super) fn rows(&self) -> Vec<Line> {
        let hidden = |line: &Line| {
            let mut above = self.tree.get(&line.id).and_then(|task| task.parent_id.as_deref());
            while let Some(id) = above {
                if self.collapsed.contains(id) {
                    return true;
                }
                above = self.tree.get(id).and_then(|task| task.parent_id.as_deref());
            }
            false
        };
        tree_text::lines(&self.tree, true).into_iter().filter(|line| !hidden(line)).collect()
    }

    /// Hides or shows what is below the chosen task.
    pub(super) fn collapse(&mut self) {
        if let Some(chosen) = self.chosen.clone()
            && !self.collapsed.remove(&chosen)
        {
            self.collapsed.insert(chosen);
        }
    }

    /// Chooses the task this many rows further down.
    pub(super) fn step(&mut self, rows: isize) {
        let all = self.rows();
        let here = all.iter().position(|line| Some(&line.id) == self.chosen.as_ref()).unwrap_or(0);
        let there = here.saturating_add_signed(rows).min(all.len().saturating_sub(1));
        self.chosen = all.get(there).map(|line| line.id.clone());
        self.back = 0;
    }

    pub(super) fn notice(&mut self, note: &str) {
        note.clone_into(&mut self.note);
    }
}
