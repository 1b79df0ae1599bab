//! What an import names: the rules of the compiler, so that both find the same file, and no way out of the folders.

use crate::fault::Fault;

/// `context:prefix=target`, as compilers take it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Remapping {
    context: String,
    prefix: String,
    target: String,
}

impl Remapping {
    pub(super) fn parse(text: &str) -> Result<Self, Fault> {
        let wrong = || Fault::invalid(format!("`{text}` is not a remapping; write it like @lib/=lib/src/"));
        let (from, target) = text.split_once('=').ok_or_else(wrong)?;
        let (context, prefix) = from.split_once(':').unwrap_or(("", from));
        if prefix.is_empty() {
            return Err(wrong());
        }
        if !target.is_empty() {
            check_path(target.trim_end_matches('/'))?;
        }
        let remapping =
            Self { context: context.to_owned(), prefix: prefix.to_owned(), target: target.to_owned() };
        Ok(remapping)
    }

    pub(super) fn text(&self) -> String {
        match self.context.is_empty() {
            true => format!("{}={}", self.prefix, self.target),
            false => format!("{}:{}={}", self.context, self.prefix, self.target),
        }
    }
}

/// The name of the file that an import in a file means.
pub(super) fn resolve(importer: &str, path: &str, remappings: &[Remapping]) -> Result<String, Fault> {
    let name = if path.starts_with("./") || path.starts_with("../") {
        joined(importer, path).ok_or_else(|| {
            Fault::invalid(format!("{importer} imports `{path}`, which leads out of the sources"))
        })?
    } else {
        path.to_owned()
    };
    let fitting = remappings
        .iter()
        .filter(|one| importer.starts_with(&one.context) && name.starts_with(&one.prefix))
        .max_by_key(|one| (one.context.len(), one.prefix.len()));
    let name = match fitting {
        Some(one) => format!("{}{}", one.target, &name[one.prefix.len()..]),
        None => name,
    };
    check_name(&name)?;
    Ok(name)
}

/// A relative path, seen from the folder of the importing file.
fn joined(importer: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = importer.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// A path that stays where it is.
pub(super) fn check_path(path: &str) -> Result<(), Fault> {
    let wrong =
        |what: &str| Err(Fault::invalid(format!("`{path}` {what}; paths are relative and stay inside")));
    if path.is_empty() || path.len() > 500 {
        return wrong("is empty or too long");
    }
    if path.starts_with('/') || path.contains(['\\', '\0', ':', '\n', '\r']) {
        return wrong("is not a plain relative path");
    }
    if path.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return wrong("has an empty, `.` or `..` part");
    }
    Ok(())
}

/// The name of a file that may be read.
pub(super) fn check_name(name: &str) -> Result<(), Fault> {
    check_path(name)?;
    if !name.ends_with(".sol") {
        return Err(Fault::invalid(format!("`{name}` is no Solidity file")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_resolve_as_the_compiler_does() {
        let remappings =
            ["@oz/=vendor/oz/", "src/a:x/=y/", "x/=z/"].map(|text| Remapping::parse(text).unwrap());
        for (importer, path, name) in [
            ("src/A.sol", "./B.sol", "src/B.sol"),
            ("src/a/A.sol", "../B.sol", "src/B.sol"),
            ("A.sol", "@oz/token/T.sol", "vendor/oz/token/T.sol"),
            ("A.sol", "forge-std/Test.sol", "forge-std/Test.sol"),
            ("src/a/A.sol", "x/X.sol", "y/X.sol"),
            ("src/b/A.sol", "x/X.sol", "z/X.sol"),
        ] {
            assert_eq!(resolve(importer, path, &remappings).unwrap(), name);
        }
    }

    #[test]
    fn no_name_leads_out() {
        for path in [
            "../../etc/passwd.sol",
            "/etc/passwd.sol",
            "a/../../b.sol",
            "a\\..\\b.sol",
            "C:/b.sol",
            "./../../x.sol",
            "a//b.sol",
            "https://x/y.sol",
            "/etc/passwd",
            "x.json",
            "",
        ] {
            assert!(resolve("src/A.sol", path, &[]).is_err(), "{path}");
        }
        for text in ["@x/=../../", "@x/=/etc/", "=x", "x", "@x/=a/../../b"] {
            assert!(Remapping::parse(text).is_err(), "{text}");
        }
    }
}
