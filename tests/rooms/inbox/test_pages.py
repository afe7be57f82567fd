"""The inbox as a page, as a browser without scripts uses it: the desk's, and a member's own."""

import re
from html import unescape

import pytest

from chalicelib.inbox.model import State
from tests.rooms.inbox.things import article, video

HERE = "https://news.example.org"
LARGEST = 60 * 1024


def show(box, query=""):
    return box.ask("GET", f"{path(box)}{query}")


def press(box, **fields):
    return box.ask("POST", path(box), form=fields, Origin=HERE)


def lead(box, **fields):
    """Send a form, and read the page it leads to."""
    answer = press(box, **fields)
    assert answer.status == 303, answer.text
    page = box.ask("GET", answer.headers["Location"])
    assert page.status == 200
    return page


def path(box):
    return "/admin/inbox" if box.owner == "desk" else "/inbox"


def titles(page):
    found = re.findall(r'<h2><(?:a|span) id="e\d+"[^>]*>(.*?)<', page.text)
    return [unescape(title) for title in found]


def words(page):
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page.text)).split())


def test_what_has_arrived_is_listed_newest_first(box):
    box.receive(video("first"), article("post", excerpt="A & B", creator="A blog"), video("last"))
    page = show(box)
    assert titles(page) == ["The last video", "The post", "The first video"]
    said = words(page)
    assert "The Channel · YouTube video · 12:34" in said
    assert "A blog · Feed article" in said
    assert "A & B" in said
    assert "<img" not in page.text


def test_an_item_is_opened_in_a_new_tab_that_is_not_told_where_from(box):
    box.receive(video("first"))
    link = re.search(r'<a id="e1" href="https://www.youtube.com/watch\?v=first" ([^>]+)>', show(box).text)
    assert link[1] == 'rel="noreferrer" target="_blank"'


def test_each_list_has_its_own_empty_page(box):
    assert "Nothing waits for you" in words(show(box))
    assert "Nothing bookmarked" in words(show(box, "?state=bookmarked"))
    assert "Nothing archived" in words(show(box, "?state=ARCHIVED"))
    assert "Nothing waits for you" in words(show(box, "?state=lost"))


@pytest.mark.parametrize(
    ("state", "act", "said", "after"),
    [
        (State.INBOX, "bookmark", "Saved: 1 item, among your bookmarks now.", "bookmarked"),
        (State.INBOX, "archive", "Archived: 1 item.", "archived"),
        (State.BOOKMARKED, "archive", "Archived: 1 item.", "archived"),
        (State.BOOKMARKED, "restore", "Back in the inbox: 1 item.", "inbox"),
        (State.ARCHIVED, "bookmark", "Saved: 1 item", "bookmarked"),
    ],
)
def test_an_entry_is_moved_by_its_button(box, state, act, said, after):
    (id,) = box.receive(video(), state=state)
    assert f'name="{act}" value="{id}"' in show(box, f"?state={state.lower()}").text
    page = lead(box, **{act: id, "state": state.value})
    assert said in words(page)
    assert titles(page) == [], "back on the list it has left"
    assert titles(show(box, f"?state={after}")) == ["The first video"]


def test_what_is_dismissed_is_gone_and_a_second_click_is_harmless(box):
    (id,) = box.receive(video())
    assert "Dismissed: 1 item" in words(lead(box, dismiss=id))
    assert "Dismissed" in words(lead(box, dismiss=id))
    assert "it was not in the list any more" in words(lead(box, bookmark="nothing"))
    assert press(box).status == 400


def test_what_is_no_longer_available_is_not_linked(box):
    box.receive(video("gone", available=False), state=State.BOOKMARKED)
    page = show(box, "?state=bookmarked")
    assert "No longer there" in words(page)
    assert "watch?v=gone" not in page.text


def test_further_entries_are_on_further_pages(box):
    box.receive(*(video(f"{number:02}") for number in range(45)))
    page, found = show(box), []
    while True:
        found.append(titles(page))
        further = re.search(r'rel="next" href="[^"?]+(\?[^"]+)"', page.text)
        if not further:
            break
        page = show(box, unescape(further[1]))
    assert [len(part) for part in found] == [30, 15]
    assert len({title for part in found for title in part}) == 45
    assert show(box, "?cursor=x").status == 400


def test_a_button_on_a_further_page_leads_back_to_it(box):
    box.receive(*(video(f"{number:02}") for number in range(35)))
    further = unescape(re.search(r'rel="next" href="[^"?]+(\?[^"]+)"', show(box).text)[1])
    page = show(box, further)
    cursor = unescape(re.search(r'name="cursor" value="([^"]+)"', page.text)[1])
    id = re.search(r'name="archive" value="(\w{32})"', page.text)[1]
    assert len(titles(lead(box, archive=id, cursor=cursor))) == 4


@pytest.mark.parametrize("character", ["&", "\U00010330"])
def test_the_page_is_never_too_large_and_nothing_is_left_out(box, character):
    long = {"title": character * 300, "excerpt": character * 500, "creator": character * 200}
    items = [
        video(f"{number:02}", canonical_url=f"https://www.youtube.com/?{'&' * 1_900}{number}", **long)
        for number in range(30)
    ]
    box.receive(*items)
    query, found = "", 0
    while True:
        page = show(box, query)
        assert (page.status, len(page.body) <= LARGEST) == (200, True), len(page.body)
        found += len(titles(page))
        further = re.search(r'rel="next" href="[^"?]+(\?[^"]+)"', page.text)
        if not further:
            break
        query = unescape(further[1])
    assert found == 30


def test_a_length_is_shown_as_players_show_it(desk):
    for seconds, said in ((59, "0:59"), (754, "12:34"), (3_723, "1:02:03")):
        desk.receive(video(str(seconds), duration_seconds=seconds))
        assert f"YouTube video · {said}" in words(show(desk))


def test_members_see_their_own_only(ada, bob):
    (id,) = ada.receive(video())
    assert titles(show(bob)) == []
    lead(bob, dismiss=id)
    assert titles(show(ada)) == ["The first video"]
