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
            Self::OutcomeUnknown { tool } => {
                format!("Interrupted, outcome unknown: {tool} {OUTCOME_UNKNOWN}")
            }
            Self::NotStarted { tool } => {
                format!("Not run: the agent was stopped before {tool} began. {NOT_STARTED}")
            }
            Self::Interrupted => INTERRUPTED.to_owned(),
            Self::Restarted => RESTARTED.to_owned(),
            Self::BudgetLow { spent, given } => format!("{spent} of {given} are spent, {BUDGET_LOW}"),
            Self::BudgetSpent { spent, given } => {
                format!("Stopped: {spent} of {given} are spent, {BUDGET_SPENT}")
            }
            Self::LimitNear { what, used, limit } => {
                format!("{used} of {limit} {what} are used. {LIMIT_NEAR}")
            }
            Self::LimitReached { what, limit } => {
                format!("Stopped: the limit of {limit} {what} is reached. {LIMIT_REACHED}")
            }
            Self::Undeliverable { to, why } => {
                format!("Your message to {to} was not delivered: {}", cut(why, DETAIL_BYTES))
            }
            Self::LaunchFailed { task, title, why } => {
                format!("{task} ({title}) could not be started: {}\n{LAUNCH_FAILED}", cut(why, DETAIL_BYTES))
            }
            Self::ChildEnded { task, title, why } => {
                format!(
                    "{task} ({title}) was ended by the program: {}\n{CHILD_ENDED}",
                    cut(why, DETAIL_BYTES)
                )
            }
            Self::ClarifyExpired { question } => {
                format!("Nobody answered in time: {}\n{CLARIFY_EXPIRED}", cut(question, DETAIL_BYTES))
            }
            Self::AnswerCut => ANSWER_CUT.to_owned(),
            Self::Refused => REFUSED.to_owned(),
            Self::Repeating { what, times } => {
                format!("{} {times} times without any change. {REPEATING}", cut(what, DETAIL_BYTES))
            }
            Self::Drifted { expected, found } => format!(
                "Your worktree is on {found} instead of its own branch {expected}. Nothing on another branch is merged \
                 or checked. Bring your commits to {expected} and stay there."
            ),
            Self::Compacted => COMPACTED.to_owned(),
        }
    }
}

const OUTCOME_UNKNOWN: &str = "had begun when the program ended, and nobody saw how it went. It was not run again. Find \
    out what it did before you decide whether to repeat it.";
const NOT_STARTED: &str = "Nothing happened; call it again if it is still wanted.";
const INTERRUPTED: &str =
    "The user broke off your turn. What you had said until then stands; what was running was stopped.";
const RESTARTED: &str = "The program was started again. The conversation, the tree and your worktree are as they were; \
    background commands are gone. Go on where you were.";
const BUDGET_LOW: &str = "by this task and those below it. Commit what you have, finish the most valuable part, and \
    report what is left; at the limit you are stopped. The task above can give more.";
const BUDGET_SPENT: &str =
    "and the next step could cost more than is left. The task above or the user can give more.";
const LIMIT_NEAR: &str = "Commit, finish the most valuable part, and report what is left.";
const LIMIT_REACHED: &str = "The task above or the user can raise it.";
const LAUNCH_FAILED: &str = "Its message waits; it starts with the next message once the cause is gone.";
const CHILD_ENDED: &str = "What it committed is on its branch, and a message brings it back.";
const CLARIFY_EXPIRED: &str =
    "Decide yourself: take what is easiest to undo, and say in your report that you did.";
const ANSWER_CUT: &str = "Your answer reached the limit of its length and was cut. Go on where it ends, in smaller \
    steps; write long files in parts.";
const REFUSED: &str = "The model declined to answer the last step. If the task is legitimate, approach it differently \
    or say in your report what could not be done.";
const REPEATING: &str = "Stop repeating it. Write down what is known, question the assumption behind it, and try \
    something of a different kind, or ask.";
const COMPACTED: &str = "The conversation was summarised to make room. What stands above is all that is left of it \
    here; search_logs finds the rest. You are not done unless it says so.";
