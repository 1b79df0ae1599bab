//! Settings files of package managers: shown to agents when they hold nothing but known keys, and no password in an address.
//!
//! Which keys hold secrets is for each tool to decide, and new ones come with every version. The tables therefore name what
//! is harmless. A file with anything else in it, or in a form that is not understood, is not shown.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The most of a settings file that is looked at; a longer one is not shown.
const MAX_BYTES: u64 = 64 * 1024;

/// How a file is read, and what may stand in it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Format {
    /// Lines of `key = value`, without sections.
    Npm,
    /// Sections of `key = value`, where indented lines continue a value.
    Pip,
    /// TOML; the key is joined to its table by dots.
    Cargo,
    /// The same, for uv.
    Uv,
}

/// Files in a home folder that say where packages come from.
const IN_HOME: &[(&str, Format)] = &[
    (".cargo/config", Format::Cargo),
    (".cargo/config.toml", Format::Cargo),
    (".config/pip/pip.conf", Format::Pip),
    (".config/uv/uv.toml", Format::Uv),
    (".npmrc", Format::Npm),
    (".pip/pip.conf", Format::Pip),
];

const NPM_KEYS: &[&str] = &[
    "audit",
    "auto-install-peers",
    "cafile",
    "color",
    "engine-strict",
    "fetch-retries",
    "fetch-timeout",
    "fund",
    "hoist",
    "https-proxy",
    "ignore-scripts",
    "legacy-peer-deps",
    "loglevel",
    "maxsockets",
    "node-linker",
    "noproxy",
    "package-lock",
    "prefer-offline",
    "progress",
    "proxy",
    "public-hoist-pattern",
    "registry",
    "save-exact",
    "save-prefix",
    "script-shell",
    "shamefully-hoist",
    "strict-peer-dependencies",
    "strict-ssl",
    "update-notifier",
];

const PIP_KEYS: &[&str] = &[
    "break-system-packages",
    "cert",
    "disable-pip-version-check",
    "extra-index-url",
    "find-links",
    "index-url",
    "no-binary",
    "no-cache-dir",
    "no-color",
    "no-index",
    "no-input",
    "only-binary",
    "prefer-binary",
    "progress-bar",
    "proxy",
    "quiet",
    "require-virtualenv",
    "retries",
    "root-user-action",
    "timeout",
    "trusted-host",
    "upgrade-strategy",
    "use-feature",
    "user",
];

const UV_KEYS: &[&str] = &[
    "allow-insecure-host",
    "compile-bytecode",
    "concurrent-builds",
    "concurrent-downloads",
    "concurrent-installs",
    "default",
    "exclude-newer",
    "explicit",
    "extra-index-url",
    "find-links",
    "index-strategy",
    "index-url",
    "link-mode",
    "name",
    "native-tls",
    "no-binary",
    "no-build",
    "no-cache",
    "no-index",
    "offline",
    "prerelease",
    "preview",
    "python-downloads",
    "python-preference",
    "required-version",
    "resolution",
    "url",
];

/// Tables of cargo's settings, each with the keys that may stand anywhere in it; none named means all. `env` is not here: it
/// sets variables of any name.
const CARGO_TABLES: &[(&str, &[&str])] = &[
    ("alias", &[]),
    ("build", &[]),
    ("cache", &[]),
    ("cargo-new", &[]),
    ("future-incompat-report", &[]),
    ("http", &[]),
    ("net", &[]),
    ("profile", &[]),
    ("registries", &["index", "protocol"]),
    ("registry", &["default", "index"]),
    ("resolver", &[]),
    ("source", &["branch", "directory", "git", "local-registry", "registry", "replace-with", "rev", "tag"]),
    ("target", &[]),
    ("term", &[]),
    ("unstable", &[]),
];

/// The settings in a home folder that may be shown.
pub(super) fn shown(home: &Path) -> Vec<PathBuf> {
    let paths = IN_HOME.iter().map(|(name, format)| (home.join(name), *format));
    paths.filter(|(path, format)| is_clean(path, *format)).map(|(path, _)| path).collect()
}

