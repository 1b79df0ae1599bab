//! Projects: registering, listing, moving and removing them.

use std::path::{Path, PathBuf};

use clap::Args;
use reqwest::Method;
use serde_json::{Value, json};

use super::scope::{In, named_project, projects};
use crate::client::view::Projects;
use crate::client::{Daemon, Failure};
use crate::say::{self, BAD, DIM};

#[derive(Debug, Args)]
pub(crate) struct List {}

impl List {
    pub(crate) async fn run(self, scope: &In) -> Result<(), Failure> {
        let projects: Value = Daemon::find()?.get("/projects").await?;
        if scope.json {
            say::line(projects.to_string());
            return Ok(());
        }
        let Projects { projects } = read(projects)?;
        if projects.is_empty() {
            say::note("There are no projects yet: `mxd init` in a repository makes one.");
        }
        let width = projects.iter().map(|project| project.name.chars().count()).max().unwrap_or(0);
        for project in projects {
            let gone = if project.path_exists { "" } else { "  (folder is gone: mxd relocate)" };
            let broken = project.problem.map(|problem| format!("  {problem}")).unwrap_or_default();
            say::line(format!(
                "{}  {:width$}  {DIM}{}{DIM:#}{BAD}{gone}{broken}{BAD:#}",
                project.id, project.name, project.path
            ));
        }
        Ok(())
    }
}

#[derive(Debug, Args)]
pub(crate) struct Relocate {
    /// The project: id, name or old folder.
    project: String,
    /// Where its folder is now.
    path: PathBuf,
}

impl Relocate {
    pub(crate) async fn run(self, scope: &In) -> Result<(), Failure> {
        let daemon = Daemon::find()?;
        let project = named_project(projects(&daemon).await?, &self.project)?;
        let path = absolute(&self.path)?;
        let body = json!({ "path": path });
        let answer: Value =
            daemon.ask(Method::PATCH, &format!("/projects/{}", project.id), Some(body)).await?;
        let found = answer["path"].as_str().unwrap_or_default();
        say::answer(scope.json, &answer, || format!("{} is at {found}", project.name));
        Ok(())
    }
}

#[derive(Debug, Args)]
pub(crate) struct Base {
    /// The branch that tasks start from and that work is merged into, from now on. Without it the present one is told.
    branch: Option<String>,
}

impl Base {
    pub(crate) async fn run(self, scope: &In) -> Result<(), Failure> {
        let daemon = Daemon::find()?;
        let route = format!("/projects/{}", scope.project(&daemon).await?.id);
        let answer: Value = match self.branch {
            None => daemon.get(&route).await?,
            Some(branch) => daemon.ask(Method::PATCH, &route, Some(json!({ "baseBranch": branch }))).await?,
        };
        let says = || match answer["baseBranch"].as_str() {
            Some(branch) => format!("tasks start from {branch}, and work is merged into it"),
            None => "there is no base branch yet: `mxd base BRANCH` chooses one".to_owned(),
        };
        say::answer(scope.json, &answer, says);
        Ok(())
    }
}

#[derive(Debug, Args)]
pub(crate) struct Remove {
    /// The project: id, name or folder.
    project: String,
}

impl Remove {
    pub(crate) async fn run(self, scope: &In) -> Result<(), Failure> {
        let daemon = Daemon::find()?;
        let project = named_project(projects(&daemon).await?, &self.project)?;
        let answer: Value = daemon.ask(Method::DELETE, &format!("/projects/{}", project.id), None).await?;
        say::answer(scope.json, &answer, || {
            format!(
                "{} is not a project any more; its repository and its log stay where they are",
                project.name
            )
        });
        Ok(())
    }
}

/// The whole path of a folder, as the daemon is told it.
pub(super) fn absolute(path: &Path) -> Result<String, Failure> {
    let path = std::path::absolute(path).map_err(|error| Failure::new(format!("the folder: {error}")))?;
    path.to_str().map(str::to_owned).ok_or_else(|| {
        Failure::new(format!("{}: the name is no UTF-8", path.display())).hint("Rename the folder.")
    })
}

pub(super) fn read<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, Failure> {
    serde_json::from_value(value)
        .map_err(|error| Failure::new(format!("the daemon's answer cannot be read: {error}")))
}
