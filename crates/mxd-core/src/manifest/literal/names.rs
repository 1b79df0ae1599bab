//! Names of variables, options, parameters and headers: which of them say that a credential follows.

use super::HOLE;
use super::shapes::is_words;

/// How much a name says about its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A credential, however short and simple it is.
    Credential,
    /// A credential or the file that holds it, as in `GOOGLE_APPLICATION_CREDENTIALS`.
    CredentialOrFile,
    /// A credential or the name of a method, as in `--auth none`.
    CredentialOrMethod,
    /// A credential only if it looks random.
    Perhaps,
    /// Something else.
    Plain,
}

/// Words that say that a credential follows.
const CREDENTIAL: &[&str] = &[
    "apikey",
    "authorization",
    "bearer",
    "cookie",
    "jwt",
    "mnemonic",
    "otp",
    "pass",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "pat",
    "psk",
    "pw",
    "pwd",
    "secret",
    "secrets",
    "sig",
    "token",
    "tokens",
];

/// What long words without a separator end with: `PGPASSWORD`, `authtoken`, `clientsecret`.
const CREDENTIAL_SUFFIXES: &[&str] = &[
    "apikey",
    "accesskey",
    "authkey",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "secret",
    "secretkey",
    "token",
];

const CREDENTIAL_OR_FILE: &[&str] = &["cred", "credential", "credentials", "creds", "key", "keys"];

const PERHAPS: &[&str] = &["hmac", "private", "salt", "seed", "session", "sid", "signature"];

/// Words before `key` with which it is the key of a record, or one that everybody may know.
const PLAIN_KEYS: &[&str] = &[
    "board",
    "cache",
    "column",
    "config",
    "feature",
    "field",
    "flag",
    "foreign",
    "group",
    "hash",
    "hot",
    "index",
    "issue",
    "join",
    "lookup",
    "map",
    "object",
    "order",
    "partition",
    "primary",
    "project",
    "pub",
    "public",
    "publishable",
    "range",
    "routing",
    "row",
    "shard",
    "shortcut",
    "sort",
    "space",
    "team",
    "translation",
];

/// Last words after which a name means something about a credential and not the credential.
const PLAIN_ENDINGS: &[&str] = &[
    "address",
    "age",
    "algorithm",
    "alias",
    "arn",
    "audience",
    "backend",
    "bits",
    "bucket",
    "budget",
    "callback",
    "class",
    "column",
    "command",
    "cost",
    "count",
    "days",
    "digest",
    "dir",
    "directory",
    "disabled",
    "domain",
    "driver",
    "enabled",
    "encoding",
    "endpoint",
    "engine",
    "expiration",
    "expires",
    "expiry",
    "field",
    "file",
    "fingerprint",
    "folder",
    "format",
    "hash",
    "header",
    "helper",
    "host",
    "hours",
    "id",
    "index",
    "issuer",
    "label",
    "length",
    "level",
    "lifetime",
    "limit",
    "limits",
    "manager",
    "max",
    "method",
    "min",
    "minutes",
    "mode",
    "ms",
    "name",
    "origin",
    "path",
    "pattern",
    "plugin",
    "policy",
    "port",
    "prefix",
    "provider",
    "realm",
    "redirect",
    "ref",
    "region",
    "required",
    "rotation",
    "rounds",
    "scope",
    "scopes",
    "seconds",
    "server",
    "service",
    "size",
    "sock",
    "socket",
    "store",
    "storage",
    "strategy",
    "table",
    "template",
    "timeout",
    "ttl",
    "type",
    "uri",
    "url",
    "usage",
    "user",
    "username",
    "version",
    "window",
];

/// Words that say that a number of tokens is meant and none of them.
const COUNTING: &[&str] = &[
    "budget", "context", "count", "input", "limit", "max", "min", "num", "number", "output", "per", "total",
];

/// First words of a switch: `--no-auth`, `USE_TOKEN`.
const SWITCHES: &[&str] = &[
    "allow", "disable", "enable", "has", "ignore", "is", "no", "require", "requires", "skip", "use", "with",
    "without",
];

const METHODS: &[&str] = &[
    "none",
    "basic",
    "bearer",
    "digest",
    "oauth",
    "oauth2",
    "oidc",
    "saml",
    "ldap",
    "kerberos",
    "jwt",
    "token",
    "apikey",
    "api-key",
    "iam",
    "mtls",
    "anonymous",
    "auto",
    "default",
    "github",
    "google",
];

const SWITCH_VALUES: &[&str] = &["", "0", "1", "true", "false", "yes", "no", "on", "off", "none", "null"];

