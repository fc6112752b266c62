//! What chance does to groups that spread their nodes by hash.
//!
//! Instance ids are as good as random, so a hash of them is too: some pod subnet always gets more than its share. The
//! outcomes are simulated with a fixed seed, so that the same plan gives the same figures.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::loads::units_of_node;
use super::needs::GroupNeed;
use super::shares::ZoneShare;
use super::{ByChance, PodSubnet};
use crate::plan::Plan;

/// Outcomes that are looked at, where they are few nodes each.
const OUTCOMES: u64 = 4_000;
const FEWEST_OUTCOMES: u64 = 200;

/// Picks in all; keeps the largest clusters below a second.
const MOST_PICKS: u64 = 20_000_000;

const SEED: u64 = 0x656e_6970_6c61_6e00;

/// The spread of one group in one zone at its largest size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Skew {
    /// Group.
    pub node_group: String,
    /// Zone name.
    pub availability_zone: String,
    /// Nodes of the group in the zone.
    pub nodes: u64,
    /// Candidates by ENIConfig.
    pub candidates: Vec<CandidateSkew>,
    /// How many times its share the fullest candidate holds, on average.
    pub fullest_expected: f64,
    /// How many times its share the fullest candidate holds in all but one of twenty outcomes, at most.
    pub fullest_p95: f64,
}

/// One candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CandidateSkew {
    /// ENIConfig.
    pub eni_config: String,
    /// Nodes on average.
    pub expected: f64,
    /// Nodes in all but one of twenty outcomes, at most.
    pub p95: u64,
}

/// A group's nodes in one zone, and what each row draws from.
struct Draw<'a> {
    share: &'a ZoneShare<'a>,
    nodes: u64,
    /// Per row: cumulative bounds and, for each, the index into `names`.
    rows: Vec<(Vec<u64>, Vec<usize>)>,
    names: Vec<&'a str>,
    /// Nodes on average, by index into `names`.
    expected: Vec<f64>,
}

