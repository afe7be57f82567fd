"""What arrives when somebody begins to follow: the latest one, and nothing before it."""

from datetime import timedelta

import pytest

from chalicelib.following import asking
from chalicelib.following.providers.contract import Down
from chalicelib.kernel import clock
from tests.rooms.following.conftest import ALLOTMENT, DAWN_CHORUS, HEDGE, MOSS, SLOW_SOIL


def ago(**time):
    return (clock.now() - timedelta(**time)).timestamp()


def day(days):
    return f"{clock.now() + timedelta(days=days):%Y-%m-%d}"


def test_only_the_latest_video_arrives(desk):
    desk.follow("YOUTUBE", ALLOTMENT)
    (entry,) = desk.inbox()
    assert entry["title"] == "Sowing broad beans too early"
    assert (entry["provider"], entry["content_type"]) == ("YOUTUBE", "VIDEO")
    assert entry["canonical_url"].startswith("https://www.youtube.com/watch?v=")
    assert (entry["creator"], entry["duration_seconds"]) == ("Allotment No. 9", 538)


def test_the_latest_is_the_one_with_the_greatest_date_not_the_first_of_the_list(desk):
    desk.providers.publish(ALLOTMENT, "Uploaded last, published long ago", at=ago(days=40))
    desk.follow("YOUTUBE", ALLOTMENT)
    assert desk.titles() == ["Sowing broad beans too early"]


def test_the_others_count_as_seen(desk, later, sweep):
    desk.follow("YOUTUBE", ALLOTMENT)
    later(days=1)
    sweep()
    assert len(desk.titles()) == 1


def test_only_the_first_fifty_are_looked_at(desk):
    desk.providers.publish(HEDGE, "Fresh, but at the very end", at=ago(minutes=1))
    for number in range(50):
        desk.providers.publish(HEDGE, f"Old {number}", at=ago(days=100 - number))
    desk.follow("YOUTUBE", HEDGE)
    assert desk.titles() == ["Old 49"]


@pytest.mark.parametrize("kind", ["private", "scheduled", "upcoming"])
def test_what_is_not_out_is_not_the_latest(desk, kind):
    desk.providers.publish(HEDGE, "Not out", kind)
    desk.follow("YOUTUBE", HEDGE)
    assert desk.titles() == ["Who is eating the buds?"]


@pytest.mark.parametrize("kind", ["scheduled", "upcoming"])
def test_it_does_not_count_as_seen_and_arrives_once_when_it_is_out(desk, later, sweep, kind):
    desk.providers.publish(HEDGE, "Out later", kind)
    desk.follow("YOUTUBE", HEDGE)
    for _ in range(3):
        later(days=1)
        sweep()
    assert desk.titles() == ["Out later", "Who is eating the buds?"]


def test_a_private_one_that_is_published_arrives_once(desk, later, sweep):
    video = desk.providers.publish(HEDGE, "Private at first", "private")
    desk.follow("YOUTUBE", HEDGE)
    later(days=1)
    sweep()
    assert len(desk.titles()) == 1
    desk.providers.change(video, public=True)
    for _ in range(2):
        later(days=1)
        sweep()
    assert desk.titles() == ["Private at first", "Who is eating the buds?"]


def test_a_deleted_one_that_is_still_listed_is_nothing(desk):
    video = desk.providers.publish(HEDGE, "Deleted")
    desk.providers.delete(video, leave_entry=True)
    desk.follow("YOUTUBE", HEDGE)
    assert desk.titles() == ["Who is eating the buds?"]


def test_an_empty_channel_is_followed_and_its_first_video_arrives(desk, later, sweep):
    follow = desk.follow("YOUTUBE", MOSS)
    assert (desk.titles(), follow["last_published_at"]) == ([], None)
    desk.providers.publish(MOSS, "The first moss")
    later(days=2)
    sweep()
    assert desk.titles() == ["The first moss"]


@pytest.fixture
def listener(desk):
    desk.connect("SPOTIFY")
    return desk


