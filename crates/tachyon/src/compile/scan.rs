//! The directives of a source file: what it imports and which compilers it wants, past comments and strings.

/// What a file says about its surroundings.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Directives {
    pub(super) imports: Vec<String>,
    /// The text of every `pragma solidity`.
    pub(super) pragmas: Vec<String>,
}

/// One piece of source text that matters here.
#[derive(Debug, PartialEq, Eq)]
enum Token<'a> {
    Word(&'a str),
    Text(String),
    Mark(char),
}

struct Tokens<'a> {
    source: &'a str,
    at: usize,
}

impl<'a> Tokens<'a> {
    fn rest(&self) -> &'a str {
        &self.source[self.at..]
    }

    /// Passes over spaces and comments.
    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start().len();
            self.at += blank;
            let rest = self.rest();
            let comment = if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if let Some(inside) = rest.strip_prefix("/*") {
                inside.find("*/").map_or(rest.len(), |end| end + 4)
            } else {
                0
            };
            self.at += comment;
            if blank == 0 && comment == 0 {
                return;
            }
        }
    }

    /// The inside of a string, with its escapes left as they are: no path needs one.
    fn text(&mut self, quote: char) -> Token<'a> {
        let mut escaped = false;
        let inside = &self.rest()[1..];
        for (index, char) in inside.char_indices() {
            match char {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '\n' => {
                    self.at += 1 + index;
                    return Token::Text(inside[..index].to_owned());
                }
                _ if char == quote => {
                    self.at += 2 + index;
                    return Token::Text(inside[..index].to_owned());
                }
                _ => {}
            }
        }
        self.at = self.source.len();
        Token::Text(inside.to_owned())
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        self.skip();
        let rest = self.rest();
        let first = rest.chars().next()?;
        if matches!(first, '"' | '\'') {
            return Some(self.text(first));
        }
        let is_word = |char: char| char.is_alphanumeric() || matches!(char, '_' | '$');
        if is_word(first) {
            let end = rest.find(|char| !is_word(char)).unwrap_or(rest.len());
            self.at += end;
            return Some(Token::Word(&rest[..end]));
        }
        self.at += first.len_utf8();
        Some(Token::Mark(first))
    }
}

/// Reads the directives of a file.
pub(super) fn directives(source: &str) -> Directives {
    let mut found = Directives::default();
    let mut tokens = Tokens { source, at: 0 };
    let mut depth = 0usize;
    while let Some(token) = tokens.next() {
        match token {
            Token::Mark('{') => depth += 1,
            Token::Mark('}') => depth = depth.saturating_sub(1),
            Token::Word("import") if depth == 0 => {
                let until_end = tokens.by_ref().take_while(|token| *token != Token::Mark(';'));
                let path = until_end.filter_map(|token| match token {
                    Token::Text(path) => Some(path),
                    _ => None,
                });
                found.imports.extend(path.last());
            }
            Token::Word("pragma") if depth == 0 => {
                let begin = tokens.at;
                let is_solidity = tokens.next() == Some(Token::Word("solidity"));
                let begin = if is_solidity { tokens.at } else { begin };
                let end = source[begin..].find(';').map_or(source.len(), |end| begin + end);
                if is_solidity {
                    found.pragmas.push(source[begin..end].trim().to_owned());
                }
                tokens.at = end;
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_of_every_form_are_found_and_nothing_else() {
        let source = r#"
            // import "no1.sol";
            /* import "no2.sol"; */
            pragma solidity ^0.8.0; pragma abicoder v2;
            pragma solidity >=0.8.0 <0.9.0;
            import "./a.sol";
            import 'b.sol' as B;
            import * as C from "c.sol";
            import {D, E as F} from
                "../d.sol"; import {G} from /* "no3.sol" */ "g.sol";
            contract X { string import_ = "import \"no4.sol\";"; function f() { string memory s = 'import "no5.sol";'; } }
            string constant S = "}";
            import "last.sol";
        "#;
        let found = directives(source);
        assert_eq!(found.imports, ["./a.sol", "b.sol", "c.sol", "../d.sol", "g.sol", "last.sol"]);
        assert_eq!(found.pragmas, ["^0.8.0", ">=0.8.0 <0.9.0"]);
    }

    #[test]
    fn broken_sources_end() {
        for source in
            ["import", "import \"", "pragma", "pragma solidity", "/*", "\"", "{", "import 'a", "'\\"]
        {
            let _ = directives(source);
        }
    }
}
