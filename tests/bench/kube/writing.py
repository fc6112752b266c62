"""Writes."""

from kube import status


def answer(call):
    raise status.failure(405, "MethodNotAllowed", "not yet")
