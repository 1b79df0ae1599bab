//! One server, watched over: connected, verified, looked for again, put aside.

use std::sync::Arc;
use std::time::Duration;

use mxd_core::manifest::{Comparison, LockedServer, Reconnect, Report, ServerSpec};
use mxd_core::tool::{Quoted, ServerName, ToolName};
use serde_json::{Value, json};
use tokio::sync::{Notify, broadcast, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::connection::{CallOptions, Connection, Era};
use super::error::{CallError, Cause};
use super::servers::{Change, Status, Unaccepted, Wanted};
use super::shelf::{self, Prompts, Resources};
use super::surroundings::Surroundings;
use super::talk::{Ask, SUBSCRIBE};

/// How long a subscription is held before it is renewed.
const SUBSCRIPTION: Duration = Duration::from_secs(3600);
/// Changes that wait for a slow listener.
const CHANGES: usize = 256;

/// What servers with resources say that they have.
const RESOURCES: &str = "resources";

/// A server that is watched over. Cheap to clone; it is closed when the last clone goes.
#[derive(Debug, Clone)]
pub(super) struct Server {
    shared: Arc<Shared>,
    _last: Arc<Last>,
}

#[derive(Debug)]
struct Shared {
    spec: ServerSpec,
    /// What was accepted of it when it was wanted.
    accepted: Option<Arc<LockedServer>>,
    unaccepted: Unaccepted,
    around: Arc<Surroundings>,
    now: watch::Sender<Now>,
    changes: broadcast::Sender<Change>,
    retry: Notify,
    stop: CancellationToken,
    keeper: TaskTracker,
}

/// Dropped with the last handle.
#[derive(Debug)]
struct Last(CancellationToken);

impl Drop for Last {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

#[derive(Debug, Clone)]
struct Now {
    status: Status,
    connection: Option<Arc<Connection>>,
    /// Whether the first attempt is over.
    is_tried: bool,
}

/// Why a connection is not watched any more.
enum Left {
    Stopped,
    Lost(String),
    Drifted(Arc<Report>),
}

/// What comes of a look at what a server offers.
enum Verdict {
    Use,
    Refuse(Status),
}

impl Server {
    /// Begins to connect.
    pub(super) fn start(wanted: Wanted, around: Arc<Surroundings>) -> Self {
        let Wanted { spec, locked, unaccepted, .. } = wanted;
        let status = Status::Connecting { failed: 0, why: None };
        let shared = Arc::new(Shared {
            spec,
            accepted: locked.clone().map(Arc::new),
            unaccepted,
            around,
            now: watch::channel(Now { status, connection: None, is_tried: false }).0,
            changes: broadcast::channel(CHANGES).0,
            retry: Notify::new(),
            stop: CancellationToken::new(),
            keeper: TaskTracker::new(),
        });
        shared.keeper.spawn(keep(Arc::clone(&shared), locked));
        shared.keeper.close();
        Self { _last: Arc::new(Last(shared.stop.clone())), shared }
    }

    pub(super) fn name(&self) -> &ServerName {
        &self.shared.spec.name
    }

    pub(super) fn spec(&self) -> &ServerSpec {
        &self.shared.spec
    }

    /// What was accepted of it when it was wanted.
    pub(super) fn accepted(&self) -> Option<&Arc<LockedServer>> {
        self.shared.accepted.as_ref()
    }

    /// Waits until it is connected, or has failed once.
    pub(super) async fn tried(&self) {
        let mut now = self.shared.now.subscribe();
        drop(now.wait_for(|now| now.is_tried).await);
    }

    pub(super) fn status(&self) -> Status {
        self.shared.now.borrow().status.clone()
    }

    pub(super) fn changes(&self) -> broadcast::Receiver<Change> {
        self.shared.changes.subscribe()
    }

    pub(super) fn retry(&self) {
        self.shared.retry.notify_one();
    }

    /// The connection, when it can be used.
    pub(super) fn connection(&self) -> Result<Arc<Connection>, CallError> {
        let now = self.shared.now.borrow();
        now.connection.clone().ok_or_else(|| self.shared.unavailable(&now.status))
    }

    /// Whether it waits for somebody's answer.
    pub(super) fn is_asking(&self) -> bool {
        self.connection().is_ok_and(|connection| connection.talk.traffic.is_asking())
    }

    /// Calls a tool.
    pub(super) async fn call(
        &self,
        tool: &ToolName,
        args: &Value,
        options: CallOptions,
    ) -> Result<Value, CallError> {
        let call = |connection: Arc<Connection>| {
            let options = options.clone();
            async move { connection.call(tool, args, options).await }
        };
        self.ask(&options, call).await
    }

    /// Reads a resource: the result as the server wrote it, without our secrets.
    pub(super) async fn read_resource(&self, uri: &str, options: CallOptions) -> Result<Value, CallError> {
        if !shelf::is_address(uri) {
            return Err(CallError::NoAddress { uri: Quoted::of(uri) });
        }
        let read = |connection: Arc<Connection>| {
            let options = options.clone();
            async move {
                if !connection.says_it_has(RESOURCES) {
                    let server = connection.server().clone();
                    return Err(CallError::HasNone { server, what: RESOURCES });
                }
                connection.read_resource(uri, options).await
            }
        };
        self.ask(&options, read).await
    }

    /// The resources it has, and templates of them; none when it does not say that it has any.
    pub(super) async fn resources(&self) -> Result<Resources, CallError> {
        let list = |connection: Arc<Connection>| async move {
            if !connection.says_it_has(RESOURCES) {
                return Ok(Resources::default());
            }
            let templates = match connection.templates().await {
                // Templates came later than resources: not every server knows the question.
                Err(CallError::Refused { .. }) => Vec::new(),
                templates => templates?,
            };
            Ok(Resources::read(&connection.resources().await?, &templates))
        };
        self.ask(&CallOptions::within(self.shared.around.limits.question), list).await
    }

    /// The prompts it has; none when it does not say that it has any.
    pub(super) async fn prompts(&self) -> Result<Prompts, CallError> {
        let list = |connection: Arc<Connection>| async move {
            match connection.says_it_has("prompts") {
                true => Ok(Prompts::read(&connection.prompts().await?)),
                false => Ok(Prompts::default()),
            }
        };
        self.ask(&CallOptions::within(self.shared.around.limits.question), list).await
    }

    /// Asks, and when the session was forgotten asks again in a new one: the server has not seen the question.
    async fn ask<T, F: Future<Output = Result<T, CallError>>>(
        &self,
        options: &CallOptions,
        ask: impl Fn(Arc<Connection>) -> F,
    ) -> Result<T, CallError> {
        let connection = self.connection()?;
        match ask(Arc::clone(&connection)).await {
            Err(CallError::Lost { loss, .. }) if loss.cause == Cause::SessionForgotten => {
                ask(self.again(&connection, options).await?).await
            }
            result => result,
        }
    }

    /// The next connection after one that was lost.
    async fn again(
        &self,
        old: &Arc<Connection>,
        options: &CallOptions,
    ) -> Result<Arc<Connection>, CallError> {
        let mut now = self.shared.now.subscribe();
        let is_settled = |now: &Now| match (&now.connection, &now.status) {
            (Some(connection), _) => !Arc::ptr_eq(connection, old),
            (None, Status::Connecting { .. }) => false,
            (None, _) => true,
        };
        tokio::select! {
            _settled = now.wait_for(is_settled) => {}
            () = options.cancel.cancelled() => {}
            () = tokio::time::sleep(options.deadline) => {}
        }
        self.connection()
    }

    /// Closes it.
    pub(super) async fn close(&self) {
        self.shared.stop.cancel();
        self.shared.keeper.wait().await;
    }
}

impl Shared {
    fn publish(&self, status: Status, connection: Option<Arc<Connection>>) {
        let change = Change { server: self.spec.name.clone(), status: status.clone() };
        self.now.send_modify(|now| *now = Now { status, connection, is_tried: true });
        // Nobody has to listen.
        let _nobody = self.changes.send(change);
    }

    fn unavailable(&self, status: &Status) -> CallError {
        let server = self.spec.name.clone();
        let why = match status {
            Status::Drifted(report) => return CallError::Drifted { server, report: (**report).clone() },
            Status::Unaccepted(_) => "nobody has accepted what it offers".to_owned(),
            Status::Connecting { failed: 0, .. } | Status::Ready => "it is being connected".to_owned(),
            Status::Connecting { failed, why } => {
                let why = why.as_deref().unwrap_or_default();
                format!("it was lost and is looked for again, attempt {failed}: {why}")
            }
            Status::Down { why, .. } => why.clone(),
            Status::Closed => "it was closed".to_owned(),
        };
        CallError::Unavailable { server, why }
    }

    fn judge(&self, report: &Arc<Report>) -> Verdict {
        match (report.comparison(), self.unaccepted) {
            (Comparison::Same, _) | (Comparison::Unaccepted, Unaccepted::Use) => Verdict::Use,
            (Comparison::Unaccepted, Unaccepted::Refuse) => {
                Verdict::Refuse(Status::Unaccepted(Arc::clone(report)))
            }
            (Comparison::Drift, _) => Verdict::Refuse(Status::Drifted(Arc::clone(report))),
        }
    }

    /// Waits until somebody wants another attempt; false when there will be none.
    async fn asked_again(&self) -> bool {
        tokio::select! {
            () = self.stop.cancelled() => false,
            () = self.retry.notified() => true,
        }
    }

    async fn paused(&self, pause: Duration) -> bool {
        tokio::select! {
            () = self.stop.cancelled() => false,
            () = tokio::time::sleep(pause) => true,
        }
    }
}

/// Keeps a server connected for as long as it is wanted.
async fn keep(shared: Arc<Shared>, mut locked: Option<LockedServer>) {
    let mut failed = 0;
    while !shared.stop.is_cancelled() {
        let opened = tokio::select! {
            () = shared.stop.cancelled() => break,
            opened = Connection::open(&shared.spec, locked.as_ref(), &shared.around) => opened,
        };
        let (why, hint) = match opened {
            Ok(connection) => {
                let since = Instant::now();
                match used(&shared, connection, &mut locked).await {
                    Ok(Left::Stopped) => break,
                    Ok(Left::Lost(why)) => {
                        if since.elapsed() >= shared.around.limits.backoff.forgiven_after {
                            failed = 0;
                        }
                        (why, BY_HAND.to_owned())
                    }
                    Ok(Left::Drifted(report)) => {
                        shared.publish(Status::Drifted(report), None);
                        failed = 0;
                        if shared.asked_again().await { continue } else { break }
                    }
                    Err(status) => {
                        shared.publish(status, None);
                        failed = 0;
                        if shared.asked_again().await { continue } else { break }
                    }
                }
            }
            Err(error) if !error.is_passing() => {
                let hint = error.advice(&shared.spec, &shared.around);
                shared.publish(Status::Down { why: error.to_string(), hint }, None);
                if shared.asked_again().await { continue } else { break }
            }
            Err(error) => (error.to_string(), error.advice(&shared.spec, &shared.around)),
        };
        if !next_attempt(&shared, &mut failed, (why, hint)).await {
            break;
        }
    }
    shared.publish(Status::Closed, None);
}

/// What to do about a server that was there and is lost again and again.
const BY_HAND: &str = "Run the server by hand, look at what it complains about, and try again.";

/// Waits for the next attempt, if there is to be one.
async fn next_attempt(shared: &Shared, failed: &mut u64, (why, hint): (String, String)) -> bool {
    let allowed = match shared.spec.reconnect {
        Reconnect::Never => 0,
        Reconnect::UpTo(attempts) => attempts,
    };
    if *failed >= allowed {
        let tries = if *failed > 0 { format!("; it was looked for {failed} times") } else { String::new() };
        shared.publish(Status::Down { why: format!("{why}{tries}"), hint }, None);
        *failed = 0;
        return shared.asked_again().await;
    }
    shared.publish(Status::Connecting { failed: *failed + 1, why: Some(why) }, None);
    let pause = shared.around.limits.backoff.before(*failed, fastrand::f64());
    *failed += 1;
    shared.paused(pause).await
}

/// Uses a connection until it is lost, not wanted, or not to be used.
async fn used(
    shared: &Shared,
    connection: Connection,
    locked: &mut Option<LockedServer>,
) -> Result<Left, Status> {
    if let Verdict::Refuse(status) = shared.judge(&connection.report()) {
        connection.close_because(Cause::Drifted).await;
        return Err(status);
    }
    if !connection.report().is_acceptable() {
        // What is used without having been accepted stays what it was when it was first used.
        let accepted = LockedServer::accept(&shared.spec, &connection.discovered(), locked.as_ref());
        connection.hold_to(&accepted);
        *locked = Some(accepted);
    }
    let connection = Arc::new(connection);
    shared.publish(Status::Ready, Some(Arc::clone(&connection)));
    let left = watched(shared, &connection).await;
    match &left {
        Left::Stopped => {}
        Left::Lost(why) => {
            shared.publish(Status::Connecting { failed: 0, why: Some(why.clone()) }, None);
        }
        Left::Drifted(report) => shared.publish(Status::Drifted(Arc::clone(report)), None),
    }
    let cause = if matches!(left, Left::Drifted(_)) { Cause::Drifted } else { Cause::Closed };
    connection.close_because(cause).await;
    Ok(left)
}

async fn watched(shared: &Shared, connection: &Arc<Connection>) -> Left {
    let limits = shared.around.limits;
    let hears = subscribed(connection);
    tokio::pin!(hears);
    loop {
        tokio::select! {
            () = shared.stop.cancelled() => return Left::Stopped,
            loss = connection.lost() => return Left::Lost(loss.to_string()),
            () = connection.talk.traffic.tools_changed.notified() => {
                match connection.relist().await {
                    Ok(report) if report.is_acceptable() => {}
                    Ok(report) => return Left::Drifted(report),
                    // Until it says what it offers, it may offer anything.
                    Err(error) => return Left::Lost(error.to_string()),
                }
                // However often it says so, it is not asked more often than this.
                tokio::select! {
                    () = shared.stop.cancelled() => return Left::Stopped,
                    loss = connection.lost() => return Left::Lost(loss.to_string()),
                    () = tokio::time::sleep(limits.relist) => {}
                }
            }
            () = tokio::time::sleep(limits.health), if connection.talk.is_idle() => {
                // One that is not there is lost, which is heard above.
                let _lost = connection.check().await;
            }
            () = &mut hears => {}
        }
    }
}

/// Hears about changes from a server that keeps no state, for as long as it says so.
async fn subscribed(connection: &Connection) {
    let introduction = connection.introduction();
    let says_so = introduction.capabilities.get("tools").and_then(|tools| tools.get("listChanged"));
    let hears = matches!(introduction.era, Era::Stateless(_)) && says_so == Some(&Value::Bool(true));
    if !hears {
        return std::future::pending().await;
    }
    loop {
        let params = json!({ "notifications": { "toolsListChanged": true } });
        match connection.talk.ask(Ask::new(SUBSCRIBE, params, SUBSCRIPTION)).await {
            // Something may have changed while nobody listened.
            Ok(_) | Err(CallError::TimedOut { .. }) => connection.talk.traffic.tools_changed.notify_one(),
            Err(_) => break,
        }
        tokio::time::sleep(connection.talk.traffic.limits.relist).await;
    }
    std::future::pending().await
}
