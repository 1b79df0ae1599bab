//! A repository with the worktrees of two agents, and commands inside of them.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command as Plain;

use mxd_tools::sandbox::{
    Agent, Cell, Command, End, Launcher, Level, Limits, Mode, Network, Output, Repository, Sandbox, Settled,
    User,
};
use mxd_tools::scope::{Access, Root};
use tempfile::TempDir;
use tokio::io::AsyncReadExt;

/// What a command came to.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) text: String,
    pub(crate) end: End,
}

impl Done {
    pub(crate) fn ok(self) -> String {
        assert_eq!(self.end, End::Code(0), "{}", self.text);
        self.text
    }
}

/// Two agents on one repository, the user's home with secrets in it, and a data folder.
pub(crate) struct Farm {
    pub(crate) ground: TempDir,
    pub(crate) sandbox: Sandbox,
}

pub(crate) const SECRET: &str = "the-secret-of-the-farm";

/// Names a copy of the supervisor, for a user who cannot reach the build folder.
pub(crate) const SUPERVISOR: &str = "MXD_TEST_SUPERVISOR";

pub(crate) fn launcher() -> Launcher {
    let copy = std::env::var_os(SUPERVISOR).map(PathBuf::from);
    let program = copy.unwrap_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_mxd-sandbox")));
    Launcher { program, args: Vec::new() }
}

impl Farm {
    pub(crate) async fn new(mode: Mode) -> Self {
        let ground = TempDir::new().unwrap();
        let farm = Self { ground, sandbox: Sandbox::probe(launcher(), mode).await.unwrap() };
        farm.write("home/.ssh/id_ed25519", SECRET);
        farm.write("home/.aws/credentials", SECRET);
        farm.write("home/.cargo/credentials.toml", SECRET);
        farm.write("home/notes.txt", SECRET);
        farm.write("data/log/000001.jsonl", SECRET);
        farm.write("repo/README", "hello\n");
        git(&farm.at("repo"), "init -q -b main");
        git(&farm.at("repo"), "add README");
        git(&farm.at("repo"), "commit -qm start");
        for name in ["one", "two"] {
            git(&farm.at("repo"), &format!("clone -q --shared --bare . ../data/repositories/{name}/git"));
        }
        for name in ["one", "two"] {
            git(
                &farm.at("repo"),
                &format!("worktree add -q --no-track -b mxd/{name}/work ../data/trees/{name} main"),
            );
            farm.make_repository(name);
        }
        farm
    }

    /// The repository of an agent, as the daemon makes it: its own branches, index and settings, the user's objects.
    fn make_repository(&self, name: &str) {
        let git_dir = self.git_dir(name);
        git(&git_dir, "config core.bare false");
        git(&git_dir, "remote remove origin");
        git(&git_dir, &format!("update-ref refs/heads/mxd/{name}/work main"));
        git(&git_dir, &format!("symbolic-ref HEAD refs/heads/mxd/{name}/work"));
        git(&git_dir, "read-tree HEAD");
        let pointer = format!("gitdir: {}\n", fs::canonicalize(&git_dir).unwrap().display());
        self.write(&format!("data/repositories/{name}/gitfile"), &pointer);
        if self.level() == Level::Landlock {
            // Without mounts there is one `.git` for everybody.
            self.write(&format!("data/trees/{name}/.git"), &pointer);
        }
    }

    /// The git folder of an agent.
    pub(crate) fn git_dir(&self, name: &str) -> PathBuf {
        self.at("data/repositories").join(name).join("git")
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.ground.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::File::create(path)
            .and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes()))
            .unwrap();
    }

    pub(crate) fn agent(&self, name: &str) -> Agent {
        Agent {
            worktree: Root { path: self.at("data/trees").join(name), access: Access::Write },
            scratch: self.at("data/scratch").join(name),
            repository: Some(Repository {
                git_dir: self.git_dir(name),
                git_file: self.at("data/repositories").join(name).join("gitfile"),
                objects: vec![self.at("repo/.git/objects")],
            }),
            user: User {
                name: "farmer".to_owned(),
                home: self.at("home"),
                path: std::env::var("PATH").unwrap(),
                variables: tool_variables(),
            },
            author: Some(("A Farmer".to_owned(), "farmer@example.org".to_owned())),
            extra: Vec::new(),
            network: Network::None,
            limits: Limits::default(),
        }
    }

    pub(crate) fn hut(&self, agent: &Agent) -> Hut {
        let Settled { policy, env } = agent.settle(self.sandbox.level()).unwrap();
        Hut { cell: self.sandbox.cell(policy), cwd: agent.worktree.path.clone(), env }
    }

    pub(crate) fn level(&self) -> Level {
        self.sandbox.level()
    }
}

/// Where the tools of the machine that runs the tests are: their home folder is not the farm's.
fn tool_variables() -> Vec<(String, String)> {
    let home = PathBuf::from(std::env::var("HOME").unwrap_or_default());
    let known = [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup"), ("PYENV_ROOT", ".pyenv")];
    known
        .iter()
        .map(|(name, folder)| {
            ((*name).to_owned(), std::env::var(name).map_or_else(|_| home.join(folder), PathBuf::from))
        })
        .filter(|(_, path)| path.is_dir())
        .map(|(name, path)| (name, path.to_string_lossy().into_owned()))
        .collect()
}

/// Where the commands of one agent run.
pub(crate) struct Hut {
    pub(crate) cell: Cell,
    pub(crate) cwd: PathBuf,
    pub(crate) env: Vec<(String, String)>,
}

impl Hut {
    pub(crate) fn command(&self, script: &str) -> Command {
        Command {
            program: "/bin/bash".to_owned(),
            args: vec!["-c".to_owned(), script.to_owned()],
            cwd: self.cwd.clone(),
            env: self.env.clone(),
            stderr: Output::WithStdout,
            ..Command::default()
        }
    }

    pub(crate) async fn run(&self, script: &str) -> Done {
        let mut child = self.cell.spawn(self.command(script)).await.unwrap();
        let mut bytes = Vec::new();
        child.stdout.take().unwrap().read_to_end(&mut bytes).await.unwrap();
        let end = child.wait().await.unwrap().end;
        Done { text: String::from_utf8_lossy(&bytes).into_owned(), end }
    }

    /// The same script without a sandbox.
    pub(crate) fn run_outside(&self, script: &str) -> Done {
        let output = Plain::new("/bin/bash")
            .args(["-c", &format!("exec 2>&1; {script}")])
            .current_dir(&self.cwd)
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .output()
            .unwrap();
        let end =
            output.status.code().map_or_else(|| End::Signal(output.status.signal().unwrap()), End::Code);
        Done { text: String::from_utf8_lossy(&output.stdout).into_owned(), end }
    }
}

/// Git as the daemon would run it: no settings of the user's.
pub(crate) fn git(folder: &Path, arguments: &str) -> String {
    let output = Plain::new("git")
        .args([
            "-c",
            "user.name=Daemon",
            "-c",
            "user.email=daemon@example.org",
            "-c",
            "core.hooksPath=/dev/null",
        ])
        .args(arguments.split(' '))
        .current_dir(folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
