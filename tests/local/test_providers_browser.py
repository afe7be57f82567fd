"""The pages of the small providers in a real browser."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from local.providers.catalogue import CHANNELS, SHOWS
from local.providers.main import Providers
from tests.browser.page_checks import fits, small_targets, violations
from tests.local.provider_calls import authorize_url

pytestmark = pytest.mark.browser


@pytest.fixture(params=["light", "dark"])
def phone(request: Any, browser: Any) -> Iterator[Any]:
    page = browser.new_page(viewport={"width": 390, "height": 760}, color_scheme=request.param)
    page.set_default_timeout(5_000)
    yield page
    page.close()


@pytest.fixture
def site() -> Iterator[str]:
    """Where a person comes back to after a consent page."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "4")
            self.end_headers()
            self.wfile.write(b"Back")

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_every_page_can_be_read_and_used_on_a_phone(providers: Providers, phone: Any) -> None:
    providers.publish(CHANNELS[0].id, "Soon", "upcoming")
    providers.publish(CHANNELS[0].id, "A title without any space " + "x" * 70)
    providers.set_fault("youtube", quota=True)
    paths = ("/", "/youtube", f"/youtube/{CHANNELS[0].handle}", "/spotify", f"/spotify/show/{SHOWS[2].id}")
    for url in (*(providers.url + path for path in paths), authorize_url(providers, "spotify")):
        phone.goto(url)
        assert (url, violations(phone), small_targets(phone), fits(phone)) == (url, [], [], True)


def test_a_person_publishes_a_video_and_deletes_it(providers: Providers, phone: Any) -> None:
    phone.goto(f"{providers.url}/youtube")
    phone.locator("select[name=channel]").select_option("Moss & Stone")
    phone.get_by_label("Title").fill("Lichen, the film")
    phone.get_by_role("button", name="Publish").click()
    phone.get_by_role("status").get_by_text("Published: Lichen, the film").wait_for()
    phone.get_by_role("link", name="Moss & Stone").click()
    phone.get_by_role("button", name="Delete: Lichen, the film").click()
    phone.get_by_text("The video has been deleted.").wait_for()
    assert providers.library.uploads(CHANNELS[4].id) == []


@pytest.mark.parametrize("provider", ["youtube", "spotify"])
def test_a_person_allows_or_declines_and_is_led_back(
    providers: Providers, phone: Any, site: str, provider: str
) -> None:
    for button, given in (("Allow", "code="), ("Decline", "error=access_denied")):
        phone.goto(authorize_url(providers, provider, redirect_uri=f"{site}/back"))
        phone.get_by_role("button", name=button).click()
        phone.wait_for_url(f"{site}/back?*")
        assert given in phone.url
