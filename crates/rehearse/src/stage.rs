//! Which turn of which conversation a request gets: the state of a rehearsal, without any IO but its log.

use serde_json::Value;

use crate::cache::{Cache, Cached};
use crate::capture::{self, Caught};
use crate::expectation::{Added, unlike};
use crate::limits::REPEATS;
use crate::log::{Log, LoggedRequest, Outcome, Report};
use crate::prefix;
use crate::scene::{Given, Scene};
use crate::script::{Fault, Gate, Reply, Script, Turn, Until};
use crate::seals::Seals;
use crate::shape;
use crate::view::View;
use crate::violation::Violation;
use crate::wire::{Reading, Trouble, Wire};

/// A request as it arrived.
#[derive(Debug)]
pub(crate) struct Heard {
    pub(crate) wire: Wire,
    pub(crate) reading: Reading,
    /// The header that names the conversation.
    pub(crate) named: Option<String>,
    pub(crate) body: Value,
}

/// What is to be answered, and how.
#[derive(Debug)]
pub(crate) struct Cue {
    pub(crate) wire: Wire,
    pub(crate) number: u64,
    pub(crate) view: View,
    pub(crate) cached: Cached,
    pub(crate) reply: Reply,
    pub(crate) fault: Option<Fault>,
    pub(crate) gate: Option<Gate>,
    pub(crate) delay_ms: u64,
    pub(crate) chunk_delay_ms: u64,
    pub(crate) chunk_bytes: Option<usize>,
}

/// The decision about a request.
#[derive(Debug)]
pub(crate) enum Act {
    Play(Box<Cue>),
    Refuse { wire: Wire, number: u64, trouble: Trouble },
}

/// The state of a rehearsal.
#[derive(Debug)]
pub(crate) struct Stage {
    script: Script,
    scenes: Vec<Scene>,
    number: u64,
    seals: Seals,
    cache: Cache,
    log: Log,
}

/// What a turn gives to a request: the reply, perhaps spoiled.
struct Part {
    reply: Reply,
    fault: Option<Fault>,
    turn: Turn,
    played: Played,
}

/// How a turn comes to be played.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Played {
    /// It is the next one.
    Next,
    /// It is not over yet.
    Again,
    /// The same request came again; its ids are made from the number of the first.
    Same { number: u64 },
}

impl Stage {
    pub(crate) fn new(script: Script, log: Log) -> Self {
        let scenes = Scene::of(&script);
        Self { script, scenes, number: 0, seals: Seals::default(), cache: Cache::default(), log }
    }

    pub(crate) fn log(&self) -> &Log {
        &self.log
    }

    pub(crate) fn script(&self) -> &Script {
        &self.script
    }

    /// The next request of this conversation may change its prefix. Whether there is such a conversation.
    pub(crate) fn declare_break(&mut self, conversation: &str) -> bool {
        let labels = self.script.conversations.iter().enumerate();
        let found = labels.map(|(index, one)| one.label(index)).position(|label| label == conversation);
        let scene = found.and_then(|index| self.scenes.get_mut(index));
        scene.map(|scene| scene.break_declared = true).is_some()
    }

