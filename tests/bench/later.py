"""What happens to the world while a client looks at it: things that come after so many calls.

An event: {"action": "list nodes", "service": "kube", "count": 2, "do": [["POST", "patch", [...]], ...]}: after the
second such call from
now on these control requests are run, before the call is answered.
"""


class Later:
    """Events that are still to come."""

    def __init__(self):
        self.events = []

    def put(self, events):
        """Replaces all events. Raises ValueError for one that is not understood."""
        for event in events:
            if (
                set(event) - {"action", "service", "count", "do"}
                or not isinstance(event.get("do"), list)
                or "action" not in event
            ):
                raise ValueError(f"not an event: {event}")
        self.events = [{**event, "seen": 0} for event in events]

    def due(self, service, action):
        """The control requests that are due with this call."""
        due = []
        for event in list(self.events):
            if event.get("service", service) == service and event["action"] == action:
                event["seen"] += 1
                if event["seen"] >= event.get("count", 1):
                    self.events.remove(event)
                    due += event["do"]
        return due
