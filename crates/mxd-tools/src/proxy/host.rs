//! A host and a port, as a request or a rule names them.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use super::address::is_public;

/// Characters of a whole name, and of one of its labels (RFC 1035).
const NAME_CHARS: usize = 253;
const LABEL_CHARS: usize = 63;

/// A host in its one spelling: lower case, without the dot at the end, addresses as addresses.
///
/// Names are ASCII. An international name is written as it travels, `xn--…`: two names that look alike must
/// not be taken for each other.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Host {
    /// A name to be resolved.
    Name(String),
    /// An address. An IPv4 address written as an IPv6 one is the IPv4 address.
    Address(IpAddr),
}

/// Why a text names no host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// Nothing, or nothing between two dots.
    #[error("a host or one of its labels is empty")]
    Empty,
    /// Longer than names can be.
    #[error("a host has at most 253 characters, and at most 63 between two dots")]
    TooLong,
    /// Something that is no letter, digit, hyphen or underscore.
    #[error(
        "a host consists of ASCII letters, digits, `-`, `_` and dots; write international names as xn--…"
    )]
    Character,
    /// It ends in a number and is no IPv4 address.
    #[error("a host that ends in a number must be an IPv4 address of four decimal numbers")]
    Number,
    /// Brackets or colons, but no IPv6 address.
    #[error(
        "an address with colons must be an IPv6 address, in brackets when a port follows: [2001:db8::1]:443"
    )]
    Ipv6,
    /// No number from 1 to 65535.
    #[error("a port is a number from 1 to 65535")]
    Port,
}

impl FromStr for Host {
    type Err = HostError;

    fn from_str(text: &str) -> Result<Self, HostError> {
        if let Some(rest) = text.strip_prefix('[') {
            let inside = rest.strip_suffix(']').ok_or(HostError::Ipv6)?;
            return ipv6(inside);
        }
        if text.contains(':') { ipv6(text) } else { name_or_ipv4(text) }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(address)) => address.fmt(f),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

fn ipv6(text: &str) -> Result<Host, HostError> {
    let address: Ipv6Addr = text.parse().map_err(|_| HostError::Ipv6)?;
    Ok(Host::Address(IpAddr::V6(address).to_canonical()))
}

fn name_or_ipv4(text: &str) -> Result<Host, HostError> {
    let name = text.strip_suffix('.').unwrap_or(text);
    if let Ok(address) = name.parse::<Ipv4Addr>() {
        return Ok(Host::Address(IpAddr::V4(address)));
    }
    if name.len() > NAME_CHARS {
        return Err(HostError::TooLong);
    }
    let mut labels = name.split('.');
    labels.clone().try_for_each(label)?;
    // Resolvers read `127.1` and `0x7f.1` as addresses. A name that is one in disguise would slip past the
    // rules for addresses.
    if labels.next_back().is_some_and(is_number) {
        return Err(HostError::Number);
    }
    Ok(Host::Name(name.to_ascii_lowercase()))
}

fn label(label: &str) -> Result<(), HostError> {
    match label.len() {
        0 => return Err(HostError::Empty),
        length if length > LABEL_CHARS => return Err(HostError::TooLong),
        _ => {}
    }
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if label.bytes().all(fits) { Ok(()) } else { Err(HostError::Character) }
}

fn is_number(label: &str) -> bool {
    let hexadecimal = label.strip_prefix("0x").or_else(|| label.strip_prefix("0X"));
    match hexadecimal {
        Some(digits) => digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
        None => label.bytes().all(|byte| byte.is_ascii_digit()),
    }
}

/// Where a request wants to go.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Destination {
    /// The host.
    pub host: Host,
    /// The port.
    pub port: u16,
}

impl Destination {
    /// Reads `host:port`; without a port it is the given one.
    pub(super) fn with_default_port(text: &str, port: u16) -> Result<Self, HostError> {
        let (host, given) = split_port(text)?;
        Ok(Self { host: host.parse()?, port: given.unwrap_or(port) })
    }

