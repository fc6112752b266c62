"""What the bench has no answer of its own for goes to moto, in this process. moto has its own, empty account: good
for calls
such as DescribeAvailabilityZones or IAM's, not for the objects that the bench holds."""

import functools
import gzip
import importlib.util
import json
import pathlib

from answer import Answer


@functools.cache
def _application():
    # Slow to import, and most runs never need it.
    from moto.server import DomainDispatcherApplication, create_backend_app  # noqa: PLC0415

    return DomainDispatcherApplication(create_backend_app)


def answer(request):
    """moto's answer to a request."""
    from werkzeug.test import Client  # noqa: PLC0415

    headers = [(name, value) for name, value in request.headers.items() if name.lower() != "content-length"]
    response = Client(_application()).open(
        path=request.path, query_string=request.query_text, method=request.method, headers=headers, data=request.body
    )
    return Answer(response.status_code, response.get_data(), response.headers.get("Content-Type", "text/plain"))


@functools.cache
def instance_types():
    """Every instance type that moto's table knows, by name, as DescribeInstanceTypes answers it."""
    found = importlib.util.find_spec("moto")
    path = pathlib.Path(found.origin).parent / "ec2" / "resources" / "instance_types.json.gz"
    return json.loads(gzip.decompress(path.read_bytes()))
