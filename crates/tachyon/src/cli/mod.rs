//! The command line: starts a transport, or calls the engine directly.

mod abi;
mod key;

use std::io::{self, Read as _, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Parser, Subcommand};
use serde_json::Value;
use tokio::signal::unix::{SignalKind, signal};

use crate::compile::install;
use crate::config::Config;
use crate::engine::{CallContext, Engine, TenantName};
use crate::selftest::Manifests;
use crate::transport::http::Office;
use crate::{limits, selftest, transport};

/// An EVM toolbox for agents: compile, test, simulate, deploy and call contracts.
#[derive(Debug, Parser)]
#[command(name = "tachyon", version, after_help = EXAMPLES)]
struct Cli {
    /// Speaks MCP on standard input and output until the client is gone.
    #[arg(long, conflicts_with = "selftest")]
    mcp: bool,
    /// Checks that the advertised tools are those the engine has, and says so.
    #[arg(long)]
    selftest: bool,
    /// With --selftest: also compares the agents' manifests in this folder.
    #[arg(long, value_name = "FOLDER", requires = "selftest")]
    agents: Option<PathBuf>,
    /// With --selftest: also compares this one manifest.
    #[arg(long, value_name = "FILE", requires = "selftest", conflicts_with = "agents")]
    manifest: Option<PathBuf>,
    #[command(flatten)]
    shared: Shared,
    #[command(subcommand)]
    command: Option<Command>,
}

/// What every way to start has in common.
#[derive(Debug, Args)]
struct Shared {
    /// The configuration; none is needed for the embedded chain.
    #[arg(long, global = true, value_name = "FILE", env = "TACHYON_CONFIG")]
    config: Option<PathBuf>,
    /// Where everything is kept.
    #[arg(long, global = true, value_name = "FOLDER")]
    data: Option<PathBuf>,
    /// Whose registry and chain to use.
    #[arg(long, global = true, default_value = "local")]
    tenant: String,
}

const EXAMPLES: &str = "\
Examples:
  tachyon --mcp                                        serve an MCP client
  tachyon run chain_list                               call a tool, print its answer
  tachyon run simulate '{\"to\":\"0x…\",\"method\":\"name() returns (string)\"}'
  tachyon run deploy @deploy.json                      read the request from a file, - for standard input
  tachyon --selftest --agents agents                   do registry, engine and manifests agree?

Exit codes: 0 done, 1 the tool or the check failed, 2 wrong usage.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Calls one tool and prints the answer.
    Run {
        /// The tool, with or without `tachyon_`.
        tool: String,
        /// The request: JSON, @FILE, or - for standard input.
        #[arg(default_value = "{}")]
        request: String,
    },
    /// Serves HTTP: JSON-RPC under /rpc, REST under /v1. The configuration says which tenants may use it.
    Serve {
        /// Where to listen; port 0 takes any that is free.
        #[arg(long, default_value = "127.0.0.1:8645")]
        listen: SocketAddr,
    },
    /// Installs Solidity compilers, or lists them.
    #[command(subcommand)]
    Solc(Solc),
    /// Installs libraries that contracts import.
    #[command(subcommand)]
    Library(Library),
    /// Makes, takes in and lists keys, encrypted.
    #[command(subcommand)]
    Key(key::KeyCommand),
    /// Encodes and decodes ABI values, one JSON object per line of standard input.
    Abi(abi::Abi),
}

#[derive(Debug, Subcommand)]
enum Solc {
    /// Fetches a version with npm, checks its hash, and keeps it.
    Install {
        /// Like 0.8.30.
        version: String,
    },
    /// Lists what is installed.
    List,
}

#[derive(Debug, Subcommand)]
enum Library {
    /// Fetches a package with npm; nothing in it is run.
    Add {
        /// Like @openzeppelin/contracts or @openzeppelin/contracts@5.4.0.
        package: String,
    },
}

/// Runs the program.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match &cli.command {
        Some(Command::Abi(abi)) => abi.run(),
        Some(Command::Serve { listen }) => cli.shared.config().and_then(|config| serve(config, *listen)),
        Some(Command::Solc(solc)) => cli.shared.config().and_then(|config| solc.run(&config)),
        Some(Command::Library(library)) => cli.shared.config().and_then(|config| library.run(&config)),
        Some(Command::Key(key)) => cli.shared.config().and_then(|config| key.run(&config)),
        _ => with_engine(&cli),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            let _ = writeln!(io::stderr(), "tachyon: {error}");
            ExitCode::from(1)
        }
    }
}

