//! Tools: what they are called, who may use them, and the gate that every call passes.
//!
//! A tool is a [`ToolId`]; in one version it is a [`PinnedTool`]. It is spelt in three ways, which are read
//! and printed here and nowhere else: [`WireName`] for models, the URI for manifests, plans and the command
//! line, the capability for rules. What decides about a call is plain data ([`ToolFacts`], [`EffectSet`],
//! [`SkillTools`], [`CapabilitySet`], [`ApprovalPolicy`]), and [`gate()`] is a pure function of it.

mod approval;
mod arg_pattern;
mod args;
mod capability;
mod denial;
mod digest;
mod effect;
mod facts;
mod gate;
mod glob;
mod host;
mod id;
pub mod limits;
pub mod orchestrator;
mod path_glob;
mod pattern;
mod pin;
mod skill;
mod spec;
pub(crate) mod spelling;
mod text;
mod uri;
mod wire_name;

pub use approval::{
    ApprovalPolicy, ApprovalRule, Fallback, PolicyError, RuleName, RuleNameError, RuleRef, Ruled, Ruling,
    Specificity, Subject,
};
pub use arg_pattern::{ArgMatch, ArgPattern, ArgPatternError, ArgPointer, ArgPointerError};
pub use args::{ArgsError, CallArgs, CallHash, call_bytes};
pub use capability::{CapabilityLayer, CapabilitySet, CapabilitySetError, Granted, Ungranted};
pub use denial::{ArgProblem, Denial, GateStep};
pub use digest::{Digest, DigestError};
pub use effect::{EffectSet, InvalidSideEffect, SideEffect};
pub use facts::{Known, PinState, ToolFacts};
pub use gate::{ArgsCheck, Arguments, Call, CalledPin, GateContext, SkillScope, Verdict, gate};
pub use glob::{Glob, GlobError, Reading};
pub(crate) use host::host as host_of_url;
pub use host::{HostPattern, HostPatternError};
pub use id::{CapabilityError, NameError, PinnedTool, ServerName, ToolId, ToolName};
pub use path_glob::PathGlob;
pub use pattern::{Closeness, ToolPattern, ToolPatternError};
pub use pin::{Pin, PinError, Version};
pub use skill::{
    Listed, Skill, SkillErrors, SkillFault, SkillName, SkillNameError, SkillProblem, SkillTool,
    SkillToolError, SkillTools, parse_md, parse_mtx,
};
pub use spec::{Annotations, InputSchema, ToolDef, ToolDefError, ToolOffer};
pub use text::{CleanText, Quoted, TextFlags, is_hidden, visible};
pub use uri::{Namespace, NativeTool, ToolUri, ToolUriError, UriFault};
pub use wire_name::{WireName, WireNameCollision, WireNameError, WireNames};
