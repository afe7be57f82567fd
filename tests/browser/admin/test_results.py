"""What became of campaigns, in a browser: the report's numbers, and a year side by side."""

import random
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from chalicelib.bounces.tally_store import TallyRow
from chalicelib.campaigns import service, store
from chalicelib.campaigns.model import Counts
from chalicelib.campaigns.sending import deliveries, stopping
from chalicelib.campaigns.service import Draft
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from tests.browser import page_checks

SIZES = {"phone": (320, 800), "large-phone": (390, 800), "desktop": (1280, 860)}


def tally(delivery_id: str, **numbers: int) -> None:
    tables.put(TallyRow("tallies", f"{delivery_id}/3", **numbers))


def a_year(campaigns: int) -> None:
    """One a week and more, each with numbers as they are; the first ones from before anything was counted."""
    chance = random.Random(3)
    one = service.send_now(service.create(Draft("Rain", "<p>x</p>")).campaign.id)
    deliveries.finish(one.deliveries[0], Counts(10, 10))
    made = store.find_campaign(one.campaign.id)
    rows = []
    for number in range(campaigns):
        detail = service.preview_detail(Draft(f"Letter {number + 1}: what the garden does in week {number + 1}", "x"))
        people = 1_800 + number * 40 + chance.randrange(200)
        delivery = detail.deliveries[0].id
        at = clock.now() - timedelta(days=360 - number * 358 / campaigns)
        counts = Counts(people, people - 3, 3)
        new = replace(made, id=detail.campaign.id, subject=detail.campaign.subject, published_at=at, counts=counts)
        rows.append(store._campaign_row(replace(new, delivery_ids=(delivery,) if number > 2 else ())))
        tally(
            delivery,
            soft_bounced=chance.randrange(12),
            hard_bounced=chance.randrange(9),
            complaints=chance.randrange(3),
            left=chance.randrange(4, 24),
        )
    tables.write_all(store.CampaignRow, rows)


def wrong(page: Any, name: str) -> list[str]:
    found = []
    for size, (width, height) in SIZES.items():
        for colours in ("light", "dark"):
            page.set_viewport_size({"width": width, "height": height})
            page.emulate_media(color_scheme=colours, reduced_motion="reduce")
            page_checks.shoot(page, f"results/{name}.{size}.{colours}")
            problems = page_checks.violations(page) + page_checks.small_targets(page)
            problems += [] if page_checks.fits(page) else ["wider than the screen"]
            found += [f"{name} {size} {colours}: {problem}" for problem in problems]
    return found


@pytest.mark.parametrize("campaigns", [0, 1, 52, 1_000])
def test_a_year_side_by_side(dashboard: Any, look: Any, campaigns: int) -> None:
    a_year(campaigns)
    page = look(script=campaigns != 52)
    page.goto("/admin/campaigns")
    page.click("text=Results")
    assert page.inner_text("h1") == "Results"
    shown = page.locator("tbody tr").count()
    assert shown == min(50, campaigns + 3)  # two were there before
    assert page.locator("svg[role=img]").count() == (2 if campaigns > 3 else 1)
    if campaigns != 52:  # axe is a script
        assert wrong(page, f"year-{campaigns}") == []
    if campaigns > 50:
        page.click("text=Next")
        assert page.locator("tbody tr").count() == min(50, campaigns + 3 - 50)
    page.click("tbody a >> nth=0")
    assert "/admin/campaigns/" in page.url


def test_nothing_was_sent_yet(dashboard: Any, look: Any) -> None:
    for row in tables.scan(store.CampaignRow):
        if row.partition == "campaign":
            tables.delete(row)
    page = look()
    page.goto("/admin/campaigns/results")
    assert "No results yet" in page.inner_text("main")
    assert wrong(page, "none") == []


def test_the_report_says_what_became_of_it(dashboard: Any, look: Any) -> None:
    detail = service.view(dashboard.sent)
    tally(detail.deliveries[0].id, soft_bounced=2, hard_bounced=1, complaints=1, left=3)
    page = look()
    page.goto(f"/admin/campaigns/{dashboard.sent}")
    card = page.locator("section", has=page.get_by_role("heading", name="What became of it so far"))
    assert card.locator("dd").all_inner_texts() == ["2 5.0%", "1 2.5%", "1 2.5%", "3 7.5%"]
    assert "counted until" in card.inner_text()
    assert wrong(page, "report") == []


def test_after_a_stop_the_report_says_what_was_sent_and_what_was_not(dashboard: Any, look: Any) -> None:
    begun = service.send_now(service.create(Draft("Stopped in the middle", "<p>x</p>")).campaign.id)
    page = look()
    page.goto(f"/admin/campaigns/{begun.campaign.id}")
    page.click("text=Stop sending")
    page.click("button:has-text('Stop sending')")
    stopping.stop(begun.campaign.id, begun.deliveries[0].id)
    page.goto(f"/admin/campaigns/{begun.campaign.id}")
    text = page.inner_text("main")
    assert "Stopped" in text
    assert "Not sent: about" in text
    assert wrong(page, "stopped") == []
