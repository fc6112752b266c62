"""The CustomResourceDefinition of ENIConfig, from the recording."""

import copy
import functools
import json
import pathlib

from kube import kinds

CREATED = "2025-11-30T12:00:00Z"


def put(world, has_schema):
    """The definition of ENIConfig, as a real server gave it. Those from before CNI v1.18.3 have no schema for
    `spec`."""
    kind = kinds.ENI_CONFIG
    world.kube.installed.add(kind.key)
    crd = copy.deepcopy(_recorded())
    crd["metadata"].update(uid=world.new_uid(), resourceVersion=world.kube.next_version(), creationTimestamp=CREATED)
    if not has_schema:
        crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = {
            "type": "object",
            "x-kubernetes-preserve-unknown-fields": True,
        }
        crd["metadata"].pop("annotations")
    world.kube.put(kinds.CRD, ("", kind.key), crd)


@functools.cache
def _recorded():
    answers = json.loads((pathlib.Path(__file__).parent.parent / "answers.json").read_text())
    return next(answer["response"]["body"] for answer in answers if answer["case"] == "CRD")