    /// Decides what a request gets, and notes it.
    pub(crate) fn hear(&mut self, heard: Heard) -> Act {
        self.number += 1;
        let Heard { wire, reading, named, body } = heard;
        let Reading { view, mut violations } = reading;
        let index = self.find(&view, named.as_deref()).unwrap_or_else(|unknown| {
            // A request that cannot be read may well fit nowhere; what is wrong with it says more.
            if violations.is_empty() {
                violations.push(unknown);
            }
            None
        });
        if wire == Wire::Anthropic {
            violations.extend(self.seals.broken(&view));
        }
        let mut from = 0;
        if let Some(index) = index.filter(|_| violations.is_empty()) {
            match self.added_from(index, &view) {
                Ok(added) => from = added,
                Err(violation) => violations.push(violation),
            }
        }
        let part = if violations.is_empty() { self.take(index, &view, from) } else { Err(violations) };
        let cached = part.as_ref().map(|part| self.cached(wire, (index, &view), &body, part));
        let cached = cached.unwrap_or_default();
        let mut note = LoggedRequest {
            number: self.number,
            wire,
            conversation: index.map(|index| self.script.conversations[index].label(index)),
            turn: index.map(|index| self.scenes[index].turn + 1),
            outcome: Outcome::Refused,
            violations: Vec::new(),
            shape: shape::lines(&view),
            body: self.log.keeps_bodies().then_some(body),
        };
        match part {
            Ok(part) => {
                note.outcome = match (&part.fault, part.played) {
                    (Some(_), _) => Outcome::Fault,
                    (None, Played::Same { .. }) => Outcome::Repeated,
                    (None, Played::Next | Played::Again) => Outcome::Replied,
                };
                if part.played != Played::Next {
                    note.turn = index.map(|index| self.scenes[index].turn);
                }
                self.log.push(note);
                self.advance(index, &view, &part, cached);
                self.seals.note(&part.reply, self.number);
                Act::Play(Box::new(self.cue(wire, view, part, cached)))
            }
            Err(violations) => {
                let trouble = trouble(&violations);
                note.violations = violations;
                self.log.push(note);
                Act::Refuse { wire, number: self.number, trouble }
            }
        }
    }

    /// The conversation that a request belongs to. `None` when it gets the default reply.
    fn find(&self, view: &View, named: Option<&str>) -> Result<Option<usize>, Violation> {
        let all = || self.script.conversations.iter();
        let with_id = |id: &str| all().position(|one| one.id.as_deref() == Some(id));
        if let Some(name) = named {
            let unknown =
                || Violation::new("unknown-conversation", format!("rehearse: no conversation `{name}`"));
            return with_id(name).map(Some).ok_or_else(unknown);
        }
        let by_name = || view.names.iter().find_map(|name| with_id(name));
        let first = view.first_user_text().unwrap_or_default();
        let fits = |one: &crate::script::Conversation| {
            let begins = one.first_message.as_ref().filter(|_| one.fork_of.is_none());
            begins.is_some_and(|expect| unlike(&first, expect).is_none())
        };
        let by_text = || all().position(fits);
        let rest = || all().position(crate::script::Conversation::takes_any);
        match by_name().or_else(|| self.find_fork(view)).or_else(by_text).or_else(rest) {
            None if self.script.default_reply.is_none() => {
                let message = format!("rehearse: no conversation fits; the first message is {first:?}");
                Err(Violation::new("unknown-conversation", message))
            }
            found => Ok(found),
        }
    }

    /// The fork that a request belongs to by what it adds to its parent; of forks of forks, the one that shares most.
    fn find_fork(&self, view: &View) -> Option<usize> {
        let shared = |index: usize| {
            let conversation = &self.script.conversations[index];
            let (fork, begins) = (conversation.fork_of.as_ref()?, conversation.first_message.as_ref()?);
            let parent = self.scenes[Scene::parent(&self.script, fork)?].kept.get(&fork.at_turn)?;
            let from = parent.items.len();
            let fits = prefix::broken(parent, &view.pieces).is_none()
                && unlike(&Added::since(view, from).text(), begins).is_none();
            fits.then_some((from, index))
        };
        (0..self.scenes.len()).filter_map(shared).max_by_key(|(from, _)| *from).map(|(_, index)| index)
    }

    /// Holds the request to the prefix of the one before, and says from which message on it adds something.
    fn added_from(&mut self, index: usize, view: &View) -> Result<usize, Violation> {
        let scene = &self.scenes[index];
        let conversation = &self.script.conversations[index];
        let broken = |earlier| {
            prefix::broken(earlier, &view.pieces)
                .map(|told| Violation::new("prefix", format!("rehearse: {told}")))
        };
        let allowed =
            scene.break_declared || conversation.turns.get(scene.turn).is_some_and(|turn| turn.breaks_prefix);
        let (violation, from) = match (&scene.last, &conversation.fork_of) {
            (Some(last), _) => (broken(last), scene.answered),
            (None, None) => (None, 0),
            (None, Some(fork)) => {
                let parent = Scene::parent(&self.script, fork)
                    .and_then(|parent| self.scenes[parent].kept.get(&fork.at_turn));
                let Some(parent) = parent else {
                    let told = format!(
                        "rehearse: a fork of `{}` at turn {}, which was not played yet",
                        fork.conversation, fork.at_turn
                    );
                    return Err(Violation::new("prefix", told));
                };
                (broken(parent), parent.items.len())
            }
        };
        match violation {
            None => Ok(from),
            Some(_) if allowed => Ok(0),
            Some(violation) => Err(violation),
        }
    }

