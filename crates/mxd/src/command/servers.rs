//! `mxd servers`: the MCP servers of a project's agents, and the user's word about what they offer.

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use super::scope::In;
use crate::client::{Daemon, Failure};
use crate::say::{self, BAD, DIM, GOOD, WEAK};

/// When agents that have begun get tools that were added since.
pub(super) const ARRIVAL: &str = "Agents that have begun get tools of a new server with their next summary. \
    `mxd compact TASK` asks for one now; the cached start of their requests is then written anew.";

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mxd servers                                  how they are, and what they offer
  mxd servers accept github                    what it offers now is what it may offer
  mxd servers accept github --class issue=write
  mxd servers retry github                     looks for it again
  mxd compact root                             gives an agent that has begun the tools of new servers

An agent keeps the tools it began with until its next summary, because another list makes the provider's cache of
its conversation useless. `mxd compact` asks for a summary now.")]
pub(crate) struct Servers {
    #[command(subcommand)]
    command: Option<Wanted>,
}

#[derive(Debug, Subcommand)]
enum Wanted {
    /// Accepts what a server offers now.
    Accept {
        /// The server.
        server: String,
        /// What a tool does to the world: read, write, shell, network or spend. Can be given more than once.
        #[arg(long, value_name = "TOOL=CLASS", value_parser = class)]
        class: Vec<(String, String)>,
    },
    /// Looks for a server again.
    Retry {
        /// The server.
        server: String,
    },
}

/// A tool and its class, as they are typed.
fn class(text: &str) -> Result<(String, String), String> {
    let (tool, class) = text.split_once('=').ok_or("it is TOOL=CLASS, such as `search=read`")?;
    Ok((tool.to_owned(), class.to_owned()))
}

impl Servers {
    pub(crate) async fn run(self, scope: &In) -> Result<(), Failure> {
        let daemon = Daemon::find()?;
        let project = scope.project(&daemon).await?;
        let base = format!("/projects/{}/servers", project.id);
        let (answer, said): (Value, String) = match self.command {
            None => return list(scope, &daemon.get(&base).await?),
            Some(Wanted::Accept { server, class }) => {
                let classes: Map<String, Value> =
                    class.into_iter().map(|(tool, class)| (tool, class.into())).collect();
                let path = format!("{base}/{server}/accept");
                (daemon.post(&path, json!({ "classes": classes })).await?, format!("{server} is accepted"))
            }
            Some(Wanted::Retry { server }) => {
                let path = format!("{base}/{server}/retry");
                (daemon.post(&path, json!({})).await?, format!("{server} is looked for again"))
            }
        };
        say::answer(scope.json, &answer, || said);
        if !scope.json {
            say::note(ARRIVAL);
        }
        Ok(())
    }
}

fn list(scope: &In, answer: &Value) -> Result<(), Failure> {
    if scope.json {
        say::line(answer.to_string());
        return Ok(());
    }
    let servers = answer["servers"].as_array().map(Vec::as_slice).unwrap_or_default();
    if servers.is_empty() {
        say::note("No servers are configured: `mcpServers` in the settings adds some (docs/manifests.md).");
    }
    for server in servers {
        show(server);
    }
    Ok(())
}

fn show(server: &Value) {
    let text = |value: &Value| mxd_core::show::one_line(value.as_str().unwrap_or_default(), 200);
    let status = text(&server["status"]);
    let style = match status.as_str() {
        "ready" => GOOD,
        "down" => BAD,
        "drifted" | "unaccepted" => WEAK,
        _ => DIM,
    };
    let tools = server["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    let alias = text(&server["alias"]);
    say::line(format!("{style}{status:<10}{style:#}  {alias}  {DIM}{} tools{DIM:#}", tools.len()));
    if server["problem"].is_string() {
        // The end of it says what to do.
        let problem = mxd_core::show::one_line(server["problem"].as_str().unwrap_or_default(), 2_000);
        say::line(format!("            {problem}"));
    }
    for tool in tools {
        let class = tool["class"].as_str().unwrap_or("no class, so it is not called");
        say::line(format!("            {:<32}  {DIM}{class}{DIM:#}", text(&tool["name"])));
    }
    for change in server["drift"].as_array().into_iter().flatten() {
        say::line(format!("            {WEAK}changed{WEAK:#}  {}", text(change)));
    }
    for change in server["changes"].as_array().into_iter().flatten() {
        say::line(format!("            {} {}", text(&change["tool"]), text(&change["path"])));
        for (sign, style, side) in [("-", BAD, &change["was"]), ("+", GOOD, &change["now"])] {
            if let Some(words) = side.as_str() {
                // All of it: what is cut off could be what matters. The daemon has made everything in it visible.
                say::line(format!("              {style}{sign} {words}{style:#}"));
            }
        }
    }
    if matches!(status.as_str(), "drifted" | "unaccepted") {
        say::line(format!("            {DIM}mxd servers accept {alias}{DIM:#}"));
    }
}
