//! Streams of events: the answer to a question, what the server says by itself, and the older transport.

use std::sync::{Arc, Weak};
use std::time::Duration;

use mxd_core::tool::Quoted;
use reqwest::header::ACCEPT;
use reqwest::{Method, Response};
use tokio_util::sync::CancellationToken;

use super::super::error::Cause;
use super::super::wire::Incoming;
use super::caller::{Caller, Content, kind};
use super::sse::{Event, Events};

/// How often in a row a stream is resumed that brings nothing new.
const RESUMES: u32 = 5;
/// How long is waited before a stream is resumed when the server does not say.
const PAUSE: Duration = Duration::from_millis(500);
/// How long a server can make us wait.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Reads the stream that answers a question, and resumes it when it breaks off.
pub(super) async fn follow(
    caller: Arc<Caller>,
    response: Response,
    id: Option<i64>,
    call: CancellationToken,
) {
    let mut events = Events::new(caller.traffic.limits.message_bytes);
    let is_answered = || id.is_none_or(|id| !caller.traffic.is_waiting(id));
    let following = async {
        let mut response = response;
        let mut left = RESUMES;
        loop {
            let before = events.last_id.clone();
            let read = read(&caller, response, &mut events).await;
            if let Err(cause @ (Cause::MessageTooLong { .. } | Cause::BadStream(_))) = read {
                return Err(cause);
            }
            if is_answered() {
                return Ok(());
            }
            left = if events.last_id == before { left.saturating_sub(1) } else { RESUMES };
            if events.last_id.is_none() || left == 0 {
                return Err(Cause::BadStream("it ended before the answer".to_owned()));
            }
            response = resumed(&caller, &events).await?;
        }
    };
    let followed = tokio::select! {
        () = call.cancelled() => Ok(()),
        followed = following => followed,
    };
    if let (Err(cause), Some(id)) = (followed, id) {
        let _nobody_reads = caller.inbox.send(Incoming::Failed(id, cause)).await;
    }
    id.into_iter().for_each(|id| caller.leave(id));
}

/// Asks for the rest of a stream, after a pause.
async fn resumed(caller: &Caller, events: &Events) -> Result<Response, Cause> {
    let pause = events.retry.map_or(PAUSE, Duration::from_millis).min(LONGEST_PAUSE);
    tokio::time::sleep(pause).await;
    let mut request = caller.request(Method::GET, caller.url.clone()).header(ACCEPT, "text/event-stream");
    if let Some(last) = &events.last_id {
        request = request.header("last-event-id", last);
    }
    let response = request.send().await.map_err(|error| caller.unreachable(&error))?;
    let response = caller.judged(response, None).await?.ok_or(Cause::Gone)?;
    match kind(&response) {
        Content::Events => Ok(response),
        Content::Json | Content::Other(_) => Err(Cause::BadStream("it cannot be resumed".to_owned())),
    }
}

/// Reads a stream to its end.
async fn read(caller: &Caller, mut response: Response, events: &mut Events) -> Result<(), Cause> {
    while let Some(chunk) = response.chunk().await.map_err(|error| caller.unreachable(&error))? {
        for event in events.push(&chunk)? {
            pass(caller, event).await;
        }
    }
    Ok(())
}

async fn pass(caller: &Caller, Event { name, data }: Event) {
    let is_message = name.is_empty() || name == "message";
    if is_message && !data.trim().is_empty() {
        let _nobody_reads = caller.inbox.send(Incoming::Message(data.into_bytes())).await;
    }
}

/// Hears what a server of the older kind says by itself, as long as it wants to.
pub(super) async fn listen(caller: Weak<Caller>, end: CancellationToken) {
    let Some(limit) = caller.upgrade().map(|caller| caller.traffic.limits.message_bytes) else { return };
    let mut events = Events::new(limit);
    // The first one is not waited for.
    events.retry = Some(0);
    let mut silent = 0;
    loop {
        let Some(caller) = caller.upgrade() else { return };
        let before = events.last_id.clone();
        let heard = async {
            let response = resumed(&caller, &events).await?;
            events.retry = None;
            read(&caller, response, &mut events).await
        };
        let heard = tokio::select! {
            () = end.cancelled() => return,
            heard = heard => heard,
        };
        // Most servers have nothing to say by themselves.
        if let Err(Cause::Status { .. } | Cause::BadStream(_) | Cause::MessageTooLong { .. }) = heard {
            return;
        }
        silent = if events.last_id == before { silent + 1 } else { 0 };
        let pause = PAUSE.saturating_mul(1 << silent.min(7_u32));
        tokio::select! {
            () = end.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
        }
        // Something may have changed while nobody listened.
        caller.traffic.tools_changed.notify_one();
    }
}

/// Opens the stream of the older transport, and waits until it says where messages go to.
pub(super) async fn open(caller: &Arc<Caller>) -> Result<(), Cause> {
    let request = caller.request(Method::GET, caller.url.clone()).header(ACCEPT, "text/event-stream");
    let response = request.send().await.map_err(|error| caller.unreachable(&error))?;
    let mut response = caller.judged(response, None).await?.ok_or(Cause::Gone)?;
    if !matches!(kind(&response), Content::Events) {
        return Err(Cause::BadStream("it answers without events".to_owned()));
    }
    let mut events = Events::new(caller.traffic.limits.message_bytes);
    loop {
        let chunk = response.chunk().await.map_err(|error| caller.unreachable(&error))?;
        let chunk = chunk.ok_or_else(|| Cause::BadStream("it ended before it said where to".to_owned()))?;
        let mut read = events.push(&chunk)?.into_iter();
        let Some(first) = read.next() else { continue };
        settle(caller, &first)?;
        for event in read {
            pass(caller, event).await;
        }
        tokio::spawn(hold(Arc::clone(caller), response, events));
        return Ok(());
    }
}

/// Takes the place where messages go to. Credentials do not go to another origin.
fn settle(caller: &Caller, event: &Event) -> Result<(), Cause> {
    if event.name != "endpoint" {
        return Err(Cause::BadStream("it does not begin with an endpoint".to_owned()));
    }
    let place = caller.url.join(event.data.trim());
    let place = place.map_err(|error| Cause::BadStream(format!("its endpoint is no URL: {error}")))?;
    if place.origin() != caller.url.origin() {
        return Err(Cause::BadStream(format!("its endpoint is elsewhere: {}", Quoted::of(place.as_str()))));
    }
    caller.send_to(place);
    Ok(())
}

/// Reads the stream of the older transport. Its end is the end of the connection.
async fn hold(caller: Arc<Caller>, response: Response, mut events: Events) {
    let end = caller.end().clone();
    let cause = tokio::select! {
        () = end.cancelled() => Cause::Closed,
        read = read(&caller, response, &mut events) => read.err().unwrap_or(Cause::ClosedOutput),
    };
    caller.traffic.end(cause);
}
