//! An entry of `mcpServers`, as the published schema and the page about the configuration describe it.
//!
//! It is never read into this type: `mxd_core::manifest` reads the entries, and words what is wrong with them.

use std::collections::BTreeMap;

use mxd_core::manifest::limits;
use schemars::JsonSchema;

/// An MCP server: a program with `command`, or a server elsewhere with `url`. Names are lower case; `mxd` belongs to the
/// built-in tools.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) struct ServerEntry {
    /// The program that is run. No shell looks at it.
    #[schemars(length(min = 1, max = limits::ARGUMENT_BYTES))]
    command: Option<String>,
    /// Arguments of the program.
    #[schemars(length(max = limits::ARGUMENTS))]
    args: Option<Vec<String>>,
    /// Variables of the program. `$env:NAME` stands for a variable of the daemon, and is all that may stand for a
    /// credential.
    #[schemars(extend("maxProperties" = limits::CREDENTIALS))]
    env: Option<BTreeMap<String, String>>,
    /// The address of a server elsewhere.
    #[schemars(length(min = 1, max = limits::ENDPOINT_BYTES))]
    url: Option<String>,
    /// Headers of requests to it, such as `Bearer $env:TOKEN`.
    #[schemars(extend("maxProperties" = limits::CREDENTIALS))]
    headers: Option<BTreeMap<String, String>>,
    /// How it is spoken to: `stdio` for a program, `http` (streamable HTTP) or `sse` (the older form) for a server
    /// elsewhere. By default `stdio` where there is a `command`, `http` where there is a `url`.
    #[schemars(with = "Option<String>", extend("enum" = ["stdio", "http", "sse"]))]
    r#type: Option<String>,
    /// Seconds that a call may take, up to an hour; parts of a second are allowed. By default 30.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = limits::TIMEOUT_MS / 1_000))]
    timeout: Option<f64>,
    /// Whether a connection that was lost is made anew. By default true.
    reconnect: Option<bool>,
    /// How many times in a row a lost connection is tried; 0 is never. By default 5.
    #[schemars(range(max = limits::RECONNECT_ATTEMPTS))]
    max_reconnect_attempts: Option<u64>,
    /// Whether the server may have the model of its agent write for it. By default false.
    sampling: Option<bool>,
    /// Whether agents may read its resources and prompts. By default false.
    resources: Option<bool>,
    /// Whether the entry is left out. It is checked all the same. By default false.
    disabled: Option<bool>,
}
