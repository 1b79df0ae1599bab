//! What each event does to the state.

use super::{Reservation, State};
use crate::event::body::{
    BudgetGranted, BudgetReserved, BudgetSettled, ChildrenReordered, CreatedKind, EditedBy, InitialStatus,
    MessagePosted, MessagesConsumed, TaskCreated, TaskMoved, TaskStatusChanged, TaskUpdated, WorktreeCreated,
    WorktreeRemoved,
};
use crate::event::{Event, EventBody, EventKind};
use crate::id::TaskId;
use crate::money::Usd;
use crate::session::{Load, Session};
use crate::time::Millis;
use crate::tree::shape::Fit;
use crate::tree::{Leaving, Node, NodeKind, Status, TaskFields};

impl State {
    /// Applies one event. Events that do not shape the state pass; see
    /// [`crate::event::EventKind::shapes_state`].
    pub fn apply(&mut self, event: &Event, at: Millis) {
        let task = event.task;
        self.apply_to_session(event, at);
        match &event.body {
            EventBody::TaskCreated(body) => self.create(task, body, at),
            EventBody::TaskUpdated(body) => self.update(task, body, at),
            EventBody::TaskStatusChanged(body) => self.change_status(task, body, at),
            EventBody::TaskMoved(body) => self.relocate(task, body, at),
            EventBody::ChildrenReordered(body) => self.reorder(task, body, at),
            EventBody::TaskDeleted(_) => self.delete(task),
            EventBody::TaskReset(_) | EventBody::ConversationCleared(_) => self.forget_conversation(task, at),
            EventBody::Message(body) => self.post(task, body),
            EventBody::MessagesConsumed(body) => self.consume(task, body),
            EventBody::TurnEnded(body) => self.spend(task, body.cost_usd),
            EventBody::SamplingEnded(body) => self.spend(task, body.cost_usd),
            EventBody::AttemptFailed(body) => self.spend(task, body.cost_usd),
            EventBody::BudgetReserved(body) => self.reserve(task, body),
            EventBody::BudgetSettled(body) => self.settle_reservation(body),
            EventBody::AgentStopped(_) => self.quiet(task),
            EventBody::WorktreeCreated(body) => self.give_worktree(task, body, at),
            EventBody::WorktreeDismissed(body) => self.dismiss_worktree(task, &body.path, at),
            EventBody::WorktreeRemoved(body) => self.take_worktree(task, body, at),
            EventBody::WorktreeFailed(_) => self.keep_worktree(task, at),
            EventBody::BudgetGranted(BudgetGranted { amount_usd }) => self.grant(task, *amount_usd),
            EventBody::BudgetTransferred(body) => self.transfer(task, body.to, body.amount_usd),
            EventBody::BudgetRefunded(body) => self.transfer(task, body.to, body.amount_usd),
            EventBody::NoticeSkipped(_)
            | EventBody::AssistantText(_)
            | EventBody::Thinking(_)
            | EventBody::ModelItem(_)
            | EventBody::ToolCall(_)
            | EventBody::ToolVerdict(_)
            | EventBody::ToolResult(_)
            | EventBody::SessionConfig(_)
            | EventBody::CountRequested(_)
            | EventBody::ContextCounted(_)
            | EventBody::CompactStarted(_)
            | EventBody::SummarizationRequest(_)
            | EventBody::CompactMarker(_)
            | EventBody::CompactedResume(_)
            | EventBody::CacheBreak(_)
            | EventBody::ForkMarker(_)
            | EventBody::RewindMarker(_)
            | EventBody::TurnStarted(_)
            | EventBody::OrchestrationStarted(_)
            | EventBody::OrchestrationCompleted(_)
            | EventBody::TaskStarted(_)
            | EventBody::DoneRequested(_)
            | EventBody::CheckFinished(_)
            | EventBody::DoneNotified(_)
            | EventBody::AgentQueued(_)
            | EventBody::AgentRested(_)
            | EventBody::AgentInterrupted(_)
            | EventBody::Error(_)
            | EventBody::ClarificationRequested(_)
            | EventBody::ClarificationAnswered(_)
            | EventBody::ClarificationExpired(_)
            | EventBody::ApprovalRequested(_)
            | EventBody::ApprovalGiven(_)
            | EventBody::HostApprovalRequested(_)
            | EventBody::HostApprovalGiven(_)
            | EventBody::HostApprovalExpired(_)
            | EventBody::SamplingStarted(_)
            | EventBody::BudgetWarning(_)
            | EventBody::BudgetExceeded(_)
            | EventBody::LogPruned(_)
            | EventBody::DaemonBooted(_)
            | EventBody::Unknown(_) => {}
        }
    }

    fn reorder(&mut self, task: TaskId, body: &ChildrenReordered, at: Millis) {
        let fit = self.tree.reorder(task, &body.children);
        self.settle(fit, (task, body.edited_by), at);
    }

