"""The page that writes the sign-up form: every snippet is copied from it, put on another site, and used there."""

import pytest

from chalicelib.audience import jobs, listing
from chalicelib.audience.listing import Filter
from tests.browser.other_site import OtherSite
from tests.browser.page_checks import shoot
from tests.conftest import received

WORDS = 'Ja, "bitte" & <gern>'
CHOICES = "source=o'hara+%26+sons&tags=garden,se%22eds&name=yes&text_button=Ja,+%22bitte%22+%26+%3Cgern%3E"


@pytest.fixture
def elsewhere(dashboard, configure):
    site = OtherSite()
    configure(ALLOWED_ORIGINS=f"{dashboard.url},{site.url}")
    yield site
    site.stop()


def _found(address):
    for message in received("audience"):
        jobs.handle(message)
    return listing.page(Filter(text=address), 1, 20).items


@pytest.fixture
def visit(browser, dashboard):
    """A reader's browser on the other site; the dashboard's own pages are watched apart."""
    context = browser.new_context()
    context.set_default_timeout(10_000)
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("kind", ["script", "html", "link", "frame"])
def test_a_snippet_works_on_another_site(dashboard, elsewhere, look, visit, kind):
    page = look()
    page.goto(f"/admin/form?kind={kind}&{CHOICES}&site={elsewhere.url}")
    snippet = page.locator("#snippet").inner_text()
    visit.goto(elsewhere.show(snippet))
    form = visit.frame_locator("iframe") if kind == "frame" else visit
    if kind == "link":
        visit.get_by_role("link", name=WORDS).click()
    form.locator("input[name=email]").fill(f"{kind}@example.net")
    form.locator("input[name=nickname]").fill("Ada")
    form.get_by_role("button", name=WORDS if kind in ("script", "html") else "Subscribe").click()
    form.get_by_text("check your inbox").first.wait_for()
    [person] = _found(f"{kind}@example.net")
    assert person.nickname == "Ada"
    detail = listing.find_subscriber(person.id)
    assert detail.requested_sources == {"o'hara & sons"}


@pytest.mark.parametrize("kind", ["script", "html", "frame"])
def test_the_form_works_in_the_preview(dashboard, look, kind):
    page = look()
    page.goto(f"/admin/form?kind={kind}&source=preview")
    form = page.frame_locator(".frame.live iframe")
    form = form.frame_locator("iframe") if kind == "frame" else form
    form.locator("input[name=email]").fill(f"live-{kind}@example.net")
    form.get_by_role("button", name="Subscribe").click()
    form.get_by_text("check your inbox").first.wait_for()
    assert _found(f"live-{kind}@example.net")


def test_the_snippet_follows_what_is_chosen(dashboard, look):
    page = look()
    page.goto("/admin/form")
    page.get_by_label("Source").fill("footer")
    page.get_by_label("Ask for a name").check()
    page.get_by_text("Your own words").click()
    page.get_by_label("Button").fill("Join")
    page.locator("#snippet", has_text='data-text-button="Join"').wait_for()
    page.frame_locator(".frame.live iframe").get_by_role("button", name="Join").wait_for()
    assert "source=footer" in page.url
    shoot(page, "admin/form-chosen")
    page.get_by_label("Your site’s address").fill("not a site")
    page.get_by_role("alert").filter(has_text="not valid").wait_for()
    page.get_by_label("Your site’s address").fill("other.example")
    page.get_by_text("https://other.example may not use it yet").wait_for()
    assert page.get_by_role("alert").count() == 0


def test_the_snippet_is_copied(dashboard, look):
    page = look()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/admin/form?source=blog")
    page.get_by_role("button", name="Copy").click()
    page.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == page.locator("#snippet").inner_text()


def test_without_scripts_the_choices_are_sent_as_a_form(dashboard, look):
    page = look(script=False)
    page.goto("/admin/form")
    page.get_by_label("Plain HTML").check()
    page.get_by_label("Source").fill("footer")
    page.get_by_role("button", name="Update").click()
    assert 'name="source" value="footer"' in page.locator("#snippet").inner_text()
    assert page.get_by_role("button", name="Copy").count() == 0
