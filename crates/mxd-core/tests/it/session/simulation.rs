//! Random trees of random agents with random users, in a daemon that dies at any step. Whatever happens, the books of the
//! [audit](super::audit) are in order, and when nobody interferes any more, everybody comes to rest.

mod model;
mod outside;
mod people;

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, OnceLock};
use std::thread::available_parallelism;

use mxd_core::commit::{Commit, Seq};
use mxd_core::decide::{Actor, Effect, Op, Sample, SessionOp};
use mxd_core::event::body::{RestReason, Terms};
use mxd_core::id::TaskId;
use mxd_core::limits::Limits;
use mxd_core::state::State;
use mxd_core::tree::Status;

use self::outside::Job;
use super::conversation::{self, Said};
use super::script::{cents, usd};
use super::stage::{Played, Stage};
use crate::dice::Dice;
use crate::rounds::seeds;

/// Small enough to be reached.
fn limits(dice: &mut Dice) -> Limits {
    Limits {
        children_per_node: 4,
        nodes_per_project: 14,
        depth: 4,
        inbox_per_task: 5,
        report_reserve: 2,
        notices_per_inbox: 3,
        messages_per_turn: 3,
        questions_per_task: 2,
        samplings_per_turn: 3,
        question_ms: 500,
        failed_turns: 3,
        retry_ms: 100,
        turns_per_task: [0, 0, 0, 30][chosen(dice, 4)],
        tokens_per_task: [0, 0, 0, 400_000][chosen(dice, 4)],
        task_ms: [0, 0, 0, 3_000][chosen(dice, 4)],
        repeats_before_warning: 2,
        repeats_before_rest: 4,
        repeats_of_success: 2,
        talk_turns: 5,
        cut_off_answers: 2,
        agents: [0, 0, 1, 2, 3][chosen(dice, 5)],
        closed_conversations: [usize::MAX, 1, 0][chosen(dice, 3)],
        count_within: [500, 16_000][chosen(dice, 2)],
        ..Limits::DEFAULT
    }
}

fn chosen(dice: &mut Dice, limit: usize) -> usize {
    usize::try_from(dice.below(limit as u64)).expect("a small number")
}

/// Something that a model writes for a server, at the price that held when it began.
struct Sampling {
    task: TaskId,
    sample: Sample,
    terms: Option<Terms>,
}

/// One life of a project.
struct Play {
    stage: Stage,
    dice: Dice,
    jobs: Vec<Job>,
    /// Commands that go on, by task.
    background: Vec<(TaskId, String)>,
    /// What models are writing for servers.
    samplings: Vec<Sampling>,
    /// What arrived lately, to arrive again.
    past: Vec<(TaskId, SessionOp)>,
    /// For names that are used once.
    named: u64,
}

