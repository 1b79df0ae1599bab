//! Appending: against the bare system calls.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

use mxd_store::{Draft, Log, Options};

use crate::row::{Row, median};

const LINE: usize = 500;
const ROUNDS: usize = 40;
const PER_ROUND: usize = 50;

/// A commit whose line has about [`LINE`] bytes.
fn commit() -> Draft {
    let text = "x".repeat(LINE - 170);
    let event =
        format!(r#"{{"task":"01KA0000000000000000000000","type":"assistant_text","content":"{text}"}}"#);
    Draft::of(1_763_240_000_000, [event.as_str()]).unwrap()
}

/// A file to which lines are appended and synced with nothing around it.
struct Bare {
    file: File,
    end: u64,
}

impl Bare {
    fn create(path: &Path) -> Self {
        Self { file: File::create(path).unwrap(), end: 0 }
    }

    fn append(&mut self, bytes: &[u8]) {
        self.file.write_all_at(bytes, self.end).unwrap();
        self.file.sync_data().unwrap();
        self.end += bytes.len() as u64;
    }
}

/// One durable append after another, in turns with bare appends so that both meet the same disk.
pub(crate) fn one_caller(scratch: &Path) {
    let log = Log::open(&scratch.join("one"), Options::default(), &mut ()).unwrap();
    let mut bare = Bare::create(&scratch.join("one.bare"));
    let (line, draft) = ([b'x'; LINE], commit());
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        for _ in 0..PER_ROUND {
            theirs.push(micros(|| bare.append(&line)));
        }
        for _ in 0..PER_ROUND {
            let draft = draft.clone();
            ours.push(micros(|| {
                log.append(draft).unwrap();
            }));
        }
    }
    Row {
        metric: "durable append, one caller, against a bare append and fdatasync of 500 bytes".into(),
        unit: "µs",
        value: median(ours),
        baseline: Some(median(theirs)),
        bar: Some("<= 1.2"),
    }
    .tell();
}

/// Many callers at once, against the same commits synced one by one.
pub(crate) fn many_callers(scratch: &Path) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let mut bare = Bare::create(&scratch.join("many.bare"));
    let line = [b'x'; LINE];
    for callers in [8, 64, 128] {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        let log = Log::open(&scratch.join(format!("many-{callers}")), Options::default(), &mut ()).unwrap();
        let log = std::sync::Arc::new(log);
        for _ in 0..5 {
            let start = Instant::now();
            (0..1_000).for_each(|_| bare.append(&line));
            theirs.push(1_000.0 / start.elapsed().as_secs_f64());
            let each = 40_000 / callers;
            let start = Instant::now();
            let tasks: Vec<_> = (0..callers)
                .map(|_| {
                    let (log, draft) = (std::sync::Arc::clone(&log), commit());
                    runtime.spawn(async move {
                        for _ in 0..each {
                            log.submit(draft.clone()).unwrap().await.unwrap();
                        }
                    })
                })
                .collect();
            for task in tasks {
                runtime.block_on(task).unwrap();
            }
            ours.push((each * callers) as f64 / start.elapsed().as_secs_f64());
        }
        Row {
            metric: format!(
                "durable appends per second, {callers} callers, against one fdatasync per commit"
            ),
            unit: "1/s",
            value: median(ours),
            baseline: Some(median(theirs)),
            bar: (callers == 64).then_some(">= 15"),
        }
        .tell();
    }
}

fn micros(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e6
}
