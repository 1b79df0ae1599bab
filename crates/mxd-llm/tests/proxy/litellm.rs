//! A LiteLLM proxy as a process, on a port the system chose.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use tempfile::TempDir;

use crate::python::python;

/// Importing its packages takes long on a machine that has other work.
const START: Duration = Duration::from_secs(200);
/// Lines of its output that a failure shows.
const LINES: usize = 60;

/// A running proxy. It ends, with everything it started, when this is dropped.
pub(crate) struct LiteLlm {
    child: Child,
    url: String,
    told: Arc<Mutex<VecDeque<String>>>,
    /// Its configuration and everything it writes.
    _folder: TempDir,
}

impl LiteLlm {
    /// Starts a proxy with this configuration and this key, and waits until it listens.
    pub(crate) fn start(config: &Value, key: &str) -> Self {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/proxy");
        let python = python("proxy-venv", &here.join("requirements.txt"));
        let folder = tempfile::tempdir().unwrap();
        // JSON is YAML.
        let file = folder.path().join("config.yaml");
        serde_json::to_writer(std::fs::File::create(&file).unwrap(), config).unwrap();
        let mut command = Command::new(python);
        command.arg(here.join("proxy.py")).arg("--config").arg(file);
        command.args(["--host", "127.0.0.1", "--port", "0", "--num_workers", "1"]);
        // Nothing of this machine's settings: no proxies, no keys of its user, no calls home.
        command.env_clear().env("HOME", folder.path()).env("LITELLM_MASTER_KEY", key);
        command.env("LITELLM_LOCAL_MODEL_COST_MAP", "True").env("LITELLM_TELEMETRY", "False");
        command.env("PYTHONUNBUFFERED", "1").env("NO_COLOR", "1").current_dir(folder.path());
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let told = Arc::new(Mutex::new(VecDeque::new()));
        let (tell, heard) = sync_channel(1);
        let (lines, kept) = (BufReader::new(child.stderr.take().unwrap()).lines(), Arc::clone(&told));
        std::thread::spawn(move || listen(lines.map_while(Result::ok), &kept, &tell));
        let mut proxy = Self { child, url: String::new(), told, _folder: folder };
        match heard.recv_timeout(START) {
            Ok(url) => proxy.url = url,
            Err(RecvTimeoutError::Timeout) => panic!("no proxy after {START:?}\n{}", proxy.told()),
            Err(RecvTimeoutError::Disconnected) => panic!("the proxy did not start\n{}", proxy.told()),
        }
        proxy
    }

    /// Where it listens.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The end of what it said.
    pub(crate) fn told(&self) -> String {
        let mut told = self.told.lock().unwrap();
        told.make_contiguous().join("\n")
    }
}

/// Reads every line, so that the proxy never waits for a reader, and tells the address when it comes.
fn listen(lines: impl Iterator<Item = String>, kept: &Mutex<VecDeque<String>>, tell: &SyncSender<String>) {
    for line in lines {
        let address = line.split_once("running on ").map(|(_, rest)| rest);
        if let Some(url) = address.and_then(|rest| rest.split(' ').next()) {
            let _ = tell.try_send(url.to_owned());
        }
        let mut kept = kept.lock().unwrap();
        if kept.len() == LINES {
            kept.pop_front();
        }
        kept.push_back(line);
    }
}

impl Drop for LiteLlm {
    fn drop(&mut self) {
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(group) = group {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}
