//! `mxd mcp`: the tools of an agent, or those of the daemon, for the clients of others, over MCP.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use mxd_core::tool::{
    ApprovalPolicy, ApprovalRule, CapabilityLayer, CapabilitySet, EffectSet, Fallback, Ruling, SideEffect,
};
use mxd_server::limits::LONGEST_WAIT;
use mxd_server::mcp::{self, Wanted};
use mxd_tools::confine::Files;
use mxd_tools::kept::Kept;
use mxd_tools::plane::{Plane, Registry};
use mxd_tools::sandbox::Level;
use mxd_tools::scope::{Access, Root, Scope};
use mxd_tools::secrets::Secrets;
use mxd_tools::serve::{self, Door, Endpoint, Offer, Permissions, Report, Server, Token};
use mxd_tools::shell::Processes;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use crate::client::{Daemon, Failure};
use crate::place::{Place, Ready};
use crate::say::{self, BAD, GOOD};

/// How long the daemon may take for an answer: a call that waits may do so for long.
const LONGEST_ANSWER: Duration = LONGEST_WAIT.saturating_add(Duration::from_secs(30));

const HELP: &str = "\
Examples:
  mxd mcp                                    the tools, for a client that starts this program
  mxd mcp --read-only                        only those that change no file of this folder
  mxd mcp --ask shell --ask write            the user is asked first, where the client can ask
  mxd mcp --http 127.0.0.1:0                 over HTTP; the address and a token are told on standard error
  mxd mcp --daemon                           the tree instead: create tasks, write to agents, read logs, wait
  mxd mcp --daemon --read-only               only looks at the tree
  mxd mcp --selftest                         is what is listed what is there?

A client is configured with the command `mxd`, the argument `mcp`, and this folder as its working directory. The tools of
--daemon find the daemon at every call, so it may be restarted meanwhile. Over HTTP the daemon has them itself, at /mcp.
Everything the tools have started ends when the client closes standard input, or this program is told to end.

Exit codes: 0 all is well, 1 something is not (with --selftest: the list and the tools differ), 2 wrong usage.";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Mcp {
    #[command(flatten)]
    place: Place,
    /// Asks the user before calls of this class: read, write or shell. Can be given more than once.
    #[arg(long, value_name = "CLASS")]
    ask: Vec<SideEffect>,
    /// Serves HTTP at this address of this machine, at the path /mcp, instead of standard input and output.
    #[arg(long, value_name = "ADDRESS:PORT", conflicts_with = "selftest")]
    http: Option<SocketAddr>,
    /// A file with the token that HTTP clients have to show. Without it there is a new one every time.
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,
    /// Offers the tree of the daemon instead of this folder: tasks, messages, logs.
    #[arg(long, conflicts_with_all = ["http", "sandbox", "write", "read", "allow"])]
    daemon: bool,
    /// Holds what is listed against what is there, and serves nobody.
    #[arg(long)]
    selftest: bool,
}

