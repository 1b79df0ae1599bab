//! What waits for the user: calls to be approved, questions, agents that cannot go on.

use mxd_core::event::body::ToolCallId;
use mxd_core::id::TaskId;
use mxd_core::raw::RawJson;
use mxd_core::show;
use mxd_core::state::State;
use mxd_core::time::Millis;
use mxd_core::tree::Status;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::feed::Tally;

/// Everything that waits for the user.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Needs {
    approvals: Vec<ApprovalNeed>,
    pub(crate) clarifications: Vec<ClarificationNeed>,
    failed: Vec<Trouble>,
    conflicts: Vec<Trouble>,
    /// Servers that wait until the user accepts what they offer. Only where needs are asked for by themselves.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) servers: Vec<ServerNeed>,
}

/// A server that waits for the user's word.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerNeed {
    /// Which one.
    pub(crate) alias: String,
    /// What it offers otherwise than was accepted, or that nothing was accepted yet.
    pub(crate) why: String,
    /// The command that shows it in full, and the one that accepts it.
    pub(crate) commands: Vec<String>,
}

impl Needs {
    pub(crate) fn count(&self) -> u64 {
        let Self { approvals, clarifications, failed, conflicts, servers } = self;
        let tasks = approvals.len() + clarifications.len() + failed.len() + conflicts.len();
        (tasks + servers.len()) as u64
    }
}

/// A tool call, or a host that a command wants to reach, that waits for the user's word.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApprovalNeed {
    task_id: String,
    task_title: String,
    approval_id: String,
    /// The call; empty for a host.
    call_id: String,
    /// The tool; `network` for a host.
    tool: String,
    /// The host that a command wants to reach and that no rule allows or denies, as a rule would name it. Without it the
    /// word is about a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    /// Its arguments, as the model wrote them.
    #[schemars(with = "serde_json::Value")]
    args: Option<Box<RawValue>>,
    /// The hash of tool and arguments; an approval may name it, and is then about nothing else.
    args_digest: String,
    /// The rule that asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    at: u64,
}

/// A question of an agent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ClarificationNeed {
    task_id: String,
    task_title: String,
    clarification_id: String,
    question: String,
    at: u64,
    /// When it counts as unanswered.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<u64>,
}

/// A task that cannot go on by itself.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Trouble {
    task_id: String,
    task_title: String,
    why: String,
    at: u64,
}

/// What waits for the user in a project.
pub(crate) fn needs(state: &State, tally: &Tally) -> Needs {
    let mut needs = Needs::default();
    let title = |task: TaskId| state.tree().get(task).map(|node| node.title.clone()).unwrap_or_default();
    for (task, session) in state.sessions() {
        for (id, waiting) in session.approvals() {
            let asked = tally.approval(*id);
            needs.approvals.push(ApprovalNeed {
                task_id: task.to_string(),
                task_title: title(*task),
                approval_id: id.to_string(),
                call_id: waiting.call.0.clone(),
                tool: waiting.tool.clone(),
                host: None,
                args: arguments(tally, *task, &waiting.call),
                args_digest: waiting.call_hash.clone(),
                rule: asked.map(|asked| asked.rule.clone()),
                at: asked.map_or(0, |asked| asked.at.0),
            });
        }
        for (id, request) in session.host_requests() {
            needs.approvals.push(ApprovalNeed {
                task_id: task.to_string(),
                task_title: title(*task),
                approval_id: id.to_string(),
                call_id: String::new(),
                tool: "network".to_owned(),
                host: Some(request.host.clone()),
                args: serde_json::value::to_raw_value(&serde_json::json!({ "host": request.host })).ok(),
                args_digest: host_digest(&request.host),
                rule: None,
                at: request.at.0,
            });
        }
        for (id, at) in session.questions() {
            needs.clarifications.push(ClarificationNeed {
                task_id: task.to_string(),
                task_title: title(*task),
                clarification_id: id.to_string(),
                question: tally.question(*id).unwrap_or_default().to_owned(),
                at: at.0,
                expires_at: tally.question_ms().map(|wait| at.0.saturating_add(wait)),
            });
        }
        let status = state.tree().get(*task).and_then(|node| node.status());
        let trouble =
            |why: String, at: u64| Trouble { task_id: task.to_string(), task_title: title(*task), why, at };
        let counted = tally.task(*task);
        if let Some(standing) = show::standing(state, *task).filter(|standing| standing.state.is_stuck())
            && status == Some(Status::InProgress)
        {
            let error = counted.and_then(|counted| counted.last_error.clone());
            let (why, at) = error.map_or((standing.why, 0), |(at, why)| (why, at.0));
            needs.failed.push(trouble(why, at));
        }
        if status == Some(Status::Failed) {
            let failure = counted.and_then(|counted| counted.failure.clone().or(counted.last_error.clone()));
            let (at, why) = failure.unwrap_or((Millis(0), "its agent gave up".to_owned()));
            needs.failed.push(trouble(why, at.0));
        }
        if let Some((at, why)) = counted.and_then(|counted| counted.conflict.clone()) {
            needs.conflicts.push(trouble(why, at.0));
        }
    }
    needs
}

/// What a word about a host names, so that it is about no other one.
pub(crate) fn host_digest(host: &str) -> String {
    format!("host:{host}")
}

fn arguments(tally: &Tally, task: TaskId, call: &ToolCallId) -> Option<Box<RawValue>> {
    let args: &RawJson = tally.arguments(task, call)?;
    RawValue::from_string(args.get().to_owned()).ok()
}
