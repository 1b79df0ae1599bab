//! What commands refer to.

use mxd_tools::package::{Bin, Reference, Unclear};

use super::ground::command;

fn read(words: &str) -> Result<Reference, Unclear> {
    Reference::of(&command(&words.split(' ').collect::<Vec<_>>()))
}

#[test]
fn commands_are_understood() {
    let npm = |name: &str, bin: Bin, args: &[&str]| Reference::Npm {
        name: name.to_owned(),
        version: "1.2.3".parse().unwrap(),
        bin,
        args: args.iter().map(|word| (*word).to_owned()).collect(),
    };
    assert_eq!(read("npx -y @scope/a@1.2.3 --x ."), Ok(npm("@scope/a", Bin::Default, &["--x", "."])));
    assert_eq!(read("/usr/bin/npx a@1.2.3"), Ok(npm("a", Bin::Default, &[])));
    assert_eq!(read("npx --yes --package=a@1.2.3 run x"), Ok(npm("a", Bin::Named("run".into()), &["x"])));
    assert_eq!(read("npm exec -y -p a@1.2.3 -- run"), Ok(npm("a", Bin::Named("run".into()), &[])));
    let pypi = |script: &str, args: &[&str]| Reference::PyPi {
        name: "a-b".to_owned(),
        version: "1.2.3".parse().unwrap(),
        script: script.to_owned(),
        args: args.iter().map(|word| (*word).to_owned()).collect(),
    };
    assert_eq!(read("uvx a-b==1.2.3 -v"), Ok(pypi("a-b", &["-v"])));
    assert_eq!(read("uvx a-b@1.2.3"), Ok(pypi("a-b", &[])));
    assert_eq!(read("uv tool run --from a-b==1.2.3 run x"), Ok(pypi("run", &["x"])));
    assert!(
        matches!(read("python3.11 -u -m a.b x"), Ok(Reference::Module { module, .. }) if module == "a.b")
    );
    assert!(matches!(read("python s.py x"), Ok(Reference::Script { script, .. }) if script == "s.py"));
    let script = read("node --no-warnings --max-old-space-size=99 dist/i.js --inspect");
    assert!(
        matches!(&script, Ok(Reference::Script { options, script, args, .. })
            if options.len() == 2 && script == "dist/i.js" && args == &["--inspect"]),
        "{script:?}"
    );
    assert!(matches!(read("./server x"), Ok(Reference::Program { .. })));
}

/// Each is a way to run something else than what a digest is about.
#[test]
fn commands_that_could_mean_anything_are_refused() {
    for words in [
        "npx -y a",
        "npx -y a@latest",
        "npx a@^1.2.3",
        "npx a@1.2",
        "npx git+https://example.org/a@1.2.3",
        "npx ../../a@1.2.3",
        "npx -c a@1.2.3",
        "npx -p a@1.2.3 -p b@1.2.3 run",
        "npx",
        "npx -y",
        "npm run start",
        "uvx a",
        "uvx a>=1.2.3",
        "uvx --with b a==1.2.3",
        "uvx a[extra]==1.2.3",
        "uv run a",
        "node -e 1",
        "node -r x s.js",
        "node --import x s.js",
        "node",
        "python -c 1",
        "python -X importtime s.py",
        "python -m",
        "bash server.sh",
        "/bin/sh -c x",
        "env A=1 server",
        "docker run image",
        "sudo server",
    ] {
        let unclear = read(words).expect_err(words);
        assert!(!unclear.to_string().is_empty() && unclear.hint().ends_with('.'), "{words}: {unclear}");
    }
}
