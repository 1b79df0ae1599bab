//! What holds: the configuration as values of the types that the rest of the program works with.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::IpAddr;
use std::path::PathBuf;

use mxd_core::manifest::{RequiredSigners, ServerSpec, parse_mcp_servers};
use mxd_core::money::Usd;
use mxd_core::prompt::Effort;
use mxd_core::tool::ApprovalPolicy;
use mxd_llm::Models;
use mxd_tools::proxy::HostRules;
use mxd_tools::sandbox::{Limits as SandboxLimits, Mode};
use mxd_tools::scope::{Access, Root};
use serde_json::Value;

use super::document::{AuthGroup, Document, LogFormat, LogLevel, SandboxPart};
use super::keys;
use super::layer::{Layer, Origin, Places};
use super::merge::{self, Merged};
use super::problem::{Fault, Problem, Problems};
use super::read::LayerFile;

/// Everything the user and the repository decided, resolved once.
#[derive(Debug, Clone)]
pub struct Config {
    /// Accounts at model providers.
    pub auth_groups: BTreeMap<String, AuthGroup>,
    /// The account of the root task.
    pub default_auth: Option<String>,
    /// The model of the root task.
    pub model: Option<String>,
    /// The account of all other tasks.
    pub child_auth: Option<String>,
    /// The model of all other tasks.
    pub child_model: Option<String>,
    /// How hard models think.
    pub effort: Option<Effort>,
    /// What is known about models.
    pub models: Models,
    /// Dollars that a task may spend unless it is given another amount.
    pub budget: Option<Usd>,
    /// Levels of tasks below the root.
    pub max_depth: usize,
    /// Milliseconds after which a question counts as unanswered.
    pub clarify_timeout_ms: Option<u64>,
    /// MCP servers in their short form.
    pub mcp_servers: Vec<ConfiguredServer>,
    /// The manifest, relative to the repository.
    pub manifest: Option<String>,
    /// Who has to have signed it.
    pub manifest_signers: RequiredSigners,
    /// Folders with skills, relative to the repository.
    pub skills: Vec<String>,
    /// Which calls run, wait, or do not run.
    pub approvals: ApprovalPolicy,
    /// Commands that have to succeed on a merged tree.
    pub checks: Vec<String>,
    /// What commands may touch.
    pub sandbox: SandboxSettings,
    /// Untracked files that are carried into worktrees, as globs.
    pub include: Vec<String>,
    /// Bytes that have to be free before another worktree is made.
    pub disk_watermark: u64,
    /// When a conversation is summarised.
    pub compaction: Compaction,
    /// How far one task may go.
    pub limits: AgentLimits,
    /// How many conversations of closed tasks are kept.
    pub session_keep: Option<usize>,
    /// The address the daemon listens at.
    pub host: IpAddr,
    /// The port it listens at.
    pub port: u16,
    /// Who may use it.
    pub auth: Auth,
    /// What the daemon writes about itself.
    pub log: LogSettings,
    /// Whom it tells what agents did.
    pub telemetry: TelemetrySettings,
    /// Whether the project is the program that runs it.
    pub self_bootstrap: bool,
    /// Where all of this was read.
    pub places: Places,
    pub(super) merged: Merged,
}

impl Config {
    /// The command that runs all checks, the first one that fails ending it; nothing when there are none.
    ///
    /// Each check is an argument and has a shell of its own: joined into one text, a check such as `x || true` would
    /// change what the others mean.
    pub(crate) fn check_command(&self) -> Option<Vec<OsString>> {
        const RUN_EACH: &str = r#"for check in "$@"; do
            bash -c "$check" || { code=$?; printf 'This check failed: %s\n' "$check" >&2; exit "$code"; }
        done"#;
        let fixed = ["bash", "-c", RUN_EACH, "checks"].map(OsString::from);
        let checks = self.checks.iter().map(OsString::from);
        (!self.checks.is_empty()).then(|| fixed.into_iter().chain(checks).collect())
    }
}

/// A server of the configuration, and who put it there: one that came with the repository was not chosen by the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfiguredServer {
    /// The server.
    pub spec: ServerSpec,
    /// The layer that declares it.
    pub layer: Layer,
}

/// What commands of agents may touch.
#[derive(Debug, Clone)]
pub struct SandboxSettings {
    /// How strong it has to be.
    pub mode: Mode,
    /// Which hosts can be reached.
    pub hosts: HostRules,
    /// Whether the user is asked about a host that no rule allows or denies.
    pub ask_about_hosts: bool,
    /// Folders besides the worktree.
    pub roots: Vec<Root>,
    /// What the processes of an agent may use.
    pub limits: SandboxLimits,
}

