//! CIDR algebra over `ipnet`: strict parsing, usable addresses, /28 blocks, the cluster DNS address.

use std::net::Ipv4Addr;

use ipnet::Ipv4Net;

/// Addresses that AWS keeps in every subnet: the first four and the last.
/// Source: VPC user guide, "Subnet sizing" (network, router, DNS, future use, broadcast).
pub const ADDRESSES_RESERVED_BY_AWS: u64 = 5;

/// Host number of the cluster DNS service inside the service CIDR.
/// Source: amazon-eks-ami `nodeadm/internal/api/net.go`; EKS user guide, `serviceIpv4Cidr`.
const CLUSTER_DNS_HOST: u32 = 10;

/// Why a text is not an IPv4 CIDR.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CidrError {
    /// Bits to the right of the prefix length are set.
    #[error("`{text}` has host bits set; the network is {canonical}")]
    HostBits {
        /// The text.
        text: String,
        /// The same network with the host bits cleared.
        canonical: Ipv4Net,
    },
    /// It is an IPv6 CIDR.
    #[error("`{0}` is IPv6; custom networking exists for IPv4 only")]
    Ipv6(String),
    /// The prefix length is above 32.
    #[error("`{0}` has a prefix length above 32")]
    PrefixLength(String),
    /// No CIDR at all.
    #[error("`{0}` is not an IPv4 CIDR such as 10.0.16.0/20")]
    Malformed(String),
}

/// Reads an IPv4 CIDR whose host bits are zero and which has no blanks.
///
/// # Errors
/// [`CidrError`] says which of the usual slips it is; for host bits it carries the corrected value.
pub fn parse_ipv4_cidr(text: &str) -> Result<Ipv4Net, CidrError> {
    if let Ok(net) = text.parse::<Ipv4Net>()
        && net.to_string() == text
    {
        if net.addr() != net.network() {
            return Err(CidrError::HostBits { text: text.into(), canonical: net.trunc() });
        }
        return Ok(net);
    }
    if text.parse::<ipnet::Ipv6Net>().is_ok() || text.parse::<std::net::Ipv6Addr>().is_ok() {
        return Err(CidrError::Ipv6(text.into()));
    }
    if let Some((address, length)) = text.split_once('/')
        && address.parse::<Ipv4Addr>().is_ok()
        && length.parse::<u32>().is_ok_and(|length| length > 32)
    {
        return Err(CidrError::PrefixLength(text.into()));
    }
    Err(CidrError::Malformed(text.into()))
}

/// Deserialises a CIDR strictly, by [`parse_ipv4_cidr`].
///
/// # Errors
/// The text of the [`CidrError`].
pub fn deserialize_ipv4_cidr<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Ipv4Net, D::Error> {
    let text = <String as serde::Deserialize>::deserialize(deserializer)?;
    parse_ipv4_cidr(&text).map_err(serde::de::Error::custom)
}

/// Addresses of a subnet that interfaces can have: its size less what AWS keeps. Zero for /30 and longer.
pub fn usable_addresses(net: Ipv4Net) -> u64 {
    (1u64 << (32 - u32::from(net.prefix_len()))).saturating_sub(ADDRESSES_RESERVED_BY_AWS)
}

/// Whether two networks share an address.
pub fn overlap(a: Ipv4Net, b: Ipv4Net) -> bool {
    a.contains(&b) || b.contains(&a)
}

/// The address of the cluster DNS service: service CIDR network address + 10. `None` when the CIDR is too small.
pub fn cluster_dns_address(service_ipv4_cidr: Ipv4Net) -> Option<Ipv4Addr> {
    let address = Ipv4Addr::from(u32::from(service_ipv4_cidr.network()).checked_add(CLUSTER_DNS_HOST)?);
    service_ipv4_cidr.contains(&address).then_some(address)
}

