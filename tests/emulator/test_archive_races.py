"""The archive while several editors change it at once."""

from typing import Any

from chalicelib.campaigns import service
from chalicelib.campaigns.content import catalogue
from tests.rooms.campaigns.test_archive import published

MANY = 6


def test_what_several_editors_hide_at_once_is_gone_from_the_next_answer(
    emulator: Any, http: Any, together: Any
) -> None:
    ids = [published(f"No {number}").campaign.id for number in range(MANY)]
    stays = published("Stays").campaign.id
    assert len(catalogue.current()) == MANY + 1
    hidden = together(*(lambda id=id: service.hide(id, True) for id in ids))
    assert [detail.campaign.hidden for detail in hidden] == [True] * MANY
    assert [issue.id for issue in catalogue.current()] == [stays]
    page = http.get("/archive").text
    assert stays in page
    assert not any(id in page for id in ids)


def test_readers_never_see_what_was_hidden_before_they_asked(emulator: Any, http: Any, together: Any) -> None:
    """While some read, others hide and show: what is kept under a stamp is never older than the stamp."""
    ids = [published(f"No {number}").campaign.id for number in range(3)]

    def hide_and_look(id: str) -> list[bool]:
        seen = []
        for hidden in (True, False, True):
            service.hide(id, hidden)
            seen.append(id in http.get("/archive").text)
        return seen

    results = together(*(lambda id=id: hide_and_look(id) for id in ids), *[lambda: http.get("/").status] * 3)
    assert results == [[False, True, False]] * 3 + [200] * 3
