//! What `mxd watch` knows: the tree, the lines of each task, what is chosen and what is being typed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::call::Shown;
use crate::client::view::{Clarification, Event, Needs, Project, Task};
use crate::client::{Failure, Happening};
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
    /// The call that is looked at.
    pub(super) shown: Option<Shown>,
    /// What could not be sent and waits until nothing else is typed.
    unsent: VecDeque<Typing>,
    /// Words whose task is gone; the next message begins with them.
    pub(super) kept: String,
    /// How many wishes the daemon has not answered yet.
    pub(super) on_the_way: usize,
    /// How often everything was told anew. What was asked for before is too old to be taken.
    pub(super) era: u64,
    /// How far the lines are scrolled back.
    pub(super) back: usize,
    pub(super) note: String,
}

/// What is known of what a task said.
#[derive(Debug, Default)]
struct Said {
    lines: VecDeque<(u64, String)>,
    /// Whether its history was asked for.
    read: bool,
    /// Up to where the history went.
    upto: u64,
    /// What the model writes right now.
    writing: String,
}

/// A line that is being typed, for the task that was chosen when it began.
#[derive(Debug, Clone)]
pub(super) struct Typing {
    pub(super) text: String,
    pub(super) task: String,
    /// The title of the task, also when it is gone.
    pub(super) title: String,
    /// The question it answers; without one it is a message.
    pub(super) question: Option<Clarification>,
    /// What was tried to be sent of it.
    pub(super) sent: Option<Sent>,
}

/// A message that may have arrived, and the name it went by.
#[derive(Debug, Clone)]
pub(super) struct Sent {
    pub(super) id: String,
    pub(super) text: String,
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
            shown: None,
            unsent: VecDeque::new(),
            kept: String::new(),
            on_the_way: 0,
            era: 0,
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
                self.era += 1;
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
        if self.chosen.as_ref().is_none_or(|chosen| self.is_gone(chosen)) {
            if self.chosen.is_some() {
                self.notice("the chosen task is gone; now the root is chosen");
            }
            self.chosen.clone_from(&self.tree.root);
            self.back = 0;
        }
        let waits = |shown: &Shown| {
            self.needs.approvals.iter().any(|call| call.approval_id == shown.call.approval_id)
        };
        if self.shown.as_ref().is_some_and(|shown| !waits(shown)) {
            self.shown = None;
            self.notice("the call that was shown waits no more");
            self.take_up();
        }
    }

    /// Whether there is no such task any more. While no tree is known, nobody can say so.
    pub(super) fn is_gone(&self, task: &str) -> bool {
        !self.tree.tasks.is_empty() && self.tree.get(task).is_none()
    }

    pub(super) fn title_of(&self, task: &str) -> String {
        // Before the tree is known only the root can be meant, and it is called like the project.
        self.tree.get(task).map_or_else(|| self.name.clone(), |task| task.title.clone())
    }

    /// The daemon has answered, or it has not. What was typed for it comes back when it was in vain.
    pub(super) fn answered(&mut self, words: Option<Typing>, answer: Result<(), Failure>) {
        match answer {
            Ok(()) => self.notice("done"),
            Err(failure) => {
                self.unsent.extend(words);
                self.notice(&tree_text::readable(&self.tree, &failure.to_string()));
            }
        }
        self.take_up();
    }

    /// Goes on with what could not be sent, as soon as nothing else is in the way.
    pub(super) fn take_up(&mut self) {
        if self.typing.is_none() && self.shown.is_none() {
            self.typing = self.unsent.pop_front();
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
        // The history may have told of it before the stream does.
        if event.seq <= said.upto {
            return;
        }
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

    /// The chosen task, when its history was not asked for yet. It counts as asked for from now on.
    pub(super) fn unread(&mut self) -> Option<String> {
        let chosen = self.chosen.clone().filter(|chosen| self.tree.get(chosen).is_some())?;
        let said = self.said.entry(chosen.clone()).or_default();
        let known = std::mem::replace(&mut said.read, true);
        (!known).then_some(chosen)
    }

    /// What a task said before; what has come since stays behind it.
    pub(super) fn history(&mut self, task: &str, events: Vec<Event>) {
        let said = self.said.entry(task.to_owned()).or_default();
        if said.lines.is_empty() {
            said.upto = events.iter().map(|event| event.seq).max().unwrap_or_default();
        }
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

    /// Chooses a task and shows it in the tree.
    pub(super) fn choose(&mut self, task: String) {
        let mut above = self.tree.get(&task).and_then(|task| task.parent_id.clone());
        while let Some(id) = above {
            self.collapsed.remove(&id);
            above = self.tree.get(&id).and_then(|task| task.parent_id.clone());
        }
        self.chosen = Some(task);
        self.back = 0;
    }

    pub(super) fn notice(&mut self, note: &str) {
        note.clone_into(&mut self.note);
    }
}
