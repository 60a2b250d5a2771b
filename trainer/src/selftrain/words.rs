//! Numbers and durations as a user reads them.

/// A number with commas between groups of three digits.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let group = |(at, digit): (usize, char)| {
        let comma = at > 0 && (digits.len() - at).is_multiple_of(3);
        comma.then_some(',').into_iter().chain([digit])
    };
    digits.char_indices().flat_map(group).collect()
}

/// A duration as a user would say it.
#[must_use]
pub fn spoken(seconds: f64) -> String {
    let plural = |count: f64, unit: &str| {
        let count = count.round();
        format!("{count:.0} {unit}{}", if count > 1.0 { "s" } else { "" })
    };
    match seconds {
        s if s < 100.0 => plural((s / 10.0).ceil().max(1.0) * 10.0, "second"),
        s if s < 100.0 * 60.0 => plural(s / 60.0, "minute"),
        s => plural(s / 3_600.0, "hour"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_spoken() {
        let spoken = [3.0, 47.0, 100.0, 200.0, 4_000.0, 7_200.0].map(spoken);
        assert_eq!(spoken, ["10 seconds", "50 seconds", "2 minutes", "3 minutes", "67 minutes", "2 hours"]);
    }
}