/// Simulates all groups together, gives the spread of each in each zone, and sets what chance makes of the subnets' loads.
pub(super) fn simulate(
    plan: &Plan,
    needs: &[GroupNeed],
    shares: &[ZoneShare<'_>],
    pod_subnets: &mut [PodSubnet],
) -> Vec<Skew> {
    let draws: Vec<Draw<'_>> = shares.iter().filter_map(|share| draw(share, needs)).collect();
    let nodes: u64 = draws.iter().map(|draw| draw.nodes).sum();
    if nodes == 0 {
        return Vec::new();
    }
    let outcomes = (MOST_PICKS / nodes).clamp(FEWEST_OUTCOMES, OUTCOMES);
    let counts = counts(&draws, outcomes);
    by_subnet(plan, needs, &draws, &counts, pod_subnets);
    draws.iter().zip(&counts).map(|(draw, counts)| skew(draw, counts)).collect()
}

fn draw<'a>(share: &'a ZoneShare<'a>, needs: &[GroupNeed]) -> Option<Draw<'a>> {
    if share.parts.len() < 2 {
        return None;
    }
    let sizes = needs.iter().find(|need| need.name == share.node_group)?.sizes?;
    let nodes = share.nodes(sizes.max);
    let names: Vec<&str> = share.parts.keys().copied().collect();
    let rows = share
        .rows
        .iter()
        .map(|row| {
            let bounds = row.candidates.iter().map(|candidate| candidate.bound).collect();
            let at = |name: &str| names.iter().position(|other| *other == name).unwrap_or_default();
            (bounds, row.candidates.iter().map(|candidate| at(&candidate.eni_config)).collect())
        })
        .collect();
    let expected = share.parts.values().map(|part| nodes as f64 * part).collect();
    (nodes > 0).then_some(Draw { share, nodes, rows, names, expected })
}

/// By draw, by outcome, by candidate: how many nodes.
fn counts(draws: &[Draw<'_>], outcomes: u64) -> Vec<Vec<Vec<u64>>> {
    let mut random = SplitMix(SEED);
    let mut all: Vec<Vec<Vec<u64>>> = draws.iter().map(|_| Vec::new()).collect();
    for _ in 0..outcomes {
        for (draw, outcomes) in draws.iter().zip(&mut all) {
            let mut counts = vec![0; draw.names.len()];
            for _ in 0..draw.nodes {
                if let Some(count) = pick(draw, &mut random).and_then(|at| counts.get_mut(at)) {
                    *count += 1;
                }
            }
            outcomes.push(counts);
        }
    }
    all
}

fn pick(draw: &Draw<'_>, random: &mut SplitMix) -> Option<usize> {
    let row = usize::try_from(random.below(draw.rows.len() as u64)).ok()?;
    let (bounds, indices) = draw.rows.get(row)?;
    let point = random.below(*bounds.last()?);
    let at = bounds.iter().position(|bound| *bound > point)?;
    indices.get(at).copied()
}

fn skew(draw: &Draw<'_>, outcomes: &[Vec<u64>]) -> Skew {
    let candidates = draw
        .names
        .iter()
        .zip(&draw.expected)
        .enumerate()
        .map(|(index, (name, expected))| {
            let mut nodes: Vec<u64> = outcomes.iter().filter_map(|counts| counts.get(index).copied()).collect();
            CandidateSkew { eni_config: (*name).into(), expected: rounded(*expected), p95: p95(&mut nodes) }
        })
        .collect();
    let mut fullest: Vec<f64> = outcomes
        .iter()
        .map(|counts| {
            let times_its_share = counts.iter().zip(&draw.expected).map(|(count, expected)| *count as f64 / expected);
            times_its_share.filter(|times| times.is_finite()).fold(0.0, f64::max)
        })
        .collect();
    let expected = fullest.iter().sum::<f64>() / fullest.len().max(1) as f64;
    fullest.sort_by(f64::total_cmp);
    let fullest_p95 = fullest.get(index_of_p95(fullest.len())).copied().unwrap_or_default();
    Skew {
        node_group: draw.share.node_group.into(),
        availability_zone: draw.share.availability_zone.into(),
        nodes: draw.nodes,
        candidates,
        fullest_expected: rounded(expected),
        fullest_p95: rounded(fullest_p95),
    }
}

/// Adds up what the draws bring to each subnet, beside what its load holds without chance.
fn by_subnet(
    plan: &Plan,
    needs: &[GroupNeed],
    draws: &[Draw<'_>],
    counts: &[Vec<Vec<u64>>],
    pod_subnets: &mut [PodSubnet],
) {
    let subnet_of: BTreeMap<&str, &str> =
        plan.eni_configs.iter().map(|eni_config| (eni_config.name.as_str(), eni_config.subnet_id.as_str())).collect();
    for pod_subnet in pod_subnets {
        let mut by_chance: Vec<u64> = Vec::new();
        let mut without_chance = pod_subnet.at_max.taken;
        for (draw, outcomes) in draws.iter().zip(counts) {
            let need = needs.iter().find(|need| need.name == draw.share.node_group);
            let Some(peak) = need.and_then(GroupNeed::peak) else { continue };
            let here: Vec<usize> = (0..draw.names.len())
                .filter(|index| {
                    let name = draw.names.get(*index);
                    name.and_then(|name| subnet_of.get(name)) == Some(&pod_subnet.subnet_id.as_str())
                })
                .collect();
            if here.is_empty() {
                continue;
            }
            let units = units_of_node(pod_subnet.unit, peak);
            let in_load = pod_subnet.at_max.nodes.get(draw.share.node_group).copied().unwrap_or_default();
            without_chance = without_chance.saturating_sub(in_load * units);
            by_chance.resize(outcomes.len(), 0);
            for (sum, counts) in by_chance.iter_mut().zip(outcomes) {
                *sum += here.iter().filter_map(|index| counts.get(*index)).sum::<u64>() * units;
            }
        }
        if by_chance.is_empty() {
            continue;
        }
        let room = pod_subnet.size.saturating_sub(pod_subnet.others + without_chance);
        let overflows = by_chance.iter().filter(|taken| **taken > room).count() as f64 / by_chance.len() as f64;
        let p95_taken = without_chance + p95(&mut by_chance);
        pod_subnet.by_chance = Some(ByChance { p95_taken, overflows: rounded(overflows) });
    }
}

fn p95(values: &mut [u64]) -> u64 {
    values.sort_unstable();
    values.get(index_of_p95(values.len())).copied().unwrap_or_default()
}

fn index_of_p95(count: usize) -> usize {
    (count * 95).div_ceil(100).saturating_sub(1)
}

/// Two decimals: more would pretend to a precision that a simulation does not have.
fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014).
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`; the bias of the multiplication is below `limit / 2^64`.
    fn below(&mut self, limit: u64) -> u64 {
        u64::try_from((u128::from(self.next()) * u128::from(limit)) >> 64).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Assignment, Candidate};

    fn spread(nodes: u64, weights: &[u64]) -> Skew {
        let mut bound = 0;
        let candidates = weights
            .iter()
            .enumerate()
            .map(|(index, weight)| {
                bound += weight;
                Candidate { eni_config: format!("pod-{index}"), weight: *weight, bound }
            })
            .collect();
        let row = Assignment {
            cidr: ipnet::Ipv4Net::default(),
            subnet_id: "subnet-00000001".into(),
            availability_zone: "eu-west-1a".into(),
            availability_zone_id: "euw1-az1".into(),
            candidates,
        };
        let names: Vec<&str> = row.candidates.iter().map(|candidate| candidate.eni_config.as_str()).collect();
        let parts = names.iter().zip(weights).map(|(name, weight)| (*name, *weight as f64 / bound as f64)).collect();
        let share =
            ZoneShare { node_group: "workers", availability_zone: "eu-west-1a", zones: 1, rows: vec![&row], parts };
        let expected = weights.iter().map(|weight| nodes as f64 * *weight as f64 / bound as f64).collect();
        let rows = vec![(row.candidates.iter().map(|candidate| candidate.bound).collect(), (0..names.len()).collect())];
        let draws = [Draw { share: &share, nodes, rows, names, expected }];
        let counts = counts(&draws, OUTCOMES);
        skew(&draws[0], &counts[0])
    }

    /// Against the exact distribution: two equal candidates are a binomial, whose tail is summed here.
    #[test]
    fn two_equal_candidates_follow_the_binomial() {
        for nodes in [10u64, 20, 50] {
            let spread = spread(nodes, &[1, 1]);
            let mut choose = 1.0;
            let mut probability = Vec::new();
            for k in 0..=nodes {
                probability.push(choose * 0.5_f64.powi(i32::try_from(nodes).unwrap_or_default()));
                choose = choose * (nodes - k) as f64 / (k + 1) as f64;
            }
            let expected: f64 =
                probability.iter().enumerate().map(|(k, p)| p * (k as u64).max(nodes - k as u64) as f64).sum();
            let exact = expected / (nodes as f64 / 2.0);
            assert!((spread.fullest_expected - exact).abs() < 0.02, "{nodes}: {} for {exact}", spread.fullest_expected);
        }
    }

    #[test]
    fn known_spreads() {
        let two = spread(10, &[1, 1]);
        assert_eq!((two.fullest_p95, two.candidates[0].expected), (1.6, 5.0));
        let three = spread(12, &[1, 1, 1]);
        assert!((three.fullest_expected - 1.43).abs() < 0.02 && three.fullest_p95 == 2.0, "{three:?}");
    }

    #[test]
    fn a_candidate_of_small_weight_gets_its_share() {
        let uneven = spread(216, &[204, 12]);
        assert_eq!(uneven.candidates[1].expected, 12.0);
        assert!((16..=19).contains(&uneven.candidates[1].p95), "{uneven:?}");
    }

    #[test]
    fn the_same_plan_gives_the_same_figures() {
        assert_eq!(spread(30, &[3, 2, 1]), spread(30, &[3, 2, 1]));
    }
}
