//! What comes near a text that is not in a file.
//!
//! Three looks, the strictest first: the same lines apart from white space; the place where most lines are the same;
//! single lines that are alike. Each has limits, so that a large file does not take long.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::region::shortened;

/// How many lines of the file are looked at.
const MAX_FILE_LINES: usize = 100_000;

/// How many lines of the text are looked at.
const MAX_TEXT_LINES: usize = 60;

/// How much of a line is compared, in bytes.
const MAX_LINE: usize = 500;

/// How many candidates are named.
const CANDIDATES: usize = 3;

/// How many pairs of letters two lines must share to be alike, of a hundred.
const ALIKE: usize = 50;

/// Says where the nearest text is and how it differs.
pub(super) fn hint(file: &[u8], wanted: &str) -> String {
    let lines: Vec<&[u8]> = file.split(|byte| *byte == b'\n').take(MAX_FILE_LINES).collect();
    let wanted: Vec<&[u8]> = wanted.lines().take(MAX_TEXT_LINES).map(str::as_bytes).collect();
    if wanted.iter().all(|line| is_numbered(line)) {
        return "It seems to contain the line numbers of read_file; leave out the numbers and the tabs after them"
            .to_owned();
    }
    same_but_white_space(&lines, &wanted)
        .or_else(|| most_lines_the_same(&lines, &wanted))
        .or_else(|| lines_alike(&lines, &wanted))
        .unwrap_or_else(|| "Nothing in the file is like it; read the file again".to_owned())
}

/// A line as `read_file` shows it.
fn is_numbered(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    digits > 0 && line.get(digits) == Some(&b'\t')
}

fn words(line: &[u8]) -> Vec<u8> {
    line.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect()
}

/// Places where all lines are the same apart from white space.
fn same_but_white_space(lines: &[&[u8]], wanted: &[&[u8]]) -> Option<String> {
    let wanted_words: Vec<Vec<u8>> = wanted.iter().map(|line| words(line)).collect();
    if wanted_words.iter().all(Vec::is_empty) {
        return None;
    }
    let line_words: Vec<Vec<u8>> = lines.iter().map(|line| words(line)).collect();
    let fits = line_words.windows(wanted.len()).enumerate().filter(|(_, window)| *window == wanted_words);
    let found: Vec<(usize, &[&[u8]])> =
        fits.take(CANDIDATES).map(|(start, _)| (start, &lines[start..start + wanted.len()])).collect();
    let (first, window) = found.first()?;
    let starts: Vec<String> = found.iter().map(|(start, _)| (start + 1).to_string()).collect();
    let mut hint = format!("The text at line {} differs only in white space", starts.join(", "));
    // White space inside of a line counts too, so one of them differs.
    if let Some(index) = (0..wanted.len()).find(|index| window[*index] != wanted[*index]) {
        let number = first + index + 1;
        let _never_fails = write!(
            hint,
            ":\n  line {number} is {:?}\n  you wrote {:?}",
            shortened(window[index]),
            shortened(wanted[index])
        );
    }
    Some(hint)
}

/// The place where most lines are the same, if there are some.
fn most_lines_the_same(lines: &[&[u8]], wanted: &[&[u8]]) -> Option<String> {
    let mut where_wanted: HashMap<&[u8], Vec<usize>> = HashMap::new();
    for (index, line) in wanted.iter().enumerate().filter(|(_, line)| line.trim_ascii().len() > 2) {
        where_wanted.entry(line.trim_ascii()).or_default().push(index);
    }
    let mut same: HashMap<usize, usize> = HashMap::new();
    for (number, line) in lines.iter().enumerate() {
        for index in where_wanted.get(line.trim_ascii()).into_iter().flatten() {
            if let Some(start) = number.checked_sub(*index) {
                *same.entry(start).or_default() += 1;
            }
        }
    }
    let (start, count) = same.into_iter().max_by_key(|(start, count)| (*count, std::cmp::Reverse(*start)))?;
    let last = (start + wanted.len()).min(lines.len());
    let mut hint = format!(
        "Nearest are lines {}-{last}, where {count} of {} lines are the same",
        start + 1,
        wanted.len()
    );
    let differs = |index: &usize| {
        lines.get(start + index).is_none_or(|line| line.trim_ascii_end() != wanted[*index].trim_ascii_end())
    };
    if let Some(index) = (0..wanted.len()).find(differs) {
        let line = lines
            .get(start + index)
            .map_or_else(|| "(the end of the file)".to_owned(), |line| shortened(line));
        let _never_fails = write!(
            hint,
            ". The first that differs:\n  line {} is {line:?}\n  you wrote {:?}",
            start + index + 1,
            shortened(wanted[index])
        );
    }
    Some(hint)
}

