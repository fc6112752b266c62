//! Which mechanism gives this cluster's pods their subnets at the least cost, and what that one needs.
//!
//! Five mechanisms exist. Each is judged by the plan that the wishes lead to: what a mechanism cannot do rules it out,
//! what it costs is said, and of those that remain the first is the cheapest.

mod in_use;
mod judge;
mod needs;
mod steps;

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::error::Error;
use crate::inventory::Inventory;
use crate::plan::Plan;
use crate::render::SourceFlags;

/// The ways in which pods of a cluster get subnets other than their node's, cheapest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mechanism {
    /// The VPC CNI picks tagged subnets of the node's zone.
    SubnetDiscovery,
    /// ENIConfigs are named by zone, and the one label that the CNI looks at is the zone label.
    ZoneNamedEniConfigs,
    /// Every node group has one zone and carries its ENIConfig as a label of the group.
    StaticLabels,
    /// Nodes find their ENIConfig at boot, by user data.
    BootTimeMapping,
    /// A NodeClass of EKS Auto Mode selects pod subnets.
    AutoMode,
}

impl Mechanism {
    /// All, cheapest first.
    pub const ALL: [Self; 5] =
        [Self::SubnetDiscovery, Self::ZoneNamedEniConfigs, Self::StaticLabels, Self::BootTimeMapping, Self::AutoMode];

    /// The word on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::SubnetDiscovery => "subnet-discovery",
            Self::ZoneNamedEniConfigs => "zone-named-eni-configs",
            Self::StaticLabels => "static-labels",
            Self::BootTimeMapping => "boot-time-mapping",
            Self::AutoMode => "auto-mode",
        }
    }

    /// The name for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::SubnetDiscovery => "subnet discovery of the VPC CNI",
            Self::ZoneNamedEniConfigs => "ENIConfigs named by zone",
            Self::StaticLabels => "one-zone node groups with a static label",
            Self::BootTimeMapping => "mapping at boot",
            Self::AutoMode => "pod subnet selectors of EKS Auto Mode",
        }
    }
}

/// How a mechanism fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It does what is wanted, and is in place already.
    InUse,
    /// It does what is wanted.
    Fits,
    /// It cannot do what is wanted.
    RuledOut,
}

/// One mechanism, judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Judgement {
    /// The mechanism.
    pub mechanism: Mechanism,
    /// How it fits.
    pub verdict: Verdict,
    /// Why it fits, or what rules it out.
    pub reasons: Vec<String>,
    /// What it costs.
    pub costs: Vec<String>,
}

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum Step {
    /// Run this command.
    Run {
        /// Its words.
        command: Vec<String>,
        /// The condition under which it is needed, where there is one.
        only_if: Option<String>,
    },
    /// Write this file, for the command that follows.
    Write {
        /// File name.
        file: String,
        /// Content.
        text: String,
    },
    /// In words.
    Other {
        /// What.
        what: String,
    },
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Advice {
    /// What is wanted, in sentences.
    pub wanted: Vec<String>,
    /// The mechanism in use now, with how that is recognised.
    pub in_use: Option<InUse>,
    /// All mechanisms, cheapest first.
    pub mechanisms: Vec<Judgement>,
    /// The cheapest that fits; `None` where none does.
    pub choice: Option<Mechanism>,
    /// Whether `eniplan apply` has anything to do here that a few commands do not.
    pub needs_apply: bool,
    /// What the choice needs, in order.
    pub steps: Vec<Step>,
    /// What else to know.
    pub notes: Vec<String>,
}

/// A mechanism that is in use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InUse {
    /// The mechanism.
    pub mechanism: Mechanism,
    /// How it is recognised.
    pub because: String,
}

