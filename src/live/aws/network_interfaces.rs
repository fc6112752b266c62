//! The network interfaces of the nodes, and those that the CNI has left behind.

use std::collections::BTreeSet;

use aws_sdk_ec2::types::Filter;

use super::map_network;
use super::reading::{Reading, VALUES_PER_FILTER, filter, in_chunks, mapped};
use crate::inventory::{GapSource, NetworkInterface};
use crate::live::failure::Failure;

/// Largest page. Source: Amazon EC2 API reference, `DescribeNetworkInterfaces`, `MaxResults`.
const PAGE: i32 = 1000;

/// What the CNI writes into the description of each interface that it makes.
/// Source: amazon-vpc-cni-k8s `pkg/awsutils/awsutils.go`, `eniDescriptionPrefix`.
const MADE_BY_THE_CNI: &str = "aws-K8S-*";

/// Reads the interfaces that are attached to the instances, and those of the VPC that the CNI has made and that are
/// attached to nothing any more.
pub(in crate::live) async fn read_network_interfaces(
    reading: &Reading,
    instance_ids: &BTreeSet<String>,
    vpc_id: Option<&str>,
) -> Vec<NetworkInterface> {
    let attached = in_chunks(instance_ids, VALUES_PER_FILTER, async |ids| {
        let resource = some_of(&ids);
        describe(reading, &resource, vec![filter("attachment.instance-id", ids)]).await
    });
    let left_behind = async {
        let Some(vpc_id) = vpc_id else { return Ok(Vec::new()) };
        let one = |name: &str, value: &str| filter(name, [value.to_owned()]);
        let filters = vec![one("vpc-id", vpc_id), one("status", "available"), one("description", MADE_BY_THE_CNI)];
        describe(reading, vpc_id, filters).await
    };
    let ((mut found, mut failures), left_behind) = tokio::join!(attached, left_behind);
    match left_behind {
        Ok(left_behind) => found.extend(left_behind),
        Err(failure) => failures.push(failure),
    }
    // One that is detached between the two questions answers both.
    found.sort_by(|a, b| a.network_interface_id.cmp(&b.network_interface_id));
    found.dedup_by(|a, b| a.network_interface_id == b.network_interface_id);
    reading.settle(GapSource::NetworkInterfaces, found.len(), failures);
    found
}

/// All pages of a list; each is reduced to what is kept of it before the next is asked for.
async fn describe(reading: &Reading, resource: &str, filters: Vec<Filter>) -> Result<Vec<NetworkInterface>, Failure> {
    const ACTION: &str = "ec2:DescribeNetworkInterfaces";
    let clients = &reading.clients;
    let request = clients.ec2.describe_network_interfaces().set_filters(Some(filters));
    let mut pages = request.into_paginator().page_size(PAGE).send();
    let all = async {
        let mut found = Vec::new();
        while let Some(page) = pages.next().await {
            let interfaces = page?.network_interfaces.unwrap_or_default();
            found.extend(interfaces.into_iter().map(map_network::network_interface));
        }
        Ok(found)
    };
    let found = clients.ask(ACTION, Some(resource), all).await?;
    mapped(ACTION, Some(resource), found, |interface| interface)
}

/// How a gap calls so many instances.
fn some_of(ids: &[String]) -> String {
    match ids {
        [first, .., last] if ids.len() > 3 => format!("{first} … {last} ({} instances)", ids.len()),
        _ => ids.join(", "),
    }
}
