"""What is written about the person of one row, for the transaction of its group."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from chalicelib.audience import model, personal_data
from chalicelib.audience.imports.judging import Verdict
from chalicelib.audience.imports.known import Person
from chalicelib.audience.imports.model import Consent, Result
from chalicelib.audience.imports.reading.model import Row, Status
from chalicelib.audience.model import Capture, Request, Subscriber
from chalicelib.audience.stores import emails, imported, leavers, subscribers, suppressions
from chalicelib.kernel import clock, ids, settings
from chalicelib.kernel.aws.tables import Write
from chalicelib.kernel.errors import Invalid

BY_IMPORT, BY_HAND = "import", "by hand"
_RECORD = "import"


class Terms(Struct, frozen=True):
    """What an import says of everybody in it. Somebody added by hand belongs to no import."""

    import_id: str | None
    consent: Consent
    source: str
    tags: tuple[str, ...]


class Changes(Struct, frozen=True):
    """The writes for one row; whom they add or remove, and the mark they leave of somebody who left."""

    writes: Sequence[Write] = ()
    subscriber: Subscriber | None = None
    mark: str | None = None
    removed: Subscriber | None = None

    @property
    def moves(self) -> int:
        """How many rows count these people by the second they signed up in, at most."""
        return sum(person.activated for person in (self.subscriber, self.removed) if person)


NOTHING = Changes()


def changes_for(verdict: Verdict, terms: Terms, now: datetime) -> Changes:
    """Somebody known here is not changed, except that a reader gets further tags. But whom only files speak of, the
    most restrictive file decides about, in whichever order they come."""
    person = verdict.person
    if person is None:
        return NOTHING
    match verdict.result:
        case Result.IMPORTED | Result.ASKED:
            return _add(verdict, terms, now)
        case Result.ALREADY:
            return _tag(verdict, terms)
        case Result.SUPPRESSED if not person.suppressed:
            return _suppress(person, now)
        case Result.LEFT_ELSEWHERE if verdict.status in (Status.LEFT, Status.BOUNCED):
            return _remember(person, terms.import_id or BY_IMPORT, now)
    return NOTHING


def removal_writes(person: Subscriber) -> list[Write]:
    """All that is stored about somebody an import added. No event: none said that they came."""
    return [*subscribers.erase_writes(person), *personal_data.erase_writes(person.id)]


def _suppress(person: Person, now: datetime) -> Changes:
    suppression = suppressions.suppress_write(person.pseudonym, BY_IMPORT, now)
    if removed := _from_files_alone(person):
        return Changes([suppression, *removal_writes(removed)], removed=removed)
    return NOTHING if person.is_taken else Changes([suppression, emails.check_free_write(person.key, now)])


def _remember(person: Person, import_id: str, now: datetime) -> Changes:
    removed = _from_files_alone(person)
    writes = removal_writes(removed) if removed else []
    if not leavers.needs(person.leaver_of, import_id):
        return Changes(writes, removed=removed)
    writes.append(leavers.remember_write(person.mark, person.leaver_of, import_id, now))
    return Changes(writes, mark=person.mark, removed=removed)


def _from_files_alone(person: Person) -> Subscriber | None:
    known = person.subscriber
    return known if known and known.is_from_files_alone else None


def _add(verdict: Verdict, terms: Terms, now: datetime) -> Changes:
    assert verdict.person
    allowed = [
        suppressions.check_absent_write(verdict.person.pseudonym),
        leavers.check_absent_write(verdict.person.mark),
    ]
    captures = _captures(verdict.row, terms)
    subscriber = _subscriber(verdict.row, terms, captures, now)
    if verdict.result is Result.IMPORTED:
        return Changes([*allowed, *imported.add_writes(subscriber, captures, now)], subscriber)
    subscriber, request = _asked(subscriber, captures[0], now)
    return Changes([*allowed, *imported.ask_writes(subscriber, request, now)], subscriber)


def _subscriber(row: Row, terms: Terms, captures: Sequence[Capture], now: datetime) -> Subscriber:
    assert row.address
    id = ids.new()
    joined_at = min(row.joined_at, now) if row.joined_at else now
    tags = sorted(row.tags - set(terms.tags))[: model.MOST_TAGS_IN_ALL - len(terms.tags)]
    return Subscriber(
        id=id,
        email=row.address.typed,
        nickname=_nickname(row.name),
        status=model.ACTIVATED,
        unsubscribe_secret=ids.secret(),
        created_at=joined_at,
        activated_at=now,
        confirmation_expires_at=None,
        sources=frozenset(capture.source for capture in captures),
        tags=frozenset((*terms.tags, *tags)),
        requested_sources=frozenset(),
        paused_at=now if row.paused else None,
        paused_because=row.paused,
        import_id=terms.import_id,
        imported_as=None if terms.import_id else BY_HAND,
        unmailed=f"{clock.text(joined_at)}#{id}" if terms.import_id else None,
    )


def _asked(subscriber: Subscriber, capture: Capture, now: datetime) -> tuple[Subscriber, Request]:
    """The same person before they confirm: nothing of the file is theirs until then. The time they have for it begins
    with the mail, and those of an import wait for it."""
    until = model.NEVER if subscriber.import_id else now + model.CONFIRMATION_LIFE
    request = Request(ids.new(), capture, subscriber.nickname, now, until)
    pending = replace(
        subscriber,
        status=model.PENDING,
        activated_at=None,
        confirmation_expires_at=until,
        sources=frozenset(),
        tags=frozenset(),
        requested_sources=frozenset({capture.source}),
        paused_at=None,
        paused_because=None,
        unmailed=None,
    )
    return pending, request


def _tag(verdict: Verdict, terms: Terms) -> Changes:
    """Not beyond the limits, and only somebody who reads already: what waits to be confirmed stays as it is."""
    reader = verdict.person.subscriber if verdict.person else None
    if not reader or not reader.activated:
        return NOTHING
    new = frozenset((*terms.tags, *verdict.row.tags)) - reader.tags
    if not new or len(reader.tags | new) > model.MOST_TAGS_IN_ALL:
        return NOTHING
    return Changes([imported.tag_write(reader, new)])


def _captures(row: Row, terms: Terms) -> list[Capture]:
    """One for the source the owner chose or, from our own export, one for each source the person had."""
    tags = [*terms.tags, *sorted(row.tags - set(terms.tags))][: model.MOST_TAGS]
    ip_hash = _ip_hash(row)
    if not row.sources:
        return [_capture(terms.source, tags, row.metadata, row, terms, ip_hash)]
    sources = row.sources[: model.MOST_SOURCES]
    return [_capture(source, tags, row.metadata_by_source.get(source), row, terms, ip_hash) for source in sources]


def _capture(
    source: str, tags: list[str], metadata: dict[str, Any] | None, row: Row, terms: Terms, ip_hash: str | None
) -> Capture:
    """With the record of the import, also where what came with the row leaves no room for it."""
    record = _record(row, terms)
    earlier = (metadata or {}).get(_RECORD)
    whole = {**(metadata or {}), _RECORD: record | ({"earlier": earlier} if earlier is not None else {})}
    try:
        return model.parse_capture(source, tags, whole, ip_hash)
    except Invalid:
        return model.parse_capture(source, tags, {_RECORD: record}, ip_hash)


def _record(row: Row, terms: Terms) -> dict[str, Any]:
    consent = terms.consent
    said = {
        "id": terms.import_id,
        "joined": str(consent.joined),
        "last_mailed": _text(consent.last_mailed),
        "statement": consent.statement,
        "joined_at": clock.text(row.joined_at) if row.joined_at else None,
    }
    return {name: value for name, value in (said | dict(row.proof)).items() if value}


def _text(day: date | None) -> str | None:
    return day.isoformat() if day else None


def _nickname(name: str | None) -> str | None:
    try:
        return model.check_nickname(name.strip()) if name and name.strip() else None
    except Invalid:
        return None


def _ip_hash(row: Row) -> str | None:
    ip = row.ips.get("confirm_ip") or row.ips.get("optin_ip")
    return model.ip_pseudonym(ip) if ip and settings.current().keep_ip_hash else None
