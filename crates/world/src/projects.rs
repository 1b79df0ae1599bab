//! Published packages whose sources are made repositories, with their own tests.
//!
//! What the tests need beside the language itself is committed with them, as some projects do: agents have no network unless
//! the user allows a host.

use crate::scene::Scene;

/// All of them, in the order of the table.
#[must_use]
pub fn all() -> Vec<Scene> {
    SCENES.to_vec()
}

/// Sources of a package of PyPI, with pytest beside them where its tests need it.
macro_rules! python {
    ($id:literal, $package:literal, $test:literal, $shared:literal) => {
        Scene {
            id: $id,
            title: concat!("Python: ", $package),
            fetch: concat!(
                "pip download --quiet --no-deps --no-binary :all: --dest . ", $package, " >&2\n",
                "pip install --quiet --target vendor pytest >&2"
            ),
            prepare: concat!(
                "identity; mkdir \"$REPO\"; tar xzf \"$PACKAGE\"/*.tar.gz -C \"$REPO\" --strip-components=1\n",
                "case '", $test, "' in *vendor*) cp -r \"$PACKAGE/vendor\" \"$REPO/vendor\";; esac\n",
                "cd \"$REPO\"; rm -f .gitignore; printf '__pycache__/\n*.pyc\n.pytest_cache/\n' > .gitignore\n",
                "git init -q -b main; git add -A -f . ':!*__pycache__*'; git commit -q -m Sources"
            ),
            test: $test,
            shared: $shared,
            comment: "# ",
            ..Scene::ORDINARY
        }
    };
}

/// Sources of a package of npm, with what its tests need.
macro_rules! node {
    ($id:literal, $package:literal, $needs:literal, $test:literal, $shared:literal) => {
        Scene {
            id: $id,
            title: concat!("JavaScript: ", $package),
            fetch: concat!(
                "npm pack --silent ", $package, " >&2; mkdir source; tar xzf *.tgz -C source --strip-components=1\n",
                "npm install --silent --no-audit --no-fund --ignore-scripts --prefix needs ", $needs, " >&2\n",
                "mv needs/node_modules source/node_modules"
            ),
            prepare: "identity; cp -r \"$PACKAGE/source\" \"$REPO\"; cd \"$REPO\"; git init -q -b main; git add -A -f; git commit -q -m Sources",
            test: $test,
            shared: $shared,
            comment: "// ",
            ..Scene::ORDINARY
        }
    };
}

/// Sources of a crate whose tests need no other.
macro_rules! rust {
    ($id:literal, $package:literal, $version:literal, $shared:literal) => {
        Scene {
            id: $id,
            title: concat!("Rust: ", $package),
            fetch: concat!(
                "mkdir -p get/src; cd get; echo > src/lib.rs\n",
                "printf '[package]\nname = \"get\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[dependencies]\n", $package,
                " = \"=", $version, "\"\n[workspace]\n' > Cargo.toml\n",
                "cargo vendor --quiet ../vendor >&2; cd .."
            ),
            prepare: concat!(
                "identity; cp -r \"$PACKAGE/vendor/", $package, "\" \"$REPO\"; cd \"$REPO\"; rm -f .cargo-checksum.json Cargo.lock\n",
                "sed -i '/^\\[dev-dependencies/,/^\\[\\(features\\|lints\\|lib\\|badges\\|package\\|workspace\\)/{/^\\[dev-dep/d;/^[a-z\"]/d}' Cargo.toml\n",
                "printf 'target/\nCargo.lock\n' > .gitignore; printf '\n[workspace]\n' >> Cargo.toml\n",
                "git init -q -b main; git add -A; git commit -q -m Sources"
            ),
            test: "cargo test --offline --quiet --lib",
            shared: $shared,
            comment: "// ",
            ..Scene::ORDINARY
        }
    };
}

const SCENES: &[Scene] = &[
    python!("python_idna", "idna", "python3 -m unittest -q tests.test_idna", "idna/core.py"),
    python!(
        "python_simplejson",
        "simplejson",
        "python3 -m unittest -q simplejson.tests.test_decode",
        "simplejson/decoder.py"
    ),
    python!("python_defusedxml", "defusedxml", "python3 tests.py", "defusedxml/common.py"),
    python!(
        "python_iniconfig",
        "iniconfig",
        "PYTHONPATH=vendor:src python3 -m pytest -q -p no:cacheprovider testing",
        "src/iniconfig/exceptions.py"
    ),
    node!("node_minimist", "minimist", "tape@5", "node node_modules/tape/bin/tape 'test/*.js'", "index.js"),
    node!(
        "node_concat_map",
        "concat-map@0.0.1",
        "tape@5",
        "node node_modules/tape/bin/tape 'test/*.js'",
        "index.js"
    ),
    node!(
        "node_text_table",
        "text-table",
        "tape@5 cli-color@0.2",
        "node node_modules/tape/bin/tape 'test/table.js' 'test/align.js'",
        "index.js"
    ),
    node!(
        "node_deep_equal",
        "deep-equal@1.0.1",
        "tape@5",
        "node node_modules/tape/bin/tape 'test/*.js'",
        "index.js"
    ),
    rust!("rust_fnv", "fnv", "1.0.7", "lib.rs"),
    rust!("rust_strsim", "strsim", "0.11.1", "src/lib.rs"),
    rust!("rust_shlex", "shlex", "2.0.1", "src/lib.rs"),
    rust!("rust_percent_encoding", "percent-encoding", "2.3.2", "src/lib.rs"),
];
