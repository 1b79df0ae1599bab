//! Names and values inside of one text: queries of addresses, connection strings, headers as arguments, JSON.

/// Every `name=value`, the `Name: value` that a text is, and every `"name": "value"`.
pub(super) fn named(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let pairs = assigned(text).chain(header(text)).chain(in_json(text));
    // A shell puts the value of a variable there; the text does not hold it.
    pairs.filter(|(_, value)| !begins_with_variable(value))
}

/// Whether a text begins with `$NAME` or `${NAME`.
pub(super) fn begins_with_variable(text: &str) -> bool {
    let name = text.strip_prefix('$').map(|rest| rest.strip_prefix('{').unwrap_or(rest));
    name.is_some_and(|name| name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_'))
}

/// `name=value`, as in queries, connection strings and commands for a shell.
fn assigned(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let is_border = |c: char| c.is_whitespace() || matches!(c, '?' | '&' | ';' | ',' | '"' | '\'' | '#');
    text.split(is_border).filter_map(|part| part.split_once('=')).filter(|(name, _)| is_name(name))
}

/// `Name: value`, when the text begins with it.
fn header(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.split_once(':')?;
    // Behind `https` there is an address and not the value of a header.
    (is_name(name) && !value.starts_with("//")).then_some((name, value.trim()))
}

/// `"name": "value"`, also when the quotes are escaped because the text is JSON in JSON.
fn in_json(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let texts: Vec<&str> = text.split('"').collect();
    let trim = |part: &'_ str| part.trim_end_matches('\\').len();
    (1..texts.len().saturating_sub(2)).filter_map(move |at| {
        let (name, between, value) = (texts[at], texts[at + 1], texts[at + 2]);
        let is_pair = between.trim().trim_end_matches('\\').trim() == ":";
        (is_pair && is_name(&name[..trim(name)])).then(|| (&name[..trim(name)], &value[..trim(value)]))
    })
}

fn is_name(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '$' | '[' | ']' | '%');
    !text.is_empty() && text.chars().all(is_part)
}
