"""Which operations the bench answers itself, and which of them change something."""

HANDLERS = {}

READ_VERBS = ("Describe", "List", "Get")


def operation(service, action):
    """Registers `function(call) -> result` for an operation."""

    def register(function):
        HANDLERS[(service, action)] = function
        return function

    return register


def is_mutating(action):
    """By the verb, as AWS names its operations."""
    return not action.startswith(READ_VERBS) and action != "AssumeRole"
