"""Who makes the welcome mail: a module that is named here by `app.py`, and imported by `welcomes` when one is to be
sent. Nothing else is here, because every start imports it."""

_named: list[str] = []


def register(module: str) -> None:
    """`module` is a name below `chalicelib`; it has the function of a `welcomes.Writer`."""
    _named[:] = [module]


def name() -> str:
    return _named[0]
