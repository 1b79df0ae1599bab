//! Connections: taken one by one, each within limits, none able to keep the others waiting.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use crate::limits;
use crate::patience::Patience;

/// How long to wait when the system has no room for another connection.
const PAUSE: Duration = Duration::from_millis(50);

/// Serves everybody who connects, until it is told to end; then until everybody is served.
pub(crate) async fn listen(listener: TcpListener, router: Router, end: CancellationToken) {
    let room = Arc::new(Semaphore::new(limits::CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let seat = tokio::select! {
            biased;
            () = end.cancelled() => break,
            seat = Arc::clone(&room).acquire_owned() => seat,
        };
        let Ok(seat) = seat else { break };
        let accepted = tokio::select! {
            biased;
            () = end.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                while connections.try_join_next().is_some() {}
                let (router, end) = (router.clone(), end.clone());
                connections.spawn(async move {
                    connected(stream, router, end).await;
                    drop(seat);
                });
            }
            // Somebody who hung up while waiting is no reason to turn the others away.
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) => {
                tracing::warn!(%error, "a connection could not be taken");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
    let served = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(limits::SHUTDOWN_PATIENCE, served).await.is_err() {
        tracing::warn!("some requests were not waited for");
        connections.shutdown().await;
    }
}

async fn connected(stream: TcpStream, router: Router, end: CancellationToken) {
    prepare(&stream);
    let answer = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        router.clone().oneshot(request.map(Body::new))
    });
    let mut builder = http1::Builder::new();
    builder.timer(Patience::default()).header_read_timeout(limits::HEAD_PATIENCE);
    builder.max_buf_size(limits::HEAD_BYTES);
    let connection = builder.serve_connection(TokioIo::new(stream), answer);
    tokio::pin!(connection);
    tokio::select! {
        biased;
        _broken = &mut connection => return,
        () = end.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    let _broken = connection.await;
}

/// Small frames go out at once, and a client that is gone without a word is noticed.
fn prepare(stream: &TcpStream) {
    let patience = u32::try_from(limits::WRITE_PATIENCE.as_millis()).unwrap_or(u32::MAX);
    let _slower = stream.set_nodelay(true);
    let _later = rustix::net::sockopt::set_tcp_user_timeout(stream, patience);
    let _later = rustix::net::sockopt::set_socket_keepalive(stream, true);
}

/// Lets this process have as many open files as it is allowed: every client is one.
pub fn raise_file_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::warn!(%error, "the number of open files stays as it is");
    }
}
