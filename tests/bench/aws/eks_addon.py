"""Add-ons: reading."""

from aws import progress
from aws.eks_cluster import cluster_of
from aws.errors import AwsError
from aws.paging import eks_page
from aws.registry import operation


def addon_of(call, record):
    """The add-on that a call names."""
    name = call.parameters["addonName"]
    addon = record["addons"].get(name)
    if addon is None:
        # EKS API reference, DescribeAddon: ResourceNotFoundException, 404.
        raise AwsError(
            "ResourceNotFoundException",
            f"No addon: {name} found in cluster: {record['cluster']['name']}",
            404,
            clusterName=record["cluster"]["name"],
            addonName=name,
        )
    return addon


@operation("eks", "ListAddons")
def list_addons(call):
    return eks_page(call, sorted(cluster_of(call)["addons"]), "addons")


@operation("eks", "DescribeAddon")
def describe_addon(call):
    record = cluster_of(call)
    addon = addon_of(call, record)
    progress.look(call, record, addon)
    return {"addon": addon}
