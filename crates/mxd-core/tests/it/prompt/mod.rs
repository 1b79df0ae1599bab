//! What Matrix says to agents: the system text, first messages, fences, notices and summaries.

mod alternation;
mod fences;
mod summaries;
mod system;
mod texts;
