//! What developers do all day works inside as it does outside.

use mxd_tools::sandbox::Mode;

use crate::farm::Farm;

/// A workspace of a library and a program that uses it, with a test that passes and one that fails.
const RUST: &str = "set -e
    mkdir -p lib/src app/src
    printf '[workspace]\nmembers = [\"lib\", \"app\"]\nresolver = \"3\"\n' > Cargo.toml
    printf '[package]\nname = \"lib\"\nversion = \"0.1.0\"\nedition = \"2024\"\n' > lib/Cargo.toml
    printf '[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[dependencies]\nlib = { path = \"../lib\" }\n' > app/Cargo.toml
    printf 'pub fn twice(x: u32) -> u32 { x * 2 }\n#[test] fn right() { assert_eq!(twice(2), 4); }\n#[test] fn wrong() { assert_eq!(twice(2), 5); }\n' > lib/src/lib.rs
    printf 'fn main() { println!(\"{}\", lib::twice(21)); }\n' > app/src/main.rs
    cargo build --quiet --offline 2>&1
    ./target/debug/app
    ! cargo test --quiet --offline -p lib 2>/dev/null | grep -E '^test result' ";

#[tokio::test]
async fn cargo_builds_and_tests() {
    for mode in [Mode::Full, Mode::Landlock] {
        let farm = Farm::new(mode).await;
        let hut = farm.hut(&farm.agent("one"));
        let inside = hut.run(RUST).await;
        let text = "42\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in ";
        assert!(inside.text.starts_with(text), "level {}: {inside:?}", farm.level());
    }
}
