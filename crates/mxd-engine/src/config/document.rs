//! What a configuration file can say: every key with its type, its bounds and its meaning.
//!
//! The published schema and the page about the configuration are made from these types.

use std::collections::BTreeMap;

use mxd_core::money::Usd;
use mxd_core::prompt::Effort;
use mxd_core::tool::orchestrator::{CHECK_BYTES, MAX_CHECKS};
use mxd_tools::sandbox::Mode;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::Value;

use super::secret::Secret;
use super::server_entry::ServerEntry;

/// Entries of a map or a list.
pub(super) const MAX_ENTRIES: usize = 256;
/// Characters of a name, a path or a pattern.
const MAX_NAME: usize = 1_000;

/// One file, or all of them merged.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "Configuration of Matrix")]
pub(super) struct Document {
    /// Accounts at model providers, by a name of your choice.
    #[schemars(extend("maxProperties" = MAX_ENTRIES))]
    pub(super) auth_groups: BTreeMap<String, AuthGroup>,
    /// The auth group of the root task. When there is exactly one group, it is that one.
    #[schemars(length(min = 1, max = MAX_NAME))]
    pub(super) default_auth: Option<String>,
    /// The model of the root task. By default one of the provider's current models.
    #[schemars(length(min = 1, max = MAX_NAME))]
    pub(super) model: Option<String>,
    /// The auth group of all other tasks; by default that of the root task.
    #[schemars(length(min = 1, max = MAX_NAME))]
    pub(super) child_auth: Option<String>,
    /// The model of all other tasks; by default that of the root task, or, with another provider, one of its own.
    #[schemars(length(min = 1, max = MAX_NAME))]
    pub(super) child_model: Option<String>,
    /// How hard models think: low, medium, high, xhigh or max. By default as they do by themselves.
    #[schemars(with = "Option<String>", extend("enum" = ["low", "medium", "high", "xhigh", "max"]))]
    pub(super) effort: Option<Effort>,
    /// Models that the program does not know, or knows otherwise: prices in dollars per million tokens, windows and
    /// abilities. An entry replaces the one of its name.
    #[schemars(length(max = MAX_ENTRIES), schema_with = "models_schema")]
    pub(super) models: Vec<Value>,
    /// Dollars that a task may spend with everything below it, unless it is given another amount. The root task's is the
    /// limit of the whole tree: a project gets it that has none, and one that has a limit keeps it. Without it there is no
    /// limit.
    #[schemars(with = "Option<f64>", range(min = 0, max = 1_000_000_000))]
    pub(super) budget_usd: Option<Usd>,
    /// How many levels of tasks there can be below the root.
    #[schemars(range(min = 1, max = 16))]
    pub(super) max_depth: Option<usize>,
    /// Milliseconds after which a question to the user counts as unanswered and the agent decides by itself. Without
    /// it, agents wait.
    #[schemars(range(min = 1_000, max = 2_592_000_000u64))]
    pub(super) clarify_timeout_ms: Option<u64>,
    /// MCP servers, by name, each with the members of a server. What a server offers is accepted when it is first seen,
    /// and held to from then on.
    #[schemars(with = "BTreeMap<String, ServerEntry>", extend(
        "maxProperties" = MAX_ENTRIES,
        "propertyNames" = { "not": { "const": "mxd" } }
    ))]
    pub(super) mcp_servers: serde_json::Map<String, Value>,
    /// A file that says exactly which tools agents have, relative to the repository.
    #[schemars(length(min = 1, max = MAX_NAME))]
    pub(super) manifest: Option<String>,
    /// Who has to have signed the manifest, each as `did:key:…`: one of them is enough. Without this it need not be signed.
    #[schemars(length(min = 1, max = MAX_ENTRIES), inner(length(min = 1, max = MAX_NAME)))]
    pub(super) manifest_signers: Option<Vec<String>>,
    /// Folders with skills, relative to the repository. Those that the repository names come after yours; of two skills with
    /// the same name the first counts.
    #[schemars(length(max = MAX_ENTRIES), inner(length(min = 1, max = MAX_NAME)))]
    pub(super) skills: Option<Vec<String>>,
    /// Which calls run, which wait for your word and which do not run.
    #[schemars(schema_with = "approvals_schema")]
    pub(super) approvals: serde_json::Map<String, Value>,
    /// Commands that have to succeed on a merged tree before a branch moves, such as `cargo test`. Each runs in a shell of
    /// its own, one after the other. Those of the repository run after yours and never replace them.
    #[schemars(length(max = MAX_CHECKS), inner(length(min = 1, max = CHECK_BYTES)))]
    pub(super) checks: Option<Vec<String>>,
    /// What commands of agents may touch.
    pub(super) sandbox: SandboxPart,
    /// Files that git does not track and that are carried into every worktree, as globs relative to the repository, such
    /// as `.env` or `config/*.local.json`. Agents read what is carried along, so only you can name it.
    #[schemars(length(max = MAX_ENTRIES), inner(length(min = 1, max = MAX_NAME)))]
    pub(super) include: Option<Vec<String>>,
    /// Bytes that have to be free on the disk before another worktree is made.
    #[schemars(range(max = 1_125_899_906_842_624u64))]
    pub(super) disk_watermark: Option<u64>,
    /// When a conversation is summarised.
    pub(super) compaction: CompactionPart,
    /// How far one task may go before it is stopped.
    pub(super) limits: LimitsPart,
    /// How many conversations of closed tasks are kept; the oldest go first. Without it all are kept.
    #[schemars(range(max = 1_000_000))]
    pub(super) session_keep: Option<usize>,
    /// The address the daemon listens at. Another one than this machine's own lets others reach it.
    #[schemars(length(min = 1, max = 255))]
    pub(super) host: Option<String>,
    /// The port the daemon listens at; 0 takes a free one.
    pub(super) port: Option<u16>,
    /// Who may use the page and the HTTP interface.
    pub(super) auth: AuthPart,
    /// What the daemon writes about itself.
    pub(super) log: LogPart,
    /// Whom the daemon tells what agents did, in the words of OpenTelemetry.
    pub(super) telemetry: TelemetryPart,
    /// Says that the project is the program that runs its agents. The root is told what follows from that: to build and try
    /// apart, to leave the running daemon alone, to keep logs readable by both versions, that changes hold after the user
    /// has restarted it. The other agents read what they always read. A conversation that has begun is told when it is
    /// next summarised.
    pub(super) self_bootstrap: Option<bool>,
}

