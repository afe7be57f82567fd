"""What people do with entries on pages, where several look at the same list: an act on an entry that has moved since
the page was opened is told instead of done, and everything can be taken back.

Dismissing takes note, suggestion and follow out of the row. Whoever takes it back brings them along, signed, so that
nothing of it has to be kept meanwhile.
"""

import json
from collections.abc import Iterable
from hmac import compare_digest

from msgspec import Struct
from msgspec.structs import replace

from chalicelib.inbox import entry_store, item_store, model, search
from chalicelib.inbox.model import Act, Entry, Seen, State
from chalicelib.kernel import clock, pseudonyms
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale, retry_stale
from chalicelib.kernel.errors import Conflict, GnaError, Invalid, NotFound, Unavailable

LONGEST_SECTION = 200
_MOVED = {
    State.INBOX: "Put back into the inbox meanwhile, by somebody else or in another tab",
    State.BOOKMARKED: "Saved meanwhile, by somebody else or in another tab",
    State.ARCHIVED: "Archived meanwhile, by somebody else or in another tab",
}
_GONE = "Dismissed meanwhile, by somebody else or in another tab"
_NO_LONGER = "It is no longer there"
_SIGNATURE = 32


class Done(Struct, frozen=True):
    """What became of one entry; `undo` brings one back that was dismissed, `moved` says that somebody else acted."""

    id: str
    error: str = ""
    undo: str = ""
    moved: bool = False


class _Kept(Struct, frozen=True):
    """What dismissing takes out of an entry."""

    id: str
    state: State
    follow_id: str | None
    note: str
    section: str
    suggestion: str = ""


def act(owner: str, ids: Iterable[str], act: Act, expected: State | None = None) -> list[Done]:
    """Each by itself, each id once. `expected` is the list they were in when the page was shown."""
    return [_attempt(owner, id, act, expected) for id in dict.fromkeys(ids)]


def undo(owner: str, tokens: Iterable[str]) -> list[Done]:
    """Bring back what was dismissed, as it was."""
    return [_bring_back(owner, token) for token in tokens]


def annotate(owner: str, id: str, note: str, section: str) -> None:
    """Add a note, and say which section it is meant for. What is empty changes nothing."""

    def add() -> None:
        entry = entry_store.find(owner, id)
        if not entry:
            raise NotFound(model.NOT_FOUND)
        if note and not entry_store.add_note(entry, note):
            raise Stale

    retry_stale(add)
    if section:
        entry_store.set_section(owner, id, section)


def set_section(owner: str, id: str, section: str) -> None:
    if not entry_store.set_section(owner, id, section):
        raise NotFound(model.NOT_FOUND)


def check_section(text: str | None) -> str:
    section = " ".join((text or "").split())
    if len(section) > LONGEST_SECTION or not section.isprintable():
        raise Invalid(f"A section must be at most {LONGEST_SECTION} characters")
    return section


def _attempt(owner: str, id: str, act: Act, expected: State | None) -> Done:
    try:
        return retry_stale(lambda: _apply(owner, model.parse_id(id), act, expected))
    except Conflict as conflict:
        return Done(id, conflict.reason, moved=True)
    except (NotFound, Unavailable) as failure:
        return Done(id, failure.reason)


def _apply(owner: str, id: str, act: Act, expected: State | None) -> Done:
    before = entry_store.find_any(owner, id)
    if not before:
        raise NotFound(model.NOT_FOUND)
    if act is Act.DISMISS:
        return _dismiss(before, expected)
    if isinstance(before, Seen):
        return _bring_in(owner, before, act, expected)
    if before.state is model.STATES[act]:
        return Done(id)
    _check_expected(before, expected)
    if not entry_store.move(owner, id, model.STATES[act], clock.now(), before.state):
        raise Stale
    return Done(id)


def _dismiss(before: Entry | Seen, expected: State | None) -> Done:
    if isinstance(before, Seen):
        return Done(before.id)
    _check_expected(before, expected)
    if not entry_store.dismiss_as(before):
        raise Stale
    return Done(before.id, undo=_token(before))


def _bring_in(owner: str, seen: Seen, act: Act, expected: State | None) -> Done:
    """Somebody wants what was dismissed after all; on a list of entries it was not dismissed yet."""
    if expected:
        raise Conflict(_GONE)
    entry = Entry(owner, seen.id, model.STATES[act], seen.received_at, seen.provider, seen.content_type)
    _return(entry)
    return Done(seen.id)


def _check_expected(entry: Entry, expected: State | None) -> None:
    if expected and entry.state is not expected:
        raise Conflict(_MOVED[entry.state])


def _bring_back(owner: str, token: str) -> Done:
    try:
        kept = _read_token(owner, token)
        return retry_stale(lambda: _restore(owner, kept))
    except GnaError as failure:
        return Done("", failure.reason)


def _restore(owner: str, kept: _Kept) -> Done:
    seen = entry_store.find_any(owner, kept.id)
    if not seen:
        raise NotFound(model.NOT_FOUND)
    if isinstance(seen, Seen):
        entry = Entry(owner, kept.id, kept.state, seen.received_at, seen.provider, seen.content_type)
        noted = {"note": kept.note, "section": kept.section, "suggestion": kept.suggestion}
        _return(replace(entry, follow_id=kept.follow_id, **noted))
    return Done(kept.id)


def _return(entry: Entry) -> None:
    """Not if the item is gone since: withdrawn by who shared it, say."""
    item = item_store.find(entry.id)
    if not item:
        raise NotFound(_NO_LONGER)
    folded = search.fold_item(item.title, item.creator)
    tables.transact(entry_store.return_write(entry, folded), item_store.touch_write(entry.id))


def _token(entry: Entry) -> str:
    text = json.dumps([getattr(entry, name) for name in _Kept.__struct_fields__])
    return f"{_sign(entry.owner, text)}{text}"


def _read_token(owner: str, token: str) -> _Kept:
    signature, text = token[:_SIGNATURE], token[_SIGNATURE:]
    if not compare_digest(_sign(owner, text).encode(), signature.encode(errors="replace")):
        raise Invalid("This cannot be taken back")
    id, state, *more = json.loads(text)
    return _Kept(id, State(state), *more)


def _sign(owner: str, text: str) -> str:
    return pseudonyms.derive(f"undo {owner}", text)[:_SIGNATURE]
