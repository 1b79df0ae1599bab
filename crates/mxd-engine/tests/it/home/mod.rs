//! The home of a user's projects: who has it, what is in its list, and what becomes of projects that are not well.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Barrier;
use std::time::Duration;

use mxd_core::decide::{Actor, NewTask, Op};
use mxd_engine::Keyring;
use mxd_engine::git::Git;
use mxd_engine::home::{Home, HomeError, Init, Registration, Setup, Standing, data_folder};
use mxd_engine::project::Project;
use mxd_tools::sandbox::{Launcher, User};
use mxd_tools::tether::{Earlier, Tether};
use tempfile::TempDir;

use crate::journey::stage::{git, write};

fn setup(ground: &Path) -> Setup {
    // What people have in their own settings must not matter here.
    let git = Git::from_environment().variable("HOME", ground).variable("XDG_CONFIG_HOME", ground);
    let git = git.identity_variables(&[]);
    Setup {
        data: ground.join("data"),
        launcher: Launcher { program: env!("CARGO_BIN_EXE_mxd-headless").into(), args: Vec::new() },
        user: User {
            name: "user".into(),
            home: ground.into(),
            path: std::env::var("PATH").unwrap(),
            variables: Vec::new(),
        },
        keyring: Keyring::new(|_| None),
        git,
    }
}

fn repository(ground: &Path, name: &str) -> PathBuf {
    let folder = ground.join(name);
    std::fs::create_dir_all(folder.join(".mxd/hooks")).unwrap();
    write(folder.join(".mxd/hooks/setup_worktree.sh"), "true\n");
    git(&folder, &["init", "-q", "-b", "main"]);
    git(&folder, &["add", "-A"]);
    git(&folder, &["commit", "-q", "-m", "first"]);
    folder
}

fn plain(path: PathBuf) -> Registration {
    Registration { path, name: None, init: Init::Refuse }
}

fn open(standing: &Standing) -> &Project {
    standing.project().unwrap_or_else(|| panic!("{standing:?}"))
}

fn titles(project: &Project) -> Vec<String> {
    project.look(|state| state.tree().nodes().values().map(|node| node.title.clone()).collect())
}

#[test]
fn the_data_folder_is_where_the_user_says() {
    let said = |name: &str| match name {
        "MXD_DATA_DIR" => Some("/elsewhere".into()),
        _ => Some("/home/somebody".into()),
    };
    assert_eq!(data_folder(said), Some("/elsewhere".into()));
    let home = |name: &str| (name == "HOME").then(|| "/home/somebody".into());
    assert_eq!(data_folder(home), Some("/home/somebody/.mxd".into()));
    assert_eq!(data_folder(|_| Some("".into())), None);
}

#[tokio::test]
async fn a_home_has_one_owner_and_is_private() {
    let ground = TempDir::new().unwrap();
    let first = Home::open(setup(ground.path())).unwrap();
    let second = Home::open(setup(ground.path())).unwrap_err();
    assert!(matches!(&second, HomeError::InUse { owner, .. } if owner.starts_with("pid ")), "{second}");
    let mode = |path: PathBuf| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(ground.path().join("data")), 0o700);
    drop(first);
    Home::open(setup(ground.path())).unwrap();
}

/// A repository of the user's that has no set-up script, with a file that waits to be committed.
fn without_script(ground: &Path) -> PathBuf {
    let folder = ground.join("bare");
    std::fs::create_dir_all(&folder).unwrap();
    write(folder.join("Cargo.toml"), "[package]\n");
    git(&folder, &["init", "-q", "-b", "main"]);
    git(&folder, &["add", "-A"]);
    git(&folder, &["commit", "-q", "-m", "first"]);
    write(folder.join("staged.txt"), "mine\n");
    git(&folder, &["add", "staged.txt"]);
    folder
}

