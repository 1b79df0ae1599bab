//! Any tool, any rule: what the property tests draw from.

use mxd_core::tool::{
    CapabilityLayer, CapabilitySet, Pin, PinnedTool, ServerName, SideEffect, ToolId, ToolName, ToolPattern,
};
use proptest::prelude::*;

/// Any server the rules for names allow.
pub(super) fn server() -> impl Strategy<Value = ServerName> {
    "_?[a-z0-9-](_?[a-z0-9-]){0,15}".prop_map(|name| name.parse().expect("a server"))
}

/// Any tool name MCP allows, up to its limit.
pub(super) fn tool_name() -> impl Strategy<Value = ToolName> {
    // Long ones without a dot, too: both reasons to shorten a wire name have to stand alone.
    let name = prop_oneof![
        4 => "[A-Za-z0-9_.-]{1,20}",
        1 => "[A-Za-z0-9_.-]{30,128}",
        1 => "[A-Za-z0-9_-]{30,128}",
    ];
    name.prop_map(|name| name.parse().expect("a tool"))
}

/// Any tool.
pub(super) fn tool_id() -> impl Strategy<Value = ToolId> {
    (server(), tool_name()).prop_map(|(server, tool)| ToolId { server, tool })
}

/// One of a few tools, so that rules meet them.
pub(super) fn common_id() -> impl Strategy<Value = ToolId> {
    let server = prop::sample::select(vec!["fs", "git", "web"]);
    let tool = prop::sample::select(vec!["read_file", "read_dir", "write_file", "git_status", "fetch"]);
    (server, tool).prop_map(|(server, tool)| id(&format!("mcp:{server}:{tool}")))
}

/// Any pin.
pub(super) fn pin() -> impl Strategy<Value = Pin> {
    let version = "(0|[1-9][0-9]{0,4})\\.(0|[1-9][0-9]{0,2})\\.(0|[1-9][0-9]{0,2})(-[a-z][0-9a-z.-]{0,6}[a-z])?(\\+[0-9a-z-]{1,6})?";
    let version = version
        .prop_filter("no empty part", |text| !text.contains(".."))
        .prop_filter("no leading zero", |text| {
            text.split('.').all(|part| part == "0" || !part.starts_with('0'))
        });
    let digest = "sha256:[0-9a-f]{64}";
    prop_oneof![version, digest].prop_map(|text| text.parse().expect("a pin"))
}

/// Any tool in any version.
pub(super) fn pinned() -> impl Strategy<Value = PinnedTool> {
    (tool_id(), pin()).prop_map(|(id, pin)| PinnedTool { id, pin })
}

/// One of a few patterns, from everything to one tool.
pub(super) fn common_pattern() -> impl Strategy<Value = ToolPattern> {
    let server = prop::sample::select(vec!["*", "fs", "git", "web", "*s", "g*"]);
    let tool =
        prop::sample::select(vec!["*", "read_*", "*_file", "read_file", "write_file", "git_status", "*e*"]);
    (server, tool).prop_map(|(server, tool)| pattern(&format!("mcp:{server}:{tool}")))
}

/// Any layer.
pub(super) fn layer() -> impl Strategy<Value = CapabilityLayer> {
    let grants = prop::collection::vec(common_pattern(), 0..5);
    let denials = prop::collection::vec(common_pattern(), 0..2);
    let layer = |(grants, denials): (Vec<_>, Vec<_>)| CapabilityLayer::granting(grants)?.denying(denials);
    (grants, denials).prop_map(move |rules| layer(rules).expect("a layer"))
}

/// Any set of a task that stands up to three levels below the root.
pub(super) fn capabilities() -> impl Strategy<Value = CapabilitySet> {
    (layer(), prop::collection::vec(layer(), 0..3)).prop_map(|(root, below)| {
        let root = CapabilitySet::root(root);
        below.into_iter().fold(root, |set, layer| set.child(layer).expect("a child"))
    })
}

/// Any class.
pub(super) fn effect() -> impl Strategy<Value = SideEffect> {
    prop::sample::select(SideEffect::ALL.to_vec())
}

pub(super) fn id(capability: &str) -> ToolId {
    capability.parse().expect(capability)
}

pub(super) fn pattern(text: &str) -> ToolPattern {
    text.parse().expect(text)
}
