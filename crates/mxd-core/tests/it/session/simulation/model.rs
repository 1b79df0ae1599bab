//! Random models: sensible and silly words, calls of every tool, every way of stopping, and every way of failing.

use mxd_core::decide::{Answer, AnswerItem, Cost, FailedAttempt, Failure, Sample, Sampled, SessionOp};
use mxd_core::event::body::{StopReason, Terms, TurnPurpose, Usage};
use mxd_core::id::TaskId;
use mxd_core::money::Usd;
use mxd_core::session::Load;

use super::super::script::{self, malformed, mxd, run, text, thought, tool};
use super::{Play, Sampling};

impl Play {
    /// A model call ends in some way.
    pub(super) fn model_comes_back(
        &mut self,
        task: TaskId,
        (turn, purpose): (u64, TurnPurpose),
        cancelled: bool,
    ) -> SessionOp {
        if self.one_in(10) {
            return SessionOp::Failed(self.failure(task, turn));
        }
        if cancelled && !self.one_in(4) {
            let cut_off = script::answer(turn, vec![text("I was about")], StopReason::Cancelled);
            return SessionOp::Answered(self.priced(task, cut_off));
        }
        let answer = match purpose {
            TurnPurpose::Summary if self.one_in(6) => script::summary(turn, "<summary> </summary>", None),
            TurnPurpose::Summary => script::summary(turn, "what was", self.stage.terms),
            TurnPurpose::Work => {
                let (items, stop) = self.words(task);
                script::answer(turn, items, stop)
            }
        };
        SessionOp::Answered(self.priced(task, answer))
    }

    /// A request of a model call fails, and another one is to follow.
    pub(super) fn failed_attempt(&mut self, task: TaskId, turn: u64) -> SessionOp {
        let nothing = (Usage::default(), Cost::Known(Usd::ZERO));
        let (usage, cost) = if self.one_in(3) { nothing } else { self.bill(task) };
        SessionOp::AttemptFailed(FailedAttempt { usage, ..script::attempt(turn, cost) })
    }

    /// A bill, honest or not.
    pub(super) fn priced(&mut self, task: TaskId, answer: Answer) -> Answer {
        let (usage, cost) = self.bill(task);
        Answer { usage, cost, ..answer }
    }

    fn bill(&mut self, task: TaskId) -> (Usage, Cost) {
        let (usage, cost) = self.honest_bill(task);
        let Cost::Known(reported) = cost else { return (usage, cost) };
        let lie = [0, 1, 40_000, 50_000_000, u64::MAX][self.below(5)];
        let paid = Usd::from_micros(lie.min(Usd::MAX.micros())).unwrap_or(Usd::MAX);
        match self.below(24) {
            0 => (Usage { output_tokens: lie, ..usage }, Cost::Known(paid)),
            1 => (Usage { input_tokens: lie, ..usage }, Cost::Known(paid)),
            2 => {
                (Usage { cache_read_tokens: lie, ..usage }, Cost::Impossible { reported: paid, fault: "no" })
            }
            3 => (Usage::default(), Cost::Cut { reported: Usd::ZERO, bytes: lie }),
            4 | 5 => (usage, Cost::Cut { reported, bytes: self.dice.below(2_000) }),
            6 => (Usage { output_tokens: lie, ..usage }, Cost::Cut { reported: paid, bytes: lie }),
            _ => (usage, cost),
        }
    }

    /// No more tokens than there were bytes to read and than it might write, at the price that was agreed.
    fn honest_bill(&mut self, task: TaskId) -> (Usage, Cost) {
        let session = self.stage.state.session(task);
        let (context, terms) = (session.context(), session.terms());
        let session_samplings: Vec<_> = session.samplings().keys().copied().collect();
        // Some providers never say what they counted.
        let Some(terms) = terms.filter(|_| !self.one_in(10)) else {
            return (Usage::default(), Cost::Unknown);
        };
        let most = context.worst().min(terms.context_window).max(1);
        let read = if self.one_in(3) { most } else { 1 + self.dice.below(most) };
        let mut reserved = self.stage.state.reservations().iter();
        let mine = reserved.find(|(id, one)| one.asker == task && !session_samplings.contains(id));
        let most = mine.and_then(|(_, one)| one.max_output_tokens).unwrap_or(terms.max_output_tokens);
        let written = self.dice.below(most + 1);
        let cached = self.dice.below(read + 1);
        let usage = Usage {
            input_tokens: read - cached,
            output_tokens: written,
            cache_read_tokens: cached,
            cache_write_tokens: 0,
        };
        (usage, Cost::Known(price(&terms, read, written)))
    }

