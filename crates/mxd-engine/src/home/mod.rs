//! The home of a user's projects: one data folder, one owner, a list, and every project that is open.
//!
//! [`Home::open`] takes the folder for this process alone and reads the list. [`Home::open_all`] opens the projects, each
//! on its own: one that cannot be opened is shown as broken, and the others work. Whatever changes the list goes one
//! after the other, and is on disk before it is shown.

mod error;
mod prepare;
mod private;
mod registry;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use futures_util::StreamExt as _;
use mxd_core::change::Change;
use mxd_core::decide::{Actor, NewRoot, Op, TaskPatch};
use mxd_core::id::ProjectId;
use mxd_core::money::Usd;
use mxd_core::tree::Node;
use mxd_store::disk::{Disk as _, LockError, LockGuard, OsDisk};
use mxd_tools::plane::{Plane, Registry};
use mxd_tools::sandbox::{Launcher, Mode, Sandbox, User};
use mxd_tools::tether::{Earlier, Tether};
use tokio::sync::{Mutex, watch};

pub use self::error::HomeError;
pub use self::prepare::Init;
pub use self::private::make_folder as make_private_folder;
pub(crate) use self::private::{publish as publish_private, read as read_private};
use self::registry::Shelf;
pub use self::registry::{Entry, MOST_PROJECTS};
use crate::agents::{Neighbour, Neighbours, Surroundings};
use crate::clock;
use crate::config::{Config, Places};
use crate::git::{Git, Head, Inspector, Lanes, Repository};
use crate::keyring::Keyring;
use crate::project::{Opening, Project};

/// Projects that are opened at the same time.
const OPENED_AT_ONCE: usize = 8;
/// Characters of a project's name.
const MOST_NAME: usize = 100;
/// How long what an earlier daemon had started may take to end.
const LAST_WORDS: Duration = Duration::from_secs(30);

/// What a home is opened with.
#[derive(Debug)]
pub struct Setup {
    /// The data folder.
    pub data: PathBuf,
    /// How sandboxed processes are started.
    pub launcher: Launcher,
    /// Whose tools the agents use.
    pub user: User,
    /// Where credentials come from.
    pub keyring: Keyring,
    /// The git to be used.
    pub git: Git,
}

/// The folder that a user's data is in, unless another is named: `MXD_DATA_DIR`, or `.mxd` in the home directory.
pub fn data_folder(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let named = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    named("MXD_DATA_DIR").or_else(|| named("HOME").map(|home| home.join(".mxd")))
}

/// How a project stands.
#[derive(Debug, Clone)]
pub enum Standing {
    /// It is being opened.
    Opening,
    /// It works.
    Open(Project),
    /// It cannot be opened.
    Broken {
        /// Why not.
        problem: String,
    },
}

impl Standing {
    /// The project, when it is open.
    pub fn project(&self) -> Option<&Project> {
        match self {
            Self::Open(project) => Some(project),
            Self::Opening | Self::Broken { .. } => None,
        }
    }
}

/// A registered project.
#[derive(Debug, Clone)]
pub struct Registered {
    /// What the list says of it.
    pub entry: Entry,
    /// How it stands, as a value to watch: it is another project after a restart.
    pub standing: watch::Receiver<Standing>,
}

impl Registered {
    /// How it stands now.
    pub fn now(&self) -> Standing {
        self.standing.borrow().clone()
    }
}

/// A project to be registered.
#[derive(Debug, Clone)]
pub struct Registration {
    /// Its folder.
    pub path: PathBuf,
    /// What it is to be called; otherwise as its folder.
    pub name: Option<String>,
    /// What may be made of a folder that is not ready.
    pub init: Init,
}

/// What became of a registration.
#[derive(Debug, Clone)]
pub struct Welcome {
    /// The project.
    pub project: Registered,
    /// What its user should know.
    pub notes: Vec<String>,
}

/// A user's projects. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Home {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    setup: Setup,
    shelf: Shelf,
    lanes: Arc<Lanes>,
    neighbours: Neighbours,
    slots: RwLock<BTreeMap<ProjectId, Slot>>,
    /// Held by whoever changes the list.
    changes: Mutex<()>,
    sandboxes: Mutex<Vec<(Mode, Sandbox)>>,
    tether: Tether,
    _lock: LockGuard,
}

