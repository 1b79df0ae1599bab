//! Every limit of tools, rules and skills, as data in one place.
//!
//! Constants and no configuration: what a name, a rule or a hash means must not differ between two programs.

/// Characters of a server's name. With `mcp__`, `__` and a hash it has to fit into a wire name.
pub const SERVER_NAME_CHARS: usize = 32;
/// Characters of a tool's name, as MCP has it.
pub const TOOL_NAME_CHARS: usize = 128;
/// Characters of the name a model calls a tool by: what all providers accept.
pub const WIRE_NAME_CHARS: usize = 64;
/// Characters of a pin.
pub const PIN_CHARS: usize = 128;
/// Bytes of a tool URI.
pub const URI_BYTES: usize = 512;
/// Bytes of one pattern, whatever it is matched against.
pub const PATTERN_BYTES: usize = 1024;
/// Wildcards of one pattern.
pub const PATTERN_WILDCARDS: usize = 16;
/// Grants and denials of one layer of a capability set.
pub const PATTERNS_PER_LAYER: usize = 512;
/// Layers of a capability set: more than the depth of the tree, so that no task is refused for where it stands.
pub const CAPABILITY_LAYERS: usize = 32;
/// Rules of an approval policy.
pub const APPROVAL_RULES: usize = 256;
/// Arguments one approval rule looks at.
pub const ARGS_PER_RULE: usize = 8;
/// Characters of the name of an approval rule.
pub const RULE_NAME_CHARS: usize = 64;
/// Bytes of the arguments of one call.
pub const ARGS_BYTES: usize = 1024 * 1024;
/// Levels of the arguments of one call.
pub const ARGS_DEPTH: usize = 64;
/// Bytes of a path that a rule looks at; the systems we run on take no longer ones.
pub const PATH_BYTES: usize = 4096;
/// Bytes of a skill's file.
pub const SKILL_BYTES: usize = 256 * 1024;
/// Characters of a skill's name.
pub const SKILL_NAME_CHARS: usize = 64;
/// Bytes of a skill's description: the model reads those of all skills.
pub const SKILL_DESCRIPTION_BYTES: usize = 2048;
/// Tools a skill can list.
pub const SKILL_TOOLS: usize = 256;
/// Problems of one skill file that are told; the rest is counted.
pub const SKILL_PROBLEMS: usize = 50;
/// Bytes of a tool's description.
pub const DESCRIPTION_BYTES: usize = 16 * 1024;
/// Bytes of a tool's title.
pub const TITLE_BYTES: usize = 256;
/// Bytes of a tool's schema.
pub const SCHEMA_BYTES: usize = 128 * 1024;
/// Characters of what is quoted from outside in a message.
pub const QUOTE_CHARS: usize = 120;
/// Problems of a call's arguments that the model is told.
pub const ARG_PROBLEMS: usize = 10;
/// Bytes of the reason a model is told for a denied call; the advice behind it is always whole.
pub const DENIAL_BYTES: usize = 4096;
