//! Reading from a request where it wants to go.

use hyper::header::{CONTENT_LENGTH, HOST, HeaderMap, TRANSFER_ENCODING};
use hyper::http::uri::{Authority, Scheme};
use hyper::{Request, Version};

use super::host::Destination;
use super::refusal::Malformed;

const HTTP_PORT: u16 = 80;

/// The destination of a request for a tunnel.
pub(super) fn of_connect<B>(request: &Request<B>) -> Result<Destination, Malformed> {
    let uri = request.uri();
    if uri.scheme().is_some() || uri.path_and_query().is_some() {
        return Err(Malformed::NotForProxies);
    }
    let headers = request.headers();
    if headers.contains_key(CONTENT_LENGTH) || headers.contains_key(TRANSFER_ENCODING) {
        return Err(Malformed::ConnectBody);
    }
    let authority = named(uri.authority())?;
    Ok(Destination::with_port(authority)?)
}

/// The destination of a request to be sent on. Its URL and its Host header must agree: otherwise the rules would
/// judge one host and the server serve another.
pub(super) fn of_http<B>(request: &Request<B>) -> Result<Destination, Malformed> {
    let uri = request.uri();
    match uri.scheme() {
        None => return Err(Malformed::NotForProxies),
        Some(scheme) if *scheme != Scheme::HTTP => return Err(Malformed::Scheme),
        Some(_) => {}
    }
    let to = Destination::with_default_port(named(uri.authority())?, HTTP_PORT)?;
    check_host(request.headers(), request.version(), &to)?;
    check_encoding(request.headers())?;
    Ok(to)
}

/// What to send as the Host header.
pub(super) fn host_header(to: &Destination) -> String {
    if to.port == HTTP_PORT { to.host.to_string() } else { to.to_string() }
}

fn named(authority: Option<&Authority>) -> Result<&str, Malformed> {
    let authority = authority.ok_or(Malformed::NotForProxies)?.as_str();
    if authority.contains('@') { Err(Malformed::Credentials) } else { Ok(authority) }
}

fn check_host(headers: &HeaderMap, version: Version, to: &Destination) -> Result<(), Malformed> {
    let mut hosts = headers.get_all(HOST).iter();
    let host = match (hosts.next(), hosts.next()) {
        (Some(host), None) => host.to_str().map_err(|_| Malformed::HostMismatch)?,
        (None, _) if version == Version::HTTP_10 => return Ok(()),
        _ => return Err(Malformed::NoHost),
    };
    let same = Destination::with_default_port(host, HTTP_PORT).is_ok_and(|host| host == *to);
    if same { Ok(()) } else { Err(Malformed::HostMismatch) }
}

/// `gzip, chunked` and the like would lose their meaning, because the header goes no further than here.
fn check_encoding(headers: &HeaderMap) -> Result<(), Malformed> {
    let mut encodings = headers.get_all(TRANSFER_ENCODING).iter();
    let understood = |value: &hyper::header::HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"chunked");
    match (encodings.next(), encodings.next()) {
        (None, _) => Ok(()),
        (Some(value), None) if understood(value) => Ok(()),
        _ => Err(Malformed::TransferEncoding),
    }
}
