//! The launcher of sandboxed processes as a program of its own, for tests and benchmarks of this crate.
//! `mxd` carries the same code behind a hidden argument.

use std::process::ExitCode;

fn main() -> ExitCode {
    mxd_tools::sandbox::enter(std::env::args().nth(1).as_deref())
}
