//! Node groups: moved to a launch-template version, or made; each proved by its new nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use aws_sdk_eks::types as eks;
use http::Method;
use serde_json::Value;

use super::eks_wait::{Of, version_of};
use super::{Session, failures};
use crate::diff::{NodeGroupBefore, TemplateRef, VersionRef, not_as_expected};
use crate::error::ChangeError;
use crate::inventory::{CniSettings, GapSource, Node, NodeGroup};
use crate::live::aws::map_eks;
use crate::live::collect;
use crate::live::kube::write;
use crate::live::options::CollectOptions;
use crate::live::percent::percent_encoded;

/// Label with the version that a managed node was launched from. Source: EKS user guide, "Managed node groups", labels.
const SOURCE_VERSION_LABEL: &str = "eks.amazonaws.com/sourceLaunchTemplateVersion";

/// Looks at a node that is not right yet: aws-node attaches the first pod interface within seconds of its start.
/// Source: amazon-vpc-cni-k8s `pkg/ipamd/ipamd.go`, `nodeInit`.
const LOOKS: u32 = 4;

type Expected = BTreeMap<String, BTreeSet<String>>;

impl Session<'_> {
    pub(super) async fn update_node_group(
        &self,
        name: &str,
        launch_template_id: &str,
        to: &VersionRef,
        release_version: Option<&str>,
        expected: &Expected,
        before: &NodeGroupBefore,
    ) -> Result<String, ChangeError> {
        const OPERATION: &str = "eks:UpdateNodegroupVersion";
        let object = format!("node group {name}");
        let number = self.number(to)?;
        let of = Of::NodeGroup { name, version: number };
        let Some(mut now) = self.node_group(name).await? else {
            return Err(failures::existence(&object, "there", "gone"));
        };
        if now.status.as_deref() == Some("UPDATING") {
            self.wait_for_running_update(name, number, &object).await?;
            match self.node_group(name).await? {
                Some(settled) => now = settled,
                None => return Err(failures::existence(&object, "there", "gone")),
            }
        }
        let is_there = NodeGroupBefore::of(&now).launch_template_version == Some(number.to_string());
        if !is_there {
            let mut now = NodeGroupBefore::of(&now);
            if before.status.as_deref() == Some("UPDATING") {
                // What was under way is over, and only that may differ.
                now.status.clone_from(&before.status);
            }
            failures::unmoved(&object, before.moved(&now))?;
            let template =
                eks::LaunchTemplateSpecification::builder().id(launch_template_id).version(number.to_string()).build();
            let answer = self
                .clients
                .eks
                .update_nodegroup_version()
                .cluster_name(&self.cluster.name)
                .nodegroup_name(name)
                .launch_template(template)
                .set_release_version(release_version.map(str::to_owned))
                .send()
                .await
                .map_err(|error| failures::aws(&error, OPERATION, &object))?;
            let id = answer.update.and_then(|update| update.id).unwrap_or_default();
            self.wait_for_update(&id, &object, of).await?;
        }
        self.prove(name, Some(number), expected).await?;
        Ok(if is_there { "there already".into() } else { format!("uses version {number}") })
    }

    /// An update to our version is waited for; any other is somebody else's.
    async fn wait_for_running_update(&self, name: &str, number: i64, object: &str) -> Result<(), ChangeError> {
        let updates = self.updates_of(name).await?;
        let running = updates.iter().find(|update| update.status() == Some(&eks::UpdateStatus::InProgress));
        let Some(running) = running else { return Ok(()) };
        let id = running.id().unwrap_or_default();
        if version_of(running) != Some(number) {
            let what = running.r#type().map_or("an update", |kind| kind.as_str());
            let version = version_of(running).map(|number| format!(" to version {number}")).unwrap_or_default();
            return Err(ChangeError::OtherUpdate {
                object: object.to_owned(),
                update: format!("{what}{version} ({id})"),
            });
        }
        self.wait_for_update(id, object, Of::NodeGroup { name, version: number }).await
    }

    pub(super) async fn create_node_group(
        &self,
        name: &str,
        request: &Value,
        template: Option<&TemplateRef>,
        expected: &Expected,
    ) -> Result<String, ChangeError> {
        const OPERATION: &str = "eks:CreateNodegroup";
        let object = format!("node group {name}");
        if self.node_group(name).await?.is_some() {
            return Err(failures::existence(&object, "none", "there"));
        }
        let template = template.map(|template| self.specification(template)).transpose()?;
        let input = create_input(request)?;
        let builder = self
            .clients
            .eks
            .create_nodegroup()
            .cluster_name(&self.cluster.name)
            .nodegroup_name(name)
            .set_launch_template(template)
            .set_node_role(input.node_role)
            .set_subnets(input.subnets)
            .set_instance_types(input.instance_types)
            .set_ami_type(input.ami_type.map(|kind| kind.as_str().into()))
            .set_capacity_type(input.capacity_type.map(|kind| kind.as_str().into()))
            .set_scaling_config(input.scaling)
            .set_labels(input.labels)
            .set_taints(input.taints);
        builder.send().await.map_err(|error| failures::aws(&error, OPERATION, &object))?;
        let began = Instant::now();
        loop {
            let Some(group) = self.node_group(name).await? else {
                return Err(failures::existence(&object, "there", "gone"));
            };
            let status = group.status.clone().unwrap_or_default();
            match status.as_str() {
                "CREATING" => {}
                "CREATE_FAILED" => {
                    return Err(ChangeError::UpdateFailed { object, errors: group.health_issues });
                }
                _ => break,
            }
            self.waiting(&format!("{object} is made"), None);
            self.not_too_long(&object, began, &status)?;
            self.stop.pause(self.options.poll).await?;
        }
        self.prove(name, None, expected).await?;
        Ok("made".into())
    }

    fn specification(&self, template: &TemplateRef) -> Result<eks::LaunchTemplateSpecification, ChangeError> {
        let TemplateRef { id, version } = template;
        let number = self.number(version)?;
        let made = match version {
            VersionRef::CreatedBy(group) => self.made.borrow().get(group).map(|(id, _)| id.clone()),
            VersionRef::Number(_) => None,
        };
        let id = id.clone().or(made);
        Ok(eks::LaunchTemplateSpecification::builder().set_id(id).version(number.to_string()).build())
    }

    async fn node_group(&self, name: &str) -> Result<Option<NodeGroup>, ChangeError> {
        const OPERATION: &str = "eks:DescribeNodegroup";
        let object = format!("node group {name}");
        let answer =
            self.clients.eks.describe_nodegroup().cluster_name(&self.cluster.name).nodegroup_name(name).send().await;
        match answer {
            Ok(answer) => Ok(answer.nodegroup.and_then(|raw| map_eks::node_group(raw).ok())),
            Err(error) if error.as_service_error().is_some_and(|error| error.is_resource_not_found_exception()) => {
                Ok(None)
            }
            Err(error) => Err(self.going_on(failures::aws(&error, OPERATION, &object), &object)),
        }
    }

    async fn nodes_of(&self, name: &str) -> Result<Vec<Node>, ChangeError> {
        let selector = percent_encoded(&format!("eks.amazonaws.com/nodegroup={name}"));
        let path = format!("/api/v1/nodes?labelSelector={selector}");
        let list = self.list(&path, "list nodes").await?;
        Ok(write::nodes(list))
    }

    async fn list(&self, path: &str, operation: &str) -> Result<Value, ChangeError> {
        let reply = self.kubernetes()?.request(Method::GET, path, "application/json", None).await;
        let reply = reply.map_err(|message| super::kubernetes::no_answer(operation, path, message))?;
        match reply.status {
            200 => Ok(reply.body),
            _ => Err(failures::kubernetes(&reply, operation, path)),
        }
    }

    /// How many nodes of the group run the version; only for progress, so that what cannot be read is left out.
    pub(super) async fn count_new_nodes(&self, name: &str, version: i64) -> Option<(u64, u64)> {
        let nodes = self.nodes_of(name).await.ok()?;
        let new = nodes.iter().filter(|node| is_of(node, version)).count();
        Some((u64::try_from(new).ok()?, u64::try_from(nodes.len()).ok()?))
    }

    /// Whether the new nodes are where they should be: their names, interfaces and pods. The next group is not touched
    /// before. Interfaces come shortly after a node, so that a node gets a few looks.
    async fn prove(&self, name: &str, version: Option<i64>, expected: &Expected) -> Result<(), ChangeError> {
        // The way back leads to what was there before, whatever that is.
        if expected.is_empty() {
            return Ok(());
        }
        let mut options = self.options.collect.clone();
        options.also.verification = true;
        for look in 1.. {
            let wrong = self.look(&options, name, version, expected).await?;
            if wrong.is_empty() {
                break;
            }
            if look == LOOKS {
                return Err(ChangeError::NewNodes { node_group: name.to_owned(), wrong });
            }
            self.waiting(&format!("new nodes of {name} are looked at"), None);
            self.stop.pause(self.options.poll).await?;
        }
        Ok(())
    }

    async fn look(
        &self,
        options: &CollectOptions,
        name: &str,
        version: Option<i64>,
        expected: &Expected,
    ) -> Result<Vec<String>, ChangeError> {
        let unread = |message: String| ChangeError::NoAnswer {
            operation: "verifying the new nodes".into(),
            object: format!("node group {name}"),
            message,
        };
        let read = collect::inventory(options, self.events.clone()).await;
        let inventory = read.map_err(|error| unread(error.to_string()))?;
        let needed = [
            GapSource::AwsNode,
            GapSource::EniConfigs,
            GapSource::Nodes,
            GapSource::Pods,
            GapSource::NetworkInterfaces,
        ];
        if let Some(gap) = inventory.gaps.iter().find(|gap| needed.contains(&gap.source)) {
            return Err(unread(format!("{}: {}", gap.action, gap.message)));
        }
        let Some(settings) = inventory.cni_settings().filter(CniSettings::custom_networking) else {
            return Ok(Vec::new());
        };
        let mut nodes: Vec<Node> = inventory.nodes_of(name).cloned().collect();
        if let Some(version) = version
            && nodes.iter().any(|node| node.labels.contains_key(SOURCE_VERSION_LABEL))
        {
            nodes.retain(|node| is_of(node, version));
        }
        let names = inventory.eni_configs.iter().map(|eni_config| eni_config.name.clone()).collect();
        let wrong = not_as_expected(&nodes, &settings, &names, expected);
        if !wrong.is_empty() {
            return Ok(wrong);
        }
        (self.proof)(&inventory, name, version).map_err(|error| unread(error.to_string()))
    }
}

