//! The new beginning of a summarised conversation: what the model wrote, and what must not depend on its memory.

use mxd_core::decide::{AnswerItem, Cost, Refreshed};
use mxd_core::id::TaskId;
use mxd_core::money::Usd;
use mxd_core::prompt::text::{self, Checkpoint, Kept, KeptChild, KeptQuestion, Prose, UserWords};
use mxd_core::state::State;
use mxd_core::tree::Status;

use super::Agents;
use super::desk::Desk;

impl Agents {
    /// None when the model wrote no summary.
    pub(super) async fn refresh(
        &self,
        task: TaskId,
        desk: &Desk,
        (items, price): (&[AnswerItem], Cost),
    ) -> Option<Refreshed> {
        let words: Vec<&str> = items
            .iter()
            .filter_map(|item| match item {
                AnswerItem::Text(text) => Some(text.as_str()),
                AnswerItem::Thinking(_) | AnswerItem::Other { .. } | AnswerItem::Call(_) => None,
            })
            .collect();
        let prose = text::prose(&words.join("\n"));
        if prose.is_empty() {
            return None;
        }
        let model = self.model_of(task).ok()?;
        let toolbox = self.toolbox(desk).await.ok()?;
        let config = self.session_config(task, &model, &toolbox).ok()?;
        let mut situation = self.situation(task).await.ok()?;
        situation.running_cost = self.cost_of_summary(task, price);
        let directory = situation.directory.display().to_string();
        let (user, unknown) = {
            let talk = desk.talk.lock().await;
            let talk = talk.as_ref();
            (
                talk.map(|talk| talk.user.clone()).unwrap_or_default(),
                talk.map(|talk| talk.unknown.clone()).unwrap_or_default(),
            )
        };
        let user: Vec<UserWords<'_>> = user.iter().map(|(at, text)| UserWords { at: *at, text }).collect();
        let facts = Facts { user: &user, unknown: &unknown, directory: &directory };
        let checkpoint = self.parts().shown.look(|state| checkpoint(state, task, &prose, &facts));
        let first = self.first_message(task, &situation, &toolbox);
        let content = format!("{first}\n\n{checkpoint}");
        Some(Refreshed { config, checkpoint, content, cwd: Some(directory) })
    }

    /// What the summary itself costs: it is settled by the decision that the new beginning becomes a part of. When its price
    /// is not certain, that is at most everything that was set aside for it.
    fn cost_of_summary(&self, task: TaskId, price: Cost) -> Usd {
        match price {
            Cost::Known(cost) => cost,
            Cost::Unknown | Cost::Cut { .. } | Cost::Impossible { .. } => self.parts().shown.look(|state| {
                let mine = state.reservations().iter().filter(|(id, set_aside)| {
                    set_aside.asker == task && !state.session(task).samplings().contains_key(*id)
                });
                mine.fold(Usd::ZERO, |sum, (_, set_aside)| {
                    sum.checked_add(set_aside.amount).unwrap_or(Usd::MAX)
                })
            }),
        }
    }
}

struct Facts<'a> {
    user: &'a [UserWords<'a>],
    unknown: &'a [String],
    directory: &'a str,
}

fn checkpoint(state: &State, task: TaskId, prose: &Prose, facts: &Facts<'_>) -> String {
    let below = state.tree().tasks_below(task);
    let children: Vec<KeptChild<'_>> = below
        .iter()
        .filter(|node| node.status() != Some(Status::Closed))
        .map(|node| KeptChild {
            id: node.id,
            title: &node.title,
            status: node.status().unwrap_or(Status::Pending),
            branch: node.task().and_then(|task| task.branch.as_deref()),
        })
        .collect();
    let session = state.session(task);
    let questions: Vec<String> = session.questions().keys().map(ToString::to_string).collect();
    let clarifications: Vec<KeptQuestion<'_>> =
        questions.iter().map(|id| KeptQuestion { id, about: "a question to the user" }).collect();
    let asked: Vec<(String, &str)> =
        session.approvals().iter().map(|(id, waiting)| (id.to_string(), waiting.tool.as_str())).collect();
    let approvals: Vec<KeptQuestion<'_>> =
        asked.iter().map(|(id, tool)| KeptQuestion { id, about: tool }).collect();
    let kept = Kept {
        user: facts.user,
        children: &children,
        clarifications: &clarifications,
        approvals: &approvals,
        unknown: facts.unknown,
        directory: facts.directory,
    };
    Checkpoint { prose, kept: &kept }.text()
}
