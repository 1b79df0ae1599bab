//! What waiting, ending and forking come to: the results of tools that are answered later than they are called.

use std::fmt::Write as _;

use super::fence::{Fence, cut, guarded};
use crate::id::TaskId;

/// Tasks that are named one by one.
const TASKS_SHOWN: usize = 40;
/// Bytes of a title in a list.
const TITLE_BYTES: usize = 200;

/// What an agent waits for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pending<'a> {
    /// Tasks below it that work.
    pub tasks: &'a [PendingTask<'a>],
    /// Questions to the user without an answer.
    pub clarifications: usize,
    /// Calls that wait for the user's word.
    pub approvals: usize,
    /// Commands in the background.
    pub commands: usize,
}

/// A task that works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PendingTask<'a> {
    /// Which.
    pub id: TaskId,
    /// Its title.
    pub title: &'a str,
}

/// The result of `yield`: what is still open; the messages follow it.
pub fn yield_result(pending: &Pending<'_>) -> String {
    let mut text = "## Pending\n".to_owned();
    for task in pending.tasks.iter().take(TASKS_SHOWN) {
        let _infallible =
            write!(text, "\n* at work: {} ({})", task.id, guarded(&cut(task.title, TITLE_BYTES)));
    }
    if let Some(more @ 1..) = pending.tasks.len().checked_sub(TASKS_SHOWN) {
        let _infallible = write!(text, "\n* and {more} more tasks at work");
    }
    for (count, what) in [
        (pending.clarifications, "open question(s) to the user"),
        (pending.approvals, "call(s) that wait for the user's word"),
        (pending.commands, "command(s) in the background"),
    ] {
        if count > 0 {
            let _infallible = write!(text, "\n* {count} {what}");
        }
    }
    if pending.tasks.is_empty() && pending.clarifications + pending.approvals + pending.commands == 0 {
        text.push_str("\nNothing: no task below works, no question is open, no command runs.");
    }
    text
}

/// The result of `done` for an agent that is woken after it.
pub fn woken_after_done() -> &'static str {
    "The task was reported as done. A message has woken it again: it is in progress, and needs another done when what \
     the message asks for is finished."
}

/// Which of the two readers of a forked conversation.
#[derive(Debug, Clone, Copy)]
pub enum ForkSide<'a> {
    /// The one who called.
    Caller {
        /// Who inherits.
        target: TaskId,
    },
    /// The one who inherits.
    Heir {
        /// Its task.
        task: TaskId,
        /// Its title.
        title: &'a str,
        /// Its description.
        description: &'a str,
    },
    /// The one who inherits, about another call that was open at that moment.
    HeirOfOpenCall,
}

/// The result of `fork_task_context`, or of a call that was open when the conversation was forked.
pub fn fork_result(side: &ForkSide<'_>) -> String {
    match side {
        ForkSide::Caller { target } => format!(
            "Forked. You are the one who called: your task and your worktree are as before. {target} begins with this \
             conversation; start it with send_message."
        ),
        ForkSide::Heir { task, title, description } => {
            let fenced = Fence::new("task_description")
                .around(description, crate::limits::Limits::DEFAULT.description_bytes);
            format!(
                "Forked. You are the one who inherits: everything above is the conversation of another task, and \
                 background for you. Its task, its worktree and its duties are not yours. Your task is {task}, {}:\n\n\
                 {fenced}\n\nWhere you work is said in the next message.",
                guarded(&cut(title, TITLE_BYTES))
            )
        }
        ForkSide::HeirOfOpenCall => {
            "This call belongs to the task whose conversation you inherited. Its result is not known here."
                .to_owned()
        }
    }
}