    /// The reply to a request that keeps the rules, if it also says what is expected.
    fn take(&mut self, index: Option<usize>, view: &View, from: usize) -> Result<Part, Vec<Violation>> {
        let numbered = self.script.faults.iter().find(|fault| fault.hits(self.number));
        let numbered = numbered.map(|fault| fault.what.clone());
        let default = self.script.default_reply.clone().map(|reply| (Turn::default(), reply));
        let Some(index) = index else {
            let (turn, reply) = default.unwrap_or_default();
            return Ok(Part { reply, fault: numbered, turn, played: Played::Next });
        };
        if let Some(part) = self.repeat(index, (view, from), numbered.as_ref())? {
            return Ok(part);
        }
        let scene = &mut self.scenes[index];
        let Some(turn) = self.script.conversations[index].turns.get(scene.turn).cloned() else {
            let label = self.script.conversations[index].label(index);
            let message = format!("rehearse: conversation `{label}` has no turn left");
            let (turn, reply) = default.ok_or_else(|| vec![Violation::new("no-turn-left", message)])?;
            return Ok(Part { reply, fault: numbered, turn, played: Played::Next });
        };
        let added = Added::since(view, from);
        let caught = expected(&turn, &added, &scene.caught)?;
        scene.caught = caught;
        let reply = turn.reply.as_ref().map(|reply| capture::fill_reply(reply, &scene.caught));
        let met = scene.faults_met;
        let own = turn.fault.as_ref().filter(|fault| met < fault.times).map(|fault| fault.what.clone());
        if numbered.is_none() && own.is_some() {
            scene.faults_met += 1;
        }
        Ok(Part { reply: reply.unwrap_or_default(), fault: numbered.or(own), turn, played: Played::Next })
    }

    /// The last turn once more: for the same request, or because it is not over.
    fn repeat(
        &mut self,
        index: usize,
        (view, from): (&View, usize),
        numbered: Option<&Fault>,
    ) -> Result<Option<Part>, Vec<Violation>> {
        let conversation = &self.script.conversations[index];
        let scene = &mut self.scenes[index];
        let fault = numbered.cloned();
        let given = scene.given.as_ref().filter(|given| self.script.resumes && given.request == view.pieces);
        if let Some(Given { number, reply, turn, .. }) = given.cloned() {
            return Ok(Some(Part { reply, fault, turn, played: Played::Same { number } }));
        }
        let last = scene.turn.checked_sub(1).and_then(|last| conversation.turns.get(last));
        let Some(turn) = last.filter(|turn| !is_over(turn, (view, from), &scene.caught)) else {
            return Ok(None);
        };
        scene.repeats += 1;
        if scene.repeats > REPEATS {
            let label = conversation.label(index);
            let message = format!("rehearse: turn {} of `{label}` was not over after {REPEATS}", scene.turn);
            return Err(vec![Violation::new("no-end", message)]);
        }
        let reply = turn.reply.as_ref().map(|reply| capture::fill_reply(reply, &scene.caught));
        let (reply, turn) = (reply.unwrap_or_default(), turn.clone());
        Ok(Some(Part { reply, fault, turn, played: Played::Again }))
    }

    /// What of a request the prompt cache had. Who is given the same answer again is billed the same again.
    fn cached(
        &mut self,
        wire: Wire,
        (index, view): (Option<usize>, &View),
        body: &Value,
        part: &Part,
    ) -> Cached {
        if !self.script.caches || matches!(part.fault, Some(Fault::Status { .. })) {
            return Cached::default();
        }
        let given = index.and_then(|index| self.scenes[index].given.as_ref());
        match (part.played, given) {
            (Played::Same { .. }, Some(given)) => given.cached,
            _ => self.cache.serve(wire, view, body),
        }
    }

