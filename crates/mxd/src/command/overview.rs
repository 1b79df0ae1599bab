//! `mxd` alone: where things stand, and the next step.

use clap::Args;
use serde_json::json;

use super::readiness::Readiness;
use super::scope::In;
use crate::client::view::Project;
use crate::client::{Daemon, Failure};
use crate::say::{self, DIM, GOOD};

#[derive(Debug, Args)]
pub(crate) struct Overview {}

/// How far somebody has come.
enum Stage {
    NoDaemon,
    NoProject { daemon: String },
    Project { daemon: String, project: Box<Project>, readiness: Box<Readiness> },
}

impl Overview {
    pub(crate) async fn run(self, scope: &In) -> Result<(), Failure> {
        let stage = find(scope).await?;
        let next = next_step(&stage);
        if scope.json {
            say::line(for_programs(&stage, &next).to_string());
            return Ok(());
        }
        match &stage {
            Stage::NoDaemon => say::line("No daemon runs."),
            Stage::NoProject { daemon } => {
                say::line(format!("{GOOD}up{GOOD:#}  {daemon}"));
                say::line("This folder belongs to no project.");
            }
            Stage::Project { daemon, project, readiness } => {
                say::line(format!("{GOOD}up{GOOD:#}  {daemon}"));
                say::line(format!("{}  {DIM}{}{DIM:#}", project.name, project.path));
                readiness.lines().iter().for_each(say::line);
                say::line(format!("{} at work, {} waiting for you", project.running, project.needs));
            }
        }
        say::line(format!("Next: {next}"));
        say::line(format!("{DIM}mxd --help lists everything.{DIM:#}"));
        Ok(())
    }
}

async fn find(scope: &In) -> Result<Stage, Failure> {
    let Ok(daemon) = Daemon::find() else { return Ok(Stage::NoDaemon) };
    let project = match scope.project(&daemon).await {
        Ok(project) => project,
        Err(failure) if failure.is_unreachable() => return Ok(Stage::NoDaemon),
        Err(failure) if failure.is("not_found") && scope.project.is_none() => {
            return Ok(Stage::NoProject { daemon: daemon.base().to_owned() });
        }
        Err(failure) => return Err(failure),
    };
    if let Some(problem) = &project.problem {
        return Err(Failure::new(format!("{} cannot be opened: {problem}", project.name))
            .hint("Put that right, then `mxd daemon restart`."));
    }
    let readiness = Box::new(Readiness::read(&daemon, &project).await?);
    Ok(Stage::Project { daemon: daemon.base().to_owned(), project: Box::new(project), readiness })
}

fn next_step(stage: &Stage) -> String {
    match stage {
        Stage::NoDaemon => "mxd up".to_owned(),
        Stage::NoProject { .. } => "mxd init, in a repository".to_owned(),
        Stage::Project { project, readiness, .. } if readiness.ready && project.needs > 0 => {
            "mxd needs".to_owned()
        }
        Stage::Project { project, readiness, .. } if readiness.ready && project.running > 0 => {
            "mxd watch".to_owned()
        }
        Stage::Project { readiness, .. } => readiness.next_step(),
    }
}

fn for_programs(stage: &Stage, next: &str) -> serde_json::Value {
    match stage {
        Stage::NoDaemon => json!({ "daemon": null, "project": null, "next": next }),
        Stage::NoProject { daemon } => json!({ "daemon": daemon, "project": null, "next": next }),
        Stage::Project { daemon, project, readiness } => {
            json!({ "daemon": daemon, "project": project, "readiness": readiness, "next": next })
        }
    }
}