/// Lines like the longest one of the text.
fn lines_alike(lines: &[&[u8]], wanted: &[&[u8]]) -> Option<String> {
    let longest = wanted.iter().max_by_key(|line| line.trim_ascii().len())?;
    let pairs = pairs_of(longest);
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let alike = likeness(&pairs, line);
        if alike >= ALIKE {
            found.push((alike, index));
            // The best, and of equals the first.
            found.sort_by_key(|(alike, index)| (std::cmp::Reverse(*alike), *index));
            found.truncate(CANDIDATES);
        }
    }
    if found.is_empty() {
        return None;
    }
    let mut hint = "The nearest lines are:".to_owned();
    for (_, index) in found {
        let _never_fails = write!(hint, "\n{:>6}\t{}", index + 1, shortened(lines[index]));
    }
    Some(hint)
}

type Pairs = HashMap<[u8; 2], usize>;

/// How often each pair of neighbouring letters occurs.
fn pairs_of(line: &[u8]) -> Pairs {
    let mut pairs = Pairs::new();
    for pair in cut(line).windows(2) {
        *pairs.entry([pair[0], pair[1]]).or_default() += 1;
    }
    pairs
}

/// How many pairs a line shares, of a hundred.
fn likeness(pairs: &Pairs, line: &[u8]) -> usize {
    let total: usize = pairs.values().sum();
    let length = cut(line).len().saturating_sub(1);
    if total == 0 || length == 0 || length > total * 3 || total > length * 3 {
        return 0;
    }
    let of_line = pairs_of(line);
    let shared: usize =
        pairs.iter().map(|(pair, count)| of_line.get(pair).map_or(0, |other| *other.min(count))).sum();
    200 * shared / (total + length)
}

fn cut(line: &[u8]) -> &[u8] {
    let line = line.trim_ascii();
    &line[..line.len().min(MAX_LINE)]
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &[u8] =
        b"fn one() {\n\tlet a = 1;\n\tlet b = 2;\n}\n\nfn two() {\n\tlet c = compute(3);\n}\n";

    #[test]
    fn white_space_is_named() {
        let told = hint(FILE, "    let a = 1;\n    let b = 2;");
        assert_eq!(
            told,
            "The text at line 2 differs only in white space:\n  line 2 is \"\\tlet a = 1;\"\n  you wrote \"    let a = 1;\""
        );
    }

    #[test]
    fn the_first_line_that_differs_is_shown() {
        let told = hint(FILE, "fn one() {\n\tlet a = 1;\n\tlet b = 3;\n}");
        assert_eq!(
            told,
            "Nearest are lines 1-4, where 2 of 4 lines are the same. The first that differs:\n  line 3 is \"\\tlet b = \
             2;\"\n  you wrote \"\\tlet b = 3;\""
        );
    }

    #[test]
    fn lines_that_are_alike_are_shown() {
        assert_eq!(
            hint(FILE, "let c = compute(4);"),
            "The nearest lines are:\n     7\t\tlet c = compute(3);"
        );
    }

    #[test]
    fn line_numbers_are_recognised_and_nothing_is_said_to_be_nothing() {
        assert!(hint(FILE, "     2\t\tlet a = 1;").contains("line numbers"));
        assert_eq!(hint(FILE, "zzzz qqqq"), "Nothing in the file is like it; read the file again");
        assert_eq!(hint(b"", "x"), "Nothing in the file is like it; read the file again");
        assert_eq!(hint(FILE, "\n\n\n\n"), "Nothing in the file is like it; read the file again");
    }
}
