"""Clusters."""

from aws import progress
from aws.errors import AwsError
from aws.paging import eks_page
from aws.registry import operation


def cluster_of(call, name=None):
    """The cluster that a call names, with everything that belongs to it."""
    name = name or call.parameters.get("name") or call.parameters.get("clusterName")
    record = call.region.clusters.get(name)
    if record is None:
        # EKS API reference, DescribeCluster: ResourceNotFoundException, 404.
        raise AwsError("ResourceNotFoundException", f"No cluster found for name: {name}.", 404, clusterName=name)
    return record


@operation("eks", "ListClusters")
def list_clusters(call):
    return eks_page(call, sorted(call.region.clusters), "clusters")


@operation("eks", "DescribeCluster")
def describe_cluster(call):
    record = cluster_of(call)
    progress.look(call, record, record["cluster"])
    cluster = dict(record["cluster"])
    if call.settings["endpoint"] == "local" and cluster.get("endpoint"):
        cluster["endpoint"] = call.bench.kube_endpoint
        cluster["certificateAuthority"] = {"data": call.bench.certificate_authority}
    return {"cluster": cluster}
