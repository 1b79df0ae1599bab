//! Commands by which a project seems to be tested, from the files at its top.

use std::path::Path;

use serde_json::Value;

use crate::config::beneath;

/// Bytes of a file that are looked at.
const MAX_BYTES: usize = 256 << 10;

/// Lock files of the package managers of JavaScript, and the manager that each belongs to.
const PACKAGE_MANAGERS: [(&str, &str); 4] =
    [("bun.lock", "bun"), ("bun.lockb", "bun"), ("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn")];

/// The commands, the likeliest first. Nothing is run to find out.
pub fn detect_checks(folder: &Path) -> Vec<String> {
    let there = |names: &[&str]| names.iter().any(|name| folder.join(name).is_file());
    let text = |name: &str| read(folder, name);
    let mut found: Vec<String> = Vec::new();
    let mut add = |is_there: bool, command: &str| {
        if is_there {
            found.push(command.to_owned());
        }
    };
    add(there(&["Cargo.toml"]), "cargo test");
    if let Some(command) = of_javascript(folder) {
        add(true, &command);
    }
    let of_tox = there(&["tox.ini"]);
    add(of_tox, "tox");
    add(!of_tox && is_tested_by_pytest(folder), "python3 -m pytest");
    add(there(&["go.mod"]), "go test ./...");
    add(there(&["pom.xml"]), "mvn --batch-mode --quiet test");
    if there(&["build.gradle", "build.gradle.kts"]) {
        add(true, if there(&["gradlew"]) { "sh gradlew test" } else { "gradle test" });
    }
    if there(&["Gemfile"]) {
        let of_rspec = folder.join("spec").is_dir();
        add(of_rspec, "bundle exec rspec");
        add(!of_rspec && there(&["Rakefile"]), "bundle exec rake test");
    }
    // A makefile often calls one of the others, so it counts only where there is none.
    if found.is_empty() {
        let targets = text("Makefile").or_else(|| text("makefile")).unwrap_or_default();
        let target = ["test", "check"].into_iter().find(|target| has_target(&targets, target));
        found.extend(target.map(|target| format!("make {target}")));
    }
    found
}

fn read(folder: &Path, name: &str) -> Option<String> {
    let bytes = beneath::read(folder, Path::new(name), MAX_BYTES).ok()??;
    String::from_utf8(bytes).ok()
}

/// The test script of `package.json`, unless it is the one that says that there is none.
fn of_javascript(folder: &Path) -> Option<String> {
    let package: Value = serde_json::from_str(&read(folder, "package.json")?).ok()?;
    let script = package.pointer("/scripts/test")?.as_str()?;
    if script.contains("no test specified") {
        return None;
    }
    let manager = PACKAGE_MANAGERS.iter().find(|(lock, _)| folder.join(lock).is_file());
    Some(match manager.map_or("npm", |(_, manager)| manager) {
        // `bun test` is bun's own runner, and not the script.
        "bun" => "bun run test".to_owned(),
        manager => format!("{manager} test"),
    })
}

fn is_tested_by_pytest(folder: &Path) -> bool {
    let mentions = |name: &str, words: &str| read(folder, name).is_some_and(|text| text.contains(words));
    folder.join("pytest.ini").is_file()
        || folder.join("conftest.py").is_file()
        || folder.join("tests/conftest.py").is_file()
        || mentions("pyproject.toml", "[tool.pytest")
        || mentions("setup.cfg", "[tool:pytest]")
        || mentions("requirements.txt", "pytest")
}

fn has_target(makefile: &str, target: &str) -> bool {
    makefile
        .lines()
        .any(|line| line.strip_prefix(target).is_some_and(|rest| rest.trim_start().starts_with(':')))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// A file by its name, and what stands in it.
    type File<'a> = (&'a str, &'a str);

    fn detected(files: &[File<'_>]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
        }
        detect_checks(folder.path())
    }

    #[test]
    fn each_kind_of_project_has_its_command() {
        let tested = r#"{"scripts":{"test":"vitest run"}}"#;
        let untested = r#"{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}"#;
        let cases: &[(&[File<'_>], &[&str])] = &[
            (&[], &[]),
            (&[("Cargo.toml", "")], &["cargo test"]),
            (&[("package.json", tested)], &["npm test"]),
            (&[("package.json", tested), ("pnpm-lock.yaml", "")], &["pnpm test"]),
            (&[("package.json", tested), ("yarn.lock", "")], &["yarn test"]),
            (&[("package.json", tested), ("bun.lock", "")], &["bun run test"]),
            (&[("package.json", untested)], &[]),
            (&[("package.json", "not json")], &[]),
            (&[("pyproject.toml", "[tool.pytest.ini_options]\n")], &["python3 -m pytest"]),
            (&[("tox.ini", ""), ("pytest.ini", "")], &["tox"]),
            (&[("go.mod", "")], &["go test ./..."]),
            (&[("pom.xml", "")], &["mvn --batch-mode --quiet test"]),
            (&[("build.gradle", ""), ("gradlew", "")], &["sh gradlew test"]),
            (&[("build.gradle.kts", "")], &["gradle test"]),
            (&[("Gemfile", ""), ("spec/a_spec.rb", "")], &["bundle exec rspec"]),
            (&[("Gemfile", ""), ("Rakefile", "")], &["bundle exec rake test"]),
            (&[("Makefile", "build:\n\ttrue\ncheck : build\n\ttrue\n")], &["make check"]),
            (&[("Makefile", "testing:\n")], &[]),
            (&[("Cargo.toml", ""), ("Makefile", "test:\n")], &["cargo test"]),
            (&[("Cargo.toml", ""), ("go.mod", "")], &["cargo test", "go test ./..."]),
        ];
        for (files, expected) in cases {
            assert_eq!(detected(files), *expected, "{files:?}");
        }
    }
}
