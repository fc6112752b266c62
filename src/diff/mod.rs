//! Rendered + Inventory → [`Diff`]: every change as data, with what it was before. What is shown is what is sent.

mod add_on_and_daemon_set;
mod before;
mod eni_configs;
mod gate;
mod launch_templates;
mod new_nodes;
mod node_groups;
mod nodes;
mod prune;
mod replacement;
mod rollback;

mod outcome;
mod stale;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::config::Config;
use crate::finding::{Problem, Subject};
use crate::inventory::Inventory;
use crate::plan::Plan;
use crate::render::{CreateLaunchTemplate, CreateLaunchTemplateVersion, Rendered};

pub use before::{AddOnBefore, EniConfigBefore, LaunchTemplateBefore, Moved, NodeGroupBefore};
pub use new_nodes::not_as_expected;
pub use outcome::{Applied, Done, Event, Failed};
pub use rollback::rollback;
pub use stale::stale;

/// The schema version of a saved [`Diff`].
pub const SCHEMA_VERSION: u32 = 1;

/// What may be changed, and how far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffOptions {
    /// Stages to look at.
    pub only: BTreeSet<Stage>,
    /// Make the new versions the templates' defaults.
    pub set_default: bool,
    /// Move node groups to the new versions, and create missing groups.
    pub roll: bool,
    /// Roll to EKS's newest AMI release instead of the release that the group has.
    pub latest_ami: bool,
    /// Change an ENIConfig's subnet although nodes use it.
    pub replace_in_use: bool,
    /// Take over fields that another manager owns.
    pub take_over: bool,
    /// Label nodes with the ENIConfig that they use today.
    pub label_nodes: bool,
    /// Go through with a switch although nodes move or are stranded; only together with `roll`.
    pub accept_moves: bool,
    /// Delete ENIConfigs of ours that nothing names any more.
    pub prune: bool,
    /// Keep this many versions of ours of each template, and delete older ones.
    pub prune_versions: Option<usize>,
    /// The versions that each node group used before, as [`rollback`] takes them; `None` where nobody could be asked.
    pub former: Option<BTreeMap<String, Vec<i64>>>,
}

impl Default for DiffOptions {
    fn default() -> Self {
        Self {
            only: Stage::ALL.into(),
            set_default: false,
            roll: false,
            latest_ami: false,
            replace_in_use: false,
            take_over: false,
            label_nodes: false,
            accept_moves: false,
            prune: false,
            prune_versions: None,
            former: None,
        }
    }
}

/// The stages of an apply, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// ENIConfig objects.
    Eniconfigs,
    /// Launch templates and their versions.
    LaunchTemplates,
    /// Labels of existing nodes and the CNI's settings.
    Cni,
    /// Default versions and node groups.
    NodeGroups,
}

impl Stage {
    /// All stages.
    pub const ALL: [Self; 4] = [Self::Eniconfigs, Self::LaunchTemplates, Self::Cni, Self::NodeGroups];
}

/// Everything that differs, in the order in which it is to be changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Diff {
    /// Version of this shape.
    pub schema_version: u32,
    /// The cluster; a saved diff is applied to no other.
    pub cluster: ClusterIdentity,
    /// The changes.
    pub changes: Vec<Change>,
    /// What differs and is not changed by this diff, with what would change it.
    pub awaiting: Vec<Awaiting>,
}

/// What identifies a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClusterIdentity {
    /// Name.
    pub name: String,
    /// Region.
    pub region: String,
    /// AWS account.
    pub account_id: Option<String>,
    /// API server URL.
    pub endpoint: Option<String>,
}

/// Something that differs and waits for the user.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Awaiting {
    /// What differs.
    pub subject: Subject,
    /// How.
    pub what: String,
    /// The flag or step that changes it.
    pub how: String,
    /// Whether it is held back for safety, and not only because it was not asked for.
    pub gated: bool,
}

/// One change, with the whole request and what the object was before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "change", rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum Change {
    /// Server-side apply of an ENIConfig; `before` is `None` where there is no such object.
    ApplyEniConfig { name: String, manifest: Value, before: Option<EniConfigBefore>, take_over: Vec<String> },
    /// `ec2:CreateLaunchTemplate`.
    CreateLaunchTemplate { node_group: String, request: CreateLaunchTemplate, client_token: String },
    /// `ec2:CreateLaunchTemplateVersion`.
    CreateLaunchTemplateVersion {
        node_group: String,
        request: CreateLaunchTemplateVersion,
        before: LaunchTemplateBefore,
        client_token: String,
    },
    /// A label on a node that is there already.
    LabelNode { name: String, key: String, value: String, before: Option<String> },
    /// Server-side apply of exactly these entries of the container `aws-node`: those that change, and those that we
    /// own already, which the API server would remove if they were left out.
    SetDaemonSetEnv {
        env: BTreeMap<String, String>,
        before: BTreeMap<String, Option<String>>,
        take_over: Vec<String>,
        moves: Vec<String>,
    },
    /// `eks:UpdateAddon` of vpc-cni; everything but the values is sent as it was read.
    UpdateAddOn {
        addon_version: String,
        service_account_role_arn: Option<String>,
        pod_identity_associations: Vec<String>,
        configuration_values: String,
        env: BTreeMap<String, String>,
        before: AddOnBefore,
        overwrite: bool,
        resets: Vec<String>,
        moves: Vec<String>,
    },
    /// `eks:CreateAddon` of vpc-cni.
    CreateAddOn { configuration_values: String },
    /// `ec2:ModifyLaunchTemplate`.
    SetDefaultVersion { launch_template_id: String, to: VersionRef, before: LaunchTemplateBefore },
    /// `eks:UpdateNodegroupVersion`.
    UpdateNodeGroup {
        name: String,
        launch_template_id: String,
        to: VersionRef,
        release_version: Option<String>,
        nodes: u32,
        expected: BTreeMap<String, BTreeSet<String>>,
        before: NodeGroupBefore,
    },
    /// `eks:CreateNodegroup`; the launch template is filled in where an earlier change makes it.
    CreateNodeGroup {
        name: String,
        request: Value,
        template: Option<TemplateRef>,
        expected: BTreeMap<String, BTreeSet<String>>,
    },
    /// Deletes an ENIConfig of ours.
    DeleteEniConfig { name: String, before: EniConfigBefore },
    /// `ec2:DeleteLaunchTemplateVersions`.
    DeleteLaunchTemplateVersions { launch_template_id: String, versions: Vec<i64>, before: LaunchTemplateBefore },
}

