//! A function over 70 lines or a file over 600 needs a written reason.
//!
//! Lines of a function are counted as clippy's `too_many_lines` counts them, without blank lines and
//! comments: otherwise a function could need an `expect` here that clippy calls unfulfilled.

use proc_macro2::Span;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Attribute, Block, Expr, ExprLit, Ident, Lit, Meta, Token};

use super::{Problem, Workspace};

const FUNCTION_LINES: usize = 70;
const FILE_LINES: usize = 600;

/// Hand-written files over the limit, each with its reason.
const LONG_FILES: &[(&str, &str)] = &[];

pub(super) fn check(workspace: &Workspace) -> Vec<Problem> {
    let mut problems = check_files(workspace, LONG_FILES);
    for (path, source) in workspace.texts("rs") {
        problems.extend(check_functions(path, source));
    }
    problems
}

fn check_files(workspace: &Workspace, excused: &[(&str, &str)]) -> Vec<Problem> {
    let reason = |path: &str| excused.iter().find(|(file, _)| *file == path).map(|(_, reason)| reason.trim());
    let mut problems = Vec::new();
    for (path, source) in workspace.texts("rs").filter(|(_, source)| !is_generated(source)) {
        let lines = source.lines().count();
        match reason(path) {
            None | Some("") if lines > FILE_LINES => {
                let what = format!("{lines} lines, more than {FILE_LINES}");
                let remedy =
                    "split it by subject, or give the reason in LONG_FILES in xtask/src/tidy/size.rs";
                problems.push(Problem::new(path, FILE_LINES + 1, what, remedy));
            }
            Some(_) if lines <= FILE_LINES => {
                let what = format!("{lines} lines, which needs no excuse");
                problems.push(Problem::new(
                    path,
                    1,
                    what,
                    "remove it from LONG_FILES in xtask/src/tidy/size.rs",
                ));
            }
            _ => {}
        }
    }
    let gone = excused.iter().filter(|(file, _)| workspace.text(file).is_none());
    let forget = |(file, _): &(&str, &str)| {
        Problem::new(
            file,
            1,
            "excused for its length, but gone",
            "remove it from LONG_FILES in xtask/src/tidy/size.rs",
        )
    };
    problems.extend(gone.map(forget));
    problems
}

fn is_generated(source: &str) -> bool {
    source.lines().take(5).any(|line| line.contains("@generated"))
}

fn check_functions(path: &str, source: &str) -> Vec<Problem> {
    let tree = match syn::parse_file(source) {
        Ok(tree) => tree,
        Err(error) => {
            let line = error.span().start().line;
            return vec![Problem::new(path, line, format!("not Rust: {error}"), "make it compile")];
        }
    };
    let mut visitor = Functions { path, lines: source.lines().collect(), problems: Vec::new() };
    visitor.visit_file(&tree);
    visitor.problems
}

struct Functions<'a> {
    path: &'a str,
    lines: Vec<&'a str>,
    problems: Vec<Problem>,
}

impl Functions<'_> {
    fn judge(&mut self, name: &Ident, attributes: &[Attribute], body: &Block) {
        let span = body.brace_token.span;
        let lines = code_lines(&self.body(span.open(), span.close()));
        if lines > FUNCTION_LINES && !attributes.iter().any(gives_reason) {
            let what = format!("function `{name}` has {lines} lines, more than {FUNCTION_LINES}");
            let remedy = "split it, or say why not: #[expect(clippy::too_many_lines, reason = \"…\")]";
            self.problems.push(Problem::new(self.path, name.span().start().line, what, remedy));
        }
    }

    /// What stands between the braces; a one-line body can never be too long.
    fn body(&self, open: Span, close: Span) -> String {
        let (first, last) = (open.end().line, close.start().line);
        let inner = self.lines.get(first..last.saturating_sub(1)).unwrap_or_default();
        inner.join("\n")
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.judge(&function.sig.ident, &function.attrs, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.judge(&function.sig.ident, &function.attrs, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(body) = &function.default {
            self.judge(&function.sig.ident, &function.attrs, body);
        }
        visit::visit_trait_item_fn(self, function);
    }
}

fn gives_reason(attribute: &Attribute) -> bool {
    if !attribute.path().is_ident("expect") {
        return false;
    }
    let Ok(parts) = attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated) else {
        return false;
    };
    let excuses = parts.iter().any(|part| is_lint(part.path()));
    excuses && parts.iter().any(is_reason)
}

