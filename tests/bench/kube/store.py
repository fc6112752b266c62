"""The objects of the pretended cluster."""

import bisect

from kube.kinds import KINDS


class Store:
    """Objects by kind and (namespace, name), and the one resourceVersion that counts all writes.

    An object that came by a large seed is kept as JSON bytes until somebody writes it."""

    def __init__(self):
        self.resource_version = 1
        self.objects = {key: {} for key in KINDS}
        # Definitions that are installed, by the kind's key; a kind whose definition is missing answers 404.
        self.installed = {
            "eniconfigs.crd.k8s.amazonaws.com",
            "cninodes.vpcresources.k8s.aws",
            "securitygrouppolicies.vpcresources.k8s.aws",
        }
        # The cluster that tokens must name; None before anything is seeded.
        self.cluster = None
        # DaemonSets that are being rolled out, and how many looks are left.
        self.rollouts = {}
        # Nodes that have not registered yet: [lists to go, kind, key, object].
        self.late = []
        self._keys = {}

    def put_late(self, lists, kind, key, value):
        """Adds an object after so many lists of nodes."""
        if lists:
            self.late.append([lists, kind, key, value])
        else:
            self.put(kind, key, value)

    def arrive(self):
        """One list of nodes goes by."""
        for entry in list(self.late):
            if entry[0] == 0:
                self.late.remove(entry)
                self.put(*entry[1:])
            else:
                entry[0] -= 1

    def next_version(self):
        """Counts a write."""
        self.resource_version += 1
        return str(self.resource_version)

    def serves(self, kind):
        """Whether the API server has a path for this kind now."""
        return not kind.custom or kind.key in self.installed

    def put(self, kind, key, value):
        """Adds or replaces an object."""
        if key not in self.objects[kind.key]:
            self._keys.pop(kind.key, None)
        self.objects[kind.key][key] = value

    def remove(self, kind, key):
        """Takes an object away."""
        self._keys.pop(kind.key, None)
        return self.objects[kind.key].pop(key)

    def clear(self, kind):
        """Takes all objects of a kind away."""
        self._keys.pop(kind.key, None)
        self.objects[kind.key] = {}

    def keys(self, kind):
        """All keys of a kind, in the order of lists."""
        if kind.key not in self._keys:
            self._keys[kind.key] = sorted(self.objects[kind.key])
        return self._keys[kind.key]

    def keys_after(self, kind, key):
        """Those behind a key, which need not be there any more."""
        keys = self.keys(kind)
        return keys[bisect.bisect_right(keys, key) :] if key else keys
