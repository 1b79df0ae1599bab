//! Tool calls about the tree: the wish of an agent becomes operations in its name, and a result in the same commit.

use super::money;
use super::question;
use super::route::open_call;
use super::settle::after_result;
use super::tree_look;
use super::turn::{Kind, Turn};
use crate::change::Change;
use crate::commit::Seq;
use crate::decide::{
    Actor, Effect, NewFolder, NewTask, Op, Place, Post, Reach, Refusal, TaskPatch, apply_op,
};
use crate::event::body::{BudgetTransferred, ForkMarker, InitialStatus, ToolCallId};
use crate::id::TaskId;
use crate::money::Usd;
use crate::prompt::text::{ForkSide, fork_result, withheld};
use crate::raw::RawJson;
use crate::tool::orchestrator::{
    CreateTask, ForkTaskContext, Orchestrator, SERVER, SendMessage, TaskRef, UpdateTask,
};
use crate::tree::{Color, Persistence, Status};

/// Decides an open call.
pub(super) fn decide(
    turn: &mut Turn<'_, '_>,
    call: &ToolCallId,
    (head, args): (Seq, &RawJson),
) -> Result<(), Refusal> {
    let tool = open_call(turn, call)?;
    let name = tool.strip_prefix(&format!("mcp__{SERVER}__")).unwrap_or(&tool).to_owned();
    let (text, kind) = if turn.session.interrupted || turn.is_stopped() || !turn.works() {
        ("Not done: the turn was broken off.".to_owned(), Kind::Error)
    } else if turn.session.is_withheld(&tool) {
        (withheld(&name), Kind::Error)
    } else {
        match Orchestrator::parse(&name, args.get()) {
            Err(error) => (error.for_model(), Kind::Error),
            Ok(request) => match carry_out(turn, request, head) {
                Ok(text) => (text, Kind::Success),
                Err(refusal) => (format!("Nothing was done: {refusal}. {}", refusal.hint()), Kind::Error),
            },
        }
    };
    turn.answer_call(call, text, kind);
    // What comes next depends on what was just planned for others, which the state does not know yet.
    if turn.session.calls.is_empty() && !turn.is_broken_off() {
        turn.effect(Effect::Wake { task: turn.task });
        return Ok(());
    }
    after_result(turn)
}

fn carry_out(turn: &mut Turn<'_, '_>, request: Orchestrator, head: Seq) -> Result<String, Refusal> {
    match request {
        Orchestrator::GetTree(look) => Ok(tree_look::tree(turn, &look)),
        Orchestrator::GetTask(look) => tree_look::task(turn, find(turn, &look.task_id)?),
        Orchestrator::CreateTask(wish) => create(turn, wish),
        Orchestrator::UpdateTask(wish) => update(turn, wish),
        Orchestrator::DeleteTask(wish) => {
            let reach = if wish.recursive { Reach::Recursive } else { Reach::Only };
            let task = find(turn, &wish.task_id)?;
            act(turn, Op::DeleteTask { task, reach }).map(|_| format!("Deleted {task}."))
        }
        Orchestrator::ResetTask(wish) => {
            let task = find(turn, &wish.task_id)?;
            act(turn, Op::ResetTask { task }).map(|_| format!("Reset {task}. A message starts it anew."))
        }
        Orchestrator::CloseTask(wish) => {
            let task = find(turn, &wish.task_id)?;
            act(turn, Op::CloseTask { task }).map(|_| format!("Closed {task}."))
        }
        Orchestrator::ReorderTasks(wish) => {
            let node = find(turn, &wish.node_id)?;
            let children = wish.children.iter().map(|child| find(turn, child)).collect::<Result<_, _>>()?;
            act(turn, Op::ReorderChildren { node, children }).map(|_| "Reordered.".to_owned())
        }
        Orchestrator::CreateFolder(wish) => {
            let parent = find(turn, &wish.parent_id)?;
            let folder = NewFolder { parent, place: Place::Last, title: wish.title, color: None };
            let id = act(turn, Op::CreateFolder(folder))?;
            Ok(format!("Created the folder {}.", shown(id)))
        }
        Orchestrator::RenameFolder(wish) => {
            let task = folder(turn, &wish.folder_id)?;
            let patch = TaskPatch { title: Some(wish.title), ..TaskPatch::default() };
            act(turn, Op::UpdateTask { task, patch }).map(|_| "Renamed.".to_owned())
        }
        Orchestrator::DeleteFolder(wish) => {
            let task = folder(turn, &wish.folder_id)?;
            act(turn, Op::DeleteTask { task, reach: Reach::Only }).map(|_| "Deleted.".to_owned())
        }
        Orchestrator::SendMessage(wish) => send(turn, wish),
        Orchestrator::Clarify(wish) => {
            let id = question::ask(turn, &wish.question)?;
            Ok(format!("Asked the user (question {id}). The answer comes as a message."))
        }
        Orchestrator::ForkTaskContext(wish) => fork(turn, &wish, head),
        Orchestrator::Yield(_)
        | Orchestrator::Done(_)
        | Orchestrator::ListProjects(_)
        | Orchestrator::SendMessageToProject(_)
        | Orchestrator::SearchTasks(_)
        | Orchestrator::SearchLogs(_)
        | Orchestrator::MergeTask(_) => Err(Refusal::Late { task: turn.task, what: "this tool here" }),
    }
}