    fn create(&mut self, id: TaskId, body: &TaskCreated, at: Millis) {
        let kind = match body.kind {
            CreatedKind::Folder => NodeKind::Folder,
            CreatedKind::Task => NodeKind::Task(TaskFields {
                status: match body.status.unwrap_or_default() {
                    InitialStatus::Draft => Status::Draft,
                    InitialStatus::Pending => Status::Pending,
                },
                branch: body.branch.clone(),
                worktree_path: None,
                leaving: None,
                cost_usd: Usd::ZERO,
                budget_usd: body.budget_usd,
                spent_usd: Usd::ZERO,
                persistent: body.persistent,
                after: body.after.clone(),
                checks: body.checks.clone(),
                manifest: body.manifest.clone(),
                skill: body.skill.clone(),
            }),
        };
        let node = Node {
            id,
            title: body.title.clone(),
            description: body.description.clone(),
            parent_id: body.parent_id,
            children: Vec::new(),
            color: body.color.clone(),
            edited_by: body.edited_by,
            created_at: at,
            updated_at: at,
            kind,
        };
        match self.tree.insert(node, body.position) {
            Fit::Exact => {}
            Fit::Repaired => self.anomalies.misplaced += 1,
            Fit::Ignored => self.anomalies.repeated += 1,
        }
    }

    fn update(&mut self, id: TaskId, body: &TaskUpdated, at: Millis) {
        self.touch(id, at, |node| {
            if let Some(title) = &body.title {
                node.title.clone_from(title);
            }
            if let Some(description) = &body.description {
                node.description.clone_from(description);
            }
            body.color.clone().apply_to(&mut node.color);
            node.edited_by = body.edited_by;
            if let Some(task) = node.task_mut() {
                body.persistent.apply_to(&mut task.persistent);
                body.budget_usd.apply_to(&mut task.budget_usd);
                if body.branch.is_some() {
                    task.branch.clone_from(&body.branch);
                }
            }
        });
        if let Some(after) = &body.after {
            self.tree.set_after(id, after.clone());
        }
    }

    fn change_status(&mut self, id: TaskId, body: &TaskStatusChanged, at: Millis) {
        if self.tree.get(id).and_then(Node::status).is_some_and(|status| status != body.from) {
            self.anomalies.mismatched += 1;
        }
        if self.tree.get(id).and_then(Node::task).is_none() {
            self.anomalies.unknown_task += 1;
            return;
        }
        self.touch(id, at, |node| {
            node.edited_by = body.edited_by;
            if let Some(task) = node.task_mut() {
                task.status = body.to;
            }
        });
        // What waited for somebody at work must not start a task that was brought to rest.
        if body.to != Status::InProgress {
            self.quiet(id);
            if let Some(session) = self.sessions.get_mut(&id) {
                session.queued = None;
            }
        }
    }

    fn quiet(&mut self, id: TaskId) {
        if let Some(inbox) = self.inboxes.get_mut(&id) {
            inbox.quiet();
        }
    }

    fn relocate(&mut self, id: TaskId, body: &TaskMoved, at: Millis) {
        let fit = self.tree.relocate(id, body.parent_id, body.position);
        self.settle(fit, (id, body.edited_by), at);
    }

    fn delete(&mut self, id: TaskId) {
        match self.tree.remove(id) {
            Fit::Exact => {}
            Fit::Repaired => self.anomalies.misplaced += 1,
            Fit::Ignored => {
                self.anomalies.misplaced += 1;
                return;
            }
        }
        self.inboxes.remove(&id);
        self.sessions.remove(&id);
    }

    fn forget_conversation(&mut self, id: TaskId, at: Millis) {
        self.inboxes.remove(&id);
        if let Some(session) = self.sessions.get_mut(&id) {
            session.forget();
            // A task that never worked is as if nobody had written to it.
            if session == Session::FRESH {
                self.sessions.remove(&id);
            }
        }
        self.touch(id, at, |_| {});
    }

    /// Only a task has a session, and only what shapes one makes one.
    fn apply_to_session(&mut self, event: &Event, at: Millis) {
        let shapes = event.body.kind().is_some_and(EventKind::shapes_session);
        if !shapes || self.tree.get(event.task).and_then(Node::task).is_none() {
            return;
        }
        if let EventBody::ForkMarker(fork) = &event.body {
            let source = self.session(fork.source_task_id).clone();
            let forked = self.sessions.entry(event.task).or_default();
            forked.fork_from((fork.source_task_id, &source));
            return;
        }
        self.sessions.entry(event.task).or_default().apply(&event.body, at);
    }

    fn reserve(&mut self, asker: TaskId, body: &BudgetReserved) {
        let owner = self.budget_owner(asker).map(|node| node.id);
        let (amount, max_output_tokens) = (body.amount_usd, body.max_output_tokens);
        self.reservations.insert(body.id, Reservation { asker, owner, amount, max_output_tokens });
    }

