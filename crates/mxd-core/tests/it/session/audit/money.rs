//! Money is neither made nor lost: what was granted is in the accounts, and no account promises more than it has.

use std::collections::BTreeSet;

use mxd_core::change::Change;
use mxd_core::commit::Commit;
use mxd_core::event::{Event, EventBody};
use mxd_core::id::TaskId;
use mxd_core::money::Usd;
use mxd_core::price::SHORTEST_USEFUL_OUTPUT;
use mxd_core::state::State;

#[derive(Default)]
pub(super) struct Money {
    /// What all accounts hold together, in millionths, spent or not.
    granted: i128,
    /// Accounts that went with money in them, and the one it came from.
    buried: Vec<(TaskId, TaskId)>,
    /// Who was warned that its money runs out.
    warned: BTreeSet<TaskId>,
}

/// More than any text that the daemon adds to a request by itself.
const OWN_WORDS: u64 = 8_192;

impl Money {
    pub(super) fn event(&mut self, before: &State, event: &Event) {
        let budget = budget(before, event.task);
        match &event.body {
            EventBody::TaskCreated(created) => self.granted += micros(created.budget_usd),
            EventBody::TaskUpdated(updated) => match updated.budget_usd {
                Change::Keep => {}
                Change::Clear => self.granted -= micros(budget),
                Change::Set(amount) => self.granted += micros(Some(amount)) - micros(budget),
            },
            EventBody::BudgetGranted(grant) => self.granted += micros(Some(grant.amount_usd)),
            // Who has no budget has no limit: what it hands on comes from outside.
            EventBody::BudgetTransferred(given) if budget.is_none() => {
                self.granted += micros(Some(given.amount_usd));
            }
            EventBody::TaskDeleted(_) => {
                self.granted -= micros(budget);
                let above = before.tree().task_above(event.task);
                let heir = above.and_then(|above| before.budget_owner(above.id));
                let left = before.remaining(event.task).unwrap_or(Usd::ZERO);
                if let Some(heir) = heir.filter(|_| left > Usd::ZERO) {
                    self.buried.push((event.task, heir.id));
                }
            }
            EventBody::BudgetWarning(_) => {
                self.warned.insert(event.task);
            }
            EventBody::BudgetExceeded(stopped) if stopped.budget_usd > Usd::ZERO => {
                let known = stopped.next_call_usd.is_some();
                assert!(!known || self.warned.contains(&event.task), "{} was not warned", event.task);
            }
            EventBody::BudgetSettled(settled) => {
                let reserved = before.reservations().get(&settled.id).expect("it was set aside");
                assert!(settled.amount_usd <= reserved.amount, "{settled:?} is more than {reserved:?}");
            }
            _ => {}
        }
    }

    pub(super) fn check(&mut self, state: &State, commit: &Commit) {
        for (task, heir) in self.buried.drain(..) {
            assert!(state.tree().get(heir).is_none(), "{task} took money with it that is {heir}'s");
        }
        let mut accounts = 0;
        for node in state.tree().nodes().values() {
            let Some(fields) = node.task() else { continue };
            let Some(budget) = fields.budget_usd else { continue };
            accounts += micros(Some(budget));
            let mine = state.reservations().values().filter(|one| one.owner == Some(node.id));
            let reserved: u64 = mine.map(|one| one.amount.micros()).sum();
            let promised = fields.spent_usd.micros() + reserved;
            assert!(promised <= budget.micros(), "{} promised {promised} of {budget}", node.id);
        }
        assert_eq!(accounts, self.granted, "money was made or lost: {:?}", commit.events());
        for (id, reservation) in state.reservations() {
            let session = state.session(reservation.asker);
            let is_wanted = session.asking().is_some() || session.samplings().contains_key(id);
            assert!(is_wanted, "money is set aside for no call: {reservation:?}");
        }
        check_booked(commit);
        for event in commit.events() {
            if let EventBody::BudgetExceeded(_) = &event.body {
                check_exceeded(state, event.task);
            }
        }
    }
}

/// What was booked for requests is what was taken from what had been set aside for them.
fn check_booked(commit: &Commit) {
    let (mut booked, mut settled) = (0, 0);
    for event in commit.events() {
        match &event.body {
            EventBody::TurnEnded(ended) => booked += micros(Some(ended.cost_usd)),
            EventBody::AttemptFailed(failed) => booked += micros(Some(failed.cost_usd)),
            EventBody::SamplingEnded(ended) => booked += micros(Some(ended.cost_usd)),
            EventBody::BudgetSettled(one) => settled += micros(Some(one.amount_usd)),
            _ => {}
        }
    }
    assert_eq!(booked, settled, "booked and settled: {:?}", commit.events());
}

/// An agent that has to stop for want of money could not have paid its next call.
fn check_exceeded(state: &State, task: TaskId) {
    let (Some(terms), Some(owner)) = (state.session(task).terms(), state.budget_owner(task)) else {
        return;
    };
    let unread: usize = state.inbox(task).pending().map(|message| message.bytes).sum();
    let read = state.session(task).context().worst() + unread as u64 + OWN_WORDS;
    let read = u128::from(read.min(terms.context_window)) * u128::from(terms.input_usd.micros());
    let shortest = terms.max_output_tokens.min(SHORTEST_USEFUL_OUTPUT);
    let written = u128::from(shortest) * u128::from(terms.output_usd.micros());
    let worst = (read + written).div_ceil(1_000_000);
    let left = state.remaining(owner.id).unwrap_or(Usd::ZERO);
    assert!(u128::from(left.micros()) < worst, "{task} stopped with {left} left, and its call costs {worst}");
}

fn budget(state: &State, task: TaskId) -> Option<Usd> {
    state.tree().get(task)?.task()?.budget_usd
}

fn micros(amount: Option<Usd>) -> i128 {
    amount.map_or(0, |amount| i128::from(amount.micros()))
}
