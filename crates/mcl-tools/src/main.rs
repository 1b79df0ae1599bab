//! `mcl-tools`: inspects, verifies and calls the tools that a manifest declares.

mod answer;
mod call;
mod caller;
mod cli;
mod code;
mod digest;
mod files;
mod init;
mod inspect;
mod live;
mod lock;
mod plan;
mod progress;
mod prune;
mod shelf;
mod show;
mod sign;
mod uri;
mod verify;

use std::process::ExitCode;

use clap::Parser as _;
use clap::error::ErrorKind;

use answer::{Answer, Format, Trouble};
use cli::{Cli, Command};
use code::Code;

/// The hidden argument that makes this binary the supervisor of a sandboxed process.
const SANDBOX: &str = "__sandbox";

fn main() -> ExitCode {
    // Before anything else: a supervisor must be a process of one thread.
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some(SANDBOX) {
        return mxd_tools::sandbox::enter(arguments.next().as_deref());
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return misused(&error),
    };
    let answer = run(&cli).unwrap_or_else(Answer::from);
    answer.give(cli.command.name(), cli.common.format())
}

fn run(cli: &Cli) -> Result<Answer, answer::Failure> {
    let common = &cli.common;
    match &cli.command {
        Command::Verify(verify) => verify::run(common, verify),
        Command::ListServers => inspect::servers(common),
        Command::ListTools => inspect::tools(common),
        Command::DescribeTool(tool) => inspect::tool(common, tool),
        Command::Call(call) => call::run(common, call),
        Command::ListResources(of) => shelf::resources(common, of),
        Command::ReadResource(read) => shelf::read(common, read),
        Command::ListPrompts(of) => shelf::prompts(common, of),
        Command::Digest(digest) => digest::run(common, digest),
        Command::Lock(lock) => lock::lock(common, lock),
        Command::Diff(with) => lock::diff(common, with),
        Command::Keygen(keygen) => sign::keygen(keygen),
        Command::Sign(sign) => sign::sign(common, sign),
        Command::Init(init) => init::run(common, init),
        Command::Run(run) => plan::run(common, run),
        Command::Prune(prune) => prune::run(prune),
    }
}

/// Help and version are no mistakes; a mistake is told in the form that was asked for.
fn misused(error: &clap::Error) -> ExitCode {
    let wants_json = std::env::args().any(|argument| argument == "--json");
    let is_mistake = !matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if wants_json && is_mistake {
        let text = error.to_string();
        let message = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
        let trouble = Trouble::new(Code::Usage, message, "See mcl-tools --help.");
        return Answer::from(trouble).give("mcl-tools", Format::Json);
    }
    let _closed = error.print();
    if is_mistake { ExitCode::from(Code::Usage.number()) } else { ExitCode::SUCCESS }
}
