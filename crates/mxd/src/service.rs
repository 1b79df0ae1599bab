//! The daemon as a service of the user: a systemd unit on Linux, a launch agent on macOS.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::client::Failure;

/// How the service is called.
const UNIT: &str = "mxd.service";
const LABEL: &str = "dev.matrix.mxd";

/// A supervisor of services.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Supervisor {
    Systemd,
    Launchd,
}

/// What can be wanted of a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    Start,
    Stop,
    Restart,
}

impl Supervisor {
    /// The one of this system.
    pub(crate) fn here() -> Self {
        if cfg!(target_os = "macos") { Self::Launchd } else { Self::Systemd }
    }

    /// Where the description of the service is.
    pub(crate) fn file(self, home: &Path) -> PathBuf {
        match self {
            Self::Systemd => home.join(".config/systemd/user").join(UNIT),
            Self::Launchd => home.join("Library/LaunchAgents").join(format!("{LABEL}.plist")),
        }
    }

    /// The description: which program, which data, and that it comes back.
    pub(crate) fn description(self, program: &Path, data: &Path) -> String {
        match self {
            Self::Systemd => {
                // The name of a file is taken as it stands, but for specifiers.
                let file = data.join("environment").display().to_string().replace('%', "%%");
                let (run, data) = (command_word(program), unit_text(data));
                format!(
                    "[Unit]\nDescription=Matrix, agents on a tree of tasks\n\n[Service]\nExecStart={run} serve\n\
                     Environment=\"MXD_DATA_DIR={data}\"\n\
                     # Keys that the settings name as $env:NAME, one NAME=value per line.\n\
                     EnvironmentFile=-{file}\n\
                     Restart=always\nRestartSec=2\nKillMode=mixed\nDelegate=yes\n\n\
                     [Install]\nWantedBy=default.target\n"
                )
            }
            Self::Launchd => {
                let (program, data) = (xml(program), xml(data));
                format!(
                    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\">\n<dict>\n\
                     <key>Label</key><string>{LABEL}</string>\n\
                     <key>ProgramArguments</key><array><string>{program}</string><string>serve</string></array>\n\
                     <key>EnvironmentVariables</key><dict><key>MXD_DATA_DIR</key><string>{data}</string></dict>\n\
                     <key>RunAtLoad</key><true/>\n<key>KeepAlive</key><true/>\n\
                     <key>StandardErrorPath</key><string>{data}/daemon.log</string>\n</dict>\n</plist>\n"
                )
            }
        }
    }

    /// How a service gets the keys that the settings name: it does not have the variables of a shell.
    pub(crate) fn about_keys(self, data: &Path) -> String {
        match self {
            Self::Systemd => format!(
                "A service does not have the variables of this shell: keys that the settings name as $env:NAME go into \
                 {}/environment, one NAME=value per line, with chmod 600.",
                data.display()
            ),
            Self::Launchd => {
                "A service does not have the variables of this shell: `launchctl setenv NAME value` \
                              gives it a key that the settings name as $env:NAME."
                    .to_owned()
            }
        }
    }

    /// Writes the description down and starts the service, now and at every login.
    pub(crate) fn install(self, home: &Path, data: &Path) -> Result<PathBuf, Failure> {
        let program = std::env::current_exe().map_err(|error| Failure::new(error.to_string()))?;
        let file = self.file(home);
        let wrong = |error: std::io::Error| Failure::new(format!("{}: {error}", file.display()));
        fs::create_dir_all(file.parent().unwrap_or(home)).map_err(wrong)?;
        let mut open = fs::File::create(&file).map_err(wrong)?;
        open.write_all(self.description(&program, data).as_bytes()).map_err(wrong)?;
        match self {
            Self::Systemd => {
                run("systemctl", &["--user", "daemon-reload"])?;
                run("systemctl", &["--user", "enable", "--now", UNIT])?;
            }
            Self::Launchd => run("launchctl", &["load", "-w", &file.to_string_lossy()])?,
        }
        Ok(file)
    }