impl Shared {
    fn config(&self) -> io::Result<Config> {
        let config = Config::load(self.config.as_deref()).map_err(io::Error::other)?;
        Ok(match &self.data {
            Some(folder) => config.with_data(folder.clone()),
            None => config,
        })
    }
}

impl Solc {
    fn run(&self, config: &Config) -> io::Result<bool> {
        let folder = config.compiler_folder();
        match self {
            Self::Install { version } => {
                let path = install::install(&folder, version).map_err(io::Error::other)?;
                writeln!(io::stdout(), "{version} {}", path.display())?;
            }
            Self::List => {
                for (version, path) in install::installed(&folder) {
                    writeln!(io::stdout(), "{version} {}", path.display())?;
                }
            }
        }
        Ok(true)
    }
}

impl Library {
    fn run(&self, config: &Config) -> io::Result<bool> {
        let Self::Add { package } = self;
        install::add_library(&config.library_folder(), package).map_err(io::Error::other)?;
        Ok(true)
    }
}

fn with_engine(cli: &Cli) -> io::Result<bool> {
    // Whoever starts the program here may as well have it read what is here.
    let config = cli.shared.config()?.with_usual_root(std::env::current_dir()?);
    let engine = Arc::new(Engine::new(config));
    let tenant = TenantName::new(&cli.shared.tenant).map_err(io::Error::other)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let done = runtime.block_on(async {
        if cli.selftest {
            return check(&engine, cli).await;
        }
        if cli.mcp {
            transport::mcp::serve(engine, tenant).await.map_err(io::Error::other)?;
            return Ok(true);
        }
        match &cli.command {
            Some(Command::Run { tool, request }) => call(&engine, tenant, tool, request).await,
            _ => Err(io::Error::other("nothing to do; try --help")),
        }
    });
    // Reading standard input cannot be interrupted, and nothing else is left to do.
    runtime.shutdown_background();
    done
}

fn serve(config: Config, listen: SocketAddr) -> io::Result<bool> {
    let office = Office::new(config).map_err(io::Error::other)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        // Before anyone is told that all is ready: they may want to end it at once.
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let listener = tokio::net::TcpListener::bind(listen).await?;
        writeln!(io::stdout(), "http://{}", listener.local_addr()?)?;
        let told = async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        };
        transport::http::serve(listener, office, told).await
    })?;
    Ok(true)
}

async fn check(engine: &Engine, cli: &Cli) -> io::Result<bool> {
    let manifests = match (&cli.agents, &cli.manifest) {
        (Some(folder), _) => Manifests::Folder(folder),
        (None, Some(file)) => Manifests::File(file),
        (None, None) => Manifests::None,
    };
    let problems = selftest::problems(engine, manifests).await;
    for problem in &problems {
        writeln!(io::stderr(), "selftest: {problem}")?;
    }
    if problems.is_empty() {
        writeln!(io::stderr(), "selftest: {} tools, registry and engine agree", selftest::CANONICAL.len())?;
    }
    Ok(problems.is_empty())
}

async fn call(engine: &Engine, tenant: TenantName, tool: &str, request: &str) -> io::Result<bool> {
    let name = if tool.starts_with("tachyon_") { tool.to_owned() } else { format!("tachyon_{tool}") };
    let arguments: Value = serde_json::from_str(&text_of(request)?)
        .map_err(|error| io::Error::other(format!("the request is not JSON: {error}")))?;
    let answer = engine.call(&name, arguments, &CallContext::of(tenant)).await;
    writeln!(io::stdout(), "{:#}", answer.to_json())?;
    Ok(answer.is_ok())
}

fn text_of(request: &str) -> io::Result<String> {
    let bounded = |source: &mut dyn io::Read| {
        let mut text = String::new();
        source.take(limits::MESSAGE_BYTES as u64).read_to_string(&mut text)?;
        Ok(text)
    };
    match request.strip_prefix('@') {
        Some(path) => {
            let file = std::fs::File::open(path);
            bounded(&mut file.map_err(|error| io::Error::other(format!("{path}: {error}")))?)
        }
        None if request == "-" => bounded(&mut io::stdin().lock()),
        None => Ok(request.to_owned()),
    }
}
