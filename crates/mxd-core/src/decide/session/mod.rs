//! The session machine: what the agent of a task does next, and what its model, tools and workplace came to.
//!
//! Every input about a session ends in the same question: what comes next? [`advance`](next::advance) answers it from
//! the state alone, so it is asked after a crash as it is asked at any other time.

mod answer;
mod attempt;
mod bill;
mod boot;
mod compact;
mod finish;
mod halt;
mod host;
mod input;
mod launch;
mod leave;
mod money;
mod next;
mod place;
mod question;
mod refit;
mod route;
mod sample;
mod settle;
mod tell;
mod tree_look;
mod tree_tool;
mod turn;

pub use self::input::{
    Answer, AnswerItem, Check, Checked, Cost, FailedAttempt, Failure, Launched, Refreshed, Sample, Sampled,
    SessionOp, Settled,
};
pub(super) use self::place::call_queued;
use self::turn::Turn;
use super::plan::Plan;
use super::{Actor, Refusal};
use crate::id::TaskId;

/// The conversation of a task is about to go: nobody will settle the model calls that run in it.
pub(super) fn let_go(plan: &mut Plan<'_>, task: TaskId) {
    let mut turn = Turn::of(plan, task);
    if turn.session.asking.is_some() {
        answer::lost(&mut turn);
    }
    sample::lose_all(&mut turn);
}

/// A budget grew: who had stopped for want of money goes on.
pub(super) fn resume_spent(plan: &mut Plan<'_>, owner: TaskId, text: &str) {
    money::resume(&mut Turn::of(plan, owner), owner, text);
}

/// A node stands below another budget: who had stopped for want of money goes on.
pub(super) fn resume_moved(plan: &mut Plan<'_>, moved: TaskId) {
    money::resume_moved(&mut Turn::of(plan, moved), moved);
}

/// The checkout of a task is not wanted any more.
pub(super) fn dismiss_worktree(plan: &mut Plan<'_>, task: TaskId) {
    leave::dismiss(&mut Turn::of(plan, task));
}

/// A task is about to go, and its checkout with it. Nobody will hear how that went.
pub(super) fn remove_worktree(plan: &mut Plan<'_>, task: TaskId) {
    leave::remove(&mut Turn::of(plan, task));
}

/// A task is about to go: what it has left of its budget is another's.
pub(super) fn hand_back(plan: &mut Plan<'_>, task: TaskId, to: TaskId) {
    money::hand_back(&mut Turn::of(plan, task), to);
}

pub(super) fn decide(plan: &mut Plan<'_>, task: TaskId, op: SessionOp) -> Result<(), Refusal> {
    plan.task(task, "work")?;
    if let Actor::Agent(_) = plan.actor {
        return Err(Refusal::UserOnly { wanted: "steer a session" });
    }
    let mut turn = Turn::of(plan, task);
    match op {
        SessionOp::Advance => next::advance(&mut turn),
        SessionOp::Boot => boot::boot(&mut turn),
        SessionOp::Launched(launched) => launch::launched(&mut turn, launched),
        SessionOp::LaunchFailed { message } => launch::failed(&mut turn, message),
        SessionOp::WorktreeRemoved { path } => leave::removed(&mut turn, path),
        SessionOp::WorktreeKept { path, message } => leave::kept(&mut turn, (&path, message)),
        SessionOp::Answered(answer) => answer::answered(&mut turn, answer),
        SessionOp::Failed(failure) => answer::failed(&mut turn, failure),
        SessionOp::AttemptFailed(attempt) => attempt::failed(&mut turn, attempt),
        SessionOp::Refitted { turn: number, config } => refit::refitted(&mut turn, (number, config)),
        SessionOp::Counted { tokens } => compact::counted(&mut turn, Ok(tokens)),
        SessionOp::NotCounted { message } => compact::counted(&mut turn, Err(message)),
        SessionOp::Settled(settled) => settle::settled(&mut turn, settled),
        SessionOp::AskUser { call, rule, call_hash } => settle::ask_user(&mut turn, call, (rule, call_hash)),
        SessionOp::Approve { id, verdict, scope, reason } => {
            settle::approve(&mut turn, id, (verdict, scope, reason))
        }
        SessionOp::AskAboutHost { id, host } => host::ask(&mut turn, id, host),
        SessionOp::WithdrawHost { id } => host::withdraw(&mut turn, id),
        SessionOp::DecideTool { call, head, args } => tree_tool::decide(&mut turn, &call, (head, &args)),
        SessionOp::Checked(checked) => finish::checked(&mut turn, checked),
        SessionOp::AnswerQuestion { id, answer } => question::answer(&mut turn, id, answer),
        SessionOp::AskForServer { id, server, question } => {
            question::ask_for_server(&mut turn, id, (server, &question))
        }
        SessionOp::WithdrawQuestion { id } => question::withdraw(&mut turn, id),
        SessionOp::Sample(sample) => sample::begin(&mut turn, sample),
        SessionOp::Sampled(sampled) => sample::end(&mut turn, sampled),
        SessionOp::ExpireQuestion { id } => question::expire(&mut turn, id),
        SessionOp::Retry { turn: failed } => answer::retry(&mut turn, failed),
        SessionOp::Interrupt => halt::interrupt(&mut turn),
        SessionOp::Stop { reason } => halt::stop(&mut turn, reason),
        SessionOp::Rewind { to } => halt::rewind(&mut turn, to),
        SessionOp::Fork { source, head } => tree_tool::fork_for_user(&mut turn, source, head),
        SessionOp::Grant { amount } => money::grant(&mut turn, amount),
    }
}
