//! Sending a plain HTTP request on, and its answer back.
//!
//! Each request has a connection of its own, so that nothing of one is left for the next.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::client::conn::http1;
use hyper::header::{
    CONNECTION, CONTENT_LENGTH, HOST, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING,
};
use hyper::{Request, Response, StatusCode, Uri, Version};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio_util::task::AbortOnDropHandle;

use super::host::Destination;
use super::limits::{HEADERS, Limits, SMALLEST_BUFFER};
use super::meter::{Meter, Metered};
use super::refusal::{Malformed, Refusal};
use super::target::host_header;
use super::visit::OpenVisit;

/// Headers that are between two neighbours. `Expect` is among them because we answer it ourselves.
const BETWEEN_NEIGHBOURS: &[&str] = &[
    "connection",
    "expect",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// A connection to a host, and what is known of the request it is for.
pub(super) struct Errand<'a> {
    pub(super) to: Destination,
    pub(super) stream: TcpStream,
    pub(super) meter: Arc<Meter>,
    pub(super) limits: &'a Limits,
}

impl Errand<'_> {
    /// Sends the request and waits for the head of the answer.
    pub(super) async fn run(self, request: Request<Incoming>) -> Result<(Response<Incoming>, Line), Refusal> {
        let request = prepared(request, &self.to)?;
        let to = self.to;
        let (idle, meter) = (self.limits.idle, Arc::clone(&self.meter));
        let failed = |_| {
            let to = to.clone();
            if self.meter.is_silent(idle) { Refusal::Silent { to } } else { Refusal::Broken { to } }
        };
        let io = TokioIo::new(Metered::new(self.stream, &self.meter));
        let mut builder = http1::Builder::new();
        builder.max_headers(HEADERS).max_header_size(self.limits.head_bytes);
        builder.max_buf_size(self.limits.head_bytes.max(SMALLEST_BUFFER));
        let (mut sender, connection) = builder.handshake(io).await.map_err(failed)?;
        let line = tokio::spawn(async move {
            tokio::select! {
                // What has come is passed on, before it is asked whether nothing came.
                biased;
                // An error reaches whoever waits for the answer or reads its body.
                _ = connection => {}
                () = meter.silence(idle) => {}
            }
        });
        let line = Line::new(line);
        let response = sender.send_request(request).await.map_err(failed)?;
        match response.status() {
            // Nobody asked for another protocol.
            StatusCode::SWITCHING_PROTOCOLS => Err(Refusal::Broken { to }),
            _ => Ok((returned(response), line)),
        }
    }
}

/// The connection to a host. Dropping it hangs up.
pub(super) type Line = AbortOnDropHandle<()>;

fn prepared(request: Request<Incoming>, to: &Destination) -> Result<Request<Incoming>, Refusal> {
    let (mut head, body) = request.into_parts();
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    head.uri = path.parse::<Uri>().map_err(|_| Refusal::Malformed(Malformed::NotForProxies))?;
    head.version = Version::HTTP_11;
    remove_between_neighbours(&mut head.headers);
    let host = HeaderValue::from_str(&host_header(to));
    let host = host.map_err(|_| Refusal::Malformed(Malformed::HostMismatch))?;
    head.headers.insert(HOST, host);
    head.headers.insert(CONNECTION, HeaderValue::from_static("close"));
    Ok(Request::from_parts(head, body))
}

fn returned(mut response: Response<Incoming>) -> Response<Incoming> {
    let headers = response.headers_mut();
    if headers.contains_key(TRANSFER_ENCODING) {
        // The length of a body that says it twice is what its chunks say.
        headers.remove(CONTENT_LENGTH);
    }
    remove_between_neighbours(headers);
    response
}

fn remove_between_neighbours(headers: &mut HeaderMap) {
    let named = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let names = named.flat_map(|value| value.split(','));
    let named: Vec<HeaderName> = names.filter_map(|name| name.trim().parse().ok()).collect();
    // How long a body is stays true, whatever a Connection header says.
    for name in named.iter().filter(|name| **name != CONTENT_LENGTH) {
        headers.remove(name);
    }
    for name in BETWEEN_NEIGHBOURS {
        headers.remove(*name);
    }
}

/// The body of an answer on its way to the client. The visit ends, and the line with it, when it is dropped.
#[derive(Debug)]
pub(super) struct Returning {
    body: Incoming,
    _line: Line,
    _visit: Arc<OpenVisit>,
}

impl Returning {
    pub(super) fn new(body: Incoming, line: Line, visit: Arc<OpenVisit>) -> Self {
        Self { body, _line: line, _visit: visit }
    }
}

impl Body for Returning {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        Pin::new(&mut self.get_mut().body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
