//! What the daemon counts, as text for Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::Ordering;

use mxd_core::money::Usd;
use mxd_engine::home::Standing;

use crate::app::App;
use crate::limits;
use crate::telemetry::Telemetry;
use crate::view::dollars;

/// What there is at this moment.
#[derive(Debug, Default)]
pub(crate) struct Census {
    pub(crate) projects: u64,
    pub(crate) broken: u64,
    pub(crate) streams: u64,
    pub(crate) running: u64,
    pub(crate) waiting_messages: u64,
    pub(crate) cost: Usd,
    pub(crate) commits: u64,
    /// Tasks by status.
    pub(crate) counts: BTreeMap<String, u64>,
}

/// Counts everything.
pub(crate) fn census(app: &App) -> Census {
    let streams = limits::STREAMS.saturating_sub(app.streams.available_permits()) as u64;
    let mut census = Census { streams, ..Census::default() };
    for registered in app.home.projects() {
        census.projects += 1;
        match registered.now() {
            Standing::Open(project) => {
                census.commits += project.head().0;
                project.look(|state| {
                    for node in state.tree().nodes().values() {
                        let Some(task) = node.task() else { continue };
                        *census.counts.entry(task.status.name().to_owned()).or_default() += 1;
                        census.cost = census.cost.checked_add(task.cost_usd).unwrap_or(Usd::MAX);
                        census.waiting_messages += state.inbox(node.id).len() as u64;
                    }
                    let busy = state.sessions().values().filter(|session| session.is_busy()).count();
                    census.running += busy as u64;
                });
            }
            Standing::Broken { .. } => census.broken += 1,
            Standing::Opening => {}
        }
    }
    census
}

/// The census in the text format of Prometheus.
pub(crate) fn text(app: &App) -> String {
    let census = census(app);
    let mut text = String::new();
    let mut put = |name: &str, kind: &str, help: &str, values: &[(String, String)]| {
        let _infallible = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (labels, value) in values {
            let _infallible = writeln!(text, "{name}{labels} {value}");
        }
    };
    let one = |value: u64| vec![(String::new(), value.to_string())];
    put("mxd_requests_total", "counter", "Requests so far.", &one(app.requests.load(Ordering::Relaxed)));
    put("mxd_uptime_milliseconds", "gauge", "Time since the start.", &one(app.uptime_ms()));
    put("mxd_streams", "gauge", "Live streams.", &one(census.streams));
    put("mxd_projects", "gauge", "Registered projects.", &one(census.projects));
    put("mxd_projects_broken", "gauge", "Projects that cannot be opened.", &one(census.broken));
    put("mxd_agents_running", "gauge", "Agents at work.", &one(census.running));
    put("mxd_messages_waiting", "gauge", "Messages in inboxes.", &one(census.waiting_messages));
    put("mxd_commits_total", "counter", "Commits in the logs of open projects.", &one(census.commits));
    let cost = vec![(String::new(), dollars(census.cost).to_string())];
    put("mxd_cost_usd", "gauge", "What the tasks that are there have cost.", &cost);
    let tasks: Vec<_> = census
        .counts
        .iter()
        .map(|(status, count)| (format!("{{status=\"{status}\"}}"), count.to_string()))
        .collect();
    put("mxd_tasks", "gauge", "Tasks by status.", &tasks);
    if let Some(counts) = app.telemetry.as_ref().map(Telemetry::counts) {
        let (sent, dropped) = (counts.sent.load(Ordering::Relaxed), counts.dropped.load(Ordering::Relaxed));
        put("mxd_spans_sent_total", "counter", "Spans that the collector took.", &one(sent));
        put("mxd_spans_dropped_total", "counter", "Spans that it did not take.", &one(dropped));
    }
    text
}
