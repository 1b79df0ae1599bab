//! Every key with who may set it, and what holds when nobody does.

use std::net::{IpAddr, Ipv4Addr};

use serde_json::{Value, json};

/// What the repository may say about a key. It arrives with every clone, so its author is not the one who pays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repository {
    /// More of it, beside what the user says: the more of it there is, the less agents may do without being checked.
    MayAdd,
    /// Only less than what holds without it.
    MayLower,
    /// Only what takes something away; the words say what.
    MayNarrow(&'static str),
    /// Nothing.
    MayNot,
}

/// How the values of several layers become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Merge {
    /// The strongest layer wins.
    Replace,
    /// Each member for itself.
    Members,
    /// All of them together.
    Append,
    /// All of them together; of two with the same `name` that of the stronger layer.
    ByName,
    /// Of the user's layers the stronger one wins, and behind it stands what the repository adds.
    RepositoryBehind,
}

/// One key.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Its path, such as `sandbox.mode`.
    pub path: &'static str,
    /// What the repository may say about it.
    pub repository: Repository,
    pub(super) merge: Merge,
}

const fn key(path: &'static str, repository: Repository, merge: Merge) -> Key {
    Key { path, repository, merge }
}

use Merge::{Append, ByName, Members, Replace, RepositoryBehind};
use Repository::{MayAdd, MayLower, MayNarrow, MayNot};

/// All keys, in the order in which they are explained.
pub const KEYS: &[Key] = &[
    key("authGroups", MayNot, Members),
    key("defaultAuth", MayNot, Replace),
    key("model", MayNot, Replace),
    key("childAuth", MayNot, Replace),
    key("childModel", MayNot, Replace),
    key("effort", MayNot, Replace),
    key("models", MayNot, ByName),
    key("budgetUsd", MayLower, Replace),
    key("maxDepth", MayLower, Replace),
    key("clarifyTimeoutMs", MayNot, Replace),
    key(
        "mcpServers",
        MayNarrow("without `$env:` and `sampling`, so that it costs you neither credentials nor money"),
        Members,
    ),
    // A manifest says which credentials go to which server, so the user has to choose it.
    key("manifest", MayNot, Replace),
    key("manifestSigners", MayNot, Replace),
    key("skills", MayAdd, RepositoryBehind),
    key("approvals.rules", MayNarrow("only rules that deny"), ByName),
    key("approvals.fallback", MayNot, Members),
    key("checks", MayAdd, RepositoryBehind),
    key("sandbox.mode", MayNot, Replace),
    key("sandbox.network.allow", MayNot, Replace),
    key("sandbox.network.allowPrivate", MayNot, Replace),
    key("sandbox.network.deny", MayAdd, Append),
    key("sandbox.network.ask", MayNot, Replace),
    key("sandbox.read", MayNot, Replace),
    key("sandbox.write", MayNot, Replace),
    key("sandbox.memoryMb", MayNot, Replace),
    key("sandbox.processes", MayNot, Replace),
    // It carries files that git does not track, such as `.env`, to agents.
    key("include", MayNot, Replace),
    key("diskWatermark", MayNot, Replace),
    key("compaction.bufferRatio", MayNot, Replace),
    key("compaction.countMarginTokens", MayNot, Replace),
    key("compaction.summaryTokens", MayNot, Replace),
    key("limits.turns", MayLower, Replace),
    key("limits.wallTimeMs", MayLower, Replace),
    key("limits.tokens", MayLower, Replace),
    key("limits.agents", MayLower, Replace),
    key("limits.repeats", MayLower, Replace),
    key("sessionKeep", MayNot, Replace),
    key("host", MayNot, Replace),
    key("port", MayNot, Replace),
    key("auth.enforced", MayNot, Replace),
    key("auth.sessionDays", MayNot, Replace),
    key("log.format", MayNot, Replace),
    key("log.level", MayNot, Replace),
    key("telemetry.endpoint", MayNot, Replace),
    key("telemetry.content", MayNot, Replace),
    key("selfBootstrap", MayNot, Replace),
];

/// Keys of older versions that are not read any more, by the last part of their path, and what to do instead.
pub(super) const LEFT_OVER: &[(&str, &str)] = &[
    (
        "openaiAccessToken",
        "Subscription tokens are not for other programs: make an API key and write `openaiApiKey`.",
    ),
    (
        "openaiRefreshToken",
        "Subscription tokens are not for other programs: make an API key and write `openaiApiKey`.",
    ),
    ("openaiAccountId", "It went with subscription tokens: make an API key and write `openaiApiKey`."),
    ("rpName", "Remove it: one logs in with `mxd auth`, and no passkeys are involved."),
    ("rpID", "Remove it: one logs in with `mxd auth`, and no passkeys are involved."),
];

pub(super) const DEFAULT_MAX_DEPTH: usize = 4;
pub(super) const DEFAULT_SKILLS: &str = ".mxd/skills";
pub(super) const DEFAULT_DISK_WATERMARK: u64 = 2 << 30;
pub(super) const DEFAULT_BUFFER_RATIO: f64 = 0.17;
pub(super) const DEFAULT_COUNT_MARGIN: u64 = 16_000;
pub(super) const DEFAULT_SUMMARY_TOKENS: u32 = 16_000;
pub(super) const DEFAULT_TURNS: u64 = 1_000;
pub(super) const DEFAULT_WALL_TIME_MS: u64 = 24 * 3_600_000;
pub(super) const DEFAULT_TOKENS: u64 = 100_000_000;
pub(super) const DEFAULT_AGENTS: usize = 16;
pub(super) const DEFAULT_REPEATS: u32 = 3;
pub(super) const DEFAULT_HOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
pub(super) const DEFAULT_PORT: u16 = 7433;
pub(super) const DEFAULT_SESSION_DAYS: u16 = 30;

/// What holds when no layer says anything, in the form of a file.
pub fn defaults() -> Value {
    json!({
        "maxDepth": DEFAULT_MAX_DEPTH,
        "skills": [DEFAULT_SKILLS],
        "checks": [],
        "include": [],
        "sandbox": { "mode": "on", "network": { "ask": true } },
        "diskWatermark": DEFAULT_DISK_WATERMARK,
        "compaction": {
            "bufferRatio": DEFAULT_BUFFER_RATIO,
            "countMarginTokens": DEFAULT_COUNT_MARGIN,
            "summaryTokens": DEFAULT_SUMMARY_TOKENS,
        },
        "limits": {
            "turns": DEFAULT_TURNS,
            "wallTimeMs": DEFAULT_WALL_TIME_MS,
            "tokens": DEFAULT_TOKENS,
            "agents": DEFAULT_AGENTS,
            "repeats": DEFAULT_REPEATS,
        },
        "host": DEFAULT_HOST.to_string(),
        "port": DEFAULT_PORT,
        "auth": { "enforced": true, "sessionDays": DEFAULT_SESSION_DAYS },
        "log": { "format": "auto", "level": "info" },
        "telemetry": { "content": false },
        "selfBootstrap": false,
    })
}

/// The key that a path is, or lies in.
pub(super) fn of_path(path: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| {
        path.strip_prefix(key.path).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    })
}

/// Whether keys lie below a path.
pub(super) fn is_group(path: &str) -> bool {
    KEYS.iter().any(|key| key.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('.')))
}
