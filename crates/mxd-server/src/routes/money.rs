//! Money: what was spent by whom and when, how well the prompt cache works, and how budgets moved.

use axum::extract::State;
use mxd_core::event::body::Usage;
use mxd_core::money::Usd;
use schemars::JsonSchema;
use serde::Serialize;

use super::Given;
use crate::api::{Api, Route};
use crate::app::App;
use crate::fault::Answer;
use crate::take::Path;
use crate::view::dollars;

pub(super) fn routes(api: Api) -> Api {
    api.add(Route::get("/projects/{project}/money", "What was spent").gives::<Money>(), money)
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Money {
    total_usd: f64,
    tasks: Vec<TaskMoney>,
    /// By the hour.
    series: Vec<Moment>,
    cache: Cache,
    /// How budgets moved, newest last.
    escrow: Vec<Movement>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TaskMoney {
    task_id: String,
    title: String,
    cost_usd: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    budget_usd: Option<f64>,
    input_tokens: u64,
    output_tokens: u64,
    cache_read_tokens: u64,
    cache_write_tokens: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Moment {
    at: u64,
    usd: f64,
    tokens: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Cache {
    /// The part of what models read that came from the cache, from 0 to 1.
    hit_rate: f64,
    breaks: Vec<BreakView>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct BreakView {
    at: u64,
    task_id: String,
    reason: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Movement {
    at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    usd: f64,
    /// `granted`, `transferred`, `refunded`, `reserved` or `settled`.
    kind: String,
}

async fn money(State(app): State<App>, Path(project): Path<String>) -> Answer<Given<Money>> {
    let (project, feed) = app.fed(&project).await?;
    let tally = feed.tally();
    let (mut total, mut read) = (Usd::ZERO, Usage::default());
    let tasks = project.look(|state| {
        let mut tasks = Vec::new();
        for node in state.tree().nodes().values() {
            let Some(fields) = node.task() else { continue };
            let usage = tally.task(node.id).map(|counted| counted.usage).unwrap_or_default();
            total = total.checked_add(fields.cost_usd).unwrap_or(Usd::MAX);
            read.input_tokens += usage.input_tokens;
            read.cache_read_tokens += usage.cache_read_tokens;
            read.cache_write_tokens += usage.cache_write_tokens;
            tasks.push(TaskMoney {
                task_id: node.id.to_string(),
                title: node.title.clone(),
                cost_usd: dollars(fields.cost_usd),
                budget_usd: fields.budget_usd.map(dollars),
                input_tokens: usage.input_tokens,
                output_tokens: usage.output_tokens,
                cache_read_tokens: usage.cache_read_tokens,
                cache_write_tokens: usage.cache_write_tokens,
            });
        }
        tasks
    });
    let series = tally.series.iter();
    let series = series.map(|(at, hour)| Moment { at: *at, usd: dollars(hour.usd), tokens: hour.tokens });
    let breaks = tally.breaks.iter().map(|broken| BreakView {
        at: broken.at.0,
        task_id: broken.task.to_string(),
        reason: broken.reason.clone(),
    });
    let escrow = tally.moves.iter().map(|moved| Movement {
        at: moved.at.0,
        from: moved.from.map(|task| task.to_string()),
        to: moved.to.map(|task| task.to_string()),
        usd: dollars(moved.usd),
        kind: moved.kind.to_owned(),
    });
    Ok(Given(Money {
        total_usd: dollars(total),
        tasks,
        series: series.collect(),
        cache: Cache { hit_rate: hit_rate(&read), breaks: breaks.collect() },
        escrow: escrow.collect(),
    }))
}

#[expect(clippy::cast_precision_loss, reason = "a ratio for the eye")]
fn hit_rate(read: &Usage) -> f64 {
    let all = read.input_tokens + read.cache_read_tokens + read.cache_write_tokens;
    if all == 0 { 0.0 } else { read.cache_read_tokens as f64 / all as f64 }
}
