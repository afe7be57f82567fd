"""What members write who hand an entry to the desk, and how editors get rid of it. It stands beside the editor's note
and never becomes one by itself."""

from hashlib import sha256

from chalicelib.inbox import entry_store, model, service
from chalicelib.inbox.model import Entry, EntryDetail
from chalicelib.kernel.aws.failures import Stale, retry_stale
from chalicelib.kernel.errors import Conflict, NotFound


def set_words(owner: str, id: str, text: str) -> EntryDetail:
    """The note, by somebody who was told it with what members suggested below it. That goes, unless the text still
    ends with it: then only what is above it is the note."""

    def change() -> Entry:
        before = _find(owner, id)
        changed = entry_store.set_words(before, *model.split_words(text, before.suggestion))
        if not changed:  # dismissed, or suggested once more, at this moment
            raise Stale
        return changed

    return service.with_items([retry_stale(change)])[0]


def forget(owner: str, id: str, mark: str) -> None:
    """Only if it still is what the page has shown."""
    entry = _find(owner, id)
    if mark_of(entry.suggestion) != mark or not entry_store.set_suggestion_as(entry, ""):
        raise Conflict("Somebody has suggested more meanwhile: look at it first")


def mark_of(text: str) -> str:
    """By which a later change of a text is noticed."""
    return sha256(text.encode()).hexdigest()[:12]


def _find(owner: str, id: str) -> Entry:
    entry = entry_store.find(owner, id)
    if not entry:
        raise NotFound(model.NOT_FOUND)
    return entry
