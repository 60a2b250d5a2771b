//! Available memory. Linux promises more memory than there is, and kills a process that uses too much.

use std::fs::read_to_string;
use std::path::Path;

/// Memory available without swapping, if known: of the system, or of the container if that is less.
pub(crate) fn available_megabytes() -> Option<usize> {
    let system = number_after(&read_to_string("/proc/meminfo").ok()?, "MemAvailable:").map(|kilobytes| kilobytes << 10);
    let container = Path::new("/sys/fs/cgroup");
    let version_2 = within_limit(container, "memory.max", "anon");
    let version_1 = within_limit(&container.join("memory"), "memory.limit_in_bytes", "total_rss");
    [system, version_2, version_1].into_iter().flatten().min().map(|bytes| (bytes >> 20) as usize)
}

/// Bytes below the limit of a control group that its processes do not use. The file cache does not count as used: it is
/// freed when memory is short. `None` without a limit.
fn within_limit(group: &Path, limit: &str, used: &str) -> Option<u64> {
    let limit: u64 = read_to_string(group.join(limit)).ok()?.trim().parse().ok()?;
    let used = number_after(&read_to_string(group.join("memory.stat")).ok()?, used)?;
    Some(limit.saturating_sub(used))
}

/// The number after a name at the start of a line.
fn number_after(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.split_ascii_whitespace().next()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_container_has_its_limit_less_its_own_memory() {
        let folder = std::env::temp_dir().join(format!("dyad-memory-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("memory.stat"), "anon_thp 7\nanon 1000\nfile 5000\n").unwrap();
        for (limit, expected) in [("6000\n", Some(5000)), ("500\n", Some(0)), ("max\n", None)] {
            fs::write(folder.join("memory.max"), limit).unwrap();
            assert_eq!(within_limit(&folder, "memory.max", "anon"), expected, "{limit}");
        }
        assert_eq!(within_limit(&folder, "memory.limit_in_bytes", "total_rss"), None);
        fs::remove_dir_all(folder).unwrap();
    }
}
