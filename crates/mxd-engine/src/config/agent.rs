//! Which model an agent talks to, and how it is reached.

use mxd_core::prompt::Effort;
use mxd_llm::{LlmError, Model, Provider, ProviderConfig, Wire};
use secrecy::SecretString;
use tokio_util::sync::CancellationToken;

use super::Config;
use super::document::{AuthGroup, OpenAiWire, ProviderName};
use super::secret::{Secret, SecretError};

/// What the root task asks when nobody chose a model.
const DEFAULT_ANTHROPIC: &str = "claude-sonnet-5-5";
const DEFAULT_OPENAI: &str = "gpt-6.1-sol";

/// Whose agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The root task's.
    Root,
    /// That of any other task.
    Child,
}

/// The model of an agent and the way to it.
#[derive(Debug, Clone)]
pub struct AgentModel {
    /// The name of the auth group.
    pub group: String,
    /// The protocol.
    pub wire: Wire,
    /// Where the provider is.
    pub base_url: String,
    /// What is known about the model.
    pub model: Model,
    /// How hard it thinks; none leaves it to the model.
    pub effort: Option<Effort>,
    key: Option<(String, Secret)>,
    is_bearer: bool,
    proxy: Option<(String, Secret)>,
}

/// Why there is no model to ask.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AgentModelError {
    /// Nobody added an account.
    #[error("there is no auth group, so no model can be asked")]
    NoGroup,
    /// There are several, and nobody said which.
    #[error("there are several auth groups and no `defaultAuth`")]
    NoDefault {
        /// Their names.
        known: Vec<String>,
    },
    /// A key is needed and not given.
    #[error("the auth group `{group}` has no `{member}`")]
    NoKey {
        /// Which group.
        group: String,
        /// What it lacks.
        member: &'static str,
    },
    /// Nothing is known about the model.
    #[error("nothing is known about the model `{model}`, so neither its window nor its price{}", because(*.budgeted))]
    UnknownModel {
        /// Which model.
        model: String,
        /// Whether a budget in dollars has to be kept.
        budgeted: bool,
    },
}

fn because(budgeted: bool) -> &'static str {
    if budgeted { ", and a budget in dollars cannot be kept without a price" } else { "" }
}

impl AgentModelError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::NoGroup => {
                "Add an account: mxd config auth add main --provider anthropic --key '$env:ANTHROPIC_API_KEY'"
                    .to_owned()
            }
            Self::NoDefault { known } => {
                format!("Say which: mxd config set defaultAuth NAME, with one of {}.", known.join(", "))
            }
            Self::NoKey { member, .. } => format!("Add `{member}`: the key itself, or `$env:NAME`."),
            Self::UnknownModel { model, .. } => format!(
                "Correct the name, or add an entry to `models` (prices in dollars per million tokens, 0 for a server of \
                 one's own): {{\"name\": \"{model}\", \"vendor\": \"…\", \"contextWindow\": 200000, \"maxOutputTokens\": \
                 32000, \"thinking\": \"none\", \"images\": false, \"prices\": {{\"input\": 1, \"output\": 5, \
                 \"cacheRead\": 0.1, \"cacheWrite5m\": 1.25, \"cacheWrite1h\": 2}}}}"
            ),
        }
    }
}

impl Config {
    /// The model of an agent.
    ///
    /// # Errors
    ///
    /// When no account is chosen, it lacks its key, or nothing is known about the model.
    pub fn agent_model(&self, role: Role) -> Result<AgentModel, AgentModelError> {
        let (root_name, root_group) = self.default_group()?;
        let (name, group) = match (role, &self.child_auth) {
            (Role::Child, Some(name)) => self.group(name)?,
            (Role::Root | Role::Child, _) => (root_name, root_group),
        };
        let own = match role {
            Role::Root => self.model.as_ref(),
            // A model of the root's provider is no use at another one.
            Role::Child => self
                .child_model
                .as_ref()
                .or_else(|| self.model.as_ref().filter(|_| group.provider == root_group.provider)),
        };
        let wanted = own.map_or_else(|| default_model(group.provider), String::as_str);
        let unknown =
            |_| AgentModelError::UnknownModel { model: wanted.to_owned(), budgeted: self.budget.is_some() };
        let mut model = self.models.get(wanted).map_err(unknown)?.clone();
        // The provider is asked by the name that was configured, which may carry a date.
        wanted.clone_into(&mut model.name);
        let path = |member: &str| format!("authGroups.{name}.{member}");
        let (wire, base_url, member) = way(group);
        let key = match group.provider {
            ProviderName::Anthropic => {
                group.anthropic_api_key.clone().or_else(|| group.claude_oauth_token.clone())
            }
            ProviderName::OpenAi => group.openai_api_key.clone(),
        };
        if key.is_none() && base_url == wire.default_base_url() {
            return Err(AgentModelError::NoKey { group: name.to_owned(), member });
        }
        Ok(AgentModel {
            group: name.to_owned(),
            wire,
            base_url,
            model,
            effort: self.effort,
            key: key.map(|key| (path(member), key)),
            is_bearer: is_bearer(group),
            proxy: group.proxy.clone().map(|proxy| (path("proxy"), proxy)),
        })
    }

