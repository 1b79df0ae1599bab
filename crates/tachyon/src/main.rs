//! The program.

use std::process::ExitCode;

fn main() -> ExitCode {
    tachyon::cli::main()
}
