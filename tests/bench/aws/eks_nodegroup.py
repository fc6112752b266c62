"""Managed node groups: reading."""

from aws import progress
from aws.eks_cluster import cluster_of
from aws.errors import AwsError
from aws.paging import eks_page
from aws.registry import operation


def nodegroup_of(call, record):
    """The node group that a call names."""
    name = call.parameters["nodegroupName"]
    group = record["nodegroups"].get(name)
    if group is None:
        # EKS API reference, DescribeNodegroup: ResourceNotFoundException, 404.
        raise AwsError(
            "ResourceNotFoundException",
            f"No node group found for name: {name}.",
            404,
            clusterName=record["cluster"]["name"],
            nodegroupName=name,
        )
    return group


@operation("eks", "ListNodegroups")
def list_nodegroups(call):
    return eks_page(call, sorted(cluster_of(call)["nodegroups"]), "nodegroups")


@operation("eks", "DescribeNodegroup")
def describe_nodegroup(call):
    record = cluster_of(call)
    group = nodegroup_of(call, record)
    progress.look(call, record, group)
    return {"nodegroup": group}
