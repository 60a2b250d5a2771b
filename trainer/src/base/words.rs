//! Numbers, durations and names as a user reads and writes them.

use clap::ValueEnum;

/// A number with commas between groups of three digits.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let group = |(at, digit): (usize, char)| {
        let comma = at > 0 && (digits.len() - at).is_multiple_of(3);
        comma.then_some(',').into_iter().chain([digit])
    };
    digits.char_indices().flat_map(group).collect()
}

/// A duration as a user would say it.
pub fn spoken(seconds: f64) -> String {
    let rounded = |count: f64, one, more| counted(count.round() as u64, one, more);
    match seconds {
        s if s < 100.0 => rounded((s / 10.0).ceil().max(1.0) * 10.0, "second", "seconds"),
        s if s < 100.0 * 60.0 => rounded(s / 60.0, "minute", "minutes"),
        s => rounded(s / 3_600.0, "hour", "hours"),
    }
}

/// A number with its noun, in the singular or the plural.
pub fn counted(number: u64, one: &str, more: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { more })
}

/// The name of a value, as options and files have it.
pub(crate) fn name_of(value: &impl ValueEnum) -> String {
    value.to_possible_value().expect("no variant is skipped").get_name().to_string()
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
