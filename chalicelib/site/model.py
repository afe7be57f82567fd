"""What editors may change of the publication, how changes add up, and how long the history is kept. No I/O."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct, to_builtins

from chalicelib.kernel import colour
from chalicelib.kernel.publication import Publication
from chalicelib.site import fields

HISTORY_LIFE = timedelta(days=365)
# The last ones stay, because mails that were sent show them, and so that a change can be undone.
MOST_LOGOS = 10
# As high as a logo is shown at most; its file has twice as many pixels, for screens with two for each.
LOGO_HEIGHT, LOGO_WIDTH = 48, 280

Overrides = dict[str, Any]


class Change(Struct, frozen=True):
    """`before` and `after` are what readers saw, as text or a number."""

    field: str
    before: Any
    after: Any


class Entry(Struct, frozen=True):
    """One line of the history: what made this version."""

    version: int
    at: datetime
    by: str
    changes: tuple[Change, ...]
    overrides: Overrides
    restored: int | None = None


class Logo(Struct, frozen=True):
    """A picture, and how large it is shown."""

    name: str
    width: int
    height: int


class Site(Struct, frozen=True):
    """`environment` lists the fields that nobody has changed; `notes` say what was adjusted."""

    publication: Publication
    environment: tuple[str, ...]
    notes: tuple[str, ...]


def shown_size(width: int, height: int) -> tuple[int, int]:
    """Of a logo: as it is, or smaller."""
    scale = min(1.0, LOGO_HEIGHT / height, LOGO_WIDTH / width)
    return max(1, round(width * scale)), max(1, round(height * scale))


def merged(overrides: Overrides, changes: Mapping[str, Any]) -> Overrides:
    """The overrides with these changes, by path; None takes one away."""
    flat = flattened(overrides) | dict(changes)
    result: Overrides = {}
    for path in fields.PATHS:
        value = flat.get(path)
        if value is None:
            continue
        group, _, name = path.partition(".")
        if name:
            result.setdefault(group, {})[name] = value
        else:
            result[group] = value
    return result


def flattened(overrides: Overrides) -> dict[str, Any]:
    """By path: `{"colours.accent": "#0f766e"}`."""
    flat: dict[str, Any] = {}
    for name, value in overrides.items():
        if isinstance(fields.RULES.get(name), dict):
            flat |= {f"{name}.{inner}": given for inner, given in value.items()}
        else:
            flat[name] = value
    return flat


def value_of(publication: Publication, path: str) -> Any:
    """What readers see of one field."""
    value: Any = publication
    for name in path.split("."):
        value = getattr(value, name)
    return value


def differences(before: Publication, after: Publication) -> tuple[Change, ...]:
    pairs = ((path, value_of(before, path), value_of(after, path)) for path in fields.PATHS)
    return tuple(Change(path, old, new) for path, old, new in pairs if old != new)


def from_environment(overrides: Overrides) -> tuple[str, ...]:
    changed = flattened(overrides)
    return tuple(path for path in fields.PATHS if path not in changed)


def notes(publication: Publication) -> tuple[str, ...]:
    """What was adjusted, and why."""
    accent = publication.colours.accent
    light, dark = colour.on_light(accent), colour.on_dark(accent)
    found = []
    if light != accent:
        found.append(f"{accent} is hard to read as text on a light page: links in emails are {light} there")
    if dark != accent:
        found.append(f"{accent} is hard to read as text on a dark page: links in emails are {dark} there")
    return tuple(found)


def as_body(publication: Publication) -> dict[str, Any]:
    """With exactly the fields of the API, in their order."""
    told = to_builtins(publication)
    body = {
        name: {inner: told[name][inner] for inner in rule} if isinstance(rule, dict) else told[name]
        for name, rule in fields.RULES.items()
    }
    return body | {"logo": publication.logo or None, "version": publication.version}