    /// A server wants the model to write.
    pub(super) fn server_asks(&mut self, task: TaskId) {
        self.named += 1;
        let id = format!("01JZ00000000000000SMP{:05}", self.named).parse().expect("an id");
        let (load, max_tokens) = (Load::text(self.below(4_000)), 1 + self.dice.below(1_000));
        let sample = Sample { id, server: "notes".into(), load, max_tokens };
        if self.tell(task, SessionOp::Sample(sample.clone())) {
            let terms = self.stage.state.session(task).terms();
            self.samplings.push(Sampling { task, sample, terms });
        }
    }

    /// What the model wrote for a server, with an honest bill.
    pub(super) fn sampled(&mut self, Sampling { sample, terms, .. }: &Sampling) -> SessionOp {
        let stop = if self.one_in(3) { StopReason::Cancelled } else { StopReason::EndTurn };
        let terms = terms.filter(|_| !self.one_in(4));
        let (usage, cost) = match terms {
            None => (Usage::default(), Cost::Unknown),
            Some(terms) => {
                let read = self.dice.below(sample.load.bytes + 1);
                let written = self.dice.below(sample.max_tokens + 1);
                let usage = Usage { input_tokens: read, output_tokens: written, ..Usage::default() };
                (usage, Cost::Known(price(&terms, read, written)))
            }
        };
        SessionOp::Sampled(Sampled { id: sample.id, stop, usage, cost, written: self.dice.below(9_000) })
    }

    /// The user has chosen another model, which nobody has asked yet.
    pub(super) fn refitted(&mut self, turn: u64) -> SessionOp {
        let windows = [6_000, 20_000, 200_000];
        let prices = [script::usd(1), script::usd(10), script::usd(30)];
        let (context_window, input_usd) = (windows[self.below(3)], prices[self.below(3)]);
        let other = Terms { context_window, input_usd, ..script::terms() };
        let terms = (!self.one_in(12)).then_some(other);
        self.stage.terms = terms;
        SessionOp::Refitted { turn, config: script::config(terms) }
    }

    fn failure(&mut self, task: TaskId, turn: u64) -> Failure {
        let nothing = (Usage::default(), Cost::Known(Usd::ZERO));
        let (usage, cost) = if self.one_in(2) { self.bill(task) } else { nothing };
        let (passing, too_long) = (!self.one_in(3), self.one_in(5));
        Failure { passing, too_long, usage, cost, ..script::failure(turn) }
    }

    fn words(&mut self, task: TaskId) -> (Vec<AnswerItem>, StopReason) {
        let call = self.name("call");
        match self.below(20) {
            0..3 => (vec![text("so it is")], StopReason::EndTurn),
            3 => (vec![thought()], StopReason::EndTurn),
            4 => (Vec::new(), self.odd_stop()),
            5 => (vec![text("half a sen")], self.odd_stop()),
            6 | 7 => (vec![script::yields(&call)], StopReason::ToolUse),
            8..11 => {
                let status = ["passed", "passed", "failed", "perhaps"][self.below(4)];
                (vec![text("done"), script::done(&call, status)], StopReason::ToolUse)
            }
            11 => {
                let again = self.name("call");
                let two: fn(&str) -> AnswerItem =
                    if self.one_in(2) { script::yields } else { |call| script::done(call, "passed") };
                (vec![two(&call), two(&again)], StopReason::ToolUse)
            }
            _ => {
                let count = 1 + self.below(3);
                let calls = (0..count).map(|_| self.any_call(task)).collect();
                let stop = if self.one_in(10) { self.odd_stop() } else { StopReason::ToolUse };
                (calls, stop)
            }
        }
    }

    fn odd_stop(&mut self) -> StopReason {
        let stops = [
            StopReason::EndTurn,
            StopReason::ToolUse,
            StopReason::MaxTokens,
            StopReason::MaxTokens,
            StopReason::Refusal,
            StopReason::Other("pause_turn".into()),
            StopReason::Other("model_context_window_exceeded".into()),
            StopReason::Other("something new".into()),
        ];
        stops[self.below(stops.len())].clone()
    }

    /// A node of the tree as a model names it, now and then wrongly.
    fn node(&mut self) -> String {
        let ids: Vec<TaskId> = self.stage.state.tree().nodes().keys().copied().collect();
        let at = self.below(ids.len() + 1);
        ids.get(at).map_or("01NOSUCHTASK".to_owned(), ToString::to_string)
    }

