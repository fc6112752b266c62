"""Addresses of a subnet, handed out in sequence."""

import ipaddress


def next_address(region, subnet_id):
    """The next free address of a subnet, or None when it is full. The first four and the last are Amazon's."""
    subnet = region.subnets[subnet_id]
    if not subnet.get("AvailableIpAddressCount"):
        return None
    network = ipaddress.ip_network(subnet["CidrBlock"])
    taken = region.addresses.setdefault(subnet_id, 9)
    region.addresses[subnet_id] = taken + 1
    if taken + 1 >= network.num_addresses - 1:
        return None
    subnet["AvailableIpAddressCount"] -= 1
    return str(network[taken + 1])


def give_back(region, subnet_id, count=1):
    """Counts addresses as free again."""
    if subnet_id in region.subnets:
        region.subnets[subnet_id]["AvailableIpAddressCount"] += count
