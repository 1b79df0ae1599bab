//! The program: serves a script, checks one, or prints the JSON Schema of scripts.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use rehearse::{Options, Rehearsal, Script, ScriptError, Wire};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

/// A scripted model: an HTTP server that speaks the wires of model services.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  rehearse check script.json               is the script right?
  rehearse serve script.json --port 8080   answer clients until Ctrl-C, then report
  rehearse serve script.json --log requests.jsonl --bodies
  rehearse schema > script.schema.json     for editors

Exit codes: 0 all as the script says, 1 the script is wrong or was not followed, 2 wrong usage.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Answers clients as the script says, until Ctrl-C; then says what went wrong.
    Serve(Serve),
    /// Says whether a script is right, with file, line and column of every problem.
    Check(Check),
    /// Prints the JSON Schema of scripts.
    Schema,
}

#[derive(Debug, Args)]
struct Serve {
    /// The script.
    script: PathBuf,
    /// The port on 127.0.0.1; 0 for any that is free.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Writes every request to this file, one line of JSON each.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Writes whole request bodies to the log.
    #[arg(long, requires = "log")]
    bodies: bool,
}

#[derive(Debug, Args)]
struct Check {
    /// The script.
    script: PathBuf,
    /// Prints the result as JSON.
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Serve(serve) => run(serve),
        Command::Check(check) => check.run(),
        Command::Schema => say(&format!("{:#}", Script::json_schema())).map(|()| true),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            let _ = writeln!(io::stderr(), "rehearse: {error}");
            ExitCode::from(1)
        }
    }
}

fn say(text: &str) -> io::Result<()> {
    writeln!(io::stdout(), "{text}")
}

impl Check {
    fn run(&self) -> io::Result<bool> {
        let loaded = Script::load(&self.script);
        if self.json {
            let problems = match &loaded {
                Ok(_) => json!([]),
                Err(error @ ScriptError::Wrong { .. }) => json!(error.problems()),
                Err(error) => json!([{ "line": 0, "column": 0, "path": "", "what": error.to_string() }]),
            };
            let report = json!({ "ok": loaded.is_ok(), "file": self.script, "problems": problems });
            say(&report.to_string())?;
            return Ok(loaded.is_ok());
        }
        match loaded {
            Ok(script) => {
                let turns: usize = script.conversations.iter().map(|one| one.turns.len()).sum();
                let conversations = script.conversations.len();
                say(&format!("ok: {conversations} conversations, {turns} turns"))?;
                Ok(true)
            }
            Err(error) => {
                writeln!(io::stderr(), "{error}")?;
                Ok(false)
            }
        }
    }
}

fn run(serve: Serve) -> io::Result<bool> {
    let script = Script::load(&serve.script).map_err(io::Error::other)?;
    let options = Options { port: serve.port, log: serve.log, keep_bodies: serve.bodies };
    let model = Rehearsal::start_with(script, options).map_err(io::Error::other)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(until_told_to_stop(&model))?;
    match model.finish() {
        Ok(()) => Ok(true),
        Err(report) => {
            writeln!(io::stderr(), "{report}")?;
            Ok(false)
        }
    }
}

/// Says where the server is and waits for Ctrl-C, or for the signal that ends a process.
async fn until_told_to_stop(model: &Rehearsal) -> io::Result<()> {
    // Before anyone is told that all is ready: they may want to end it at once.
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    // One line each, so that a program that started this one can read where to go.
    for wire in Wire::ALL {
        say(&format!("{wire} {}", model.base_url(*wire)))?;
    }
    say("ready")?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}
