//! The outside world for agents.
//!
//! Everything an agent does to the machine goes through here: the processes it starts run in a
//! [`sandbox`], and the files it reads and writes are found through [`confine`], so that an agent touches its own
//! worktree and nothing else. [`builtin`] has the tools that every agent has, [`mcp`] those of servers,
//! [`plane`] is the one path of every call, and [`serve`] offers the same tools to the clients of others.
//! The programs of servers are verified before they run, by [`package`].

pub mod builtin;
pub mod confine;
pub mod kept;
pub mod mcp;
pub mod outcome;
pub mod package;
pub mod plane;
pub mod proxy;
pub mod sandbox;
pub mod scope;
pub mod secrets;
pub mod serve;
pub mod shell;
pub mod tether;
