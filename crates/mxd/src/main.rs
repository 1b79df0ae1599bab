//! The program: arguments in, terminal text out.

mod client;
mod command;
mod daemon;
mod demo;
mod doctor;
mod mcp;
mod page;
mod paper;
mod place;
mod run;
mod say;
mod serve;
mod service;
mod tree_text;
mod watch;

use std::ffi::OsStr;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use self::client::Failure;
use self::command::scope::In;
use self::command::{
    answer, auth, config, init, log, overview, project, read, send, servers, sessions, steer, task, wait,
};

/// The hidden argument that makes this binary the supervisor of a sandboxed process.
const SANDBOX: &str = "__sandbox";

/// Agents work on your repository as a tree of tasks.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES)]
struct Cli {
    #[command(flatten)]
    scope: In,
    #[command(subcommand)]
    command: Option<Command>,
}

const EXAMPLES: &str = "\
Examples:
  mxd demo                          what it is, in a minute, without a key
  mxd                               where things stand, and the next step
  mxd up                            starts the daemon and opens the page
  mxd init && mxd send Add a --version flag, with a test
  mxd status                        the tree of tasks
  mxd needs                         what waits for you
  mxd doctor                        what works on this machine, and how strong the sandbox is

Exit codes: 0 all is well, 1 it was refused or did not work, 2 wrong usage, 3 no daemon answers, 4 there is no such
thing, 5 the daemon does not know you; `mxd run` has the code of its command.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Writes to an agent: starts, steers or wakes it.
    #[command(visible_alias = "s")]
    Send(send::Send),
    /// Where things stand, and the next step; what `mxd` alone says.
    Overview(overview::Overview),
    /// Makes a repository a project, and sets it up.
    Init(init::Init),
    /// Lists the projects.
    #[command(visible_alias = "ls")]
    List(project::List),
    /// Says where the folder of a project is now.
    Relocate(project::Relocate),
    /// Tells or chooses the branch that tasks start from and that work is merged into.
    Base(project::Base),
    /// Forgets a project; its repository and its log stay.
    Remove(project::Remove),
    /// Shows the tree of tasks.
    #[command(visible_aliases = ["st", "tree"])]
    Status(read::Status),
    /// Lists all tasks with their ids.
    Tasks(read::List),
    /// Shows one task.
    Show(read::Show),
    /// Makes, changes, moves and removes tasks.
    #[command(subcommand)]
    Task(task::TaskCommand),
    /// Removes a task, as `mxd task delete` does.
    #[command(visible_alias = "del")]
    Delete(task::Delete),
    #[command(flatten)]
    Steer(steer::Steer),
    /// Waits until the work at a task comes to rest, or needs you.
    Wait(wait::Wait),
    /// Lists what waits for you: questions, permissions, failures.
    Needs(answer::List),
    /// Answers a question.
    Answer(answer::Answer),
    /// Allows or refuses a call that waits for your permission.
    Approve(answer::Approve),
    /// Refuses a call that waits for your permission, with a reason for the agent.
    Deny(answer::Deny),
    /// Shows what a task changed.
    Diff(read::Diff),
    /// What it cost.
    Cost(read::Cost),
    /// Whether the root agent runs.
    Agent(read::Agent),
    /// Looks for words in tasks and conversations.
    Search(read::Search),
    /// What happened.
    #[command(visible_alias = "log")]
    Logs(log::Logs),
    /// The conversations: which there are, and throwing them away.
    #[command(subcommand)]
    Sessions(sessions::Sessions),
    /// The MCP servers of the agents.
    Servers(servers::Servers),
    /// Shows a project live, to read, to write and to stop.
    #[command(visible_alias = "w")]
    Watch(watch::Watch),
    /// What is configured, and where it comes from.
    #[command(visible_alias = "cfg")]
    Config(config::ConfigCommand),
    /// Lets a browser in, and throws it out.
    Auth(auth::Auth),
    /// Starts the daemon if it does not run, and opens the page.
    Up(daemon::Up),
    /// Runs the daemon here.
    Serve(serve::Serve),
    /// The daemon in the background.
    #[command(subcommand)]
    Daemon(daemon::DaemonCommand),
    /// Whether the daemon is well.
    Health(read::Health),
    /// Seven agents make a small program better, without a key.
    Demo(demo::Demo),
    /// Says what works on this machine and what does not.
    Doctor(doctor::Doctor),
    /// Runs a command in the sandbox of an agent whose worktree is this folder.
    Run(run::Run),
    /// Offers the tools of an agent whose worktree is this folder, or those of the daemon, to an MCP client.
    Mcp(mcp::Mcp),
    /// Prints the completions for a shell.
    Completions(paper::Completions),
    /// Prints the manual page, or writes one for every command.
    Man(paper::Man),
    /// Which version this is, and which the daemon is.
    Version(read::Version),
}