/// An account at a model provider. A key is the key itself, in the user layer only, or `$env:NAME` for what the variable
/// NAME holds where the daemon runs.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub struct AuthGroup {
    /// `anthropic`, or `openai` for OpenAI and every server that speaks one of its protocols.
    pub provider: ProviderName,
    /// The key for Anthropic.
    pub anthropic_api_key: Option<Secret>,
    /// A token of a Claude subscription, in place of a key. Whether your plan allows its use by other programs is between you
    /// and Anthropic.
    pub claude_oauth_token: Option<Secret>,
    /// Another address than Anthropic's own.
    #[schemars(length(min = 1, max = MAX_NAME))]
    pub anthropic_base_url: Option<String>,
    /// The key for OpenAI, or for the server at `openaiBaseUrl`; servers of one's own often want none.
    pub openai_api_key: Option<Secret>,
    /// Another address than OpenAI's own.
    #[schemars(length(min = 1, max = MAX_NAME))]
    pub openai_base_url: Option<String>,
    /// Which of OpenAI's protocols: `responses`, or `chat` for Chat Completions. By default `responses`, and `chat` with an
    /// `openaiBaseUrl`.
    pub wire: Option<OpenAiWire>,
    /// The address of a proxy to go through; it may hold a password.
    pub proxy: Option<Secret>,
}

/// Who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
#[expect(missing_docs, reason = "they are called so")]
pub enum ProviderName {
    Anthropic,
    #[serde(rename = "openai")]
    OpenAi,
}

/// How OpenAI is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum OpenAiWire {
    /// The Responses API.
    Responses,
    /// Chat Completions.
    Chat,
}

