//! Keys of model providers that people usually have in their environment.

/// A variable that holds a key, and what it is a key for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FoundKey {
    /// The name of the variable.
    pub variable: &'static str,
    /// Whose key it is.
    pub provider: &'static str,
    /// The member of an auth group that it belongs in.
    pub member: &'static str,
}

impl FoundKey {
    /// What an auth group refers to it by.
    pub fn reference(self) -> String {
        format!("$env:{}", self.variable)
    }

    /// The command that makes it the account of all agents.
    pub fn command(self) -> String {
        format!(
            "mxd config auth add main --provider {} --key '{}' --default",
            self.provider,
            self.reference()
        )
    }
}

const KEYS: [FoundKey; 2] = [
    FoundKey { variable: "ANTHROPIC_API_KEY", provider: "anthropic", member: "anthropicApiKey" },
    FoundKey { variable: "OPENAI_API_KEY", provider: "openai", member: "openaiApiKey" },
];

/// The keys whose variables are set.
pub fn found_keys(is_set: impl Fn(&str) -> bool) -> Vec<FoundKey> {
    KEYS.into_iter().filter(|key| is_set(key.variable)).collect()
}
