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
