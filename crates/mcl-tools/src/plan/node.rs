//! The nodes of a plan.

use mxd_core::tool::SideEffect;

use super::template::Template;

/// A node.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    /// Its name, by which others refer to its output.
    pub(super) id: String,
    /// Where it is in the file.
    pub(super) path: String,
    /// What it does.
    pub(super) work: Work,
}

/// What a node does.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Work {
    /// One child after the other.
    Sequential(Vec<Node>),
    /// All children at once.
    Parallel(Vec<Node>),
    /// A call.
    Tool(ToolStep),
    /// A question to a person.
    Gate(GateStep),
}

/// A call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ToolStep {
    /// Which tool.
    pub(super) uri: String,
    /// With which arguments.
    pub(super) args: Template,
    /// After how long it is given up.
    pub(super) timeout_ms: Option<u64>,
    /// What the author of the plan thinks it does.
    pub(super) effect: Option<SideEffect>,
}

/// A question to a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GateStep {
    pub(super) question: String,
    pub(super) options: Vec<String>,
}

impl Work {
    /// Its word.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Sequential(_) => "sequential",
            Self::Parallel(_) => "parallel",
            Self::Tool(_) => "tool_call",
            Self::Gate(_) => "gate",
        }
    }
}

impl Node {
    /// The nodes inside of it.
    pub(super) fn children(&self) -> &[Self] {
        match &self.work {
            Work::Sequential(children) | Work::Parallel(children) => children,
            Work::Tool(_) | Work::Gate(_) => &[],
        }
    }

    /// It and all nodes inside of it, in the order of the file.
    pub(super) fn walk(&self) -> Vec<&Self> {
        let mut found = vec![self];
        found.extend(self.children().iter().flat_map(Self::walk));
        found
    }
}
