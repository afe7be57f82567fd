"""A real browser and a real local Gna. Every test in this folder is marked `browser`.

- `gna`: `make run` on free ports, one for all tests of the process, schedules every second: `gna.url`, `gna.mails()`,
  `gna.wait_for_mail(address)`, `gna.post(path, {...})`. Use addresses of your own, other tests have theirs.
- `page`: a fresh playwright page; a script error or a refused resource fails the test. `phone` and `dark` are it
  on a small screen, and with dark colours.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page

from tests.local.runner import Runner

_HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if _HERE in item.path.parents:
            item.add_marker("browser")


@pytest.fixture(scope="session")
def gna(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    runner = Runner(tmp_path_factory.mktemp("browser") / "local", LOCAL_TICK="1")
    runner.start()
    yield runner
    runner.stop()


def _page(browser: Browser, gna: Runner, **options: Any) -> Iterator[Page]:
    context = browser.new_context(base_url=gna.url, **options)
    context.set_default_timeout(15_000)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: errors.append(f"{said.location} {said.text}") if _matters(said) else None)
    yield page
    context.close()
    assert errors == []


def _matters(said: ConsoleMessage) -> bool:
    """An error, unless it is about a missing icon."""
    return said.type == "error" and not said.location["url"].endswith("/favicon.ico")


@pytest.fixture
def page(browser: Browser, gna: Runner) -> Iterator[Page]:
    yield from _page(browser, gna)


@pytest.fixture
def phone(browser: Browser, gna: Runner) -> Iterator[Page]:
    yield from _page(browser, gna, viewport={"width": 360, "height": 740}, has_touch=True)


@pytest.fixture
def dark(browser: Browser, gna: Runner) -> Iterator[Page]:
    yield from _page(browser, gna, color_scheme="dark")