#[derive(Debug)]
struct Slot {
    entry: Entry,
    standing: watch::Sender<Standing>,
}

impl Slot {
    fn shown(&self) -> Registered {
        Registered { entry: self.entry.clone(), standing: self.standing.subscribe() }
    }
}

impl Home {
    /// Takes the data folder, which is made if needed, and reads the list. No project is opened yet, but what a daemon
    /// before this one had started has ended: it might change a worktree under whoever works there now.
    ///
    /// # Errors
    ///
    /// When another daemon has it, or it cannot be used.
    pub fn open(mut setup: Setup) -> Result<Self, HomeError> {
        let data = &setup.data;
        private::make_folder(data).map_err(HomeError::file("use", data))?;
        let lock = lock(data)?;
        let tether = tie(data)?;
        let shelf = Shelf::new(data);
        setup.git = setup.git.tied_by(tether.clone());
        let slot = |entry: Entry| {
            let standing = watch::Sender::new(Standing::Opening);
            (entry.id, Slot { entry, standing })
        };
        let slots = shelf.read()?.into_iter().map(slot).collect();
        let inner = Inner {
            shelf,
            lanes: Lanes::new(),
            neighbours: Neighbours::default(),
            slots: RwLock::new(slots),
            changes: Mutex::default(),
            sandboxes: Mutex::default(),
            tether,
            _lock: lock,
            setup,
        };
        let home = Self { inner: Arc::new(inner) };
        home.know_secrets(&home.places(None));
        Ok(home)
    }

    /// Makes the credentials known that stand in these settings, which may have been written a moment ago.
    pub fn know_secrets(&self, places: &Places) {
        // Settings that cannot be read are told where they are used, and give nobody a credential.
        if let Ok(config) = Config::load(places) {
            self.inner.setup.keyring.know_literals(&config);
        }
    }

    /// The data folder.
    pub fn data(&self) -> &Path {
        &self.inner.setup.data
    }

    /// Where the layers of the settings lie: those of a project, or of the user alone.
    pub fn places(&self, project: Option<&Entry>) -> Places {
        Places {
            data: self.data().to_owned(),
            repository: project.map(|entry| entry.path.clone()),
            project: project.map(|entry| self.inner.shelf.folder(entry.id)),
        }
    }

    /// Everything of ours about a project.
    pub fn folder(&self, id: ProjectId) -> PathBuf {
        self.inner.shelf.folder(id)
    }

    /// Opens every project that is not open.
    pub async fn open_all(&self) {
        let waiting: Vec<Entry> = self.projects().into_iter().map(|project| project.entry).collect();
        let open = |entry: Entry| async move {
            let standing = self.opened(&entry, None).await;
            self.show(entry.id, standing);
        };
        futures_util::stream::iter(waiting).for_each_concurrent(OPENED_AT_ONCE, open).await;
    }

    /// All projects, oldest first.
    pub fn projects(&self) -> Vec<Registered> {
        self.slots(|slots| slots.values().map(Slot::shown).collect())
    }

