//! One line for an event: what a person wants to read of it at a glance.

use super::call::{call_line, result_line, short_name};
use crate::event::EventBody;
use crate::event::body::{
    AttemptFailed, BudgetExceeded, Counter, DoneStatus, RestReason, SamplingEnded, StopReason, TurnEnded,
    Verdict,
};
use crate::message::Message;
use crate::session::{FAILED, REFITTED};
use crate::tool::CleanText;

/// How long a line gets.
pub const LINE_CHARS: usize = 160;

/// A text as one line: no control or hidden characters, white space as single blanks, cut with an ellipsis.
pub fn one_line(text: &str, chars: usize) -> String {
    // Cleaning is linear and lines are short: what stands far behind the cut need not be looked at.
    let near = chars.saturating_mul(8).max(256);
    let end = text.floor_char_boundary(near.min(text.len()));
    let clean = CleanText::clean(&text[..end], near);
    let words: Vec<&str> = clean.text().split_whitespace().collect();
    let line = words.join(" ");
    if end == text.len() && line.chars().count() <= chars {
        return line;
    }
    let kept: String = line.chars().take(chars.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// The line of an event; none for what is only bookkeeping.
#[expect(clippy::too_many_lines, reason = "one row for each type of event")]
pub fn line(event: &EventBody) -> Option<String> {
    let said = match event {
        EventBody::TaskCreated(body) => format!("created: {}", body.title),
        EventBody::TaskUpdated(body) => body.title.as_ref().map(|title| format!("renamed: {title}"))?,
        EventBody::TaskStatusChanged(body) => match &body.reason {
            Some(reason) => format!("{} → {}: {reason}", body.from, body.to),
            None => format!("{} → {}", body.from, body.to),
        },
        EventBody::TaskReset(_) => "its work was thrown away to begin again".to_owned(),
        EventBody::ConversationCleared(_) => "its conversation was thrown away".to_owned(),
        EventBody::TaskDeleted(_) => "deleted".to_owned(),
        EventBody::Message(body) => message(&body.body)?,
        EventBody::AssistantText(body) => body.content.clone(),
        EventBody::Thinking(body) if body.redacted => "thinks".to_owned(),
        EventBody::Thinking(body) => format!("thinks: {}", body.thinking),
        EventBody::ToolCall(body) => call_line(&body.tool, body.input.get()),
        EventBody::ToolResult(body) => result_line(body),
        EventBody::ToolVerdict(body) => match body.verdict {
            Verdict::Deny => format!("refused by rule {}", body.rule),
            Verdict::Allow | Verdict::Ask | Verdict::Other(_) => return None,
        },
        EventBody::TurnEnded(TurnEnded { usage_fault: Some(fault), cost_usd, .. }) => {
            format!("its provider reports usage that cannot be: {fault}; {cost_usd} is booked")
        }
        EventBody::TurnEnded(body) => ended(&body.stop_reason)?,
        EventBody::AttemptFailed(body) => failed_attempt(body),
        EventBody::DoneRequested(body) => format!("reports {}: {}", done(body.status), body.summary),
        EventBody::CheckFinished(body) => match body.exit_code {
            Some(0) => format!("check passed: {}", body.command),
            Some(code) => format!("check failed with {code}: {}", body.command),
            None => format!("check was ended: {}", body.command),
        },
        EventBody::AgentQueued(_) => "waits for a free place".to_owned(),
        EventBody::AgentRested(body) => rested(&body.why)?,
        EventBody::AgentStopped(body) => match &body.reason {
            Some(reason) => format!("stopped: {reason}"),
            None => "stopped".to_owned(),
        },
        EventBody::AgentInterrupted(_) => "its turn was interrupted".to_owned(),
        EventBody::Error(body) => match &body.advice {
            Some(advice) => format!("error: {}. {advice}", body.message.trim_end_matches('.')),
            None => format!("error: {}", body.message),
        },
        EventBody::ClarificationRequested(body) => format!("asks you: {}", body.title),
        EventBody::ClarificationAnswered(body) => format!("your answer: {}", body.answer),
        EventBody::ClarificationExpired(_) => "nobody answered its question in time".to_owned(),
        EventBody::ApprovalRequested(body) => {
            format!("needs your permission to call {}: {}", short_name(&body.tool), body.reason)
        }
        EventBody::ApprovalGiven(body) => match body.verdict {
            Verdict::Allow => "permission given".to_owned(),
            Verdict::Deny => match &body.reason {
                Some(reason) => format!("permission refused: {reason}"),
                None => "permission refused".to_owned(),
            },
            Verdict::Ask | Verdict::Other(_) => return None,
        },
        EventBody::HostApprovalRequested(body) => format!("needs your permission to reach {}", body.host),
        EventBody::HostApprovalGiven(body) => match body.verdict {
            Verdict::Allow => "permission to reach a host given".to_owned(),
            Verdict::Deny => "permission to reach a host refused".to_owned(),
            Verdict::Ask | Verdict::Other(_) => return None,
        },
        EventBody::HostApprovalExpired(_) => {
            "nobody waits for the permission to reach a host any more".to_owned()
        }
        EventBody::SamplingEnded(body) => sampled(body),
        EventBody::CompactMarker(body) => {
            format!("conversation summarised, {} tokens spared", body.saved_tokens)
        }
        EventBody::ContextCounted(body) => match body.by {
            Counter::Provider => format!("its conversation has {} tokens", body.tokens),
            Counter::Estimate | Counter::Other(_) => {
                format!("its conversation has about {} tokens", body.tokens)
            }
        },
        EventBody::ForkMarker(_) => "goes on from the conversation of another task".to_owned(),
        EventBody::RewindMarker(_) => "taken back to an earlier message".to_owned(),
        EventBody::WorktreeCreated(body) => format!("works on branch {}", body.branch),
        EventBody::WorktreeDismissed(_) => "its worktree is being removed".to_owned(),
        EventBody::WorktreeRemoved(body) => format!("worktree of {} removed", body.branch),
        EventBody::WorktreeFailed(body) => format!("worktree failed: {}", body.message),
        EventBody::BudgetGranted(body) => format!("{} granted", body.amount_usd),
        EventBody::BudgetWarning(body) => body.warning.clone(),
        EventBody::BudgetExceeded(body) => exceeded(body),
        EventBody::TaskMoved(_)
        | EventBody::ChildrenReordered(_)
        | EventBody::MessagesConsumed(_)
        | EventBody::NoticeSkipped(_)
        | EventBody::ModelItem(_)
        | EventBody::SessionConfig(_)
        | EventBody::CountRequested(_)
        | EventBody::CompactStarted(_)
        | EventBody::SummarizationRequest(_)
        | EventBody::CompactedResume(_)
        | EventBody::CacheBreak(_)
        | EventBody::TurnStarted(_)
        | EventBody::OrchestrationStarted(_)
        | EventBody::OrchestrationCompleted(_)
        | EventBody::TaskStarted(_)
        | EventBody::DoneNotified(_)
        | EventBody::SamplingStarted(_)
        | EventBody::BudgetTransferred(_)
        | EventBody::BudgetReserved(_)
        | EventBody::BudgetSettled(_)
        | EventBody::BudgetRefunded(_)
        | EventBody::LogPruned(_)
        | EventBody::DaemonBooted(_)
        | EventBody::Unknown(_) => return None,
    };
    Some(one_line(&said, LINE_CHARS))
}

/// A request that failed, and what it cost all the same.
fn failed_attempt(body: &AttemptFailed) -> String {
    let at_most = if body.cost_unknown { "at most " } else { "" };
    let fault = body.usage_fault.as_ref().map(|fault| format!(" ({fault})")).unwrap_or_default();
    let message = body.message.trim_end_matches('.');
    format!("a model request failed, for {at_most}{}{fault}: {message}", body.cost_usd)
}

/// Why the next model call is not made.
fn exceeded(body: &BudgetExceeded) -> String {
    let spent = format!("has spent {} of {}", body.cost_usd, body.budget_usd);
    match (body.next_call_usd, body.left_usd) {
        (Some(next), Some(left)) => {
            format!("{spent}: its next model call may cost up to {next}, and {left} is left")
        }
        (None, Some(_)) => format!("{spent}: what its model costs is not known"),
        (_, None) => spent,
    }
}

/// What a server had the model write.
fn sampled(body: &SamplingEnded) -> String {
    let (server, tokens, usd) = (&body.server, body.usage.output_tokens, body.cost_usd);
    let at_most = if body.cost_unknown { "at most " } else { "" };
    match &body.stop_reason {
        StopReason::Cancelled => {
            format!("what the model wrote for the server {server} was broken off, for {at_most}{usd}")
        }
        StopReason::Other(reason) if reason == FAILED => {
            format!("the model could not write for the server {server}, for {at_most}{usd}")
        }
        StopReason::EndTurn
        | StopReason::ToolUse
        | StopReason::MaxTokens
        | StopReason::Refusal
        | StopReason::Other(_) => {
            format!("the model wrote {tokens} tokens for the server {server}, for {at_most}{usd}")
        }
    }
}

fn done(status: DoneStatus) -> &'static str {
    match status {
        DoneStatus::Passed => "passed",
        DoneStatus::Failed => "failed",
    }
}

/// How a model call ended, when that is worth a line.
fn ended(stop: &StopReason) -> Option<String> {
    match stop {
        StopReason::EndTurn | StopReason::ToolUse | StopReason::Cancelled => None,
        StopReason::MaxTokens => Some("its answer was cut off".to_owned()),
        StopReason::Refusal => Some("the model would not answer".to_owned()),
        StopReason::Other(reason) if reason == REFITTED => Some("it goes on with another model".to_owned()),
        StopReason::Other(reason) => Some(format!("the model stopped: {reason}")),
    }
}

/// Why an agent rests, when no other event says it.
fn rested(why: &RestReason) -> Option<String> {
    match why {
        RestReason::EndTurn | RestReason::Yield => Some("waits".to_owned()),
        RestReason::Spent => Some("has used what it was given".to_owned()),
        RestReason::Loop => Some("went round in circles".to_owned()),
        RestReason::Done
        | RestReason::Interrupted
        | RestReason::Stopped
        | RestReason::Refused
        | RestReason::Failed
        | RestReason::Other(_) => None,
    }
}

fn message(message: &Message) -> Option<String> {
    Some(match message {
        Message::User(body) => format!("you: {}", body.content),
        Message::TaskMessage(body) => format!("{}: {}", body.from_title, body.content),
        Message::TaskComplete(body) => {
            let verdict = if body.success { "passed" } else { "failed" };
            format!("{} {verdict}: {}", body.title, body.output)
        }
        Message::ClarifyResponse(body) => format!("you answered: {}", body.answer),
        Message::UserMessageForwarded(body) => format!("you, to {}: {}", body.from_title, body.content),
        Message::CrossProject(body) => format!("project {}: {}", body.from_project_name, body.content),
        Message::BackgroundComplete(body) => match body.exit_code {
            Some(code) => format!("in the background, exit {code}: {}", body.command),
            None => format!("in the background, lost: {}", body.command),
        },
        Message::Notice(body) => body.content.clone(),
        Message::Compact(_) => "a summary was asked for".to_owned(),
        Message::TreeChange(_) | Message::WorkContext(_) | Message::Interrupt(_) | Message::Unknown(_) => {
            return None;
        }
    })
}
