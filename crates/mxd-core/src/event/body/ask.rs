//! Questions to the user: clarifications and approvals.

use serde::{Deserialize, Serialize};

use super::{ApprovalScope, EditedBy, ToolCallId, Verdict};
use crate::id::{ApprovalId, ClarificationId};

/// An agent asks the user something and goes on working.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClarificationRequested {
    /// Names the question.
    pub id: ClarificationId,
    /// The whole question.
    pub question: String,
    /// Its first line.
    pub title: String,
    /// The rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// The tool server that asks in the course of a call, and is told the answer; none when the agent asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
}

/// The user answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClarificationAnswered {
    /// Which question.
    pub id: ClarificationId,
    /// The answer.
    pub answer: String,
}

/// Nobody answered in time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClarificationExpired {
    /// Which question.
    pub id: ClarificationId,
}

/// A tool call waits for the user's word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalRequested {
    /// Names the request.
    pub id: ApprovalId,
    /// The call that waits.
    pub tool_call_id: ToolCallId,
    /// The tool's name.
    pub tool: String,
    /// The hash of tool and arguments, so that the word given is about exactly this call.
    pub call_hash: String,
    /// The rule that asks.
    pub reason: String,
}

/// The word was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalGiven {
    /// Which request.
    pub id: ApprovalId,
    /// Allow or deny.
    pub verdict: Verdict,
    /// How far it reaches.
    pub scope: ApprovalScope,
    /// Who gave it.
    pub by: EditedBy,
    /// Why, in the words of whoever denied it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The commands of an agent want to reach a host that no rule allows or denies, and wait for the user's word. Nothing was
/// looked up or sent for it yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HostApprovalRequested {
    /// Names the request.
    pub id: ApprovalId,
    /// The host as a rule would name it, with its port unless that is a usual one.
    pub host: String,
}

/// The word about a host was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HostApprovalGiven {
    /// Which request.
    pub id: ApprovalId,
    /// Allow or deny.
    pub verdict: Verdict,
    /// How far it reaches: the connections that wait, the task, or the project.
    pub scope: ApprovalScope,
    /// Who gave it.
    pub by: EditedBy,
}

/// Nobody waits for the word about a host any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HostApprovalExpired {
    /// Which request.
    pub id: ApprovalId,
}