    /// Reads `host:port`.
    pub(super) fn with_port(text: &str) -> Result<Self, HostError> {
        let (host, port) = split_port(text)?;
        Ok(Self { host: host.parse()?, port: port.ok_or(HostError::Port)? })
    }

    /// Whether it could turn out to have an address of the public internet. What is written as another address cannot.
    pub(super) fn may_be_public(&self) -> bool {
        match &self.host {
            Host::Name(_) => true,
            Host::Address(address) => is_public(*address),
        }
    }

    /// How a rule names it: the two usual ports go without saying.
    pub fn as_rule(&self) -> String {
        if matches!(self.port, 80 | 443) { self.host.to_string() } else { self.to_string() }
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// Cuts the port off. More than one colon outside of brackets is an IPv6 address without a port.
pub(super) fn split_port(text: &str) -> Result<(&str, Option<u16>), HostError> {
    let begin = text.find(']').map_or(0, |bracket| bracket + 1);
    let colons = text[begin..].matches(':').count();
    if colons == 0 || (begin == 0 && colons > 1) {
        return Ok((text, None));
    }
    let (host, port) = text.rsplit_once(':').ok_or(HostError::Port)?;
    Ok((host, Some(number(port)?)))
}

fn number(port: &str) -> Result<u16, HostError> {
    // `parse` alone would take a plus sign, too.
    let digits = port.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.then(|| port.parse().ok()).flatten();
    number.filter(|port| *port != 0).ok_or(HostError::Port)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Result<String, HostError> {
        text.parse::<Host>().map(|host| host.to_string())
    }

    #[test]
    fn one_host_has_one_spelling() {
        for (text, host) in [
            ("Example.COM", "example.com"),
            ("example.com.", "example.com"),
            ("xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("_srv.a-b.c", "_srv.a-b.c"),
            ("192.0.2.1", "192.0.2.1"),
            ("[2001:DB8:0::1]", "[2001:db8::1]"),
            ("2001:db8::1", "[2001:db8::1]"),
            ("::ffff:192.0.2.1", "192.0.2.1"),
        ] {
            assert_eq!(shown(text).as_deref(), Ok(host), "{text}");
        }
    }

    #[test]
    fn what_is_no_host_is_refused_with_the_reason() {
        use HostError::{Character, Empty, Ipv6, Number, TooLong};
        let label = "a".repeat(64);
        let name = ["a".repeat(63).as_str(); 4].join(".");
        for (text, error) in [
            ("", Empty),
            (".", Empty),
            ("a..b", Empty),
            (".a", Empty),
            ("a..", Empty),
            (&label, TooLong),
            (&name, TooLong),
            ("bücher.example", Character),
            ("a b", Character),
            ("user@host", Character),
            ("a/b", Character),
            ("a\r\nb", Character),
            ("*.example.com", Character),
            ("127.1", Number),
            ("2130706433", Number),
            ("0x7f000001", Number),
            ("0x7f.1", Number),
            ("a.0x7f", Number),
            ("010.0.0.1", Number),
            ("256.1.1.1", Number),
            ("[::1", Ipv6),
            ("[example.com]", Ipv6),
            ("[192.0.2.1]", Ipv6),
            ("fe80::1%eth0", Ipv6),
            ("[]", Ipv6),
        ] {
            assert_eq!(shown(text), Err(error), "{text}");
        }
    }

    #[test]
    fn ports_are_cut_off_and_numbers() {
        let read = |text: &str| Destination::with_port(text).map(|to| to.to_string());
        assert_eq!(read("a.b:443").as_deref(), Ok("a.b:443"));
        assert_eq!(read("[::1]:80").as_deref(), Ok("[::1]:80"));
        for bad in ["a.b", "a.b:", "a.b:0", "a.b:65536", "a.b:+80", "a.b:8x", "[::1]", "::1", "[::1]:"] {
            assert_eq!(read(bad), Err(HostError::Port), "{bad}");
        }
        assert_eq!(Destination::with_default_port("a.b", 80).map(|to| to.port), Ok(80));
    }
}
