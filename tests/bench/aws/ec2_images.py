"""Images and instance types."""

from aws import filters, moto_rest
from aws.errors import AwsError
from aws.filters import member
from aws.paging import ec2_page
from aws.registry import operation

IMAGE_FILTERS = {
    "image-id": member("ImageId"),
    "name": member("Name"),
    "owner-id": member("OwnerId"),
    "architecture": member("Architecture"),
    "state": member("State"),
}

TYPE_FILTERS = {
    "instance-type": member("InstanceType"),
    "hypervisor": member("Hypervisor"),
    "bare-metal": member("BareMetal"),
    "current-generation": member("CurrentGeneration"),
    "processor-info.supported-architecture": lambda item: item.get("ProcessorInfo", {}).get(
        "SupportedArchitectures", []
    ),
}


@operation("ec2", "DescribeImages")
def describe_images(call):
    ids = call.parameters.get("ImageIds") or []
    for one in ids:
        # EC2 error codes: InvalidAMIID.Malformed, InvalidAMIID.NotFound.
        if not one.startswith("ami-"):
            raise AwsError("InvalidAMIID.Malformed", f'Invalid id: "{one}" (expecting "ami-...")')
    missing = [one for one in ids if one not in call.region.images]
    if missing:
        plural = "id" if len(missing) == 1 else "ids"
        verb = "does" if len(missing) == 1 else "do"
        raise AwsError("InvalidAMIID.NotFound", f"The image {plural} '[{', '.join(missing)}]' {verb} not exist")
    found = [image for one, image in call.region.images.items() if not ids or one in set(ids)]
    owners = set(call.parameters.get("Owners") or ())
    if owners:
        mine = {call.world.account} if "self" in owners else set()
        found = [
            image for image in found if image.get("OwnerId") in owners | mine or image.get("ImageOwnerAlias") in owners
        ]
    return ec2_page(call, filters.apply(call, found, IMAGE_FILTERS), "Images", 1000, minimum=1)


@operation("ec2", "DescribeInstanceTypes")
def describe_instance_types(call):
    """moto's table of real types, under those that a test put in itself."""
    wanted = call.parameters.get("InstanceTypes")
    own = call.region.instance_types
    if wanted:
        table = moto_rest.instance_types() if any(name not in own for name in wanted) else {}
        missing = [name for name in wanted if name not in own and name not in table]
        if missing:
            # EC2 error codes: InvalidInstanceType.
            raise AwsError(
                "InvalidInstanceType", f"The following supplied instance types do not exist: [{', '.join(missing)}]"
            )
        found = [own.get(name) or _modelled(call, table[name]) for name in sorted(set(wanted))]
    else:
        table = {**moto_rest.instance_types(), **own}
        found = [own.get(name) or _modelled(call, table[name]) for name in sorted(table)]
    return ec2_page(call, filters.apply(call, found, TYPE_FILTERS), "InstanceTypes", 100, maximum=100)


def _modelled(call, value):
    """Without the members that botocore's model does not have."""
    return _known(call.model.service_model.shape_for("InstanceTypeInfo"), value)


def _known(shape, value):
    if shape.type_name == "structure":
        return {name: _known(shape.members[name], inner) for name, inner in value.items() if name in shape.members}
    if shape.type_name == "list":
        return [_known(shape.member, inner) for inner in value]
    return value