/// Whether a file may be shown.
pub(super) fn is_clean(path: &Path, format: Format) -> bool {
    read(path).is_some_and(|text| is_clean_text(&text, format))
}

/// The text of an ordinary file of a reasonable size.
pub(super) fn read(path: &Path) -> Option<String> {
    let is_file = fs::metadata(path).is_ok_and(|what| what.is_file() && what.len() <= MAX_BYTES);
    let mut text = String::new();
    let file = is_file.then(|| fs::File::open(path).ok())??;
    file.take(MAX_BYTES).read_to_string(&mut text).ok().map(|_bytes| text)
}

fn is_clean_text(text: &str, format: Format) -> bool {
    if text.lines().any(has_password_in_address) {
        return false;
    }
    match format {
        Format::Npm => text.lines().filter_map(content).all(|line| npm_key(key_of(line))),
        Format::Pip => text.lines().all(pip_line),
        Format::Cargo => toml_keys(text).is_some_and(|keys| keys.iter().all(|key| cargo_key(key))),
        Format::Uv => toml_keys(text).is_some_and(|keys| keys.iter().all(|key| uv_key(key))),
    }
}

/// A line without what surrounds it; `None` for empty ones and comments.
fn content(line: &str) -> Option<&str> {
    Some(line.trim()).filter(|line| !line.is_empty() && !line.starts_with(['#', ';']))
}

fn key_of(line: &str) -> &str {
    line.split_once('=').map_or(line, |(key, _)| key).trim()
}

fn npm_key(key: &str) -> bool {
    let of_scope = key.strip_prefix('@').and_then(|rest| rest.strip_suffix(":registry"));
    let key = key.trim_end_matches("[]");
    NPM_KEYS.contains(&key) || of_scope.is_some_and(|scope| !scope.contains([':', '/']))
}

fn pip_line(line: &str) -> bool {
    let Some(found) = content(line) else { return true };
    // The continuation of a value: a secret has no key that takes more than one.
    let continues = line.starts_with([' ', '\t']) && !found.contains('=');
    let section = found.starts_with('[') && found.ends_with(']');
    continues || section || PIP_KEYS.contains(&key_of(found).replace('_', "-").as_str())
}

fn uv_key(path: &[String]) -> bool {
    let [tables @ .., key] = path else { return false };
    let known_table = tables.iter().all(|table| ["index", "pip"].contains(&table.as_str()));
    known_table && UV_KEYS.contains(&key.as_str())
}

fn cargo_key(path: &[String]) -> bool {
    let [table, .., key] = path else { return false };
    let keys = CARGO_TABLES.iter().find(|(known, _)| known == table).map(|(_, keys)| keys);
    keys.is_some_and(|keys| keys.is_empty() || keys.contains(&key.as_str()))
}

/// The full names of all keys. `None` for what is not read line by line: inline tables and strings of several lines.
fn toml_keys(text: &str) -> Option<Vec<Vec<String>>> {
    let (mut keys, mut table) = (Vec::new(), Vec::new());
    let mut open_arrays = 0_i32;
    for line in text.lines().filter_map(content) {
        if line.contains("\"\"\"") || line.contains("'''") {
            return None;
        }
        let bare = without_strings(line)?;
        if open_arrays == 0 && line.starts_with('[') {
            table = dotted(bare_header(line)?)?;
            continue;
        }
        if bare.contains('{') {
            return None;
        }
        if open_arrays == 0 {
            let (key, _value) = line.split_once('=')?;
            keys.push(table.iter().cloned().chain(dotted(key)?).collect());
        }
        let opened = i32::try_from(bare.matches('[').count()).ok()?;
        open_arrays += opened - i32::try_from(bare.matches(']').count()).ok()?;
    }
    (open_arrays == 0).then_some(keys)
}

/// What stands between the brackets of `[table]` or `[[table]]`.
fn bare_header(line: &str) -> Option<&str> {
    let end = line.rfind(']')?;
    let after = line[end + 1..].trim();
    let inner = line[..end].trim_start_matches('[').trim_end_matches(']');
    (after.is_empty() || after.starts_with('#')).then_some(inner)
}

