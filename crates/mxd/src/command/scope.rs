//! Which project and which task a command is about.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::client::view::{Project, Projects, Task, Tasks};
use crate::client::{Daemon, Failure, data_folder};

/// Letters of an id that are enough to name it.
const PREFIX: usize = 4;

/// The project, and how the answer is told.
#[derive(Debug, Clone, Args)]
pub(crate) struct In {
    /// The project: its id or the start of it, its name, or its folder. Without it, the project of this folder.
    #[arg(short, long, value_name = "PROJECT", global = true)]
    pub(crate) project: Option<String>,
    /// Prints JSON.
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// The project, named without a flag.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Of {
    /// The project, as `--project` names it.
    #[arg(value_name = "PROJECT", conflicts_with = "project")]
    of: Option<String>,
}

impl Of {
    /// The scope, with the project that is named here.
    pub(crate) fn within(self, scope: &In) -> In {
        In { project: self.of.or_else(|| scope.project.clone()), json: scope.json }
    }
}

impl In {
    /// The project that is meant.
    pub(crate) async fn project(&self, daemon: &Daemon) -> Result<Project, Failure> {
        let projects = projects(daemon).await?;
        match &self.project {
            Some(named) => named_project(projects, named),
            None => project_of_folder(projects),
        }
    }
}

/// All projects.
pub(crate) async fn projects(daemon: &Daemon) -> Result<Vec<Project>, Failure> {
    let Projects { projects } = daemon.get("/projects").await?;
    Ok(projects)
}

/// A project by id, name or folder.
pub(crate) fn named_project(projects: Vec<Project>, named: &str) -> Result<Project, Failure> {
    let folder = std::fs::canonicalize(named).ok();
    let is_folder =
        |project: &Project| folder.as_deref().is_some_and(|folder| Path::new(&project.path) == folder);
    let exact = projects.iter().find(|project| project.id.eq_ignore_ascii_case(named) || is_folder(project));
    if let Some(project) = exact {
        return Ok(project.clone());
    }
    let alike = |project: &&Project| {
        let by_id = named.len() >= PREFIX && project.id.starts_with(&named.to_ascii_uppercase());
        by_id || project.name == named
    };
    let found: Vec<&Project> = projects.iter().filter(alike).collect();
    match found.as_slice() {
        [project] => Ok((*project).clone()),
        [] => {
            Err(Failure::not_found(format!("no project is called `{named}`"))
                .hint("`mxd list` shows them all."))
        }
        _ => Err(Failure::new(format!("`{named}` names more than one project")).hint("Use more of its id.")),
    }
}

fn project_of_folder(projects: Vec<Project>) -> Result<Project, Failure> {
    let here = std::env::current_dir().and_then(std::fs::canonicalize).unwrap_or_else(|_| PathBuf::from("."));
    let around = projects.into_iter().filter(|project| here.starts_with(&project.path));
    around.max_by_key(|project| project.path.len()).ok_or_else(|| {
        Failure::not_found("this folder belongs to no project")
            .hint("`mxd init` makes it one; `--project` names another.")
    })
}

/// The project without a daemon: from the register itself.
pub(crate) fn registered(scope: &In) -> Result<Project, Failure> {
    let path = data_folder()?.join("projects.json");
    let text = std::fs::read_to_string(&path).map_err(|error| {
        Failure::not_found(format!("{}: {error}", path.display()))
            .hint("Projects are registered by a daemon: `mxd up`, then `mxd init`.")
    })?;
    let unreadable = |error: serde_json::Error| {
        Failure::new(format!("{}: {error}", path.display())).hint("The daemon writes it anew: `mxd up`.")
    };
    let register: serde_json::Value = serde_json::from_str(&text).map_err(unreadable)?;
    let listed = register.get("projects").unwrap_or(&register).clone();
    let projects: Vec<Project> = serde_json::from_value(listed).map_err(unreadable)?;
    match &scope.project {
        Some(named) => named_project(projects, named),
        None => project_of_folder(projects),
    }
}

/// The tree of the project that is meant.
pub(crate) async fn tree(scope: &In) -> Result<Tree, Failure> {
    let daemon = Daemon::find()?;
    let project = scope.project(&daemon).await?;
    Tree::read(&daemon, &project).await
}

/// The tree of a project.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tree {
    pub(crate) tasks: Vec<Task>,
    pub(crate) root: Option<String>,
}

impl Tree {
    /// Reads the whole tree.
    pub(crate) async fn read(daemon: &Daemon, project: &Project) -> Result<Self, Failure> {
        let Tasks { tasks, root_id } = daemon.get(&format!("/projects/{}/tasks", project.id)).await?;
        Ok(Self { tasks, root: root_id })
    }

    /// Takes in what has changed since it was read.
    pub(crate) fn update(&mut self, tasks: &[Task], removed: &[String]) {
        for task in tasks {
            match self.tasks.iter_mut().find(|known| known.id == task.id) {
                Some(known) => *known = task.clone(),
                None => self.tasks.push(task.clone()),
            }
        }
        self.tasks.retain(|task| !removed.contains(&task.id));
    }

    pub(crate) fn get(&self, id: &str) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id == id)
    }

    /// A task by its id or the start or the end of it, by `root`, or by its whole title.
    pub(crate) fn find(&self, named: &str) -> Result<&Task, Failure> {
        if named == "root" {
            let root = self.root.as_deref().and_then(|root| self.get(root));
            return root.ok_or_else(|| Failure::not_found("the project has no root task"));
        }
        let upper = named.to_ascii_uppercase();
        let alike = |task: &&Task| {
            let by_id = named.len() >= PREFIX && (task.id.starts_with(&upper) || task.id.ends_with(&upper));
            by_id || task.title == named
        };
        let found: Vec<&Task> = self.tasks.iter().filter(alike).collect();
        match found.as_slice() {
            [task] => Ok(task),
            [] => Err(Failure::not_found(format!("no task is called `{named}`"))
                .hint("`mxd tasks` shows them all; an id can be shortened to its start or its end.")),
            _ => {
                Err(Failure::new(format!("`{named}` names {} tasks", found.len()))
                    .hint("Use more of its id."))
            }
        }
    }
}
