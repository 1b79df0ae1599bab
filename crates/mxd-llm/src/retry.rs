//! When to ask again.

use std::time::Duration;

use crate::error::LlmError;

/// How often and after how long a failed call is made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// Attempts in all, the first one included.
    pub attempts: u32,
    /// The wait after the first failure; every further one doubles it.
    pub base: Duration,
    /// The longest wait of our own choice.
    pub cap: Duration,
    /// The longest wait that a server can ask for; a longer one is an error at once.
    pub longest_retry_after: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            attempts: 8,
            base: Duration::from_secs(1),
            cap: Duration::from_secs(60),
            longest_retry_after: Duration::from_secs(300),
        }
    }
}

impl Backoff {
    /// How long to wait after the failure of this attempt, counted from 1; `None` when it was the last one or
    /// asking again cannot help.
    ///
    /// `roll` is a random number from 0 up to 1. It spreads callers over the second half of the wait, so that
    /// those who failed together do not come back together. What a server asks for is never undercut.
    pub fn delay(&self, attempt: u32, error: &LlmError, roll: f64) -> Option<Duration> {
        if !error.class.rule().retry || attempt >= self.attempts {
            return None;
        }
        let doubled = 2_u32.saturating_pow(attempt.saturating_sub(1));
        let whole = self.base.saturating_mul(doubled).min(self.cap);
        let half = whole / 2;
        let roll = roll.clamp(0.0, 1.0);
        match error.retry_after {
            Some(asked) if asked > self.longest_retry_after => None,
            Some(asked) => Some(asked + self.base.min(asked).mul_f64(roll)),
            None => Some(half + half.mul_f64(roll)),
        }
    }
}

/// How long a server asks us to wait: a number of seconds, or a date, which is compared with the server's own
/// so that our clock does not matter.
pub(crate) fn retry_after(header: impl Fn(&str) -> Option<String>) -> Option<Duration> {
    let number = |name: &str| header(name)?.trim().parse::<f64>().ok().filter(|value| *value >= 0.0);
    if let Some(millis) = number("retry-after-ms") {
        return Duration::try_from_secs_f64(millis / 1_000.0).ok();
    }
    if let Some(seconds) = number("retry-after") {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let (then, now) = (http_date(&header("retry-after")?)?, http_date(&header("date")?)?);
    Some(Duration::from_secs(then.saturating_sub(now)))
}

/// Seconds since 1970 of a date like `Sun, 06 Nov 1994 08:49:37 GMT`, the form servers must write.
fn http_date(text: &str) -> Option<u64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (_, rest) = text.trim().split_once(", ")?;
    let mut words = rest.split(' ');
    let day: u64 = words.next()?.parse().ok()?;
    let name = words.next()?;
    let month = MONTHS.iter().position(|month| *month == name)? as u64 + 1;
    let year: u64 = words.next()?.parse().ok()?;
    let mut clock = words.next()?.split(':').map(|part| part.parse::<u64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    if words.next()? != "GMT" || year < 1970 || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    Some(days_since_1970(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second)
}

/// Days from 1970 to a date of the Gregorian calendar, counted in years that begin in March.
fn days_since_1970(year: u64, month: u64, day: u64) -> u64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year / 4 - year / 100 + year / 400;
    (year * 365 + leap_days + (month * 153 + 2) / 5 + day).saturating_sub(719_469)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(headers: &[(&str, &str)]) -> Option<Duration> {
        retry_after(|name| {
            headers.iter().find(|(header, _)| *header == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn seconds_milliseconds_and_dates_are_understood() {
        assert_eq!(asked(&[("retry-after", "12")]), Some(Duration::from_secs(12)));
        assert_eq!(asked(&[("retry-after", "0.5")]), Some(Duration::from_millis(500)));
        let both = [("retry-after", "2"), ("retry-after-ms", "1250")];
        assert_eq!(asked(&both), Some(Duration::from_millis(1_250)));
        let dates =
            [("date", "Sun, 06 Nov 1994 08:49:37 GMT"), ("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT")];
        assert_eq!(asked(&dates), Some(Duration::from_secs(30)));
    }

    #[test]
    fn what_makes_no_sense_is_no_wish() {
        for wrong in ["-1", "soon", "NaN", "1e300", "Sun, 06 Foo 1994 08:49:37 GMT"] {
            assert_eq!(asked(&[("retry-after", wrong), ("date", "x")]), None, "{wrong}");
        }
        assert_eq!(asked(&[]), None);
    }

    #[test]
    fn dates_are_counted_right() {
        assert_eq!(http_date("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(http_date("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(http_date("Thu, 29 Feb 2024 12:00:00 GMT"), Some(1_709_208_000));
    }
}
