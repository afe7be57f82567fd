"""People who are asked to confirm: one email each, in their turn, and gone without a click."""

from chalicelib.audience import jobs, model
from tests.rooms.audience.imports.conftest import STATEMENT

SINGLE = {"joined": "single", "statement": STATEMENT}


def names(count):
    return "email\n" + "".join(f"a{number}@example.net\n" for number in range(count))


def test_they_are_mailed_with_half_of_the_hours_limit_and_in_order(editor, release, mailed, configure, still, later):
    configure(MAILS_PER_HOUR="4")
    assert editor.run(names(5), SINGLE)["counts"]["asked"] == 5
    seen = []
    for expected in (2, 2, 1, 0):
        release()
        release()
        release()
        fresh = mailed()
        assert len(fresh) == expected
        seen += fresh
        later(hours=1)
    assert sorted(seen) == [f"a{number}" for number in range(5)]


def test_a_visitor_does_not_wait_behind_the_list(editor, release, sign_up, mailed, configure, still):
    configure(MAILS_PER_HOUR="4")
    editor.run(names(20), SINGLE)
    release()
    mailed()
    sign_up("visitor")
    assert mailed() == ["visitor"]


def test_without_a_click_they_are_gone_after_a_day_and_no_event_names_them(
    editor, release, rows, later, ses, deliver
):
    editor.run(names(1), SINGLE)
    later(hours=30)
    jobs.clean_up(lambda: True)
    assert len(rows("subscribers")) == 1, "nothing expires before it is mailed"
    release()
    assert len(ses.mails()) == 1
    later(hours=25)
    jobs.clean_up(lambda: True)
    deliver()
    assert rows("subscribers") == rows("emails") == []
    assert len(ses.mails()) == 1, "no reminder"
    assert [event["type"]["S"] for event in rows("events")] == ["IMPORT_FINISHED"]


def test_a_click_makes_them_a_subscriber_with_source_tags_and_proof(editor, release, reader):
    editor.run("email,name,tags\nada@example.net,Ada,vip\n", SINGLE, source="Old Site", tags=["moved"])
    before = editor.subscribers()["ada@example.net"]
    assert (before["status"], before["sources"], before["tags"]) == ("Pending", [], [])
    release()
    assert reader("ada@example.net").confirm().status == 303
    ada = editor.subscribers()["ada@example.net"]
    assert (ada["status"], ada["nickname"], ada["sources"]) == ("Activated", "Ada", ["old site"])
    assert ada["tags"] == ["moved", "vip"]
    assert ada["captures"][0]["metadata"]["import"]["statement"] == STATEMENT


def test_who_signs_up_meanwhile_is_not_mailed_twice(editor, release, sign_up, mailed, ses):
    editor.run(names(1), SINGLE)
    sign_up("a0")
    assert mailed() == ["a0"]
    release()
    assert mailed() == []


def test_who_is_removed_before_their_turn_is_not_asked(editor, release, mailed, rows):
    found = editor.run(names(2), SINGLE)
    assert editor.act(found["id"], "undo").json["removed"] == 2
    release()
    assert mailed() == []
    assert not [row for row in rows("tokens") if row["subscriber_id"]["S"] == "asked"]


def test_who_has_confirmed_stays_when_the_import_is_undone(editor, release, reader):
    found = editor.run(names(2), SINGLE)
    release()
    reader("a0@example.net").confirm()
    assert editor.act(found["id"], "undo").json["removed"] == 1
    assert set(editor.subscribers()) == {"a0@example.net"}


def test_a_lost_release_is_found_by_the_clean_up(editor, mailed, release):
    from tests.conftest import received

    editor.run(names(1), SINGLE)
    received("audience")
    jobs.clean_up(lambda: True)
    assert {"kind": model.RELEASE} in received("audience")
