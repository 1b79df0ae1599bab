//! The benchmarks there are. A new one is a line here and a bench target in its crate.

/// A cargo bench target with a name a developer can remember.
#[derive(Debug)]
pub(super) struct Bench {
    pub(super) name: &'static str,
    pub(super) package: &'static str,
    pub(super) target: &'static str,
    pub(super) description: &'static str,
}

pub(super) const BENCHES: &[Bench] = &[
    Bench {
        name: "log",
        package: "mxd-store",
        target: "log",
        description: "durable append, group commit, opening a large log, memory after opening",
    },
    Bench {
        name: "models",
        package: "mxd-llm",
        target: "models",
        description: "building a request at turn 10, 100 and 1,000, reading a stream",
    },
    Bench {
        name: "tools",
        package: "mxd-tools",
        target: "tools",
        description: "read_file, edit_file and search on 10,000 files, against cat, sed and rg",
    },
];
