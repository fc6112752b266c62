"""The nodes of a managed group."""


def replace_nodes(call, group):
    pass


def remove_nodes(call, group):
    pass
