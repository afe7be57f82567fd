"""Who else speaks of tags: a module that is named here by `app.py`, and imported by `service` when tags are changed.
Nothing else is here, because every start imports it."""

_named: list[str] = []


def register(module: str) -> None:
    """`module` is a name below `chalicelib`; it has the functions of a `service.AimKeeper`."""
    _named[:] = [module]


def name() -> str:
    return _named[0]
