"""Every call that reached the bench, in the order of arrival."""

import threading


class Journal:
    """Appends entries and hands out copies."""

    def __init__(self):
        self._lock = threading.Lock()
        self._entries = []

    def begin(self, **fields):
        """Adds an entry and returns it, to be completed when the answer is known."""
        with self._lock:
            entry = {"seq": len(self._entries) + 1, **fields, "fault": None, "acted": False, "status": None, "code": None}
            self._entries.append(entry)
            return entry

    def entries(self):
        """All entries so far."""
        with self._lock:
            return [dict(entry) for entry in self._entries]

    def reset(self):
        """Forgets all entries."""
        with self._lock:
            self._entries.clear()
