//! The program behind `cargo xtask`; everything it does is in the library, where tests reach it.

use std::process::ExitCode;

fn main() -> ExitCode {
    xtask::run()
}