#[tokio::test]
async fn the_example_is_committed_as_the_user_and_what_is_staged_stays_staged() {
    let ground = TempDir::new().unwrap();
    let folder = without_script(ground.path());
    git(&folder, &["config", "user.name", "Ada"]);
    git(&folder, &["config", "user.email", "ada@example.org"]);
    let home = Home::open(setup(ground.path())).unwrap();
    let notes = home.register(plain(folder.clone())).await.unwrap().notes;
    assert!(notes.iter().all(|note| !note.contains("not committed")), "{notes:?}");
    assert_eq!(
        git(&folder, &["log", "-1", "--format=%an %ae", "--name-only"]),
        "Ada ada@example.org\n\n.mxd/hooks/setup_worktree.sh.example"
    );
    assert_eq!(git(&folder, &["status", "--porcelain"]), "A  staged.txt");
    home.close().await;
}

#[tokio::test]
async fn an_example_that_nobody_can_commit_is_left_with_a_word_about_it() {
    let ground = TempDir::new().unwrap();
    let folder = without_script(ground.path());
    let home = Home::open(setup(ground.path())).unwrap();
    let notes = home.register(plain(folder.clone())).await.unwrap().notes;
    assert!(
        notes.iter().any(|note| note.contains("is not committed") && note.contains("user.name")),
        "{notes:?}"
    );
    assert_eq!(git(&folder, &["log", "--format=%s"]), "first");
    assert!(folder.join(".mxd/hooks/setup_worktree.sh.example").is_file());
    home.close().await;
}

/// A number is given to another process when its owner is gone.
#[test]
fn a_lock_that_names_somebody_who_never_had_it_is_no_obstacle() {
    let ground = TempDir::new().unwrap();
    drop(Home::open(setup(ground.path())).unwrap());
    write(ground.path().join("data/daemon.lock"), "pid 1");
    Home::open(setup(ground.path())).unwrap();
}