fn main() -> ExitCode {
    // Before anything else: a supervisor must be a process of one thread.
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().as_deref() == Some(SANDBOX.as_ref()) {
        return mxd_tools::sandbox::enter(arguments.next().as_deref().and_then(OsStr::to_str));
    }
    let Cli { scope, command } = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(misuse) => return usage(&misuse),
    };
    // Without a command: where things stand.
    let command = command.unwrap_or(Command::Overview(overview::Overview {}));
    match command {
        Command::Doctor(doctor) => doctor.run(&scope),
        Command::Run(run) => run.run(scope.json),
        Command::Mcp(mcp) => mcp.run(scope.json),
        Command::Serve(serve) => serve.run(scope.json),
        Command::Completions(completions) => completions.run(),
        Command::Man(man) => man.run(),
        Command::Demo(demo) => {
            let played = say::wait_for(demo.run(scope.json));
            played.unwrap_or_else(|error| Failure::new(error.to_string()).tell(scope.json))
        }
        other => match say::wait_for(talk_plainly(other, &scope)) {
            Ok(Ok(())) => match say::written() {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => Failure::new(format!("standard output: {error}"))
                    .hint("What was asked for was done; what it says could not be written.")
                    .tell(scope.json),
            },
            Ok(Err(failure)) => failure.tell(scope.json),
            Err(error) => Failure::new(error.to_string()).tell(scope.json),
        },
    }
}

/// What is told to whoever typed something else than a command: help, or what is wrong, also to programs.
fn usage(misuse: &clap::Error) -> ExitCode {
    if !misuse.use_stderr() || std::env::args_os().all(|word| word != "--json") {
        let _closed = misuse.print();
    } else {
        let text = misuse.render().to_string();
        let message = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
        let _code = Failure::new(message).named("usage").tell(true);
    }
    ExitCode::from(u8::try_from(misuse.exit_code()).unwrap_or(2))
}

/// A command, and what went wrong with titles in the place of ids.
async fn talk_plainly(command: Command, scope: &In) -> Result<(), Failure> {
    match talk(command, scope).await {
        Err(failure) if failure.has_ids() && !scope.json => {
            let tree = command::scope::tree(scope).await.unwrap_or_default();
            Err(failure.renamed(|message| tree_text::readable(&tree, message)))
        }
        other => other,
    }
}

/// The commands that talk to the daemon.
async fn talk(command: Command, scope: &In) -> Result<(), Failure> {
    match command {
        Command::Send(send) => send.run(scope).await,
        Command::Init(init) => init.run(scope).await,
        Command::Overview(overview) => overview.run(scope).await,
        Command::List(list) => list.run(scope).await,
        Command::Relocate(relocate) => relocate.run(scope).await,
        Command::Base(base) => base.run(scope).await,
        Command::Remove(remove) => remove.run(scope).await,
        Command::Status(status) => status.run(scope).await,
        Command::Tasks(tasks) => tasks.run(scope).await,
        Command::Show(show) => show.run(scope).await,
        Command::Task(task) => task.run(scope).await,
        Command::Delete(delete) => delete.run(scope).await,
        Command::Steer(steer) => steer.run(scope).await,
        Command::Wait(wait) => wait.run(scope).await,
        Command::Needs(needs) => needs.run(scope).await,
        Command::Answer(answer) => answer.run(scope).await,
        Command::Approve(approve) => approve.run(scope).await,
        Command::Deny(deny) => deny.run(scope).await,
        Command::Diff(diff) => diff.run(scope).await,
        Command::Cost(cost) => cost.run(scope).await,
        Command::Agent(agent) => agent.run(scope).await,
        Command::Search(search) => search.run(scope).await,
        Command::Logs(logs) => logs.run(scope).await,
        Command::Sessions(sessions) => sessions.run(scope).await,
        Command::Servers(servers) => servers.run(scope).await,
        Command::Watch(watch) => watch.run(scope).await,
        Command::Config(config) => config.run(scope).await,
        Command::Auth(auth) => auth.run(scope).await,
        Command::Up(up) => up.run(scope.json).await,
        Command::Daemon(daemon) => daemon.run(scope.json).await,
        Command::Health(health) => health.run(scope).await,
        Command::Version(version) => version.run(scope).await,
        Command::Serve(_)
        | Command::Demo(_)
        | Command::Doctor(_)
        | Command::Run(_)
        | Command::Mcp(_)
        | Command::Completions(_)
        | Command::Man(_) => Ok(()),
    }
}