fn is_lint(path: &syn::Path) -> bool {
    let mut segments = path.segments.iter().map(|segment| segment.ident.to_string());
    segments.next().as_deref() == Some("clippy") && segments.next().as_deref() == Some("too_many_lines")
}

fn is_reason(part: &Meta) -> bool {
    let Meta::NameValue(pair) = part else {
        return false;
    };
    let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &pair.value else {
        return false;
    };
    pair.path.is_ident("reason") && !text.value().trim().is_empty()
}

/// The lines that hold more than space and comments.
fn code_lines(text: &str) -> usize {
    let mut in_comment = false;
    text.lines().filter(|line| has_code(line, &mut in_comment)).count()
}

fn has_code(mut line: &str, in_comment: &mut bool) -> bool {
    let mut code = false;
    loop {
        line = line.trim_start();
        if line.is_empty() {
            return code;
        }
        if *in_comment {
            let Some(end) = line.find("*/") else {
                return code;
            };
            line = &line[end + 2..];
            *in_comment = false;
            continue;
        }
        let block = line.find("/*").unwrap_or(line.len());
        let rest = line.find("//").unwrap_or(line.len());
        code |= block > 0 && rest > 0;
        if block >= rest {
            return code;
        }
        line = &line[block + 2..];
        *in_comment = true;
    }
}

#[cfg(test)]
mod tests {
    use super::super::workspace::example::files;
    use super::*;

    fn function(attributes: &str, lines: usize) -> String {
        format!("{attributes}fn long() {{\n{}}}\n", "    step();\n\n    // a comment\n".repeat(lines))
    }

    fn found(source: &str) -> Vec<(usize, String)> {
        let workspace = files(&[("crates/a/src/lib.rs", source)]);
        check(&workspace).into_iter().map(|problem| (problem.line, problem.what)).collect()
    }

    #[test]
    fn a_long_function_is_found_and_comments_do_not_count() {
        assert_eq!(found(&function("", 70)), []);
        let expected = (2, "function `long` has 71 lines, more than 70".to_owned());
        assert_eq!(found(&function("#[test]\n", 71)), [expected]);
    }

    #[test]
    fn methods_and_nested_functions_are_functions() {
        let long = function("", 71);
        assert_eq!(found(&format!("impl A {{ {long} }}")).len(), 1);
        assert_eq!(found(&format!("trait A {{ {long} }}")).len(), 1);
        assert_eq!(found(&format!("mod a {{ impl A {{ {long} }} }}")).len(), 1);
        assert_eq!(found(&format!("fn f() {{ {long} }}")).len(), 2);
    }

    #[test]
    fn only_a_written_reason_excuses() {
        let excused = "#[expect(clippy::too_many_lines, reason = \"a flat table\")]\n";
        assert_eq!(found(&function(excused, 71)), []);
        for silent in [
            "#[expect(clippy::too_many_lines)]\n",
            "#[expect(clippy::too_many_lines, reason = \" \")]\n",
            "#[expect(clippy::unwrap_used, reason = \"a flat table\")]\n",
        ] {
            assert_eq!(found(&function(silent, 71)).len(), 1, "{silent}");
        }
    }

    #[test]
    fn block_comments_are_no_code() {
        assert_eq!(code_lines("a();\n/* one\n two */\n/* three */ b();\n\nc(); // four\n"), 3);
    }

    #[test]
    fn a_long_file_needs_a_reason_and_a_short_one_needs_none() {
        let long = "//! Long.\n".repeat(601);
        let workspace = files(&[("a.rs", &long), ("b.rs", "//! Short.\n")]);
        let problems = |excused: &[(&str, &str)]| check_files(&workspace, excused).len();
        assert_eq!(problems(&[]), 1);
        assert_eq!(problems(&[("a.rs", "a flat table")]), 0);
        assert_eq!(problems(&[("a.rs", "")]), 1);
        assert_eq!(problems(&[("a.rs", "a flat table"), ("b.rs", "none needed")]), 1);
        assert_eq!(problems(&[("a.rs", "a flat table"), ("gone.rs", "it was long")]), 1);
    }

    #[test]
    fn a_generated_file_may_be_long() {
        let generated = format!("//! @generated by a tool.\n{}", "//! Long.\n".repeat(601));
        assert_eq!(found(&generated), []);
    }

    #[test]
    fn a_broken_file_is_a_problem_and_no_panic() {
        assert!(found("fn {").first().unwrap().1.starts_with("not Rust"));
    }
}
