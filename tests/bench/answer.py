"""What goes back to a client."""


class Answer:
    """Status, headers and body."""

    def __init__(self, status, body=b"", content_type="application/json", headers=None):
        self.status = status
        self.body = body
        self.headers = {"Content-Type": content_type, **(headers or {})}
