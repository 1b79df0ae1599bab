//! `mcl-tools`: inspects, verifies and calls the tools that a manifest declares.

fn main() {}
