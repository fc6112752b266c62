"""The service models of botocore: which operations there are, and the shape of everything they take and give."""

import functools
import re

from botocore.loaders import Loader
from botocore.model import ServiceModel

SERVICES = ("ec2", "eks", "sts")


@functools.cache
def service(name):
    """The model of one service."""
    return ServiceModel(Loader().load_service_model(name, "service-2"), name)


@functools.cache
def operation(service_name, action):
    """The model of one operation, or None when the service has none of that name."""
    model = service(service_name)
    return model.operation_model(action) if action in model.operation_names else None


@functools.cache
def rest_routes(service_name):
    """(method, compiled path, names in the path, action) of every operation of a REST service, longest path first."""
    routes = []
    for action in service(service_name).operation_names:
        http = operation(service_name, action).http
        path = http["requestUri"].split("?")[0]
        pattern = re.sub(
            r"\{([^}+]+)\+?\}",
            lambda found: f"(?P<{found[1]}>[^/]+)",
            re.escape(path).replace(r"\{", "{").replace(r"\}", "}"),
        )
        routes.append((http["method"], re.compile(f"^{pattern}$"), path, action))
    routes.sort(key=lambda route: (-len(route[2].split("{")[0]), -len(route[2]), route[2]))
    return routes