impl Mcp {
    pub(crate) fn run(self, as_json: bool) -> ExitCode {
        let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => return Failure::new(error.to_string()).tell(as_json),
        };
        let done = runtime.block_on(self.serve(as_json));
        // A thread may still wait for standard input, which nobody will write to.
        runtime.shutdown_background();
        done.unwrap_or_else(|error| Failure::new(error).tell(as_json))
    }

    async fn serve(self, as_json: bool) -> Result<ExitCode, String> {
        let ready = if self.daemon { None } else { Some(self.place.prepare().await?) };
        let scratch = tempfile::TempDir::new().map_err(|error| format!("a folder: {error}"))?;
        let server = Server::new(match &ready {
            Some(ready) => self.offer(ready)?,
            None => self.offer_of_the_daemon(scratch.path()).await?,
        });
        if self.selftest {
            return Ok(show(&serve::selftest(server).await, as_json));
        }
        let served = tokio::select! {
            served = self.carry(server.clone()) => served,
            told = told_to_end() => told,
        };
        server.close().await;
        served.map(|()| ExitCode::SUCCESS)
    }

    async fn carry(&self, server: Server) -> Result<(), String> {
        let Some(address) = self.http else {
            serve::stdio(server, tokio::io::stdin(), tokio::io::stdout()).await;
            return Ok(());
        };
        if !address.ip().is_loopback() {
            return Err(format!(
                "--http {address}: others could reach that; use 127.0.0.1 or [::1], and a tunnel from elsewhere"
            ));
        }
        let listener =
            TcpListener::bind(address).await.map_err(|error| format!("--http {address}: {error}"))?;
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        let door = Door::Token(self.token()?);
        say::note(format!("MCP at http://{address}{}", serve::PATH));
        match Endpoint::new(&server, door).listen(listener).await {
            Ok(never) => match never {},
            Err(error) => Err(format!("--http {address}: {error}")),
        }
    }

    /// The token that clients have to show.
    fn token(&self) -> Result<Token, String> {
        let token = match &self.token_file {
            Some(file) => {
                let told = |error| format!("--token-file {}: {error}", file.display());
                std::fs::read_to_string(file).map_err(told)?.trim().to_owned()
            }
            None => {
                let fresh = serve::fresh_token().map_err(|error| format!("a new token: {error}"))?;
                say::note(format!("clients show the token {fresh}"));
                fresh
            }
        };
        Token::new(&token).map_err(|error| error.to_string())
    }

    fn offer(&self, ready: &Ready) -> Result<Offer, String> {
        let plane = Plane::new(Registry::built_in().map_err(|error| error.to_string())?);
        let permissions = self.permissions(ready.sandbox.level()).map_err(|error| error.to_string())?;
        Ok(Offer { plane, scope: self.scope(ready)?, permissions, instructions: serve::OF_A_FOLDER })
    }

    /// The tools of the daemon, which is asked anew by every call.
    async fn offer_of_the_daemon(&self, scratch: &Path) -> Result<Offer, String> {
        let permissions = self.permissions(Level::Full).map_err(|error| error.to_string())?;
        let ask = |wanted| Box::pin(ask(wanted)) as mcp::Asking;
        mcp::offer(scratch, permissions, ask).await.map_err(|error| error.to_string())
    }

    fn permissions(&self, level: Level) -> Result<Permissions, Box<dyn std::error::Error>> {
        let mut effects: EffectSet = SideEffect::ALL.into_iter().collect();
        if self.place.read_only {
            effects = effects.without(SideEffect::Write);
            // Without a sandbox nothing keeps a command from writing.
            if level == Level::Off {
                effects = effects.without(SideEffect::Shell);
            }
        }
        let rule = |effect: &SideEffect| {
            let name = format!("ask-{effect}").parse()?;
            Ok(ApprovalRule { name, tool: None, effect: Some(*effect), args: vec![], ruling: Ruling::Ask })
        };
        let mut asked = self.ask.clone();
        asked.sort_unstable();
        asked.dedup();
        let rules = asked.iter().map(rule).collect::<Result<_, Box<dyn std::error::Error>>>()?;
        Ok(Permissions {
            effects,
            capabilities: CapabilitySet::root(CapabilityLayer::granting(["mcp:*:*".parse()?])?),
            approvals: ApprovalPolicy::new(rules, Fallback::always(Ruling::Allow))?,
        })
    }

    fn scope(&self, ready: &Ready) -> Result<Scope, String> {
        let scratch = ready.scratch.path();
        let failed = |error: std::io::Error| format!("{}: {error}", scratch.display());
        let kept = Kept::open(scratch).map_err(failed)?;
        let processes = Processes::open(scratch, kept.clone()).map_err(failed)?;
        let mut policy = ready.settled.policy.clone();
        processes.allow(&mut policy);
        // What is too long to be shown is in a file there.
        let kept_output = Root { path: kept.path().to_owned(), access: Access::Read };
        let roots: Vec<Root> = self.place.extra().into_iter().chain([kept_output]).collect();
        Ok(Scope {
            worktree: ready.cwd.clone(),
            access: self.place.access(),
            roots: roots.into(),
            scratch: scratch.to_owned(),
            cell: ready.sandbox.cell(policy),
            env: Arc::from(ready.settled.env.clone()),
            files: Files::default(),
            processes,
            kept,
            secrets: Secrets::default(),
        })
    }
}

/// Asks the daemon that runs now.
async fn ask(wanted: Wanted) -> Result<Value, String> {
    let Wanted { method, path, body } = wanted;
    let asked = async { Daemon::find()?.patient(LONGEST_ANSWER).ask(method, &path, body).await };
    asked.await.map_err(|failure: Failure| failure.in_words())
}

/// Tells what the self-test found.
fn show(report: &Report, as_json: bool) -> ExitCode {
    if as_json {
        say::line(serde_json::to_string_pretty(report).unwrap_or_default());
    } else {
        let wrong = |tool: &str| report.findings.iter().any(|finding| finding.tool == tool);
        for tool in report.tools.iter().filter(|tool| !wrong(tool)) {
            say::line(format!("{GOOD}   ok{GOOD:#}  {tool}"));
        }
        for tool in &report.withheld {
            say::line(format!("   --  {tool} (not offered)"));
        }
        for finding in &report.findings {
            say::line(format!("{BAD}  bad{BAD:#}  {} {}", finding.tool, finding.what));
        }
    }
    if report.findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

/// Waits until this program is told to end.
pub(crate) async fn told_to_end() -> Result<(), String> {
    let listen = |kind| signal(kind).map_err(|error| format!("cannot listen for signals: {error}"));
    let (mut interrupted, mut terminated) =
        (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?);
    tokio::select! {
        _ = interrupted.recv() => {}
        _ = terminated.recv() => {}
    }
    Ok(())
}