    /// Stops the service and removes its description.
    pub(crate) fn uninstall(self, home: &Path) -> Result<PathBuf, Failure> {
        let file = self.file(home);
        if !file.exists() {
            return Err(
                Failure::not_found("the service is not installed").hint("`mxd daemon install` installs it.")
            );
        }
        match self {
            Self::Systemd => run("systemctl", &["--user", "disable", "--now", UNIT])?,
            Self::Launchd => run("launchctl", &["unload", "-w", &file.to_string_lossy()])?,
        }
        fs::remove_file(&file).map_err(|error| Failure::new(format!("{}: {error}", file.display())))?;
        Ok(file)
    }

    /// Starts or stops the installed service.
    pub(crate) fn ask(self, wish: Wish) -> Result<(), Failure> {
        match (self, wish) {
            (Self::Systemd, Wish::Start) => run("systemctl", &["--user", "start", UNIT]),
            (Self::Systemd, Wish::Stop) => run("systemctl", &["--user", "stop", UNIT]),
            (Self::Systemd, Wish::Restart) => run("systemctl", &["--user", "restart", UNIT]),
            (Self::Launchd, Wish::Start) => run("launchctl", &["start", LABEL]),
            (Self::Launchd, Wish::Stop) => run("launchctl", &["stop", LABEL]),
            (Self::Launchd, Wish::Restart) => run("launchctl", &["kickstart", "-k", LABEL]),
        }
    }
}

/// A path in a unit, where `%` begins a specifier and quotes and backslashes are escaped.
fn unit_text(path: &Path) -> String {
    path.display().to_string().replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%")
}

/// A path as the program of a unit, where `$` stands for a variable as well.
fn command_word(path: &Path) -> String {
    format!("\"{}\"", unit_text(path).replace('$', "$$"))
}

/// A path in a property list.
fn xml(path: &Path) -> String {
    path.display().to_string().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn run(program: &str, arguments: &[&str]) -> Result<(), Failure> {
    let output = Command::new(program).args(arguments).output();
    let output = output.map_err(|error| {
        Failure::new(format!("{program}: {error}")).hint("`mxd serve` runs the daemon without a service.")
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Failure::new(format!("{program} {}: {}", arguments.join(" "), said.trim()))
        .hint("`mxd serve` runs the daemon without a service."))
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn paths_with_signs_of_their_own_stay_paths() {
        let (program, data) = (Path::new("/opt/100% \"a\" $b\\c/mxd"), Path::new("/home/a b/50%/.mxd"));
        let unit = Supervisor::Systemd.description(program, data);
        assert!(unit.contains(r#"ExecStart="/opt/100%% \"a\" $$b\\c/mxd" serve"#), "{unit}");
        assert!(unit.contains("Environment=\"MXD_DATA_DIR=/home/a b/50%%/.mxd\"\n"), "{unit}");
        let list = Supervisor::Launchd.description(Path::new("/a & <b>/mxd"), data);
        assert!(list.contains("<string>/a &amp; &lt;b&gt;/mxd</string><string>serve</string>"), "{list}");
    }

    /// Read by a reader of property lists that we did not write.
    #[test]
    fn the_launch_agent_is_a_property_list_that_says_all_of_it() {
        let (program, data) = ("/opt/a & <b> \"c\"/mxd", "/home/a b/50%/.mxd");
        let list = Supervisor::Launchd.description(Path::new(program), Path::new(data));
        let read = "import json, plistlib, sys; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))";
        let mut python = Command::new("python3")
            .args(["-c", read])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 has to be installed");
        python.stdin.take().unwrap().write_all(list.as_bytes()).unwrap();
        let output = python.wait_with_output().unwrap();
        let said: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {list}"));
        let all = json!({
            "Label": LABEL,
            "ProgramArguments": [program, "serve"],
            "EnvironmentVariables": { "MXD_DATA_DIR": data },
            "RunAtLoad": true,
            "KeepAlive": true,
            "StandardErrorPath": format!("{data}/daemon.log"),
        });
        assert_eq!(said, all);
    }
}