    /// Moves the conversation on when its turn is over.
    fn advance(&mut self, index: Option<usize>, view: &View, part: &Part, cached: Cached) {
        let Some(scene) = index.and_then(|index| self.scenes.get_mut(index)) else { return };
        scene.last = Some(view.pieces.clone());
        scene.break_declared = false;
        let faulty = part.turn.fault.as_ref();
        let spent = faulty.is_some_and(|fault| fault.ends_turn && scene.faults_met >= fault.times);
        if part.fault.is_some() && !spent {
            return;
        }
        match part.played {
            Played::Next => scene.end_turn(&view.pieces),
            Played::Again => scene.answered = view.pieces.items.len(),
            Played::Same { .. } => return,
        }
        if self.script.resumes {
            let (request, reply, turn) = (view.pieces.clone(), part.reply.clone(), part.turn.clone());
            scene.given = Some(Given { request, number: self.number, reply, turn, cached });
        }
    }

    fn cue(&self, wire: Wire, view: View, part: Part, cached: Cached) -> Cue {
        let Part { reply, fault, turn, played } = part;
        let number = match played {
            Played::Next | Played::Again => self.number,
            Played::Same { number } => number,
        };
        Cue {
            wire,
            number,
            view,
            cached,
            reply,
            fault,
            gate: turn.gate,
            delay_ms: turn.delay_ms.unwrap_or_default(),
            chunk_delay_ms: turn.chunk_delay_ms.unwrap_or_default(),
            chunk_bytes: turn.chunk_bytes,
        }
    }

    /// What went wrong so far, and what was not asked for.
    pub(crate) fn report(&self) -> Report {
        let requests = self.log.requests().iter();
        let violations = requests.flat_map(|request| {
            request.violations.iter().map(|violation| (request.number, violation.clone()))
        });
        let conversations = self.script.conversations.iter().zip(&self.scenes).enumerate();
        let unplayed = conversations.filter(|(_, (one, scene))| scene.turn < one.turns.len());
        let unplayed = unplayed.map(|(index, (one, scene))| {
            let (label, total) = (one.label(index), one.turns.len());
            format!("conversation `{label}`: {} of {total} turns were played", scene.turn)
        });
        let unmet = self.script.faults.iter().filter(|fault| self.number < fault.at);
        let unmet =
            unmet.map(|fault| format!("the fault of request {}: there were {}", fault.at, self.number));
        let left_over = unplayed.chain(unmet).chain(self.log.failure().cloned());
        Report { violations: violations.collect(), left_over: left_over.collect() }
    }
}

/// Whether the next request says what ends this turn.
fn is_over(turn: &Turn, (view, from): (&View, usize), caught: &Caught) -> bool {
    let (expect, from) = match &turn.until {
        None => return true,
        Some(Until::Added(expect)) => (expect, from),
        Some(Until::Ever(expect)) => (expect, 0),
    };
    unlike(&Added::since(view, from).text(), &capture::fill_text(expect, caught)).is_none()
}

/// What was caught, if the request says what the turn expects.
fn expected(turn: &Turn, added: &Added<'_>, caught: &Caught) -> Result<Caught, Vec<Violation>> {
    let unmet = |told: String| Violation::new("expect", format!("rehearse: {told}"));
    if let Some(expect) = &turn.expect {
        let failures = added.failures(&capture::fill_expect(expect, caught));
        if !failures.is_empty() {
            return Err(failures.into_iter().map(unmet).collect());
        }
    }
    let mut caught = caught.clone();
    let text = added.text();
    for pattern in &turn.capture {
        capture::catch(pattern, &text, &mut caught).map_err(|told| vec![unmet(told)])?;
    }
    Ok(caught)
}

/// The error that answers these violations: the first one speaks, as with the real services.
fn trouble(violations: &[Violation]) -> Trouble {
    let first = violations.first();
    let status = match first.map(|violation| violation.rule) {
        Some("authentication") => 401,
        Some("too-large") => 413,
        _ => 400,
    };
    let message = first.map(|violation| violation.message.clone()).unwrap_or_default();
    Trouble { status, kind: None, message }
}
