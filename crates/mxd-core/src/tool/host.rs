//! Patterns over the host of a URL: `example.com`, `*.example.com` for everything below it, `*` for any.
//!
//! Programs disagree about strange URLs (a password before the host, a backslash, a number instead of an
//! address), and that is how a filter is fooled. So a URL whose host cannot be read without doubt matches
//! no pattern that opens something and every pattern that closes something.

use thiserror::Error;

use super::glob::Reading;
use super::limits;
use super::spelling::checked_text;
use super::text::Quoted;

checked_text! {
    /// A pattern over hosts.
    HostPattern, HostPatternError, check
}

/// Why a text is no pattern over hosts.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{given}` is no host, no `*.` before a host and not `*`")]
pub struct HostPatternError {
    /// What was given.
    pub given: Quoted,
}

impl HostPatternError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        "Write a host in lower case without scheme, port and path, such as example.com or *.example.com."
    }
}

const ANY: &str = "*";
const BELOW: &str = "*.";

fn check(pattern: &str) -> Result<(), HostPatternError> {
    let host = pattern.strip_prefix(BELOW).unwrap_or(pattern);
    if pattern == ANY || pattern.len() <= limits::PATTERN_BYTES && plain_host(host).as_deref() == Some(host) {
        return Ok(());
    }
    Err(HostPatternError { given: Quoted::of(pattern) })
}

impl HostPattern {
    /// Whether the host of a URL is meant.
    pub fn matches(&self, url: &str, reading: Reading) -> bool {
        match (host(url), reading) {
            (Some(host), _) => self.covers(&host),
            (None, Reading::Narrow) => false,
            (None, Reading::Wide) => true,
        }
    }

    fn covers(&self, host: &str) -> bool {
        match self.0.strip_prefix(BELOW) {
            Some(above) => host.strip_suffix(above).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.')),
            None => self.0 == ANY || self.0 == host,
        }
    }
}

/// The host of a URL, when there is only one way to read it. Every character up to the end of the host is one
/// that has to be there, so nothing can hide in it; what follows does not change the host.
pub(crate) fn host(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    if !["http", "https", "ws", "wss"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        return None;
    }
    let authority = rest.split(['/', '?', '#']).next()?;
    // A bracket holds colons that begin no port.
    let (host, port) = match authority.split_once(']') {
        Some((address, "")) => (format!("{address}]"), None),
        Some((address, port)) => (format!("{address}]"), Some(port.strip_prefix(':')?)),
        None => match authority.split_once(':') {
            Some((host, port)) => (host.to_owned(), Some(port)),
            None => (authority.to_owned(), None),
        },
    };
    if port.is_some_and(|port| !port.bytes().all(|byte| byte.is_ascii_digit())) {
        return None;
    }
    plain_host(&host)
}

/// A name or address in lower case without a dot at its end, when it is one that everybody reads the same way.
fn plain_host(host: &str) -> Option<String> {
    let host = host.to_ascii_lowercase();
    if let Some(address) = host.strip_prefix('[') {
        let address = address.strip_suffix(']')?;
        let is_plain = !address.is_empty() && address.bytes().all(|b| b.is_ascii_hexdigit() || b == b':');
        return is_plain.then_some(host);
    }
    let host = host.strip_suffix('.').unwrap_or(&host);
    let is_label = |label: &str| {
        !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let last = host.rsplit('.').next()?;
    // A host that ends in a number is an address, and there are many ways to write one.
    let is_plain = !last.starts_with(|c: char| c.is_ascii_digit()) || is_address(host);
    (host.split('.').all(is_label) && is_plain).then(|| host.to_owned())
}

fn is_address(host: &str) -> bool {
    let is_byte = |part: &str| part.parse::<u8>().is_ok_and(|byte| byte.to_string() == part);
    host.split('.').count() == 4 && host.split('.').all(is_byte)
}
