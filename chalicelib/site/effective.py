"""The publication with what editors have changed: theirs wins over the environment, field by field."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from chalicelib.kernel import settings
from chalicelib.kernel.publication import Publication
from chalicelib.site import current_store
from chalicelib.site.current_store import Stored


def overlay(defaults: Publication) -> Publication:
    """What `kernel/publication` asks for."""
    return apply(defaults, current_store.find())


def apply(defaults: Publication, stored: Stored) -> Publication:
    changed = dict(stored.overrides)
    if logo := changed.pop("logo", None):
        changed["logo"] = f"{settings.current().site_url}/media/{logo['name']}"
        changed |= {"logo_width": logo["width"], "logo_height": logo["height"]}
    applied: Publication = _applied(defaults, changed)
    return replace(applied, version=stored.version, changed_at=stored.at)


def _applied(defaults: Any, changed: Mapping[str, Any]) -> Any:
    """Fields this version does not know are left out: an older one may run beside a newer one."""
    known = {name: value for name, value in changed.items() if name in defaults.__struct_fields__}
    nested = {
        name: _applied(getattr(defaults, name), value)
        for name, value in known.items()
        if isinstance(getattr(defaults, name), Struct)
    }
    return replace(defaults, **(known | nested))
