"""The page of one subscriber, and removing those selected in the list."""

import re

import pytest

from chalicelib.audience import editing, jobs, mails
from chalicelib.audience.editing import Edits
from chalicelib.kernel import ids
from tests.conftest import received
from tests.rooms.admin.conftest import text

LIST = "/admin/subscribers"


def _seen(page: str) -> str:
    found = re.search(r'name="seen" value="(\w+)"', page)
    assert found
    return found.group(1)


def test_the_page_shows_what_came_with_each_sign_up(dashboard, person):
    someone = person("ada@example.net", "Ada", source="footer", tags=("beans",))
    seen = dashboard.see(f"{LIST}/{someone}")
    assert "Sign-ups footer Confirmed" in seen
    assert "Resend confirmation" not in seen


def test_metadata_is_shown_and_escaped(dashboard, http):
    http.post("/api/subscribe", json={"email": "ada@example.net", "source": "blog", "metadata": {"ref": "<b>x</b>"}})
    for message in received("audience"):
        jobs.handle(message)
    (entry,) = dashboard.get("/admin/api/subscribers").json["items"]
    page = dashboard.get(f"{LIST}/{entry['id']}").text
    assert "&#34;ref&#34;: &#34;&lt;b&gt;x&lt;/b&gt;&#34;" in page
    assert "blog" in page
    assert "is deleted within the hour after that" in page


def test_name_and_tags_are_saved(dashboard, person):
    someone = person("ada@example.net", "Ada", tags=("beans", "frost"))
    page = dashboard.get(f"{LIST}/{someone}").text
    assert "beans\nfrost</textarea>" in page
    fields = {"nickname": " Countess ", "tags": "beans\r\nHeads, of State\r\n\r\n", "seen": _seen(page)}
    assert "Saved." in dashboard.follow(f"{LIST}/{someone}", **fields)
    entry = editing.view(someone).entry
    assert (entry.nickname, entry.tags) == ("Countess", ("beans", "heads, of state"))


def test_a_mistake_keeps_what_was_typed(dashboard, person):
    someone = person("ada@example.net", "Ada", tags=("beans",))
    seen = _seen(dashboard.get(f"{LIST}/{someone}").text)
    answer = dashboard.post(f"{LIST}/{someone}", nickname="Ada", tags="x" * 65, seen=seen)
    assert answer.status == 400
    assert "Each tag must be 1–64 characters" in text(answer)
    assert "x" * 65 in answer.text


def test_a_change_made_meanwhile_is_not_overwritten_silently(dashboard, person):
    someone = person("ada@example.net", "Ada", tags=("beans",))
    seen = _seen(dashboard.get(f"{LIST}/{someone}").text)
    editing.change(someone, Edits(nickname="Theirs"))
    answer = dashboard.post(f"{LIST}/{someone}", nickname="Mine", tags="beans", seen=seen)
    assert answer.status == 409
    assert "has changed since you opened the page" in text(answer)
    assert 'value="Mine"' in answer.text
    assert editing.view(someone).entry.nickname == "Theirs"
    dashboard.follow(f"{LIST}/{someone}", nickname="Mine", tags="beans", seen=_seen(answer.text))
    assert editing.view(someone).entry.nickname == "Mine"


def test_more_tags_than_the_page_holds_are_kept(dashboard, person):
    someone = person("ada@example.net", "Ada")
    many = frozenset(f"{number:03}{'&' * 61}" for number in range(200))
    editing.change(someone, Edits(tags=many))
    page = dashboard.get(f"{LIST}/{someone}").text
    assert "too many tags to edit here" in page
    dashboard.follow(f"{LIST}/{someone}", nickname="Countess", seen=_seen(page))
    assert frozenset(editing.view(someone).entry.tags) == many


def test_a_confirmation_is_sent_again_and_the_limit_is_explained(dashboard, person, monkeypatch):
    someone = person("ada@example.net", pending=True)
    assert "A new confirmation email is being sent" in dashboard.follow(f"{LIST}/{someone}/resend")
    monkeypatch.setattr(mails, "_MAILS_TO_ONE_ADDRESS", 0)
    answer = dashboard.post(f"{LIST}/{someone}/resend")
    assert answer.status == 429
    assert "No confirmation email was sent: At most 0 confirmation emails an hour" in text(answer)


def test_the_page_says_when_the_tags_of_a_sign_up_are_added(dashboard, person):
    for pending in (True, False):
        seen = dashboard.see(f"{LIST}/{person(f'{pending}@example.net', pending=pending)}")
        assert ("The tags of a sign-up are added once it is confirmed" in seen) is pending


def test_somebody_who_has_confirmed_meanwhile_gets_no_second_confirmation(dashboard, person):
    answer = dashboard.post(f"{LIST}/{person('ada@example.net')}/resend")
    assert answer.status == 409
    assert "No confirmation email was sent: Already confirmed." in text(answer)


def test_the_selected_are_named_and_counted_before_they_are_removed(dashboard, person):
    people = [person(f"r{number}@example.net") for number in range(3)]
    assert dashboard.get(LIST).text.count('type="checkbox" name="id"') == 3
    page = dashboard.post(f"{LIST}/selection", id=[*people[:2], ids.new()])
    assert page.status == 200
    assert "Remove 2 people?" in text(page)
    assert "r0@example.net r1@example.net" in text(page)
    assert "r2@example.net" not in text(page)
    said = dashboard.follow(f"{LIST}/selection/remove", id=people[:2])
    assert "about them has been deleted" in said or "Removal has started" in said


def test_the_selected_are_gone_and_the_others_are_not(dashboard, person):
    people = [person(f"r{number}@example.net") for number in range(3)]
    dashboard.post(f"{LIST}/selection/remove", id=people[:2])
    for _ in range(2):  # what had to wait for its events
        editing.remove_many(people[:2])
    seen = dashboard.see(LIST)
    assert "r2@example.net" in seen
    assert "r0@example.net" not in seen


@pytest.mark.parametrize("path", ["/selection", "/selection/remove"])
def test_an_empty_selection_says_how_to_select(dashboard, path):
    answer = dashboard.post(f"{LIST}{path}", other="x")
    assert "Nobody is selected" in text(answer)


def test_a_selection_that_no_list_offers_is_refused(dashboard):
    assert dashboard.post(f"{LIST}/selection/remove", id=["nobody"]).status == 400
    assert dashboard.post(f"{LIST}/selection", id=[ids.new() for _ in range(101)]).status == 400
