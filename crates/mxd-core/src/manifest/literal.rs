//! Credentials in plain text: known shapes anywhere, and what looks random under a name that looks secret.
//!
//! Manifests are signed, shared and logged, so a credential in one is a leak. What is found is never quoted.

use std::fmt;

/// Where a value stands; decides what the hint shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spot {
    /// A variable of the server's process.
    Env,
    /// A header.
    Header,
    /// An argument or an endpoint, where no reference is read.
    Elsewhere,
}

/// A credential in plain text, without the credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    what: &'static str,
    fix: String,
}

impl Finding {
    /// What it looks like.
    pub fn what(&self) -> &'static str {
        self.what
    }

    /// What to write instead.
    pub fn hint(&self) -> String {
        format!("{} If it was ever shared, revoke it.", self.fix)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)
    }
}

/// A known shape: a prefix, and how many characters of its kind follow at least.
struct Shape {
    prefix: &'static str,
    rest: usize,
    what: &'static str,
}

const fn shape(prefix: &'static str, rest: usize, what: &'static str) -> Shape {
    Shape { prefix, rest, what }
}

/// Longer prefixes first, so that the message names the right one.
const SHAPES: &[Shape] = &[
    shape("sk-ant-", 16, "an Anthropic key"),
    shape("sk-or-", 16, "an OpenRouter key"),
    shape("sk-", 20, "an OpenAI key"),
    shape("sk_live_", 16, "a Stripe key"),
    shape("sk_test_", 16, "a Stripe key"),
    shape("rk_live_", 16, "a Stripe key"),
    shape("whsec_", 20, "a Stripe key"),
    shape("github_pat_", 20, "a GitHub token"),
    shape("ghp_", 20, "a GitHub token"),
    shape("gho_", 20, "a GitHub token"),
    shape("ghu_", 20, "a GitHub token"),
    shape("ghs_", 20, "a GitHub token"),
    shape("ghr_", 20, "a GitHub token"),
    shape("glpat-", 16, "a GitLab token"),
    shape("xoxa-", 10, "a Slack token"),
    shape("xoxb-", 10, "a Slack token"),
    shape("xoxp-", 10, "a Slack token"),
    shape("xoxr-", 10, "a Slack token"),
    shape("xoxs-", 10, "a Slack token"),
    shape("xapp-", 10, "a Slack token"),
    shape("AKIA", 16, "an AWS key"),
    shape("ASIA", 16, "an AWS key"),
    shape("AIza", 30, "a Google key"),
    shape("ya29.", 20, "a Google token"),
    shape("npm_", 30, "an npm token"),
    shape("pypi-", 30, "a PyPI token"),
    shape("hf_", 24, "a Hugging Face token"),
    shape("dop_v1_", 30, "a DigitalOcean token"),
    shape("SG.", 30, "a SendGrid key"),
];

/// Words that make the name of a variable, header or option look secret.
const SECRET_WORDS: &[&str] = &[
    "apikey",
    "auth",
    "authorization",
    "bearer",
    "cookie",
    "credential",
    "credentials",
    "key",
    "pass",
    "passphrase",
    "passwd",
    "password",
    "pat",
    "private",
    "pwd",
    "secret",
    "secrets",
    "session",
    "signature",
    "token",
    "tokens",
];

/// Last words after which a name means something about a secret and not the secret.
const PLAIN_ENDINGS: &[&str] = &[
    "algorithm",
    "audience",
    "count",
    "digest",
    "dir",
    "directory",
    "endpoint",
    "file",
    "fingerprint",
    "folder",
    "hash",
    "host",
    "id",
    "issuer",
    "length",
    "method",
    "mode",
    "name",
    "path",
    "port",
    "prefix",
    "provider",
    "region",
    "scope",
    "scopes",
    "size",
    "timeout",
    "ttl",
    "type",
    "uri",
    "url",
    "user",
    "username",
    "version",
];

/// Last words after which any text is a secret, however short and simple.
const CERTAIN_ENDINGS: &[&str] = &["passphrase", "passwd", "password"];

/// Headers that exist to carry credentials.
const CREDENTIAL_HEADERS: &[&str] =
    &["authorization", "proxy-authorization", "cookie", "x-api-key", "api-key", "x-auth-token"];

/// Schemes that a credential follows.
const SCHEMES: &[&str] = &["bearer ", "basic ", "token "];

const RANDOM_LENGTH: usize = 20;
/// Bits per character. Random hexadecimal digits have more than three, and so do words; but words have no
/// digits among them.
const RANDOM_BITS: f64 = 3.0;

/// What stands for a reference in the text that is looked at. JSON texts can hold it, but then it only hides
/// itself.
pub(super) const HOLE: char = '\u{0}';

/// Looks for a credential in a value. References in it are holes.
pub(super) fn find(spot: Spot, name: &str, value: &str) -> Option<Finding> {
    let what = known_shape(value)
        .or_else(|| private_key(value))
        .or_else(|| json_web_token(value))
        .or_else(|| password_in_url(value))
        .or_else(|| behind_scheme(value))
        .or_else(|| (spot == Spot::Header).then(|| credential_header(name, value)).flatten())
        .or_else(|| under_secret_name(name, value))?;
    Some(Finding { what, fix: fix(spot, name) })
}

