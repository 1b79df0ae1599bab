//! Rust sources as tokens: comments and strings are out of the way, macros are not.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A path as it was written, with what a grouped import put in front of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PathUse {
    /// `["std", "fs"]`; a glob ends in `*`.
    pub(super) segments: Vec<String>,
    pub(super) line: usize,
    /// Written in a `use` or an `extern crate`.
    pub(super) imported: bool,
    /// Followed by `as`.
    pub(super) renamed: bool,
}

/// Every path of a source, also inside macros.
pub(super) fn paths(source: &str) -> Result<Vec<PathUse>, String> {
    let mut scanner = Scanner::default();
    scanner.scan(lex(source)?, &[], false);
    Ok(scanner.found)
}

/// Whether a source defines a function of this name or has it as a string literal.
pub(super) fn defines(source: &str, name: &str) -> Result<bool, String> {
    Ok(defined_in(lex(source)?, name))
}

fn lex(source: &str) -> Result<TokenStream, String> {
    source.parse().map_err(|error: proc_macro2::LexError| error.to_string())
}

fn defined_in(tokens: TokenStream, name: &str) -> bool {
    let mut after_fn = false;
    for tree in tokens {
        let found = match &tree {
            TokenTree::Group(group) => defined_in(group.stream(), name),
            TokenTree::Ident(ident) => after_fn && ident == name,
            TokenTree::Literal(literal) => literal.to_string() == format!("{name:?}"),
            TokenTree::Punct(_) => false,
        };
        if found {
            return true;
        }
        after_fn = matches!(&tree, TokenTree::Ident(ident) if ident == "fn");
    }
    false
}

#[derive(Default)]
struct Scanner {
    found: Vec<PathUse>,
}

impl Scanner {
    /// `prefix` is what stands before the group these tokens were in: `std` in `use std::{fs, net}`.
    fn scan(&mut self, tokens: TokenStream, prefix: &[String], mut importing: bool) {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < trees.len() {
            match &trees[at] {
                TokenTree::Ident(ident) if ident == "use" || ident == "extern" => {
                    // `use<'a>` says what a returned type captures; `extern "C"` and `extern fn` import nothing.
                    importing = starts_import(trees.get(at + 1), ident == "extern");
                    at += 1;
                }
                TokenTree::Ident(ident) if ident == "crate" && importing && is_name(trees.get(at + 1)) => {
                    at += 1
                }
                TokenTree::Ident(_) => at = self.path(&trees, at, prefix, importing),
                TokenTree::Group(group) => {
                    let inherited = if group.delimiter() == Delimiter::Brace { prefix } else { &[] };
                    self.scan(group.stream(), inherited, importing);
                    at += 1;
                }
                TokenTree::Punct(punct) => {
                    importing &= punct.as_char() != ';';
                    at += 1;
                }
                TokenTree::Literal(_) => at += 1,
            }
        }
    }

    /// Reads the path that starts at `at` and answers where to go on.
    fn path(&mut self, trees: &[TokenTree], mut at: usize, prefix: &[String], imported: bool) -> usize {
        let line = trees[at].span().start().line;
        let mut segments = prefix.to_vec();
        segments.push(plain(&trees[at]));
        at += 1;
        while is_separator(trees, at) {
            match trees.get(at + 2) {
                Some(tree @ TokenTree::Ident(_)) => segments.push(plain(tree)),
                Some(TokenTree::Punct(punct)) if punct.as_char() == '*' => segments.push("*".to_owned()),
                Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                    self.scan(group.stream(), &segments, imported);
                    return at + 3;
                }
                _ => break,
            }
            at += 3;
        }
        let renamed = matches!(trees.get(at), Some(TokenTree::Ident(ident)) if ident == "as");
        self.found.push(PathUse { segments, line, imported, renamed });
        // The new name in an import is no path.
        if renamed && imported { at + 2 } else { at }
    }
}

fn starts_import(next: Option<&TokenTree>, is_extern: bool) -> bool {
    match next {
        Some(TokenTree::Ident(ident)) => !is_extern || ident == "crate",
        Some(TokenTree::Punct(punct)) => punct.as_char() != '<' && !is_extern,
        Some(TokenTree::Group(_)) => !is_extern,
        Some(TokenTree::Literal(_)) | None => false,
    }
}

fn is_name(tree: Option<&TokenTree>) -> bool {
    matches!(tree, Some(TokenTree::Ident(_)))
}

fn is_separator(trees: &[TokenTree], at: usize) -> bool {
    let colon =
        |tree: Option<&TokenTree>| matches!(tree, Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
    colon(trees.get(at)) && colon(trees.get(at + 1))
}

fn plain(tree: &TokenTree) -> String {
    let text = tree.to_string();
    text.strip_prefix("r#").map(str::to_owned).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn imports(source: &str) -> Vec<String> {
        let found = paths(source).unwrap();
        found.iter().filter(|path| path.imported).map(|path| path.segments.join("::")).collect()
    }

    #[test]
    fn grouped_imports_are_taken_apart() {
        assert_eq!(
            imports("use std::{fs, io::{self, Write as W}, net::*};"),
            ["std::fs", "std::io::self", "std::io::Write", "std::net::*"]
        );
        assert_eq!(imports("use {rand, std::{env as e}};"), ["rand", "std::env"]);
        assert_eq!(imports("extern crate rand as r; fn f() -> impl Fn() + use<> { rand }"), ["rand"]);
    }

    #[test]
    fn lines_are_those_of_the_source() {
        let found = paths("fn f() {\n    std::fs::read(1);\n}\n").unwrap();
        assert!(found.iter().any(|path| path.segments == ["std", "fs", "read"] && path.line == 2));
    }

    #[test]
    fn comments_and_strings_define_nothing() {
        let source = "// fn gone() {}\n/* fn gone() */ fn here() { mimic(\"named\") }";
        assert_eq!(defines(source, "gone"), Ok(false));
        assert_eq!(defines(source, "here"), Ok(true));
        assert_eq!(defines(source, "named"), Ok(true));
        assert_eq!(defines("proptest! { fn inside(x in 0..3) {} }", "inside"), Ok(true));
    }
}
