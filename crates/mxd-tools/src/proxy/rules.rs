//! Which hosts an agent may talk to.
//!
//! What no rule allows is denied, and a denial wins over every permission. A rule names
//!
//! * a host: `example.com`, `192.0.2.7`, `2001:db8::7`;
//! * or everything below a name: `*.example.com` is `a.example.com` and `a.b.example.com`, but not `example.com`;
//! * and a port, `example.com:8443`. Without one, a permission is for ports 80 and 443, a denial for all.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use super::address::is_public;
use super::host::{Destination, Host, HostError, split_port};

/// Rules of one set.
const RULES: usize = 1024;

/// The ports of a permission that names none: HTTP and HTTPS.
const USUAL_PORTS: [u16; 2] = [80, 443];

/// Which hosts are allowed. Empty, it allows none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostRules {
    allow: Vec<Permission>,
    deny: Vec<Pattern>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Permission {
    pattern: Pattern,
    reach: Reach,
}

/// Which addresses an allowed host may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reach {
    /// Those of the public internet.
    Public,
    /// All, also those of this machine and of its own network.
    Private,
}

/// Why a rule cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// The host or the port is wrong.
    #[error("the host rule `{rule}` is wrong: {source}")]
    Host {
        /// The rule as it was written, cut to what a line can hold.
        rule: String,
        /// What is wrong with it.
        source: HostError,
    },
    /// A star that is not a whole label at the front.
    #[error("the host rule `{rule}` is wrong: a `*` stands only at the front, before a name: *.example.com")]
    Star {
        /// The rule as it was written, cut to what a line can hold.
        rule: String,
    },
    /// A URL.
    #[error(
        "the host rule `{rule}` is a URL; name the host alone, as in `example.com` or `example.com:8443`"
    )]
    Url {
        /// The rule as it was written, cut to what a line can hold.
        rule: String,
    },
    /// More rules than one set holds.
    #[error("more than {RULES} host rules; use `*.example.com` for everything below a name")]
    TooMany,
}

/// Why a request may not go where it wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Denial {
    /// No rule allows the host at this port.
    NoRule,
    /// This rule denies it.
    Rule(Pattern),
    /// It has an address that is not of the public internet, and no rule allows that for this host.
    Private(IpAddr),
    /// No rule speaks of it, and the user refused it.
    Refused,
    /// No rule speaks of it, and the user was asked and did not answer in time.
    Unanswered,
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRule => f.write_str("no rule allows it"),
            Self::Rule(pattern) => write!(f, "the rule `{pattern}` denies it"),
            Self::Private(address) => write!(f, "its address {address} is private"),
            Self::Refused => f.write_str("the user refused it"),
            Self::Unanswered => f.write_str("the user was asked and has not answered"),
        }
    }
}

impl HostRules {
    /// Whether no host can be reached.
    pub fn allows_nobody(&self) -> bool {
        self.allow.is_empty()
    }

    /// Allows what the rule names, at addresses of the public internet.
    pub fn allow(self, rule: &str) -> Result<Self, RuleError> {
        self.permit(rule, Reach::Public)
    }

    /// Allows what the rule names, also at addresses of this machine or of its network.
    pub fn allow_private(self, rule: &str) -> Result<Self, RuleError> {
        self.permit(rule, Reach::Private)
    }

    /// Denies what the rule names, whatever else allows it. An address is denied to names that resolve to it, too.
    pub fn deny(mut self, rule: &str) -> Result<Self, RuleError> {
        self.check_room()?;
        self.deny.push(rule.parse()?);
        Ok(self)
    }

    fn permit(mut self, rule: &str, reach: Reach) -> Result<Self, RuleError> {
        self.check_room()?;
        self.allow.push(Permission { pattern: rule.parse()?, reach });
        Ok(self)
    }

    fn check_room(&self) -> Result<(), RuleError> {
        if self.allow.len() + self.deny.len() < RULES { Ok(()) } else { Err(RuleError::TooMany) }
    }

    /// What the rules say to a destination, before it is resolved.
    pub(super) fn judge(&self, to: &Destination) -> Result<Reach, Denial> {
        self.check_denials(to)?;
        let permits = |permission: &&Permission| match permission.pattern.port {
            Some(port) => port == to.port,
            None => USUAL_PORTS.contains(&to.port),
        };
        let named = self.allow.iter().filter(|permission| permission.pattern.names(&to.host));
        named.filter(permits).map(|permission| permission.reach).max().ok_or(Denial::NoRule)
    }

    /// What the rules say to an address that an allowed destination turned out to have.
    pub(super) fn judge_address(&self, reach: Reach, address: IpAddr, port: u16) -> Result<(), Denial> {
        let address = address.to_canonical();
        self.check_denials(&Destination { host: Host::Address(address), port })?;
        if reach == Reach::Private || is_public(address) { Ok(()) } else { Err(Denial::Private(address)) }
    }

    fn check_denials(&self, to: &Destination) -> Result<(), Denial> {
        let denies =
            |pattern: &&Pattern| pattern.names(&to.host) && pattern.port.is_none_or(|port| port == to.port);
        match self.deny.iter().find(denies) {
            Some(pattern) => Err(Denial::Rule(pattern.clone())),
            None => Ok(()),
        }
    }
}

/// What a rule names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    hosts: Hosts,
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Hosts {
    One(Host),
    /// Every name that ends in a dot and this.
    Below(String),
}

impl Pattern {
    fn names(&self, host: &Host) -> bool {
        match (&self.hosts, host) {
            (Hosts::One(named), host) => named == host,
            (Hosts::Below(parent), Host::Name(name)) => {
                name.strip_suffix(parent.as_str()).is_some_and(|front| front.ends_with('.'))
            }
            (Hosts::Below(_), Host::Address(_)) => false,
        }
    }
}

impl FromStr for Pattern {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let text = text.trim();
        let rule = || text.chars().take(64).collect::<String>();
        let wrong = |source| RuleError::Host { rule: rule(), source };
        if text.contains("://") {
            return Err(RuleError::Url { rule: rule() });
        }
        let (host, port) = split_port(text).map_err(wrong)?;
        let hosts = match host.strip_prefix("*.") {
            None if host.contains('*') => return Err(RuleError::Star { rule: rule() }),
            None => Hosts::One(host.parse().map_err(wrong)?),
            Some(parent) => match parent.parse() {
                Ok(Host::Name(parent)) => Hosts::Below(parent),
                Err(source) if !parent.contains('*') => return Err(wrong(source)),
                Ok(Host::Address(_)) | Err(_) => return Err(RuleError::Star { rule: rule() }),
            },
        };
        Ok(Self { hosts, port })
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.hosts {
            Hosts::One(host) => host.fmt(f)?,
            Hosts::Below(parent) => write!(f, "*.{parent}")?,
        }
        match self.port {
            Some(port) => write!(f, ":{port}"),
            None => Ok(()),
        }
    }
}
