//! Money: set aside before a call, settled after it, handed down and back.

use super::turn::Turn;
use crate::decide::{Actor, Effect, Refusal};
use crate::event::body::{
    BudgetExceeded, BudgetGranted, BudgetRefunded, BudgetReserved, BudgetSettled, BudgetWarning, RestReason,
};
use crate::id::{ReservationId, TaskId};
use crate::message::NoticeTopic;
use crate::money::Usd;
pub(super) use crate::price::Allowance;
use crate::price::{self, Fit};
use crate::session::Load;
use crate::state::Reservation;

/// Whether the next model call can be paid.
pub(super) enum Money {
    /// This much is to be set aside for it.
    SetAside(Allowance),
    /// It cannot.
    Short,
}

/// Part of a budget, in hundredths, from which on its agent is warned.
const WARNING: u64 = 80;

/// Looks whether the next call can be paid, whatever it comes to; if not, the agent comes to rest. When only a short answer
/// can be paid, it is asked for one. `more` is what the model reads besides what it has read.
pub(super) fn set_aside(turn: &mut Turn<'_, '_>, more: Load) -> Result<Money, Refusal> {
    let Some(owner) = turn.plan.state.budget_owner(turn.task).map(|owner| owner.id) else {
        return Ok(Money::SetAside(unlimited(turn, more)));
    };
    if let Some(warning) = warning(turn, owner, fit(turn, owner, more).as_ref()) {
        turn.emit(warning);
    }
    // With the warning, which is read as well.
    match fit(turn, owner, more) {
        Some(Fit::Whole(allowance) | Fit::Shortened(allowance)) => Ok(Money::SetAside(allowance)),
        Some(Fit::None(wanted)) => short(turn, owner, Some(wanted)),
        None => short(turn, owner, None),
    }
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

/// Tokens that the next call reads at the very most.
fn read(turn: &Turn<'_, '_>, more: Load) -> u64 {
    let mut context = turn.session.context;
    context.add(more);
    context.worst()
}

/// How the next call fits into what is left; none when the prices are not known.
fn fit(turn: &Turn<'_, '_>, owner: TaskId, more: Load) -> Option<Fit> {
    turn.session.terms.map(|terms| price::fit(&terms, read(turn, more), left(turn, owner)))
}

/// What the next call may use when nobody set a limit.
fn unlimited(turn: &Turn<'_, '_>, more: Load) -> Allowance {
    let Some(terms) = turn.session.terms else {
        return Allowance { amount: Usd::ZERO, max_output_tokens: None };
    };
    let amount = price::most(&terms, read(turn, more), terms.max_output_tokens).unwrap_or(Usd::MAX);
    Allowance { amount, max_output_tokens: Some(terms.max_output_tokens) }
}

/// The next call cannot be paid: the agent comes to rest, and that is told once, because every further message would say
/// the same again.
fn short(turn: &mut Turn<'_, '_>, owner: TaskId, wanted: Option<Usd>) -> Result<Money, Refusal> {
    if turn.session.rest == Some(RestReason::Spent) {
        return Ok(Money::Short);
    }
    let node = turn.plan.node(owner)?;
    let fields = node.task().ok_or(Refusal::NotATask { task: owner, wanted: "have a budget" })?;
    let (budget_usd, left) = (fields.budget_usd.unwrap_or(Usd::ZERO), left(turn, owner));
    turn.emit(BudgetExceeded {
        title: node.title.clone(),
        cost_usd: spent(turn, owner).unwrap_or(fields.spent_usd),
        budget_usd,
        next_call_usd: wanted,
        left_usd: Some(left),
    });
    turn.rest(RestReason::Spent);
    let why = match wanted {
        Some(wanted) => {
            format!("its next model call may cost up to {wanted}, and {left} of its budget is left")
        }
        None => "it has a budget, and what its model costs is not known".to_owned(),
    };
    turn.tell_above(&why)?;
    Ok(Money::Short)
}

/// Sets money aside for a request of the model call.
pub(super) fn reserve(turn: &mut Turn<'_, '_>, allowance: Allowance) {
    let id = turn.plan.new_id();
    let Allowance { amount, max_output_tokens } = allowance;
    turn.emit(BudgetReserved { id, amount_usd: amount, max_output_tokens });
}

/// Something that a model is to read besides the conversation of its task, and how much it may write about it.
pub(super) struct Wanted {
    pub(super) load: Load,
    pub(super) max_tokens: u64,
}

/// What that costs at the very most; none when the prices are not known.
pub(super) fn worst_case_of(turn: &Turn<'_, '_>, wanted: &Wanted) -> Option<Usd> {
    let terms = turn.session.terms?;
    price::most(&terms, wanted.load.most(), wanted.max_tokens.min(terms.max_output_tokens))
}

/// What was spent of a budget, with what this decision settles.
fn spent(turn: &Turn<'_, '_>, owner: TaskId) -> Option<Usd> {
    let fields = turn.plan.tree().get(owner)?.task()?;
    let settled = turn.settled.iter().filter(|settled| settled.owner == Some(owner));
    Some(settled.fold(fields.spent_usd, |sum, settled| sum.checked_add(settled.cost).unwrap_or(Usd::MAX)))
}

/// What an agent is told when its money runs out: once, and again when it had got more. That is at four fifths of the
/// budget, and before that when what is left does not pay for a whole answer: nobody is stopped without a warning.
fn warning(turn: &Turn<'_, '_>, owner: TaskId, fit: Option<&Fit>) -> Option<BudgetWarning> {
    let spent = spent(turn, owner)?;
    let budget = turn.plan.tree().get(owner)?.task()?.budget_usd.filter(|budget| *budget > Usd::ZERO)?;
    let told = turn.session.warned_of.is_some_and(|told| budget <= told);
    let is_short = matches!(fit, Some(Fit::Shortened(_) | Fit::None(_)));
    let told = told || turn.session.rest == Some(RestReason::Spent) && matches!(fit, Some(Fit::None(_)));
    if told || !is_short && spent.micros() < budget.micros() / 100 * WARNING {
        return None;
    }
    let shorter = match fit {
        Some(Fit::Shortened(Allowance { max_output_tokens: Some(tokens), .. })) => {
            format!(" What is left pays for answers of up to {tokens} tokens: keep them short.")
        }
        Some(Fit::Whole(_) | Fit::Shortened(_) | Fit::None(_)) | None => String::new(),
    };
    let warning = format!(
        "{spent} of the budget of {budget} is spent.{shorter} Finish what matters most, commit, and report; \
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
    turn.settled.push(Settled { id, owner, reserved, cost });
    if let Some(owner) = owner.filter(|_| cost < reserved) {
        resume(turn, owner, "Money that was set aside for another is free again. Go on.");
    }
}

/// What is set aside for the model call of a task. What its model writes for servers is settled for itself.
fn for_the_call<'t>(turn: &'t Turn<'_, '_>) -> impl Iterator<Item = (&'t ReservationId, &'t Reservation)> {
    let reservations = turn.plan.state.reservations().iter();
    reservations.filter(|(id, reservation)| {
        reservation.asker == turn.task
            && !turn.session.samplings.contains_key(id)
            && !turn.settled.iter().any(|settled| settled.id == **id)
    })
}

/// A call that this decision settles. The state does not know of it yet.
pub(super) struct Settled {
    id: ReservationId,
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

/// What is set aside for the running request of the model call.
pub(super) fn reserved_for_call(turn: &Turn<'_, '_>) -> Option<Reservation> {
    for_the_call(turn).next().map(|(_, reservation)| *reservation)
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