/// What commands of agents may touch.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(inline)]
pub(super) struct SandboxPart {
    /// `on` takes the strongest level that the machine allows, `full` accepts only the strongest there is, `landlock` the
    /// second, and `off` runs commands with all of your own rights.
    #[schemars(with = "Option<String>", extend("enum" = ["on", "full", "landlock", "off"]))]
    pub(super) mode: Option<Mode>,
    /// Which hosts can be reached.
    pub(super) network: NetworkPart,
    /// Folders outside of the worktree that can be read.
    #[schemars(length(max = MAX_ENTRIES), inner(length(min = 1, max = MAX_NAME)))]
    pub(super) read: Option<Vec<String>>,
    /// Folders outside of the worktree that can be read and written.
    #[schemars(length(max = MAX_ENTRIES), inner(length(min = 1, max = MAX_NAME)))]
    pub(super) write: Option<Vec<String>>,
    /// Megabytes of memory that the commands of one agent have together.
    #[schemars(range(min = 16, max = 16_777_216))]
    pub(super) memory_mb: Option<u64>,
    /// Processes and threads that the commands of one agent have together.
    #[schemars(range(min = 8, max = 4_194_304))]
    pub(super) processes: Option<u64>,
}

/// Which hosts can be reached from the sandbox.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(inline)]
pub(super) struct NetworkPart {
    /// Hosts that can be reached, such as `example.org`, `*.example.org` or `example.org:8443`.
    #[schemars(length(max = MAX_ENTRIES), inner(length(min = 1, max = MAX_NAME)))]
    pub(super) allow: Option<Vec<String>>,
    /// Hosts that can be reached also when they are this machine or in its network.
    #[schemars(length(max = MAX_ENTRIES), inner(length(min = 1, max = MAX_NAME)))]
    pub(super) allow_private: Option<Vec<String>>,
    /// Hosts that cannot be reached, whatever else allows them. Those of all layers count.
    #[schemars(length(max = MAX_ENTRIES), inner(length(min = 1, max = MAX_NAME)))]
    pub(super) deny: Option<Vec<String>>,
    /// Whether you are asked when a command wants to reach a host that no rule allows or denies. Without it such a host
    /// is refused at once.
    pub(super) ask: Option<bool>,
}

/// When a conversation is summarised.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(inline)]
pub(super) struct CompactionPart {
    /// The part of the model's window that is kept free.
    #[schemars(range(min = 0.02, max = 0.9))]
    pub(super) buffer_ratio: Option<f64>,
    /// So many tokens before that, the provider is asked for the exact count.
    #[schemars(range(max = 1_000_000))]
    pub(super) count_margin_tokens: Option<u64>,
    /// Tokens that a summary may have.
    #[schemars(range(min = 1_000, max = 64_000))]
    pub(super) summary_tokens: Option<u32>,
}

/// How far one task may go.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(inline)]
pub(super) struct LimitsPart {
    /// Model calls of one task in its whole life.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub(super) turns: Option<u64>,
    /// Milliseconds that the agent of one task may work, waiting not counted.
    #[schemars(range(min = 1_000, max = 31_536_000_000u64))]
    pub(super) wall_time_ms: Option<u64>,
    /// Tokens that one task may use, read and written, those from the cache not counted.
    #[schemars(range(min = 1_000, max = 1_000_000_000_000u64))]
    pub(super) tokens: Option<u64>,
    /// Agents of a project that work at the same time; others wait for their turn.
    #[schemars(range(min = 1, max = 1_000))]
    pub(super) agents: Option<usize>,
    /// How many calls in a row may fail in the same way before the agent is told, and at twice as many stopped. Rounds of
    /// up to four calls count as well. What differs from run to run, such as times, does not matter. Calls that succeed in
    /// the same way may be four times as many.
    #[schemars(range(min = 2, max = 100))]
    pub(super) repeats: Option<u32>,
}

/// Who may use the page and the HTTP interface.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(inline)]
pub(super) struct AuthPart {
    /// Whether one has to log in. It can be switched off only while the daemon listens on this machine alone.
    pub(super) enforced: Option<bool>,
    /// Days after which a browser has to log in again.
    #[schemars(range(min = 1, max = 365))]
    pub(super) session_days: Option<u16>,
}

