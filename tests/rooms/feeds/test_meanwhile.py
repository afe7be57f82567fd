"""What blogs and editors do while posts wait: edit, move, rename, delete, change the settings.

The shapes are those that other feed-to-mail services had reports of.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from email.utils import format_datetime
from html import escape
from typing import Any

import pytest

from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.content import blocks, renderer
from chalicelib.campaigns.model import State
from chalicelib.feeds import service
from chalicelib.feeds.state import Result
from tests.rooms.feeds.holding import START, Hands, in_state, mailed, names, notices, waiting_titles

pytestmark = pytest.mark.usefixtures("aws", "ses", "blog")

DAY = timedelta(days=1)
OLD = {"name": "old", "at": START - 9 * DAY}
NEWS = {"name": "news", "at": START}

Show = Callable[..., None]


def post(name: str, at: datetime | None, title: str = "", id: str = "", link: str = "", text: str = "") -> str:
    date = f"<pubDate>{format_datetime(at)}</pubDate>" if at else ""
    return (
        f"<item><title>{escape(title or name)}</title><guid>{id or name}</guid><link>{link or f'/{name}/'}</link>"
        f"<description>{escape(text or f'About {name}')}</description>{date}</item>"
    )


@pytest.fixture
def show(blog: Any) -> Show:
    """Have the blog show these posts, in this order."""

    def answer(*posts: dict[str, Any]) -> None:
        items = "".join(post(**one) for one in posts)
        body = f'<rss version="2.0"><channel><title>Blog</title>{items}</channel></rss>'
        blog.answer = (200, {}, body.encode())

    return answer


@pytest.fixture
def waiting(hands: Hands, show: Show, configure: Any) -> Hands:
    """A post that was found at noon and leaves at half past; `hold` and `digest` below change that."""
    configure(FEED_HOLD="30")
    show(OLD)
    assert hands.check() is Result.FIRST
    show(NEWS, OLD)
    assert hands.check() is Result.WAITING
    return hands


@pytest.fixture
def weekly(hands: Hands, show: Show, configure: Any) -> Hands:
    """It is Wednesday, and one post waits for Monday at nine."""
    configure(FEED_DIGEST="weekly")
    show(OLD)
    assert hands.check() is Result.FIRST
    show(NEWS, OLD)
    assert hands.check() is Result.WAITING
    return hands


def body() -> str:
    (campaign,) = campaigns.list_page(None, 1, 5).items
    return campaigns.view(campaign.id).content.body


def until_monday(hands: Hands) -> None:
    hands.now = START + timedelta(days=4, hours=21)
    hands.sweep()


class TestEdits:
    def test_of_three_edits_the_last_is_mailed_and_the_page_shows_each(self, waiting, show):
        for title in ("First edit", "Second edit", "Third edit"):
            show(NEWS | {"title": title, "text": f"{title} of the text"}, OLD)
            assert waiting.check() is Result.NOTHING_NEW
            assert waiting_titles() == [title]
        waiting.pass_time(minutes=30)
        assert mailed() == ["Third edit"]
        assert "Third edit of the text" in body()

    def test_a_correction_counts_even_if_the_post_has_left_the_feed_since(self, weekly, show):
        weekly.now += DAY
        show(NEWS | {"title": "Corrected"}, OLD)
        weekly.check()
        show({"name": "later", "at": START + 3 * DAY})
        until_monday(weekly)
        assert mailed() == ["later and 1 more"]
        assert [item.title for item in blocks.items(body())] == ["later", "Corrected"]

    def test_a_post_that_was_taken_down_stays_so_when_the_older_ones_have_left_too(self, weekly, show):
        weekly.now += DAY
        show(OLD)
        weekly.check()
        show({"name": "later", "at": START + 3 * DAY})
        until_monday(weekly)
        assert mailed() == ["later"]

    def test_a_post_that_was_away_for_a_moment_is_mailed(self, weekly, show):
        weekly.now += DAY
        show(OLD)
        weekly.check()
        show(NEWS, OLD)
        weekly.check()
        until_monday(weekly)
        assert mailed() == ["news"]


class TestIds:
    RENAMED = (
        {"id": "https://blog.example.org/?p=7"},
        {"id": "tag:blog,2026:7", "link": "https://elsewhere.example.org/news?utm_source=rss"},
    )

    @pytest.mark.parametrize("change", RENAMED)
    def test_another_id_while_a_post_waits_changes_nothing(self, waiting, show, ses, change):
        show(NEWS | change | {"title": "Corrected"}, OLD)
        assert waiting.check() is Result.NOTHING_NEW
        waiting.pass_time(minutes=30)
        assert waiting.pass_time(hours=1) == 0
        assert mailed() == ["Corrected"]
        assert len(notices(ses)) == 1

    @pytest.mark.parametrize("change", RENAMED)
    def test_another_id_afterwards_mails_nothing_again(self, waiting, show, change):
        waiting.pass_time(minutes=30)
        show(NEWS | change, OLD)
        assert waiting.check() is Result.NOTHING_NEW
        assert (mailed(), waiting_titles()) == (["news"], [])

    def test_a_cancelled_post_stays_cancelled_under_another_id(self, waiting, show):
        service.cancel_waiting(names())
        show(NEWS | {"id": "another"}, OLD)
        assert waiting.check() is Result.NOTHING_NEW
        assert waiting.pass_time(hours=1) == 0
        assert mailed() == []


class TestShapes:
    def test_another_order_changes_nothing(self, waiting, show):
        show(OLD, NEWS)
        assert waiting.check() is Result.NOTHING_NEW
        waiting.pass_time(minutes=30)
        assert mailed() == ["news"]

    def test_a_feed_that_shows_only_its_newest_post_takes_nothing_down(self, weekly, show):
        show({"name": "newest", "at": START + timedelta(hours=1)})
        weekly.check()
        until_monday(weekly)
        assert [item.title for item in blocks.items(body())] == ["newest", "news"]

    def test_a_feed_that_is_empty_for_an_hour_neither_loses_nor_repeats(self, waiting, show):
        show()
        waiting.pass_time(minutes=30)
        show(NEWS, OLD)
        waiting.pass_time(minutes=60)
        assert waiting.check() is Result.NOTHING_NEW
        assert mailed() == ["news"]

    def test_a_post_that_is_given_an_earlier_date_is_mailed_once(self, waiting, show):
        show(NEWS | {"at": START - 3 * DAY}, OLD)
        waiting.check()
        waiting.pass_time(minutes=30)
        waiting.check()
        assert mailed() == ["news"]

    def test_a_post_of_the_future_is_held_from_its_own_date(self, hands, show, configure):
        """As a scheduled post that the feed already shows."""
        configure(FEED_HOLD="30")
        show(OLD)
        hands.check()
        ahead = {"name": "ahead", "at": START + timedelta(hours=3)}
        show(ahead, OLD)
        assert hands.check() is Result.NOTHING_NEW
        assert hands.pass_time(hours=1) == 0
        hands.now = START + timedelta(hours=3)
        assert hands.check() is Result.WAITING
        hands.pass_time(minutes=29)
        assert mailed() == []
        hands.pass_time(minutes=1)
        assert mailed() == ["ahead"]

    def test_a_post_of_the_future_is_in_the_digest_after_its_date(self, weekly, show):
        show({"name": "ahead", "at": START + timedelta(days=5)}, NEWS, OLD)
        weekly.check()
        until_monday(weekly)
        assert mailed() == ["news"]
        weekly.pass_time(days=7)
        assert sorted(mailed()) == ["ahead", "news"]

    def test_posts_without_dates_and_ids_wait_and_leave_once(self, hands, show, configure):
        configure(FEED_HOLD="30")
        old, new = {"name": "old", "at": None}, {"name": "new", "at": None}
        show(old)
        hands.check()
        show(new, old)
        assert hands.check() is Result.WAITING
        hands.pass_time(minutes=30)
        assert hands.check() is Result.UNCHANGED
        assert mailed() == ["new"]

    def test_the_server_is_asked_for_the_feed_as_it_is_now(self, hands, blog, configure):
        """It must not answer 304 from before, nor a cache on the way with what was deleted since."""
        blog.etag = True
        configure(FEED_DIGEST="daily", FEED_DIGEST_AT="15:00")
        hands.check()
        blog.publish("News", START)
        hands.check()
        assert hands.check() is Result.UNCHANGED
        hands.pass_time(hours=3)
        (asked,) = [asked for asked in blog.asked[-2:] if asked["path"] == "/feed.xml"]
        assert ("if-none-match" in asked, asked["cache-control"]) == (False, "no-cache")
        assert mailed() == ["News"]

    def test_a_link_that_leads_to_a_page_that_is_gone_takes_the_post_down(self, waiting, blog, show):
        blog.pages["/news/"] = 410
        waiting.pass_time(minutes=30)
        assert (mailed(), waiting_titles()) == ([], [])


class TestFloods:
    def test_thirty_posts_of_a_week_are_one_mail_that_is_not_cut_off(self, hands, show, configure):
        configure(FEED_DIGEST="weekly", FEED_FLOOD="10")
        show(OLD)
        hands.check()
        posts: list[dict[str, Any]] = []
        for hour in range(30):
            text = f"{hour} " + "word " * 200
            posts.insert(
                0, {"name": f"p{hour}", "at": START + timedelta(hours=hour), "title": "T" * 90, "text": text}
            )
            hands.now = START + timedelta(hours=hour)
            show(*posts[:10])
            assert hands.check() is Result.WAITING
        until_monday(hands)
        (campaign,) = campaigns.list_page(State.PUBLISHING, 1, 5).items
        detail = campaigns.view(campaign.id)
        assert len(blocks.items(detail.content.body)) == 30
        mail = renderer.render(detail).message("ada@example.org", "Ada", "token")
        assert len(mail.html.encode()) <= 100_000

    @pytest.mark.parametrize("settings", [{"FEED_HOLD": "30"}, {"FEED_DIGEST": "daily", "FEED_DIGEST_AT": "15:00"}])
    def test_a_flood_is_a_draft_and_waits_for_nothing(self, hands, show, configure, ses, settings):
        configure(FEED_FLOOD="3", **settings)
        show(OLD)
        hands.check()
        show(*({"name": f"p{number}", "at": START} for number in range(4)), OLD)
        assert hands.check() is Result.DRAFTED
        hands.pass_time(hours=3)
        assert (len(in_state(State.DRAFT)), in_state(State.PUBLISHING), waiting_titles()) == (1, [], [])
        assert notices(ses) == ["4 new entries at once: please review"]

    def test_a_flood_at_the_moment_of_a_digest_keeps_what_was_collected(self, hands, show, configure):
        configure(FEED_DIGEST="daily", FEED_DIGEST_AT="15:00", FEED_FLOOD="3")
        show(OLD)
        hands.check()
        show(NEWS, OLD)
        hands.check()
        show(*({"name": f"p{number}", "at": START} for number in range(4)), NEWS, OLD)
        hands.pass_time(hours=3)
        assert (len(in_state(State.DRAFT)), in_state(State.PUBLISHING)) == (1, [])
        hands.pass_time(minutes=5)
        assert in_state(State.PUBLISHING) == ["news"]


class TestSettings:
    """Changed while a post waits, through the admin API as an editor does it."""

    @pytest.fixture
    def change(self, admin: Any) -> Callable[..., None]:
        def patch(**fields: Any) -> None:
            zone = fields.pop("time_zone", None)
            changes = {"feed": fields} if fields else {}
            answer = admin.patch("/admin/api/site", json=changes | ({"time_zone": zone} if zone else {}))
            assert answer.status == 200

        return patch

    def test_hold_and_digest_switched_over_and_over_mail_it_once(self, waiting, change):
        steps: list[dict[str, Any]] = [
            {"hold": 1440},
            {"digest": "daily", "digest_at": "18:00"},
            {"digest": "weekly", "digest_at": "fri 18:00"},
            {"digest": "off"},
            {"hold": 45},
            {"mode": "review"},
            {"mode": "auto", "digest": "daily"},
        ]
        for step in steps[:5]:
            change(**step)
            waiting.pass_time(minutes=5)
        assert (mailed(), waiting_titles()) == ([], ["news"])
        waiting.pass_time(minutes=20)
        assert in_state(State.PUBLISHING) == ["news"]
        for step in steps[5:]:
            change(**step)
            waiting.pass_time(days=1)
            waiting.check()
        assert mailed() == ["news"]

    def test_a_longer_hold_counts_from_when_the_post_was_found(self, waiting, change):
        waiting.pass_time(minutes=20)
        change(hold=60)
        waiting.pass_time(minutes=39)
        assert mailed() == []
        waiting.pass_time(minutes=1)
        assert mailed() == ["news"]

    @pytest.mark.parametrize(("switched", "swept", "sent"), [("08:58", "09:02", True), ("09:00", "09:02", False)])
    def test_a_digest_whose_time_comes_before_the_next_sweep_is_not_put_off(
        self, hands, show, change, switched, swept, sent
    ):
        """The sweep runs every five minutes; for a weekly digest it would be a week."""

        def at(time: str) -> datetime:
            return datetime.fromisoformat(f"2026-11-23 {time}:00+00:00")

        hands.now = at("08:57")
        show(OLD)
        hands.check()
        hands.sweep()
        show({"name": "monday", "at": hands.now}, OLD)
        hands.now = at(switched)
        change(digest="weekly", digest_at="mon 09:00")
        hands.now = at(swept)
        assert hands.sweep() == int(sent)
        assert mailed() == ["monday"] * sent
        assert service.view().waiting.digest_due == at("09:00") + timedelta(days=7)

    @pytest.mark.parametrize(
        ("switched", "leaves"),
        [("08:55", "2026-11-23 09:00"), ("09:00", "2026-11-30 09:00"), ("09:01", "2026-11-30 09:00")],
    )
    def test_a_weekly_digest_that_is_switched_on_on_its_day(self, hands, show, change, switched, leaves):
        hands.now = datetime.fromisoformat(f"2026-11-23 {switched}:00+00:00")
        show(OLD)
        hands.check()
        change(digest="weekly", digest_at="mon 09:00")
        hands.sweep()
        assert f"{service.view().waiting.digest_due:%Y-%m-%d %H:%M}" == leaves

    def test_another_zone_moves_a_digest_that_is_planned(self, hands, show, change):
        show(OLD)
        hands.check()
        change(digest="daily", digest_at="15:00")
        show(NEWS, OLD)
        hands.check()
        change(time_zone="Asia/Tokyo")
        hands.pass_time(hours=3)
        assert mailed() == []
        assert f"{service.view().waiting.digest_due:%d %H:%M}" == "19 06:00"
        change(time_zone="America/New_York")
        hands.sweep()
        hands.pass_time(hours=5)
        assert in_state(State.PUBLISHING) == ["news"]

    @pytest.mark.parametrize(
        ("zone", "start", "moments"),
        [
            ("Europe/Berlin", "2026-03-28 12:00", ["29 01:30", "30 00:30"]),
            ("Europe/Berlin", "2026-10-24 12:00", ["25 00:30", "26 01:30"]),
            ("America/Sao_Paulo", "2026-10-24 12:00", ["25 05:30", "26 05:30"]),
        ],
    )
    def test_a_digest_at_half_past_two_leaves_once_a_day_when_clocks_change(
        self, hands, show, change, zone, start, moments
    ):
        """Half past two does not exist on one of these days, and comes twice on another."""
        hands.now = datetime.fromisoformat(f"{start}:00+00:00")
        show(OLD)
        hands.check()
        change(time_zone=zone, digest="daily", digest_at="02:30")
        hands.sweep()
        left, posts = [], [OLD]
        for step in range(45 * 2):
            posts.insert(0, {"name": f"p{step}", "at": hands.now})
            show(*posts[:8])
            if hands.pass_time(minutes=30):
                left.append(f"{hands.now:%d %H:%M}")
                hands.check()
            elif step % 3 == 0:
                hands.check()
        assert left == moments
        assert len(in_state(State.PUBLISHING)) == 2

    def test_another_feed_and_back_again_makes_one_draft(self, waiting, show, configure, blog):
        configure(FEED_URL=f"{blog.url}/other.xml")
        waiting.check()
        configure(FEED_URL=f"{blog.url}/feed.xml")
        waiting.check()
        waiting.pass_time(hours=1)
        waiting.check()
        assert (in_state(State.DRAFT), in_state(State.PUBLISHING)) == (["news"], [])

    def test_a_digest_whose_feed_cannot_be_read_leaves_when_it_can(self, weekly, blog, show):
        blog.answer = (503, {}, b"")
        until_monday(weekly)
        for _ in range(3):
            weekly.pass_time(minutes=5)
        assert (mailed(), waiting_titles()) == ([], ["news"])
        show({"name": "more", "at": START + DAY}, NEWS, OLD)
        weekly.pass_time(hours=5)
        assert in_state(State.PUBLISHING) == ["more and 1 more"]
        assert f"{service.view().waiting.digest_due:%d %H:%M}" == "30 09:00"

    @pytest.mark.parametrize("value", ["-1", "1441", "0.5", "x", ""])
    def test_a_hold_is_0_to_1440_minutes(self, admin, configure, value):
        from chalicelib.kernel import settings
        from chalicelib.kernel.errors import Misconfigured

        configure(FEED_HOLD=value)
        if not value:
            assert settings.current().feed_hold == 0
            return
        with pytest.raises(Misconfigured):
            settings.current()
        configure(FEED_HOLD="0")
        assert admin.patch("/admin/api/site", json={"feed": {"hold": value}}).status == 400

    @pytest.mark.parametrize("value", [0, 1, 1440])
    def test_the_bounds_of_a_hold_are_taken(self, change, value):
        change(hold=value)
        assert service.view().feed.hold == value