/// The first `count` networks of length `prefix_len` inside `blocks`, in the order given, that share no address with
/// `taken` nor with each other. They are aligned to their size, as EC2 wants them. `None` when so many do not fit.
pub fn carve(blocks: &[Ipv4Net], taken: &[Ipv4Net], prefix_len: u8, count: usize) -> Option<Vec<Ipv4Net>> {
    let mut carved: Vec<Ipv4Net> = Vec::new();
    for block in blocks {
        // A block that is smaller than the networks wanted has none; `subnets` says so with an error.
        for net in block.subnets(prefix_len).ok().into_iter().flatten() {
            if carved.len() == count {
                return Some(carved);
            }
            if !taken.iter().chain(&carved).any(|other| overlap(*other, net)) {
                carved.push(net);
            }
        }
    }
    (carved.len() == count).then_some(carved)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn cluster_dns_address_is_network_plus_ten() {
        for (cidr, dns) in [
            ("10.100.0.0/16", "10.100.0.10"),
            ("172.20.0.0/16", "172.20.0.10"),
            ("10.96.0.0/12", "10.96.0.10"),
            ("172.16.0.0/12", "172.16.0.10"),
            ("192.168.0.0/16", "192.168.0.10"),
            ("10.50.3.0/24", "10.50.3.10"),
            ("10.50.3.128/25", "10.50.3.138"),
        ] {
            assert_eq!(cluster_dns_address(cidr.parse().unwrap()).unwrap().to_string(), dns, "{cidr}");
        }
        assert_eq!(cluster_dns_address("10.0.0.0/29".parse().unwrap()), None);
    }

    #[test]
    fn slips_in_a_cidr_are_named() {
        assert_eq!(
            parse_ipv4_cidr("10.0.1.5/24").unwrap_err().to_string(),
            "`10.0.1.5/24` has host bits set; the network is 10.0.1.0/24"
        );
        assert!(matches!(parse_ipv4_cidr("10.0.1.0 /24"), Err(CidrError::Malformed(_))));
        assert!(matches!(parse_ipv4_cidr("10.0.1.0/33"), Err(CidrError::PrefixLength(_))));
        assert!(matches!(parse_ipv4_cidr("fd00::/64"), Err(CidrError::Ipv6(_))));
        assert!(matches!(parse_ipv4_cidr("10.0.1.0"), Err(CidrError::Malformed(_))));
        assert!(matches!(parse_ipv4_cidr("010.0.1.0/24"), Err(CidrError::Malformed(_))));
        assert_eq!(parse_ipv4_cidr("10.0.1.0/24").unwrap().to_string(), "10.0.1.0/24");
    }

    #[test]
    fn usable_addresses_leave_five_to_aws() {
        for (cidr, usable) in
            [("10.0.0.0/27", 27), ("10.0.0.0/28", 11), ("10.0.0.0/20", 4091), ("10.0.0.0/30", 0), ("10.0.0.0/32", 0)]
        {
            assert_eq!(usable_addresses(cidr.parse().unwrap()), usable, "{cidr}");
        }
    }

    fn nets(texts: &[&str]) -> Vec<Ipv4Net> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn carving_takes_the_first_gaps_that_are_wide_enough() {
        let blocks = nets(&["100.64.0.0/16", "100.65.0.0/16"]);
        let taken = nets(&["100.64.0.0/19", "100.64.64.0/18", "100.64.240.0/28"]);
        let carved = carve(&blocks, &taken, 18, 2).unwrap();
        assert_eq!(carved, nets(&["100.64.128.0/18", "100.65.0.0/18"]));
        assert_eq!(carve(&blocks, &taken, 19, 1).unwrap(), nets(&["100.64.32.0/19"]));
        assert_eq!(carve(&blocks, &taken, 18, 6), None);
        assert_eq!(carve(&nets(&["10.0.0.0/24"]), &[], 20, 1), None);
        assert_eq!(carve(&[], &[], 20, 0), Some(Vec::new()));
        // Blocks that share addresses give each of them once.
        let within = nets(&["10.0.0.0/16", "10.0.0.0/17"]);
        assert_eq!(carve(&within, &[], 17, 3), None);
    }

    fn net() -> impl Strategy<Value = Ipv4Net> {
        (0x0a00_0000u32..0x0a04_0000, 16u8..=28)
            .prop_map(|(address, length)| Ipv4Net::new(Ipv4Addr::from(address), length).unwrap().trunc())
    }

    proptest! {
        #[test]
        fn carved_networks_are_aligned_inside_and_free(
            blocks in prop::collection::vec(net(), 1..4),
            taken in prop::collection::vec(net(), 0..12),
            prefix_len in 18u8..=26,
            count in 0usize..6,
        ) {
            let Some(carved) = carve(&blocks, &taken, prefix_len, count) else { return Ok(()) };
            prop_assert_eq!(carved.len(), count);
            for (index, net) in carved.iter().enumerate() {
                prop_assert_eq!(net.trunc(), *net);
                prop_assert_eq!(net.prefix_len(), prefix_len);
                prop_assert!(blocks.iter().any(|block| block.contains(net)));
                prop_assert!(!taken.iter().any(|other| overlap(*other, *net)));
                prop_assert!(!carved[..index].iter().any(|other| overlap(*other, *net)));
            }
        }
    }
}