    fn settle_reservation(&mut self, body: &BudgetSettled) {
        let Some(reservation) = self.reservations.remove(&body.id) else {
            self.anomalies.mismatched += 1;
            return;
        };
        let owner = reservation.owner.and_then(|owner| self.tree.get_mut(owner)).and_then(Node::task_mut);
        if let Some(owner) = owner {
            match owner.spent_usd.checked_add(body.amount_usd) {
                Some(sum) => owner.spent_usd = sum,
                None => self.anomalies.mismatched += 1,
            }
        }
    }

    fn post(&mut self, id: TaskId, body: &MessagePosted) {
        if self.tree.get(id).and_then(Node::task).is_none() {
            self.anomalies.unknown_task += 1;
        } else if !self.inboxes.entry(id).or_default().post(body) {
            self.anomalies.repeated += 1;
        }
    }

    fn consume(&mut self, id: TaskId, body: &MessagesConsumed) {
        let Some(inbox) = self.inboxes.get_mut(&id) else {
            self.anomalies.unknown_task += 1;
            return;
        };
        let read = inbox.pending().filter(|message| body.message_ids.contains(&message.id));
        let load = read.fold(Load::NONE, |load, message| load.and(message.load()));
        self.anomalies.mismatched += inbox.consume(&body.message_ids);
        self.sessions.entry(id).or_default().read(load);
    }

    /// Money is not worth a `touch`: a node has not changed because its agent works.
    fn spend(&mut self, id: TaskId, cost: Usd) {
        let Some(task) = self.tree.get_mut(id).and_then(Node::task_mut) else {
            self.anomalies.unknown_task += 1;
            return;
        };
        match task.cost_usd.checked_add(cost) {
            Some(sum) => task.cost_usd = sum,
            None => self.anomalies.mismatched += 1,
        }
    }

    fn grant(&mut self, id: TaskId, amount: Usd) {
        let Some(task) = self.tree.get_mut(id).and_then(Node::task_mut) else {
            self.anomalies.unknown_task += 1;
            return;
        };
        match task.budget_usd.unwrap_or(Usd::ZERO).checked_add(amount) {
            Some(sum) => task.budget_usd = Some(sum),
            None => self.anomalies.mismatched += 1,
        }
    }

    /// A giver without a budget of its own has no limit, so there is nothing to take from it.
    fn transfer(&mut self, from: TaskId, to: TaskId, amount: Usd) {
        match self.tree.get_mut(from).and_then(Node::task_mut) {
            None => self.anomalies.unknown_task += 1,
            Some(giver) => match giver.budget_usd.map(|budget| budget.checked_sub(amount)) {
                None => {}
                Some(None) => {
                    giver.budget_usd = Some(Usd::ZERO);
                    self.anomalies.mismatched += 1;
                }
                Some(rest) => giver.budget_usd = rest,
            },
        }
        self.grant(to, amount);
    }

    fn give_worktree(&mut self, id: TaskId, body: &WorktreeCreated, at: Millis) {
        self.touch_task(id, at, |task| {
            task.worktree_path = Some(body.path.clone());
            task.branch = Some(body.branch.clone());
        });
    }

    fn dismiss_worktree(&mut self, id: TaskId, path: &str, at: Millis) {
        self.touch_task(id, at, |task| {
            if task.worktree_path.as_deref() == Some(path) {
                task.leaving = Some(Leaving::Underway);
            }
        });
    }

    /// A removal that is told late must not take a checkout that was made since.
    fn take_worktree(&mut self, id: TaskId, body: &WorktreeRemoved, at: Millis) {
        self.touch_task(id, at, |task| {
            if task.worktree_path.as_deref() == Some(&body.path) {
                task.worktree_path = None;
                task.leaving = None;
                task.branch.take_if(|branch| *branch == body.branch);
            }
        });
    }

    /// One that could not be made is not there; one that could not be removed is.
    fn keep_worktree(&mut self, id: TaskId, at: Millis) {
        self.touch_task(id, at, |task| {
            task.leaving = task.leaving.map(|_| Leaving::Stuck);
        });
    }

    fn touch(&mut self, id: TaskId, at: Millis, change: impl FnOnce(&mut Node)) {
        match self.tree.get_mut(id) {
            Some(node) => {
                change(node);
                node.updated_at = at;
            }
            None => self.anomalies.unknown_task += 1,
        }
    }

    fn touch_task(&mut self, id: TaskId, at: Millis, change: impl FnOnce(&mut TaskFields)) {
        let node = self.tree.get_mut(id);
        match node.and_then(|node| {
            node.updated_at = at;
            node.task_mut()
        }) {
            Some(task) => change(task),
            None => self.anomalies.unknown_task += 1,
        }
    }

    /// Counts what did not fit, and marks the node as changed unless it was left alone.
    fn settle(&mut self, fit: Fit, (id, edited_by): (TaskId, EditedBy), at: Millis) {
        match fit {
            Fit::Exact => {}
            Fit::Repaired | Fit::Ignored => self.anomalies.misplaced += 1,
        }
        if fit != Fit::Ignored {
            self.touch(id, at, |node| node.edited_by = edited_by);
        }
    }
}
