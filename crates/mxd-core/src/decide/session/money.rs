//! Money: set aside before a call, settled after it, handed down and back.

use super::turn::Turn;
use crate::decide::{Actor, Effect, Refusal};
use crate::event::body::{
    BudgetExceeded, BudgetGranted, BudgetRefunded, BudgetSettled, BudgetWarning, RestReason, Terms,
};
use crate::id::{ReservationId, TaskId};
use crate::message::NoticeTopic;
use crate::money::Usd;
use crate::session::Load;
use crate::state::Reservation;

/// Whether the next model call can be paid.
pub(super) enum Money {
    /// This much is to be set aside for it.
    SetAside(Usd),
    /// It cannot.
    Short,
}

/// Part of a budget, in hundredths, from which on its agent is warned.
const WARNING: u64 = 80;
/// Prices are of so many tokens.
const TOKENS_PER_PRICE: u128 = 1_000_000;

/// Looks whether the next call can be paid, whatever it comes to; if not, the agent comes to rest. `more` is what the
/// model reads besides what it has read.
pub(super) fn set_aside(turn: &mut Turn<'_, '_>, more: Load) -> Result<Money, Refusal> {
    let Some(owner) = turn.plan.state.budget_owner(turn.task) else {
        return Ok(Money::SetAside(worst_case(turn, more).unwrap_or(Usd::ZERO)));
    };
    let left = left(turn, owner.id);
    let warning = warning(turn, owner.id);
    let told = Load::text(warning.as_ref().map_or(0, |warning| warning.warning.len()));
    let wanted = worst_case(turn, more.and(told));
    if let Some(amount) = wanted.filter(|amount| *amount <= left) {
        if let Some(warning) = warning {
            turn.emit(warning);
        }
        return Ok(Money::SetAside(amount));
    }
    // Told once: every further message would say the same again.
    if turn.session.rest != Some(RestReason::Spent) {
        let fields = owner.task().ok_or(Refusal::NotATask { task: owner.id, wanted: "have a budget" })?;
        let budget_usd = fields.budget_usd.unwrap_or(Usd::ZERO);
        turn.emit(BudgetExceeded { title: owner.title.clone(), cost_usd: fields.spent_usd, budget_usd });
        turn.rest(RestReason::Spent);
        let why = match wanted {
            Some(wanted) => {
                format!("its next model call may cost {wanted}, and {left} of its budget is left")
            }
            None => "it has a budget, and what its model costs is not known".to_owned(),
        };
        turn.tell_above(&why)?;
    }
    Ok(Money::Short)
}

/// What a task has left of its own budget, after what this decision settles.
pub(super) fn left(turn: &Turn<'_, '_>, owner: TaskId) -> Usd {
    let left = turn.plan.state.remaining(owner).unwrap_or(Usd::ZERO);
    let settled = turn.settled.iter().filter(|settled| settled.owner == Some(owner));
    settled.fold(left, |left, settled| {
        let freed = left.checked_add(settled.reserved).unwrap_or(Usd::MAX);
        freed.checked_sub(settled.cost).unwrap_or(Usd::ZERO)
    })
}

/// What the next call costs at the very most; none when the prices are not known.
fn worst_case(turn: &Turn<'_, '_>, more: Load) -> Option<Usd> {
    let (terms, mut context) = (turn.session.terms?, turn.session.context);
    context.add(more);
    price(&terms, context.worst(), terms.max_output_tokens)
}

/// Something that a model is to read besides the conversation of its task, and how much it may write about it.
pub(super) struct Wanted {
    pub(super) load: Load,
    pub(super) max_tokens: u64,
}

/// What that costs at the very most; none when the prices are not known.
pub(super) fn worst_case_of(turn: &Turn<'_, '_>, wanted: &Wanted) -> Option<Usd> {
    let terms = turn.session.terms?;
    price(&terms, wanted.load.most(), wanted.max_tokens.min(terms.max_output_tokens))
}

fn price(terms: &Terms, read: u64, written: u64) -> Option<Usd> {
    let price = |tokens: u64, usd: Usd| u128::from(tokens) * u128::from(usd.micros());
    let total = price(read.min(terms.context_window), terms.input_usd) + price(written, terms.output_usd);
    Usd::from_micros(u64::try_from(total.div_ceil(TOKENS_PER_PRICE)).ok()?)
}

/// What an agent is told when its money runs out: once, and again when it had got more.
fn warning(turn: &Turn<'_, '_>, owner: TaskId) -> Option<BudgetWarning> {
    let fields = turn.plan.tree().get(owner)?.task()?;
    let settled = turn.settled.iter().filter(|settled| settled.owner == Some(owner));
    let spent =
        settled.fold(fields.spent_usd, |sum, settled| sum.checked_add(settled.cost).unwrap_or(Usd::MAX));
    let budget = fields.budget_usd.filter(|budget| *budget > Usd::ZERO)?;
    let told = turn.session.warned_of.is_some_and(|told| budget <= told);
    if told || spent.micros() < budget.micros() / 100 * WARNING {
        return None;
    }
    let warning = format!(
        "{spent} of the budget of {budget} is spent. Finish what matters most, commit, and report; \
         no model call is made that could exceed it."
    );
    Some(BudgetWarning { warning, budget_usd: Some(budget) })
}

/// The call has ended: what it cost is spent, the rest of what was set aside is free again.
pub(super) fn settle(turn: &mut Turn<'_, '_>, cost: Settling) {
    let mine: Vec<_> = for_the_call(turn).map(|(id, _)| *id).collect();
    for id in mine {
        settle_one(turn, id, cost);
    }
}

