"""Every page of the inbox, the desk's and a member's, on any screen and in any colour."""

import pytest

from chalicelib.inbox import composing, issues, service, triage
from chalicelib.inbox.composing import Section
from chalicelib.inbox.model import DESK
from chalicelib.inbox.outline import Every, Outline
from chalicelib.inbox.outline import Section as Planned
from tests.browser.page_checks import fits, shoot, small_targets, violations

LOOKS = [(width, colours) for width in (390, 1280) for colours in ("light", "dark")]


@pytest.fixture
def ids(house):
    ids = house.fill()
    sections = (Planned("Watching", 2), Planned("Reading", 3))
    issues.save_outline(Outline("The Slow Garden, {date}", sections, Every.WEEK, 4))
    composing.compose([Section((ids[0], ids[2]), "Watching"), Section((ids[3],), "Reading")])
    service.set_note(DESK, ids[1], "For the water issue: the newt at 12:40 is *the* moment.")
    triage.set_section(DESK, ids[1], "Watching")
    service.dismiss(DESK, ids[5])
    return ids


def pages_of(prefix, ids, draft=""):
    home = f"{prefix}/inbox"
    both = {
        "list": home,
        "everything": f"{home}?state=all",
        "none": f"{home}?q=nothing",
        "add": f"{home}/add?url=https://example.org/frost",
        "entry": f"{home}/{ids[1]}?notice=noted",
    }
    desk = {
        "compose": f"{home}/compose?ids={'.'.join(ids[:5])}",
        "outline": f"{home}/outline",
        "blocks": f"{prefix}/campaigns/{draft}/blocks",
    }
    return {**both, **(desk if draft else {})}


def judge(page, pages, name):
    wrong = []
    for title, address in pages.items():
        assert page.goto(address).status == 200, title
        for width, colours in LOOKS:
            page.set_viewport_size({"width": width, "height": 844})
            page.emulate_media(color_scheme=colours, reduced_motion="reduce")
            if (width < 500) == (colours == "light"):
                shoot(page, f"inbox/{name}-{title}-{width}")
            found = violations(page) + small_targets(page) + ([] if fits(page) else ["wider than the screen"])
            wrong += [f"{title} {width} {colours}: {problem}" for problem in found]
        page.set_viewport_size({"width": 320, "height": 700})
        wrong += [] if fits(page) else [f"{title}: wider than the smallest screen"]
    return wrong


def test_every_page_of_the_desk_is_for_everybody_on_every_screen(house, look, ids):
    wrong = judge(look(), pages_of("/admin", ids, house.campaign().id), "desk")
    assert not wrong, "\n".join(wrong)


def test_every_page_of_a_member_is_for_everybody_on_every_screen(house, look):
    ada = house.member()
    wrong = judge(look(ada), pages_of("", house.fill(ada.id)), "member")
    assert not wrong, "\n".join(wrong)
