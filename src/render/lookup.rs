//! What the shell templates read: the table of a group, and how a node looks itself up in it.

use serde::Serialize;

use super::invalid_group;
use super::kubelet_flags::{is_label_key, is_label_value};
use crate::config::{OnNoMatch, Strategy};
use crate::error::Error;
use crate::plan::{Assignment, Candidate, DropIn, NO_MATCH, NodeGroupPlan};

/// Attempts that fit into the 60 s a node may spend on IMDS: 3 s each (curl gives up after 2 s, then 1 s of rest).
const ATTEMPTS: u32 = 20;
/// Of these, what is kept back for the zone; the template says the same.
const ATTEMPTS_FOR_ZONE: u32 = 5;

/// The values of every shell template.
#[derive(Serialize)]
pub(super) struct Lookup<'a> {
    group: &'a str,
    label_key: Option<&'a str>,
    no_match: &'static str,
    max_pods: Option<u32>,
    hash: bool,
    zone_fallback: bool,
    decide_at_boot: bool,
    attempts: u32,
    rows: Vec<Row<'a>>,
    known: String,
}

/// One row of the table: a node subnet and its candidates.
#[derive(Serialize)]
struct Row<'a> {
    cidr: String,
    subnet_id: &'a str,
    availability_zone: &'a str,
    only: Option<&'a str>,
    names: Vec<&'a str>,
    bounds: Vec<u64>,
}

impl<'a> Lookup<'a> {
    /// Checks what the templates rely on.
    ///
    /// # Errors
    /// [`Error::RenderedInvalid`] when a name or key is no label, or when a row leaves something to choose.
    pub(super) fn of(group: &'a NodeGroupPlan) -> Result<Self, Error> {
        if let Some(key) = group.label_key.as_deref().filter(|key| !is_label_key(key)) {
            return Err(invalid_group(group, format!("`{key}` is no label key")));
        }
        let rows = group.assignments.iter().map(|row| Row::of(group, row)).collect::<Result<Vec<_>, _>>()?;
        let known = rows.iter().map(|row| row.cidr.as_str()).collect::<Vec<_>>().join(", ");
        let zone_fallback = group.on_no_match == OnNoMatch::Zone;
        Ok(Self {
            group: &group.name,
            label_key: group.label_key.as_deref(),
            no_match: NO_MATCH,
            max_pods: group.max_pods.written,
            hash: group.strategy == Strategy::Hash,
            zone_fallback,
            decide_at_boot: group.drop_in == DropIn::DecideAtBoot,
            attempts: if zone_fallback { ATTEMPTS - ATTEMPTS_FOR_ZONE } else { ATTEMPTS },
            rows,
            known,
        })
    }
}

impl<'a> Row<'a> {
    fn of(group: &NodeGroupPlan, row: &'a Assignment) -> Result<Self, Error> {
        let names: Vec<&str> = row.candidates.iter().map(|candidate| candidate.eni_config.as_str()).collect();
        if let Some(name) = names.iter().find(|name| !is_label_value(name)) {
            return Err(invalid_group(group, format!("ENIConfig `{name}` cannot be a label value")));
        }
        let bounds: Vec<u64> = row.candidates.iter().map(|candidate| candidate.bound).collect();
        let only = match (group.strategy, row.candidates.as_slice()) {
            (Strategy::Pinned, [Candidate { eni_config, .. }]) => Some(eni_config.as_str()),
            (Strategy::Pinned, several) => {
                let reason = format!("node subnet {} is pinned, but has {} candidates", row.cidr, several.len());
                return Err(invalid_group(group, reason));
            }
            (Strategy::Hash, _) if is_usable(&bounds) => None,
            (Strategy::Hash, _) => {
                let reason = format!("the bounds of node subnet {} do not ascend to a total", row.cidr);
                return Err(invalid_group(group, reason));
            }
        };
        Ok(Self {
            cidr: row.cidr.to_string(),
            subnet_id: &row.subnet_id,
            availability_zone: &row.availability_zone,
            only,
            names,
            bounds,
        })
    }
}

/// Whether bash, whose numbers are signed, can draw from these bounds.
fn is_usable(bounds: &[u64]) -> bool {
    bounds.is_sorted() && bounds.last().is_some_and(|total| (1..=i64::MAX.unsigned_abs()).contains(total))
}
