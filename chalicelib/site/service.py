"""What editors do with the publication: see it, change it, see who changed what, bring back an earlier version."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from chalicelib.kernel import clock, publication, settings
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.errors import Conflict, Invalid, NotFound
from chalicelib.kernel.publication import Publication
from chalicelib.media import model as media_model
from chalicelib.media import service as media
from chalicelib.site import effective, model, pictures, store
from chalicelib.site.current_store import Stored
from chalicelib.site.model import Entry, Overrides, Site
from chalicelib.site.store import Current

HISTORY = 50
_ATTEMPTS = 4
_STALE = "Somebody else has changed the settings since version {}: load them again"
_NO_VERSION = "There is no such version, or it was replaced more than a year ago"
_NO_LOGO = "Logo must be the URL of a picture that was uploaded here"


def view() -> Site:
    """As it is now, whatever this process remembers."""
    return _site(store.find().stored)


def change(changes: Mapping[str, Any], by: str, version: int | None = None) -> Site:
    """Change these fields, by path; None goes back to the environment. With a `version`, only if it is the current
    one; without, the fields are changed whatever else has changed meanwhile."""

    def decide(before: Current) -> tuple[Overrides, int | None]:
        return model.merged(before.stored.overrides, _with_logo(changes)), None

    return _save(decide, by, version)


def restore(number: int, by: str, version: int | None = None) -> Site:
    """Bring back everything as it was in an earlier version; 0 is the environment as it is. That makes a new
    version, so that it can be undone as well."""
    overrides: Overrides = {}
    if number:
        entry = store.find_entry(number)
        if entry is None:
            raise NotFound(_NO_VERSION)
        overrides = entry.overrides

    def decide(before: Current) -> tuple[Overrides, int | None]:
        return _with_logo_left(overrides, before), number

    return _save(decide, by, version)


def at_version(number: int) -> Publication:
    """As it was then; 0 is the environment as it is."""
    entry = store.find_entry(number) if number else None
    if number and entry is None:
        raise NotFound(_NO_VERSION)
    return _apply(Stored(number, entry.overrides if entry else {}))


def as_of(moment: datetime) -> Publication:
    """As it was at that moment of the last year. One read if it has not changed since."""
    current = store.find()
    if current.at is None or current.at <= moment:
        return _apply(current.stored)
    entry = store.find_entry_at(moment)
    return _apply(Stored(entry.version, entry.overrides) if entry else Stored())


def preview(changes: Mapping[str, Any]) -> Publication:
    """As readers would see it with these changes."""
    before = store.find().stored
    return _apply(Stored(before.version, model.merged(before.overrides, _with_logo(changes))))


def list_history(most: int = HISTORY) -> list[Entry]:
    return store.list_entries(most, clock.now())


def add_logo(content: bytes) -> str:
    """Make a logo of an uploaded file: its URL. It is removed after a day unless it is saved as the logo."""
    if len(content) > media_model.LARGEST_FORM:
        raise Invalid("The logo must be a file of at most 4 MB")
    copy = media.publish(content, width=2 * model.LOGO_WIDTH, height=2 * model.LOGO_HEIGHT)
    return media.copy_url(copy.name)


def _save(decide: Any, by: str, version: int | None) -> Site:
    for _ in range(_ATTEMPTS):
        before = store.find()
        if version is not None and version != before.stored.version:
            raise Conflict(_STALE.format(version))
        overrides, restored = decide(before)
        if overrides == before.stored.overrides:
            return _site(before.stored)
        try:
            return _write(before, overrides, by, restored)
        except Stale:
            continue
    raise Conflict("The settings are being changed by somebody else: try again")


def _write(before: Current, overrides: Overrides, by: str, restored: int | None) -> Site:
    after = Stored(before.stored.version + 1, overrides)
    changes = model.differences(_apply(before.stored), _apply(after))
    entry = Entry(after.version, clock.now(), by, changes, overrides, restored)
    held = pictures.hold(before, overrides)
    expiring = store.expire_writes(before.stored.version, entry.at)
    saving = store.save_writes(before, held.logos, held.welcome, entry)
    tables.transact(*saving, *expiring, *held.writes)
    publication.forget()
    return _site(after)


def _with_logo(changes: Mapping[str, Any]) -> dict[str, Any]:
    """With the picture that was named, and how large it is shown."""
    if not changes.get("logo"):
        return {name: value if name != "logo" else None for name, value in changes.items()}
    name = str(changes["logo"]).rpartition("/")[2]
    if changes["logo"] not in (name, f"/media/{name}", media.copy_url(name)) or not media_model.is_name(name):
        raise Invalid(_NO_LOGO)
    copy = media.find_copy(name)
    if copy is None:
        raise Invalid(_NO_LOGO)
    width, height = model.shown_size(copy.width, copy.height)
    return {**changes, "logo": {"name": name, "width": width, "height": height}}


def _with_logo_left(overrides: Overrides, before: Current) -> Overrides:
    """A logo from so long ago that its picture is gone cannot come back: the present one stays."""
    logo = overrides.get("logo")
    if logo is None or logo["name"] in before.logos or media.find_copy(logo["name"]):
        return overrides
    return model.merged(overrides, {"logo": before.stored.overrides.get("logo")})


def _site(stored: Stored) -> Site:
    shown = _apply(stored)
    return Site(shown, model.from_environment(stored.overrides), model.notes(shown))


def _apply(stored: Stored) -> Publication:
    return effective.apply(publication.from_settings(settings.current()), stored)
