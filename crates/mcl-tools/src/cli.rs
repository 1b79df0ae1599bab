//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use mxd_core::manifest::{DidKey, Placeholders};
use mxd_core::tool::Version;

use crate::answer::Format;
use crate::{code, files};

/// Inspects, verifies and calls the tools that a manifest declares.
///
/// A manifest says exactly what an agent has: its servers, the package of each by its digest, every tool with what it
/// does to the world. What a server then offers is held against it, and against the lock file of what a person has
/// accepted.
#[derive(Debug, Parser)]
#[command(name = "mcl-tools", version, after_help = EXAMPLES, after_long_help = long_help())]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  mcl-tools verify                                   is agents/default.json well-formed, and signed if it has to be
  mcl-tools verify --live                            start every server: same package, same tools, same definitions
  mcl-tools list-tools                               the tool URIs
  mcl-tools call --uri matrix://tool/mcp/time/get_current_time@2026.10.19 --args '{\"timezone\":\"UTC\"}'
  mcl-tools list-resources docs                      what the server docs has beside its tools
  mcl-tools diff                                     what changed since it was accepted
  mcl-tools lock --accept                            accept it
  mcl-tools init --alias time -- uvx mcp-server-time==2026.10.19

See --help for the exit codes.";

fn long_help() -> String {
    format!("{}\n\n{}", EXAMPLES.replace("\n\nSee --help for the exit codes.", ""), code::table())
}

/// What every command knows.
#[derive(Debug, Clone, Args)]
pub(crate) struct Common {
    /// The manifest.
    #[arg(short, long, global = true, value_name = "FILE", default_value = "agents/default.json")]
    pub(crate) manifest: PathBuf,
    /// What was accepted: beside the manifest, unless given.
    #[arg(long = "lock-file", global = true, value_name = "FILE")]
    pub(crate) lock: Option<PathBuf>,
    /// Prints one JSON document, whatever happens.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Lets digests pass that nobody computed. For development only.
    #[arg(long, global = true)]
    pub(crate) allow_placeholders: bool,
    /// Says what is being done, also where no terminal is.
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
}

impl Common {
    pub(crate) fn format(&self) -> Format {
        if self.json { Format::Json } else { Format::Text }
    }

    pub(crate) fn lock(&self) -> PathBuf {
        self.lock.clone().unwrap_or_else(|| files::lock_path(&self.manifest))
    }