    fn default_group(&self) -> Result<(&str, &AuthGroup), AgentModelError> {
        let mut names = self.auth_groups.keys();
        match (&self.default_auth, names.next(), names.next()) {
            (Some(name), _, _) => self.group(name),
            (None, Some(only), None) => self.group(only),
            (None, None, _) => Err(AgentModelError::NoGroup),
            (None, Some(_), Some(_)) => {
                Err(AgentModelError::NoDefault { known: self.auth_groups.keys().cloned().collect() })
            }
        }
    }

    fn group(&self, name: &str) -> Result<(&str, &AuthGroup), AgentModelError> {
        let found = self.auth_groups.get_key_value(name);
        found.map(|(name, group)| (name.as_str(), group)).ok_or(AgentModelError::NoGroup)
    }
}

fn default_model(provider: ProviderName) -> &'static str {
    match provider {
        ProviderName::Anthropic => DEFAULT_ANTHROPIC,
        ProviderName::OpenAi => DEFAULT_OPENAI,
    }
}

/// The protocol, the address, and what the key is called.
fn way(group: &AuthGroup) -> (Wire, String, &'static str) {
    let (wire, base_url, member) = match (group.provider, group.wire, &group.openai_base_url) {
        (ProviderName::Anthropic, _, _) => {
            let member = if is_bearer(group) { "claudeOauthToken" } else { "anthropicApiKey" };
            (Wire::Anthropic, &group.anthropic_base_url, member)
        }
        (ProviderName::OpenAi, Some(OpenAiWire::Chat), url) | (ProviderName::OpenAi, None, url @ Some(_)) => {
            (Wire::Chat, url, "openaiApiKey")
        }
        (ProviderName::OpenAi, Some(OpenAiWire::Responses) | None, url) => {
            (Wire::Responses, url, "openaiApiKey")
        }
    };
    (wire, base_url.clone().unwrap_or_else(|| wire.default_base_url().to_owned()), member)
}

/// Whether a group is used with the token of a subscription and not with a key.
fn is_bearer(group: &AuthGroup) -> bool {
    group.provider == ProviderName::Anthropic
        && group.anthropic_api_key.is_none()
        && group.claude_oauth_token.is_some()
}

impl AgentModel {
    /// How the provider is reached, with credentials. Variables are looked up by the caller, and only those that the
    /// configuration names.
    ///
    /// # Errors
    ///
    /// When a variable is not set, or holds what cannot be sent.
    pub fn provider(
        &self,
        lookup: &dyn Fn(&str) -> Option<SecretString>,
    ) -> Result<ProviderConfig, SecretError> {
        let resolved = |secret: &Option<(String, Secret)>| {
            secret.as_ref().map(|(path, secret)| secret.resolve(path, lookup)).transpose()
        };
        let mut config = ProviderConfig::new(self.wire, resolved(&self.key)?);
        config.base_url.clone_from(&self.base_url);
        config.is_bearer = self.is_bearer;
        config.proxy = resolved(&self.proxy)?;
        Ok(config)
    }

    /// Asks the provider which models it has: whether it can be reached, and takes the key. Whoever drops it asks no
    /// longer.
    ///
    /// # Errors
    ///
    /// When a variable is not set, nobody answers, or the key is refused.
    pub async fn listed(
        &self,
        lookup: &dyn Fn(&str) -> Option<SecretString>,
    ) -> Result<Vec<String>, ReachError> {
        let provider = Provider::new(self.provider(lookup)?)?;
        let listed = provider.models(&CancellationToken::new()).await?;
        Ok(listed.into_iter().map(|model| model.name).collect())
    }
}

/// Why a provider did not say which models it has.
#[derive(Debug, thiserror::Error)]
pub enum ReachError {
    /// There is no key to ask with.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// It was asked and did not tell.
    #[error("{}", .0.message)]
    Provider(#[from] LlmError),
}

impl ReachError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Secret(error) => error.hint(),
            Self::Provider(error) => error.hint().to_owned(),
        }
    }

    /// Whether somebody answered who has no such list.
    pub fn is_unlisted(&self) -> bool {
        matches!(self, Self::Provider(error) if error.class == mxd_llm::Class::NotFound)
    }
}
