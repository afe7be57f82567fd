"""Who wants to know which entries a campaign is made of: modules that are named here by `app.py`, and imported by
`uses` when there is something to tell. Nothing else is here, because every start imports it."""

_modules: list[str] = []


def register(module: str) -> None:
    """`module` is a name below `chalicelib`; it has the functions of a `uses.Keeper`."""
    if module not in _modules:
        _modules.append(module)


def names() -> list[str]:
    return list(_modules)
