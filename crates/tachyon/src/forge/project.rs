//! The folder `forge` works in: the files of a compilation, and a configuration of which the upload wrote nothing.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::Path;

use crate::compile::Kit;
use crate::runner::Plan;

/// Where the files are. What forge makes of them is written beside it.
pub(super) const ROOT: &str = "project";

pub(super) fn write(folder: &Path, kit: &Kit, plan: &Plan) -> io::Result<()> {
    let root = folder.join(ROOT);
    for (name, text) in &kit.files {
        put(&root.join(name), text)?;
    }
    let compiler = folder.join("solc");
    put(&compiler, &kit.program.as_script())?;
    fs::set_permissions(&compiler, fs::Permissions::from_mode(0o700))?;
    put(&root.join("foundry.toml"), &configuration(folder, &compiler, kit, plan))
}

fn put(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    File::create(path)?.write_all(text.as_bytes())
}

fn configuration(folder: &Path, compiler: &Path, kit: &Kit, plan: &Plan) -> String {
    let text = |path: &Path| literal(&path.to_string_lossy());
    let settings = &kit.settings;
    let mut lines = vec![
        "[profile.default]".to_owned(),
        "src = '.'\ntest = '.'\nscript = 'no-scripts'\nlibs = []".into(),
        format!("out = {}\ncache_path = {}", text(&folder.join("out")), text(&folder.join("cache"))),
        format!("solc = {}\noffline = true", text(compiler)),
        "ffi = false\nfs_permissions = []\nauto_detect_remappings = false".into(),
        format!("remappings = [{}]", remappings(kit).join(", ")),
        format!("optimizer = {}\noptimizer_runs = {}", settings.optimizer.enabled, settings.optimizer.runs),
        format!("via_ir = {}", settings.via_ir),
        format!("block_number = {}\nblock_timestamp = {}", plan.block_number, plan.block_timestamp),
    ];
    if !settings.evm_version.is_empty() {
        lines.push(format!("evm_version = {}", literal(&settings.evm_version)));
    }
    lines.push(format!("[fuzz]\nruns = {}\nseed = '{:#x}'", plan.fuzz_runs, plan.seed));
    lines.push("[lint]\nlint_on_build = false".into());
    lines.join("\n") + "\n"
}

/// The caller's own, and every top folder as itself: names were resolved before, and mean files of the folder.
fn remappings(kit: &Kit) -> Vec<String> {
    let folders: BTreeSet<&str> = kit.files.keys().filter_map(|name| Some(name.split_once('/')?.0)).collect();
    let own = folders.into_iter().map(|folder| format!("{folder}/={folder}/"));
    kit.remappings.iter().cloned().chain(own).map(|text| literal(&text)).collect()
}

/// A string of TOML in which every character is what it is, whatever an upload wrote.
fn literal(text: &str) -> String {
    let mut quoted = String::from("\"");
    for char in text.chars() {
        match char {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(char);
            }
            _ if char.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(char))),
            _ => quoted.push(char),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_gets_out_of_a_string() {
        assert_eq!(literal("a\"\nffi = true\\"), r#""a\"\u000Affi = true\\""#);
    }
}
