"""The overview of a new publication, and the page that says whether email arrives."""

import pytest

from local.gateway.gateway import Gateway
from local.gateway.server import Server
from tests.browser import page_checks
from tests.browser.admin.test_pages import LOOKS


@pytest.fixture
def fresh(http, ses, configure, browser):
    """A browser on the dashboard of a publication in which nothing has happened yet."""
    import app

    server = Server(Gateway(app.app).handle, 0)
    url = f"http://127.0.0.1:{server.port}"
    configure(SITE_URL=url, SITE_NAME="The Slow Garden", DISABLE_AUTH="true", POSTAL_ADDRESS="1 Orchard Lane")
    server.start()
    context = browser.new_context(base_url=url)
    context.set_default_timeout(10_000)
    page_checks.Watched(page := context.new_page())
    yield page
    context.close()
    server.stop()


@pytest.mark.parametrize(
    ("name", "path"),
    [("first-overview", "/admin"), ("start", "/admin/start"), ("first-form", "/admin/form?kind=html")],
)
def test_a_new_publication_looks_inviting(fresh, ses, name, path):
    ses.tell(dkim="PENDING")
    fresh.goto(path)
    wrong = []
    for light, (colours, size) in {**LOOKS, "dark-phone": ("dark", LOOKS["phone"][1])}.items():
        fresh.emulate_media(color_scheme=colours, reduced_motion="reduce")
        fresh.set_viewport_size(size)
        page_checks.shoot(fresh, f"admin/{name}.{light}")
        found = page_checks.violations(fresh) + page_checks.small_targets(fresh)
        found += [] if page_checks.fits(fresh) else ["wider than the screen"]
        wrong += [f"{name} {light}: {problem}" for problem in found]
    fresh.set_viewport_size({"width": 320, "height": 640})
    wrong += [] if page_checks.fits(fresh) else [f"{name}: wider than a small phone"]
    assert not wrong, "\n".join(wrong)


def test_a_record_is_copied(fresh, ses):
    fresh.context.grant_permissions(["clipboard-read", "clipboard-write"])
    fresh.goto("/admin/start")
    fresh.get_by_role("button", name="Copy the value").first.click()
    assert fresh.evaluate("navigator.clipboard.readText()") == "local1.dkim.amazonses.com"


def test_every_step_leads_somewhere(fresh, ses):
    fresh.goto("/admin")
    paths = fresh.locator(".start li a").evaluate_all("links => links.map(link => link.getAttribute('href'))")
    assert len(paths) == 6
    for path in paths:
        assert fresh.goto(path).status == 200, path
