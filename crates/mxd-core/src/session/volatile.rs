//! Takes out of a text what differs from run to run of the same command: times, dates, durations, process numbers,
//! addresses and long random names. Small whole numbers stay: they count failures and name lines.

/// Digits in a word from which on it is a time stamp, a process number or a random name.
const MANY_DIGITS: usize = 5;
/// Letters of a random name in hexadecimal digits.
const LONG_HEX: usize = 8;
/// Units of time that stand right behind a number or in a word of their own.
const UNITS: [&str; 14] = [
    "ns",
    "us",
    "µs",
    "ms",
    "s",
    "sec",
    "secs",
    "second",
    "seconds",
    "m",
    "min",
    "minutes",
    "h",
    "milliseconds",
];

/// The text with a mark in place of each such word.
pub(super) fn without_volatile(text: &str) -> String {
    let mut words = Words(text).peekable();
    let mut kept = String::with_capacity(text.len());
    while let Some(word) = words.next() {
        let is_duration = is_number(word) && followed_by_unit(&mut words.clone());
        kept.push_str(if is_duration || is_volatile(word) { "#" } else { word });
    }
    kept
}

/// Words and what stands between them, in order.
#[derive(Clone)]
struct Words<'a>(&'a str);

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let first = self.0.chars().next()?;
        let end = self.0.find(|letter| is_between(letter) != is_between(first)).unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        Some(word)
    }
}

/// Whether a letter stands between words. Those that times, dates and numbers are written with do not.
fn is_between(letter: char) -> bool {
    !(letter.is_alphanumeric() || ['-', '_', '.', ':', '+'].contains(&letter))
}

fn followed_by_unit<'a>(rest: &mut impl Iterator<Item = &'a str>) -> bool {
    rest.next() == Some(" ")
        && rest.next().is_some_and(|word| UNITS.contains(&word.trim_end_matches(['.', ':'])))
}

fn is_number(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_digit())
        && word.trim_end_matches(['.', ':']).chars().all(|letter| letter.is_ascii_digit() || letter == '.')
}

fn is_volatile(word: &str) -> bool {
    let word = word.trim_matches(['.', ':', '-']);
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let number = word.trim_end_matches(char::is_alphabetic);
    let unit = &word[number.len()..];
    let is_decimal = is_number(number) && number.contains('.') && number.matches('.').count() == 1;
    let is_duration = is_number(number) && UNITS.contains(&unit);
    let is_clock =
        word.matches(':').count() == 2 && word.chars().all(|one| one.is_ascii_digit() || one == ':');
    let is_hex = word.split(['-', '_', '.']).any(is_long_hex);
    digits >= MANY_DIGITS
        || word.starts_with("0x")
        || is_hex
        || is_duration
        || is_clock
        || is_decimal && unit.is_empty()
}

fn is_long_hex(part: &str) -> bool {
    let has_digit = part.contains(|one: char| one.is_ascii_digit());
    has_digit && part.len() >= LONG_HEX && part.chars().all(|one| one.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_from_run_to_run_is_taken_out() {
        for (one, other) in [
            (
                "npm error A complete log of this run can be found in: /home/ada/.npm/_logs/2026-11-18T12_00_01_123Z-debug-0.log",
                "npm error A complete log of this run can be found in: /home/ada/.npm/_logs/2026-11-18T12_07_44_901Z-debug-0.log",
            ),
            ("FAILED in 0.53s", "FAILED in 12.01s"),
            ("Time:        1.234 s, estimated 2 s", "Time:        1.871 s, estimated 3 s"),
            ("thread 'main' (22570) panicked at 0x7ffe01", "thread 'main' (22613) panicked at 0x7ffe99"),
            ("[12:00:01] no", "[12:00:09] no"),
            ("/tmp/tmp-3f9a01bc/x: no", "/tmp/tmp-77aa02cd/x: no"),
            ("took 812ms", "took 9ms"),
        ] {
            assert_eq!(without_volatile(one), without_volatile(other));
        }
    }

    #[test]
    fn what_says_something_stays() {
        for (one, other) in [
            ("3 failed, 10 passed", "2 failed, 11 passed"),
            ("src/a.rs:12:5: unused", "src/a.rs:14:5: unused"),
            ("no such file: a", "no such file: b"),
            ("step 3/10", "step 4/10"),
            ("", "x"),
        ] {
            assert_ne!(without_volatile(one), without_volatile(other));
        }
    }
}
