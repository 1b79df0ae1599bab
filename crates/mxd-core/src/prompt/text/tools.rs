//! What an agent is told about the tools it has, and about those it does not have.

use super::fence::Fence;

/// Bytes of the text of a skill.
const SKILL_BYTES: usize = crate::tool::limits::SKILL_BYTES;
/// Bytes of everything an agent is told about what it does not have.
const TROUBLE_BYTES: usize = 8 << 10;

/// The skill that an agent works by.
pub fn active_skill(name: &str, body: &str) -> String {
    let fenced = Fence::new("skill").around(body, SKILL_BYTES);
    format!("\n# Your skill\n\nYou work by the skill {name}, and have the tools it lists.\n\n{fenced}\n")
}

/// What an agent has to know about tools it does not have; nothing when there is nothing to know.
pub fn tool_troubles(troubles: &[String]) -> Option<String> {
    if troubles.is_empty() {
        return None;
    }
    let lines: Vec<String> =
        troubles.iter().map(|trouble| format!("* {}", trouble.replace('\n', " "))).collect();
    let fenced = Fence::new("servers").around(&lines.join("\n"), TROUBLE_BYTES);
    Some(format!("\n# Tools you do not have at the moment\n\n{fenced}\n"))
}

/// What an agent reads that calls what its manifest or its skill does not give it.
pub fn withheld(name: &str) -> String {
    format!(
        "Nothing was done: your manifest or your skill does not give you {name}. Report to the task above instead."
    )
}
