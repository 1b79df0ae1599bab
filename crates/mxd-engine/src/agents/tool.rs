//! Running tool calls.

use base64::Engine as _;
use mxd_core::decide::{Op, SessionOp, Settled};
use mxd_core::event::body::{Image, ToolCall, ToolCallId, ToolResult, ToolVerdict, Verdict};
use mxd_core::event::delta::ToolOutput;
use mxd_core::id::TaskId;
use mxd_core::message::BackgroundComplete;
use mxd_core::prompt::text;
use mxd_core::raw::RawJson;
use mxd_core::tool::orchestrator::{Orchestrator, SERVER};
use mxd_tools::outcome::{Outcome, Part};
use mxd_tools::plane::{Call, Settlement};
use mxd_tools::sandbox::End;
use mxd_tools::shell::{CallId, Completion, Ending, Live, Processes, State, Watcher};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::Agents;
use super::once::{Attempt, Run};
use super::room::Room;
use crate::clock;
use crate::conversation;

/// Pieces of a call's output that wait to be shown. It is for the eye: what is too much is left out and counted.
const LIVE_PIECES: usize = 64;

impl Agents {
    pub(super) async fn run_tool(
        self,
        task: TaskId,
        (call, approved): (ToolCallId, Option<String>),
        stop: CancellationToken,
    ) {
        let Some(made) = self.call_of(task, &call).await else {
            let lost = Outcome::error("The call could not be found in the log, so nothing was run.");
            return self.settle(task, (call, String::new()), (lost, None)).await;
        };
        let name = made.tool.clone();
        if let Some(orchestrated) = orchestrated(&name) {
            let is_withheld = self.parts().shown.look(|state| state.session(task).is_withheld(&name));
            if is_withheld {
                let told = Outcome::error(text::withheld(orchestrated));
                return self.settle(task, (call, name), (told, None)).await;
            }
            if let Ok(Orchestrator::MergeTask(request)) = Orchestrator::parse(orchestrated, made.input.get())
            {
                let run = (Attempt::First, &stop);
                return self.run_merge(task, (call, name), (request, approved), run).await;
            }
            let run = Run { call: &call, attempt: Attempt::First, stop: &stop };
            let outcome = self.orchestrate(task, (orchestrated, &made.input), run).await;
            return self.settle(task, (call, name), (outcome, None)).await;
        }
        self.run_in_room(task, (call, name, made.input), (approved, stop)).await;
    }

    /// A call that this daemon carries out itself had begun when the one before it ended: what came of it is found out, and
    /// what is missing of it is done.
    pub(super) async fn resume_tool(self, task: TaskId, call: ToolCallId, stop: CancellationToken) {
        let made = self.call_of(task, &call).await;
        let name = made.as_ref().map(|made| made.tool.clone()).unwrap_or_default();
        let parsed = made.as_ref().map(|made| (orchestrated(&made.tool).unwrap_or_default(), &made.input));
        let parsed = parsed.map(|(name, input)| Orchestrator::parse(name, input.get()));
        if let Some(Ok(Orchestrator::MergeTask(request))) = parsed {
            // Whether the user had accepted a change of settings is not known any more; then it is asked again.
            return self.run_merge(task, (call, name), (request, None), (Attempt::Again, &stop)).await;
        }
        let outcome = match made.as_ref().and_then(|made| Some((orchestrated(&made.tool)?, &made.input))) {
            Some(wanted) => {
                let run = Run { call: &call, attempt: Attempt::Again, stop: &stop };
                self.orchestrate(task, wanted, run).await
            }
            None => Outcome::error("The call could not be found in the log, so nothing was run."),
        };
        self.settle(task, (call, name), (outcome, None)).await;
    }

    /// A call as its model made it: at hand, or in the log when it was made before the start.
    async fn call_of(&self, task: TaskId, call: &ToolCallId) -> Option<ToolCall> {
        if let Some(made) = self.desk(task).call(call) {
            return Some(made);
        }
        let (log, wanted) = (self.parts().log.clone(), call.clone());
        let read = tokio::task::spawn_blocking(move || conversation::call_of(&log, task, &wanted));
        read.await.ok().flatten()
    }

    async fn run_in_room(
        &self,
        task: TaskId,
        (call, name, args): (ToolCallId, String, RawJson),
        (approved, stop): (Option<String>, CancellationToken),
    ) {
        let desk = self.desk(task);
        let room = match self.room(&desk).await {
            Ok(room) => room,
            Err(error) => return self.not_run(task, (call, name), &error).await,
        };
        let toolbox = match self.toolbox(&desk).await {
            Ok(toolbox) => toolbox,
            Err(error) => return self.not_run(task, (call, name), &error).await,
        };
        // Rules that were changed since the project was opened hold for this call.
        let config = match self.current_config().await {
            Ok(config) => config,
            Err(error) => return self.not_run(task, (call, name), &error).await,
        };
        let approved = approved.as_deref().and_then(|hash| hash.parse().ok());
        let authority = toolbox.authority(&config.approvals, approved);
        let wanted = Call {
            id: CallId::new(&call.0),
            tool: &name,
            args: args.get(),
            watcher: self.watcher(task, call.clone()),
        };
        let settlement = toolbox.plane.call(wanted, &authority, &room.scope, &stop).await;
        let verdict = |verdict, rule: String| {
            Some(ToolVerdict { tool_call_id: call.clone(), verdict, rule, class: toolbox.class_of(&name) })
        };
        match settlement {
            Settlement::Ask { rule, call_hash } => {
                let (rule, call_hash) = (rule.to_string(), call_hash.to_string());
                self.report(task, SessionOp::AskUser { call, rule, call_hash }).await;
            }
            Settlement::Denied { denial, told } => {
                let verdict = verdict(Verdict::Deny, denial.rule().to_string());
                self.settle(task, (call, name), (told, verdict)).await;
            }
            Settlement::Done(outcome) | Settlement::Cancelled(outcome) | Settlement::TimedOut(outcome) => {
                let verdict = verdict(Verdict::Allow, "allowed".to_owned());
                self.finish(task, (call, name), (outcome, verdict), &room).await;
            }
        }
    }

