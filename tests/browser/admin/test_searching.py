"""A search that takes long: it shows what it has found so far and goes on, by itself or by its link."""

import time

import pytest

from chalicelib.audience import filling, listing, searching
from chalicelib.audience.stores import search as store
from tests.browser import page_checks
from tests.browser.admin.test_pages import LOOKS


@pytest.fixture
def slow(dashboard, monkeypatch):
    """Every piece looks at one person in each shard, however few there are."""
    filling.fill(lambda: True)
    monkeypatch.setattr(listing, "_PATIENCE", 0.0)
    monkeypatch.setattr(store, "_query", lambda *given, ask=store._query: ask(*given) | {"Limit": 1})


def _problems(page, name):
    found = []
    for look, (colours, size) in {**LOOKS, "narrow": ("light", {"width": 320, "height": 700})}.items():
        page.emulate_media(color_scheme=colours, reduced_motion="reduce")
        page.set_viewport_size(size)
        page_checks.shoot(page, f"admin/{name}.{look}")
        found += page_checks.violations(page) + page_checks.small_targets(page)
        found += [] if page_checks.fits(page) else [f"{look}: wider than the screen"]
    return found


def test_a_long_search_goes_on_by_itself_until_everybody_is_looked_at(look, slow):
    page = look()
    page.goto("/admin/subscribers?q=reader&per_page=100")
    page.get_by_text("40 people found in total.").wait_for()
    addresses = page.locator("tbody th a").all_inner_texts()
    assert sorted(addresses) == sorted({f"reader{n}@example.org" for n in (*range(39), 44)})
    page.get_by_role("checkbox", name="Select everyone on this page").check()
    page.get_by_text("40 people selected").wait_for()
    assert _problems(page, "search.done") == []


def test_a_search_that_goes_on_is_for_everybody(look, slow):
    page = look()
    page.add_init_script("window.fetch = () => new Promise(() => {})")
    page.goto("/admin/subscribers?q=reader")
    page.get_by_role("link", name="Continue searching").wait_for()
    assert _problems(page, "search.so-far") == []


def test_without_scripts_a_long_search_goes_on_by_its_link(look, slow):
    page = look(script=False)
    page.goto("/admin/subscribers?q=reader")
    seen = []
    for _ in range(60):
        seen += page.locator("tbody th a").all_inner_texts()
        more = page.get_by_role("link", name="Continue searching")
        if not more.count():
            break
        more.click()
    assert len(seen) == len(set(seen)) == 40
    assert page.get_by_text("40 people found in total.").count() == 1


def test_a_search_ends_when_the_page_is_left(look, slow, monkeypatch):
    pieces = []

    def go_on(*given, real=searching.go_on):
        pieces.append(given)
        time.sleep(0.2)
        return real(*given)

    monkeypatch.setattr(searching, "go_on", go_on)
    page = look()
    page.goto("/admin/subscribers?q=reader1&per_page=1")
    page.goto("/admin/do-not-contact")
    time.sleep(0.5)
    before = len(pieces)
    time.sleep(1)
    assert len(pieces) == before


def test_somebody_with_the_very_address_is_shown_at_once(dashboard, look):
    filling.fill(lambda: True)
    page = look()
    page.goto("/admin/subscribers?q=Reader44@Example.org")
    assert page.locator("tbody th a").all_inner_texts() == ["reader44@example.org"]
    assert _problems(page, "search.exact") == []
    page.get_by_role("link", name="Search all subscribers for it").click()
    page.get_by_text("1 person found in total.").wait_for()
