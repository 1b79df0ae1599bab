//! A moment as agents read it: with its date, because an agent may sleep for days between two messages.

use crate::time::Millis;

const MS_PER_MINUTE: u64 = 60_000;
const MINUTES_PER_DAY: u64 = 24 * 60;

/// For example `2026-11-16 03:13 UTC`.
pub fn stamp(at: Millis) -> String {
    let minutes = at.0 / MS_PER_MINUTE;
    let (year, month, day) = date(minutes / MINUTES_PER_DAY);
    let (hour, minute) = (minutes / 60 % 24, minutes % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
}

/// Year, month and day of a number of days after the first of January 1970.
fn date(days: u64) -> (u64, u64, u64) {
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    // Whole cycles of 400 years have the same number of days; what is left is counted.
    const CYCLE: u64 = 146_097;
    let (mut year, mut left) = (1970 + days / CYCLE * 400, days % CYCLE);
    while left >= 365 + u64::from(leap(year)) {
        left -= 365 + u64::from(leap(year));
        year += 1;
    }
    let months = [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    for length in months {
        month += 1;
        if left < length {
            break;
        }
        left -= length;
    }
    (year, month, left + 1)
}
