"""The rollout of a DaemonSet: after a change of its template it takes some looks until every node runs the new one.

Only where a controller is at work, which one sees by `observedGeneration`; a bare API server, as in the recording,
has none.
"""


def rolled_out(generation, nodes):
    """The status of a DaemonSet that runs everywhere."""
    return {
        "currentNumberScheduled": nodes,
        "numberMisscheduled": 0,
        "desiredNumberScheduled": nodes,
        "numberReady": nodes,
        "observedGeneration": generation,
        "updatedNumberScheduled": nodes,
        "numberAvailable": nodes,
    }


def start(store, key, value, looks):
    """A change of the template that the controller has not seen yet."""
    if "observedGeneration" not in value.get("status", {}):
        return
    if looks == 0:
        value["status"] = rolled_out(value["metadata"]["generation"], value["status"]["desiredNumberScheduled"])
        return
    store.rollouts[key] = looks


def look(store, key, value):
    """One look: at first the old generation, then no node updated, at last all."""
    left = store.rollouts.get(key)
    if left is None:
        return
    generation, nodes = value["metadata"]["generation"], value["status"]["desiredNumberScheduled"]
    store.rollouts[key] = left - 1
    if left > 0:
        updated = {**rolled_out(generation, nodes), "updatedNumberScheduled": 0, "numberReady": max(nodes - 1, 0)}
        if value["status"] != updated:
            value["status"] = updated
            value["metadata"]["resourceVersion"] = store.next_version()
        return
    del store.rollouts[key]
    value["status"] = rolled_out(generation, nodes)
    value["metadata"]["resourceVersion"] = store.next_version()
