"""Hands user data to cloud-init's own handlers, as an instance does at first boot.

    PYTHONPATH=.../cloud-init/usr/lib/python3/dist-packages python split_mime.py USER-DATA...

The shell parts of a file land in USER-DATA.parts/scripts. Prints one line of JSON for each part that cloud-init sees: the
file, the type of the part, and whether any of its handlers took it.
"""

import json
import os
import sys

from cloudinit import handlers, user_data
from cloudinit.handlers.cloud_config import CloudConfigPartHandler
from cloudinit.handlers.shell_script import ShellScriptPartHandler


class Paths:
    """What the handlers want to know of an instance's folders."""

    def __init__(self, folder):
        self.cloud_dir = self.run_dir = folder
        self._folder = folder

    def get_ipath_cur(self, name=None):
        return os.path.join(self._folder, name or "")

    get_ipath = get_cpath = get_ipath_cur


def split(file_name):
    folder = file_name + ".parts"
    os.makedirs(folder, exist_ok=True)
    with open(file_name, "rb") as file:
        document = file.read()
    paths = Paths(folder)
    message = user_data.UserDataProcessor(paths).process(document)
    part_handlers = [ShellScriptPartHandler(paths), CloudConfigPartHandler(paths)]
    handler_of = {content_type: handler for handler in part_handlers for content_type in handler.list_types()}
    for handler in part_handlers:
        handlers.call_begin(handler, None, "always")

    def on_part(_, name, payload, headers):
        content_type = headers["Content-Type"]
        taken = content_type in handler_of
        print(json.dumps({"file": file_name, "type": content_type, "taken": taken}))
        if taken:
            handlers.run_part(handler_of[content_type], None, name, payload, "always", headers)

    handlers.walk(message, on_part, None)
    for handler in part_handlers:
        handlers.call_end(handler, None, "always")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        split(name)
