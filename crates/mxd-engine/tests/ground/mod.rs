//! The ground that stories are played on: a repository, settings, and an open project.
//!
//! Included by the tests, the test that kills the program, and the benchmark.

#[path = "../../../../testing/repository.rs"]
pub(crate) mod repository;

use std::path::Path;
use std::time::Duration;

use mxd_core::decide::{Actor, NewRoot, Op};
use mxd_core::id::{ProjectId, TaskId, Ulid};
use mxd_engine::Keyring;
use mxd_engine::agents::{Neighbours, Surroundings};
use mxd_engine::config::{Config, Places};
use mxd_engine::git::{Git, Inspector, Lanes, Repository};
use mxd_engine::project::{Opening, Project};
use mxd_tools::plane::{Plane, Registry};
use mxd_tools::sandbox::{Launcher, Mode, Sandbox, User};
use mxd_tools::tether::{Earlier, Tether};
use secrecy::SecretString;

/// The root task of a project, created if there is none.
pub(crate) async fn create_root(project: &Project) -> TaskId {
    if let Some(root) = project.look(|state| state.tree().root().map(|root| root.id)) {
        return root;
    }
    let root =
        NewRoot { title: "Root".into(), description: "The project.".into(), branch: Some("main".into()) };
    project.wish(Actor::User, Op::CreateRoot(root)).await.unwrap().node.unwrap()
}

/// Opens the project on this ground.
pub(crate) async fn open(ground: &Path) -> Project {
    open_beside(ground, (ProjectId::from(Ulid::from_parts(1, 1)), Neighbours::default())).await
}

/// Opens the project on this ground as one of several.
pub(crate) async fn open_beside(ground: &Path, beside: (ProjectId, Neighbours)) -> Project {
    let (tether, earlier) = Tether::take(&ground.join("data/living"), Duration::from_secs(120)).unwrap();
    assert_eq!(earlier, Earlier::Gone, "what a killed program had started ends by itself");
    Project::open(opening(ground, beside, tether).await).await.unwrap()
}

/// What the project on this ground is opened with.
pub(crate) async fn opening(
    ground: &Path,
    (id, neighbours): (ProjectId, Neighbours),
    tether: Tether,
) -> Opening {
    let (data, repo) = (ground.join("data"), ground.join("repo"));
    let places = Places { data: data.clone(), repository: Some(repo.clone()), project: None };
    let config = Config::load(&places).unwrap_or_else(|problems| panic!("{problems}"));
    let git = Git::from_environment().variable("HOME", ground).variable("XDG_CONFIG_HOME", ground);
    let git = git.identity_variables(&[]).tied_by(tether.clone());
    let launcher = Launcher { program: env!("CARGO_BIN_EXE_mxd-headless").into(), args: Vec::new() };
    let sandbox = Sandbox::probe(launcher, Mode::On).await.unwrap().tied_by(tether);
    let repository = Repository::open(git, &Lanes::new(), &repo).await.unwrap();
    let repository = repository.inspected_by(Inspector::new(sandbox.clone()));
    let packages = ("MXD_PACKAGES".to_owned(), ground.join("packages").display().to_string());
    let mut user = User::of_environment();
    user.variables.push(packages);
    let plane = Plane::new(Registry::built_in().unwrap());
    let keyring =
        Keyring::new(|name| (name == "STAGE_KEY").then(|| SecretString::from("a key of the stage")));
    let surroundings = Surroundings { config, repository, plane, sandbox, user, keyring, neighbours };
    Opening { id, data: data.join("project"), surroundings }
}
