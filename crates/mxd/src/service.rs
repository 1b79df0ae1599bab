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
    /// That it is there: as it is described now, at once and at every login.
    Install,
    /// That it is gone.
    Uninstall,
    Start,
    Stop,
}

/// A command for the supervisor.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Order {
    words: Vec<String>,
    /// Whether nothing is lost when it is refused: it asks for what may be so already.
    may_fail: bool,
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
                let (run, data) = (command_word(program), self.place(data));
                format!(
                    "[Unit]\nDescription=Matrix, agents on a tree of tasks\n\n[Service]\nExecStart={run} serve\n\
                     {data}\n\
                     # Keys that the settings name as $env:NAME, one NAME=value per line.\n\
                     EnvironmentFile=-{file}\n\
                     Restart=always\nRestartSec=2\nKillMode=mixed\nDelegate=yes\n\n\
                     [Install]\nWantedBy=default.target\n"
                )
            }
            Self::Launchd => {
                let (program, place, data) = (xml(program), self.place(data), xml(data));
                format!(
                    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\">\n<dict>\n\
                     <key>Label</key><string>{LABEL}</string>\n\
                     <key>ProgramArguments</key><array><string>{program}</string><string>serve</string></array>\n\
                     <key>EnvironmentVariables</key><dict>{place}</dict>\n\
                     <key>RunAtLoad</key><true/>\n<key>KeepAlive</key><true/>\n\
                     <key>StandardErrorPath</key><string>{data}/daemon.log</string>\n</dict>\n</plist>\n"
                )
            }
        }
    }

    /// How a description names the data folder.
    fn place(self, data: &Path) -> String {
        match self {
            Self::Systemd => format!("Environment=\"MXD_DATA_DIR={}\"", unit_text(data)),
            Self::Launchd => format!("<key>MXD_DATA_DIR</key><string>{}</string>", xml(data)),
        }
    }

    /// Whether a service is installed, and for this data folder.
    pub(crate) fn serves(self, home: &Path, data: &Path) -> bool {
        fs::read_to_string(self.file(home)).is_ok_and(|description| description.contains(&self.place(data)))
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
        self.ask(Wish::Install, home)?;
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
        self.ask(Wish::Uninstall, home)?;
        fs::remove_file(&file).map_err(|error| Failure::new(format!("{}: {error}", file.display())))?;
        Ok(file)
    }

    /// Asks the supervisor for something.
    pub(crate) fn ask(self, wish: Wish, home: &Path) -> Result<(), Failure> {
        let user = rustix::process::getuid().as_raw();
        for Order { words, may_fail } in self.orders(wish, &self.file(home), user) {
            match run(&words) {
                Err(failure) if !may_fail => return Err(failure),
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// How something is asked for. A launch agent that comes back by itself is stopped by unloading it, and is named
    /// together with the session of its user.
    fn orders(self, wish: Wish, file: &Path, user: u32) -> Vec<Order> {
        let order = |may_fail: bool, words: &[&str]| Order {
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            may_fail,
        };
        match self {
            Self::Systemd => {
                let systemctl = |words: &[&str]| order(false, &[&["systemctl", "--user"], words].concat());
                match wish {
                    Wish::Install => vec![
                        systemctl(&["daemon-reload"]),
                        systemctl(&["enable", UNIT]),
                        systemctl(&["restart", UNIT]),
                    ],
                    Wish::Uninstall => vec![systemctl(&["disable", "--now", UNIT])],
                    Wish::Start => vec![systemctl(&["start", UNIT])],
                    Wish::Stop => vec![systemctl(&["stop", UNIT])],
                }
            }
            Self::Launchd => {
                let (domain, file) = (format!("gui/{user}"), file.to_string_lossy());
                let target = format!("{domain}/{LABEL}");
                let load = |may_fail| order(may_fail, &["launchctl", "bootstrap", &domain, &file]);
                let unload = |may_fail| order(may_fail, &["launchctl", "bootout", &target]);
                match wish {
                    Wish::Install => {
                        vec![unload(true), order(false, &["launchctl", "enable", &target]), load(false)]
                    }
                    Wish::Uninstall => vec![unload(true)],
                    Wish::Start => vec![load(true), order(false, &["launchctl", "kickstart", &target])],
                    Wish::Stop => vec![unload(true)],
                }
            }
        }
    }

    /// Where a service tells how it is.
    pub(crate) fn journal(self) -> &'static str {
        match self {
            Self::Systemd => "`systemctl --user status mxd` and `journalctl --user -u mxd` say how it is.",
            Self::Launchd => "`mxd daemon logs` shows what it said.",
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

fn run(words: &[String]) -> Result<(), Failure> {
    let (program, arguments) = words.split_first().unwrap_or_else(|| unreachable!("an order has words"));
    let output = Command::new(program).args(arguments).output();
    let output = output.map_err(|error| {
        Failure::new(format!("{program}: {error}")).hint("`mxd serve` runs the daemon without a service.")
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Failure::new(format!("{}: {}", words.join(" "), said.trim()))
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

    #[test]
    fn a_service_is_of_one_data_folder() {
        let home = tempfile::TempDir::new().unwrap();
        for supervisor in [Supervisor::Systemd, Supervisor::Launchd] {
            let (file, data) = (supervisor.file(home.path()), Path::new("/a & b/50%"));
            assert!(!supervisor.serves(home.path(), data));
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            let description = supervisor.description(Path::new("/opt/mxd"), data);
            fs::File::create(&file).unwrap().write_all(description.as_bytes()).unwrap();
            assert!(supervisor.serves(home.path(), data));
            assert!(!supervisor.serves(home.path(), Path::new("/a & b/5")), "{description}");
        }
    }

    #[test]
    fn supervisors_are_asked_in_their_own_words() {
        let file = Path::new("/Users/a/Library/LaunchAgents/dev.matrix.mxd.plist");
        let said = |supervisor: Supervisor, wish: Wish| -> Vec<String> {
            let orders = supervisor.orders(wish, file, 501).into_iter();
            orders
                .map(|order| format!("{}{}", if order.may_fail { "~" } else { "" }, order.words.join(" ")))
                .collect()
        };
        let load = format!("launchctl bootstrap gui/501 {}", file.display());
        assert_eq!(
            said(Supervisor::Launchd, Wish::Install),
            ["~launchctl bootout gui/501/dev.matrix.mxd", "launchctl enable gui/501/dev.matrix.mxd", &load]
        );
        assert_eq!(said(Supervisor::Launchd, Wish::Stop), ["~launchctl bootout gui/501/dev.matrix.mxd"]);
        let start = "launchctl kickstart gui/501/dev.matrix.mxd";
        assert_eq!(said(Supervisor::Launchd, Wish::Start), [&format!("~{load}"), start]);
        assert_eq!(
            said(Supervisor::Systemd, Wish::Install),
            [
                "systemctl --user daemon-reload",
                "systemctl --user enable mxd.service",
                "systemctl --user restart mxd.service"
            ]
        );
        assert_eq!(said(Supervisor::Systemd, Wish::Stop), ["systemctl --user stop mxd.service"]);
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
