//! What each check is read from, part by part: a check whose part was not read says nothing.

use crate::inventory::GapSource;

/// Parts of the inventory that a check of [`super::matrix::CHECKS`] looks at.
pub fn parts(number: u8) -> &'static [GapSource] {
    use GapSource::{
        AddOn, AwsNode, CniNodes, Ec2NodeClasses, EniConfigCrd, EniConfigs, Images, InstanceTypes, LaunchTemplates,
        NetworkInterfaces, NodeGroups, NodePools, Nodes, Pods, RouteTables, SecurityGroupPolicies, SecurityGroups,
        Subnets, Vpc,
    };
    match number {
        1 | 3 => &[AwsNode],
        2 => &[AwsNode, AddOn],
        4 => &[Nodes, AwsNode, NodeGroups, LaunchTemplates, Subnets],
        5 => &[Nodes, AwsNode, EniConfigs],
        6 => &[EniConfigCrd, EniConfigs],
        7 => &[Nodes, NodeGroups, Subnets],
        8 => &[Nodes, EniConfigs, Subnets],
        9 => &[Nodes, NodeGroups, Subnets],
        10 => &[EniConfigs, SecurityGroups],
        11 => &[Nodes, AwsNode, NetworkInterfaces],
        12 => &[Nodes, AwsNode, EniConfigs, Subnets, Pods, NetworkInterfaces],
        13 => &[Nodes, NetworkInterfaces],
        14 => &[Nodes, AwsNode, InstanceTypes, NodePools],
        15 => &[NodeGroups, Subnets, InstanceTypes],
        16 => &[AwsNode, InstanceTypes],
        17 => &[AwsNode, Subnets],
        18 => &[Nodes, CniNodes, SecurityGroupPolicies, NetworkInterfaces],
        19 => &[AwsNode, Subnets, RouteTables],
        20 => &[Vpc, Subnets],
        21 => &[Nodes, NodeGroups],
        22 => &[Nodes, NodeGroups, LaunchTemplates],
        23 => &[Nodes, NodeGroups, LaunchTemplates, Images],
        24 => &[Nodes, EniConfigs, Subnets],
        25 => &[NetworkInterfaces],
        26 => &[Nodes, NodePools, Ec2NodeClasses],
        27 => &[Nodes, AwsNode],
        _ => &[],
    }
}