/// The same for one of the things that something was set aside for.
pub(super) fn settle_one(turn: &mut Turn<'_, '_>, id: ReservationId, cost: Settling) {
    let Some(Reservation { owner, amount: reserved, .. }) = turn.plan.state.reservations().get(&id).copied()
    else {
        return;
    };
    let (cost, worst_case) = match cost {
        Settling::Cost(cost) => (cost, false),
        Settling::All => (reserved, true),
    };
    turn.emit(BudgetSettled { id, amount_usd: cost, worst_case });
    turn.settled.push(Settled { owner, reserved, cost });
    if let Some(owner) = owner.filter(|_| cost < reserved) {
        resume(turn, owner, "Money that was set aside for another is free again. Go on.");
    }
}

/// What is set aside for the model call of a task. What its model writes for servers is settled for itself.
fn for_the_call<'t>(turn: &'t Turn<'_, '_>) -> impl Iterator<Item = (&'t ReservationId, &'t Reservation)> {
    let reservations = turn.plan.state.reservations().iter();
    reservations.filter(|(id, reservation)| {
        reservation.asker == turn.task && !turn.session.samplings.contains_key(id)
    })
}

/// A call that this decision settles. The state does not know of it yet.
pub(super) struct Settled {
    owner: Option<TaskId>,
    reserved: Usd,
    cost: Usd,
}

/// What a call has cost.
#[derive(Debug, Clone, Copy)]
pub(super) enum Settling {
    /// This much.
    Cost(Usd),
    /// Nobody knows: all that was set aside.
    All,
}

/// What was set aside for the running call.
pub(super) fn reserved(turn: &Turn<'_, '_>) -> Usd {
    for_the_call(turn)
        .fold(Usd::ZERO, |sum, (_, reservation)| sum.checked_add(reservation.amount).unwrap_or(Usd::MAX))
}

/// What was set aside under this name.
pub(super) fn reserved_as(turn: &Turn<'_, '_>, id: ReservationId) -> Usd {
    turn.plan.state.reservations().get(&id).map_or(Usd::ZERO, |reservation| reservation.amount)
}

/// Hands back what a task that has ended did not need.
pub(super) fn refund(turn: &mut Turn<'_, '_>) {
    let above = turn.plan.tree().task_above(turn.task);
    if let Some(owner) = above.and_then(|above| turn.plan.state.budget_owner(above.id)) {
        hand_back(turn, owner.id);
    }
}

/// Hands what a task has left of its own budget to another.
pub(super) fn hand_back(turn: &mut Turn<'_, '_>, to: TaskId) {
    let has_budget = turn.fields().is_ok_and(|fields| fields.budget_usd.is_some());
    let left = left(turn, turn.task);
    if has_budget && left > Usd::ZERO {
        turn.emit(BudgetRefunded { to, amount_usd: left });
        resume(turn, to, &format!("{left} that a sub-task did not need came back to the budget. Go on."));
    }
}

/// The user gives more, and the agent goes on if it had stopped for want of it.
pub(super) fn grant(turn: &mut Turn<'_, '_>, amount: Usd) -> Result<(), Refusal> {
    if turn.plan.actor != Actor::User {
        return Err(Refusal::UserOnly { wanted: "grant money" });
    }
    if amount == Usd::ZERO {
        return Err(Refusal::Empty { field: "the amount" });
    }
    turn.emit(BudgetGranted { amount_usd: amount });
    resume(turn, turn.task, &format!("The user added {amount} to the budget. Go on."));
    Ok(())
}

/// Lets those go on who pay from this budget and had stopped for want of money. Who still lacks some stays as it is.
pub(super) fn resume(turn: &mut Turn<'_, '_>, owner: TaskId, text: &str) {
    let payers = tasks_from(turn, owner).filter(|id| *id == owner || pays_from(turn, *id, owner));
    let payers: Vec<TaskId> = payers.collect();
    call_spent(turn, &payers, text);
}

/// Lets those go on who stand below another budget now, because they were moved. Who has its own pays from that.
pub(super) fn resume_moved(turn: &mut Turn<'_, '_>, moved: TaskId) {
    let state = turn.plan.state;
    let paid_from_above = |id: &TaskId| {
        let owner = state.budget_owner(*id);
        owner.is_none_or(|owner| !state.tree().is_in_subtree(owner.id, moved))
    };
    let payers: Vec<TaskId> = tasks_from(turn, moved).filter(paid_from_above).collect();
    call_spent(turn, &payers, "You stand below another budget now. Go on.");
}

/// The node and everything below it.
fn tasks_from<'p>(turn: &Turn<'_, 'p>, top: TaskId) -> impl Iterator<Item = TaskId> + use<'p> {
    let below = turn.plan.tree().descendants(top);
    [top].into_iter().chain(below.into_iter().map(|node| node.id))
}

fn call_spent(turn: &mut Turn<'_, '_>, payers: &[TaskId], text: &str) {
    for task in payers {
        let is_short = turn.plan.state.session(*task).rest() == Some(&RestReason::Spent);
        if !is_short || turn.plan.deleted.contains(task) {
            continue;
        }
        if turn.plan.state.inbox(*task).wants_agent() {
            turn.effect(Effect::Wake { task: *task });
        } else {
            turn.tell(*task, NoticeTopic::Budget, text.to_owned());
        }
    }
}

/// Whether a task without a budget of its own is paid from this one.
fn pays_from(turn: &Turn<'_, '_>, task: TaskId, owner: TaskId) -> bool {
    let tree = turn.plan.tree();
    let itself = tree.get(task).into_iter().filter(|node| node.task().is_some());
    let mut line = itself.chain(tree.tasks_above(task)).take_while(|node| node.id != owner);
    line.all(|node| node.task().is_some_and(|fields| fields.budget_usd.is_none()))
}
