//! The tree as clients see it: plain data made from the state and from what was counted of the log.

mod needs;

use std::collections::BTreeMap;

use mxd_core::id::TaskId;
use mxd_core::money::Usd;
use mxd_core::show;
use mxd_core::state::State;
use mxd_core::tree::{Node, Persistence};
use mxd_engine::git::{FileChange, Review};
use mxd_engine::home::{Entry, Registered, Standing};
use schemars::JsonSchema;
use serde::Serialize;

pub(crate) use self::needs::{ClarificationNeed, Needs, ServerNeed, host_digest, needs};
use crate::feed::Tally;
use crate::limits;

/// A project.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProjectView {
    id: String,
    name: String,
    /// The user's checkout.
    path: String,
    /// Whether it is there at this moment.
    path_exists: bool,
    created_at: u64,
    /// Its root task; none while it is broken.
    #[serde(skip_serializing_if = "Option::is_none")]
    root_id: Option<String>,
    state: ProjectState,
    /// Why it is broken.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    /// The branch that tasks start from and that work is merged into.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) base_branch: Option<String>,
    /// How many tasks there are, by status.
    counts: BTreeMap<String, u64>,
    cost_usd: f64,
    /// Agents at work.
    running: u64,
    /// Things that wait for the user.
    needs: u64,
    /// What its user should know, after a registration or a change of its place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ProjectState {
    Opening,
    Open,
    Broken,
}

impl ProjectView {
    pub(crate) fn of(registered: &Registered, tally: Option<&Tally>) -> Self {
        let standing = registered.now();
        let mut view = Self::bare(&registered.entry);
        match &standing {
            Standing::Opening => {}
            Standing::Broken { problem } => {
                view.state = ProjectState::Broken;
                view.problem = Some(problem.clone());
            }
            Standing::Open(project) => {
                view.state = ProjectState::Open;
                project.look(|state| view.count(state, tally));
            }
        }
        view
    }

    fn bare(entry: &Entry) -> Self {
        Self {
            id: entry.id.to_string(),
            name: entry.name.clone(),
            path: entry.path.display().to_string(),
            path_exists: entry.path.is_dir(),
            created_at: entry.created_at.0,
            root_id: None,
            state: ProjectState::Opening,
            problem: None,
            base_branch: None,
            counts: BTreeMap::new(),
            cost_usd: 0.0,
            running: 0,
            needs: 0,
            notes: Vec::new(),
        }
    }

    fn count(&mut self, state: &State, tally: Option<&Tally>) {
        self.root_id = state.tree().root().map(|root| root.id.to_string());
        let mut total = Usd::ZERO;
        for node in state.tree().nodes().values() {
            if let Some(task) = node.task() {
                *self.counts.entry(task.status.name().to_owned()).or_default() += 1;
                total = total.checked_add(task.cost_usd).unwrap_or(Usd::MAX);
            }
        }
        self.cost_usd = dollars(total);
        self.running = state.sessions().values().filter(|session| session.is_busy()).count() as u64;
        self.needs = tally.map_or(0, |tally| needs(state, tally).count());
    }
}

/// A node of the tree.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskView {
    id: String,
    kind: NodeKindName,
    title: String,
    /// What is to be done; in lists only its beginning.
    description: String,
    /// Whether only the beginning of the description is here.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    description_cut: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_id: Option<String>,
    children: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    color: Option<String>,
    /// Who changed it last: `user` or `agent`.
    edited_by: String,
    created_at: u64,
    updated_at: u64,
    /// What only tasks have.
    #[serde(flatten)]
    task: Option<TaskPart>,
}

/// The two kinds of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NodeKindName {
    Task,
    Folder,
}

/// What a folder does not have.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TaskPart {
    status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    worktree_path: Option<String>,
    /// What it has cost.
    cost_usd: f64,
    /// What was spent of its budget, by itself and by tasks below without one of their own.
    spent_usd: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    budget_usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    remaining_usd: Option<f64>,
    /// What closing it does, if it comes back: `reset` or `continue`.
    #[serde(skip_serializing_if = "Option::is_none")]
    persistent: Option<String>,
    /// Tasks that have to be passed or closed first.
    after: Vec<String>,
    /// Commands that have to succeed before it can be passed.
    checks: Vec<String>,
    /// The manifest its agent works under, a file of the repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    manifest: Option<String>,
    /// The skill its agent works by.
    #[serde(skip_serializing_if = "Option::is_none")]
    skill: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<AgentView>,
    /// The newest thing said or done.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_line: Option<String>,
    /// Messages that wait.
    inbox: u64,
    /// Open questions to the user.
    questions: Vec<String>,
    /// Tool calls and hosts that wait for the user's word.
    approvals: Vec<String>,
    /// Commands in the background.
    background: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<ContextView>,
    life: LifeView,
    /// What it has changed so far, as far as that is known without asking git.
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<DiffView>,
}