    async fn not_run(&self, task: TaskId, call: (ToolCallId, String), why: &(dyn std::error::Error + Sync)) {
        let outcome = Outcome::error(format!("Not run: {why}. Tell the task above."));
        self.settle(task, call, (outcome, None)).await;
    }

    /// Shows what a call writes while it runs, also in the background.
    fn watcher(&self, task: TaskId, call: ToolCallId) -> Watcher {
        let (watcher, mut written) = mpsc::channel(LIVE_PIECES);
        let agents = self.clone();
        self.spawn(async move {
            while let Some(Live { text, skipped_bytes, .. }) = written.recv().await {
                let output = ToolOutput { tool_call_id: call.clone(), content: text, skipped_bytes };
                agents.show(task, output.into());
            }
        });
        Watcher::new(watcher)
    }

    /// A command may have gone to the background: then more comes as a message.
    async fn finish(
        &self,
        task: TaskId,
        (call, name): (ToolCallId, String),
        (outcome, verdict): (Outcome, Option<ToolVerdict>),
        room: &Room,
    ) {
        let id = CallId::new(&call.0);
        let running = room.scope.processes.list().into_iter();
        let mine = running
            .into_iter()
            .find(|command| command.call == id && matches!(command.state, State::Running { .. }));
        let mut result = self.result((call, name), outcome);
        if let Some(command) = mine {
            result.pending = true;
            result.background_id = Some(command.id);
            result.background_command = Some(command.command);
        }
        self.report(task, SessionOp::Settled(Settled { verdict, result })).await;
    }

    pub(super) async fn settle(
        &self,
        task: TaskId,
        call: (ToolCallId, String),
        (outcome, verdict): (Outcome, Option<ToolVerdict>),
    ) {
        let result = self.result(call, outcome);
        self.report(task, SessionOp::Settled(Settled { verdict, result })).await;
    }

    /// What goes into the log. Pictures are kept beside it.
    fn result(&self, (tool_call_id, tool): (ToolCallId, String), outcome: Outcome) -> ToolResult {
        let (mut words, mut images) = (Vec::new(), Vec::new());
        let outcome = outcome.fenced();
        for part in outcome.parts {
            match part {
                Part::Text(text) => words.push(text),
                Part::Image { media_type, data } => match self.keep_picture(media_type, &data) {
                    Ok(image) => images.push(image),
                    Err(why) => words.push(format!("[a picture could not be kept: {why}]")),
                },
            }
        }
        ToolResult {
            tool,
            tool_call_id,
            content: words.join("\n"),
            is_error: outcome.is_error,
            images,
            pending: false,
            background_id: None,
            background_command: None,
            blob: None,
        }
    }

    fn keep_picture(&self, media_type: String, data: &str) -> Result<Image, String> {
        let bytes =
            base64::engine::general_purpose::STANDARD.decode(data).map_err(|error| error.to_string())?;
        let pin = self.parts().log.blobs().put(&bytes).map_err(|error| error.to_string())?;
        Ok(Image { media_type, blob: mxd_core::event::body::BlobId(pin.id().to_string()) })
    }

    /// Passes on the ends of background commands, each once.
    pub(super) async fn watch_background(self, task: TaskId, commands: Processes, closed: CancellationToken) {
        loop {
            let ended = tokio::select! {
                biased;
                () = closed.cancelled() => return,
                ended = commands.next_completion() => ended,
            };
            let id = clock::fresh(clock::now()).issue();
            self.wish(Op::Report { id, to: task, message: completion(ended).into() }).await;
        }
    }
}

/// The name of a tool of the program itself, if it is one.
fn orchestrated(tool: &str) -> Option<&str> {
    tool.strip_prefix("mcp__")?
        .strip_prefix(SERVER)?
        .strip_prefix("__")
        .filter(|name| Orchestrator::NAMES.contains(name))
}

fn completion(ended: Completion) -> BackgroundComplete {
    let exit_code = match &ended.ending {
        Ending::Exit(exit) => match exit.end {
            End::Code(code) => Some(code),
            End::Signal(signal) => Some(128 + signal),
        },
        Ending::Killed | Ending::Lost(_) => None,
    };
    let output = format!("{} ({} bytes)\n{}", ended.output.display(), ended.output_bytes, ended.tail);
    BackgroundComplete {
        command_id: ended.id,
        command: ended.command,
        exit_code,
        duration_ms: u64::try_from(ended.lasted.as_millis()).unwrap_or(u64::MAX),
        stdout: Some(output),
        stderr: None,
    }
}
