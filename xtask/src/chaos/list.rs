//! The long random tests there are. A new one is a line here and a test that reads the two variables.

/// A test of the ordinary suite with a name a developer can remember.
#[derive(Debug)]
pub(super) struct Chaos {
    pub(super) name: &'static str,
    pub(super) package: &'static str,
    pub(super) target: &'static str,
    pub(super) filter: &'static str,
    pub(super) description: &'static str,
}

pub(super) const CHAOS: &[Chaos] = &[
    Chaos {
        name: "offsets",
        package: "mxd-store",
        target: "it",
        filter: "damage::",
        description: "cut and flip a large log at every byte",
    },
    Chaos {
        name: "power",
        package: "mxd-store",
        target: "it",
        filter: "power::",
        description: "lose power at random: un-synced writes are dropped or reordered",
    },
    Chaos {
        name: "kill",
        package: "mxd-store",
        target: "process",
        filter: "kill",
        description: "SIGKILL a real process that appends",
    },
    Chaos {
        name: "tree",
        package: "mxd-core",
        target: "it",
        filter: "histories_of_any_seed",
        description: "random commands on the task tree",
    },
    Chaos {
        name: "agents",
        package: "mxd-core",
        target: "it",
        filter: "agents_of_any_seed",
        description: "random agents and users in a daemon that dies at any step",
    },
    Chaos {
        name: "prompts",
        package: "mxd-llm",
        target: "it",
        filter: "random_conversations",
        description: "random conversations on three wires: no broken rule, no broken prefix",
    },
    Chaos {
        name: "worktrees",
        package: "mxd-engine",
        target: "it",
        filter: "worktrees_in_parallel",
        description: "32 worktrees at once, made and removed beside a user who commits",
    },
    Chaos {
        name: "stops",
        package: "mxd-engine",
        target: "it",
        filter: "git::crashes::",
        description: "stop making, removing and merging before and after every call of git",
    },
    Chaos {
        name: "engine",
        package: "mxd-engine",
        target: "process",
        filter: "ten_agents",
        description: "SIGKILL the engine while ten agents work, again and again: they end as if nobody had",
    },
    Chaos {
        name: "messages",
        package: "mxd-server",
        target: "it",
        filter: "kills::",
        description: "post 10,000 messages to a daemon that is killed again and again: each is there once",
    },
    Chaos {
        name: "crowd",
        package: "mxd-server",
        target: "it",
        filter: "crowd::",
        description: "a thousand live streams beside a hundred agents that talk: all hear everything, once, in order",
    },
    Chaos {
        name: "http",
        package: "mxd-server",
        target: "it",
        filter: "fuzz::",
        description: "thousands of requests made from the OpenAPI document, fitting and not",
    },
    Chaos {
        name: "forge",
        package: "tachyon",
        target: "clients",
        filter: "our_runner_agrees_with_forge",
        description: "600 Foundry tests of others, judged by our runner and by forge, then on contracts broken at random",
    },
];
