//! The program: arguments in, terminal text out.

mod doctor;
mod mcp;
mod place;
mod run;
mod say;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The hidden argument that makes this binary the supervisor of a sandboxed process.
const SANDBOX: &str = "__sandbox";

/// Agents work on your repository as a tree of tasks.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  mxd doctor                        what works on this machine, and how strong the sandbox is
  mxd run -- cargo test             a command as an agent would run it, in this folder
  mxd run --allow '*.example.org' -- curl https://www.example.org
  mxd mcp                           the tools of an agent in this folder, for the client that starts it

Exit codes: 0 all is well, 1 something is not, 2 wrong usage; `mxd run` has the code of its command.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Says what works on this machine and what does not.
    Doctor(doctor::Doctor),
    /// Runs a command in the sandbox of an agent whose worktree is this folder.
    Run(run::Run),
    /// Offers the tools of an agent whose worktree is this folder to an MCP client.
    Mcp(mcp::Mcp),
}

fn main() -> ExitCode {
    // Before anything else: a supervisor must be a process of one thread.
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some(SANDBOX) {
        return mxd_tools::sandbox::enter(arguments.next().as_deref());
    }
    match Cli::parse().command {
        Command::Doctor(doctor) => doctor.run(),
        Command::Run(run) => run.run(),
        Command::Mcp(mcp) => mcp.run(),
    }
}
