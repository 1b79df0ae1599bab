//! Serving clients: one connection after the other is accepted, each request judged and sent on.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use super::dial::{Allowed, Dialer};
use super::host::Destination;
use super::limits::{ACCEPT_PAUSE, HEADERS, HEARING, Limits, SMALLEST_BUFFER, TURNED_AWAY};
use super::listen::{Accepted, Listener};
use super::meter::{Meter, Metered};
use super::policy::{HostDecision, HostPolicy};
use super::refusal::Refusal;
use super::relay::{Errand, Returning};
use super::rules::{Denial, Reach};
use super::target;
use super::token::Token;
use super::tunnel::Tunnel;
use super::visit::{Method, OpenVisit, Verdict, Visits};

type Answer = Response<Either<Full<Bytes>, Returning>>;

/// What the connections of one proxy share.
#[derive(Debug)]
pub(super) struct Service {
    pub(super) policy: Arc<dyn HostPolicy>,
    pub(super) dialer: Dialer,
    pub(super) limits: Limits,
    pub(super) token: Option<Token>,
    pub(super) visits: Arc<Visits>,
    pub(super) room: Room,
    pub(super) end: CancellationToken,
}

/// How many of each there may be at once.
#[derive(Debug)]
pub(super) struct Room {
    connections: Arc<Semaphore>,
    tunnels: Arc<Semaphore>,
    turned_away: Arc<Semaphore>,
}

impl Room {
    pub(super) fn new(limits: &Limits) -> Self {
        let room = |size: usize| Arc::new(Semaphore::new(size.min(Semaphore::MAX_PERMITS)));
        Self {
            connections: room(limits.connections),
            tunnels: room(limits.tunnels),
            turned_away: room(TURNED_AWAY),
        }
    }
}

/// The place of a connection. A tunnel keeps it after the connection has become one.
#[derive(Clone)]
struct Place {
    kind: PlaceKind,
    permit: Arc<OwnedSemaphorePermit>,
}

#[derive(Clone, Copy)]
enum PlaceKind {
    Seat,
    /// Only to be told that all seats are taken.
    Door,
}

impl Place {
    fn take(room: &Arc<Semaphore>, kind: PlaceKind) -> Option<Self> {
        let permit = Arc::clone(room).try_acquire_owned().ok()?;
        Some(Self { kind, permit: Arc::new(permit) })
    }
}

impl Service {
    /// Accepts connections until the proxy ends.
    pub(super) async fn accept(self: Arc<Self>, listener: Listener) {
        loop {
            let accepted = tokio::select! {
                () = self.end.cancelled() => return,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok(Accepted::Unix(stream)) => self.admit(stream),
                Ok(Accepted::Loopback(stream)) => {
                    // Only a matter of speed: a stream without it works.
                    let _ = stream.set_nodelay(true);
                    self.admit(stream);
                }
                // The system is out of files or memory. Asking again at once would use up the processor, too.
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            }
        }
    }

    fn admit(self: &Arc<Self>, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let seat = Place::take(&self.room.connections, PlaceKind::Seat);
        let place = seat.or_else(|| Place::take(&self.room.turned_away, PlaceKind::Door));
        let Some(place) = place else { return };
        let service = Arc::clone(self);
        tokio::spawn(async move {
            let meter = Meter::new(None);
            let stream = Metered::new(stream, &meter);
            tokio::select! {
                // What has come is passed on, before it is asked whether nothing came.
                biased;
                () = service.end.cancelled() => {}
                () = service.serve(stream, place) => {}
                () = meter.silence(service.limits.idle.saturating_add(HEARING)) => {}
            }
        });
    }

    async fn serve(
        self: &Arc<Self>,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        place: Place,
    ) {
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(self.limits.head);
        builder.max_headers(HEADERS).max_header_size(self.limits.head_bytes);
        builder.max_buf_size(self.limits.head_bytes.max(SMALLEST_BUFFER));
        // A client may close its side after the request and still wait for the answer.
        builder.half_close(true);
        let answer = |request| {
            let (service, place) = (Arc::clone(self), place.clone());
            async move { Ok::<_, Infallible>(service.answer(request, place).await) }
        };
        let connection = builder.serve_connection(TokioIo::new(stream), service_fn(answer));
        // A client that fails has nobody to be told.
        let _ = connection.with_upgrades().await;
    }

