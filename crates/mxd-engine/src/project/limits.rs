//! The limits of a project, as its settings say them.

use mxd_core::limits::Limits;

use crate::config::Config;

impl Config {
    /// What a project with these settings may grow to.
    pub fn project_limits(&self) -> Limits {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a ratio between 0 and 1"
        )]
        let window_reserve = (self.compaction.buffer_ratio * 1_000.0) as u64;
        let repeats = usize::try_from(self.limits.repeats).unwrap_or(usize::MAX).max(1);
        Limits {
            depth: self.max_depth.min(Limits::DEFAULT.depth),
            question_ms: self.clarify_timeout_ms.unwrap_or(0),
            agents: self.limits.agents,
            closed_conversations: self.session_keep.unwrap_or(usize::MAX),
            turns_per_task: self.limits.turns,
            tokens_per_task: self.limits.tokens,
            task_ms: self.limits.wall_time_ms,
            window_reserve,
            count_within: self.compaction.count_margin_tokens,
            repeats_before_warning: repeats,
            repeats_before_rest: repeats.saturating_mul(2),
            ..Limits::DEFAULT
        }
    }
}
