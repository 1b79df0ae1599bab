//! What a model is asked for when its conversation is summarised, and what is taken from its answer.

use super::input::{Answer, Failure};

/// The seven sections of a summary. What must not depend on the model's memory (rules of the user, running sub-tasks,
/// open questions, money) is not asked for: the daemon writes it down itself.
pub(super) const INSTRUCTION: &str = "\
The conversation has grown too long to be sent again. Write a summary from which you can go on without it. Call no \
tools. Everything that is not in the summary is lost to you, except the files on disk and the log, which search_logs \
can still find. Put it between <summary> and </summary>, in these sections:

1. What was asked: each request of the user and of the task above, in the order in which they came, in their own words \
where the words matter.
2. Where you are: the step you are in the middle of, and what you were about to do next.
3. What is done: files changed, commits, sub-tasks merged, and how each was verified.
4. The sub-tasks: what each is for, what you told it, what it has reported.
5. What you found out: causes, constraints, and approaches that were tried and rejected, with the reason.
6. Facts to keep: paths, names, commands, values, and decisions with who made them.
7. What is left: everything open, in the order in which you would do it.

Be exact and brief; do not claim more than you verified.";

/// The summary in an answer: what stands between the marks, or all of it.
pub(super) fn of(answer: &str) -> String {
    let inside = answer.split_once("<summary>").map_or(answer, |(_, rest)| rest);
    let inside = inside.rsplit_once("</summary>").map_or(inside, |(inside, _)| inside);
    inside.trim().to_owned()
}

/// An answer without a summary is a failed call.
pub(super) fn missing(answer: &Answer) -> Failure {
    Failure {
        turn: answer.turn,
        message: "the model was asked for a summary and wrote none".to_owned(),
        class: "summary".to_owned(),
        advice: Some("Write to the task, or clear its conversation.".to_owned()),
        passing: true,
        too_long: false,
        usage: answer.usage,
        cost: answer.cost,
    }
}
