//! The environment of an agent's commands: a short list, never the daemon's.

use std::io;
use std::path::{Path, PathBuf};

use super::super::level::Level;
use super::toolchains::PROGRAM_VARIABLES;

/// Variables that travel when the user has them.
const TRAVEL: &[&str] = &[
    "CARGO_HOME",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "GOMODCACHE",
    "GOPATH",
    "LANG",
    "LANGUAGE",
    "NODE_EXTRA_CA_CERTS",
    "PIP_CERT",
    "REQUESTS_CA_BUNDLE",
    "RUSTUP_TOOLCHAIN",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TZ",
];

/// Below the top level the home folder is another one, so tools are told where they are.
const WHERE_TOOLS_ARE: &[(&str, &str)] = &[
    ("CARGO_HOME", ".cargo"),
    ("GOMODCACHE", "go/pkg/mod"),
    ("NVM_DIR", ".nvm"),
    ("PYENV_ROOT", ".pyenv"),
    ("RUSTUP_HOME", ".rustup"),
];

/// Settings of git that keep its hands off what an agent cannot change anyway.
const GIT_SETTINGS: &str = "[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[branch]\n\tautoSetupMerge = false\n\
                            [advice]\n\tdetachedHead = false\n";

/// The user whose tools are used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// The login name.
    pub name: String,
    /// The home folder.
    pub home: PathBuf,
    /// Where programs are looked for.
    pub path: String,
    /// The rest of the environment; most of it stays behind.
    pub variables: Vec<(String, String)>,
}

impl User {
    /// Whoever this program runs for, as its environment says.
    pub fn of_environment() -> Self {
        let variable = |name: &str| std::env::var(name).unwrap_or_default();
        Self {
            name: variable("USER"),
            home: variable("HOME").into(),
            path: variable("PATH"),
            variables: std::env::vars().collect(),
        }
    }

    /// The folder of the packages that were verified for this user: `MXD_PACKAGES`, or one beside the user's other data.
    pub fn packages(&self) -> PathBuf {
        if let Some(folder) = self.variable("MXD_PACKAGES").filter(|folder| !folder.is_empty()) {
            return folder.into();
        }
        let data = self.variable("XDG_DATA_HOME").filter(|folder| Path::new(folder).is_absolute());
        data.map_or_else(|| self.home.join(".local/share"), PathBuf::from).join("mxd/packages")
    }

    /// A variable of the user's.
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// What a command gets.
    pub(super) fn environment(&self, level: Level, home: &Path, tmp: &Path) -> Vec<(String, String)> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let (home, tmp) = match level {
            Level::Full => (text(&self.home), "/tmp".to_owned()),
            Level::Landlock | Level::Off => (text(home), text(tmp)),
        };
        let mut env = vec![
            ("HOME".to_owned(), home),
            ("LOGNAME".to_owned(), self.name.clone()),
            ("PATH".to_owned(), self.path.clone()),
            ("SHELL".to_owned(), "/bin/bash".to_owned()),
            ("TERM".to_owned(), "dumb".to_owned()),
            ("TMPDIR".to_owned(), tmp),
            ("USER".to_owned(), self.name.clone()),
        ];
        let travelling = self.variables.iter().filter(|(name, _)| travels(name));
        env.extend(travelling.cloned());
        if level < Level::Full {
            let absent = WHERE_TOOLS_ARE.iter().filter(|(name, _)| self.variable(name).is_none());
            let told = absent.map(|(name, folder)| (name, self.home.join(folder)));
            env.extend(
                told.filter(|(_, path)| path.is_dir()).map(|(name, path)| ((*name).to_owned(), text(&path))),
            );
        }
        env
    }
}

fn travels(name: &str) -> bool {
    TRAVEL.contains(&name) || PROGRAM_VARIABLES.contains(&name) || name.starts_with("LC_")
}

/// Writes the settings of git into the agent's home folder.
pub(super) fn write_git_settings(home: &Path, author: Option<&(String, String)>) -> io::Result<()> {
    let mut settings = GIT_SETTINGS.to_owned();
    if let Some((name, address)) = author {
        settings += &format!("[user]\n\tname = {}\n\temail = {}\n", quoted(name), quoted(address));
    }
    // What is there is not looked at: the agent may have put a pipe or an endless device in its place.
    let mut file = tempfile::NamedTempFile::new_in(home)?;
    io::Write::write_all(&mut file, settings.as_bytes())?;
    file.persist(home.join(".gitconfig")).map(drop).map_err(|error| error.error)
}

/// A value in the way git reads it.
fn quoted(value: &str) -> String {
    let plain: String = value.chars().filter(|letter| !letter.is_control()).collect();
    format!("\"{}\"", plain.replace('\\', "\\\\").replace('"', "\\\""))
}
