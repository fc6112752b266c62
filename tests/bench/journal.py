"""Every call that reached the bench, in the order of arrival."""

import threading
import time


class Journal:
    """Appends entries and hands out copies.

    `began` and `ended` are seconds since the journal's reset, `in_flight` says how many calls were in progress,
    this one included."""

    def __init__(self):
        self._lock = threading.Lock()
        self.reset()

    def begin(self, **fields):
        """Adds an entry and returns it, to be completed when the answer is known."""
        with self._lock:
            self._in_flight += 1
            entry = {
                "seq": len(self._entries) + 1,
                **fields,
                "fault": None,
                "acted": False,
                "status": None,
                "code": None,
                "began": time.monotonic() - self._start,
                "ended": None,
                "in_flight": self._in_flight,
            }
            self._entries.append(entry)
            return entry

    def end(self, entry):
        """The answer is on its way, or never will be."""
        with self._lock:
            self._in_flight = max(self._in_flight - 1, 0)
            entry["ended"] = time.monotonic() - self._start

    def entries(self):
        """All entries so far."""
        with self._lock:
            return [dict(entry) for entry in self._entries]

    def reset(self):
        """Forgets all entries."""
        with self._lock:
            self._entries = []
            self._in_flight = 0
            self._start = time.monotonic()