/// Does it in the agent's name, or not at all. Gives the node it is about first.
fn act(turn: &mut Turn<'_, '_>, op: Op) -> Result<Option<TaskId>, Refusal> {
    let mut aside = turn.plan.aside(Actor::Agent(turn.task));
    apply_op(&mut aside, op)?;
    let about = aside.first_node();
    turn.plan.join(aside);
    Ok(about)
}

fn find(turn: &Turn<'_, '_>, given: &TaskRef) -> Result<TaskId, Refusal> {
    given
        .resolve(turn.plan.tree().nodes())
        .map_err(|error| Refusal::NoSuchTask { given: given.to_string(), why: error.to_string() })
}

fn folder(turn: &Turn<'_, '_>, given: &TaskRef) -> Result<TaskId, Refusal> {
    let id = find(turn, given)?;
    let is_folder = turn.plan.node(id)?.task().is_none();
    let why = "it is a task and no folder".to_owned();
    if is_folder { Ok(id) } else { Err(Refusal::NoSuchTask { given: given.to_string(), why }) }
}

fn create(turn: &mut Turn<'_, '_>, wish: CreateTask) -> Result<String, Refusal> {
    let parent = wish.parent_id.as_ref().map_or(Ok(turn.task), |parent| find(turn, parent))?;
    let after = wish.after.iter().map(|task| find(turn, task)).collect::<Result<_, _>>()?;
    let status = if wish.draft { InitialStatus::Draft } else { InitialStatus::Pending };
    let task = NewTask {
        status,
        after,
        checks: wish.checks,
        manifest: wish.manifest.filter(|path| !path.trim().is_empty()),
        skill: wish.skill.filter(|name| !name.trim().is_empty()),
        color: wish.color.map(Color),
        persistent: wish.persistent.map(Persistence::from),
        ..NewTask::new(parent, wish.title, wish.description)
    };
    let budget = wish.budget_usd.filter(|amount| *amount > Usd::ZERO);
    if let Some(amount) = budget {
        check_money(turn, amount)?;
    }
    let id = act(turn, Op::CreateTask(task))?;
    if let (Some(id), Some(amount)) = (id, budget) {
        hand_over(turn, id, amount);
    }
    let start = if wish.draft { "It is a draft." } else { "send_message starts it." };
    Ok(format!("Created the task {}. {start}", shown(id)))
}

/// Whose money an agent hands on: that of the nearest task, from its own upwards, that has a budget.
fn check_money(turn: &Turn<'_, '_>, wanted: Usd) -> Result<(), Refusal> {
    let Some(owner) = turn.plan.state.budget_owner(turn.task) else {
        return Ok(());
    };
    let left = turn.plan.state.remaining(owner.id).unwrap_or(Usd::ZERO);
    if wanted <= left { Ok(()) } else { Err(Refusal::NotEnoughMoney { task: owner.id, left, wanted }) }
}

fn hand_over(turn: &mut Turn<'_, '_>, to: TaskId, amount_usd: Usd) {
    let from = turn.plan.state.budget_owner(turn.task).map_or(turn.task, |owner| owner.id);
    turn.plan.emit(from, BudgetTransferred { to, amount_usd });
    money::resume(turn, to, &format!("The task above added {amount_usd} to the budget. Go on."));
}

fn update(turn: &mut Turn<'_, '_>, wish: UpdateTask) -> Result<String, Refusal> {
    let task = find(turn, &wish.task_id)?;
    let after = wish.after.as_ref();
    let after = after.map(|after| after.iter().map(|task| find(turn, task)).collect::<Result<Vec<_>, _>>());
    let patch = TaskPatch {
        title: wish.title.clone(),
        description: wish.description_edit(),
        color: wish.color.clone().map_or(Change::Keep, |color| Change::Set(Color(color))),
        after: after.transpose()?,
        ..TaskPatch::default()
    };
    let parent = wish.parent_id.as_ref().map(|parent| find(turn, parent)).transpose()?;
    if patch.after.is_some() && (parent.is_some() || wish.new_status().is_some()) {
        return Err(Refusal::OneByOne { task });
    }
    let money = wish.add_budget_usd.filter(|amount| *amount > Usd::ZERO);
    if let Some(amount) = money {
        turn.plan.task(task, "have a budget")?;
        check_money(turn, amount)?;
        directly_below(turn, task)?;
    }
    check_status(turn, task, &wish)?;
    // All of it or nothing: what is planned aside becomes part of the decision at the end.
    let mut aside = turn.plan.aside(Actor::Agent(turn.task));
    if patch != TaskPatch::default() {
        apply_op(&mut aside, Op::UpdateTask { task, patch })?;
    }
    if let Some(to) = wish.new_status() {
        apply_op(&mut aside, Op::SetStatus { task, to, reason: None })?;
    }
    if let Some(parent) = parent {
        apply_op(&mut aside, Op::MoveTask { task, parent, place: Place::Last })?;
    }
    turn.plan.join(aside);
    if let Some(amount) = money {
        hand_over(turn, task, amount);
    }
    Ok(format!("Updated {task}."))
}

