//! Calls that need the user's word: asked through the client, where it can ask.
//!
//! Before 2026-07-28 the server sends a question and waits. Since then it answers with what it has to know, and the
//! client calls again with the answer; the name of the question is the hash of the call, so that the word given for
//! one call opens no other.

use std::collections::BTreeMap;

use mxd_core::tool::{CallHash, CleanText, RuleRef};
use rmcp::RoleServer;
use rmcp::model::{
    ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema,
    InputRequest, InputRequiredResult, InputResponses, ProtocolVersion, ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestContext};

use super::limits::{ANSWER_PATIENCE, MAX_QUESTION_BYTES};
use crate::secrets::Secrets;

/// A call that has to be asked about.
#[derive(Debug)]
pub(super) struct Question<'a> {
    /// The tool, by the name the client uses.
    pub(super) tool: &'a str,
    /// The arguments.
    pub(super) args: &'a str,
    /// By which rule.
    pub(super) rule: &'a RuleRef,
    /// The call.
    pub(super) call_hash: CallHash,
    /// What must not come out.
    pub(super) secrets: &'a Secrets,
}

/// What came of a question.
#[derive(Debug)]
pub(super) enum Word {
    /// The user allows the call.
    Given,
    /// The call does not run; in words for the model.
    Withheld(String),
    /// The client has to ask, and to call again.
    Asked(InputRequiredResult),
}

/// Asks.
pub(super) async fn ask(
    question: &Question<'_>,
    answers: Option<&InputResponses>,
    context: &RequestContext<RoleServer>,
) -> Word {
    if !can_ask(context) {
        return Word::Withheld(format!(
            "`{}` was not run: it needs the user's word ({}), and this client cannot ask for it, because it does not \
             declare the capability `elicitation`. Do it another way, or have the user do it.",
            question.tool, question.rule
        ));
    }
    let stateless =
        context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
    let name = format!("approve-{}", question.call_hash);
    let answer = match (stateless, answers.and_then(|answers| answers.get(&name))) {
        (true, Some(answer)) => serde_json::from_value(answer.clone()).ok(),
        (true, None) => {
            let request = InputRequest::Elicitation(ElicitRequest::new(question.params()));
            return Word::Asked(InputRequiredResult::from_input_requests(BTreeMap::from([(name, request)])));
        }
        (false, _) => asked_now(question, context).await,
    };
    match answer.map(|answer: ElicitResult| answer.action) {
        Some(ElicitationAction::Accept) => Word::Given,
        Some(_) => Word::Withheld(format!("`{}` was not run: the user did not allow it", question.tool)),
        None => Word::Withheld(format!("`{}` was not run: the user gave no answer", question.tool)),
    }
}

fn can_ask(context: &RequestContext<RoleServer>) -> bool {
    let declared = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
    // Who names no kind of question means the one that is a form.
    declared.is_some_and(|kinds| kinds.form.is_some() || kinds.url.is_none())
}

async fn asked_now(question: &Question<'_>, context: &RequestContext<RoleServer>) -> Option<ElicitResult> {
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(question.params()));
    let options = PeerRequestOptions::with_timeout(ANSWER_PATIENCE);
    let sent = context.peer.send_request_with_option(request, options).await.ok()?;
    let answered = tokio::select! {
        answered = sent.await_response() => answered.ok()?,
        () = context.ct.cancelled() => return None,
    };
    match answered {
        ClientResult::ElicitResult(result) => Some(result),
        _ => None,
    }
}

impl Question<'_> {
    /// Yes or no: the form has no field.
    fn params(&self) -> ElicitRequestParams {
        let shown = self.secrets.redact(self.args);
        let shown = CleanText::clean(&shown, MAX_QUESTION_BYTES);
        ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: format!("May `{}` run with these arguments?\n{}", self.tool, shown.text()),
            requested_schema: ElicitationSchema::new(BTreeMap::new()),
        }
    }
}
