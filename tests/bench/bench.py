"""The bench: one world, one journal, one set of faults and settings, shared by both halves."""

import base64
import fnmatch
import itertools
import threading

import control
import settings
import world
from faults import Faults
from held import Held
from journal import Journal
from kube import kinds
from kube.reading import load
from later import Later


class Bench:
    """What both halves and the control requests work on."""

    def __init__(self, authority_pem):
        self.lock = threading.RLock()
        self.journal = Journal()
        self.faults = Faults()
        self.held = Held()
        self.later = Later()
        self.certificate_authority = base64.b64encode(authority_pem).decode()
        self.kube_endpoint = None
        self.default_region = "eu-west-1"
        self.settings = settings.defaults()
        self.world = world.World()
        self.refused_tokens = []
        # Bearer tokens that are good without being EKS's, for kubeconfig files.
        self.plain_tokens = set()
        self._kept = {}
        self._requests = itertools.count(1)

    def control(self, method, name, body):
        """Runs a control request from inside."""
        return control.run(self, method, name, body)

    def request_id(self):
        """An id for each answer, in sequence."""
        return f"00000000-0000-4000-8000-{next(self._requests):012x}"

    def allows(self, service, action):
        """Whether the setting `allow` permits an action; without it everything is."""
        allow = self.settings["allow"]
        return allow is None or any(fnmatch.fnmatchcase(f"{service}:{action}", pattern) for pattern in allow)

    def clear(self):
        """An empty account and cluster; settings, faults and journal stay."""
        with self.lock:
            self.world = world.World()

    def reset(self):
        """Everything as after the start, but for the kept worlds."""
        with self.lock:
            self.clear()
            self.settings = settings.defaults()
            self.faults.put([])
            self.later.put([])
            self.journal.reset()
            self.refused_tokens = []
            self.plain_tokens = set()
        self.held.release()

    def keep(self, name):
        """Keeps the world under a name."""
        with self.lock:
            self._kept[name] = (world.keep(self.world), self.default_region)

    def put_back(self, name):
        """Puts a kept world back. Settings, faults and journal stay."""
        with self.lock:
            kept, self.default_region = self._kept[name]
            self.world = world.put_back(kept)

    def shown(self):
        """The whole world as JSON, for a test's comparison."""
        with self.lock:
            regions = {name: region.shown() for name, region in self.world.regions.items()}
            kube = {
                key: {"/".join(filter(None, name)): load(value) for name, value in objects.items()}
                for key, objects in self.world.kube.objects.items()
                if key != kinds.POD.key
            }
            return {"regions": regions, "kubernetes": kube}
