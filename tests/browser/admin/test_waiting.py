"""Posts that wait, on the page of the feed: seen in every look, sent, cancelled, left out, also without scripts."""

import pytest

from chalicelib.campaigns import service as campaigns
from chalicelib.feeds import jobs, service
from chalicelib.feeds.state import Result, Trigger
from tests.browser import page_checks
from tests.browser.admin.test_pages import LOOKS
from tests.conftest import received

TITLES = ("Quinces, at last", "A long and winding report about what the first real frost of November left standing")


@pytest.fixture
def settings(dashboard, blog, configure):
    """`settings(FEED_HOLD="30")` keeps the rest as the dashboard has it."""

    def change(**given):
        configure(
            SITE_URL=dashboard.url,
            ALLOWED_ORIGINS=dashboard.url,
            SITE_NAME="The Slow Garden",
            DISABLE_AUTH="true",
            GNA_LOCAL="true",
            FEED_URL=blog.url,
            **given,
        )

    return change


def publish(blog, *titles):
    for title in titles:
        blog.publish(title)
        assert service.check(Trigger.SCHEDULE).result is Result.WAITING


def problems(page, name):
    page.goto("/admin/feed")
    found = []
    for look, (colours, size) in {**LOOKS, "narrow": ("light", {"width": 320, "height": 700})}.items():
        page.emulate_media(color_scheme=colours, reduced_motion="reduce")
        page.set_viewport_size(size)
        page_checks.shoot(page, f"admin/{name}.{look}")
        found += page_checks.violations(page) + page_checks.small_targets(page)
        found += [] if page_checks.fits(page) else [f"{look}: wider than the screen"]
    return found


def test_what_waits_looks_right(blog, settings, look):
    page = look()
    settings(FEED_HOLD="30")
    publish(blog, *TITLES)
    assert problems(page, "feed-hold") == []
    settings(FEED_DIGEST="weekly", FEED_DIGEST_AT="fri 18:00", SITE_ZONE="Europe/Berlin")
    assert problems(page, "feed-digest") == []


@pytest.mark.parametrize("script", [True, False])
def test_a_held_post_is_cancelled_and_another_sent_by_hand(blog, settings, look, script):
    settings(FEED_HOLD="30")
    publish(blog, *TITLES)
    page = look(script=script)
    page.goto("/admin/feed#waiting")
    groups = page.locator(".waiting")
    groups.filter(has_text=TITLES[1]).get_by_role("button", name="Cancel").click()
    assert page.get_by_text("Cancelled. It will not be emailed.").is_visible()
    groups.filter(has_text=TITLES[0]).get_by_role("button", name="Send now").click()
    assert page.get_by_text("Being sent").is_visible()
    for message in received("feed"):
        jobs.handle(message)
    page.goto("/admin/feed")
    assert page.locator(".waiting").count() == 0
    assert campaigns.view(service.view().state.campaign_id).campaign.subject == TITLES[0]


def test_a_post_is_left_out_of_a_digest(blog, settings, look):
    settings(FEED_DIGEST="daily", FEED_DIGEST_AT="18:00")
    publish(blog, *TITLES)
    page = look(phone=True)
    page.goto("/admin/feed")
    page.get_by_role("button", name=f"Leave out {TITLES[1]}").click()
    assert [kept.title for kept in service.view().waiting.entries] == [TITLES[0]]


@pytest.mark.parametrize("script", [True, False])
def test_in_two_tabs_only_the_first_decides_and_the_second_is_told(blog, settings, look, script):
    settings(FEED_HOLD="30")
    publish(blog, TITLES[0])
    first, second = look(script=script), look(script=script)
    for page in (first, second):
        page.goto("/admin/feed#waiting")
    first.get_by_role("button", name="Cancel").click()
    assert first.get_by_text("Cancelled. It will not be emailed.").is_visible()
    second.get_by_role("button", name="Send now").click()
    assert second.get_by_text("Nothing to do: it was sent, cancelled or taken down already.").is_visible()
    page_checks.shoot(second, "admin/feed-second-tab")
    assert received("feed") == []


def test_a_double_click_sends_once(blog, settings, look):
    settings(FEED_HOLD="30")
    publish(blog, TITLES[0])
    before = campaigns.list_page(None, 1, 1).total
    page = look()
    page.goto("/admin/feed")
    page.get_by_role("button", name="Send now").dblclick()
    page.get_by_text("Being sent").wait_for()
    for message in received("feed"):
        jobs.handle(message)
    assert campaigns.list_page(None, 1, 1).total == before + 1


def test_the_link_of_the_notice_leads_to_where_one_click_cancels(blog, settings, look, ses):
    settings(FEED_HOLD="30")
    publish(blog, TITLES[0])
    page = look(phone=True)
    notice = next(mail for mail in ses.mails() if "Goes out" in mail["subject"])
    (link,) = [word for word in notice["text"].split() if "/admin/" in word]
    page.goto(link)
    button = page.get_by_role("button", name="Cancel")
    button.wait_for()
    box = button.bounding_box()
    assert box
    assert 0 <= box["y"] < 800
    button.click()
    assert [kept.title for kept in service.view().waiting.entries] == []


def test_a_post_that_was_taken_down_is_marked(blog, settings, look):
    settings(FEED_DIGEST="daily", FEED_DIGEST_AT="18:00")
    publish(blog, *TITLES)
    blog.posts.pop(0)
    service.check(Trigger.SCHEDULE)
    assert problems(look(), "feed-taken-down") == []


@pytest.mark.parametrize("script", [True, False])
def test_what_becomes_of_new_posts_is_changed_on_the_settings_page(blog, settings, look, script):
    page = look(script=script, phone=script)
    page.goto("/admin/settings")
    page.get_by_label("Hold").fill("1441")
    page.get_by_role("button", name="Save").last.click()
    assert service.view().feed.hold == 0
    page.goto("/admin/settings")
    page.get_by_label("Digest", exact=True).select_option("weekly")
    page.get_by_label("Time of digests").fill("Fri 18:00")
    page.get_by_label("Time zone").fill("Europe/Berlin")
    page.get_by_label("Hold").fill("45")
    page.get_by_role("button", name="Save").last.click()
    page.get_by_text("Readers see it within a minute").wait_for()
    page.goto("/admin/feed")
    assert page.get_by_text("are emailed together every Friday at 18:00 (Europe/Berlin)").is_visible()
    page.goto("/admin/settings")
    page.get_by_label("Digest", exact=True).select_option("off")
    page.get_by_role("button", name="Save").last.click()
    page.goto("/admin/feed")
    assert page.get_by_text("are emailed after 45 minutes, unless you cancel them").is_visible()
