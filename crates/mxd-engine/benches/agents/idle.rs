//! What agents cost that wait: a project with very many of them is opened, and nobody is asked anything.

use std::time::Instant;

use crate::Size;
use crate::helper::{Helper, ground};
use crate::model::Model;
use crate::row::Row;
use crate::waiting::{Crowd, calls};

/// Opens a project with agents that all wait.
pub(crate) fn boot(size: Size) {
    let model = Model::start(0);
    let ground = ground(&model);
    Crowd { agents: size.idle, answer: |asked| calls(asked, "yield", "{}") }.fill(ground.path());
    let begun = Instant::now();
    let mut engine = Helper::engine(ground.path(), &["open"]);
    engine.until("open");
    let value = begun.elapsed().as_secs_f64() * 1_000.0;
    engine.until("rest");
    let agents = size.idle;
    let metric = format!("start with {agents} agents that wait");
    Row { metric, unit: "ms", value, baseline: None, bar: Some("<= 1000") }.tell();
    let metric = format!("memory of {agents} agents that wait");
    Row { metric, unit: "MB", value: engine.megabytes(), baseline: None, bar: Some("<= 64") }.tell();
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    let asked = model.talks().len() as f64;
    let metric = format!("conversations that asked, of {agents} that wait");
    Row { metric, unit: "calls", value: asked, baseline: None, bar: Some("<= 0") }.tell();
    engine.end();
}