impl Play {
    fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let mut stage = Stage::new();
        stage.limits = limits(&mut dice);
        let mut terms = super::script::terms();
        terms.context_window = [6_000, 20_000, 200_000][chosen(&mut dice, 3)];
        terms.max_output_tokens = [1_000, 8_000][chosen(&mut dice, 2)];
        terms.counts_tokens = dice.below(2) == 0;
        stage.terms = (dice.below(12) > 0).then_some(terms);
        let (jobs, background, samplings, past) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut play = Self { stage, dice, jobs, background, samplings, past, named: 0 };
        if play.one_in(2) {
            let amount = [cents(40), usd(1), usd(20)][play.below(3)];
            let root = play.stage.root();
            play.act(Actor::User, Op::Session { task: root, op: SessionOp::Grant { amount } });
        }
        play
    }

    fn below(&mut self, limit: usize) -> usize {
        chosen(&mut self.dice, limit)
    }

    fn one_in(&mut self, times: u64) -> bool {
        self.dice.below(times) == 0
    }

    fn name(&mut self, what: &str) -> String {
        self.named += 1;
        format!("{what}-{}", self.named)
    }

    /// Somebody does something, and the daemon may die of it.
    fn act(&mut self, actor: Actor, op: Op) -> bool {
        let played = self.stage.play(actor, op);
        match played {
            Played::Done(_) => {
                self.collect();
                true
            }
            Played::Refused(_) => false,
            Played::Died => {
                self.die();
                false
            }
        }
    }

    fn tell(&mut self, task: TaskId, op: SessionOp) -> bool {
        self.act(Actor::Daemon, Op::Session { task, op })
    }

    fn die(&mut self) {
        self.jobs.clear();
        self.background.clear();
        self.samplings.clear();
        self.past.clear();
        self.stage.crash();
        self.collect();
    }

    fn step(&mut self) {
        self.stage.now += self.dice.below(20);
        if self.one_in(40) {
            self.stage.fuse = Some(u32::try_from(self.below(4)).expect("small"));
        }
        match self.below(100) {
            0..62 => self.work_goes_on(),
            62..92 => self.somebody_acts(),
            92..97 => self.something_arrives_again(),
            _ => self.die(),
        }
    }

    /// Everything outside comes back and nobody interferes, until nothing is left to come back.
    fn settle_down(&mut self) {
        self.stage.fuse = None;
        for _ in 0..2_000 {
            if !self.calm_step() {
                return;
            }
        }
        panic!("they do not come to rest: {:?}", self.jobs);
    }

    /// Everybody rests or has ended, and everything that was written to somebody who can still read was read.
    fn check_rest(&self, excuses: &[RestReason]) {
        let state = &self.stage.state;
        assert!(state.reservations().is_empty(), "money set aside at rest: {:?}", state.reservations());
        for task in self.stage.tasks() {
            let session = state.session(task);
            assert!(!session.is_busy(), "{task} is at work on nothing: {session:?}");
            assert!(!session.takes_a_place(), "{task} ought to be asked, or to leave its place: {session:?}");
            if self.stage.status(task) != Status::InProgress {
                continue;
            }
            let unread = state.inbox(task).wants_agent();
            let excused = session.rest().is_some_and(|rest| excuses.contains(rest));
            assert!(!unread || excused, "{task} does not read what was written to it: {session:?}");
        }
    }

    /// A daemon that starts over a project at rest has nothing to do, and asks nobody.
    fn check_boot(&mut self) {
        // Who could not read what was written to it, for want of money or of a summary, may try once more.
        let excuses = [Some(&RestReason::Spent), Some(&RestReason::Failed)];
        let stuck = self.stage.tasks().any(|task| {
            let unread = self.stage.state.inbox(task).wants_agent();
            unread && excuses.contains(&self.stage.state.session(task).rest())
        });
        let outcome = self.stage.crash();
        let work = outcome.effects.iter().find(|effect| !matches!(effect, Effect::Alarm { .. }));
        assert!(stuck || work.is_none(), "at rest, and yet there is work after a start: {work:?}");
        let snapshot = serde_json::to_string(&self.stage.state).expect("a snapshot");
        let read: State = serde_json::from_str(&snapshot).expect("a snapshot");
        assert_eq!(read, self.stage.state, "a snapshot comes back as it was");
        self.check_pruned();
        self.collect();
    }
}

impl Play {
    /// What is folded from a log without the conversations that were thrown away is the same, and nobody misses any of
    /// its own: what a fork begins with is another's conversation.
    fn check_pruned(&self) {
        let (whole, pruned) = (conversation::log(&self.stage), conversation::pruned(&self.stage));
        let state = conversation::fold(&pruned);
        assert_eq!(state, self.stage.state, "without the conversations that were thrown away");
        let end = Seq(self.stage.commits.len() as u64);
        for task in self.stage.tasks() {
            let (before, after) =
                (conversation::read(&whole, task, end), conversation::read(&pruned, task, end));
            assert!(before == after, "{task} misses what was thrown away: {:?}", self.stage.prunes);
        }
        self.check_thrown_away(&pruned);
    }

    /// What nobody begins with is gone for good.
    fn check_thrown_away(&self, pruned: &[Said]) {
        let state = &self.stage.state;
        let needed: BTreeSet<TaskId> =
            state.sessions().values().flat_map(|session| session.lineage()).copied().collect();
        for (_, _, event) in pruned {
            let left = event.body.kind().is_some_and(|kind| kind.is_conversation());
            let gone = state.tree().get(event.task).is_none();
            assert!(!(left && gone) || needed.contains(&event.task), "left behind: {event:?}");
        }
    }
}

