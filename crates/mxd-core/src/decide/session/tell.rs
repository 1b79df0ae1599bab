//! What the daemon tells agents about their own situation.

use super::turn::Turn;
use crate::decide::{Effect, Refusal};
use crate::event::body::MessagePosted;
use crate::id::TaskId;
use crate::message::{Notice, NoticeTopic};

impl Turn<'_, '_> {
    /// Tells the agent something, and calls it for that.
    pub(super) fn tell_itself(&mut self, topic: NoticeTopic, content: String) {
        let (id, wake) = (self.plan.new_id(), self.works() && !self.is_stopped());
        self.emit(MessagePosted { id, body: Notice { topic, content }.into(), wake });
        if wake {
            self.effect(Effect::Wake { task: self.task });
        }
    }

    /// Tells the task above that this one cannot go on. Somebody may be waiting for it.
    pub(super) fn tell_above(&mut self, why: &str) -> Result<(), Refusal> {
        let node = self.node()?;
        let Some(above) = self.plan.tree().task_above(self.task) else {
            return Ok(());
        };
        let content = format!("The sub-task \"{}\" ({}) does not go on: {why}", node.title, node.id);
        self.tell(above.id, NoticeTopic::Stuck, content);
        Ok(())
    }

    /// Tells any task. One that has ended or was stopped reads it when it is next called.
    pub(super) fn tell(&mut self, to: TaskId, topic: NoticeTopic, content: String) {
        if to == self.task {
            return self.tell_itself(topic, content);
        }
        let (id, wake) = (self.plan.new_id(), self.plan.is_called(to));
        self.plan.emit(to, MessagePosted { id, body: Notice { topic, content }.into(), wake });
        if wake {
            self.effect(Effect::Wake { task: to });
        }
    }
}