fn fix(spot: Spot, name: &str) -> String {
    let variable: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    match spot {
        Spot::Env => format!("Put it into the environment and write {name}=$env:{name} here."),
        Spot::Header => format!("Put it into the environment and refer to it here, such as $env:{variable}."),
        Spot::Elsewhere => {
            "Put it into the environment and pass it with $env:NAME in env or headers.".to_owned()
        }
    }
}

/// Positions at which a word begins.
fn word_starts(value: &str) -> impl Iterator<Item = &str> {
    let part_of_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let starts = value.char_indices().filter(move |(at, _)| !value[..*at].ends_with(part_of_word));
    starts.map(|(at, _)| &value[at..])
}

fn known_shape(value: &str) -> Option<&'static str> {
    word_starts(value)
        .find_map(|word| SHAPES.iter().find(|shape| has_shape(word, shape)).map(|shape| shape.what))
}

fn has_shape(word: &str, shape: &Shape) -> bool {
    let Some(rest) = word.strip_prefix(shape.prefix) else { return false };
    let is_part = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let rest: String = rest.chars().take_while(is_part).collect();
    // Names of packages are long words, too; keys have digits among their letters.
    rest.len() >= shape.rest && rest.contains(|c: char| c.is_ascii_digit()) && !is_words(&rest)
}

/// Whether it is made of short words and numbers, as names of packages are: `learn-utils-2-extra`.
fn is_words(text: &str) -> bool {
    let is_word = |part: &str| {
        let letters = part.chars().all(|c| c.is_ascii_lowercase());
        let digits = part.len() <= 4 && part.chars().all(|c| c.is_ascii_digit());
        part.len() <= 14 && (letters || digits)
    };
    text.contains(['-', '_', '.']) && text.split(['-', '_', '.']).all(is_word)
}

fn private_key(value: &str) -> Option<&'static str> {
    let (_, rest) = value.split_once("-----BEGIN ")?;
    let (label, _) = rest.split_once("-----")?;
    (label.contains("KEY") && !label.contains("PUBLIC")).then_some("a private key")
}

fn json_web_token(value: &str) -> Option<&'static str> {
    let is_token = |word: &str| {
        let end = word.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_' | '.'));
        let mut parts = word[..end.unwrap_or(word.len())].split('.');
        let (head, body) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        head.starts_with("eyJ") && head.len() >= 12 && body.len() >= 8
    };
    word_starts(value).any(is_token).then_some("a JSON web token")
}

fn password_in_url(value: &str) -> Option<&'static str> {
    let mut rest = value;
    while let Some((_, after)) = rest.split_once("://") {
        let end = after.find(['/', '?', '#', ' ', '"', '\'']).unwrap_or(after.len());
        if let Some((user, _)) = after[..end].rsplit_once('@') {
            let password = user.split_once(':').map_or("", |(_, password)| password);
            if password.chars().any(|c| c != HOLE) {
                return Some("a password in a URL");
            }
        }
        rest = after;
    }
    None
}

fn behind_scheme(value: &str) -> Option<&'static str> {
    let is_credential = |word: &str| {
        let lower = word.get(..8).unwrap_or(word).to_ascii_lowercase();
        let scheme = SCHEMES.iter().find(|scheme| lower.starts_with(**scheme));
        let Some(rest) = scheme.and_then(|scheme| word.get(scheme.len()..)) else { return false };
        let token: String = rest.trim_start().chars().take_while(|c| c.is_ascii_graphic()).collect();
        token.len() >= 16 && token.contains(|c: char| c.is_ascii_digit()) && !is_words(&token)
    };
    word_starts(value).any(is_credential).then_some("a token")
}

fn credential_header(name: &str, value: &str) -> Option<&'static str> {
    let carries = CREDENTIAL_HEADERS.iter().any(|header| name.eq_ignore_ascii_case(header));
    (carries && !value.contains(HOLE) && !value.trim().is_empty()).then_some("a credential")
}

fn under_secret_name(name: &str, value: &str) -> Option<&'static str> {
    let words = words(name);
    let last = words.last().map_or("", String::as_str);
    if CERTAIN_ENDINGS.contains(&last) {
        let is_text = value.chars().any(|c| c != HOLE && !c.is_whitespace());
        return is_text.then_some("a password");
    }
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let looks_secret = has(SECRET_WORDS) && !has(&["public", "pub"]) && !PLAIN_ENDINGS.contains(&last);
    (looks_secret && value.split([HOLE, ' ', ',', ';']).any(looks_random)).then_some("what looks like a key")
}

/// The words of a name: `GITHUB_TOKEN`, `x-api-key`, `apiKey`, `--auth-token`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        let begins = !c.is_ascii_alphanumeric() || (c.is_ascii_uppercase() && before.is_ascii_lowercase());
        if begins {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_ascii_alphanumeric()) {
            word.push(c.to_ascii_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

fn looks_random(part: &str) -> bool {
    let is_place = part.starts_with(['/', '~', '.']) || part.contains("://") || part.contains(":\\");
    let has = |kind: fn(&char) -> bool| part.chars().any(|c| kind(&c));
    part.len() >= RANDOM_LENGTH
        && !is_place
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
