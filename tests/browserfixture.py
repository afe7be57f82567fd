"""`browser`: one Chromium a test process, for whoever has a page to look at. Only one, because playwright
keeps an event loop running in the thread that started it."""

from collections.abc import Iterator
from typing import Any

import pytest

from local import chromium

_QUIET = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=list(_QUIET))
        yield browser
        browser.close()
