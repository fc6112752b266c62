//! Node groups, and the images and instance types in use.

use std::collections::BTreeSet;

use aws_sdk_ec2::types::InstanceType as Ec2InstanceType;

use super::reading::{Reading, existing, in_chunks, mapped};
use super::{map_eks, map_instance};
use crate::inventory::{GapSource, Image, InstanceType, NodeGroup};
use crate::live::failure::Failure;

/// Instance types that EC2 describes in one request. Source: Amazon EC2 API reference, `DescribeInstanceTypes`.
const INSTANCE_TYPES_PER_CALL: usize = 100;

/// Describes every node group of the list side by side.
pub(in crate::live) async fn read_node_groups(
    reading: &Reading,
    cluster: &str,
    names: Result<Vec<String>, Failure>,
) -> Vec<NodeGroup> {
    let names = match names {
        Ok(names) => names,
        Err(failure) => {
            reading.settle(GapSource::NodeGroups, 0, vec![failure]);
            return Vec::new();
        }
    };
    let answers =
        futures_util::future::join_all(names.iter().map(|name| describe_node_group(reading, cluster, name))).await;
    let mut groups = Vec::new();
    let mut failures = Vec::new();
    for answer in answers {
        match answer {
            Ok(group) => groups.extend(group),
            Err(failure) => failures.push(failure),
        }
    }
    reading.settle(GapSource::NodeGroups, groups.len(), failures);
    groups
}

async fn describe_node_group(reading: &Reading, cluster: &str, name: &str) -> Result<Option<NodeGroup>, Failure> {
    const ACTION: &str = "eks:DescribeNodegroup";
    let clients = &reading.clients;
    let call = clients.eks.describe_nodegroup().cluster_name(cluster).nodegroup_name(name).send();
    let answer = match clients.ask(ACTION, Some(name), call).await {
        // Deleted since it was listed.
        Err(failure) if failure.code.as_deref() == Some("ResourceNotFoundException") => return Ok(None),
        answer => answer?,
    };
    let groups = mapped(ACTION, Some(name), answer.nodegroup.into_iter().collect(), map_eks::node_group)?;
    match groups.into_iter().next() {
        Some(group) => Ok(Some(group)),
        None => Err(Failure::unreadable(ACTION, Some(name.to_owned()), "the answer has no `nodegroup`".into())),
    }
}

/// Describes images by id; asks nothing when there is none.
pub(in crate::live) async fn read_images(reading: &Reading, ids: &BTreeSet<String>) -> Vec<Image> {
    let images =
        existing(ids.iter().cloned().collect(), async |ids: &[String]| describe_images(reading, ids).await).await;
    reading.settle_list(GapSource::Images, images)
}

async fn describe_images(reading: &Reading, ids: &[String]) -> Result<Vec<Image>, Failure> {
    const ACTION: &str = "ec2:DescribeImages";
    let clients = &reading.clients;
    let resource = ids.join(", ");
    let pages = clients.ec2.describe_images().set_image_ids(Some(ids.to_vec())).into_paginator().items().send();
    let raw = clients.ask(ACTION, Some(&resource), pages.collect::<Result<Vec<_>, _>>()).await?;
    mapped(ACTION, Some(&resource), raw, map_instance::image)
}

/// Describes instance types by name; asks nothing when there is none.
pub(in crate::live) async fn read_instance_types(reading: &Reading, names: &BTreeSet<String>) -> Vec<InstanceType> {
    let (found, failures) = in_chunks(names, INSTANCE_TYPES_PER_CALL, async |names| {
        existing(names, async |names: &[String]| describe_instance_types(reading, names).await).await
    })
    .await;
    reading.settle(GapSource::InstanceTypes, found.len(), failures);
    found
}

async fn describe_instance_types(reading: &Reading, names: &[String]) -> Result<Vec<InstanceType>, Failure> {
    const ACTION: &str = "ec2:DescribeInstanceTypes";
    let clients = &reading.clients;
    let resource = names.join(", ");
    let types = names.iter().map(|name| Ec2InstanceType::from(name.as_str())).collect();
    let pages = clients.ec2.describe_instance_types().set_instance_types(Some(types)).into_paginator().items().send();
    let raw = clients.ask(ACTION, Some(&resource), pages.collect::<Result<Vec<_>, _>>()).await?;
    mapped(ACTION, Some(&resource), raw, map_instance::instance_type)
}
