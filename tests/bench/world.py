"""Everything the bench knows of the pretended account and cluster. Plain dictionaries, so that it can be kept and
put back."""

import hashlib
import pickle
import uuid

from kube.store import Store

ACCOUNT = "111122223333"


class Region:
    """What one region of the account holds, each dictionary by id or name, each value in the API's own member names."""

    def __init__(self, name):
        self.name = name
        self.vpcs = {}
        self.subnets = {}
        self.security_groups = {}
        self.route_tables = {}
        self.images = {}
        self.instance_types = {}
        self.launch_templates = {}
        self.instances = {}
        self.network_interfaces = {}
        self.clusters = {}
        self.client_tokens = {}
        self.other_tags = {}
        # The last address that was handed out of each subnet, as an offset.
        self.addresses = {}
        self._by_instance = {}
        self._indexed = None

    def shown(self):
        """Its objects; what serves the bench's own purposes is left out."""
        own = ("name", "client_tokens", "addresses", "_by_instance", "_indexed")
        return {name: value for name, value in vars(self).items() if name not in own}

    def interfaces_of(self, instance_id):
        """The network interfaces of an instance, by an index that is made anew when interfaces came or went."""
        seen = (len(self.network_interfaces), next(reversed(self.network_interfaces), None))
        if seen != self._indexed:
            self._by_instance, self._indexed = {}, seen
            for one in self.network_interfaces.values():
                self._by_instance.setdefault(one.get("Attachment", {}).get("InstanceId"), []).append(one)
        return self._by_instance.get(instance_id, [])


class World:
    """The account, all its regions, and the one Kubernetes API server."""

    def __init__(self):
        self.account = ACCOUNT
        self.regions = {}
        self.kube = Store()
        self.serial = 0
        # What the scripts of launched instances said.
        self.consoles = {}

    def region(self, name):
        """The region of that name; an empty one when nothing was ever put there."""
        if name not in self.regions:
            self.regions[name] = Region(name)
        return self.regions[name]

    def digest(self):
        """The next of a sequence of hashes that is the same for every run."""
        self.serial += 1
        return hashlib.sha256(f"eniplan bench {self.serial}".encode()).hexdigest()

    def new_id(self, prefix):
        """A new EC2 id, such as `lt-0…`."""
        return f"{prefix}-0{self.digest()[:16]}"

    def new_uid(self):
        """A new UUID."""
        return str(uuid.UUID(self.digest()[:32]))


def keep(world):
    """The whole world as bytes."""
    return pickle.dumps(world, protocol=pickle.HIGHEST_PROTOCOL)


def put_back(kept):
    """The world that `keep` was given."""
    return pickle.loads(kept)
