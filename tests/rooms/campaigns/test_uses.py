"""The entries a campaign is made of are told to whoever keeps them, in the transaction that changes the campaign."""

import sys
from types import ModuleType

import pytest
from msgspec.structs import replace

from chalicelib.campaigns import changes, service, store, use_keepers, uses
from chalicelib.campaigns.content import blocks, corrections
from chalicelib.campaigns.content.blocks import Item, Text
from chalicelib.campaigns.model import Format, State
from chalicelib.campaigns.service import Draft
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.errors import Conflict, Invalid
from chalicelib.kernel.findings import Finding, Level
from chalicelib.kernel.locks import LockRow
from tests.rooms.campaigns.examples import in_state, soon

pytestmark = pytest.mark.usefixtures("aws")

ONE, TWO, THREE = (f"{number:032x}" for number in (1, 2, 3))


@pytest.fixture
def keeper(monkeypatch):
    """A room that keeps a row for each campaign and entry, and remembers what it was asked."""
    room = ModuleType("chalicelib.using")
    room.asked = []

    def use_writes(campaign, change):
        added, removed = change.added, change.removed
        room.asked.append((set(added), set(removed)))
        puts = [tables.Put(LockRow(f"{campaign.id} {entry}", holder="x", until="x", expires_at=1)) for entry in added]
        return puts + [tables.Delete(LockRow(f"{campaign.id} {entry}")) for entry in removed]

    room.use_writes = use_writes
    room.findings = lambda detail: [Finding(Level.WARNING, "used_before", detail.campaign.subject)]
    monkeypatch.setitem(sys.modules, "chalicelib.using", room)
    monkeypatch.setattr(use_keepers, "_modules", [])
    use_keepers.register("using")
    use_keepers.register("using")
    return room


def used() -> dict[str, set[str]]:
    """The entries that are stored as used, by campaign."""
    found = [row.name.split() for row in tables.scan(LockRow)]
    return {id: {entry for other, entry in found if other == id} for id, _ in found}


def body(*entries: str) -> str:
    return blocks.write([Text("Hello"), *(Item("x", "https://x.example/", entry=entry) for entry in entries)])


def draft(*entries: str, format: Format = Format.MARKDOWN) -> Draft:
    return Draft(subject="Hello", body=body(*entries), format=format)


def test_a_new_campaign_uses_what_it_is_made_of_until_it_is_deleted(keeper):
    id = service.create(draft(ONE, TWO, TWO)).campaign.id
    assert used() == {id: {ONE, TWO}}
    service.delete(id)
    assert used() == {}
    assert keeper.asked == [({ONE, TWO}, set()), (set(), {ONE, TWO})]


def test_an_edit_tells_only_what_changed(keeper):
    id = service.create(draft(ONE, TWO)).campaign.id
    service.update(id, {}, {"body": body(TWO, THREE)})
    assert keeper.asked[1:] == [({THREE}, {ONE})]
    assert used() == {id: {TWO, THREE}}


def test_an_edit_that_moves_items_or_touches_no_body_asks_nobody(keeper):
    id = service.create(draft(ONE, TWO)).campaign.id
    service.update(id, {}, {"body": body(TWO, ONE) + "\nMore words."})
    service.update(id, {"subject": "Another"}, {})
    service.schedule(id, soon())
    service.cancel(id)
    assert keeper.asked == [({ONE, TWO}, set())]


@pytest.mark.parametrize("entry", ["", ONE])
def test_an_edit_that_changes_only_a_title_or_a_link_is_told(keeper, entry):
    def written(**changes):
        return blocks.write([replace(Item("x", "https://x.example/", entry=entry, note="Hi"), **changes)])

    id = service.create(replace(draft(), body=written())).campaign.id
    service.update(id, {}, {"body": written(note="Ho")})
    assert len(keeper.asked) == 1
    service.update(id, {}, {"body": written(title="y")})
    service.update(id, {}, {"body": written(title="y", link="https://y.example/")})
    assert keeper.asked[1:] == [(set(), set())] * 2


def test_in_html_there_are_no_items_and_a_change_of_format_counts(keeper):
    id = service.create(draft(ONE, format=Format.HTML)).campaign.id
    assert keeper.asked == []
    service.update(id, {"format": Format.MARKDOWN}, {})
    assert used() == {id: {ONE}}
    service.update(id, {"format": Format.HTML}, {})
    assert used() == {}


def test_a_copy_uses_the_same(keeper):
    first = service.create(draft(ONE)).campaign.id
    second = service.duplicate(first).campaign.id
    assert used() == {first: {ONE}, second: {ONE}}
    service.delete(first)
    assert used() == {second: {ONE}}


def test_a_campaign_of_another_rooms_transaction_does_as_well(keeper):
    detail, writes = service.create_writes(draft(ONE), send=False)
    assert used() == {}
    tables.transact(*writes)
    assert used() == {detail.campaign.id: {ONE}}


def test_a_correction_changes_no_use(keeper):
    sent = in_state(State.PUBLISHED)
    corrections.correct(sent.campaign.id, corrections.NewCorrection(body=body(ONE), note="Wrong."))
    assert keeper.asked == []


def test_what_is_not_saved_is_not_used(keeper):
    id = service.create(draft(ONE)).campaign.id
    with pytest.raises(Conflict):
        service.update(id, {}, {"body": body(TWO)}, version=7)
    with pytest.raises(Invalid):
        service.update(id, {}, {"body": body(TWO) + "<div>" * 300})
    assert used() == {id: {ONE}}


def test_of_two_edits_at_once_the_second_counts_from_what_the_first_left(keeper, monkeypatch):
    id = service.create(draft(ONE)).campaign.id
    read, raced = store.find_detail, []

    def read_late(campaign_id):
        found = read(campaign_id)
        if not raced:
            raced.append(True)
            service.update(id, {}, {"body": body(ONE, TWO)})
        return found

    monkeypatch.setattr(changes.store, "find_detail", read_late)
    service.update(id, {}, {"body": body(ONE, THREE)})
    assert used() == {id: {ONE, THREE}}
    assert keeper.asked[-1] == ({THREE}, {TWO})


def test_a_lost_transaction_leaves_no_use_behind(keeper):
    detail, writes = service.create_writes(draft(ONE), send=False)
    tables.transact(*writes)
    service.delete(detail.campaign.id)
    late = [*uses.change_writes(None, detail), tables.Check(LockRow("missing"), LockRow.name.exists())]
    with pytest.raises(Stale):
        tables.transact(*late)
    assert used() == {}


def test_so_many_entries_that_no_transaction_holds_them_are_refused(admin, keeper):
    most = [f"{number:032x}" for number in range(uses.MOST_ENTRIES)]
    id = service.create(draft(*most)).campaign.id
    for refused in ([*most, "f" * 32], [f"{number:032x}" for number in range(50, 90)]):
        answer = admin.patch(f"/admin/api/campaigns/{id}", json={"body": body(*refused)})
        assert answer.status == 400
    service.delete(id)
    assert used() == {}


def test_findings_are_asked_for_only_if_there_are_items(keeper):
    with_items, without = service.preview_detail(draft(ONE)), service.preview_detail(draft())
    assert [finding.message for finding in uses.findings(with_items)] == ["Hello"]
    assert uses.findings(without) == []


def test_without_anybody_who_keeps_them_items_are_only_text(monkeypatch):
    monkeypatch.setattr(use_keepers, "_modules", [])
    detail = service.create(draft(ONE))
    assert used() == {}
    assert uses.entries(detail) == {ONE}
    assert uses.findings(detail) == []
