//! Which hosts may be asked: no private address unless the operator allows it, and no second look-up after the check.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::Url;

/// Which networks nodes may be in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The public internet only.
    Public,
    /// Also this machine and its networks: the operator said so.
    Private,
}

/// A host that was looked at, with the addresses it had then.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) url: Url,
    pub(super) host: String,
    pub(super) addresses: Vec<SocketAddr>,
}

/// Why a host is not asked. It never repeats more of the URL than the host.
#[derive(Debug, thiserror::Error)]
pub(super) enum GuardError {
    #[error("the address of its node is not a URL that begins with http:// or https://")]
    NoUrl,
    #[error("the host {0} is not known: {1}")]
    Unknown(String, std::io::Error),
    #[error(
        "the host {0} is in a private network; an operator can allow that with `allow_private_rpc` in the configuration"
    )]
    Private(String),
}

/// Looks a host up once and judges every address it has.
pub(super) async fn resolve(address: &str, reach: Reach) -> Result<Place, GuardError> {
    let url = Url::parse(address).map_err(|_| GuardError::NoUrl)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(GuardError::NoUrl);
    }
    let host = url.host_str().ok_or(GuardError::NoUrl)?.to_owned();
    let port = url.port_or_known_default().ok_or(GuardError::NoUrl)?;
    let bare = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let found = tokio::net::lookup_host((bare.as_str(), port)).await;
    let addresses: Vec<SocketAddr> =
        found.map_err(|error| GuardError::Unknown(host.clone(), error))?.collect();
    let private = addresses.is_empty() || addresses.iter().any(|address| !is_public(address.ip()));
    if reach == Reach::Public && private {
        return Err(GuardError::Private(host));
    }
    Ok(Place { url, host, addresses })
}

/// Whether an address is out in the world. What is not known to be is not.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(mapped) => is_public_v4(mapped),
            None => is_public_v6(address),
        },
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    let shared = first == 100 && (64..128).contains(&second);
    let protocol = first == 192 && second == 0 && third == 0;
    let benchmark = first == 198 && (second == 18 || second == 19);
    let reserved = first == 0 || first >= 240;
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_documentation()
        || address.is_multicast()
        || shared
        || protocol
        || benchmark
        || reserved)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    // 2000::/3 is all that is given out; within it, tunnels into IPv4 and documentation are not the world.
    let given_out = first & 0xe000 == 0x2000;
    let tunnel = first == 0x2002 || (first == 0x2001 && second < 0x0200);
    let documentation = (first == 0x2001 && second == 0x0db8) || first == 0x3fff;
    given_out && !tunnel && !documentation
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_addresses_are_told_from_public_ones() {
        for private in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "::1",
            "::",
            "fe80::1",
            "fd00::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "2002:7f00:1::",
            "64:ff9b::7f00:1",
            "224.0.0.1",
            "255.255.255.255",
            "198.18.0.1",
        ] {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
        for public in ["1.1.1.1", "8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450::1"] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
    }

    #[tokio::test]
    async fn ways_to_write_this_machine_are_all_seen_through() {
        for url in [
            "http://127.0.0.1:8545",
            "http://localhost:8545/key",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://[::1]:8545",
            "http://[::ffff:127.0.0.1]/",
            "http://0/",
        ] {
            let told = resolve(url, Reach::Public).await.map(|_| ()).unwrap_err();
            assert!(matches!(told, GuardError::Private(_)), "{url}: {told}");
            assert!(!told.to_string().contains("key"));
        }
        for url in ["file:///etc/passwd", "ws://1.1.1.1", "nothing", "http://"] {
            assert!(matches!(resolve(url, Reach::Private).await, Err(GuardError::NoUrl)), "{url}");
        }
    }
}
