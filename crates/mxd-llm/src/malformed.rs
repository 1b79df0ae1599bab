//! Arguments of tool calls, which models sometimes write wrongly.
//!
//! Wrong arguments are never replaced by an empty object: a tool would run with defaults nobody asked for. The
//! call is marked, carries what the model wrote in a form every provider takes back, and the caller answers it
//! with an error the model can read.

use mxd_core::prompt::ToolCall;
use mxd_core::raw::RawJson;

use crate::error::{Class, LlmError};

/// The call with these arguments, marked if they are no JSON object.
///
/// No text at all is how models call a tool without arguments, so it is the empty object.
pub(crate) fn tool_call(id: String, name: String, arguments: &str) -> Result<ToolCall, LlmError> {
    let text = if arguments.trim().is_empty() { "{}" } else { arguments };
    let problem = match RawJson::parse(text) {
        Ok(input) if input.get().trim_start().starts_with('{') => {
            return Ok(ToolCall { id, name, input, malformed: None });
        }
        Ok(_) => "the arguments are not a JSON object".to_owned(),
        Err(error) => format!("the arguments are not valid JSON: {error}"),
    };
    let input = wrapped(arguments)?;
    Ok(ToolCall { id, name, input, malformed: Some(problem) })
}

/// What the model wrote, as an object that can be sent back.
fn wrapped(arguments: &str) -> Result<RawJson, LlmError> {
    let failed = |error: serde_json::Error| LlmError::new(Class::Protocol, error.to_string());
    let text = serde_json::to_string(arguments).map_err(failed)?;
    RawJson::parse(&format!("{{\"malformed_arguments\":{text}}}")).map_err(failed)
}