/// What a name says about the value that follows it.
pub(super) fn meaning(name: &str) -> Meaning {
    let words = words(name);
    let last = words.last().map_or("", String::as_str);
    if PLAIN_ENDINGS.contains(&last) {
        return Meaning::Plain;
    }
    let mut meaning = Meaning::Plain;
    for (at, word) in words.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| words.get(before)).map_or("", String::as_str);
        let found = meaning_of_word(word, before);
        // The gravest word of the name counts.
        if rank(found) < rank(meaning) {
            meaning = found;
        }
    }
    meaning
}

fn rank(meaning: Meaning) -> u8 {
    match meaning {
        Meaning::Credential => 0,
        Meaning::CredentialOrFile => 1,
        Meaning::CredentialOrMethod => 2,
        Meaning::Perhaps => 3,
        Meaning::Plain => 4,
    }
}

fn meaning_of_word(word: &str, before: &str) -> Meaning {
    let is_phrase = matches!((before, word), ("seed" | "recovery", "phrase") | ("api" | "access", "key"));
    let ends = |suffix: &str| word.len() > suffix.len() && word.ends_with(suffix);
    if is_phrase || CREDENTIAL.contains(&word) || CREDENTIAL_SUFFIXES.iter().any(|suffix| ends(suffix)) {
        return Meaning::Credential;
    }
    if matches!(word, "key" | "keys") && PLAIN_KEYS.contains(&before) {
        return Meaning::Plain;
    }
    match word {
        "auth" => Meaning::CredentialOrMethod,
        word if CREDENTIAL_OR_FILE.contains(&word) => Meaning::CredentialOrFile,
        word if PERHAPS.contains(&word) => Meaning::Perhaps,
        _ => Meaning::Plain,
    }
}

/// Whether a value is a credential, by the name that it stands under. References in it are holes.
pub(super) fn credential_under(name: &str, value: &str) -> bool {
    let words = words(name);
    let first = words.first().map_or("", String::as_str);
    let value = value.trim();
    let has_reference = value.contains(HOLE);
    let is_switch =
        SWITCHES.contains(&first) || words.iter().any(|word| SWITCHES[..3].contains(&word.as_str()));
    let is_counted = words.iter().any(|word| COUNTING.contains(&word.as_str()) || word == "tokens");
    let is_number = value.len() <= 9 && value.bytes().all(|byte| byte.is_ascii_digit());
    let meaning = meaning(name);
    if value.is_empty()
        || meaning == Meaning::Plain
        || is_switch && SWITCH_VALUES.contains(&value.to_ascii_lowercase().as_str())
        || is_counted && is_number
    {
        return false;
    }
    match meaning {
        // What stands beside a reference may be a scheme or the name of a cookie.
        _ if has_reference => {
            let is_password = words.last().is_some_and(|word| word.starts_with("pass"));
            value
                .split([HOLE, ' ', ',', ';', '='])
                .any(|part| !part.is_empty() && (is_password || looks_random(part)))
        }
        Meaning::Credential => true,
        Meaning::CredentialOrFile => {
            !is_place(value) && !SWITCH_VALUES.contains(&value.to_ascii_lowercase().as_str())
        }
        Meaning::CredentialOrMethod => {
            let lower = value.to_ascii_lowercase();
            !is_place(value) && !METHODS.contains(&lower.as_str()) && !SWITCH_VALUES.contains(&lower.as_str())
        }
        Meaning::Perhaps => value.split([' ', ',', ';']).any(looks_random),
        Meaning::Plain => false,
    }
}

/// The words of a name: `GITHUB_TOKEN`, `x-api-key`, `apiKey`, `--auth-token`, `API_KEY2`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        let begins = !c.is_ascii_alphabetic() || (c.is_ascii_uppercase() && before.is_ascii_lowercase());
        if begins {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_ascii_alphabetic()) {
            word.push(c.to_ascii_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether it is the path of a file or the address of a server, and not a key that happens to have a `/`.
fn is_place(value: &str) -> bool {
    let is_path = value.starts_with(['/', '~', '.']) || value.contains(":\\");
    value.contains("://") || is_path && !value.ends_with('=') && !value.contains('+')
}

const RANDOM_LENGTH: usize = 20;
/// Bits per character. Random hexadecimal digits have more than three, and so do words; but words have no
/// digits among them.
const RANDOM_BITS: f64 = 3.0;

/// Whether nobody would write it by hand.
pub(super) fn looks_random(part: &str) -> bool {
    let has = |kind: fn(&char) -> bool| part.chars().any(|c| kind(&c));
    part.len() >= RANDOM_LENGTH
        && !is_place(part)
        && has(char::is_ascii_digit)
        && has(char::is_ascii_alphabetic)
        && !is_words(part)
        && entropy(part) >= RANDOM_BITS
}

/// Shannon entropy in bits per byte.
fn entropy(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    text.bytes().for_each(|byte| counts[usize::from(byte)] += 1);
    let total = text.len() as f64;
    let share = |count: &u32| f64::from(*count) / total;
    counts.iter().filter(|count| **count > 0).map(|count| -share(count) * share(count).log2()).sum()
}
