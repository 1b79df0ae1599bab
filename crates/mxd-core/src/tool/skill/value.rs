//! Values in skill files: quoted ones and comments, which both kinds of files have.

/// What a text in double quotes says, with `\"`, `\\`, `\n` and `\t` read, and what follows it.
pub(super) fn double_quoted(text: &str) -> Result<(String, &str), &'static str> {
    let mut said = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((said, &text[at + 1..])),
            '\\' => match chars.next() {
                Some((_, 'n')) => said.push('\n'),
                Some((_, 't')) => said.push('\t'),
                Some((_, escaped @ ('"' | '\\'))) => said.push(escaped),
                Some(_) | None => return Err("after a backslash only \" \\ n and t are known"),
            },
            c => said.push(c),
        }
    }
    Err("the quote is not closed")
}

/// What a text in single quotes says, in which `''` is one quote, and what follows it.
pub(super) fn single_quoted(text: &str) -> Result<(String, &str), &'static str> {
    let mut said = String::new();
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        match (c, chars.peek()) {
            ('\'', Some((_, '\''))) => {
                said.push('\'');
                chars.next();
            }
            ('\'', _) => return Ok((said, &text[at + 1..])),
            (c, _) => said.push(c),
        }
    }
    Err("the quote is not closed")
}

/// Whether nothing follows but space and a comment.
pub(super) fn is_rest_empty(rest: &str) -> bool {
    let trimmed = rest.trim_start();
    trimmed.is_empty() || trimmed.starts_with('#') && trimmed.len() < rest.len()
}

/// A line without its comment: `#` begins one at the start of the line and after space.
pub(super) fn without_comment(line: &str) -> &str {
    let is_comment = |(at, _): &(usize, &str)| line[..*at].ends_with(char::is_whitespace) || *at == 0;
    let end = line.match_indices('#').find(is_comment).map_or(line.len(), |(at, _)| at);
    line[..end].trim()
}
