//! How soon work goes on: a long conversation after a start, and all agents after a kill.

use std::time::Instant;

use crate::Size;
use crate::helper::{Helper, ground};
use crate::model::Model;
use crate::row::{Row, median};

/// Starts that are measured.
const STARTS: usize = 5;

/// One long conversation, and many agents that were killed in the middle of a model call.
pub(crate) fn after_a_kill(size: Size) {
    long(size.long);
    killed(size.killed);
}

/// From the start of the process to the request that holds the whole conversation.
fn long(turns: usize) {
    let model = Model::start(turns);
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (address, path) = (model.address.to_string(), folder.path().to_str().unwrap().to_owned());
    let mut floor = Helper::start(&["floor", &address, &path, "work", "1"]);
    floor.until("rest");
    floor.end();
    let baseline = first_request(&model, || Helper::start(&["floor", &address, &path, "resume"]));
    let ground = ground(&model);
    let mut engine = Helper::engine(ground.path(), &["work", "1"]);
    engine.until("rest");
    engine.end();
    let ours = first_request(&model, || Helper::engine(ground.path(), &["say"]));
    let metric = format!("start to the first request of a conversation of {turns} turns");
    Row { metric, unit: "ms", value: ours, baseline: Some(baseline), bar: None }.tell();
}

fn first_request(model: &Model, start: impl Fn() -> Helper) -> f64 {
    let once = |_start| {
        model.forget();
        let begun = Instant::now();
        let mut helper = start();
        model.wait_for(1);
        let passed = begun.elapsed().as_secs_f64() * 1_000.0;
        helper.until("rest");
        helper.end();
        passed
    };
    median((0..STARTS).map(once).collect())
}

/// From the kill to the request of the last agent.
fn killed(agents: usize) {
    let model = Model::start(20);
    model.fall_silent_from(5);
    let ground = ground(&model);
    let engine = Helper::engine(ground.path(), &["work", &agents.to_string()]);
    model.wait_for(agents * 6);
    model.forget();
    let begun = Instant::now();
    engine.kill();
    let engine = Helper::engine(ground.path(), &["open"]);
    model.wait_for(agents);
    let value = begun.elapsed().as_secs_f64() * 1_000.0;
    engine.kill();
    let metric = format!("kill to the request of the last of {agents} agents");
    Row { metric, unit: "ms", value, baseline: None, bar: None }.tell();
}
