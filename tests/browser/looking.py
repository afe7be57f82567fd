"""What a browser test asks every page of ours: can everybody use it, does it fit, does it talk to strangers."""

from pathlib import Path
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import ConsoleMessage, Page

ARTEFACTS = Path(__file__).parents[2] / "artefacts"

_OF_PAGES = ("region", "landmark-one-main")


def violations(page: Page, *, letter: bool = False) -> list[str]:
    """What axe-core finds wrong, one line each; it reads the page and asks nobody. A letter is shown within a mail
    program's page, so it needs no landmarks of its own."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)  # only if it is not there: the package's own `run` sends it with every question
    # Not into frames: they are letters, which have a test of their own, and axe would wait half a second for each.
    asked = "axe.run({resultTypes: ['violations'], iframes: false}).then(result => result.violations)"
    found: list[dict[str, Any]] = page.evaluate(asked)
    return [
        f"{one['id']}: {one['help']}: {node['html'][:200]}"
        for one in found
        if not (letter and one["id"] in _OF_PAGES)
        for node in one["nodes"]
    ]


def fits(page: Page) -> bool:
    """Nothing to be scrolled to sideways."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def shoot(page: Page, name: str) -> Path:
    """A picture for people to look at; `artefacts/` is not kept."""
    file = ARTEFACTS / f"{name}.png"
    file.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=file, full_page=True)
    return file


class Watched:
    """A page whose every complaint and request is written down."""

    def __init__(self, page: Page, refused: bool = False) -> None:
        self.page, self._refused = page, refused
        self.complaints: list[str] = []
        self.hosts: set[str] = set()
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self._heard)
        page.on("request", lambda request: self.hosts.add(_host(request.url)))

    def _heard(self, said: ConsoleMessage) -> None:
        # That an answer was a refusal is what many tests are about; icons are a question of taste.
        expected = "the server responded with a status of" in said.text or said.location["url"].endswith(
            "favicon.ico"
        )
        if self._refused:
            expected = expected or "blocked by CORS policy" in said.text or "net::ERR_FAILED" in said.text
        if said.type in ("error", "warning") and not expected:
            self.complaints.append(said.text)


def _host(url: str) -> str:
    return url.split("/")[2] if "://" in url else url.partition(":")[0]
