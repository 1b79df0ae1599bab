//! A folder with a manifest and a server, and the program run in it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Where the server of the tests is.
const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server");
const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");
/// Set to write what the program says now as what it should say. Look at the difference before you commit it.
const UPDATE: &str = "MCL_TOOLS_UPDATE_GOLDEN";

/// A digest that nobody computed.
pub(crate) const ZEROS: &str = "sha256:0000000000000000000000000000000000000000000000000000000000000000";

pub(crate) struct Stage {
    folder: TempDir,
    env: BTreeMap<String, String>,
}

/// What the program said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Stage {
    /// A folder with `agent.json`, whose only server is the one of the tests, by its true digest.
    pub(crate) fn new() -> Self {
        let stage = Self::empty();
        stage.install_server();
        stage.write_manifest(&stage.manifest(ZEROS));
        let said = stage.run(&["digest", "--update"]);
        assert_eq!(said.code, 0, "{said:?}");
        stage
    }

    /// An empty folder.
    pub(crate) fn empty() -> Self {
        let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let root = folder.path().to_string_lossy().into_owned();
        let mut env = BTreeMap::from([
            ("PATH".to_owned(), std::env::var("PATH").unwrap()),
            ("HOME".to_owned(), std::env::var("HOME").unwrap()),
            ("MXD_PACKAGES".to_owned(), format!("{root}/packages")),
        ]);
        // The interpreter that is chosen by it is one of the machine, not of the test.
        env.extend(std::env::var("PYENV_VERSION").map(|version| ("PYENV_VERSION".to_owned(), version)));
        fs::create_dir(folder.path().join("work")).unwrap();
        Self { folder, env }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.env.insert(name.to_owned(), value.to_owned());
    }

    pub(crate) fn install_server(&self) {
        fs::create_dir(self.path("server")).unwrap();
        for name in ["server.py", "tools.json"] {
            fs::copy(Path::new(SERVER).join(name), self.path("server").join(name)).unwrap();
        }
    }

    /// The tools of the server change.
    pub(crate) fn change_tools(&self, change: impl FnOnce(&mut Vec<Value>)) {
        let mut tools: Vec<Value> = serde_json::from_str(&self.read("server/tools.json")).unwrap();
        change(&mut tools);
        self.write("server/tools.json", &serde_json::to_string_pretty(&tools).unwrap());
    }

    pub(crate) fn manifest(&self, digest: &str) -> Value {
        let tool = |(name, class): &(&str, &str)| json!({ "name": name, "description": format!("{name}."), "side_effect_class": class, "timeout_ms": 20_000 });
        let tools = [
            ("echo", "read"),
            ("add", "read"),
            ("fail", "read"),
            ("wait", "read"),
            ("variable", "read"),
            ("die", "read"),
            ("put", "write"),
        ];
        json!({
            "schema_version": 1,
            "agent": "matrix://agent/stage",
            "description": "An agent on a stage.",
            "allowed_side_effects": ["read"],
            "servers": [{
                "alias": "stage",
                "transport": "stdio",
                "command": "python3",
                "args": ["server/server.py"],
                "package_digest": digest,
                "version": "1.2.3",
                "tools": tools.iter().map(tool).collect::<Vec<_>>(),
            }],
        })
    }

    pub(crate) fn write_manifest(&self, manifest: &Value) {
        self.write("agent.json", &format!("{}\n", serde_json::to_string_pretty(manifest).unwrap()));
    }

    pub(crate) fn edit_manifest(&self, edit: impl FnOnce(&mut Value)) {
        let mut manifest: Value = serde_json::from_str(&self.read("agent.json")).unwrap();
        edit(&mut manifest);
        self.write_manifest(&manifest);
    }

    /// The program with `agent.json` as its manifest.
    pub(crate) fn run(&self, arguments: &[&str]) -> Said {
        let manifest = ["--manifest", "agent.json"];
        self.bare(
            &[arguments.iter().take(1).copied().collect(), manifest.to_vec(), arguments[1..].to_vec()]
                .concat(),
        )
    }

    /// The program as it is.
    pub(crate) fn bare(&self, arguments: &[&str]) -> Said {
        let output = Command::new(env!("CARGO_BIN_EXE_mcl-tools"))
            .args(arguments)
            .current_dir(self.folder.path())
            .env_clear()
            .envs(&self.env)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        self.said(&output)
    }

    fn said(&self, output: &Output) -> Said {
        let root = self.folder.path().to_string_lossy().into_owned();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(&root, "<folder>");
        Said { code: output.status.code().unwrap(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// What the program says as one JSON document, which it always is.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let said = self.run(&[arguments, &["--json"]].concat());
        let document: Value =
            serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:?}"));
        assert_eq!(document["exit"], said.code, "{said:?}");
        assert_eq!(document["ok"], said.code == 0, "{said:?}");
        assert_eq!(said.err, "", "{said:?}");
        let keys: Vec<&String> = document.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["command", "ok", "exit", "result", "warnings", "problems"]);
        document
    }
}

impl Said {
    /// Holds it against a golden file. Digests are numbered, because those of packages depend on the machine.
    pub(crate) fn is_golden(&self, name: &str) {
        let whole = format!("exit {}\n--- out\n{}--- err\n{}", self.code, self.out, self.err);
        let whole = numbered(&whole);
        let path = Path::new(GOLDEN).join(format!("{name}.txt"));
        if std::env::var_os(UPDATE).is_some() {
            fs::write(&path, &whole).unwrap();
        }
        let golden = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(whole, golden, "{} is not what it should be; {UPDATE}=1 writes it", path.display());
    }
}

/// Each digest, and each key, by the order in which it first appears. The one of nothing but zeros stays.
fn numbered(text: &str) -> String {
    let mut seen: Vec<String> = Vec::new();
    let mut number = |mark: &str, word: &str| {
        let at = seen.iter().position(|known| known == word).unwrap_or_else(|| {
            seen.push(word.to_owned());
            seen.len() - 1
        });
        format!("<{mark} {}>", at + 1)
    };
    let (mut result, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(['s', 'd']) {
        result.push_str(&rest[..at]);
        rest = &rest[at..];
        let is_hex = |c: char| c.is_ascii_hexdigit();
        let digest = rest.strip_prefix("sha256:").and_then(|digits| digits.get(..64));
        let digest =
            digest.filter(|digits| digits.chars().all(is_hex) && !digits.trim_matches('0').is_empty());
        let key = rest
            .strip_prefix("did:key:")
            .map(|key| &key[..key.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(key.len())]);
        if let Some(digits) = digest {
            result.push_str(&number("digest", digits));
            rest = &rest["sha256:".len() + 64..];
        } else if let Some(key) = key.filter(|key| key.len() > 40) {
            result.push_str(&number("key", key));
            rest = &rest["did:key:".len() + key.len()..];
        } else {
            result.push_str(&rest[..1]);
            rest = &rest[1..];
        }
    }
    result + rest
}