/// When a conversation is summarised.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Compaction {
    /// The part of the window that is kept free.
    pub buffer_ratio: f64,
    /// So many tokens before that, the exact count is asked for.
    pub count_margin_tokens: u64,
    /// Tokens of a summary.
    pub summary_tokens: u32,
}

/// Numbers of tokens at which something happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thresholds {
    /// From here on the provider is asked for the exact count.
    pub count_at: u64,
    /// Above this the conversation is summarised.
    pub compact_above: u64,
}

impl Compaction {
    /// The numbers for a model with this window.
    pub fn thresholds(&self, context_window: u64) -> Thresholds {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_precision_loss,
            clippy::cast_sign_loss,
            reason = "a window has far fewer than 2^52 tokens, and the ratio is between 0 and 1"
        )]
        let compact_above = (context_window as f64 * (1.0 - self.buffer_ratio)) as u64;
        Thresholds { count_at: compact_above.saturating_sub(self.count_margin_tokens), compact_above }
    }
}

/// How far one task may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentLimits {
    /// Model calls.
    pub turns: u64,
    /// Milliseconds of work.
    pub wall_time_ms: u64,
    /// Tokens read and written, those from the cache not counted.
    pub tokens: u64,
    /// Agents of a project that work at the same time.
    pub agents: usize,
    /// Repetitions after which an agent is told; at twice as many it is stopped.
    pub repeats: u32,
}

/// Who may use the daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Auth {
    /// Whether one has to log in.
    pub enforced: bool,
    /// Days after which a browser has to log in again.
    pub session_days: u16,
}

/// What the daemon writes about itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LogSettings {
    /// For whom.
    pub format: LogFormat,
    /// How much.
    pub level: LogLevel,
}

/// Whom the daemon tells what agents did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TelemetrySettings {
    /// The address of a collector; none is told nothing.
    pub endpoint: Option<String>,
    /// Whether it is told what was said, too.
    pub content: bool,
}

/// Makes one of all layers. They were checked one by one; what is found here comes of putting them together.
pub(super) fn settle(places: &Places, files: &[LayerFile]) -> Result<Config, Problems> {
    let merged = merge::merge(files);
    let whole = |path: &str, fault: Fault| {
        let layer = merged.origins.get(path).and_then(Origin::layer);
        let file = files.iter().find(|file| Some(file.layer) == layer).or(files.last());
        let problem = file.map(|file| file.problem(&format!("/{}", path.replace('.', "/")), fault));
        Problems { problems: problem.into_iter().collect::<Vec<Problem>>(), more: 0 }
    };
    let shape = |path: &'static str, words: &str| whole(path, Fault::Shape { problem: words.to_owned() });
    let document: Document = serde_json::from_value(merged.document.clone())
        .map_err(|_| shape("", "the layers together cannot be read"))?;
    let models = Value::Array(document.models.clone()).to_string();
    let models = Models::parse_overrides(&models).map_err(|_| shape("models", "an entry cannot be read"))?;
    let built_in =
        Models::built_in().map_err(|_| shape("models", "the models of this program cannot be read"))?;
    let approvals: ApprovalPolicy = serde_json::from_value(Value::Object(document.approvals.clone()))
        .map_err(|_| shape("approvals.rules", "the rules of all layers together are too many"))?;
    let hosts =
        hosts(&document.sandbox).map_err(|error| whole("sandbox.network.deny", Fault::Rule(error)))?;
    let servers = Value::Object(document.mcp_servers.clone()).to_string();
    let servers = parse_mcp_servers(servers.as_bytes())
        .map_err(|_| shape("mcpServers", "the servers of all layers together are too many"))?;
    let mcp_servers = servers.into_iter().map(|spec| declared(spec, &merged)).collect();
    let models = built_in.with(models);
    let parts = Parts { models, approvals, hosts, mcp_servers, places: places.clone() };
    Ok(settings(document, parts, merged))
}

/// What had to be read once more.
struct Parts {
    models: Models,
    approvals: ApprovalPolicy,
    hosts: HostRules,
    mcp_servers: Vec<ConfiguredServer>,
    places: Places,
}

fn declared(spec: ServerSpec, merged: &Merged) -> ConfiguredServer {
    let origin = merged.origins.get(&format!("mcpServers.{}", spec.name));
    // What nobody declared cannot be here; should it be, it is trusted least.
    let layer = origin.and_then(Origin::layer).unwrap_or(Layer::Repository);
    ConfiguredServer { spec, layer }
}