/// A line without its strings and its comment. `None` when a string does not end.
fn without_strings(line: &str) -> Option<String> {
    let (mut bare, mut quote, mut escaped) = (String::new(), None, false);
    for letter in line.chars() {
        match (quote, letter) {
            (None, '#') => break,
            (None, '"' | '\'') => quote = Some(letter),
            (None, _) => bare.push(letter),
            (Some('"'), '\\') if !escaped => {
                escaped = true;
                continue;
            }
            (Some(open), _) if open == letter && !escaped => quote = None,
            (Some(_), _) => {}
        }
        escaped = false;
    }
    quote.is_none().then_some(bare)
}

/// The parts of a dotted key. Dots inside of quotes do not separate.
fn dotted(key: &str) -> Option<Vec<String>> {
    let (mut parts, mut quote) = (vec![String::new()], None);
    for letter in key.trim().chars() {
        match (quote, letter) {
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            (None, '.') => parts.push(String::new()),
            (None, ' ' | '\t') => {}
            (_, _) => parts.last_mut()?.push(letter),
        }
    }
    let whole = quote.is_none() && parts.iter().all(|part| !part.is_empty());
    whole.then_some(parts)
}

/// Whether an address with a user or a password stands in a line.
pub(super) fn has_password_in_address(line: &str) -> bool {
    line.split("//").skip(1).any(|rest| {
        let authority = rest.split(['/', '"', '\'', ' ', '?', '#', '<']).next().unwrap_or_default();
        authority.contains('@')
    })
}

#[cfg(test)]
mod tests {
    use super::{Format, is_clean_text};

    #[test]
    fn only_known_keys_without_passwords_are_clean() {
        let cases: &[(Format, &str, bool)] = &[
            (Format::Npm, "registry=https://packages.example/\n# a comment\nfund=false\n", true),
            (Format::Npm, "@team:registry=https://packages.example/\n", true),
            (Format::Npm, "//packages.example/:_authToken=abc\n", false),
            (Format::Npm, "@x:registry/:_authToken=abc\n", false),
            (Format::Npm, "_password=abc\n", false),
            (Format::Npm, "key=-----BEGIN\n", false),
            (Format::Npm, "registry=https://me:abc@packages.example/\n", false),
            (Format::Pip, "[global]\nindex-url = https://packages.example/simple\n", true),
            (Format::Pip, "[global]\nextra-index-url =\n  https://a.example\n  https://b.example\n", true),
            (Format::Pip, "[global]\nindex_url = https://abc@packages.example/simple\n", false),
            (Format::Pip, "[global]\nextra-index-url =\n  https://me:abc@b.example\n", false),
            (Format::Pip, "[distutils]\nusername = abc\n", false),
            (Format::Uv, "index-url = \"https://packages.example\"\n[pip]\nno-index = true\n", true),
            (Format::Uv, "[[index]]\nname = \"a\"\nurl = \"https://a.example\"\ndefault = true\n", true),
            (Format::Uv, "[[index]]\nurl = \"https://me:abc@a.example\"\n", false),
            (Format::Uv, "[[index]]\nurl = \"https://a.example\"\npassword = \"abc\"\n", false),
            (
                Format::Cargo,
                "[net]\noffline = true\n[registries.team]\nindex = \"sparse+https://a.example\"\n",
                true,
            ),
            (
                Format::Cargo,
                "[target.'cfg(target_os = \"linux\")']\nrustflags = [\n  \"-C\", # why\n  \"x=[y]\",\n]\n",
                true,
            ),
            (Format::Cargo, "[registries.team]\ntoken = \"abc\"\n", false),
            (Format::Cargo, "registries.team.token = \"abc\"\n", false),
            (Format::Cargo, "[registry]\n\"token\" = \"abc\"\n", false),
            (Format::Cargo, "registry = { token = \"abc\" }\n", false),
            (Format::Cargo, "[env]\nSECRET = \"abc\"\n", false),
            (Format::Cargo, "[build]\nx = \"\"\"\n[env]\n\"\"\"\n", false),
        ];
        for (format, text, expected) in cases {
            assert_eq!(is_clean_text(text, *format), *expected, "{format:?}: {text}");
        }
    }
}
