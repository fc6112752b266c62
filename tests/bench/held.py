"""Calls that are held back, so that a test can kill its client at a known point."""

import os
import select
import socket
import threading
import time


class Held:
    """Where held calls wait."""

    def __init__(self):
        self._condition = threading.Condition()
        self._calls = {}
        self._released = 0

    def wait(self, seq, what, connection):
        """Blocks until released (True) or until the client is gone (False)."""
        watcher = socket.socket(fileno=_duplicate(connection))
        try:
            with self._condition:
                generation = self._released
                self._calls[seq] = what
                self._condition.notify_all()
            while True:
                with self._condition:
                    if self._released != generation:
                        return True
                    self._condition.wait(0.02)
                    if self._released != generation:
                        return True
                if _is_gone(watcher):
                    return False
        finally:
            watcher.close()
            with self._condition:
                self._calls.pop(seq, None)
                self._condition.notify_all()

    def release(self):
        """Lets every held call go on."""
        with self._condition:
            self._released += 1
            self._condition.notify_all()

    def calls(self, at_least=0, timeout=0.0):
        """What is held now; waits until there are that many or the time is over."""
        end = time.monotonic() + timeout
        with self._condition:
            while len(self._calls) < at_least and (left := end - time.monotonic()) > 0:
                self._condition.wait(left)
            return [{"seq": seq, **what} for seq, what in sorted(self._calls.items())]


def _duplicate(connection):
    return os.dup(connection.fileno())


def _is_gone(watcher):
    readable, _, _ = select.select([watcher], [], [], 0)
    if not readable:
        return False
    try:
        return watcher.recv(1, socket.MSG_PEEK) == b""
    except OSError:
        return True