/// Judges all mechanisms. `wanted` takes the place of the cheapest one that fits, where it is named and fits.
/// `source` is how the cluster was found, for the commands that come next.
///
/// # Errors
/// [`Error::Template`] and [`Error::RenderedInvalid`], which are defects of the program; [`Error::RuledOut`] when
/// the mechanism that was named is ruled out.
pub fn advise(
    inventory: &Inventory,
    config: &Config,
    plan: &Plan,
    wanted: Option<Mechanism>,
    source: &SourceFlags,
) -> Result<Advice, Error> {
    let needs = needs::needs(inventory, config, plan);
    let in_use = in_use::in_use(inventory);
    let mechanisms: Vec<Judgement> = Mechanism::ALL
        .into_iter()
        .map(|mechanism| judge::judge(mechanism, inventory, plan, &needs, in_use.as_ref()))
        .collect();
    let fits = |judgement: &&Judgement| judgement.verdict != Verdict::RuledOut;
    if let Some(wanted) = wanted
        && let Some(judgement) = mechanisms.iter().find(|judgement| judgement.mechanism == wanted)
        && judgement.verdict == Verdict::RuledOut
    {
        return Err(Error::RuledOut { mechanism: wanted.title().into(), because: judgement.reasons.join("; ") });
    }
    // To stay costs nothing, so what is in place and does what is wanted goes before what would be cheaper to begin with.
    let in_place = mechanisms.iter().find(|judgement| judgement.verdict == Verdict::InUse);
    let cheapest = mechanisms.iter().find(fits);
    let choice = wanted.or_else(|| in_place.or(cheapest).map(|judgement| judgement.mechanism));
    let done = |mechanism: Mechanism| {
        mechanisms.iter().any(|judgement| judgement.mechanism == mechanism && judgement.verdict == Verdict::InUse)
    };
    let steps = match choice {
        Some(mechanism) if done(mechanism) && mechanism != Mechanism::BootTimeMapping => Vec::new(),
        Some(mechanism) => steps::steps(mechanism, inventory, plan, &needs, source)?,
        None => Vec::new(),
    };
    Ok(Advice {
        wanted: needs.sentences(),
        needs_apply: choice == Some(Mechanism::BootTimeMapping),
        choice,
        steps,
        notes: notes(inventory, plan, in_use.as_ref(), choice, cheapest.map(|judgement| judgement.mechanism)),
        in_use,
        mechanisms,
    })
}

fn notes(
    inventory: &Inventory,
    plan: &Plan,
    in_use: Option<&InUse>,
    choice: Option<Mechanism>,
    cheapest: Option<Mechanism>,
) -> Vec<String> {
    let mut notes = Vec::new();
    if let (Some(choice), Some(cheapest)) = (choice, cheapest)
        && cheapest < choice
    {
        notes.push(format!(
            "{} would do as well, and is the cheaper of the two to begin with; `eniplan advise --mechanism {}` says what it needs",
            cheapest.title(),
            cheapest.name()
        ));
    }
    // A mapping at boot that leaves the label key alone reaches only the nodes of the groups that it is for.
    let reaches_all = plan.cni.switch || choice != Some(Mechanism::BootTimeMapping);
    let replaced = in_use.filter(|in_use| choice.is_some_and(|choice| choice != in_use.mechanism) && reaches_all);
    if let Some(in_use) = replaced {
        notes.push(format!(
            "{} is in use now; changing to another mechanism reaches every node at its next interface, so ask those who \
             run pods here before you do",
            in_use.mechanism.title()
        ));
    }
    let node_pools: BTreeSet<&str> = inventory
        .nodes
        .iter()
        .filter(|node| node.runs_aws_node())
        .filter_map(|node| node.labels.get("karpenter.sh/nodepool"))
        .map(String::as_str)
        .collect();
    if !node_pools.is_empty() {
        notes.push(format!(
            "Karpenter launches nodes here ({}); eniplan checks them and never edits their launch templates. With ENIConfigs \
             set RESERVED_ENIS=1 on Karpenter, so that it counts one interface less, keep each NodePool in one zone and give \
             it the label of its ENIConfig",
            node_pools.into_iter().collect::<Vec<_>>().join(", ")
        ));
    }
    for gap in &inventory.gaps {
        notes.push(format!(
            "`{}` did not succeed ({}); this is judged without what it would have told",
            gap.action, gap.message
        ));
    }
    notes
}
