//! Others judge us: the official MCP client for Python, an ABI library we did not write, and nodes that are not ours.
//!
//! Packages are installed once, below the target directory, with pip and npm. Where that is not possible these tests fail and
//! say what is missing: a skipped proof is none.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a panic is how a test speaks")]
#![expect(clippy::print_stdout, reason = "a long comparison says what it has compared")]

mod handover;
mod inspector;
mod mutation;
mod nodes;
mod parity;
#[path = "../../../../testing/rounds.rs"]
mod rounds;
mod workshop;

use std::process::Command;

use workshop::{Workshop, here, run};

#[test]
fn an_independent_abi_library_agrees_on_random_values() {
    let shop = Workshop::open();
    let mut check = Command::new(shop.python());
    check.arg(here().join("abi.py")).arg(env!("CARGO_BIN_EXE_tachyon"));
    let told = run(&mut check, "the two ABI implementations do not agree");
    assert_eq!(told, "1000 encodings agree\n");
}

#[test]
fn an_official_client_takes_a_token_from_source_to_chain() {
    let shop = Workshop::open();
    let data = shop.data();
    for mode in ["legacy", "auto"] {
        let mut story = Command::new(shop.python());
        story.arg(here().join("story.py")).args([env!("CARGO_BIN_EXE_tachyon"), mode]).arg(data.path());
        story.arg(here()).env("TACHYON_CONFIG", shop.config(&data));
        let told = run(&mut story, "the story did not go as tests/clients/story.py says");
        assert_eq!(told, "compiled, tested, deployed, called, looked up\n", "{mode}");
    }
}

#[test]
fn other_nodes_agree_on_gas_and_results() {
    nodes::agree(&Workshop::open());
}

#[test]
fn the_inspector_lists_and_calls_all_nine_tools() {
    inspector::calls_all_tools(&Workshop::open());
}

#[test]
fn our_runner_agrees_with_forge_on_tests_of_others() {
    parity::agrees(&Workshop::open());
}

#[test]
fn what_our_runner_cannot_do_is_handed_to_forge_and_nothing_reaches_outside() {
    handover::unsupported_tests_go_to_forge(&Workshop::open());
}
