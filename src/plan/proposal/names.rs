//! What subnets and ENIConfigs of several zones have in common: their names without what names the zone.

use std::collections::BTreeSet;

/// Characters that part the words of a name.
const SEPARATORS: [char; 8] = ['-', '_', '.', ' ', '/', ':', '(', ')'];

/// The words of a name without those that name its zone: `pod-1a-subnet-3` in `eu-west-1a` → `pod`, `subnet`, `3`.
pub(super) fn stem(name: &str, zone: &str, zone_id: &str) -> Vec<String> {
    let name = name.to_lowercase().replace(zone, " ").replace(zone_id, " ");
    let zone_words = words_of_zone(zone, zone_id);
    words(&name).into_iter().filter(|word| !zone_words.contains(word)).collect()
}

/// The words of a name, in lower case.
pub(super) fn words(name: &str) -> Vec<String> {
    name.to_lowercase().split(SEPARATORS).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// `us-west-2a` is also called `2a` and `a`, its id `usw2-az1` also `az1`.
fn words_of_zone(zone: &str, zone_id: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    found.extend(words(zone).pop());
    found.extend(words(zone_id).pop());
    found.extend(zone.chars().last().filter(char::is_ascii_lowercase).map(String::from));
    found
}

/// The stem without its numbers; subnets are sometimes numbered by zone.
pub(super) fn without_numbers(stem: &[String]) -> Vec<String> {
    stem.iter().filter(|word| !word.bytes().all(|byte| byte.is_ascii_digit())).cloned().collect()
}

/// A name for the pool of a stem: without the name of the cluster in front, `pods` where nothing is left.
pub(super) fn pool_name(stem: &[String], cluster: &str) -> String {
    let of_cluster = words(cluster);
    let rest = stem.strip_prefix(of_cluster.as_slice()).filter(|rest| !rest.is_empty()).unwrap_or(stem);
    let legal = |word: &String| word.chars().filter(char::is_ascii_alphanumeric).collect::<String>();
    let rest: Vec<String> = rest.iter().map(legal).filter(|word| !word.is_empty()).collect();
    if rest.is_empty() { "pods".into() } else { rest.join("-") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stem_is_the_same_in_every_zone() {
        for (names, stem_words) in [
            (
                [
                    ("pod-1a-subnet-3", "ap-southeast-1a", "apse1-az2"),
                    ("pod-1c-subnet-3", "ap-southeast-1c", "apse1-az3"),
                ],
                "pod subnet 3",
            ),
            (
                [
                    ("corp-pods-app-eu-central-1a", "eu-central-1a", "euc1-az2"),
                    ("corp-pods-app-eu-central-1b", "eu-central-1b", "euc1-az3"),
                ],
                "corp pods app",
            ),
            ([("pods-a-1", "eu-west-1a", "euw1-az3"), ("pods-b-1", "eu-west-1b", "euw1-az1")], "pods 1"),
            ([("Pods use1-az4", "us-east-1a", "use1-az4"), ("pods/az6", "us-east-1b", "use1-az6")], "pods"),
            (
                [
                    ("media-pods-us-west-2-lax-1a", "us-west-2-lax-1a", "usw2-lax1-az1"),
                    ("media-pods-us-west-2b", "us-west-2b", "usw2-az1"),
                ],
                "media pods",
            ),
        ] {
            for (name, zone, zone_id) in names {
                assert_eq!(stem(name, zone, zone_id).join(" "), stem_words, "{name}");
            }
        }
    }

    #[test]
    fn a_pool_is_not_called_after_its_cluster() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(pool_name(&words("growing pods batch"), "growing"), "pods-batch");
        assert_eq!(pool_name(&words("prod platform"), "prod-platform"), "prod-platform");
        assert_eq!(pool_name(&[], "demo"), "pods");
    }
}
