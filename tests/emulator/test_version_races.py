"""Two editors, two tabs and a crash at the versions of one campaign, on real conditions and transactions."""

from contextlib import suppress
from itertools import count
from typing import Any

import pytest

from chalicelib.campaigns import content_store, history, removal, service, snapshots, store, versions
from chalicelib.campaigns.history import Saver
from chalicelib.campaigns.model import Format, State
from chalicelib.campaigns.service import Draft
from chalicelib.kernel.aws import tables
from chalicelib.kernel.errors import Conflict, NotFound, Unavailable
from tests.conftest import received
from tests.emulator import dying as program
from tests.rooms.campaigns.examples import soon

pytestmark = pytest.mark.usefixtures("emulator")

ITEM = ":::item\ntitle: Fox\nlink: https://x.example/\nentry: " + "1" * 32 + "\n:::\n"
ADA, BEN = Saver("ada@example.org", autosave=True), Saver("ben@example.org", autosave=True)


def new() -> str:
    return service.create(Draft("Hello", "<p>1</p>"), by=ADA.by).campaign.id


def save(id: str, body: str, saver: Saver = ADA, version: int | None = None) -> Any:
    return service.update(id, {}, {"body": body}, version, saver)


def bodies(id: str) -> list[str]:
    """Of every version that the list has, newest first: each of them can be read."""
    found = versions.list_versions(id)
    return [versions.read(found, one).detail.content.body for one in found.items]


def check_consistent(id: str) -> None:
    """The list has what the rows have, and each row is what the list says."""
    detail = store.find_detail(id)
    kept = content_store.list_snapshots(id)
    assert {one.ordinal: one.summary.size for one in detail.history.past} == {
        ordinal: len(one.content.body.encode()) for ordinal, one in kept.items()
    }
    numbers = [one.saved.number for one in versions.list_versions(id).items]
    assert numbers == sorted(set(numbers), reverse=True)
    assert len(numbers) <= history.MOST
    assert numbers[0] <= detail.campaign.version


def test_of_two_editors_who_save_the_same_version_one_is_refused(together):
    for _ in range(8):
        id = new()
        results = together(lambda id=id: save(id, "ada", ADA, 1), lambda id=id: save(id, "ben", BEN, 1))
        [late] = [result for result in results if isinstance(result, Exception)]
        assert isinstance(late, Conflict)
        won = "ben" if results.index(late) == 0 else "ada"
        assert bodies(id) == [won, "<p>1</p>"]
        check_consistent(id)


def test_editors_who_save_without_looking_keep_each_others_words(together):
    """Without a version nobody is refused, and whatever was overwritten is in the history."""
    id = new()
    calls = [
        lambda saver=saver, at=at: save(id, f"{saver.by} {at}", Saver(saver.by))
        for saver in (ADA, BEN)
        for at in (1, 2)
    ]
    results = together(*calls)
    written = [result.content.body for result in results if not isinstance(result, Exception)]
    assert all(isinstance(result, Unavailable) for result in results if isinstance(result, Exception))
    assert sorted(bodies(id)) == sorted([*written, "<p>1</p>"])
    check_consistent(id)


def test_what_is_sent_is_what_was_saved(together):
    for _ in range(8):
        id = new()
        sent, saved = together(lambda id=id: service.send_now(id, version=1), lambda id=id: save(id, "late", ADA, 1))
        assert isinstance(sent, Exception) != isinstance(saved, Exception)
        after = service.view(id)
        if isinstance(saved, Exception):
            assert isinstance(saved, Conflict)
            assert (after.campaign.state, after.content.body, len(received("deliveries"))) == (
                State.PUBLISHING,
                "<p>1</p>",
                1,
            )
        else:
            assert (after.campaign.state, after.content.body, received("deliveries")) == (State.DRAFT, "late", [])
        check_consistent(id)


def test_a_save_and_a_schedule_are_both_done(together):
    for _ in range(8):
        id = new()
        results = together(lambda id=id: save(id, "new"), lambda id=id: service.schedule(id, soon()))
        assert not [result for result in results if isinstance(result, Exception)]
        after = service.view(id)
        assert (after.campaign.state, after.content.body) == (State.SCHEDULED, "new")
        assert bodies(id) == ["new", "<p>1</p>"]
        check_consistent(id)


def test_of_a_deleted_draft_nothing_is_left(together):
    for _ in range(8):
        id = new()
        save(id, "<p>2</p>", BEN)
        saved, deleted = together(lambda id=id: save(id, "late"), lambda id=id: service.delete(id))
        assert not isinstance(deleted, Exception)
        assert not isinstance(saved, Exception) or isinstance(saved, NotFound)
        assert not list(tables.scan(content_store.ContentRow))


