//! Tools about the tree that need more than the state: other projects, the log, git.

use mxd_core::commit::Seq;
use mxd_core::event::{Event, EventBody, EventHead, split_events};
use mxd_core::id::TaskId;
use mxd_core::raw::RawJson;
use mxd_core::tool::orchestrator::{Orchestrator, SearchLogs, SearchTasks};
use mxd_store::Log;
use mxd_tools::outcome::Outcome;

use super::Agents;
use super::once::Run;

/// Characters of an entry that are shown.
const GLIMPSE: usize = 400;
/// Commits read at a time.
const PAGE: usize = 512;

impl Agents {
    pub(super) async fn orchestrate(
        &self,
        task: TaskId,
        (name, args): (&str, &RawJson),
        run: Run<'_>,
    ) -> Outcome {
        let request = match Orchestrator::parse(name, args.get()) {
            Ok(request) => request,
            Err(error) => return Outcome::error(error.for_model()),
        };
        match request {
            Orchestrator::SearchTasks(wish) => self.search_tasks(&wish),
            Orchestrator::SearchLogs(wish) => self.search_logs(wish).await,
            Orchestrator::ListProjects(_) if self.is_root(task) => self.list_projects(),
            Orchestrator::SendMessageToProject(wish) if self.is_root(task) => {
                let (neighbours, id) =
                    (&self.surroundings().neighbours, self.message_of_call(task, run.call));
                match neighbours.write(self.parts().project, &wish.project_id, (id, wish.message)).await {
                    Ok(sent) => Outcome::text(sent),
                    Err(why) => Outcome::error(format!("Not sent: {why}.")),
                }
            }
            Orchestrator::ListProjects(_) | Orchestrator::SendMessageToProject(_) => {
                Outcome::error("Only the root task deals with other projects; ask it by send_message.")
            }
            other => Outcome::error(format!("{} is not run here.", other.name())),
        }
    }

    pub(super) fn is_root(&self, task: TaskId) -> bool {
        self.parts().shown.look(|state| state.tree().root().is_some_and(|root| root.id == task))
    }

    fn list_projects(&self) -> Outcome {
        let own = self.parts().project;
        let lines = self.surroundings().neighbours.all().into_iter().map(|(id, neighbour)| {
            let you = if id == own { " (this one)" } else { "" };
            format!("{id} {}{you}", neighbour.name)
        });
        let lines: Vec<String> = lines.collect();
        Outcome::text(if lines.is_empty() { "No projects.".to_owned() } else { lines.join("\n") })
    }

    /// By the words they have in common with the question; the title counts most.
    fn search_tasks(&self, wish: &SearchTasks) -> Outcome {
        let words: Vec<String> = wish.query.split_whitespace().map(str::to_lowercase).collect();
        let mut found: Vec<(usize, String)> = self.parts().shown.look(|state| {
            let scored = state.tree().nodes().values().filter_map(|node| {
                let (title, text) = (node.title.to_lowercase(), node.description.to_lowercase());
                let score: usize = words
                    .iter()
                    .map(|word| {
                        3 * title.matches(word.as_str()).count().min(3)
                            + text.matches(word.as_str()).count().min(3)
                    })
                    .sum();
                let status = node.status().map_or("folder", |status| status.name());
                (score > 0).then(|| (score, format!("{} [{status}] {}", node.id, node.title)))
            });
            scored.collect()
        });
        found.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
        let lines: Vec<String> =
            found.into_iter().take(usize::try_from(wish.limit).unwrap_or(10)).map(|(_, line)| line).collect();
        Outcome::text(if lines.is_empty() { "Nothing found.".to_owned() } else { lines.join("\n") })
    }

    async fn search_logs(&self, wish: SearchLogs) -> Outcome {
        let task = self.parts().shown.look(|state| wish.task_id.resolve(state.tree().nodes()));
        let task = match task {
            Ok(task) => task,
            Err(error) => return Outcome::error(error.to_string()),
        };
        let pattern = regex::RegexBuilder::new(&wish.query).case_insensitive(wish.case_insensitive).build();
        let pattern = match pattern {
            Ok(pattern) => pattern,
            Err(error) => return Outcome::error(format!("The expression cannot be read: {error}")),
        };
        let log = self.parts().log.clone();
        let found = tokio::task::spawn_blocking(move || places(&log, task, (&wish, &pattern))).await;
        match found {
            Ok(Ok(lines)) if lines.is_empty() => Outcome::text("Nothing found."),
            Ok(Ok(lines)) => Outcome::text(lines.join("\n")),
            Ok(Err(error)) => Outcome::error(format!("The log cannot be read: {error}")),
            Err(error) => Outcome::error(format!("The search broke off: {error}")),
        }
    }
}

fn places(
    log: &Log,
    task: TaskId,
    (wish, pattern): (&SearchLogs, &regex::Regex),
) -> Result<Vec<String>, mxd_store::ReadError> {
    let kinds: Vec<&str> = wish.kinds.iter().map(|kind| kind.event_name()).collect();
    let (name, limit) = (task.to_string(), usize::try_from(wish.limit).unwrap_or(20));
    let around = usize::try_from(wish.context).unwrap_or(0);
    let mut entries: Vec<(Seq, String, bool)> = Vec::new();
    let mut after = 0;
    loop {
        let commits = log.read_task(&name, after, PAGE)?;
        let Some(last) = commits.last() else { break };
        after = last.seq;
        for commit in commits {
            for text in split_events(&commit.events).into_iter().flatten() {
                let wanted = EventHead::parse(text).is_ok_and(|head| {
                    head.task == task && (kinds.is_empty() || kinds.contains(&head.type_name.as_ref()))
                });
                if let Some((kind, words)) = wanted.then(|| Event::decode(text).ok()).flatten().and_then(said)
                {
                    let hit = pattern.is_match(&words);
                    let shown: String = words.chars().take(GLIMPSE).collect();
                    entries.push((Seq(commit.seq), format!("{kind}: {shown}"), hit));
                }
            }
        }
    }
    let hits: Vec<usize> =
        entries.iter().enumerate().filter(|(_, entry)| entry.2).map(|(at, _)| at).take(limit).collect();
    let near = |at: usize| hits.iter().any(|hit| at.abs_diff(*hit) <= around);
    let shown = entries.iter().enumerate().filter(|(at, _)| near(*at));
    Ok(shown.map(|(_, (seq, line, hit))| format!("{} #{seq} {line}", if *hit { ">" } else { " " })).collect())
}

/// What an event says, if it is part of the conversation.
fn said(event: Event) -> Option<(&'static str, String)> {
    match event.body {
        EventBody::Message(posted) => Some(("message", serde_json::to_string(&posted.body).ok()?)),
        EventBody::AssistantText(text) => Some(("assistant_text", text.content)),
        EventBody::ToolCall(call) => Some(("tool_call", format!("{} {}", call.tool, call.input.get()))),
        EventBody::ToolResult(result) => Some(("tool_result", result.content)),
        EventBody::CompactMarker(marker) => Some(("compact_marker", marker.checkpoint)),
        _ => None,
    }
}
