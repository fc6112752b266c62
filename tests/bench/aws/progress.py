"""Things that take time: created and updated clusters, node groups and add-ons are in progress for so many looks."""


def start(call, record, subject, done):
    """Marks a cluster, node group or add-on (`subject`) as in progress. `done` names what `FINISHERS` does at its
    end."""
    record["pending"].append({"subject": subject, "looks": call.settings["polls"], "done": done})


def look(call, record, subject):
    """One look at a subject: finishes it when it was looked at often enough."""
    for pending in list(record["pending"]):
        if pending["subject"] is not subject:
            continue
        if pending["looks"] > 0:
            pending["looks"] -= 1
            continue
        record["pending"].remove(pending)
        FINISHERS[pending["done"]["what"]](call, record, subject, pending["done"])


FINISHERS = {}


def finisher(what):
    """Registers `function(call, record, subject, done)`."""

    def register(function):
        FINISHERS[what] = function
        return function

    return register