fn live(play: &mut Play, steps: usize) {
    for _ in 0..steps {
        play.step();
    }
    play.settle_down();
    play.check_rest(&[RestReason::Spent, RestReason::Failed]);
    play.check_boot();
    // Nobody is deaf: who works reads what is written to it now.
    let tasks: Vec<TaskId> = play.stage.tasks().collect();
    for task in tasks {
        let op = play.stage.message(task, "still there?");
        play.act(Actor::User, op);
    }
    play.settle_down();
    play.check_rest(&[RestReason::Spent]);
}

/// The last that happened, for whoever looks into a failure.
fn trail(stage: &Stage) -> String {
    let last = stage.commits.iter().rev().take(25).rev();
    let line = |commit: &Commit| {
        let events = commit.events().iter().map(|event| format!("{} {}", event.task, event.type_name()));
        format!("{} {}", commit.seq(), events.collect::<Vec<_>>().join(", "))
    };
    let past = last.map(line).collect::<Vec<_>>().join("\n");
    format!("{past}\nand then {:?}", stage.last)
}

fn words(problem: &(dyn Any + Send)) -> String {
    let text = problem.downcast_ref::<String>().cloned();
    text.or_else(|| problem.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}

/// What the others would not notice: lives in which nothing happens keep every invariant.
#[test]
fn the_lives_reach_what_they_are_to_test() {
    let mut happened: BTreeMap<String, usize> = BTreeMap::new();
    for seed in 1..=600 {
        let mut play = Play::new(seed);
        (0..150).for_each(|_| play.step());
        for event in play.stage.commits.iter().flat_map(Commit::events) {
            *happened.entry(event.type_name().to_owned()).or_default() += 1;
        }
    }
    let wanted = [
        "agent_interrupted",
        "agent_queued",
        "agent_rested",
        "agent_stopped",
        "approval_given",
        "approval_requested",
        "attempt_failed",
        "budget_exceeded",
        "budget_granted",
        "budget_refunded",
        "budget_reserved",
        "budget_settled",
        "budget_transferred",
        "budget_warning",
        "cache_break",
        "check_finished",
        "clarification_answered",
        "clarification_expired",
        "clarification_requested",
        "compact_marker",
        "compact_started",
        "context_counted",
        "conversation_cleared",
        "count_requested",
        "done_notified",
        "done_requested",
        "error",
        "fork_marker",
        "message",
        "messages_consumed",
        "notice_skipped",
        "orchestration_completed",
        "orchestration_started",
        "rewind_marker",
        "sampling_ended",
        "sampling_started",
        "session_config",
        "task_deleted",
        "task_moved",
        "task_reset",
        "task_started",
        "thinking",
        "tool_call",
        "tool_result",
        "turn_ended",
        "turn_started",
        "worktree_created",
        "worktree_dismissed",
        "worktree_failed",
        "worktree_removed",
    ];
    let rare: Vec<&str> =
        wanted.into_iter().filter(|name| happened.get(*name).is_none_or(|count| *count < 5)).collect();
    assert!(rare.is_empty(), "too rare: {rare:?} of {happened:?}");
}

/// One life after the other until there are no seeds any more, or somebody's life went wrong.
fn live_on(seeds: &Mutex<impl Iterator<Item = u64>>, wrong: &OnceLock<String>) {
    while wrong.get().is_none() {
        let Some(seed) = seeds.lock().expect("nobody dies with it").next() else { return };
        // A seed is the same life whoever plays it; some are long.
        let steps = if seed.is_multiple_of(4) { 250 } else { 120 };
        let mut play = Play::new(seed);
        if let Err(problem) = catch_unwind(AssertUnwindSafe(|| live(&mut play, steps))) {
            let (problem, trail) = (words(&*problem), trail(&play.stage));
            let again = format!("cargo xtask chaos agents --rounds 1 --seed {seed}");
            // The first one is enough.
            let _told = wrong.set(format!("seed {seed} ({again}): {problem}\n{trail}"));
        }
    }
}

#[test]
fn agents_of_any_seed_keep_every_invariant_and_come_to_rest() {
    let (seeds, wrong) = (Mutex::new(seeds(1_500)), OnceLock::new());
    std::thread::scope(|scope| {
        for _ in 0..available_parallelism().map_or(1, NonZeroUsize::get) {
            scope.spawn(|| live_on(&seeds, &wrong));
        }
    });
    assert_eq!(wrong.get(), None, "{}", wrong.get().map_or("", String::as_str));
}