/// What the daemon writes about itself.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(inline)]
pub(super) struct LogPart {
    /// `text` for people, `json` for programs, `auto` for whichever reads: text on a terminal, JSON elsewhere.
    pub(super) format: Option<LogFormat>,
    /// How much of it. MXD_LOG says it in more detail, and wins.
    pub(super) level: Option<LogLevel>,
}

/// For whom the daemon writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum LogFormat {
    /// For whoever reads: people on a terminal, programs elsewhere.
    #[default]
    Auto,
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// How much the daemon writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum LogLevel {
    /// What went wrong.
    Error,
    /// And what may go wrong.
    Warn,
    /// And what happens to the daemon.
    #[default]
    Info,
    /// And every request.
    Debug,
    /// And everything that its parts say.
    Trace,
}

impl LogLevel {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }
}

/// Whom the daemon tells what agents did.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(inline)]
pub(super) struct TelemetryPart {
    /// The address of a collector that takes OTLP over HTTP, such as `http://127.0.0.1:4318`. Without it, and without
    /// OTEL_EXPORTER_OTLP_ENDPOINT, nobody is told anything. Headers that it wants stand in OTEL_EXPORTER_OTLP_HEADERS.
    #[schemars(length(min = 1, max = MAX_NAME))]
    pub(super) endpoint: Option<String>,
    /// Whether it is also told what models answered, and the arguments and results of tools.
    pub(super) content: Option<bool>,
}

fn models_schema(_: &mut SchemaGenerator) -> Schema {
    let price = json_schema!({ "type": "number", "minimum": 0 });
    let prices = json_schema!({
        "type": "object",
        "properties": {
            "input": price, "output": price, "cacheRead": price, "cacheWrite5m": price, "cacheWrite1h": price,
            "reasoning": price,
        },
        "required": ["input", "output", "cacheRead", "cacheWrite5m", "cacheWrite1h"],
        "additionalProperties": false,
    });
    let tokens = json_schema!({ "type": "integer", "minimum": 1, "maximum": 4_294_967_295u64 });
    json_schema!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "name": { "type": "string", "minLength": 1, "maxLength": MAX_NAME },
                "vendor": { "type": "string", "minLength": 1, "maxLength": MAX_NAME },
                "contextWindow": tokens,
                "maxOutputTokens": tokens,
                "thinking": { "enum": ["none", "adaptive", "effort", "budget"] },
                "images": { "type": "boolean" },
                "prices": prices,
                "longContext": {
                    "type": "object",
                    "properties": { "aboveTokens": tokens, "prices": prices },
                    "required": ["aboveTokens", "prices"],
                    "additionalProperties": false,
                },
            },
            "required": ["name", "vendor", "contextWindow", "maxOutputTokens", "thinking", "images", "prices"],
            "additionalProperties": false,
        },
    })
}

fn approvals_schema(_: &mut SchemaGenerator) -> Schema {
    let ruling = json_schema!({ "enum": ["allow", "ask", "deny"] });
    json_schema!({
        "type": "object",
        "properties": {
            "rules": {
                "description": "Rules by name. The most specific one that matches decides.",
                "type": "array",
                "maxItems": MAX_ENTRIES,
                "items": {
                    "type": "object",
                    "properties": {
                        "name": { "type": "string" },
                        "tool": { "type": "string" },
                        "effect": { "enum": ["read", "write", "network", "shell", "chain"] },
                        "args": { "type": "array", "items": { "type": "object" } },
                        "ruling": ruling,
                    },
                    "required": ["name", "ruling"],
                    "additionalProperties": false,
                },
            },
            "fallback": {
                "description": "What happens to calls that no rule is about, by what the tool does.",
                "type": "object",
                "properties": { "read": ruling, "write": ruling, "network": ruling, "shell": ruling, "chain": ruling },
                "additionalProperties": false,
            },
        },
        "additionalProperties": false,
    })
}
