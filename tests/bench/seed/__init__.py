"""Fills the world from an inventory file and from plain objects."""

from kube import definition, kinds
from seed import aws_objects, eks_objects, gaps, kube_objects, observed_objects

PLAIN = {"inventory", "kubernetes", "aws", "keep", "deny_gaps", "cluster", "crd", "resource_version"}


def seed(bench, body):
    """Seeds from a body: an inventory itself, or {"inventory", "kubernetes": [objects], "aws": {store: {id:
    object}}, "keep",
    "deny_gaps", "cluster" (the name that tokens must carry), "crd", "resource_version"}. Returns what an inventory
    of the seeded cluster reads."""
    if "schema_version" in body:
        body = {"inventory": body}
    unknown = set(body) - PLAIN
    if unknown:
        raise ValueError(f"unknown keys: {sorted(unknown)}")
    if not body.get("keep"):
        bench.clear()
    inventory, expected, region = body.get("inventory"), None, None
    if inventory:
        region = _put_inventory(bench, inventory)
        expected = _expected(bench, inventory)
        if body.get("deny_gaps", True):
            bench.faults.add(gaps.rules(inventory.get("gaps", [])))
    for store, objects in (body.get("aws") or {}).items():
        region = region or bench.world.region(bench.default_region)
        getattr(region, store).update(objects)
    kube = bench.world.kube
    kube.cluster = body.get("cluster", kube.cluster)
    if "crd" in body:
        definition.put(bench.world, body["crd"].get("has_schema", True))
    for value in body.get("kubernetes") or []:
        put_plain(bench, value)
    kube.resource_version = body.get("resource_version", kube.resource_version)
    return {"inventory": expected}


def _put_inventory(bench, inventory):
    world = bench.world
    world.account = inventory.get("account_id") or world.account
    region = world.region(inventory["region"])
    bench.default_region = region.name
    aws_objects.put_network(region, inventory, world.account)
    aws_objects.put_images(region, inventory)
    aws_objects.put_launch_templates(region, inventory)
    eks_objects.put_cluster(region, inventory, world.account)
    kube_objects.put_kube(world, inventory)
    observed_objects.put_observed(world, region, inventory)
    return region


def _expected(bench, inventory):
    """The file with the two values that the bench must replace."""
    cluster = dict(inventory["cluster"])
    if bench.settings["endpoint"] == "local" and cluster.get("endpoint"):
        cluster["endpoint"] = bench.kube_endpoint
        cluster["certificate_authority"] = bench.certificate_authority
    return {**inventory, "cluster": cluster}


def put_plain(bench, value):
    """Any Kubernetes object; its definition counts as installed from then on."""
    group, _, version = value["apiVersion"].rpartition("/")
    for kind in kinds.KINDS.values():
        if (kind.group, kind.version, kind.kind) == (group, version, value["kind"]):
            metadata = value["metadata"]
            metadata.setdefault("uid", bench.world.new_uid())
            metadata.setdefault("creationTimestamp", kube_objects.CREATED)
            metadata["resourceVersion"] = bench.world.kube.next_version()
            if kind.generation:
                metadata.setdefault("generation", 1)
            bench.world.kube.installed.add(kind.key)
            bench.world.kube.put(kind, (metadata.get("namespace", ""), metadata["name"]), value)
            return
    raise ValueError(f"no kind {value['apiVersion']} {value['kind']}")
