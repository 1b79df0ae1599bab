//! The daemon in a process of its own, with one project.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command as Plain, Stdio};

use mxd_server::Contact;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::client::Client;

/// A daemon.
pub(crate) struct Daemon {
    child: Child,
    pub(crate) folder: PathBuf,
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
    pub(crate) project: String,
    pub(crate) root: String,
}

impl Daemon {
    /// A new one, with a project.
    pub(crate) async fn start(ground: &TempDir) -> Self {
        let repository = ground.path().join("repo");
        if !repository.is_dir() {
            make_repository(&repository);
        }
        let mut daemon = Self::begin(ground).await;
        let mut client = Client::connect(daemon.address, &daemon.token).await;
        let (status, made) = client.ask("POST", "/projects", Some(&json!({ "path": repository }))).await;
        assert_eq!(status, 201, "{made}");
        let made: Value = serde_json::from_str(&made).unwrap();
        daemon.project = made["id"].as_str().unwrap().to_owned();
        daemon.root = made["rootId"].as_str().unwrap().to_owned();
        daemon
    }

    /// One for what is there, as soon as it is ready.
    pub(crate) async fn begin(ground: &TempDir) -> Self {
        let data = ground.path().join("data");
        let mut child = Command::new(env!("CARGO_BIN_EXE_mxd-daemon"))
            .arg("serve")
            .arg(&data)
            .env("HOME", ground.path())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
        assert_eq!(said.next_line().await.unwrap().as_deref(), Some("ready"));
        let contact = Contact::read(&data).unwrap();
        let (project, root) = (String::new(), String::new());
        let folder = ground.path().to_owned();
        Self { child, folder, address: contact.address, token: contact.token, project, root }
    }

    /// Tasks that wait for another one, so that what is posted to them stays where it is.
    pub(crate) async fn waiting_tasks(&self, count: usize) -> Vec<String> {
        let mut client = Client::connect(self.address, &self.token).await;
        let path = format!("/projects/{}/tasks", self.project);
        let mut made = Vec::new();
        for number in 0..=count {
            let after: Vec<&String> = made.first().into_iter().collect();
            let wish = json!({ "title": format!("T{number}"), "after": after });
            let (status, task) = client.ask("POST", &path, Some(&wish)).await;
            assert_eq!(status, 201, "{task}");
            let task: Value = serde_json::from_str(&task).unwrap();
            made.push(task["id"].as_str().unwrap().to_owned());
        }
        made.split_off(1)
    }

    /// How long the lines are in the log of its project, which ends with blank ones.
    pub(crate) fn log_bytes(&self) -> usize {
        let folder = self.folder.join("data/projects").join(&self.project).join("log/log");
        let files =
            std::fs::read_dir(folder).unwrap().map(|file| std::fs::read(file.unwrap().path()).unwrap());
        files.map(|text| text.trim_ascii_end().len()).sum()
    }

    /// What it holds of the machine's memory.
    pub(crate) fn memory_mb(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id().unwrap())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        let kilobytes: f64 = line.trim().trim_end_matches(" kB").parse().unwrap();
        kilobytes / 1_024.0
    }

    pub(crate) async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }
}

fn make_repository(folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    let git = |args: &[&str]| {
        let identity = ["-c", "user.name=User", "-c", "user.email=user@example.org"];
        assert!(Plain::new("git").args(identity).args(args).current_dir(folder).status().unwrap().success());
    };
    git(&["init", "-q", "-b", "main"]);
    git(&["commit", "-q", "--allow-empty", "-m", "first"]);
}
