//! Every limit of the domain, as data in one place.

/// What one project may grow to. Passed to `decide`, which refuses whatever would exceed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Characters of a title; it has to fit a line of the tree.
    pub title_chars: usize,
    /// Bytes of a description; it is kept in memory for every node.
    pub description_bytes: usize,
    /// Bytes of one message (text and header together).
    pub message_bytes: usize,
    /// Bytes of a user's message that its ancestors get to see as a copy; the whole is in the log once.
    pub forwarded_bytes: usize,
    /// Images of one message.
    pub images_per_message: usize,
    /// Children of one node.
    pub children_per_node: usize,
    /// Nodes of a project, the root included.
    pub nodes_per_project: usize,
    /// Edges between the root and its deepest node.
    pub depth: usize,
    /// Edges, counted in tasks, between the root and a persistent task.
    pub persistent_depth: usize,
    /// Tasks one task can wait for.
    pub after_entries: usize,
    /// Forks of forks that one conversation can go back to; all of them are read for each request after a start.
    pub fork_depth: usize,
    /// Tasks that can wait for one task.
    pub waiters_per_task: usize,
    /// Messages that wait in one inbox to start or wake the agent.
    pub inbox_per_task: usize,
    /// Messages that wait in one inbox and only inform: they wake nobody, so they must not keep others out.
    pub notices_per_inbox: usize,
    /// Reports that fit into an inbox beyond that: what a task waits for must reach it when it is flooded, too.
    pub report_reserve: usize,
    /// Characters of a colour, name or hex.
    pub color_chars: usize,
    /// Characters of a reason written beside a change.
    pub reason_chars: usize,
    /// Characters of a name that comes from outside (a branch, a command, a media type).
    pub name_chars: usize,
    /// Bytes of all events of one decision together: they have to fit into one line of the log.
    pub decision_bytes: usize,
    /// Bytes of the report at the end of a task, or of a question to the user.
    pub report_bytes: usize,
    /// Commands that check the work of one task.
    pub checks_per_task: usize,
    /// Bytes of one of them.
    pub check_bytes: usize,
    /// Questions of one task that wait for the user.
    pub questions_per_task: usize,
    /// Times that servers may have the model write for them in the course of the calls of one answer.
    pub samplings_per_turn: u32,
    /// How long a question waits for its answer; zero is for ever.
    pub question_ms: u64,
    /// Agents of a project that work at the same time; zero is without limit. Others wait for a place.
    pub agents: usize,
    /// Conversations of closed tasks that are kept; the oldest go first.
    pub closed_conversations: usize,
    /// Messages that enter a conversation at once.
    pub messages_per_turn: usize,
    /// Bytes of them together, apart from the first.
    pub message_bytes_per_turn: usize,
    /// Model calls of one task in all its life; zero is without limit.
    pub turns_per_task: u64,
    /// Tokens of one task in all its life; zero is without limit.
    pub tokens_per_task: u64,
    /// Time from the first model call of a task; zero is without limit.
    pub task_ms: u64,
    /// Thousandths of a model's window that stay free: fuller, and the conversation is summarised.
    pub window_reserve: u64,
    /// Tokens before that from which on the provider is asked to count, where it can.
    pub count_within: u64,
    /// Answers in a row that may be cut off by the model's output limit.
    pub cut_off_answers: u32,
    /// Summaries in a row after which a model may say again that its window is exceeded.
    pub summaries_in_vain: u32,
    /// Model calls in a row that may fail before the agent waits for somebody.
    pub failed_turns: u32,
    /// How long to wait after the first of them; each further one waits twice as long.
    pub retry_ms: u64,
    /// Calls in a row that may fail in the same way before their agent is told.
    pub repeats_before_warning: usize,
    /// Calls in a row before it is brought to rest.
    pub repeats_before_rest: usize,
    /// How many times as often calls may succeed in the same way: who waits for something asks again and again.
    pub repeats_of_success: usize,
    /// Turns in a row of nothing but words between tasks.
    pub talk_turns: u32,
    /// Times an agent that waits for nothing is reminded, before the task above is told.
    pub reminders: u32,
}

impl Limits {
    /// The limits of a project that configures nothing.
    pub const DEFAULT: Self = Self {
        title_chars: 200,
        description_bytes: 32 * 1024,
        message_bytes: 256 * 1024,
        forwarded_bytes: 8 * 1024,
        images_per_message: 10,
        children_per_node: 256,
        nodes_per_project: 20_000,
        depth: 16,
        persistent_depth: 1,
        after_entries: 32,
        fork_depth: 16,
        waiters_per_task: 1_000,
        inbox_per_task: 1_000,
        notices_per_inbox: 100,
        report_reserve: 1_000,
        color_chars: 32,
        reason_chars: 1_000,
        name_chars: 255,
        decision_bytes: 3 * 1024 * 1024,
        report_bytes: 16 * 1024,
        checks_per_task: 16,
        check_bytes: 2_000,
        questions_per_task: 20,
        samplings_per_turn: 16,
        question_ms: 0,
        agents: 0,
        closed_conversations: usize::MAX,
        messages_per_turn: 100,
        message_bytes_per_turn: 512 * 1024,
        turns_per_task: 0,
        tokens_per_task: 0,
        task_ms: 0,
        window_reserve: 170,
        count_within: 16_000,
        cut_off_answers: 3,
        summaries_in_vain: 2,
        failed_turns: 5,
        retry_ms: 30_000,
        repeats_before_warning: 4,
        repeats_before_rest: 8,
        repeats_of_success: 4,
        talk_turns: 24,
        reminders: 1,
    };

    /// How many ids of consumed messages an inbox remembers, to recognise one that is posted again.
    ///
    /// A constant and no field: it is part of the fold, and a state must not depend on the configuration of
    /// the program that folds it.
    pub const REMEMBERED_MESSAGE_IDS: usize = 512;
}

impl Limits {
    /// What one inbox holds at the very most, whatever became of its messages.
    pub fn inbox_in_all(&self) -> usize {
        2 * self.inbox_per_task + self.notices_per_inbox + self.report_reserve
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