fn hosts(sandbox: &SandboxPart) -> Result<HostRules, mxd_tools::proxy::RuleError> {
    let mut rules = HostRules::default();
    let network = &sandbox.network;
    for rule in network.allow.iter().flatten() {
        rules = rules.allow(rule)?;
    }
    for rule in network.allow_private.iter().flatten() {
        rules = rules.allow_private(rule)?;
    }
    for rule in network.deny.iter().flatten() {
        rules = rules.deny(rule)?;
    }
    Ok(rules)
}

fn settings(document: Document, parts: Parts, merged: Merged) -> Config {
    let Document { sandbox, compaction, limits, auth, .. } = document;
    Config {
        auth_groups: document.auth_groups,
        default_auth: document.default_auth,
        model: document.model,
        child_auth: document.child_auth,
        child_model: document.child_model,
        effort: document.effort,
        models: parts.models,
        budget: document.budget_usd,
        max_depth: document.max_depth.unwrap_or(keys::DEFAULT_MAX_DEPTH),
        clarify_timeout_ms: document.clarify_timeout_ms,
        mcp_servers: parts.mcp_servers,
        manifest: document.manifest,
        manifest_signers: signers(document.manifest_signers),
        skills: document.skills.unwrap_or_else(|| vec![keys::DEFAULT_SKILLS.to_owned()]),
        approvals: parts.approvals,
        checks: document.checks.unwrap_or_default(),
        sandbox: sandbox_settings(sandbox, parts.hosts),
        include: document.include.unwrap_or_default(),
        disk_watermark: document.disk_watermark.unwrap_or(keys::DEFAULT_DISK_WATERMARK),
        compaction: Compaction {
            buffer_ratio: compaction.buffer_ratio.unwrap_or(keys::DEFAULT_BUFFER_RATIO),
            count_margin_tokens: compaction.count_margin_tokens.unwrap_or(keys::DEFAULT_COUNT_MARGIN),
            summary_tokens: compaction.summary_tokens.unwrap_or(keys::DEFAULT_SUMMARY_TOKENS),
        },
        limits: AgentLimits {
            turns: limits.turns.unwrap_or(keys::DEFAULT_TURNS),
            wall_time_ms: limits.wall_time_ms.unwrap_or(keys::DEFAULT_WALL_TIME_MS),
            tokens: limits.tokens.unwrap_or(keys::DEFAULT_TOKENS),
            agents: limits.agents.unwrap_or(keys::DEFAULT_AGENTS),
            repeats: limits.repeats.unwrap_or(keys::DEFAULT_REPEATS),
        },
        session_keep: document.session_keep,
        host: document.host.and_then(|host| host.parse().ok()).unwrap_or(keys::DEFAULT_HOST),
        port: document.port.unwrap_or(keys::DEFAULT_PORT),
        auth: Auth {
            enforced: auth.enforced.unwrap_or(true),
            session_days: auth.session_days.unwrap_or(keys::DEFAULT_SESSION_DAYS),
        },
        log: LogSettings {
            format: document.log.format.unwrap_or_default(),
            level: document.log.level.unwrap_or_default(),
        },
        telemetry: TelemetrySettings {
            endpoint: document.telemetry.endpoint,
            content: document.telemetry.content.unwrap_or(false),
        },
        self_bootstrap: document.self_bootstrap.unwrap_or(false),
        places: parts.places,
        merged,
    }
}

/// What cannot be read was told before, and nobody signs for it.
fn signers(signers: Option<Vec<String>>) -> RequiredSigners {
    let read = |signers: Vec<String>| signers.iter().filter_map(|signer| signer.parse().ok()).collect();
    signers.map_or(RequiredSigners::Nobody, |signers| RequiredSigners::OneOf(read(signers)))
}

fn sandbox_settings(part: SandboxPart, hosts: HostRules) -> SandboxSettings {
    let roots = |paths: Option<Vec<String>>, access: Access| {
        paths.into_iter().flatten().map(move |path| Root { path: PathBuf::from(path), access })
    };
    let standard = SandboxLimits::default();
    SandboxSettings {
        mode: part.mode.unwrap_or_default(),
        hosts,
        ask_about_hosts: part.network.ask.unwrap_or(true),
        roots: roots(part.read, Access::Read).chain(roots(part.write, Access::Write)).collect(),
        limits: SandboxLimits {
            memory_bytes: part.memory_mb.map_or(standard.memory_bytes, |megabytes| megabytes << 20),
            processes: part.processes.unwrap_or(standard.processes),
            ..standard
        },
    }
}