def test_a_save_and_a_restore_of_the_same_version_are_not_both_done(together):
    for _ in range(8):
        id = new()
        save(id, "<p>2</p>", BEN)
        results = together(
            lambda id=id: save(id, "late", ADA, 2), lambda id=id: versions.restore(id, 1, BEN.by, version=2)
        )
        [late] = [result for result in results if isinstance(result, Exception)]
        assert isinstance(late, Conflict)
        assert bodies(id) == ["<p>1</p>" if results.index(late) == 0 else "late", "<p>2</p>", "<p>1</p>"]
        check_consistent(id)


def test_sixty_versions_made_by_twins_are_never_more_than_fifty(together):
    id = new()
    made = 0
    while made < 60:
        results = together(*[lambda at=at: save(id, f"<p>{at}</p>", Saver(ADA.by)) for at in range(made, made + 3)])
        made += sum(not isinstance(result, Exception) for result in results)
        check_consistent(id)
    assert len(bodies(id)) == len(list(tables.scan(content_store.ContentRow))) == history.MOST


def test_a_withdrawal_while_an_editor_types_leaves_nothing_behind(together):
    for _ in range(8):
        id = service.create(Draft("Hello", f"Hi\n\n{ITEM}", format=Format.MARKDOWN)).campaign.id
        for at in range(3):
            save(id, f"Hi {at}\n\n{ITEM}", Saver(ADA.by))
        together(
            lambda id=id: save(id, "Without", Saver(ADA.by)),
            lambda id=id: removal.take_out(id, "1" * 32),
            lambda id=id: removal.take_out(id, "1" * 32),
        )
        removal.take_out(id, "1" * 32)  # a message that failed comes again
        assert not [body for body in bodies(id) if "Fox" in body]
        assert not [one for one in content_store.list_snapshots(id).values() if "Fox" in one.content.body]
        check_consistent(id)


def draft_with_versions() -> str:
    """Three by hand, the older two with an item, and one that was saved by itself."""
    id = service.create(Draft("Hello", f"1\n\n{ITEM}", format=Format.MARKDOWN)).campaign.id
    save(id, f"2\n\n{ITEM}", Saver(ADA.by))
    save(id, "3", Saver(ADA.by))
    save(id, "4", ADA)
    return id


@pytest.mark.parametrize(
    ("action", "given"),
    [
        ("save_draft", ("5", True)),
        ("save_draft", ("5", False)),
        ("restore_version", (1,)),
        ("take_out", ("1" * 32,)),
        ("delete_draft", ()),
    ],
)
def test_killed_at_any_step_it_is_done_or_not_and_can_be_done_again(dying, action, given):
    for steps in count():
        id = draft_with_versions()
        before = bodies(id)
        ended = dying(steps, action, id, *given)
        if store.find_detail(id):
            check_consistent(id)
        else:
            assert all(row.expires_at for row in tables.scan(content_store.ContentRow) if row.id.startswith(id))
        with suppress(NotFound):  # it was deleted before the kill
            program.ACTIONS[action](id, *given)
        if action == "delete_draft":
            assert store.find_detail(id) is None
        else:
            check_consistent(id)
            after = {"restore_version": f"1\n\n{ITEM}", "take_out": "4"}.get(action, "5")
            assert bodies(id)[0] == after
            assert len(bodies(id)) <= len(before) + 1
        if ended != "killed":
            break
    assert (ended, steps >= 2) == ("done", True)


def test_a_crash_after_the_draft_was_deleted_leaves_what_expires(monkeypatch):
    id = new()
    save(id, "<p>2</p>")

    def crash(*given: Any) -> None:
        raise Unavailable

    monkeypatch.setattr(snapshots, "delete_all", crash)
    with pytest.raises(Unavailable):
        service.delete(id)
    left = list(tables.scan(content_store.ContentRow))
    assert [(row.id, bool(row.expires_at)) for row in left] == [(f"{id}/v/0", True)]
    with pytest.raises(NotFound):
        versions.view(id, 1)


def test_a_crash_between_reading_and_writing_writes_nothing(monkeypatch):
    id = new()
    before = store.find_detail(id)

    def crash(*writes: Any) -> None:
        raise Unavailable

    with monkeypatch.context() as crashing:
        crashing.setattr(tables, "transact", crash)
        with pytest.raises(Unavailable):
            save(id, "<p>2</p>")
    assert store.find_detail(id) == before
    check_consistent(id)
    assert bodies(id) == ["<p>1</p>"]
