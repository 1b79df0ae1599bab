//! What a turn costs beyond the model: from the last byte of an answer to the next request.

use crate::Size;
use crate::helper::{Helper, ground};
use crate::model::{Model, Talk};
use crate::row::{Row, median};

/// One agent, few and many turns. Tells what a turn takes when they are few.
pub(crate) fn alone(size: Size) -> f64 {
    let mut short = f64::NAN;
    for turns in [size.short, size.long] {
        let (floor, floor_cost) = floor(1, turns);
        let (ours, cost) = ours(1, turns);
        tell(format!("turn of one agent, {turns} turns"), (&ours, &floor), "<= 3");
        let metric = format!("processor time of a turn, {turns} turns");
        let baseline = Some(floor_cost.processor_ms);
        Row { metric, unit: "ms", value: cost.processor_ms, baseline, bar: None }.tell();
        let tenth = turns / 10;
        let (first, last) = (median(ours[..tenth].to_vec()), median(ours[turns - tenth..].to_vec()));
        let metric = format!("last tenth of {turns} turns against the first");
        let bar = (turns == size.long).then_some("<= 1.15");
        Row { metric, unit: "ms", value: last, baseline: Some(first), bar }.tell();
        if turns == size.short {
            short = median(ours);
        }
    }
    short
}

/// Many agents at once.
pub(crate) fn together(size: Size) {
    for &agents in size.crowds {
        let (floor, floor_cost) = floor(agents, size.crowd_turns);
        let (ours, cost) = ours(agents, size.crowd_turns);
        tell(format!("turn of {agents} agents at once"), (&ours, &floor), "<= 3");
        let bar = (agents == 32).then_some("<= 64");
        let metric = format!("memory of {agents} active agents");
        Row { metric, unit: "MB", value: cost.active, baseline: None, bar }.tell();
        let metric = format!("processor time of a turn, {agents} agents at once");
        let baseline = Some(floor_cost.processor_ms);
        Row { metric, unit: "ms", value: cost.processor_ms, baseline, bar: None }.tell();
        let metric = format!("memory of {agents} agents that wait after work");
        Row { metric, unit: "MB", value: cost.resting, baseline: None, bar: None }.tell();
    }
}

fn tell(metric: String, (ours, floor): (&[f64], &[f64]), bar: &'static str) {
    let baseline = Some(median(floor.to_vec()));
    Row { metric: metric.clone(), unit: "ms", value: median(ours.to_vec()), baseline, bar: Some(bar) }.tell();
    let (ours, floor) = (high(ours), high(floor));
    let metric = format!("{metric}, one in twenty is slower");
    Row { metric, unit: "ms", value: ours, baseline: Some(floor), bar: None }.tell();
}

fn high(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() * 95 / 100]
}

/// What a run used.
struct Cost {
    /// Megabytes in the middle of the work.
    active: f64,
    /// Megabytes after it.
    resting: f64,
    /// Processor time of a turn in the second half of the work, with what was started for it.
    processor_ms: f64,
}

fn ours(agents: usize, turns: usize) -> (Vec<f64>, Cost) {
    let model = Model::start(turns);
    let ground = ground(&model);
    let engine = Helper::engine(ground.path(), &["work", &agents.to_string()]);
    measure(engine, &model, (agents, turns))
}

fn floor(agents: usize, turns: usize) -> (Vec<f64>, Cost) {
    let model = Model::start(turns);
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let address = model.address.to_string();
    let words = ["floor", &address, folder.path().to_str().unwrap(), "work", &agents.to_string()];
    measure(Helper::start(&words), &model, (agents, turns))
}

fn measure(mut helper: Helper, model: &Model, (agents, turns): (usize, usize)) -> (Vec<f64>, Cost) {
    let all = agents * turns;
    model.wait_for(all / 2);
    let (active, before) = (helper.megabytes(), helper.processor_ms());
    helper.until("rest");
    #[expect(clippy::cast_precision_loss, reason = "a few thousand")]
    let processor_ms = (helper.processor_ms() - before) / (all - all / 2) as f64;
    let cost = Cost { active, resting: helper.megabytes(), processor_ms };
    helper.end();
    (overheads(&model.talks(), turns), cost)
}

/// Milliseconds between each answer and the next request, conversation by conversation.
pub(crate) fn overheads(talks: &[Talk], turns: usize) -> Vec<f64> {
    let mut all = Vec::new();
    for Talk { asked, answered } in talks {
        // An agent that waits for nothing is reminded of that, which is no turn of its work.
        assert!(asked.len() > turns, "{} of {turns} turns were asked for", asked.len());
        let pairs = asked.iter().skip(1).zip(answered).take(turns);
        all.extend(pairs.map(|(next, answer)| next.duration_since(*answer).as_secs_f64() * 1_000.0));
    }
    all
}