    pub(crate) fn placeholders(&self) -> Placeholders {
        if self.allow_placeholders { Placeholders::Allow } else { Placeholders::Refuse }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Checks a manifest; with --live also its servers.
    Verify(Verify),
    /// Lists the servers of the manifest.
    ListServers,
    /// Lists the tools of the manifest by their URIs.
    #[command(visible_alias = "list")]
    ListTools,
    /// Says what a manifest says about a tool, and what was accepted of it.
    #[command(visible_alias = "describe")]
    DescribeTool(ToolArgs),
    /// Calls a tool, through the same gate as an agent.
    Call(Call),
    /// Lists what a server has beside its tools: resources, and templates of them.
    ListResources(OfServer),
    /// Reads a resource of a server, if the manifest lets its agent do so.
    ReadResource(ReadResource),
    /// Lists the prompts of a server.
    ListPrompts(OfServer),
    /// Computes package digests.
    Digest(Digest),
    /// Writes down what the servers offer; what differs from before is shown and needs --accept.
    Lock(Lock),
    /// Shows what the servers offer that was not accepted, or not declared.
    Diff(LiveArgs),
    /// Makes a key for signing manifests.
    Keygen(Keygen),
    /// Signs the manifest.
    Sign(Sign),
    /// Writes a manifest from a live server, for a person to review.
    Init(Init),
    /// Runs a plan of tool calls.
    Run(Run),
    /// Removes verified packages that no server was started from for a while.
    Prune(Prune),
}

impl Command {
    /// Its name, for programs.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Verify(_) => "verify",
            Self::ListServers => "list-servers",
            Self::ListTools => "list-tools",
            Self::DescribeTool(_) => "describe-tool",
            Self::Call(_) => "call",
            Self::ListResources(_) => "list-resources",
            Self::ReadResource(_) => "read-resource",
            Self::ListPrompts(_) => "list-prompts",
            Self::Digest(_) => "digest",
            Self::Lock(_) => "lock",
            Self::Diff(_) => "diff",
            Self::Keygen(_) => "keygen",
            Self::Sign(_) => "sign",
            Self::Init(_) => "init",
            Self::Run(_) => "run",
            Self::Prune(_) => "prune",
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// Starts every server: its package has the digest, it offers exactly the declared tools, and their definitions
    /// are those that were accepted.
    #[arg(long)]
    pub(crate) live: bool,
    /// Somebody whose signature counts, as did:key. Can be given more than once; one of them must have signed.
    #[arg(long, value_name = "DID")]
    pub(crate) signer: Vec<DidKey>,
    #[command(flatten)]
    pub(crate) with: LiveArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ToolArgs {
    /// The tool, such as matrix://tool/mcp/time/get_current_time@2026.10.19
    #[arg(long)]
    pub(crate) uri: String,
}

#[derive(Debug, Args)]
pub(crate) struct Call {
    #[command(flatten)]
    pub(crate) tool: ToolArgs,
    /// The arguments, as a JSON object.
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub(crate) args: String,
    /// Seconds after which the call is given up, if its tool does not do so earlier.
    #[arg(long, value_name = "SECONDS")]
    pub(crate) timeout: Option<u64>,
    #[command(flatten)]
    pub(crate) with: LiveArgs,
}

#[derive(Debug, Args)]
pub(crate) struct OfServer {
    /// The alias of the server in the manifest.
    #[arg(value_name = "SERVER")]
    pub(crate) server: String,
    #[command(flatten)]
    pub(crate) with: LiveArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ReadResource {
    /// The alias of the server in the manifest.
    #[arg(value_name = "SERVER")]
    pub(crate) server: String,
    /// The URI, as `list-resources` shows it, or a template with its places filled.
    #[arg(value_name = "URI")]
    pub(crate) uri: String,
    /// Writes its bytes into this new file.
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Seconds after which it is given up.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub(crate) timeout: u64,
    #[command(flatten)]
    pub(crate) with: LiveArgs,
}

#[derive(Debug, Args)]
#[command(after_help = DIGEST_EXAMPLES)]
pub(crate) struct Digest {
    /// Writes the digests into the manifest.
    #[arg(long, conflicts_with_all = ["path", "command"])]
    pub(crate) update: bool,
    /// A program, an installed npm package, or the folder of a script.
    #[arg(long, value_name = "PATH", conflicts_with = "command")]
    pub(crate) path: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) with: LiveArgs,
    /// A command as a manifest would have it. Without one, and without --path: every server of the manifest.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

const DIGEST_EXAMPLES: &str = "\
Examples:
  mcl-tools digest                                   those of the manifest, beside what they should be
  mcl-tools digest --update                          writes them into the manifest
  mcl-tools digest -- uvx mcp-server-time==2026.10.19
  mcl-tools digest --path ./my-server";

#[derive(Debug, Args)]
pub(crate) struct Lock {
    /// Accepts what differs from what was accepted before.
    #[arg(long)]
    pub(crate) accept: bool,
    #[command(flatten)]
    pub(crate) with: LiveArgs,
}

#[derive(Debug, Args)]
pub(crate) struct Keygen {
    /// The new file; it is never overwritten.
    #[arg(long, value_name = "FILE")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Sign {
    /// The key, as `keygen` made it.
    #[arg(long, value_name = "FILE")]
    pub(crate) key: PathBuf,
    /// The signature: beside the manifest, unless given.
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// What the server is called in tool URIs.
    #[arg(long)]
    pub(crate) alias: String,
    /// Whose manifest it becomes.
    #[arg(long, default_value = "matrix://agent/new")]
    pub(crate) agent: String,
    /// The version of the server, when neither its package nor itself says it.
    #[arg(long = "server-version", value_name = "VERSION")]
    pub(crate) version: Option<Version>,
    /// A variable of the server, as NAME=value or NAME=$env:OTHER. Can be given more than once.
    #[arg(long, value_name = "ITEM", conflicts_with = "url")]
    pub(crate) env: Vec<String>,
    /// A server elsewhere, by its URL, in place of a command.
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    pub(crate) url: Option<String>,
    /// A header for it, as NAME=value or NAME='Bearer $env:TOKEN'. Can be given more than once.
    #[arg(long, value_name = "ITEM", requires = "url")]
    pub(crate) header: Vec<String>,
    /// The new manifest; standard output, unless given. It is never overwritten.
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) with: LiveArgs,
    /// The server's command.
    #[arg(last = true, required_unless_present = "url", value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Prune {
    /// Days without a start after which a package goes. Servers that have run for longer than that need theirs.
    #[arg(long, value_name = "DAYS", default_value_t = 30)]
    pub(crate) unused: u64,
    /// Only says what would go.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// The folder of verified packages.
    #[arg(long, env = "MXD_PACKAGES", value_name = "FOLDER")]
    pub(crate) store: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The plan.
    #[arg(value_name = "PLAN")]
    pub(crate) plan: PathBuf,
    /// How gates of the plan are answered.
    #[arg(long, value_enum, default_value_t = GatePolicy::Prompt)]
    pub(crate) gate_policy: GatePolicy,
    #[command(flatten)]
    pub(crate) with: LiveArgs,
}

/// How gates of a plan are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GatePolicy {
    /// The person at the terminal is asked; without one the answer is no.
    Prompt,
    /// With the first option.
    Approve,
    /// With no.
    Deny,
}

/// How servers are started.
#[derive(Debug, Clone, Args)]
pub(crate) struct LiveArgs {
    /// The folder that servers work in.
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub(crate) worktree: PathBuf,
    /// How strong the sandbox of servers has to be.
    #[arg(long, value_enum, default_value_t = Strength::On)]
    pub(crate) sandbox: Strength,
    /// A host that servers with network tools may reach, such as `example.org`. Can be given more than once.
    #[arg(long, value_name = "HOST")]
    pub(crate) allow: Vec<String>,
    /// Seconds in which each server has to be connected.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub(crate) connect_timeout: u64,
    /// The folder of verified packages.
    #[arg(long, env = "MXD_PACKAGES", value_name = "FOLDER")]
    pub(crate) store: Option<PathBuf>,
}

/// How strong a sandbox has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Strength {
    /// The strongest that works here.
    On,
    /// Namespaces, Landlock and seccomp, or nothing.
    Full,
    /// Landlock and seccomp.
    Landlock,
    /// None.
    Off,
}
