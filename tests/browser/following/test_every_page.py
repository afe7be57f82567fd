"""Every page of following and of the inbox, the desk's and a member's, on any screen and in any colour."""

import pytest

from chalicelib.following import notifications
from chalicelib.inbox.model import Provider
from local.providers.catalogue import CHANNELS
from tests.browser.page_checks import fits, shoot, small_targets, violations
from tests.rooms.following import made
from tests.rooms.following.conftest import Owner

LONG = "W" * 200
LOOKS = {(width, colours) for width in (390, 1280) for colours in ("light", "dark")}


@pytest.fixture
def desk(house, http):
    return fill(Owner(http, house.providers, "/admin/api"))


@pytest.fixture
def ada(house, http):
    ada = house.member()
    ada.owner = fill(Owner(http, house.providers, "/api", ada.id, f"session={ada.session}"))
    return ada


def fill(owner):
    """Follows in every condition, entries, notifications, and a connection."""
    owner.connect("YOUTUBE")
    for channel in CHANNELS[:2]:
        owner.follow("YOUTUBE", channel.id)
    owner.act(owner.follow("YOUTUBE", CHANNELS[3].id), "pause")
    made.follow(LONG, owner.id, number=1, problem="The server answered 500", failures=4)
    made.follow("Letters from the allotments", owner.id, number=2)
    made.follow("A show", owner.id, Provider.SPOTIFY, number=3)
    notifications.tell_expired(owner.id, Provider.SPOTIFY)
    notifications.tell_ending(owner.id, Provider.YOUTUBE, 3)
    notifications.resolve_ending(owner.id, Provider.YOUTUBE)
    owner.id_of_one = owner.follows("?provider=YOUTUBE")[-1]["id"].replace("-", "")
    return owner


def pages_of(prefix, owner):
    home = f"{prefix}/following"
    return {
        "overview": f"{home}?notice=followed",
        "find": f"{home}/find",
        "search": f"{home}/find?provider=YOUTUBE&q=compost",
        "connect": f"{home}/connect",
        "declined": f"{home}/callback?error=access_denied",
        "disconnect": f"{home}/disconnect?provider=YOUTUBE",
        "follow": f"{home}/{owner.id_of_one}",
        "unfollow": f"{home}/{owner.id_of_one}/unfollow",
        "inbox": f"{prefix}/inbox",
        "elsewhere": f"{prefix}/feed" if prefix else "/account",
    }


def judge(page, pages, name):
    """Each is opened once: another size or colour needs no reload."""
    wrong = []
    for title, address in pages.items():
        answer = page.goto(address)
        assert answer.status == 200, title
        for width, colours in sorted(LOOKS):
            page.set_viewport_size({"width": width, "height": 844})
            page.emulate_media(color_scheme=colours, reduced_motion="reduce")
            if (width < 500) == (colours == "light"):
                shoot(page, f"following/{name}-{title}-{width}")
            found = violations(page) + small_targets(page) + ([] if fits(page) else ["wider than the screen"])
            wrong += [f"{title} {width} {colours}: {problem}" for problem in found]
        page.set_viewport_size({"width": 320, "height": 700})
        wrong += [] if fits(page) else [f"{title}: wider than the smallest screen"]
    return wrong


def test_every_page_of_the_desk_is_for_everybody_on_every_screen(look, desk):
    wrong = judge(look(), pages_of("/admin", desk), "desk")
    assert not wrong, "\n".join(wrong)


def test_every_page_of_a_member_is_for_everybody_on_every_screen(look, ada):
    wrong = judge(look(ada), pages_of("", ada.owner), "member")
    assert not wrong, "\n".join(wrong)


def test_where_nothing_is_configured_the_page_says_what_to_do(house, look, configure):
    configure(YOUTUBE_CLIENT_ID="", YOUTUBE_CLIENT_SECRET="", YOUTUBE_API_KEY="", SPOTIFY_CLIENT_ID="")
    page = look()
    page.goto("/admin/following")
    for summary in page.locator("details summary").all():
        summary.click()
    page.get_by_text(f"{house.url}/admin/following/callback").first.wait_for()
    wrong = judge(page, {"missing": "/admin/following"}, "desk")
    wrong += judge(look(house.member()), {"missing": "/following"}, "member")
    assert not wrong, "\n".join(wrong)
