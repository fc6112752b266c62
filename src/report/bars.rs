//! Bars.

/// Characters of a bar.
const WIDTH: u64 = 24;

/// Parts of a whole, drawn one after the other: what others have, what there is, what there may be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bar {
    /// The whole.
    pub(super) size: u64,
    /// Taken by others.
    pub(super) others: u64,
    /// Taken at the desired size.
    pub(super) desired: u64,
    /// Taken at the largest size; what is beyond `desired` is drawn apart.
    pub(super) max: u64,
}

/// The bar, and how full the whole is at the largest size.
pub(super) fn bar(bar: Bar) -> String {
    let Bar { size, others, desired, max } = bar;
    let cells = |part: u64| (part * WIDTH).div_ceil(size.max(1)).min(WIDTH);
    let (others_end, desired_end, max_end) = (cells(others), cells(others + desired), cells(others + max.max(desired)));
    let drawn = |symbol: &str, from: u64, to: u64| symbol.repeat(usize::try_from(to.saturating_sub(from)).unwrap_or(0));
    format!(
        "{}{}{}{}",
        drawn("▚", 0, others_end),
        drawn("█", others_end, desired_end),
        drawn("▒", desired_end, max_end),
        drawn("░", max_end, WIDTH)
    )
}

/// Whole percents, rounded up, so that what does not fit is never shown as 100 %.
pub(super) fn percent(part: u64, size: u64) -> String {
    match size {
        0 if part == 0 => "0 %".into(),
        0 => "no room".into(),
        _ => format!("{} %", (part * 100).div_ceil(size)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(size: u64, others: u64, desired: u64, max: u64) -> String {
        bar(Bar { size, others, desired, max })
    }

    #[test]
    fn bars_are_as_long_as_each_other() {
        for (size, others, desired, max, expected) in [
            (240, 0, 0, 0, "░░░░░░░░░░░░░░░░░░░░░░░░"),
            (240, 10, 20, 40, "▚██▒▒░░░░░░░░░░░░░░░░░░░"),
            (240, 0, 240, 240, "████████████████████████"),
            (240, 0, 1, 900, "█▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒"),
            (0, 0, 0, 0, "░░░░░░░░░░░░░░░░░░░░░░░░"),
        ] {
            assert_eq!(drawn(size, others, desired, max), expected);
        }
    }

    #[test]
    fn percents_are_rounded_up() {
        assert_eq!(percent(1, 4091), "1 %");
        assert_eq!(percent(4092, 4091), "101 %");
        assert_eq!(percent(3, 0), "no room");
    }
}