fn is_of(node: &Node, version: i64) -> bool {
    node.labels.get(SOURCE_VERSION_LABEL).is_some_and(|label| *label == version.to_string())
}

/// The fields of `create-nodegroup.json` beside the launch template.
struct CreateInput {
    node_role: Option<String>,
    subnets: Option<Vec<String>>,
    instance_types: Option<Vec<String>>,
    ami_type: Option<String>,
    capacity_type: Option<String>,
    scaling: Option<eks::NodegroupScalingConfig>,
    labels: Option<std::collections::HashMap<String, String>>,
    taints: Option<Vec<eks::Taint>>,
}

fn create_input(request: &Value) -> Result<CreateInput, ChangeError> {
    const KNOWN: [&str; 10] = [
        "clusterName",
        "nodegroupName",
        "nodeRole",
        "subnets",
        "instanceTypes",
        "amiType",
        "capacityType",
        "scalingConfig",
        "labels",
        "taints",
    ];
    let fields = request.as_object();
    if let Some(name) = fields.into_iter().flatten().map(|(name, _)| name).find(|name| !KNOWN.contains(&name.as_str()))
    {
        return Err(ChangeError::UnknownField { field: name.clone() });
    }
    let text = |name: &str| request.get(name).and_then(Value::as_str).map(str::to_owned);
    let list = |name: &str| serde_json::from_value::<Vec<String>>(request.get(name)?.clone()).ok();
    let size = |name: &str| {
        let size = request.get("scalingConfig")?.get(name)?.as_i64()?;
        i32::try_from(size).ok()
    };
    let taints = request.get("taints").and_then(Value::as_array).map(|taints| {
        taints
            .iter()
            .map(|taint| {
                let text = |name: &str| taint.get(name).and_then(Value::as_str);
                eks::Taint::builder()
                    .set_key(text("key").map(str::to_owned))
                    .set_value(text("value").map(str::to_owned))
                    .set_effect(text("effect").map(Into::into))
                    .build()
            })
            .collect()
    });
    Ok(CreateInput {
        node_role: text("nodeRole"),
        subnets: list("subnets"),
        instance_types: list("instanceTypes"),
        ami_type: text("amiType"),
        capacity_type: text("capacityType"),
        scaling: request.get("scalingConfig").map(|_| {
            eks::NodegroupScalingConfig::builder()
                .set_min_size(size("minSize"))
                .set_max_size(size("maxSize"))
                .set_desired_size(size("desiredSize"))
                .build()
        }),
        labels: request.get("labels").and_then(|labels| serde_json::from_value(labels.clone()).ok()),
        taints,
    })
}
