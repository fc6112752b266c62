"""Faults per call: which call, and what happens to it.

A rule: {"service": "ec2|eks|sts|kube|*", "action": "DescribeSubnets" or "list eniconfigs" or "*", "mutating":
true|false,
"resource": "lt-…", "ordinal": n (only the nth call that matches), "times": n (only the first n), "from": n (the nth
and all later),
"kind": KIND, …}.

Kinds, and what else they take:
  deny        refused as not permitted ("message")
  throttle    refused as too fast
  error       a server error ("status": 500 or 503)
  expired     the caller's credentials have expired
  refuse      an error of the service's own ("code", "message", "status")
  answer      any answer ("status", "body", "content_type"), without acting
  garbage     an answer that is no answer, without acting
  cut_before  the connection is closed, nothing is done
  cut_after   it is done, the connection is closed without an answer
  cut_middle  it is done, the connection is closed in the middle of the answer
  delay       the answer comes "seconds" later
  withhold_before, withhold_after
              held until POST /bench/release or until the client is gone, before or after it is done; a call held before
              is not done when its client is gone
"""

import threading

# Kinds that answer in place of the handler.
ANSWERING = {"deny", "throttle", "error", "expired", "refuse", "answer", "garbage"}
KINDS = ANSWERING | {
    "cut_before",
    "cut_after",
    "cut_middle",
    "delay",
    "withhold_before",
    "withhold_after",
}
KEYS = {
    "service",
    "action",
    "mutating",
    "resource",
    "ordinal",
    "times",
    "from",
    "kind",
    "code",
    "message",
    "status",
    "body",
    "content_type",
    "seconds",
}


class Faults:
    """The rules in force, each with how often it matched."""

    def __init__(self):
        self._lock = threading.Lock()
        self._rules = []

    def put(self, rules):
        """Replaces all rules. Raises ValueError for one that is not understood."""
        for rule in rules:
            unknown = set(rule) - KEYS
            if unknown or rule.get("kind") not in KINDS:
                raise ValueError(f"not a fault: {rule}")
        with self._lock:
            self._rules = [{**rule, "matched": 0} for rule in rules]

    def add(self, rules):
        """Puts further rules behind those in force."""
        self.put(
            [{key: value for key, value in rule.items() if key != "matched"} for rule in self.rules()] + list(rules)
        )

    def rules(self):
        """The rules in force with their counts."""
        with self._lock:
            return [dict(rule) for rule in self._rules]

    def take(self, service, action, mutating, resources):
        """The first rule that applies to this call. Counts the call for every rule that matches it."""
        with self._lock:
            chosen = None
            for rule in self._rules:
                if not _matches(rule, service, action, mutating, resources):
                    continue
                rule["matched"] += 1
                if "ordinal" in rule and rule["matched"] != rule["ordinal"]:
                    continue
                if rule["matched"] > rule.get("times", rule["matched"]) or rule["matched"] < rule.get("from", 1):
                    continue
                if chosen is None:
                    chosen = dict(rule)
            return chosen


def _matches(rule, service, action, mutating, resources):
    return (
        rule.get("service", "*") in ("*", service)
        and rule.get("action", "*") in ("*", action)
        and rule.get("mutating", mutating) == mutating
        and ("resource" not in rule or rule["resource"] in resources)
    )
