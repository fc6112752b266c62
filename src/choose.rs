//! A node's pick from its row of the assignment table: the twin of the boot script's function.

/// Generator of the CRC that the POSIX `cksum` utility computes, most significant bit first.
/// Source: POSIX.1-2017, `cksum`, "the CRC … based upon the polynomial used for CRC error checking in ISO/IEC 8802-3".
const CKSUM_POLYNOMIAL: u32 = 0x04c1_1db7;

/// CRC of `bytes` as the POSIX `cksum` utility prints it: `printf %s i-0abc | cksum`.
pub fn cksum(bytes: &[u8]) -> u32 {
    let length = std::iter::successors(Some(bytes.len()), |rest| Some(rest >> 8))
        .take_while(|rest| *rest > 0)
        .map(|rest| rest.to_le_bytes()[0]);
    !bytes.iter().copied().chain(length).fold(0, push_byte)
}

fn push_byte(crc: u32, byte: u8) -> u32 {
    (0..8).fold(crc ^ (u32::from(byte) << 24), |crc, _| {
        let shifted = crc << 1;
        if crc & 0x8000_0000 == 0 { shifted } else { shifted ^ CKSUM_POLYNOMIAL }
    })
}

/// Index of the candidate that a node picks: `cksum(instance id) mod total` falls below its cumulative bound first.
///
/// `bounds` ascend and end in the total. `None` when there is no candidate, or none with a weight.
pub fn choose(bounds: &[u64], instance_id: &str) -> Option<usize> {
    let total = *bounds.last()?;
    let point = u64::from(cksum(instance_id.as_bytes())).checked_rem(total)?;
    bounds.iter().position(|bound| *bound > point)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{choose, cksum};

    /// Figures printed by `printf %s TEXT | cksum` of GNU coreutils 9.1.
    #[test]
    fn cksum_is_the_one_of_the_utility() {
        assert_eq!(cksum(b""), 4_294_967_295);
        assert_eq!(cksum(b"a"), 1_220_704_766);
        assert_eq!(cksum(b"123456789"), 930_766_865);
        assert_eq!(cksum(b"i-0123456789abcdef0"), 3_451_133_481);
        assert_eq!(cksum(&[b'x'; 300]), 3_786_917_833);
    }

    #[test]
    fn nothing_to_choose_from_is_none() {
        assert_eq!(choose(&[], "i-0123456789abcdef0"), None);
        assert_eq!(choose(&[0], "i-0123456789abcdef0"), None);
    }

    #[test]
    fn a_candidate_without_weight_is_never_chosen() {
        assert!((0..1000).all(|n| choose(&[0, 3, 3, 5], &format!("i-{n:017x}")).is_some_and(|at| at == 1 || at == 3)));
    }

    proptest! {
        #[test]
        fn the_point_lies_under_the_chosen_bound_and_not_under_the_one_before(
            weights in prop::collection::vec(1u64..1_000_000, 1..8),
            id in "i-[0-9a-f]{17}",
        ) {
            let bounds: Vec<u64> = weights
                .iter()
                .scan(0, |sum, weight| { *sum += weight; Some(*sum) })
                .collect();
            let at = choose(&bounds, &id).expect("there are weights");
            let point = u64::from(cksum(id.as_bytes())) % bounds[bounds.len() - 1];
            prop_assert!(point < bounds[at]);
            prop_assert!(at == 0 || point >= bounds[at - 1]);
        }
    }
}
