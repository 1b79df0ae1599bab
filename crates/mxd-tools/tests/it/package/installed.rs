//! Installed packages of npm and PyPI, and scripts.

use std::fs;

use super::ground::Ground;

const NPX: &[&str] = &["npx", "-y", "a@1.0.0"];
const UVX: &[&str] = &["uvx", "a==1.0.0"];

fn npm_ground() -> Ground {
    let ground = Ground::new();
    ground.program("bin/node", "#!/bin/sh\n");
    ground.npm("near/node_modules/a", ("a", "1.0.0"), &["@s/b"]);
    ground.npm("near/node_modules/@s/b", ("@s/b", "2.0.0"), &["a"]);
    ground.npm("near/node_modules/stranger", ("stranger", "1.0.0"), &[]);
    ground
}

#[test]
fn an_npm_package_is_itself_and_what_it_depends_on() {
    let ground = npm_ground();
    let before = ground.digest(NPX);
    assert_eq!(ground.measure(NPX).unwrap().files, 8, "of each two files and two links");
    ground.write("near/node_modules/stranger/index.js", "changed");
    assert_eq!(ground.digest(NPX), before, "a stranger does not matter");
    ground.program("near/node_modules/@s/b/index.js", "changed");
    assert_ne!(ground.digest(NPX), before, "what it depends on does");
}

#[test]
fn where_npm_puts_a_dependency_does_not_matter() {
    let ground = npm_ground();
    let before = ground.digest(NPX);
    ground.remove("near/node_modules/@s");
    ground.npm("near/node_modules/a/node_modules/@s/b", ("@s/b", "2.0.0"), &["a"]);
    assert_eq!(ground.digest(NPX), before);
    fs::rename(ground.path("near/node_modules"), ground.path("node_modules")).unwrap();
    assert_eq!(ground.digest(NPX), before, "found in a folder around");
    ground.npm("node_modules/a/node_modules/@s/b", ("@s/b", "2.0.1"), &["a"]);
    assert_ne!(ground.digest(NPX), before, "another version is another package");
}

#[test]
fn npm_packages_that_are_not_there_are_named() {
    let ground = npm_ground();
    let told = |words: &[&str]| ground.measure(words).unwrap_err().to_string();
    assert_eq!(told(&["npx", "-y", "a@1.0.1"]), "the npm package a@1.0.1 is not installed");
    assert_eq!(
        told(&["npx", "-y", "-p", "a@1.0.0", "sing"]),
        "the npm package a@1.0.0 has no program `sing`"
    );
    ground.program("near/node_modules/a/index.js", "#!/bin/bash\n");
    assert_eq!(told(NPX), "index.js is started with `bash`, not with Node.js");
    ground.npm("near/node_modules/a", ("a", "1.0.0"), &["@s/b", "c"]);
    assert_eq!(told(NPX), "a@1.0.0 needs c, which is not installed");
}

#[test]
fn a_script_inside_of_a_package_is_the_package() {
    let ground = npm_ground();
    let script = ground.path("near/node_modules/a/index.js");
    assert_eq!(ground.digest(&["node", &script.to_string_lossy()]), ground.digest(NPX));
    assert_eq!(ground.digest(&["node", "node_modules/a/index.js", "x"]), ground.digest(NPX));
    fs::create_dir(ground.path("near/node_modules/.bin")).unwrap();
    std::os::unix::fs::symlink("../a/index.js", ground.path("near/node_modules/.bin/run")).unwrap();
    assert_eq!(ground.digest(&["node_modules/.bin/run"]), ground.digest(NPX));
}

fn pypi_ground() -> Ground {
    let ground = Ground::new();
    ground.venv();
    ground.pypi(("a", "1.0.0"), &["B_b>=2", "c; sys_platform == 'win32'", "d; extra == 'more'"]);
    ground.pypi(("b_b", "2.0.0"), &["e[more]"]);
    ground.pypi(("d", "1.0.0"), &[]);
    ground.pypi(("e", "1.0.0"), &["f; extra == 'more'", "d; extra == 'other'"]);
    ground.pypi(("f", "1.0.0"), &[]);
    ground
}

const SITE: &str = "near/.venv/lib/python3.11/site-packages";

#[test]
fn a_distribution_is_itself_and_what_it_depends_on() {
    let ground = pypi_ground();
    let before = ground.digest(UVX);
    assert_eq!(ground.measure(UVX).unwrap().files, 12, "three files of a, b_b, e and f");
    ground.write(&format!("{SITE}/d/__init__.py"), "changed");
    assert_eq!(ground.digest(UVX), before, "an extra that nobody asked for does not matter");
    ground.write(&format!("{SITE}/f/__init__.py"), "changed");
    assert_ne!(ground.digest(UVX), before, "one that somebody asked for does");
}

#[test]
fn what_installers_leave_behind_does_not_matter() {
    let ground = pypi_ground();
    let before = ground.digest(UVX);
    ground.write(&format!("{SITE}/a/__pycache__/__init__.cpython-311.pyc"), "compiled");
    ground.write(&format!("{SITE}/a-1.0.0.dist-info/INSTALLER"), "uv");
    ground.write(&format!("{SITE}/sitecustomize.py"), "never runs");
    ground.program("near/.venv/bin/a", "#!/somewhere/else/python\n");
    assert_eq!(ground.digest(UVX), before);
    ground.write(&format!("{SITE}/a-1.0.0.dist-info/entry_points.txt"), "[console_scripts]\na = a:other\n");
    assert_ne!(ground.digest(UVX), before);
}

#[test]
fn distributions_that_are_not_there_are_named() {
    let ground = pypi_ground();
    let told = |words: &[&str]| ground.measure(words).unwrap_err().to_string();
    assert_eq!(told(&["uvx", "a==1.0.1"]), "the distribution a==1.0.1 is not installed");
    assert_eq!(
        told(&["uvx", "--from", "a==1.0.0", "sing"]),
        "the distribution a==1.0.0 has no program `sing`"
    );
    fs::remove_file(ground.path(&format!("{SITE}/a/__init__.py"))).unwrap();
    assert!(told(UVX).contains("a/__init__.py: No such file"), "{}", told(UVX));
    ground.pypi(("a", "1.0.0"), &["gone"]);
    assert_eq!(told(UVX), "a==1.0.0 needs gone, which is not installed");
    ground.pypi(("a", "1.0.0"), &[]);
    let note = "{\"url\": \"file:///src\", \"dir_info\": {\"editable\": true}}";
    ground.write(&format!("{SITE}/a-1.0.0.dist-info/direct_url.json"), note);
    assert_eq!(told(UVX), "a==1.0.0 is installed as a link to its sources");
}

#[test]
fn a_script_is_the_project_around_it() {
    let ground = Ground::new();
    ground.program("bin/node", "#!/bin/sh\n");
    ground.write("near/project/package.json", "{}");
    ground.write("near/project/src/server.js", "1");
    ground.write("near/project/lib/more.js", "2");
    ground.write("near/project/.git/config", "x");
    let words = ["node", "project/src/server.js"];
    let before = ground.digest(&words);
    assert_eq!(ground.measure(&words).unwrap().files, 3);
    ground.write("near/project/.git/config", "y");
    assert_eq!(ground.digest(&words), before);
    ground.write("near/project/lib/more.js", "3");
    assert_ne!(ground.digest(&words), before);
    ground.write("home/server.js", "1");
    let home = ground.path("home/server.js");
    let wide = ground.measure(&["node", &home.to_string_lossy()]).unwrap_err();
    assert!(wide.to_string().contains("holds far more than that"), "{wide}");
}
