//! What the program itself tells an agent: what happened to it, and what it can do about that.

use super::fence::{Fence, cut};
use crate::id::TaskId;
use crate::money::Usd;

/// Bytes of a reason or an output that a notice repeats.
const DETAIL_BYTES: usize = 4_000;

/// Something an agent has to know.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the sentences of `text` say what the fields are")]
pub enum Notice<'a> {
    /// A call had begun when the program ended; the result of that call.
    OutcomeUnknown { tool: &'a str },
    /// A call did not begin before the agent was stopped; the result of that call.
    NotStarted { tool: &'a str },
    /// The turn was broken off by the user.
    Interrupted,
    /// The task goes on after the program was started again.
    Restarted,
    /// Four fifths of the money are spent.
    BudgetLow { spent: Usd, given: Usd },
    /// The next call could cost more than is left.
    BudgetSpent { spent: Usd, given: Usd },
    /// Another limit comes near: turns, tokens, time.
    LimitNear { what: &'a str, used: u64, limit: u64 },
    /// Another limit is reached.
    LimitReached { what: &'a str, limit: u64 },
    /// A message could not be delivered.
    Undeliverable { to: TaskId, why: &'a str },
    /// A task below could not be started.
    LaunchFailed { task: TaskId, title: &'a str, why: &'a str },
    /// A task below was ended by the program.
    ChildEnded { task: TaskId, title: &'a str, why: &'a str },
    /// Nobody answered a question in time.
    ClarifyExpired { question: &'a str },
    /// The answer of the model was cut at its limit.
    AnswerCut,
    /// The model refused to answer.
    Refused,
    /// The same thing was done again and again.
    Repeating { what: &'a str, times: u32 },
    /// The branch of the worktree is not the one of the task.
    Drifted { expected: &'a str, found: &'a str },
    /// The conversation was summarised.
    Compacted,
}

impl Notice<'_> {
    /// The notice in its fence.
    pub fn text(&self) -> String {
        Fence::new("notice").around(&self.sentence(), 2 * DETAIL_BYTES)
    }

    /// The notice as the result of a call, where no fence is needed: nobody else writes there.
    pub fn sentence(&self) -> String {
        match self {
            Self::OutcomeUnknown { tool } => format!(
                "Interrupted, outcome unknown: {tool} had begun when the program ended, and nobody saw how it went. It \
                 was not run again. Find out what it did before you decide whether to repeat it."
            ),
            Self::NotStarted { tool } => {
                format!("Not run: the agent was stopped before {tool} began. Nothing happened; call it again if it is still wanted.")
            }
            Self::Interrupted => {
                "The user broke off your turn. What you had said until then stands; what was running was stopped.".to_owned()
            }
            Self::Restarted => {
                "The program was started again. The conversation, the tree and your worktree are as they were; background \
                 commands are gone. Go on where you were."
                    .to_owned()
            }
            Self::BudgetLow { spent, given } => format!(
                "{spent} of {given} are spent, by this task and those below it. Commit what you have, finish the most \
                 valuable part, and report what is left; at the limit you are stopped. The task above can give more."
            ),
            Self::BudgetSpent { spent, given } => format!(
                "Stopped: {spent} of {given} are spent, and the next step could cost more than is left. The task above \
                 or the user can give more."
            ),
            Self::LimitNear { what, used, limit } => {
                format!("{used} of {limit} {what} are used. Commit, finish the most valuable part, and report what is left.")
            }
            Self::LimitReached { what, limit } => {
                format!("Stopped: the limit of {limit} {what} is reached. The task above or the user can raise it.")
            }
            Self::Undeliverable { .. } | Self::LaunchFailed { .. } | Self::ChildEnded { .. } => self.about_a_task(),
            Self::ClarifyExpired { question } => format!(
                "Nobody answered in time: {}\nDecide yourself: take what is easiest to undo, and say in your report that you did.",
                cut(question, DETAIL_BYTES)
            ),
            Self::AnswerCut => {
                "Your answer reached the limit of its length and was cut. Go on where it ends, in smaller steps; write \
                 long files in parts."
                    .to_owned()
            }
            Self::Refused => {
                "The model declined to answer the last step. If the task is legitimate, approach it differently or say in \
                 your report what could not be done."
                    .to_owned()
            }
            Self::Repeating { what, times } => format!(
                "{} {times} times without any change. Stop repeating it. Write down what is known, question the \
                 assumption behind it, and try something of a different kind, or ask.",
                cut(what, DETAIL_BYTES)
            ),
            Self::Drifted { expected, found } => format!(
                "Your worktree is on {found} instead of its own branch {expected}. Nothing on another branch is merged or \
                 checked. Bring your commits to {expected} and stay there."
            ),
            Self::Compacted => {
                "The conversation was summarised to make room. What stands above is all that is left of it here; search_logs \
                 finds the rest. You are not done unless it says so."
                    .to_owned()
            }
        }
    }

    fn about_a_task(&self) -> String {
        let why = |why: &str| cut(why, DETAIL_BYTES);
        match self {
            Self::Undeliverable { to, why: reason } => {
                format!("Your message to {to} was not delivered: {}", why(reason))
            }
            Self::LaunchFailed { task, title, why: reason } => format!(
                "{task} ({title}) could not be started: {}\nIts message waits; it starts with the next message once the \
                 cause is gone.",
                why(reason)
            ),
            Self::ChildEnded { task, title, why: reason } => format!(
                "{task} ({title}) was ended by the program: {}\nWhat it committed is on its branch, and a message \
                 brings it back.",
                why(reason)
            ),
            _ => String::new(),
        }
    }
}
