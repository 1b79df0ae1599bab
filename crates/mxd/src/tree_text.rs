//! The tree of a project as lines of text: the same for `mxd status`, the live view and the demo.

use anstyle::{AnsiColor, Style};
use mxd_core::show::{AgentState, one_line};

use crate::client::view::Task;
use crate::command::scope::Tree;
use crate::say::{BAD, DIM, GOOD, WEAK};

const BUSY: Style = AnsiColor::Cyan.on_default().bold();

/// One task, ready to be cut to a width.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) id: String,
    branches: String,
    glyph: &'static str,
    style: Style,
    title: String,
    said: String,
    cost: String,
}

impl Line {
    /// The line in its parts, each with its style, no wider than this together.
    pub(crate) fn parts(&self, width: usize) -> Vec<(Style, String)> {
        let lead = self.branches.chars().count() + 2;
        let room = width.saturating_sub(lead + self.cost.chars().count() + 4);
        let title = one_line(&self.title, room.clamp(8, 48));
        let left = room.saturating_sub(title.chars().count());
        let mut parts = vec![
            (DIM, self.branches.clone()),
            (self.style, self.glyph.to_owned()),
            (Style::new(), format!(" {title}")),
        ];
        if left >= 12 && !self.said.is_empty() {
            parts.push((DIM, format!("  {}", one_line(&self.said, left))));
        }
        if !self.cost.is_empty() {
            parts.push((Style::new(), format!("  {}", self.cost)));
        }
        parts
    }

    /// The line with colours, no wider than this.
    pub(crate) fn fit(&self, width: usize) -> String {
        let coloured = |(style, text): (Style, String)| format!("{style}{text}{style:#}");
        self.parts(width).into_iter().map(coloured).collect()
    }
}

/// Letters of a commit that are enough to name it.
const SHORT_COMMIT: usize = 10;

/// A line about what happened, with titles in the place of ids, and names that are short enough to be read.
pub(crate) fn readable(tree: &Tree, line: &str) -> String {
    let tasks = tree.tasks.iter().filter(|task| line.contains(&task.id));
    let titled = tasks.fold(line.to_owned(), |line, task| {
        // The branch of a task ends with what its title says.
        line.replace(&format!("mxd/{}/", task.id), "").replace(&task.id, &format!("“{}”", task.title))
    });
    titled.split(' ').map(short_commit).collect::<Vec<_>>().join(" ")
}

fn short_commit(word: &str) -> &str {
    let hex = word.trim_end_matches(|c: char| !c.is_ascii_hexdigit());
    let is_commit = hex.len() == 40 && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_commit { &word[..SHORT_COMMIT] } else { word }
}

/// The tasks of a tree, from the root down.
pub(crate) fn lines(tree: &Tree, with_closed: bool) -> Vec<Line> {
    let mut lines = Vec::new();
    if let Some(root) = tree.root.as_deref().and_then(|root| tree.get(root)) {
        add(tree, root, Lead::default(), with_closed, &mut lines);
    }
    lines
}

/// What stands before the title: the lines of the tasks above.
#[derive(Debug, Clone, Default)]
struct Lead {
    above: String,
    own: &'static str,
}

fn add(tree: &Tree, task: &Task, lead: Lead, with_closed: bool, lines: &mut Vec<Line>) {
    let (glyph, style) = glyph(task);
    let why = task.agent.as_ref().map(|agent| agent.why.clone()).unwrap_or_default();
    let said = match (&task.last_line, task.agent.as_ref().is_some_and(|agent| agent.state.is_active())) {
        (Some(line), true) => line.clone(),
        (_, _) => why,
    };
    let cost = if task.cost_usd > 0.0 { format!("${:.2}", task.cost_usd) } else { String::new() };
    let (id, title) = (task.id.clone(), task.title.clone());
    lines.push(Line { id, branches: format!("{}{}", lead.above, lead.own), glyph, style, title, said, cost });
    let shown = |task: &&Task| with_closed || task.status.as_deref() != Some("closed");
    let below: Vec<&Task> = task.children.iter().filter_map(|id| tree.get(id)).filter(shown).collect();
    let above = format!(
        "{}{}",
        lead.above,
        match lead.own {
            "" => "",
            "└─ " => "   ",
            _ => "│  ",
        }
    );
    for (n, child) in below.iter().enumerate() {
        let own = if n + 1 == below.len() { "└─ " } else { "├─ " };
        add(tree, child, Lead { above: above.clone(), own }, with_closed, lines);
    }
}

/// A sign that can be told from the others without colour.
pub(crate) fn glyph(task: &Task) -> (&'static str, Style) {
    let Some(status) = task.status.as_deref() else { return ("▸", DIM) };
    let state = task.agent.as_ref().map_or(AgentState::None, |agent| agent.state);
    match state {
        AgentState::Launching
        | AgentState::Thinking
        | AgentState::Tool
        | AgentState::Checking
        | AgentState::Compacting => {
            return ("●", BUSY);
        }
        AgentState::Asking => return ("?", WEAK),
        AgentState::Stopped | AgentState::Interrupted => return ("■", WEAK),
        AgentState::Spent | AgentState::Stuck | AgentState::Refused | AgentState::Failed => {
            return ("!", BAD);
        }
        AgentState::None | AgentState::Blocked | AgentState::Waiting | AgentState::Done => {}
    }
    match status {
        "passed" => ("✓", GOOD),
        "failed" => ("✗", BAD),
        "verify" => ("◇", WEAK),
        "in_progress" => ("◐", BUSY),
        "draft" => ("·", DIM),
        "closed" => ("–", DIM),
        _ => ("○", DIM),
    }
}