/// How a task ends is not for everybody to say: its own agent calls `done`, and where checks were agreed upon they are to
/// be passed.
fn check_status(turn: &Turn<'_, '_>, task: TaskId, wish: &UpdateTask) -> Result<(), Refusal> {
    let Some(to) = wish.new_status().filter(|to| to.is_ended()) else {
        return Ok(());
    };
    if task == turn.task {
        return Err(Refusal::OwnTask { task, wanted: "end" });
    }
    let checked = turn.plan.task(task, "have a status")?.1.checks.is_empty();
    if to == Status::Passed && !checked {
        return Err(Refusal::UserOnly { wanted: "pass a task that has checks without running them" });
    }
    Ok(())
}

fn directly_below(turn: &Turn<'_, '_>, task: TaskId) -> Result<(), Refusal> {
    let owner = turn.plan.tree().task_above(task).map(|node| node.id);
    let outside = Refusal::OutsideSubtree { agent: turn.task, task, wanted: "hand money to" };
    if owner == Some(turn.task) { Ok(()) } else { Err(outside) }
}

fn send(turn: &mut Turn<'_, '_>, wish: SendMessage) -> Result<String, Refusal> {
    let to = find(turn, &wish.task_id)?;
    let before = turn.plan.node(to)?.status();
    let post = Post {
        content: wish.message,
        title: Some(wish.title),
        request_reply: wish.request_reply,
        ..Post::default()
    };
    let id = turn.plan.new_id();
    act(turn, Op::SendMessage { id, to, post })?;
    let blocked = !turn.plan.tree().blocked_by(to).is_empty();
    let what = match before {
        Some(Status::InProgress) => "Sent.",
        _ if blocked => "Stored. The task starts when those it waits for are passed.",
        Some(Status::Pending) => "Started.",
        _ => "Sent. The task works again.",
    };
    Ok(what.to_owned())
}

/// Lets a task go on from another's conversation: a pointer to it, no copy.
fn fork(turn: &mut Turn<'_, '_>, wish: &ForkTaskContext, head: Seq) -> Result<String, Refusal> {
    let (source, target) = (find(turn, &wish.source_task_id)?, find(turn, &wish.target_task_id)?);
    let agent = turn.task;
    if source == target || !turn.plan.tree().is_in_subtree(target, agent) || target == agent {
        return Err(Refusal::OutsideSubtree { agent, task: target, wanted: "fork into" });
    }
    point_to(turn, (source, head), target)?;
    Ok(fork_result(&ForkSide::Caller { target }))
}

/// The same as a wish of the user, who may do it anywhere in the tree.
pub(super) fn fork_for_user(turn: &mut Turn<'_, '_>, source: TaskId, head: Seq) -> Result<(), Refusal> {
    if turn.plan.actor != Actor::User {
        return Err(Refusal::UserOnly { wanted: "fork a conversation anywhere in the tree" });
    }
    let target = turn.task;
    if source == target {
        return Err(Refusal::NothingToFork { task: source });
    }
    point_to(turn, (source, head), target)
}

fn point_to(turn: &mut Turn<'_, '_>, (source, head): (TaskId, Seq), target: TaskId) -> Result<(), Refusal> {
    turn.plan.task(source, "have a conversation")?;
    let (node, _) = turn.plan.task(target, "have a conversation")?;
    let begun = turn.plan.state.session(target);
    if begun.is_open() || begun.is_busy() || begun.life().turns > 0 {
        return Err(Refusal::AlreadyBegun { task: target });
    }
    let begins = turn.plan.state.session(source);
    if !begins.is_open() {
        return Err(Refusal::NothingToFork { task: source });
    }
    let limit = turn.plan.limits.fork_depth;
    if begins.lineage().len() >= limit {
        return Err(Refusal::TooManyForks { task: source, limit });
    }
    let marker = ForkMarker {
        source_task_id: source,
        source_seq: head,
        target_title: Some(node.title.clone()),
        target_description: Some(node.description.clone()),
    };
    turn.plan.emit(target, marker);
    Ok(())
}

fn shown(id: Option<TaskId>) -> String {
    id.map(|id| id.to_string()).unwrap_or_default()
}