/// What an agent does.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AgentView {
    /// `none`, `blocked`, `launching`, `thinking`, `tool`, `checking`, `compacting`, `waiting`, `asking`, `interrupted`,
    /// `stopped`, `spent`, `stuck`, `refused`, `failed` or `done`.
    #[schemars(with = "String")]
    state: serde_json::Value,
    /// The same in words.
    why: String,
}

/// How full the model's window is.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ContextView {
    tokens: u64,
    window: u64,
    /// Whether a part of it is only estimated.
    estimated: bool,
}

/// How much a task has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DiffView {
    /// Files that differ.
    pub(crate) files: u64,
    /// Lines that are new.
    pub(crate) additions: u64,
    /// Lines that are gone.
    pub(crate) deletions: u64,
}

impl DiffView {
    pub(crate) fn of(review: &Review) -> Self {
        let sum = |lines: fn(&FileChange) -> u64| review.files.iter().map(lines).sum();
        Self {
            files: review.files.len() as u64,
            additions: sum(|file| file.additions),
            deletions: sum(|file| file.deletions),
        }
    }
}

/// What a task has used in all its life.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LifeView {
    turns: u64,
    tool_calls: u64,
    input_tokens: u64,
    output_tokens: u64,
    cache_read_tokens: u64,
    cache_write_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<u64>,
}

/// How much of a description is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Its beginning.
    List,
    /// All of it.
    Whole,
}

impl TaskView {
    pub(crate) fn of(state: &State, tally: &Tally, node: &Node, detail: Detail) -> Self {
        let kept = match detail {
            Detail::Whole => node.description.len(),
            Detail::List => floor(&node.description, limits::DESCRIPTION_IN_LISTS),
        };
        Self {
            id: node.id.to_string(),
            kind: if node.task().is_some() { NodeKindName::Task } else { NodeKindName::Folder },
            title: node.title.clone(),
            description: node.description[..kept].to_owned(),
            description_cut: kept < node.description.len(),
            parent_id: node.parent_id.map(|parent| parent.to_string()),
            children: node.children.iter().map(TaskId::to_string).collect(),
            color: node.color.as_ref().map(|color| color.0.clone()),
            edited_by: match node.edited_by {
                mxd_core::event::body::EditedBy::User => "user".to_owned(),
                mxd_core::event::body::EditedBy::Agent => "agent".to_owned(),
            },
            created_at: node.created_at.0,
            updated_at: node.updated_at.0,
            task: task_part(state, tally, node),
        }
    }
}

fn task_part(state: &State, tally: &Tally, node: &Node) -> Option<TaskPart> {
    let fields = node.task()?;
    let (session, counted) = (state.session(node.id), tally.task(node.id));
    let agent = show::standing(state, node.id).map(|standing| AgentView {
        state: serde_json::to_value(standing.state).unwrap_or_default(),
        why: standing.why,
    });
    let context = session.terms().map(|terms| ContextView {
        tokens: session.context().estimate(),
        window: terms.context_window,
        estimated: session.context().is_estimated(),
    });
    Some(TaskPart {
        status: fields.status.name().to_owned(),
        branch: fields.branch.clone(),
        worktree_path: fields.worktree_path.clone(),
        cost_usd: dollars(fields.cost_usd),
        spent_usd: dollars(fields.spent_usd),
        budget_usd: fields.budget_usd.map(dollars),
        remaining_usd: state.remaining(node.id).map(dollars),
        persistent: fields.persistent.map(|persistent| match persistent {
            Persistence::Reset => "reset".to_owned(),
            Persistence::Continue => "continue".to_owned(),
        }),
        after: fields.after.iter().map(TaskId::to_string).collect(),
        checks: fields.checks.clone(),
        manifest: fields.manifest.clone(),
        skill: fields.skill.clone(),
        agent,
        last_line: counted.and_then(|counted| counted.last_line.clone()),
        inbox: state.inbox(node.id).len() as u64,
        questions: session.questions().keys().map(ToString::to_string).collect(),
        approvals: session
            .approvals()
            .keys()
            .chain(session.host_requests().keys())
            .map(ToString::to_string)
            .collect(),
        background: session.background().iter().cloned().collect(),
        context,
        life: LifeView {
            turns: session.life().turns,
            since: session.life().since.map(|since| since.0),
            ..counted.map(|counted| life(&counted.usage, counted.tool_calls)).unwrap_or_default()
        },
        diff: counted.and_then(|counted| counted.diff),
    })
}

fn life(usage: &mxd_core::event::body::Usage, tool_calls: u64) -> LifeView {
    LifeView {
        turns: 0,
        tool_calls,
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        cache_read_tokens: usage.cache_read_tokens,
        cache_write_tokens: usage.cache_write_tokens,
        since: None,
    }
}

/// Dollars as a JSON number.
#[expect(clippy::cast_precision_loss, reason = "at most 10^15, far below 2^53")]
pub(crate) fn dollars(amount: Usd) -> f64 {
    amount.micros() as f64 / 1e6
}

/// The last place up to `most` at which a text can be cut.
pub(crate) fn floor(text: &str, most: usize) -> usize {
    (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}