#[test]
fn of_many_who_open_a_home_at_once_one_has_it() {
    let ground = TempDir::new().unwrap();
    let start = Barrier::new(8);
    let opened: Vec<_> = std::thread::scope(|scope| {
        let open = || {
            start.wait();
            Home::open(setup(ground.path()))
        };
        let all: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(opened.iter().filter(|opened| opened.is_ok()).count(), 1);
    let told = |opened: &&Result<Home, HomeError>| matches!(opened, Err(HomeError::InUse { .. }));
    assert_eq!(opened.iter().filter(told).count(), 7, "{opened:?}");
}

#[tokio::test]
async fn what_a_home_starts_is_known_to_the_next_one() {
    let ground = TempDir::new().unwrap();
    let home = Home::open(setup(ground.path())).unwrap();
    let living = ground.path().join("data/living");
    let now = || Tether::take(&living, Duration::ZERO).unwrap().1;
    assert_eq!(now(), Earlier::Living);
    drop(home);
    assert_eq!(now(), Earlier::Gone);
}

/// A daemon that is killed while it starts something leaves a child that has what it had, until it is quite started.
#[test]
fn what_a_dead_daemon_had_not_quite_started_is_waited_for() {
    let ground = TempDir::new().unwrap();
    drop(Home::open(setup(ground.path())).unwrap());
    let (lock, living) = (ground.path().join("data/daemon.lock"), ground.path().join("data/living"));
    // The highest number that a process can have is one less.
    write(lock.clone(), "pid 4194304");
    let held = std::fs::File::open(&lock).unwrap();
    held.lock().unwrap();
    let (tether, _) = Tether::take(&living, Duration::ZERO).unwrap();
    let mut child = Command::new("tail");
    child.args(["-f", "/dev/null"]).stdin(tether.stdin().unwrap()).stdout(held);
    let mut running = child.spawn().unwrap();
    drop((child, tether));
    let setup = setup(ground.path());
    let opening = std::thread::spawn(move || Home::open(setup).map(drop));
    let number = std::fs::metadata(&living).unwrap().ino();
    let waits = || {
        std::fs::read_to_string("/proc/locks").unwrap().lines().any(|line| {
            line.contains("->") && line.split_whitespace().any(|word| word.ends_with(&format!(":{number}")))
        })
    };
    while !opening.is_finished() && !waits() {
        std::thread::yield_now();
    }
    running.kill().unwrap();
    running.wait().unwrap();
    opening.join().unwrap().unwrap();
}

#[tokio::test]
async fn what_is_registered_is_there_after_a_restart_with_its_root_task() {
    let ground = TempDir::new().unwrap();
    let folder = repository(ground.path(), "one");
    let home = Home::open(setup(ground.path())).unwrap();
    let welcome = home.register(plain(folder.clone())).await.unwrap();
    let id = welcome.project.entry.id;
    assert_eq!(welcome.notes, Vec::<String>::new());
    assert_eq!(titles(open(&welcome.project.now())), ["one"]);
    let twice = home.register(plain(folder.join(".mxd"))).await.unwrap_err();
    assert!(matches!(twice, HomeError::Registered { id: there, .. } if there == id), "{twice}");
    home.close().await;
    drop((home, welcome));

    let home = Home::open(setup(ground.path())).unwrap();
    assert!(matches!(home.project(id).unwrap().now(), Standing::Opening));
    home.open_all().await;
    assert_eq!(titles(open(&home.project(id).unwrap().now())), ["one"]);
    let file = std::fs::metadata(ground.path().join("data/projects.json")).unwrap();
    assert_eq!(file.permissions().mode() & 0o777, 0o600);
    home.close().await;
}

#[tokio::test]
async fn folders_that_cannot_be_worked_in_are_refused_with_a_hint() {
    let ground = TempDir::new().unwrap();
    let home = Home::open(setup(ground.path())).unwrap();
    let refused = |path: PathBuf| home.register(plain(path));
    let missing = refused(ground.path().join("nowhere")).await.unwrap_err();
    assert_eq!((missing.code(), missing.hint().contains("init")), ("no_folder", true));
    std::fs::create_dir(ground.path().join("plain")).unwrap();
    let plain = refused(ground.path().join("plain")).await.unwrap_err();
    assert_eq!((plain.code(), plain.hint().contains("git init")), ("not_a_repository", true));
    assert_eq!(refused("relative".into()).await.unwrap_err().code(), "not_a_folder");
    git(ground.path(), &["init", "-q", "--bare", "bare"]);
    assert_eq!(refused(ground.path().join("bare")).await.unwrap_err().code(), "bare_repository");
    assert_eq!(home.projects().len(), 0);
}

#[tokio::test]
async fn an_empty_folder_becomes_a_repository_that_tasks_can_start_from() {
    let ground = TempDir::new().unwrap();
    let home = Home::open(setup(ground.path())).unwrap();
    let folder = ground.path().join("new/project");
    let wish = Registration { path: folder.clone(), name: Some("New".into()), init: Init::Make };
    let welcome = home.register(wish).await.unwrap();
    assert_eq!(welcome.project.entry.name, "New");
    assert_eq!(git(&folder, &["ls-files"]), ".mxd/hooks/setup_worktree.sh");
    assert_eq!(git(&folder, &["status", "--porcelain"]), "");
    assert_eq!(open(&welcome.project.now()).base_branch().as_deref(), Some("main"));
    home.close().await;
}

#[tokio::test]
async fn a_folder_with_files_is_left_to_its_user() {
    let ground = TempDir::new().unwrap();
    let home = Home::open(setup(ground.path())).unwrap();
    let folder = ground.path().join("mine");
    std::fs::create_dir(&folder).unwrap();
    write(folder.join("mine.txt"), "mine\n");
    let wish = Registration { path: folder.clone(), name: None, init: Init::Make };
    let welcome = home.register(wish).await.unwrap();
    assert!(welcome.notes.iter().any(|note| note.contains("no commit yet")), "{:?}", welcome.notes);
    assert!(folder.join(".mxd/hooks/setup_worktree.sh.example").is_file());
    assert_eq!(git(&folder, &["ls-files"]), "");
    home.close().await;
}

#[tokio::test]
async fn a_broken_project_does_not_keep_the_others_from_working() {
    let ground = TempDir::new().unwrap();
    let (well, ill) = (repository(ground.path(), "well"), repository(ground.path(), "ill"));
    let home = Home::open(setup(ground.path())).unwrap();
    let well = home.register(plain(well)).await.unwrap().project.entry.id;
    let lost = home.register(plain(ill.clone())).await.unwrap().project.entry.id;
    home.close().await;
    drop(home);
    std::fs::rename(&ill, ground.path().join("moved")).unwrap();

    let home = Home::open(setup(ground.path())).unwrap();
    home.open_all().await;
    assert!(open(&home.project(well).unwrap().now()).look(|state| state.tree().root().is_some()));
    let Standing::Broken { problem } = home.project(lost).unwrap().now() else { panic!("not broken") };
    assert!(problem.contains("ill"), "{problem}");

    home.relocate(lost, &ground.path().join("moved")).await.unwrap();
    assert_eq!(titles(open(&home.project(lost).unwrap().now())), ["ill"]);
    home.close().await;
}

#[tokio::test]
async fn a_project_that_was_taken_out_finds_its_history_again() {
    let ground = TempDir::new().unwrap();
    let folder = repository(ground.path(), "one");
    let home = Home::open(setup(ground.path())).unwrap();
    let welcome = home.register(plain(folder.clone())).await.unwrap();
    let id = welcome.project.entry.id;
    let project = open(&welcome.project.now()).clone();
    let root = project.look(|state| state.tree().root().unwrap().id);
    project.wish(Actor::User, Op::CreateTask(NewTask::new(root, "Kept", ""))).await.unwrap();
    drop((project, welcome));
    home.rename(id, "Renamed").await.unwrap();
    let kept = home.unregister(id).await.unwrap();
    assert!(kept.join("log").is_dir() && home.projects().is_empty());

    let again = home.register(plain(folder)).await.unwrap();
    assert_eq!((again.project.entry.id, again.project.entry.name.as_str()), (id, "Renamed"));
    assert_eq!(titles(open(&again.project.now())), ["one", "Kept"]);
    home.close().await;
}

#[tokio::test]
async fn a_restarted_project_goes_on_with_new_settings_and_the_same_log() {
    let ground = TempDir::new().unwrap();
    let home = Home::open(setup(ground.path())).unwrap();
    let id = home.register(plain(repository(ground.path(), "one"))).await.unwrap().project.entry.id;
    let old = home.project(id).unwrap().now();
    write(ground.path().join("data/config.json"), r#"{ "maxDepth": 1 }"#);
    home.restart(id).await.unwrap();
    let new = home.project(id).unwrap().now();
    let (old, new) = (open(&old), open(&new));
    let root = new.look(|state| state.tree().root().unwrap().id);
    let task = |parent| Op::CreateTask(NewTask::new(parent, "Below", ""));
    old.wish(Actor::User, task(root)).await.unwrap_err();
    let below = new.wish(Actor::User, task(root)).await.unwrap().node.unwrap();
    let refused = new.wish(Actor::User, task(below)).await.unwrap_err();
    assert!(refused.to_string().contains("deep"), "{refused}");

    write(ground.path().join("data/config.json"), r#"{ "maxDepth": "none" }"#);
    assert_eq!(home.restart(id).await.unwrap_err().code(), "not_opened");
    write(ground.path().join("data/config.json"), "{}");
    home.close().await;
}

#[tokio::test]
async fn a_list_that_cannot_be_read_is_not_overwritten() {
    let ground = TempDir::new().unwrap();
    drop(Home::open(setup(ground.path())).unwrap());
    let list = ground.path().join("data/projects.json");
    for wrong in ["{", r#"{"version":2,"projects":[]}"#, r#"{"version":1}"#] {
        write(list.clone(), wrong);
        assert_eq!(Home::open(setup(ground.path())).unwrap_err().code(), "registry", "{wrong}");
        assert_eq!(std::fs::read_to_string(&list).unwrap(), wrong);
    }
}