    /// A project.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub fn project(&self, id: ProjectId) -> Result<Registered, HomeError> {
        self.slots(|slots| slots.get(&id).map(Slot::shown)).ok_or(HomeError::Unknown { id })
    }

    /// A project, if it is open: the short way for whoever has no use for the rest.
    pub fn open_project(&self, id: ProjectId) -> Option<Project> {
        self.slots(|slots| slots.get(&id)?.standing.borrow().project().cloned())
    }

    /// Registers a folder: its log gets its root task, and it is in the list before this returns.
    ///
    /// # Errors
    ///
    /// When it cannot be worked in, or is registered already.
    pub async fn register(&self, wish: Registration) -> Result<Welcome, HomeError> {
        let _turn = self.inner.changes.lock().await;
        let Setup { git, .. } = &self.inner.setup;
        let prepared = prepare::prepare((git, &self.inner.lanes), &wish.path, wish.init).await?;
        let entries = self.entries();
        if let Some(there) = entries.iter().find(|entry| entry.path == prepared.folder) {
            let (path, name, id) = (prepared.folder, there.name.clone(), there.id);
            return Err(HomeError::Registered { path, name, id });
        }
        if entries.len() >= MOST_PROJECTS {
            return Err(HomeError::TooMany { limit: MOST_PROJECTS });
        }
        let mut notes = prepared.notes;
        let kept = self.inner.shelf.kept(&prepared.folder, &entries);
        if kept.is_some() {
            notes.push("It was registered before: its history is back.".to_owned());
        }
        let folder_name = prepared.folder.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = wish.name.or_else(|| kept.as_ref().map(|kept| kept.name.clone())).or(folder_name);
        let now = clock::now();
        let entry = Entry {
            id: kept.as_ref().map_or_else(|| clock::fresh(now).issue(), |kept| kept.id),
            name: checked_name(&name.unwrap_or_else(|| "project".to_owned()))?,
            path: prepared.folder,
            created_at: kept.map_or(now, |kept| kept.created_at),
        };
        self.inner.shelf.write_own(&entry)?;
        let standing = self.opened(&entry, Some(prepared.repository)).await;
        if let Standing::Broken { problem } = standing {
            return Err(HomeError::NotOpened { problem });
        }
        let mut all = entries;
        all.push(entry.clone());
        if let Err(error) = self.inner.shelf.write(all) {
            self.close_one(&standing).await;
            return Err(error);
        }
        let id = entry.id;
        let slot = Slot { entry, standing: watch::Sender::new(standing) };
        self.change_slots(|slots| slots.insert(id, slot));
        Ok(Welcome { project: self.project(id)?, notes })
    }

    /// Gives a project another name.
    ///
    /// # Errors
    ///
    /// When there is no such project, or the name cannot be shown.
    pub async fn rename(&self, id: ProjectId, name: &str) -> Result<Registered, HomeError> {
        let _turn = self.inner.changes.lock().await;
        let entry = Entry { name: checked_name(name)?, ..self.project(id)?.entry };
        self.replace(entry.clone())?;
        let standing = self.project(id)?.now();
        self.introduce(&entry, &standing);
        self.project(id)
    }

    /// Says that the folder of a project is somewhere else now. Its agents end, and go on there.
    ///
    /// # Errors
    ///
    /// When there is no such project, or the folder cannot be worked in.
    pub async fn relocate(&self, id: ProjectId, path: &Path) -> Result<Welcome, HomeError> {
        let _turn = self.inner.changes.lock().await;
        let old = self.project(id)?;
        let Setup { git, .. } = &self.inner.setup;
        let prepared = prepare::prepare((git, &self.inner.lanes), path, Init::Refuse).await?;
        let taken = self.entries().into_iter().find(|entry| entry.path == prepared.folder && entry.id != id);
        if let Some(there) = taken {
            return Err(HomeError::Registered { path: prepared.folder, name: there.name, id: there.id });
        }
        let entry = Entry { path: prepared.folder, ..old.entry.clone() };
        self.replace(entry.clone())?;
        self.reopen(&entry, old.now()).await;
        Ok(Welcome { project: self.project(id)?, notes: prepared.notes })
    }

    /// Reads the settings of a project anew. Its agents end, and go on with them.
    ///
    /// # Errors
    ///
    /// When there is no such project, or it is broken now.
    pub async fn restart(&self, id: ProjectId) -> Result<Registered, HomeError> {
        let _turn = self.inner.changes.lock().await;
        let old = self.project(id)?;
        self.reopen(&old.entry, old.now()).await;
        let now = self.project(id)?;
        match now.now() {
            Standing::Broken { problem } => Err(HomeError::NotOpened { problem }),
            Standing::Open(_) | Standing::Opening => Ok(now),
        }
    }

    /// Takes a project out of the list and ends its agents. Its data stays where this says.
    ///
    /// # Errors
    ///
    /// When there is no such project, or the list cannot be written.
    pub async fn unregister(&self, id: ProjectId) -> Result<PathBuf, HomeError> {
        let _turn = self.inner.changes.lock().await;
        let old = self.project(id)?;
        self.inner.shelf.write(self.entries().into_iter().filter(|entry| entry.id != id).collect())?;
        let standing = old.now();
        // Whoever still watches it would keep it, and its log with it, from whoever registers the folder again.
        self.show(id, Standing::Opening);
        self.change_slots(|slots| slots.remove(&id));
        self.inner.neighbours.remove(id);
        self.close_one(&standing).await;
        Ok(self.folder(id))
    }

    /// Ends every agent of every project, and waits for it.
    pub async fn close(&self) {
        let _turn = self.inner.changes.lock().await;
        for project in self.projects() {
            self.inner.neighbours.remove(project.entry.id);
            self.close_one(&project.now()).await;
        }
    }

    async fn close_one(&self, standing: &Standing) {
        if let Standing::Open(project) = standing {
            project.close().await;
        }
    }

    fn entries(&self) -> Vec<Entry> {
        self.slots(|slots| slots.values().map(|slot| slot.entry.clone()).collect())
    }

    fn slots<T>(&self, look: impl FnOnce(&BTreeMap<ProjectId, Slot>) -> T) -> T {
        look(&self.inner.slots.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn change_slots<T>(&self, change: impl FnOnce(&mut BTreeMap<ProjectId, Slot>) -> T) -> T {
        change(&mut self.inner.slots.write().unwrap_or_else(PoisonError::into_inner))
    }

    fn show(&self, id: ProjectId, standing: Standing) {
        self.slots(|slots| slots.get(&id).map(|slot| slot.standing.send_replace(standing)));
    }

    /// Writes an entry that has changed.
    fn replace(&self, entry: Entry) -> Result<(), HomeError> {
        self.inner.shelf.write_own(&entry)?;
        let mut all = self.entries();
        all.iter_mut().filter(|other| other.id == entry.id).for_each(|other| *other = entry.clone());
        self.inner.shelf.write(all)?;
        self.change_slots(|slots| {
            if let Some(slot) = slots.get_mut(&entry.id) {
                slot.entry = entry;
            }
        });
        Ok(())
    }

    async fn reopen(&self, entry: &Entry, old: Standing) {
        self.show(entry.id, Standing::Opening);
        let surroundings = self.surroundings(entry, None).await;
        let standing = match (old, surroundings) {
            (Standing::Open(project), Ok(surroundings)) => {
                let budget = surroundings.config.budget;
                let project = project.renew(surroundings).await;
                match set_budget(&project, budget).await {
                    Ok(()) => Standing::Open(project),
                    Err(problem) => Standing::Broken { problem },
                }
            }
            (Standing::Open(project), Err(problem)) => {
                project.close().await;
                Standing::Broken { problem }
            }
            (Standing::Opening | Standing::Broken { .. }, _) => self.opened(entry, None).await,
        };
        self.introduce(entry, &standing);
        self.show(entry.id, standing);
    }

    /// Opens a project; what keeps it from being opened is told and no error.
    async fn opened(&self, entry: &Entry, repository: Option<Repository>) -> Standing {
        let standing = match self.try_open(entry, repository).await {
            Ok(project) => Standing::Open(project),
            Err(problem) => {
                tracing::warn!(project = %entry.id, problem, "a project cannot be opened");
                Standing::Broken { problem }
            }
        };
        self.introduce(entry, &standing);
        standing
    }

    /// Lets the other projects know.
    fn introduce(&self, entry: &Entry, standing: &Standing) {
        if let Standing::Open(project) = standing {
            self.inner.neighbours.add(Neighbour { name: entry.name.clone(), project: project.clone() });
        } else {
            self.inner.neighbours.remove(entry.id);
        }
    }

    async fn try_open(&self, entry: &Entry, repository: Option<Repository>) -> Result<Project, String> {
        let surroundings = self.surroundings(entry, repository).await?;
        let branch = match surroundings.repository.head().await.map_err(|error| error.to_string())? {
            Head::Branch { branch, .. } | Head::Unborn { branch } => Some(branch.as_str().to_owned()),
            Head::Detached { .. } => None,
        };
        let budget = surroundings.config.budget;
        let opening = Opening { id: entry.id, data: self.inner.shelf.folder(entry.id), surroundings };
        let project = Project::open(opening).await.map_err(|error| error.to_string())?;
        if project.look(|state| state.tree().root().is_none()) {
            let root = NewRoot { title: entry.name.clone(), description: String::new(), branch };
            let made = project.wish(Actor::User, Op::CreateRoot(root)).await;
            made.map_err(|error| error.to_string())?;
        }
        set_budget(&project, budget).await?;
        Ok(project)
    }

    async fn surroundings(&self, entry: &Entry, known: Option<Repository>) -> Result<Surroundings, String> {
        let setup = &self.inner.setup;
        let config = Config::load(&self.places(Some(entry))).map_err(|problems| problems.to_string())?;
        setup.keyring.know_literals(&config);
        let repository = match known {
            Some(repository) => repository,
            None => {
                let opened = Repository::open(setup.git.clone(), &self.inner.lanes, &entry.path).await;
                opened.map_err(|error| error.to_string())?
            }
        };
        let sandbox = self.sandbox(config.sandbox.mode).await?;
        let repository = repository.inspected_by(Inspector::new(sandbox.clone()));
        let built_in = Registry::built_in().map_err(|error| error.to_string())?;
        Ok(Surroundings {
            config,
            repository,
            plane: Plane::new(built_in),
            sandbox,
            user: setup.user.clone(),
            keyring: setup.keyring.clone(),
            neighbours: self.inner.neighbours.clone(),
        })
    }

    /// What works on this machine is found out once for each strength.
    async fn sandbox(&self, mode: Mode) -> Result<Sandbox, String> {
        let mut known = self.inner.sandboxes.lock().await;
        if let Some((_, sandbox)) = known.iter().find(|(of, _)| *of == mode) {
            return Ok(sandbox.clone());
        }
        let sandbox = Sandbox::probe(self.inner.setup.launcher.clone(), mode).await;
        let sandbox = sandbox.map_err(|error| error.to_string())?.tied_by(self.inner.tether.clone());
        known.push((mode, sandbox.clone()));
        Ok(sandbox)
    }
}

/// Takes the folder for this process. What a daemon holds, a child that it has not quite started holds as well: when the
/// daemon is no more, the child is waited for.
fn lock(data: &Path) -> Result<LockGuard, HomeError> {
    let take = || OsDisk.lock(&data.join("daemon.lock"));
    let taken = match take() {
        Err(LockError::Held { owner }) if is_gone(&owner) => {
            drop(tie(data)?);
            take()
        }
        taken => taken,
    };
    taken.map_err(|error| HomeError::lock(data, error))
}

/// Whether an owner, as it writes about itself, is no more. Of one that is counted elsewhere nobody here can tell.
fn is_gone(owner: &str) -> bool {
    let process = owner.strip_prefix("pid ").and_then(|id| id.parse::<u32>().ok());
    process.is_some_and(|id| !Path::new("/proc").join(id.to_string()).exists())
}

/// Waits for what earlier daemons had started, and ties what this one starts to it.
fn tie(data: &Path) -> Result<Tether, HomeError> {
    let living = data.join("living");
    let (tether, earlier) = Tether::take(&living, LAST_WORDS).map_err(HomeError::file("lock", &living))?;
    if earlier == Earlier::Living {
        tracing::warn!("processes of an earlier daemon still run");
    }
    Ok(tether)
}

fn checked_name(name: &str) -> Result<String, HomeError> {
    let name = name.trim();
    let fits = (1..=MOST_NAME).contains(&name.chars().count()) && !name.chars().any(char::is_control);
    if fits { Ok(name.to_owned()) } else { Err(HomeError::Name { limit: MOST_NAME }) }
}

/// Gives a root without a limit what the settings say. One that has a limit keeps it: it counts what was spent and handed
/// down, so another number would be another amount.
async fn set_budget(project: &Project, budget: Option<Usd>) -> Result<(), String> {
    let unlimited = |root: &Node| root.task().is_some_and(|task| task.budget_usd.is_none());
    let root = project.look(|state| state.tree().root().filter(|root| unlimited(root)).map(|root| root.id));
    let (Some(task), Some(budget)) = (root, budget) else { return Ok(()) };
    let patch = TaskPatch { budget: Change::Set(budget), ..TaskPatch::default() };
    let given = project.wish(Actor::User, Op::UpdateTask { task, patch }).await;
    given.map(|_| ()).map_err(|error| error.to_string())
}
