"""Segments and tags in a browser: the page in every look, and the editor, which uses and saves segments."""

from typing import Any

import pytest

from chalicelib.audience.tags import jobs
from chalicelib.campaigns import segments
from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.model import Targeting, Terms
from tests.browser import page_checks
from tests.browser.admin.test_pages import DESKTOP, LOOKS
from tests.conftest import received
from tests.rooms.campaigns.crowd import gather

NARROW = {"width": 320, "height": 700}


@pytest.fixture
def tea() -> Targeting:
    return Targeting(tags=Terms(any=("tea",)))


def _fill() -> None:
    gather(120, tags={"tea", "regular"}, sources={"blog"})
    gather(34, tags={"coffee"}, sources={"fair"})
    gather(3, tags={"t" * 64})
    segments.create("Regulars at the fair", Targeting(sources=Terms(any=("fair",)), tags=Terms(none=("tea",))))
    segments.create("Tea drinkers", Targeting(tags=Terms(any=("tea", "chai"))))
    segments.create("W" * 64, Targeting(tags=Terms(any=tuple(f"{number:02}{'w' * 62}" for number in range(50)))))


def _problems(page: Any, name: str) -> list[str]:
    wrong = []
    for light, (colours, size) in {**LOOKS, "narrow": ("light", NARROW)}.items():
        page.emulate_media(color_scheme=colours, reduced_motion="reduce")
        page.set_viewport_size(size)
        page_checks.shoot(page, f"admin/{name}.{light}")
        found = page_checks.violations(page) + ([] if page_checks.fits(page) else ["wider than the screen"])
        wrong += [f"{name} {light}: {problem}" for problem in found + page_checks.small_targets(page)]
    page.set_viewport_size(DESKTOP)
    return wrong


def test_the_page_in_every_look(dashboard: Any, look: Any) -> None:
    _fill()
    edited = segments.list_by_name()[1].id
    page = look()
    wrong = []
    for name, query in {
        "segments": "",
        "segment-edit": f"?edit={edited}",
        "segment-delete": f"?delete={edited}",
    }.items():
        page.goto(f"/admin/segments{query}")
        wrong += _problems(page, name)
    assert not wrong, "\n".join(wrong)


def test_a_segment_fills_the_fields_of_a_campaign_and_is_counted(dashboard: Any, look: Any) -> None:
    _fill()
    page = look()
    page.set_viewport_size(DESKTOP)
    page.goto("/admin/campaigns/new")
    page.get_by_label("Saved segment").select_option("Tea drinkers")
    page.locator("[data-count]", has_text="120 people").wait_for()
    assert page.get_by_label("Any of these tags").input_value() == "tea, chai"
    assert page.get_by_label("Only subscribers who match").is_checked()
    page_checks.shoot(page, "admin/compose-segment.light")
    page.get_by_label("Joined before").fill("2020-01-01")
    page.locator("[data-count]", has_text="0 people").wait_for()
    page.get_by_text("Save as segment").click()
    page.locator("#segment_name").fill("Early tea drinkers")
    page.locator("#segment_name").press("Enter")
    page.get_by_text("Saved as “Early tea drinkers”.").wait_for()
    assert page.url.endswith("/admin/campaigns/new")
    assert "Early tea drinkers" in [segment.name for segment in segments.list_by_name()]


def test_a_tag_is_renamed_from_the_page(dashboard: Any, look: Any, tea: Targeting) -> None:
    _fill()
    draft = campaigns.create(campaigns.Draft("Hello", "<p>x</p>", targeting=tea)).campaign.id
    page = look()
    page.goto("/admin/segments")
    page.get_by_label("tea 120").check()
    page.get_by_label("New name").fill("Chai")
    page.get_by_role("button", name="Rename or merge…").click()
    page.get_by_text("120 people").wait_for()
    assert _problems(page, "tags-confirm") == []
    page.get_by_role("button", name="Rename tag").click()
    page.locator("[data-job]").wait_for()
    assert _problems(page, "tags-running") == []
    for message in received("feed"):
        if message.get("kind") == "tags":
            jobs.work(message["job_id"], lambda: True)
    page.get_by_text("Renaming “tea” to “chai”: 120 people.").wait_for(timeout=15_000)
    assert campaigns.view(draft).campaign.targeting.tags.any == ("chai",)
