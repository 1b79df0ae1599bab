//! Tools as MCP lists them: the definitions of the registry, and hints from their classes.

use std::sync::Arc;

use mxd_core::raw::RawJson;
use mxd_core::tool::{SideEffect, ToolDef, ToolId, WireName};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::Value;

use crate::builtin;

/// The name under which a client finds a tool. A client knows which server it talks to, so ours have their own names;
/// those of other servers keep theirs apart.
pub(super) fn name(id: &ToolId) -> String {
    if id.server.as_str() == builtin::SERVER {
        id.tool.as_str().to_owned()
    } else {
        WireName::of(id).as_str().to_owned()
    }
}

/// The tool as it is listed.
pub(super) fn listed(def: &ToolDef) -> Tool {
    let description = def.description.text().to_owned();
    let mut tool = Tool::new(name(&def.facts.id), description, object(def.input.shown()));
    if !def.title.text().is_empty() {
        tool = tool.with_title(def.title.text());
    }
    if let Some(schema) = &def.output_schema {
        tool = tool.with_raw_output_schema(object(schema));
    }
    match def.facts.effect {
        Some(effect) => tool.with_annotations(hints(effect)),
        None => tool,
    }
}

/// What a class says about manners. A class is the gravest thing a tool does, so the hints are, too.
fn hints(effect: SideEffect) -> ToolAnnotations {
    let hints = |read_only, destructive, open_world| {
        ToolAnnotations::new().read_only(read_only).destructive(destructive).open_world(open_world)
    };
    match effect {
        SideEffect::Read => hints(true, false, false).idempotent(true),
        SideEffect::Write => hints(false, true, false),
        SideEffect::Network | SideEffect::Shell | SideEffect::Chain => hints(false, true, true),
    }
}

/// The registry takes only schemas of objects.
fn object(schema: &RawJson) -> Arc<JsonObject> {
    match serde_json::from_str(schema.get()) {
        Ok(Value::Object(members)) => Arc::new(members),
        Ok(_) | Err(_) => Arc::default(),
    }
}
