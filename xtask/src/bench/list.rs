//! The benchmarks there are. A new one is a line here and its bench targets in its crate.

/// Cargo bench targets with a name a developer can remember.
#[derive(Debug)]
pub(super) struct Bench {
    pub(super) name: &'static str,
    pub(super) targets: &'static [&'static str],
    pub(super) description: &'static str,
    /// Whether it can measure other programs beside ours.
    pub(super) has_peers: bool,
}

pub(super) const BENCHES: &[Bench] = &[
    Bench {
        name: "log",
        targets: &["log"],
        description: "durable append, group commit, opening a large log, memory after opening",
        has_peers: false,
    },
    Bench {
        name: "models",
        targets: &["models", "allocations"],
        description: "building a request at turn 10, 100 and 1,000, reading a stream, cancelling",
        has_peers: false,
    },
    Bench {
        name: "tools",
        targets: &["tools"],
        description: "bash in the sandbox against bash, file tools on 10,000 files against cat, sed and rg",
        has_peers: false,
    },
    Bench {
        name: "mcp",
        targets: &["mcp"],
        description: "calls of a server's tools against bare clients of the SDKs, connecting ten servers at once",
        has_peers: false,
    },
    Bench {
        name: "agents",
        targets: &["agents"],
        description: "a turn beyond the model against a bare loop, many agents at once, memory, resuming after a kill",
        has_peers: true,
    },
    Bench {
        name: "daemon",
        targets: &["daemon"],
        description: "requests, durable posts and live streams against the least that does the same; start and memory",
        has_peers: false,
    },
    Bench {
        name: "tachyon",
        targets: &["tachyon"],
        description: "compile and test a small project against forge, the embedded chain against a node",
        has_peers: false,
    },
];