def test_the_latest_episode_of_a_show(listener):
    listener.follow("SPOTIFY", SLOW_SOIL)
    (entry,) = listener.inbox()
    assert (entry["title"], entry["content_type"]) == ("What we would not plant again", "PODCAST")
    assert (entry["creator"], entry["duration_seconds"]) == ("Slow Soil", 3_012)
    assert entry["canonical_url"].startswith("https://open.spotify.com/episode/")


def test_a_show_that_lists_its_oldest_first(listener, later, sweep):
    listener.follow("SPOTIFY", DAWN_CHORUS)
    assert listener.titles() == ["Day 62: Chiffchaff"]
    listener.providers.publish(DAWN_CHORUS, "Day 63: Robin")
    later(days=1)
    sweep()
    assert listener.titles() == ["Day 63: Robin", "Day 62: Chiffchaff"]


def test_an_episode_of_a_later_day_is_not_out_and_arrives_on_it(listener, later, sweep):
    listener.providers.publish(SLOW_SOIL, "Tomorrow", "upcoming")
    listener.follow("SPOTIFY", SLOW_SOIL)
    assert listener.titles() == ["What we would not plant again"]
    for _ in range(3):
        later(days=1)
        sweep()
    assert listener.titles() == ["Tomorrow", "What we would not plant again"]


def test_the_latest_is_the_greatest_date_wherever_it_is_in_the_list(listener):
    listener.providers.publish(SLOW_SOIL, "An old one, listed first", released=day(-200))
    listener.follow("SPOTIFY", SLOW_SOIL)
    assert listener.titles() == ["What we would not plant again"]


def test_what_is_nothing_in_this_market_is_passed_over(listener, later, sweep):
    listener.providers.publish(SLOW_SOIL, "Not here", "hidden")
    listener.follow("SPOTIFY", SLOW_SOIL)
    listener.providers.publish(SLOW_SOIL, "Not here either", "hidden")
    listener.providers.publish(SLOW_SOIL, "Here")
    later(days=1)
    sweep()
    assert listener.titles() == ["Here", "What we would not plant again"]


@pytest.mark.parametrize("released", ["2019", "2019-05"])
def test_dates_of_a_year_or_a_month_are_understood(listener, released):
    listener.providers.publish(SLOW_SOIL, "Roughly then", released=released)
    listener.follow("SPOTIFY", SLOW_SOIL)
    assert listener.titles() == ["What we would not plant again"]


def test_a_feeds_latest_entry(desk, blog):
    blog.publish("Newest", clock.now() - timedelta(hours=1))
    blog.publish("Listed first, but older", clock.now() - timedelta(days=20))
    assert desk.follow_url(f"{blog.url}/feed.xml").status == 201
    assert desk.titles() == ["Newest"]


def test_the_second_who_follows_gets_the_latest_too(desk, member, later):
    desk.follow("YOUTUBE", ALLOTMENT)
    later(minutes=10)
    ada = member("ada")
    desk.providers.forget_calls()
    ada.follow("YOUTUBE", ALLOTMENT)
    assert ada.titles() == ["Sowing broad beans too early"]
    assert desk.providers.calls()["units"] == 0


def test_and_what_was_published_since_the_last_poll_if_that_is_long_ago(desk, member, later):
    desk.follow("YOUTUBE", ALLOTMENT)
    desk.providers.publish(ALLOTMENT, "Published meanwhile")
    later(days=2)
    ada = member("ada")
    ada.follow("YOUTUBE", ALLOTMENT)
    assert ada.titles() == ["Published meanwhile"]


def test_an_outage_at_the_first_poll_only_delays_it(desk, monkeypatch, later, sweep):
    def down(*_):
        raise Down("YouTube answered 503")

    with monkeypatch.context() as patch:
        patch.setattr(asking, "ask", down)
        follow = desk.follow("YOUTUBE", HEDGE)
    assert (desk.titles(), follow["poll_interval_seconds"], follow["last_polled_at"]) == ([], 3600, None)
    later(minutes=16)
    sweep()
    assert desk.titles() == ["Who is eating the buds?"]
