"""Prints what two other readers find in user data: Python's strict mail reader, and cloud-init.

    PYTHONPATH=.../cloud-init/usr/lib/python3/dist-packages python readers.py FILE...

One line of JSON for each file: {"strict": [[media type, base64 of the body], ...], "cloud-init": the same}.
"""

import base64
import email
import email.policy
import json
import sys
import tempfile

from cloudinit import handlers, user_data


class Paths:
    """What cloud-init wants to know of an instance's folders."""

    def __init__(self, folder):
        self._folder = folder

    def get_ipath_cur(self, name=None):
        return f"{self._folder}/{name or ''}"

    get_ipath = get_cpath = get_ipath_cur


def encoded(body):
    return base64.b64encode(body).decode()


def strict(document):
    # The policy raises at the first defect.
    message = email.message_from_bytes(document, policy=email.policy.compat32.clone(raise_on_defect=True))
    assert message.is_multipart()
    return [[part.get_content_type(), encoded(part.get_payload(decode=True))] for part in message.get_payload()]


def cloud_init(document):
    with tempfile.TemporaryDirectory() as folder:
        message = user_data.UserDataProcessor(Paths(folder)).process(document)
        found = []

        def on_part(_, name, payload, headers):
            body = payload if isinstance(payload, bytes) else payload.encode("utf-8", "surrogateescape")
            found.append([headers["Content-Type"], encoded(body)])

        handlers.walk(message, on_part, None)
        return found


for path in sys.argv[1:]:
    with open(path, "rb") as file:
        text = file.read()
    print(json.dumps({"strict": strict(text), "cloud-init": cloud_init(text)}))