/// A launch-template version: one that is there, or the one that an earlier change of the same diff makes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VersionRef {
    /// This number.
    Number(i64),
    /// The version that the change for this node group makes.
    CreatedBy(String),
}

/// A launch template and a version of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TemplateRef {
    /// Id; `None` where an earlier change makes the template.
    pub id: Option<String>,
    /// Version.
    pub version: VersionRef,
}

/// A diff with what stood in the way.
#[derive(Debug)]
pub struct Differences {
    /// What can be changed.
    pub diff: Diff,
    /// What is refused, as problems of rules for `diff` and `apply`.
    pub problems: Vec<Problem>,
}

/// What the functions of this module look at.
struct Facts<'a> {
    inventory: &'a Inventory,
    config: &'a Config,
    plan: &'a Plan,
    rendered: &'a Rendered,
    options: &'a DiffOptions,
}

/// What they leave.
#[derive(Default)]
struct Found {
    changes: Vec<Change>,
    awaiting: Vec<Awaiting>,
    problems: Vec<Problem>,
}

impl Found {
    fn await_user(&mut self, subject: Subject, what: impl Into<String>, how: impl Into<String>) {
        self.awaiting.push(Awaiting { subject, what: what.into(), how: how.into(), gated: false });
    }

    fn append(&mut self, other: Self) {
        let Self { changes, awaiting, problems } = other;
        self.changes.extend(changes);
        self.awaiting.extend(awaiting);
        self.problems.extend(problems);
    }
}

/// Whether these changes hold a switch, which may also be held back.
fn switches(plan: &Plan, cni: &Found) -> bool {
    let is_made = |change: &Change| matches!(change, Change::SetDaemonSetEnv { .. } | Change::UpdateAddOn { .. });
    plan.cni.switch && cni.changes.iter().any(is_made)
}

/// Compares what is rendered with what is there.
pub fn diff(
    inventory: &Inventory,
    config: &Config,
    plan: &Plan,
    rendered: &Rendered,
    options: &DiffOptions,
) -> Differences {
    let facts = Facts { inventory, config, plan, rendered, options };
    let mut found = Found::default();
    let wants = |stage| options.only.contains(&stage);
    if wants(Stage::Eniconfigs) {
        eni_configs::changes(&facts, &mut found);
    }
    // Made after the launch templates; whether it is made decides about them.
    let mut cni = Found::default();
    if wants(Stage::Cni) {
        nodes::labels(&facts, &mut cni);
        add_on_and_daemon_set::changes(&facts, &mut cni);
    }
    let replacements = replacement::replacements(&facts, switches(plan, &cni));
    let versions = launch_templates::changes(&facts, wants(Stage::LaunchTemplates), &replacements, &mut found);
    found.append(cni);
    if wants(Stage::NodeGroups) {
        node_groups::changes(&facts, &versions, &replacements, &mut found);
    }
    prune::changes(&facts, &versions, &mut found);
    found.awaiting.sort();
    let cluster = ClusterIdentity {
        name: inventory.cluster.name.clone(),
        region: inventory.region.clone(),
        account_id: inventory.account_id.clone(),
        endpoint: inventory.cluster.endpoint.clone(),
    };
    let diff = Diff { schema_version: SCHEMA_VERSION, cluster, changes: found.changes, awaiting: found.awaiting };
    Differences { diff, problems: found.problems }
}

impl Diff {
    /// Whether nothing differs: no change, and nothing that waits for the user.
    pub fn is_empty(&self) -> bool {
        let Self { schema_version: _, cluster: _, changes, awaiting } = self;
        changes.is_empty() && awaiting.is_empty()
    }

    /// Whether something is held back for safety.
    pub fn has_gated(&self) -> bool {
        self.awaiting.iter().any(|awaiting| awaiting.gated)
    }
}

impl Change {
    /// What is changed.
    pub fn subject(&self) -> Subject {
        match self {
            Self::ApplyEniConfig { name, .. } | Self::DeleteEniConfig { name, .. } => Subject::EniConfig(name.clone()),
            Self::CreateLaunchTemplate { request, .. } => Subject::LaunchTemplate(request.launch_template_name.clone()),
            Self::CreateLaunchTemplateVersion { request, .. } => {
                Subject::LaunchTemplate(request.launch_template_id.clone())
            }
            Self::SetDefaultVersion { launch_template_id, .. }
            | Self::DeleteLaunchTemplateVersions { launch_template_id, .. } => {
                Subject::LaunchTemplate(launch_template_id.clone())
            }
            Self::LabelNode { name, .. } => Subject::Node(name.clone()),
            Self::SetDaemonSetEnv { .. } => Subject::Cni("aws-node".into()),
            Self::UpdateAddOn { .. } | Self::CreateAddOn { .. } => Subject::Cni("vpc-cni".into()),
            Self::UpdateNodeGroup { name, .. } | Self::CreateNodeGroup { name, .. } => Subject::NodeGroup(name.clone()),
        }
    }
}
