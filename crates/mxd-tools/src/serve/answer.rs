//! Outcomes as MCP tells them.

use rmcp::model::{CallToolResult, ContentBlock, ProtocolVersion};

use crate::outcome::{Outcome, Part};
use crate::plane::Settlement;
use crate::shell::Completion;

/// The result of a call. `ended` are background commands, whose ends are told with the next result that there is.
pub(super) fn result(
    outcome: Outcome,
    ended: &[Completion],
    version: Option<&ProtocolVersion>,
) -> CallToolResult {
    let content = outcome.parts.into_iter().map(block).chain(ended.iter().map(notice)).collect();
    let mut result =
        if outcome.is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
    // Before 2026-07-28 structured content is an object or nothing; the text says the same.
    let any_value = version.is_some_and(|version| *version >= ProtocolVersion::V_2026_07_28);
    result.structured_content = outcome.structured.filter(|value| any_value || value.is_object());
    result
}

fn block(part: Part) -> ContentBlock {
    match part {
        Part::Text(text) => ContentBlock::text(text),
        Part::Image { media_type, data } => ContentBlock::image(data, media_type),
    }
}

fn notice(ended: &Completion) -> ContentBlock {
    let Completion { id, ending, output, tail, .. } = ended;
    let end = format!("[{id} ended: {}; its output is in {}]", ending.in_words(), output.display());
    ContentBlock::text(if tail.is_empty() { end } else { format!("{end}\n{tail}") })
}

/// What a settled call came to; nothing when the user is to be asked first.
pub(super) fn outcome(settlement: Settlement) -> Option<Outcome> {
    match settlement {
        Settlement::Done(outcome) | Settlement::Cancelled(outcome) | Settlement::TimedOut(outcome) => {
            Some(outcome)
        }
        Settlement::Denied { told, .. } => Some(told),
        Settlement::Ask { .. } => None,
    }
}
