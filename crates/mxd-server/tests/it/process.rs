//! A daemon in a process of its own, which can be killed.

use std::path::Path;
use std::process::Stdio;

use mxd_server::Contact;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::stage::PATIENCE;

/// A daemon in a process of its own.
pub(crate) struct Process {
    child: Child,
    pub(crate) contact: Contact,
}

impl Process {
    pub(crate) async fn start(data: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_mxd-daemon"))
            .arg("serve")
            .arg(data)
            .env("HOME", data.parent().unwrap())
            // What a daemon asks for by name in the tests' settings.
            .env("STAGE_KEY", "a key of the stage")
            .env("MXD_LOG", "warn")
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        // It says one word when everything was taken up.
        let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
        let word = tokio::time::timeout(PATIENCE, said.next_line()).await.unwrap().unwrap();
        assert_eq!(word.as_deref(), Some("ready"));
        Self { child, contact: Contact::read(data).unwrap() }
    }

    pub(crate) async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }
}

pub(crate) fn url(contact: &Contact, path: &str) -> String {
    format!("http://{}{path}", contact.address)
}