    fn below_it(&mut self, task: TaskId) -> String {
        let below = self.stage.state.tree().tasks_below(task);
        let ids: Vec<TaskId> = below.iter().map(|node| node.id).collect();
        if ids.is_empty() || self.one_in(4) { self.node() } else { ids[self.below(ids.len())].to_string() }
    }

    fn any_call(&mut self, task: TaskId) -> AnswerItem {
        let call = self.name("call");
        match self.below(14) {
            0..4 => run(&call),
            4 => malformed(&call, ["bash", "mcp__mxd__create_task", "mcp__mxd__done"][self.below(3)]),
            5 if self.one_in(2) => tool(&call, "mcp__mxd__no_such_tool", "{}"),
            5 => {
                let child = self.below_it(task);
                mxd(&call, "merge_task", &format!("{{\"taskId\":\"{child}\"}}"))
            }
            6 => script::yields(&call),
            7 => script::done(&call, "passed"),
            _ => {
                let (name, args) = self.orchestration(task);
                mxd(&call, name, &args)
            }
        }
    }

    fn orchestration(&mut self, task: TaskId) -> (&'static str, String) {
        let (child, node) = (self.below_it(task), self.node());
        let money = ["0.05", "0.5", "5", "0"][self.below(4)];
        match self.below(25) {
            0..4 => ("create_task", self.new_task(money)),
            4..9 => {
                let to = if self.one_in(3) { node } else { child };
                ("send_message", format!(r#"{{"taskId":"{to}","title":"t","message":"do it"}}"#))
            }
            9 => ("clarify", r#"{"question":"red or blue?\nit matters"}"#.to_owned()),
            10 => ("get_tree", r#"{"include_details":true}"#.to_owned()),
            11 => ("get_task", format!(r#"{{"taskId":"{node}"}}"#)),
            12 => ("update_task", format!(r#"{{"taskId":"{child}","addBudgetUsd":{money}}}"#)),
            13 => ("update_task", self.change(&child)),
            14 => ("fork_task_context", format!(r#"{{"sourceTaskId":"{node}","targetTaskId":"{child}"}}"#)),
            15 => ("reset_task", format!(r#"{{"taskId":"{child}"}}"#)),
            16 => ("close_task", format!(r#"{{"taskId":"{child}"}}"#)),
            17 => ("delete_task", format!(r#"{{"taskId":"{child}","recursive":true}}"#)),
            18 => ("create_folder", format!(r#"{{"parentId":"{task}","title":"f"}}"#)),
            19 => ("rename_folder", format!(r#"{{"folderId":"{node}","title":"g"}}"#)),
            21..24 => {
                ("fork_task_context", format!(r#"{{"sourceTaskId":"{task}","targetTaskId":"{child}"}}"#))
            }
            20 => ("reorder_tasks", format!(r#"{{"nodeId":"{task}","children":["{child}"]}}"#)),
            _ => ("search_tasks", r#"{"query":"x"}"#.to_owned()),
        }
    }

    fn new_task(&mut self, money: &str) -> String {
        let (parent, after) = (self.node(), self.node());
        match self.below(5) {
            0 => format!(r#"{{"title":"t","description":"d","budgetUsd":{money}}}"#),
            1 => format!(r#"{{"title":"t","description":"d","parentId":"{parent}"}}"#),
            2 => format!(r#"{{"title":"t","description":"d","after":["{after}"]}}"#),
            3 => r#"{"title":"t","description":"d","checks":["make test"]}"#.to_owned(),
            _ => r#"{"title":"t","description":"d"}"#.to_owned(),
        }
    }

    fn change(&mut self, child: &str) -> String {
        let status = ["draft", "pending", "passed", "failed", "closed"][self.below(5)];
        let parent = self.node();
        match self.below(5) {
            0 => format!(r#"{{"taskId":"{child}","status":"{status}"}}"#),
            1 => format!(r#"{{"taskId":"{child}","status":"{status}","after":[],"title":"new"}}"#),
            2 => format!(r#"{{"taskId":"{child}","parentId":"{parent}"}}"#),
            3 => format!(r#"{{"taskId":"{child}","after":["{parent}"]}}"#),
            _ => format!(r#"{{"taskId":"{child}","title":"renamed","addBudgetUsd":0.02}}"#),
        }
    }
}

fn price(terms: &Terms, read: u64, written: u64) -> Usd {
    let read = u128::from(read) * u128::from(terms.input_usd.micros());
    let written = u128::from(written) * u128::from(terms.output_usd.micros());
    let micros = u64::try_from((read + written) / 1_000_000).expect("little money");
    Usd::from_micros(micros).expect("little money")
}