    async fn answer(self: &Arc<Self>, request: Request<Incoming>, place: Place) -> Answer {
        let method = if request.method() == hyper::Method::CONNECT { Method::Connect } else { Method::Http };
        let visit = OpenVisit::begin(&self.visits, method, Meter::new(self.limits.bytes));
        let outcome = match (place.kind, method) {
            (PlaceKind::Door, _) => Err(Refusal::TooManyConnections { limit: self.limits.connections }),
            _ if !self.knows(&request) => Err(Refusal::Token),
            (PlaceKind::Seat, Method::Connect) => self.open_tunnel(request, &visit, place).await,
            (PlaceKind::Seat, Method::Http) => self.send_on(request, &visit).await,
        };
        outcome.unwrap_or_else(|refusal| {
            visit.answered(refusal.status().as_u16());
            refusal.answer().map(Either::Left)
        })
    }

    fn knows(&self, request: &Request<Incoming>) -> bool {
        self.token.as_ref().is_none_or(|token| token.is_in(request.headers()))
    }

    async fn open_tunnel(
        self: &Arc<Self>,
        request: Request<Incoming>,
        visit: &Arc<OpenVisit>,
        place: Place,
    ) -> Result<Answer, Refusal> {
        let to = target::of_connect(&request).map_err(Refusal::Malformed)?;
        let allowed = self.judge(&to, visit).await?;
        let limit = self.limits.tunnels;
        let room = Arc::clone(&self.room.tunnels).try_acquire_owned();
        let room = room.map_err(|_| Refusal::TooManyTunnels { to: to.clone(), limit })?;
        let host = self.reach(&to, &allowed, visit).await?;
        visit.answered(StatusCode::OK.as_u16());
        let client = hyper::upgrade::on(request);
        let tunnel = Tunnel { client, host, meter: Arc::clone(visit.meter()), idle: self.limits.idle };
        let (end, visit) = (self.end.clone(), Arc::clone(visit));
        tokio::spawn(async move {
            // A tunnel counts until it is over, though its connection is no longer one.
            let _held = (place.permit, room, visit);
            end.run_until_cancelled_owned(tunnel.run()).await;
        });
        Ok(Response::new(Either::Left(Full::default())))
    }

    async fn send_on(&self, request: Request<Incoming>, visit: &Arc<OpenVisit>) -> Result<Answer, Refusal> {
        let to = target::of_http(&request).map_err(Refusal::Malformed)?;
        let allowed = self.judge(&to, visit).await?;
        let stream = self.reach(&to, &allowed, visit).await?;
        let errand = Errand { to, stream, meter: Arc::clone(visit.meter()), limits: &self.limits };
        let (response, line) = errand.run(request).await?;
        visit.answered(response.status().as_u16());
        Ok(response.map(|body| Either::Right(Returning::new(body, line, Arc::clone(visit)))))
    }

    /// What the policy says to a destination. Whoever has to be asked is asked before anything is looked up.
    async fn judge(&self, to: &Destination, visit: &OpenVisit) -> Result<Allowed, Refusal> {
        visit.to(to);
        let rules = self.policy.rules();
        let judged = match rules.judge(to) {
            Err(Denial::NoRule) if to.may_be_public() => self.ask(to).await,
            judged => judged,
        };
        let reach = judged.map_err(|denial| {
            visit.judged(Verdict::Denied(denial.clone()));
            Refusal::Denied { to: to.clone(), denial }
        })?;
        visit.judged(Verdict::Allowed);
        Ok(Allowed { rules, reach })
    }

    async fn ask(&self, to: &Destination) -> Result<Reach, Denial> {
        match self.policy.decide(to).await {
            HostDecision::Allowed => Ok(Reach::Public),
            HostDecision::Refused => Err(Denial::Refused),
            HostDecision::Unanswered => Err(Denial::Unanswered),
            HostDecision::NotAsked => Err(Denial::NoRule),
        }
    }

    async fn reach(
        &self,
        to: &Destination,
        allowed: &Allowed,
        visit: &OpenVisit,
    ) -> Result<TcpStream, Refusal> {
        let reached = self.dialer.reach(to, allowed).await;
        if let Err(Refusal::Denied { denial, .. }) = &reached {
            visit.judged(Verdict::Denied(denial.clone()));
        }
        reached
    }
}
